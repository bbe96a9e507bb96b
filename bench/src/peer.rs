//! Foreign systems: programs in their own languages, each driven by lines of text.
//!
//! ```text
//!   measuring process                         peer serve        peer drive ADDRESS
//!                 ◀── "ready ADDRESS" ──────── │                 │
//!                 ◀── "ready" ─────────────────┼──────────────── │
//!                 ─── "call echo.octet 1024" ──┼───────────────▶ │   prepares
//!                 ◀── "ok" ────────────────────┼──────────────── │
//!                 ─── "burst 3" ───────────────┼───────────────▶ │   three calls, each timed there
//!                 ◀── "ns 12000 11800 11900" ──┼──────────────── │
//! ```
//!
//! `bench/peers/README.md` has the whole protocol. What a peer's program says is not believed blindly: an answer of
//! the wrong shape, or calls that took longer than their answer took to come, end its part in the run.
//!
//! To add a peer, write its program in `bench/peers/NAME` with a script `build`, and name it in [`Peer::ALL`].

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::BenchError;
use crate::flood::{Flood, Flooded};
use crate::lab::Lab;
use crate::process::Process;
use crate::system::{Call, Client, Completed, Setting, System};

/// How long a driver may take until it is ready: a Java peer warms up with twenty thousand calls.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// A system with a program of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Peer {
    name: &'static str,
    messaging: &'static str,
    /// The folder of its program: two systems may share one.
    folder: &'static str,
    /// What tells its driver apart from that of the other.
    words: &'static [&'static str],
}

impl Peer {
    /// All that are known.
    pub const ALL: &'static [Peer] = &[
        Peer { name: "omniorb", messaging: "giop", folder: "omniorb", words: &[] },
        Peer { name: "jacorb", messaging: "giop", folder: "jacorb", words: &[] },
        Peer { name: "tirpc", messaging: "oncrpc", folder: "tirpc", words: &[] },
        Peer { name: "tirpc-opaque", messaging: "oncrpc", folder: "tirpc", words: &["xdr=opaque"] },
        Peer { name: "tonic", messaging: "grpc", folder: "tonic", words: &[] },
        Peer { name: "capnp", messaging: "capnp", folder: "capnp", words: &[] },
        Peer { name: "sockets", messaging: "none", folder: "sockets", words: &[] },
    ];

    /// The peer of this name.
    pub fn named(name: &str) -> Option<&'static Peer> {
        Peer::ALL.iter().find(|peer| peer.name == name)
    }

    /// Whether it has no messaging: the C library's sockets, which are no system to compare with, but a second floor.
    pub fn is_floor(&self) -> bool {
        self.messaging == "none"
    }

    /// Its program, if it is built.
    ///
    /// # Errors
    ///
    /// [`BenchError::Missing`], naming what builds it.
    pub fn program(&self, peers: &Path) -> Result<PathBuf, BenchError> {
        let program = peers.join(self.folder).join("peer");
        match program.is_file() {
            true => Ok(program),
            false => {
                let build = format!("bench/peers/{}/build", self.folder);
                Err(BenchError::Missing { system: self.name, build })
            }
        }
    }

    /// What its program was built of, as its build script noted it.
    pub fn version(&self, peers: &Path) -> Option<String> {
        let text = std::fs::read_to_string(peers.join(self.folder).join("version")).ok()?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl System for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn messaging(&self) -> &'static str {
        self.messaging
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        let mut command = Command::new(self.program(&lab.peers)?);
        // What our own servers call `listen`.
        let host = setting.listen.map(|address| format!("host={}", address.ip()));
        let port = setting.listen.filter(|address| address.port() != 0);
        let port = port.map(|address| format!("port={}", address.port()));
        command
            .arg("serve")
            .args(Setting { listen: None, spinning: None, memory: None, ..setting.clone() }.words())
            .args(host)
            .args(port);
        Ok(command)
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let mut command = Command::new(self.program(&lab.peers)?);
        let setting = Setting { listen: None, spinning: None, memory: None, ..setting.clone() };
        command.args(["drive", address]).args(setting.words()).args(self.words);
        let mut process = Process::start(command, &lab.bounds(processor))?;
        match process.first_line(self.name, READY_WITHIN, "`ready`")?.as_str() {
            "ready" => Ok(Box::new(Driver { system: self.name, process, patience: lab.patience })),
            other => Err(process.fault(&format!("said {other:?} instead of `ready`"))),
        }
    }
}

