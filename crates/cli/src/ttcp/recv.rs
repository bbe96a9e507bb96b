//! `zorb ttcp recv`: the receivers of a flood, for transmitters on another host or in another terminal.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;

use zorb_bench::BenchError;
use zorb_bench::lab::Lab;
use zorb_bench::pin::{self, Pin};
use zorb_bench::process::Server;
use zorb_bench::progress::Stop;
use zorb_bench::system::{Local, Setting, Transport};

use crate::bench::surroundings::{stop_on_signals, unwatched};
use crate::bench::systems;
use crate::failure::Failure;
use crate::sizes::Octets;

use super::granted_queue;

/// Receive floods that `zorb ttcp send` sends from elsewhere, until Ctrl-C.
///
/// Prints what to type on the other side. A version that cannot be received is left out with a line, and so is a peer that
/// ends meanwhile.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// Numeric address to listen on, and port: of the first version, the next one takes the next port.
    #[arg(long, value_parser = listen_address, default_value = "127.0.0.1", value_name = "ADDR[:PORT]")]
    listen: SocketAddr,

    /// Versions to receive: raw, raw-equal, framed, ipc, zorb, and peers.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "raw,raw-equal,framed,ipc,zorb",
        value_name = "NAMES"
    )]
    versions: Vec<String>,

    /// Keep the receivers on one processor (split: the other than a sender here would have; same: that one) or
    /// not (none).
    #[arg(long, default_value = "none", value_name = "WHERE")]
    pin: Pin,

    /// Octets of the sockets' queues; by default the system adapts them.
    #[arg(long, value_name = "OCTETS")]
    queue: Option<Octets>,
}

const HELP: &str = "\
Whoever can reach the address can send: use it on networks that you trust.

Example: zorb ttcp recv --listen 10.0.0.2:5001 --versions raw,zorb";

/// How long a peer may receive: who leaves a receiver running over a weekend finds it again.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let port_of_choice = || text.parse::<IpAddr>().map(|host| SocketAddr::new(host, 0));
    let wrong = || format!("{text:?} is not a numeric address such as 10.0.0.2, 10.0.0.2:5001 or [::1]:5001");
    text.parse().or_else(|_| port_of_choice()).map_err(|_| wrong())
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let versions = systems::versions(&arguments.versions)?;
    let stop = stop_on_signals();
    let lab = Lab { lifetime: LIFETIME, stop: stop.clone(), ..unwatched() };
    let queue = granted_queue(arguments.queue)?;
    let processor = arguments.pin.placement()?.server;
    if let Some(processor) = processor {
        pin::keep_to(processor)?;
    }
    thread::scope(|scope| {
        let mut addresses = Vec::new();
        let mut peers = Vec::new();
        let mut faults = Vec::new();
        let mut begin = || {
            for (at, version) in (0..).zip(&versions) {
                let listen = next_port(arguments.listen, at)?;
                let setting = Setting { queue, listen: Some(listen), ..Setting::over(Transport::Tcp) };
                let begun = match systems::local(version.name()) {
                    Ok(local) => receive(scope, local, setting, stop.clone()),
                    Err(_) => version.server(&lab, &setting).and_then(|command| {
                        let server = Server::start(version.name(), command, &lab.bounds(processor))?;
                        let address = server.address().to_owned();
                        peers.push((version.name(), server));
                        Ok(address)
                    }),
                };
                match begun {
                    Ok(address) => addresses.push(format!("{}={address}", version.name())),
                    Err(error @ (BenchError::Missing { .. } | BenchError::Unsupported { .. })) => {
                        eprintln!("note: {error}");
                    }
                    Err(error) if stop.requested() => return Err(error.into()),
                    Err(error) => {
                        let fault = format!("{}: {error}", version.name());
                        eprintln!("note: {fault}");
                        faults.push(fault);
                    }
                }
            }
            if addresses.is_empty() {
                return Err(Failure::new("there is no version left to receive"));
            }
            let mut output = std::io::stdout().lock();
            writeln!(output, "zorb ttcp send {}", addresses.join(" "))?;
            Ok(output.flush()?)
        };
        let begun: Result<(), Failure> = begin();
        if begun.is_ok() {
            eprintln!("receiving until Ctrl-C; the line above is to be typed on the other side");
            while !stop.requested() {
                thread::sleep(Duration::from_millis(100));
                peers.retain(|(name, server): &(&str, Server)| {
                    match server.process().has_ended(Duration::ZERO) {
                        Some(error) if !stop.requested() => {
                            eprintln!("note: {name}: {error}");
                            faults.push(format!("{name}: {error}"));
                            false
                        }
                        _ => true,
                    }
                });
            }
        }
        stop.request();
        begun?;
        Failure::of_run(Ok(faults))
    })
}

fn next_port(listen: SocketAddr, at: u16) -> Result<SocketAddr, Failure> {
    let port = match listen.port() {
        0 => 0,
        first => first.checked_add(at).ok_or_else(|| Failure::usage(format!("no port follows {first}")))?,
    };
    Ok(SocketAddr::new(listen.ip(), port))
}

/// Serves one of our own systems in a thread of its own, until `stop`. Gives its address.
fn receive<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    local: &'static dyn Local,
    setting: Setting,
    stop: Stop,
) -> Result<String, BenchError> {
    let (say, said) = mpsc::channel();
    scope.spawn(move || {
        let announce = say.clone();
        let served = local.serve(&setting, &mut |address| {
            let _ = announce.send(Ok(address.to_owned()));
            while !stop.requested() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        if let Err(error) = served {
            let _ = say.send(Err(error));
        }
    });
    let gone = || BenchError::System { system: local.name(), what: "ended before it listened".to_owned() };
    said.recv().unwrap_or_else(|_| Err(gone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn addresses_are_numeric_with_or_without_a_port() {
        assert_eq!(listen_address("10.0.0.2"), Ok("10.0.0.2:0".parse().unwrap()));
        assert_eq!(listen_address("[::1]:5001"), Ok("[::1]:5001".parse().unwrap()));
        assert_eq!(listen_address("::1"), Ok("[::1]:0".parse().unwrap()));
        for wrong in ["", "localhost", "10.0.0.2:", "10.0.0.2:99999"] {
            assert!(listen_address(wrong).unwrap_err().contains("is not a numeric address"), "{wrong}");
        }
    }

    #[test]
    fn each_version_has_a_port_of_its_own() {
        let first = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 65_534);
        assert_eq!(next_port(first, 1).unwrap().port(), 65_535);
        assert!(next_port(first, 2).is_err());
        assert_eq!(next_port(SocketAddr::new(first.ip(), 0), 2).unwrap().port(), 0);
    }
}
