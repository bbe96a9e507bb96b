//! `zorb ping`: is the object there, what is it, and how long does a call take?

use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use zorb::giop::Ior;
use zorb::policy::Policies;
use zorb::{Kind, ObjectRef, Orb, SystemException};
use zorb_bench::latency::Latencies;

use crate::config::Told;
use crate::failure::Failure;
use crate::table;

/// Call an object: is it there, is it of a type, and how long does a round trip take?
///
/// Each round trip is one `_non_existent` request, which every object of every ORB answers.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 the object is there (and of the type asked for); 1 it cannot be
reached; 3 its server answers, but it is not there or is of another type.

Examples:
  zorb ping corbaloc:iiop:1.2@db.example:2809/NameService
  zorb ping file:archive.ior --is-a IDL:zorb.demo/imaging/Archive:1.0")]
pub(crate) struct Arguments {
    /// The object: IOR, corbaloc, corbaname or file URL.
    #[arg(value_name = "REF")]
    reference: String,

    /// Ask whether the object has this interface, instead of the one its reference names.
    #[arg(long, value_name = "ID")]
    is_a: Option<String>,

    /// Round trips.
    #[arg(long, short = 'n', default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,

    /// Longest time for each call, in seconds; 5 where no setting says otherwise.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
}

/// How long a call may take when nobody says.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let within = |time| Policies::new().connect_timeout(time).call_timeout(time);
    let builder = zorb::naming::install(Orb::builder()).policies(within(TIMEOUT));
    let mut builder = told.apply(builder)?;
    if let Some(seconds) = arguments.timeout {
        builder = builder.policies(within(timeout(seconds)?));
    }
    let orb = builder.build();
    let object = object(&orb, &arguments.reference)?;

    let start = Instant::now();
    let gone = object.non_existent().map_err(unreachable)?;
    let first = start.elapsed();
    if gone {
        return Err(Failure::not_there("the server answers: the object does not exist"));
    }
    let mut output = std::io::stdout().lock();
    writeln!(output, "reachable   first call {}", table::microseconds(first.as_secs_f64() * 1e6))?;

    let id = arguments.is_a.clone().unwrap_or_else(|| object.ior().type_id.clone());
    if !id.is_empty() {
        let is_a = ask(&object, &id).map_err(unreachable)?;
        if !is_a {
            return Err(Failure::not_there(format!("the object says that it is no {id}")));
        }
        writeln!(output, "_is_a       {id}: yes")?;
    }

    let mut latencies = Latencies::new();
    for _ in 0..arguments.calls {
        let start = Instant::now();
        object.non_existent().map_err(unreachable)?;
        latencies.record(start.elapsed());
    }
    let at = |percent| table::microseconds(latencies.percentile_us(percent));
    writeln!(
        output,
        "round trip  {} calls: median {}, 90 % {}, 99 % {}, longest {}",
        table::thousands(latencies.count()),
        at(50.0),
        at(90.0),
        at(99.0),
        at(100.0)
    )?;
    Ok(())
}

/// The time that `--timeout` says.
pub(crate) fn timeout(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| Failure::usage(format!("--timeout {seconds} is not a time above 0")))
}

/// Asks the object whether it has an interface. A reference whose type id says so is not asked; without one it is.
fn ask(object: &ObjectRef, id: &str) -> Result<bool, SystemException> {
    let untyped = Ior { type_id: String::new(), profiles: object.ior().profiles.clone() };
    match ObjectRef::new(object.orb(), untyped) {
        Some(untyped) => untyped.is_a(id),
        None => Ok(false),
    }
}

/// The object that a reference of any form leads to.
///
/// # Errors
///
/// It is no reference, it is nil, or what resolves it cannot be reached.
pub(crate) fn object(orb: &Orb, reference: &str) -> Result<ObjectRef, Failure> {
    crate::ior::parse(reference)?;
    orb.string_to_object(reference)
        .map_err(|error| Failure::new(format!("cannot resolve the reference: {error}")))?
        .ok_or_else(|| Failure::not_there("the reference is nil: it leads to no object"))
}

/// Exit code 3 for what a server has answered, 1 for what never reached one.
fn unreachable(exception: SystemException) -> Failure {
    let text = format!("cannot call the object: {exception}");
    match exception.kind {
        Kind::ObjectNotExist | Kind::BadOperation | Kind::NoImplement => Failure::not_there(text),
        _ => Failure::new(text),
    }
}