/// A peer's client half, as seen from here.
struct Driver {
    system: &'static str,
    process: Process,
    patience: Duration,
}

impl Driver {
    /// Says a command and gives the words after `expected` of the answer, and how long it took.
    fn ask(&mut self, command: &str, expected: &str, longer: Duration) -> Result<Answer, BenchError> {
        let began = Instant::now();
        self.process.tell(command)?;
        let line = self.process.line(self.patience + longer, &format!("an answer to `{command}`"))?;
        let took = began.elapsed();
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "unsupported" => Err(BenchError::unsupported(self.system, rest)),
            "error" => Err(BenchError::System { system: self.system, what: rest.to_owned() }),
            word if word == expected => {
                let numbers = rest.split_ascii_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>();
                let numbers = numbers.map_err(|_| self.odd(command, &line))?;
                Ok(Answer { line, numbers, took })
            }
            _ => Err(self.odd(command, &line)),
        }
    }

    /// An answer that is none.
    fn odd(&self, command: &str, answer: &str) -> BenchError {
        const SHOWN: usize = 60;
        let mut shown: String = answer.chars().take(SHOWN).collect();
        if answer.chars().count() > SHOWN {
            shown.push('…');
        }
        self.process.fault(&format!("answered {shown:?} to `{command}`"))
    }

    /// A time that it claims, if it can be true: no part takes longer than the whole.
    fn believed(&self, command: &str, answer: &Answer, nanoseconds: u64) -> Result<Duration, BenchError> {
        let claimed = Duration::from_nanos(nanoseconds);
        if claimed > answer.took || nanoseconds == 0 {
            let what = format!(
                "claims {claimed:?} for `{command}`, whose answer took {:?}: it is not believed",
                answer.took
            );
            return Err(self.process.fault(&what));
        }
        Ok(claimed)
    }
}

struct Answer {
    line: String,
    numbers: Vec<u64>,
    took: Duration,
}

impl Client for Driver {
    fn system(&self) -> &'static str {
        self.system
    }

    fn process(&self) -> Option<u32> {
        Some(self.process.id())
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        self.ask(&format!("call {}", call.payload.words()), "ok", Duration::ZERO).map(|_| ())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        let command = format!("burst {calls}");
        let answer = self.ask(&command, "ns", Duration::ZERO)?;
        if answer.numbers.len() != calls || answer.numbers.contains(&0) {
            return Err(self.odd(&command, &answer.line));
        }
        let all = answer.numbers.iter().fold(0, |all: u64, &one| all.saturating_add(one));
        self.believed(&command, &answer, all)?;
        times.extend(answer.numbers.into_iter().map(Duration::from_nanos));
        Ok(())
    }

    fn flood(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
        let command = format!("flood {} {} {}", flood.element, flood.octets, flood.count);
        let answer = self.ask(&command, "flood", Duration::ZERO)?;
        let (confirmed, sent) = match answer.numbers[..] {
            [confirmed, sent] if (1..=confirmed).contains(&sent) => (confirmed, sent),
            _ => return Err(self.odd(&command, &answer.line)),
        };
        let confirmed = self.believed(&command, &answer, confirmed)?;
        Ok(Flooded { confirmed, sent: Some(Duration::from_nanos(sent)) })
    }

    fn callers(&mut self, callers: u32, time: Duration, call: Call) -> Result<Completed, BenchError> {
        let command = format!("callers {callers} {} {}", time.as_millis(), call.payload.words());
        let answer = self.ask(&command, "callers", time)?;
        let [calls, elapsed] = answer.numbers[..] else { return Err(self.odd(&command, &answer.line)) };
        Ok(Completed { calls, elapsed: self.believed(&command, &answer, elapsed)? })
    }

    fn connect_anew(&mut self) -> Result<Duration, BenchError> {
        let answer = self.ask("connect", "ns", Duration::ZERO)?;
        let [time] = answer.numbers[..] else { return Err(self.odd("connect", &answer.line)) };
        self.believed("connect", &answer, time)
    }

    fn idle(&mut self, connections: u32) -> Result<(), BenchError> {
        self.ask(&format!("idle {connections}"), "ok", Duration::ZERO).map(|_| ())
    }
}
