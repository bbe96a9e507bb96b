//! `zorb bridge`: lets clients of one protocol domain call objects of another.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use zorb::policy::Policies;
use zorb::{Orb, OrbBuilder, SystemException};
use zorb_bridge::{Bridge, Callbacks, Interfaces, Settings, Unknown};

use crate::config::Told;
use crate::failure::Failure;

/// Pass requests on from one protocol domain to another: TCP outside, shared memory or Unix sockets inside, say.
///
/// Prints a reference for each target, in their order; clients that use it call the target through this process. Arguments
/// and results pass undecoded, in any type and byte order. References in them lead through the bridge, too, where --idl tells
/// their types. Only the targets, and objects to which they lead callers, can be reached. Serves until it is interrupted.
#[derive(Debug, Args)]
#[command(after_help = "\
With --idl references in arguments, results and exceptions are replaced by
references through the bridge: those that come out of targets in any case,
those of clients' own objects as --callbacks says; the servers inside then
need somewhere to reach the bridge: --listen-inside. What no IDL tells is for
--unknown.

Examples:
  zorb bridge --listen tcp:0.0.0.0:9000 --to file:archive.ior
  zorb bridge --to Names=corbaloc::host/NameService --idl CosNaming.idl
  zorb bridge --to file:feed.ior --idl feed.idl --inside shm --listen-inside shm:
  zorb bridge --listen unix:/run/db.sock --to corbaloc::db.example/Db")]
pub(crate) struct Arguments {
    /// An object inside: IOR, corbaloc, corbaname or file URL. With NAME= it is also found by that key, as in
    /// corbaloc::HOST:PORT/NAME. May be given several times.
    #[arg(long, required = true, value_name = "[NAME=]REF")]
    to: Vec<String>,

    /// Where to listen, such as tcp:0.0.0.0:9000, unix:/path or shm:; may be given several times. Without it: TCP on every
    /// interface and a free port, unless a setting says otherwise.
    #[arg(long, value_name = "ENDPOINT")]
    listen: Vec<String>,

    /// By which transports to reach the targets, best first, such as shm,unix. Without it: as their references say.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    inside: Vec<String>,

    /// The types of what passes; may be given several times.
    #[arg(long, value_name = "FILE")]
    idl: Vec<PathBuf>,

    /// Search this directory for included IDL; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,

    /// Define a macro for the IDL, as if by #define; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = crate::idl::definition)]
    define: Vec<(String, String)>,

    /// What becomes of object references where no IDL tells the types.
    #[arg(long, value_enum, default_value_t = ToUnknown::Pass)]
    unknown: ToUnknown,

    /// Which of clients' own objects servers inside can call through the bridge, once they were passed. Without it: caller
    /// with --listen-inside, else refuse.
    #[arg(long, value_enum)]
    callbacks: Option<ToCallbacks>,

    /// Where to listen for servers inside that call clients' objects, such as shm:, unix: or tcp:10.0.0.1:0; may be given
    /// several times.
    #[arg(long, value_name = "ENDPOINT")]
    listen_inside: Vec<String>,

    /// The most objects that can be reached, in each direction. Those that came with a message and were used the longest ago
    /// give way to others.
    #[arg(long, default_value_t = Settings::default().most_objects, value_name = "N")]
    most_objects: usize,

    /// The most bridges that a request may pass, this one included.
    #[arg(long, default_value_t = Settings::default().most_hops, value_name = "N")]
    most_hops: u32,

    /// Longest time for each call inside, in seconds.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,

