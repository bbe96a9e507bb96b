//! The machine that figures were made on, and whether it was busy with something else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::peer::Peer;
use crate::system::System;

/// Above this load for each processor figures are those of a machine that does something else as well: whoever
/// measures adds at most one runnable process per processor.
const BUSY_ABOVE: f64 = 0.5;

/// What is worth knowing beside a figure. What cannot be found out is empty, zero or missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// When: in universal time, as in `2031-02-28T23:59:59Z`.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub cpu: String,
    /// Processors that may be used.
    pub cores: usize,
    /// Memory.
    pub memory_gib: f64,
    /// Runnable processes, averaged over the last minute.
    pub load: f64,
    /// TCP's default congestion control.
    pub congestion_control: String,
    /// The commit that this program was built from, `+` behind it if the sources differ from it.
    pub commit: String,
    /// Whether it was built with time probes, whose marks and counting allocator every measurement then has.
    #[serde(default)]
    pub probes: bool,
    /// Whether it was too busy then for figures to be trusted without their intervals.
    pub busy: bool,
    /// What the peers' programs are made of, by name.
    pub peers: BTreeMap<String, String>,
}

impl Machine {
    /// This machine now, with the peers of a folder, and the sources that this program was built from.
    pub fn look(folder: &Path) -> Machine {
        let line = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let built = Peer::ALL.iter().filter(|peer| peer.program(folder).is_ok());
        let version = |peer: &Peer| peer.version(folder).unwrap_or_else(|| "unknown".to_owned());
        let peers = built.map(|peer| (peer.name().to_owned(), version(peer)));
        Machine {
            date: date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())),
            kernel: line("/proc/sys/kernel/osrelease"),
            cpu: field("/proc/cpuinfo", "model name"),
            cores: cores(),
            memory_gib: kib("/proc/meminfo", "MemTotal") / 1024.0 / 1024.0,
            load: load(),
            congestion_control: congestion_control(),
            commit: commit(),
            probes: crate::probes::BUILT_IN,
            busy: busy(load(), cores()).is_some(),
            peers: peers.collect(),
        }
    }
}

/// TCP's default congestion control; empty if the system does not tell.
pub fn congestion_control() -> String {
    let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    text.unwrap_or_default().trim().to_owned()
}

/// A line for people, if the machine is busy now.
pub fn busy_now() -> Option<String> {
    busy(load(), cores())
}

/// What a host may take of the processors' time before it is told: below it medians do not move.
pub const MUCH: f64 = 0.05;

/// Looks at what the host of a virtual machine takes of its processors' time.
#[derive(Debug)]
pub struct Taken {
    began: Option<(u64, u64)>,
}

impl Taken {
    /// From now on.
    pub fn watch() -> Taken {
        Taken { began: times() }
    }

    /// The part of the processors' time, 0 to 1; `None` if the system does not tell.
    pub fn share(&self) -> Option<f64> {
        let ((taken_before, all_before), (taken, all)) = self.began.zip(times())?;
        // A machine that was moved to another host may count from less than it had.
        let since = |now: u64, before| now.checked_sub(before);
        Some(since(taken, taken_before)? as f64 / since(all, all_before).filter(|&all| all > 0)? as f64)
    }

    /// A line for people, if it was [`MUCH`].
    pub fn much(&self) -> Option<String> {
        self.share().filter(|&share| share >= MUCH).map(|share| {
            let percent = share * 100.0;
            format!("the host took {percent:.0} % of the processors' time meanwhile: figures are too low, intervals too wide")
        })
    }
}

/// Clock ticks that the host took, and all, since the machine began.
fn times() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guests' are in the first two.
    Some((*ticks.get(7)?, ticks.iter().take(8).sum()))
}

/// How long the system lets the queues of a socket be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueLimit {
    /// The setting, as `sysctl` spells it.
    pub name: &'static str,
    /// Octets.
    pub octets: u64,
}

/// The limits of sending and receiving, as far as they can be found out.
pub fn queue_limits() -> Vec<QueueLimit> {
    let limit = |name: &'static str| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        let octets = fs::read_to_string(path).ok()?.trim().parse().ok()?;
        Some(QueueLimit { name, octets })
    };
    ["net.core.wmem_max", "net.core.rmem_max"].into_iter().filter_map(limit).collect()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn busy(load: f64, cores: usize) -> Option<String> {
    (load > BUSY_ABOVE * cores as f64).then(|| {
        format!(
            "the machine was busy before the run (load {load:.1} on {cores} processors): figures are too low, \
             intervals too wide"
        )
    })
}

fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// The value behind the first `name` and a colon.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.split_once(':'));
    values.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

fn kib(path: &str, name: &str) -> f64 {
    field(path, name).trim_end_matches(" kB").parse().unwrap_or(0.0)
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return String::new() };
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
    commit + if changed { "+" } else { "" }
}

/// A time of the Gregorian calendar, from the seconds since 1970.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have the leap day at their end: eras of 400 years then all have the same length.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (400 * era + year + month / 10, if month < 10 { month + 3 } else { month - 9 });
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(date(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn this_machine_has_a_description() {
        let machine = Machine::look(Path::new("/nonexistent"));
        assert!(machine.cores >= 1 && machine.memory_gib > 0.01, "{machine:?}");
        assert!(machine.kernel.contains('.') && machine.date.ends_with('Z'), "{machine:?}");
        assert!(machine.peers.is_empty());
        let json = serde_json::to_string(&machine).unwrap();
        assert!(json.starts_with("{\"date\":\"20"), "{json}");
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap().kernel, machine.kernel);
    }

    #[test]
    fn half_a_process_each_is_busy() {
        assert_eq!(busy(1.0, 2), None);
        assert!(busy(1.1, 2).unwrap().contains("load 1.1 on 2 processors"));
    }
}
