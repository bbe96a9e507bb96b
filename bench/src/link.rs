//! A link to measure on: the server's side in a network namespace of its own, joined to ours by a pair of interfaces
//! that are as slow, as far apart and as narrow as a [`Spec`] says.
//!
//! ```text
//!   this namespace                         the server's namespace
//!   client ── 198.18.x.1 [zorbPID] ═════════ [zorb0] 198.18.x.2 ── server
//!                 rate (tbf), delay (netem): each end shapes what it sends
//! ```
//!
//! Where the kernel has no netem a process carries the packets in user space (`link/carrier.rs`), and the interfaces are its own.
//!
//! The namespace lives as long as the process that holds it, a `cat` or the carrier, which ends with our end of its pipe,
//! however this process ends; with it go both interfaces. Nothing of it has a name that could be left behind.
//!
//! Addresses are of the network that RFC 2544 sets aside for benchmarks (198.18.0.0/15), a part of four for each process,
//! so that runs side by side do not meet.

mod carrier;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use rustix::process::geteuid;

use crate::BenchError;
use crate::process::{Bounds, Process};

use carrier::{FAR, NEAR};

pub use carrier::carry;

/// How long the namespace may take to be there.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// What waits at each end before the link drops it: a short queue, as a switch has.
const QUEUE_MS: u64 = 20;

/// Packets that netem holds: more than the fastest rate and the longest delay put there.
const DELAYED_PACKETS: u32 = 1_000_000;

/// What a link is like, each way. Its text is `155mbit,mtu=9180,delay=0.2ms`, each part of which may be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Bits a second; `None`: as many as the processor moves.
    pub rate: Option<u64>,
    /// Octets of the largest packet.
    pub mtu: u32,
    /// How long each packet travels.
    pub delay: Duration,
    /// Whether packets are carried in user space: for the delay, if the kernel has no netem, or because somebody asked for it.
    pub carried: bool,
}

/// Ethernet's.
const USUAL_MTU: u32 = 1500;
const MTUS: std::ops::RangeInclusive<u32> = 576..=65_535;
const RATES: std::ops::RangeInclusive<u64> = 64_000..=100_000_000_000;
const LONGEST_DELAY: Duration = Duration::from_secs(10);

/// A long way: 100 Mbit/s, 40 ms there and back.
const WAN: Spec =
    Spec { rate: Some(100_000_000), mtu: USUAL_MTU, delay: Duration::from_millis(20), carried: false };

const THERE_IS: &str = "a link is a rate (155mbit, 10gbit), mtu=OCTETS, delay=TIME (us, ms), carried, or wan";

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        let mut spec = Spec { rate: None, mtu: USUAL_MTU, delay: Duration::ZERO, carried: false };
        for word in text.split(',') {
            let wrong = |why: String| format!("{word:?}: {why}; {THERE_IS}");
            match word.split_once('=') {
                None if word == "wan" => spec = Spec { carried: spec.carried, ..WAN },
                None if word == "carried" => spec.carried = true,
                None => spec.rate = Some(rate(word).map_err(wrong)?),
                Some(("mtu", octets)) => {
                    let octets = octets.parse().ok().filter(|octets| MTUS.contains(octets));
                    let expected = || format!("expected octets from {} to {}", MTUS.start(), MTUS.end());
                    spec.mtu = octets.ok_or_else(|| wrong(expected()))?;
                }
                Some(("delay", time)) => spec.delay = delay(time).map_err(wrong)?,
                Some((key, _)) => return Err(wrong(format!("there is no {key:?}"))),
            }
        }
        Ok(spec)
    }
}

fn rate(text: &str) -> Result<u64, String> {
    let units = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)];
    let parts = units.iter().find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)));
    let rate = parts.and_then(|(number, bits)| Some(number.parse::<f64>().ok()? * bits));
    match rate {
        Some(rate) if RATES.contains(&(rate as u64)) => Ok(rate as u64),
        Some(_) => Err("a rate is from 64kbit to 100gbit".to_owned()),
        None => Err("expected a rate such as 155mbit".to_owned()),
    }
}

