//! `zorb call`: any operation of any object, with arguments as text.

mod answer;
mod learn;
mod list;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use zorb::dynamic::{DynamicError, Request, Signature};
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
/// answers to _get_interface. An attribute is got by its name, and set by its name and a value.
#[derive(Debug, Args)]
#[command(after_help = "\
Arguments are JSON or literals, which need fewer quotation marks:
  numbers      7  -1.5  0xff  NaN        text     word  \"two words\"
  struct       {x: 1, name: \"a\"}         enum     RED
  map          {key: 1}                  bitmask  [read, write]
  sequence     [1, 2, 3]                 octets   {text: \"a\"}, {base64: \"YQ==\"},
  union        {member: value}                    {file: \"path\"}
  any          {type: \"long\", value: 1}  object   IOR:..., corbaloc:..., null
  value        {x: 1}; of a derived type   shared   {$id: 1, x: 1} where it is first,
               {$type: M::Derived, x: 1}            {$ref: 1} where it is again

Exit codes: 0 done; 1 what was asked for failed; 2 wrong command line, which
includes arguments that do not fit; 3 a system exception; 4 a user exception.

Examples:
  zorb call file:account.ior --idl bank.idl deposit 100
  zorb call file:account.ior --idl bank.idl --json history '{from: 1, to: 9}'
  zorb call corbaname::host#bank --repository corbaloc::host/Types --list
  zorb call corbaloc::host:2809/NameService _non_existent")]
pub(crate) struct Arguments {
    /// The object: IOR, corbaloc, corbaname or file URL.
    #[arg(value_name = "REF")]
    reference: String,

    /// The operation or the attribute.
    #[arg(value_name = "OPERATION", required_unless_present = "list")]
    operation: Option<String>,

    /// Its in and inout arguments, in order.
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    arguments: Vec<String>,

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

    /// Instead of a call, show what the object offers.
    #[arg(long, conflicts_with_all = ["operation", "arguments"])]
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
    let orb = orb(arguments, told)?;
    let object = ping::object(&orb, &arguments.reference)?;
    let Some(operation) = &arguments.operation else {
        let learnt = learn::interface(arguments, &orb, &object)?;
        return list::print(&learnt, arguments.json);
    };
    // What every object has needs no interface.
    let (learnt, signature) = match interface::implicit(operation) {
        Some(signature) => (Learnt::default(), Arc::new(signature)),
        None => {
            let learnt = learn::interface(arguments, &orb, &object)?;
            let signature = find(&learnt.interface, operation, arguments.arguments.len())?;
            (learnt, signature)
        }
    };
    learnt.describe_values(&orb);
    let notation = Notation::new(&orb, &learnt.repository).reading_files();
    let given = read(&notation, &learnt.interface, &signature, &arguments.arguments)?;
    let request = Request::new(&object, signature).map_err(|refused| Failure::new(refused.to_string()))?;
    match request.invoke(&given) {
        Ok(results) => {
            answer::results(&notation, &learnt.interface, request.signature(), &results, arguments.json)
        }
        Err(DynamicError::User(exception)) => {
            answer::user_exception(&notation, &learnt, &exception, arguments.json)
        }
        Err(DynamicError::System(exception)) => answer::system_exception(&exception, arguments.json),
    }
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
        let given = texts.len();
        return Err(Failure::usage(format!("{} {takes}; {given} were given", signature.operation)));
    }
    let read = |(at, (parameter, text)): (usize, (&&zorb::dynamic::Parameter, &String))| {
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
