//! A client half in a process of its own, which takes commands: a peer's, or one of ours.
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
//! What the other process says is not believed blindly: an answer of the wrong shape, or calls that took longer than their
//! answer took to come, end its part in the run.
//!
//! [`drive`] is the other side for our own systems, of floods only. Where these are what is measured, our clients are apart
//! as the peers' are: a process with one thread, whose descriptors the kernel looks up without counting who uses them, and
//! which is started anew when its peer is.

use std::io::{self, BufRead, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::BenchError;
use crate::flood::{Flood, Flooded};
use crate::lab::Lab;
use crate::process::Process;
use crate::system::{Call, Client, Completed};

/// How long a driver may take until it is ready: a Java peer warms up with twenty thousand calls.
const READY_WITHIN: Duration = Duration::from_secs(120);

/// Octets of a command that are read: more than any has.
const LONGEST: u64 = 1_000;

/// Another process's client half.
pub(crate) struct Driver {
    system: &'static str,
    process: Process,
    patience: Duration,
}

impl Driver {
    /// Starts it on `processor`, and waits until it is connected.
    ///
    /// # Errors
    ///
    /// It does not start, or says something else than `ready`.
    pub(crate) fn start(
        system: &'static str,
        command: Command,
        lab: &Lab,
        processor: Option<usize>,
    ) -> Result<Driver, BenchError> {
        let mut process = Process::start(command, &lab.bounds(processor))?;
        match process.first_line(system, READY_WITHIN, "`ready`")?.as_str() {
            "ready" => Ok(Driver { system, process, patience: lab.patience }),
            other => Err(process.fault(&format!("said {other:?} instead of `ready`"))),
        }
    }

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

    fn collocated(&mut self, calls: u32) -> Result<Duration, BenchError> {
        let command = format!("collocated {calls}");
        let answer = self.ask(&command, "ns", Duration::ZERO)?;
        let [time] = answer.numbers[..] else { return Err(self.odd(&command, &answer.line)) };
        self.believed(&command, &answer, time)
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

/// The driven process's half, for a connected client of ours: answers each line of `commands` with one of `answers`, until
/// there are no more.
///
/// # Errors
///
/// [`BenchError::Io`] if nobody reads the answers.
pub fn drive(
    client: &mut dyn Client,
    mut commands: impl BufRead,
    mut answers: impl Write,
) -> Result<(), BenchError> {
    let mut say = |text: &str| {
        // One line, whatever a fault's words are.
        let line = text.replace(['\n', '\r'], " ") + "\n";
        answers.write_all(line.as_bytes()).and_then(|()| answers.flush()).map_err(BenchError::io("answer"))
    };
    say("ready")?;
    let mut line = String::new();
    // Without an end of line nobody has finished saying it.
    while io::Read::take(&mut commands, LONGEST).read_line(&mut line).is_ok() && line.ends_with('\n') {
        say(&answer(client, &line))?;
        line.clear();
    }
    Ok(())
}

fn answer(client: &mut dyn Client, command: &str) -> String {
    let words: Vec<_> = command.split_ascii_whitespace().collect();
    let flood = match words[..] {
        ["flood", element, octets, count] => element
            .parse()
            .ok()
            .zip(octets.parse().ok())
            .zip(count.parse().ok())
            .map(|((element, octets), count)| Flood { element, octets, count }),
        _ => return format!("unsupported {}: only floods", words.first().unwrap_or(&"nothing")),
    };
    let Some(flood) = flood else { return format!("error no flood: {:?}", command.trim_end()) };
    match client.flood(flood) {
        Ok(Flooded { confirmed, sent }) => {
            format!("flood {} {}", confirmed.as_nanos(), sent.unwrap_or(confirmed).as_nanos())
        }
        Err(BenchError::Unsupported { what, .. }) => format!("unsupported {what}"),
        Err(BenchError::System { what, .. }) => format!("error {what}"),
        Err(error) => format!("error {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flood::Element;

    /// Floods take as many microseconds as they have buffers; of more than nine the last is missing.
    struct Counting;

    impl Client for Counting {
        fn system(&self) -> &'static str {
            "counting"
        }

        fn prepare(&mut self, _: Call) -> Result<(), BenchError> {
            Ok(())
        }

        fn burst(&mut self, _: usize, _: &mut Vec<Duration>) -> Result<(), BenchError> {
            Ok(())
        }

        fn flood(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
            match flood {
                Flood { element: Element::String, .. } => Err(BenchError::unsupported("counting", "strings")),
                Flood { count: 10.., .. } => {
                    Err(BenchError::Corrupt { system: "counting", what: "9 of\n10 arrived".to_owned() })
                }
                Flood { count, .. } => {
                    let confirmed = Duration::from_micros(count.into());
                    Ok(Flooded { confirmed, sent: Some(confirmed / 2) })
                }
            }
        }
    }

    fn answers(commands: &str) -> Vec<String> {
        let mut said = Vec::new();
        drive(&mut Counting, commands.as_bytes(), &mut said).expect("a vector takes everything");
        String::from_utf8(said).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_line_has_an_answer_until_there_are_no_more() {
        assert_eq!(
            answers("flood octet 1024 8\nflood long 64 2\n"),
            ["ready", "flood 8000 4000", "flood 2000 1000"]
        );
        assert_eq!(answers(""), ["ready"]);
    }

    #[test]
    fn what_fails_or_is_no_command_is_said_in_a_line() {
        let answers =
            answers("flood octet 1024 10\nflood string 9 9\nburst 3\n\nflood octets 1 1\nflood octet 1");
        assert_eq!(
            answers,
            [
                "ready",
                "error counting delivered other data than was sent: 9 of 10 arrived",
                "unsupported strings",
                "unsupported burst: only floods",
                "unsupported nothing: only floods",
                "error no flood: \"flood octets 1 1\"",
            ]
        );
    }

    #[test]
    fn a_line_without_end_is_no_command() {
        assert_eq!(answers(&"x".repeat(5_000)), ["ready"]);
    }
}