fn delay(text: &str) -> Result<Duration, String> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let parts = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let seconds = parts.and_then(|(number, unit)| Some(number.parse::<f64>().ok()? * unit));
    let delay = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match delay {
        Some(delay) if delay <= LONGEST_DELAY => Ok(delay),
        Some(_) => Err("a delay is at most 10 s".to_owned()),
        None => Err("expected a time such as 0.2ms".to_owned()),
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rate) = self.rate {
            match rate {
                1_000_000_000.. => write!(f, "{}gbit,", rate as f64 / 1e9)?,
                1_000_000.. => write!(f, "{}mbit,", rate as f64 / 1e6)?,
                _ => write!(f, "{}kbit,", rate as f64 / 1e3)?,
            }
        }
        write!(f, "mtu={}", self.mtu)?;
        if !self.delay.is_zero() {
            write!(f, ",delay={}ms", self.delay.as_nanos() as f64 / 1e6)?;
        }
        f.write_str(if self.carried { ",carried" } else { "" })
    }
}

/// A link that is up, for as long as the process that holds it.
#[derive(Debug)]
pub struct Link {
    spec: Spec,
    /// Who holds the server's namespace.
    holder: u32,
    /// Its address there.
    server: Ipv4Addr,
}

impl Link {
    /// Makes it, and the process that holds it: when that is dropped, or has lived for `lifetime`, the link is gone. `carrier`
    /// gives the command that does [`carry`] for a time.
    ///
    /// Who wants a run to stop does not end the link: that a server has ended is heard of across it.
    ///
    /// # Errors
    ///
    /// [`BenchError::Link`]: this process is not root's, a tool is missing, the kernel lacks what the link needs.
    pub fn up(
        spec: &Spec,
        carrier: &dyn Fn(Duration) -> Command,
        lifetime: Duration,
    ) -> Result<(Link, Process), BenchError> {
        if !geteuid().is_root() {
            return Err(failed("it needs root, for a network namespace and a pair of interfaces".to_owned()));
        }
        let asked = spec.carried;
        let carried = asked || !spec.delay.is_zero() && !has_netem()?;
        let spec = Spec { carried, ..spec.clone() };
        let mut hold = Command::new("unshare");
        hold.args(["--net", "--", "sh", "-c", "ip link set lo up && echo ready && exec \"$@\"", "sh"]);
        let held_by = if carried { carrier(spec.delay) } else { Command::new("cat") };
        hold.arg(held_by.get_program()).args(held_by.get_args());
        let bounds = Bounds::lifetime(lifetime);
        let mut holder = Process::start(hold, &bounds).map_err(|error| missing("unshare", &error))?;
        holder.line(READY_WITHIN, "a network namespace")?;
        let pid = holder.id();
        let block = Ipv4Addr::new(198, 18, 0, 0).to_bits() + pid % (1 << 15) * 4;
        let (client, server) = (Ipv4Addr::from_bits(block + 1), Ipv4Addr::from_bits(block + 2));
        let link = Link { spec, holder: pid, server };
        let near = format!("zorb{pid}");
        if carried {
            match holder.line(READY_WITHIN, "its interfaces") {
                Err(BenchError::Process { what, .. }) => return Err(uncarried(asked, &what)),
                line => line?,
            };
            tool(Some(&link), "ip", &format!("link set {NEAR} netns {} name {near}", std::process::id()))?;
        } else {
            tool(None, "ip", &format!("link add {near} type veth peer name {FAR} netns {pid}"))?;
        }
        link.shape(None, &near, client)?;
        link.shape(Some(&link), FAR, server)?;
        Ok((link, holder))
    }

    /// Gives an interface its address, size, rate and delay, and sets it up.
    fn shape(&self, beyond: Option<&Link>, interface: &str, address: Ipv4Addr) -> Result<(), BenchError> {
        let Spec { rate, mtu, delay, carried } = self.spec;
        tool(beyond, "ip", &format!("address add {address}/30 dev {interface}"))?;
        tool(beyond, "ip", &format!("link set {interface} mtu {mtu} up"))?;
        let mut above = "root".to_owned();
        if !delay.is_zero() && !carried {
            let microseconds = delay.as_nanos() as f64 / 1e3;
            let netem = format!("netem delay {microseconds}us limit {DELAYED_PACKETS}");
            tool(beyond, "tc", &format!("qdisc add dev {interface} {above} handle 1: {netem}"))?;
            above = "parent 1:".to_owned();
        }
        if let Some(rate) = rate {
            let burst = burst(rate, mtu);
            let tbf = format!("tbf rate {rate}bit burst {burst} latency {QUEUE_MS}ms");
            tool(beyond, "tc", &format!("qdisc add dev {interface} {above} handle 2: {tbf}"))?;
        }
        Ok(())
    }

    /// What it is like, and how it came about.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Where a server beyond it listens: at any port.
    pub fn listen(&self) -> SocketAddr {
        (self.server, 0).into()
    }

