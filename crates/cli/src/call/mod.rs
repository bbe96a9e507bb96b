//! `zorb call`: any operation of any object, with arguments as text.

mod answer;
mod context;
mod learn;
mod list;
mod reference;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use zorb::dynamic::{DynamicError, Parameter, Request, Signature};
use zorb::policy::Policies;
use zorb::{Any, Orb};
use zorb_dynamic::{Form, Interface, Notation, interface};

use crate::config::Told;
use crate::failure::Failure;
use crate::ping;
use learn::Learnt;

/// Call an operation of an object, with arguments as text, and print what comes back.
///
/// What the operation is like is learnt from IDL, from an interface repository, or from the object itself: what its server
/// answers to _get_interface. An attribute is got by its name, and set by its name and a value. Options stand before OPERATION: all that
/// stands behind it is an argument, also what begins with a hyphen.
#[derive(Debug, Args)]
#[command(
    override_usage = "\
zorb call [OPTIONS] <REF> <OPERATION> [ARGUMENT]...
       zorb call [OPTIONS] <REF> --list",
    after_help = "\
Arguments are JSON or literals, which need fewer quotation marks:
  numbers      7  -1.5  0xff  NaN        text     word  \"two words\"
  struct       {x: 1, name: \"a\"}         enum     RED
  map          {key: 1}                  bitmask  [read, write]
  sequence     [1, 2, 3]                 octets   {text: \"a\"}, {base64: \"YQ==\"},
  union        {member: value}                    {file: \"path\"}
  any          {type: \"long\", value: 1}  object   IOR:..., corbaloc:..., null
  value        {x: 1}; of a derived type   shared   {$id: 1, x: 1} where it is first,
               {$type: M::Derived, x: 1}            {$ref: 1} where it is again

Exit codes: 0 done; 1 no interface is to be had, or what came back has no text;
2 wrong command line: no reference, IDL that is missing or wrong, no such
operation, arguments that do not fit; 3 a system exception of the call, or of
what has to be asked first (a naming service, an interface repository);
4 a user exception.

Examples:
  zorb call file:account.ior --idl bank.idl deposit 100
  zorb call file:account.ior --idl bank.idl --json history '{from: 1, to: 9}'
  zorb call corbaname::host#bank --repository corbaloc::host/Types --list
  zorb call file:account.ior --idl bank.idl --context user=ada pay -100
  zorb call corbaloc::host:2809/NameService _non_existent"
)]
pub(crate) struct Arguments {
    /// The object: IOR, corbaloc, corbaname or file URL.
    #[arg(value_name = "REF")]
    reference: String,

    /// The operation or the attribute, and its in and inout arguments, in order.
    #[arg(value_name = "OPERATION [ARGUMENT]", required_unless_present = "list", trailing_var_arg = true)]
    words: Vec<String>,

    /// IDL that declares the interface; may be repeated.
    #[arg(long, value_name = "FILE", conflicts_with = "repository")]
    idl: Vec<PathBuf>,

    /// Search this directory for included IDL; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR", requires = "idl")]
    include: Vec<PathBuf>,

    /// Define a macro for the IDL, as if by #define; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", requires = "idl", value_parser = crate::idl::definition)]
    define: Vec<(String, String)>,

    /// An interface repository that knows the interface.
    #[arg(long, value_name = "REF")]
    repository: Option<String>,

    /// The interface, by its scoped name or its repository id; without it, the one that the reference names.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,

    /// A property of the caller's, for an operation whose context clause names it; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = context::property, conflicts_with = "list")]
    context: Vec<(String, String)>,

    /// Instead of a call, show what the object offers.
    #[arg(long, conflicts_with = "words")]
    list: bool,

    /// One JSON object instead of text, exceptions included.
    #[arg(long)]
    json: bool,

    /// Longest time for each call, in seconds; 30 where no setting says otherwise.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

/// How long a call may take when nobody says: people wait for it.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let done = call(arguments, told);
    // Whether the call raised it or what was asked before: who reads JSON finds it there.
    if let Some(exception) = done.as_ref().err().and_then(Failure::raised).filter(|_| arguments.json) {
        answer::print_system_exception(exception)?;
    }
    done
}

fn call(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let orb = orb(arguments, told)?;
    let object = reference::object(&orb, &arguments.reference)?;
    let Some((operation, texts)) = split(&arguments.words) else {
        let learnt = learn::interface(arguments, &orb, &object)?;
        return list::print(&learnt, arguments.json);
    };
    // What every object has needs no interface.
    let (learnt, signature) = match interface::implicit(operation) {
        Some(signature) => (Learnt::default(), Arc::new(signature)),
        None => {
            let learnt = learn::interface(arguments, &orb, &object)?;
            let signature = find(&learnt.interface, operation, texts.len())?;
            (learnt, signature)
        }
    };
    learnt.describe_values(&orb);
    let notation = Notation::new(&orb, &learnt.repository).reading_files();
    let given = read(&notation, &learnt.interface, &signature, texts)?;
    let properties = context::properties(&signature, &arguments.context)?;
    let request =
        Request::new(&object, signature).map_err(answer::system_exception)?.with_properties(&properties);
    match request.invoke(&given) {
        Ok(results) => {
            answer::results(&notation, &learnt.interface, request.signature(), &results, arguments.json)
        }
        Err(DynamicError::User(exception)) => {
            answer::user_exception(&notation, &learnt, &exception, arguments.json)
        }
        Err(DynamicError::System(exception)) => Err(answer::system_exception(exception)),
    }
}

/// The operation, and its arguments: all behind it, but for the `--` with which people end options, and after which also what
/// begins with `-ORB` is an argument.
fn split(words: &[String]) -> Option<(&str, &[String])> {
    let (operation, texts) = words.split_first()?;
    let texts = texts.strip_prefix(&["--".to_owned()]).unwrap_or(texts);
    Some((operation, texts))
}

fn orb(arguments: &Arguments, told: &Told) -> Result<Orb, Failure> {
    let within = |time| Policies::new().connect_timeout(time).call_timeout(time);
    let builder = zorb::naming::install(Orb::builder()).policies(within(TIMEOUT));
    let mut builder = told.apply(builder)?;
    if let Some(seconds) = arguments.timeout {
        builder = builder.policies(within(ping::timeout(seconds)?));
    }
    Ok(builder.build())
}

/// The operation of this name; where it is an attribute's, the one that gets it or, with an argument, sets it.
fn find(interface: &Interface, name: &str, given: usize) -> Result<Arc<Signature>, Failure> {
    if let Some(signature) = interface.operation(name) {
        return Ok(signature);
    }
    let (get, set) =
        (interface.operation(&format!("_get_{name}")), interface.operation(&format!("_set_{name}")));
    match (get, set) {
        (Some(_), None) if given > 0 => {
            Err(Failure::usage(format!("the attribute {name} of {} is read-only", interface.name)))
        }
        (Some(get), None) => Ok(get),
        (Some(get), Some(set)) => Ok(if given == 0 { get } else { set }),
        (None, _) => Err(Failure::usage(format!(
            "{} has no operation {name}; with --list, zorb call shows what it has",
            interface.name
        ))),
    }
}

fn read(
    notation: &Notation,
    interface: &Interface,
    signature: &Signature,
    texts: &[String],
) -> Result<Vec<Any>, Failure> {
    let parameters: Vec<_> = signature.given().collect();
    if parameters.len() != texts.len() {
        let names: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        let takes = match names.len() {
            0 => "takes no arguments".to_owned(),
            1 => format!("takes one argument, {}", names[0]),
            count => format!("takes {count} arguments, {}", names.join(", ")),
        };
        let given = match texts.len() {
            1 => "1 was given".to_owned(),
            count => format!("{count} were given"),
        };
        let option = texts.iter().find(|text| text.starts_with("--"));
        let hint = option.map(|text| format!(" ({text} is one of them: options stand before the operation)"));
        let hint = hint.filter(|_| texts.len() > parameters.len()).unwrap_or_default();
        return Err(Failure::usage(format!("{} {takes}; {given}{hint}", signature.operation)));
    }
    let read = |(at, (parameter, text)): (usize, (&&Parameter, &String))| {
        let form = form_of(interface, signature, parameter);
        notation.in_form(form).from_argument(text, &parameter.ty).map_err(|error| {
            let dot = if error.path.is_empty() || error.path.starts_with('[') { "" } else { "." };
            let path = format!("argument {} {:?}{dot}{}", at + 1, parameter.name, error.path);
            Failure::usage(format!("{path}: {}", error.problem))
        })
    };
    parameters.iter().zip(texts).enumerate().map(read).collect()
}

/// What IDL says of a parameter and its TypeCode does not.
fn form_of<'i>(
    interface: &'i Interface,
    signature: &Signature,
    parameter: &zorb::dynamic::Parameter,
) -> &'i Form {
    let at = signature.parameters.iter().position(|it| it.name == parameter.name);
    interface.parameter_form(&signature.operation, at.unwrap_or(usize::MAX))
}