    /// Started by `zorb bench`: announce the first reference, and serve until standard input closes.
    #[arg(long, hide = true)]
    child: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ToUnknown {
    /// They pass, and lead to where they lead.
    Pass,
    /// Messages that seem to hold one are refused.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum ToCallbacks {
    /// None.
    Refuse,
    /// Those at the address that the message comes from.
    Caller,
    /// Any, wherever it is.
    Any,
}

/// How long calls in progress may take when it ends.
const SHUTDOWN: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Arguments, told: &Told) -> Result<(), Failure> {
    let told = || told.apply(zorb::naming::install(Orb::builder()));
    let mut outside = told()?;
    if !arguments.listen.is_empty() {
        outside = outside.listen_at(&arguments.listen);
    }
    let (outside, inside) = (outside.build(), inside(told()?, arguments)?.build());
    outside.listen().map_err(|exception| Failure::new(format!("cannot listen: {exception}")))?;

    if !arguments.listen_inside.is_empty() {
        inside.listen().map_err(|exception| Failure::new(format!("cannot listen inside: {exception}")))?;
    }
    let settings = settings(arguments)?;
    let bridge = Bridge::between(&outside, &inside, settings).map_err(cannot)?;
    let mut exported = Vec::new();
    for to in &arguments.to {
        let (name, reference) = named(to);
        let reference = bridge.export(&crate::ping::object(&inside, reference)?).map_err(cannot)?;
        if let Some(name) = name {
            outside.bind_key(name, &reference);
        }
        exported.push(reference.to_string());
    }
    match exported.first() {
        Some(first) if arguments.child => zorb_bench::process::serve_until_parent_goes(first)?,
        _ => {
            let mut output = std::io::stdout().lock();
            exported.iter().try_for_each(|reference| writeln!(output, "{reference}"))?;
            output.flush()?;
            drop(output);
            wait_for_a_signal()
                .map_err(|cause| Failure::new(format!("cannot wait for a signal: {cause}")))?;
        }
    }
    outside.shutdown(true, SHUTDOWN);
    inside.shutdown(true, SHUTDOWN);
    Ok(())
}

fn settings(arguments: &Arguments) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    settings.most_objects = arguments.most_objects;
    settings.most_hops = arguments.most_hops;
    settings.unknown = match arguments.unknown {
        ToUnknown::Pass => Unknown::Pass,
        ToUnknown::Refuse => Unknown::Refuse,
    };
    let listens = !arguments.listen_inside.is_empty();
    settings.callbacks = match arguments.callbacks {
        None if listens => Callbacks::Caller,
        None | Some(ToCallbacks::Refuse) => Callbacks::Refuse,
        Some(_) if !listens => {
            return Err(Failure::usage("--callbacks needs --listen-inside, where servers reach the bridge"));
        }
        Some(ToCallbacks::Caller) => Callbacks::Caller,
        Some(ToCallbacks::Any) => Callbacks::Any,
    };
    let mut interfaces = Interfaces::default();
    for path in &arguments.idl {
        interfaces.add(&crate::idl::load(path, &arguments.include, &arguments.define)?);
    }
    settings.interfaces = Arc::new(interfaces);
    Ok(settings)
}

fn inside(mut builder: OrbBuilder, arguments: &Arguments) -> Result<OrbBuilder, Failure> {
    if !arguments.listen_inside.is_empty() {
        builder = builder.listen_at(&arguments.listen_inside);
    }
    if !arguments.inside.is_empty() {
        let known = builder.chosen().transports;
        let unknown = arguments.inside.iter().find(|name| known.iter().all(|known| known.name != **name));
        if let Some(unknown) = unknown {
            let known: Vec<_> = known.iter().map(|known| known.name).collect();
            let known = known.join(", ");
            return Err(Failure::usage(format!(
                "--inside: there is no transport {unknown}; there are {known}"
            )));
        }
        builder = builder.prefer(&arguments.inside);
    }
    if let Some(seconds) = arguments.timeout {
        let timeout = crate::ping::timeout(seconds)?;
        let policies = Policies::new().call_timeout(timeout).or(&builder.chosen().policies);
        builder = builder.policies(policies);
    }
    Ok(builder)
}

/// Takes a name off: what stands before the first `=`, if that is no part of a URL.
fn named(to: &str) -> (Option<&str>, &str) {
    match to.split_once('=') {
        Some((name, reference)) if !name.contains(':') => (Some(name), reference),
        _ => (None, to),
    }
}

fn cannot(exception: SystemException) -> Failure {
    Failure::new(format!("cannot bridge: {exception}"))
}

/// Blocks until the process is told to end.
pub(crate) fn wait_for_a_signal() -> std::io::Result<()> {
    let (mut here, there) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, there.try_clone()?)?;
    }
    here.read_exact(&mut [0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_before_references() {
        assert_eq!(named("Names=corbaloc::h/N"), (Some("Names"), "corbaloc::h/N"));
        assert_eq!(named("corbaloc::h/a=b"), (None, "corbaloc::h/a=b"));
        assert_eq!(named("IOR:00"), (None, "IOR:00"));
    }
}