    /// The same command, run beyond the link.
    pub fn beyond(&self, command: &Command) -> Command {
        let mut beyond = Command::new("nsenter");
        beyond.arg(format!("--target={}", self.holder)).args(["--net", "--"]);
        beyond.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => beyond.env(name, value),
                None => beyond.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            beyond.current_dir(folder);
        }
        beyond
    }
}

/// Octets that may pass at once: what the rate brings in a tenth of a millisecond, and no less than two packets with their
/// heads.
fn burst(rate: u64, mtu: u32) -> u64 {
    (rate / 8 / 10_000).max(2 * (u64::from(mtu) + 64))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ')
}

/// Whether this kernel delays packets: tried in a namespace that is gone at once.
fn has_netem() -> Result<bool, BenchError> {
    let mut attempt = Command::new("unshare");
    attempt.args(words("--net -- tc qdisc add dev lo root netem delay 1us"));
    match run(&mut attempt) {
        Ok(()) => Ok(true),
        // Newer tools and kernels name what is unknown, older ones say only that there is no such thing.
        Err(BenchError::Link { what }) if what.contains("unknown") || what.contains("No such file") => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Lets `ip` or `tc` do its work, here or beyond a link.
fn tool(beyond: Option<&Link>, name: &str, arguments: &str) -> Result<(), BenchError> {
    let mut command = Command::new(name);
    command.args(words(arguments));
    match beyond {
        Some(link) => run(&mut link.beyond(&command)),
        None => run(&mut command),
    }
}

/// Runs a command to its end; what it says on standard error is in the error.
fn run(command: &mut Command) -> Result<(), BenchError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.env("LC_ALL", "C").stdin(Stdio::null()).output().map_err(|error| missing(&name, &error))?;
    if output.status.success() {
        return Ok(());
    }
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<_> = said.split_whitespace().collect();
    Err(failed(format!("`{name} {}`: {}", arguments.join(" "), said.join(" "))))
}

fn missing(tool: &str, error: &dyn fmt::Display) -> BenchError {
    failed(format!(
        "{tool}: {error} (ip and tc are of the package iproute2, unshare and nsenter of util-linux)"
    ))
}

/// Why packets that are to be carried cannot be; whether somebody has asked for it rather than for a delay.
fn uncarried(asked: bool, why: &str) -> BenchError {
    let without = if asked { "" } else { "this kernel has no netem (CONFIG_NET_SCH_NETEM), and " };
    failed(format!("{without}packets cannot be carried in user space: {why}"))
}

fn failed(what: String) -> BenchError {
    BenchError::Link { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_link_and_back() {
        let atm =
            Spec { rate: Some(155_000_000), mtu: 9180, delay: Duration::from_micros(200), carried: false };
        assert_eq!("155mbit,mtu=9180,delay=0.2ms".parse(), Ok(atm.clone()));
        assert_eq!("delay=200us,mtu=9180,155000kbit".parse(), Ok(atm.clone()));
        assert_eq!(atm.to_string(), "155mbit,mtu=9180,delay=0.2ms");
        assert_eq!("wan,mtu=9000".parse(), Ok(Spec { mtu: 9000, ..WAN }));
        assert_eq!("carried,wan".parse(), Ok(Spec { carried: true, ..WAN }));
        for text in
            ["mtu=1500", "2.5gbit,mtu=1500", "64kbit,mtu=576,delay=10000ms", "mtu=1500,delay=1ms,carried"]
        {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_told_what_there_is() {
        for (text, why) in [
            ("", "expected a rate"),
            ("fast", "expected a rate"),
            ("155", "expected a rate"),
            ("1kbit", "from 64kbit"),
            ("nanmbit", "from 64kbit"),
            ("1e99gbit", "to 100gbit"),
            ("1gbit,mtu=0", "expected octets from 576"),
            ("1gbit,mtu=70000", "to 65535"),
            ("delay=-1ms", "expected a time"),
            ("delay=11s", "at most 10 s"),
            ("delay=1e99s", "expected a time"),
            ("loss=1", "there is no \"loss\""),
        ] {
            let error = text.parse::<Spec>().unwrap_err();
            assert!(error.contains(why) && error.contains("a link is a rate"), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_packet_always_fits_into_a_burst() {
        assert_eq!(burst(64_000, 9180), 2 * 9244);
        assert_eq!(burst(10_000_000_000, 1500), 125_000);
    }
}
