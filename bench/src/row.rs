//! One result, as one line of JSON: the interface to scripts and to the report.
//!
//! All experiments fill the same row. The names and their order are fixed here:
//!
//! | fields | in | |
//! |---|---|---|
//! | `experiment`, `system`, `transport`, `messaging`, `type`, `size`, `pin` | every row | what was measured |
//! | `p50_us`, `p99_us` | latency | percentiles over all calls |
//! | `gbit_s`, `sender_gbit_s`, `cpu_s_per_gib`, `sender_cpu_s_per_gib`, `receiver_cpu_s_per_gib` | throughput | until the receiver confirmed, and as the sender saw it; CPU of both sides, and each |
//! | `p50_us`, `p99_us`, `server_us` | latency with the server's processor time | |
//! | `server_ms`, `client_ms`, `gain_percent`, `gain_low`, `gain_high` | many calls together | the server's processor time, the client's time, and its gain over the slowest kind of calls, null where there is none |
//! | `calls_s` | rate; latency of a scenario that asks for it | |
//! | `kib_per_connection` | memory | |
//! | `side`, `step`, `name`, `p50_ns`, `share` | white box | one step of a call |
//! | `p50_ns` | collocated calls | average of a round, median over the rounds |
//! | `side`, `group`, `function`, `cpu_s_per_gib`, `share` | profile | what a function takes of one side of a flood |
//! | `side`, `system_calls`, `octets_copied`, `allocations`, `octets_allocated` | counts | of one call, on average |
//! | `ratio_to_raw`, `ratio_low`, `ratio_high` | every row | to the floor, measured in turns; null where there is none |
//! | `cpu_ratio`, `cpu_ratio_low`, `cpu_ratio_high` | throughput | of processor time, both sides together, to the floor's |
//! | `ratio_to_equal`, `equal_low`, `equal_high` | throughput beside `raw-equal` | of times, to the bare socket with zorb's options |
//! | `operations`, `position`, `objects`, `pick`, `lookup`, `style`, `iterations`, `callers`, `connections`, `queue`, `buffers`, `turns`, `instances`, `floor`, `stalled`, `link`, `study`, `phase` | where they apply | a scenario's parameters |
//! | `command` | kept results | what repeats it |
//!
//! A new experiment chooses one of the [`Figures`], or adds a variant; a new parameter is a field of
//! [`Parameters`].

use serde::{Deserialize, Deserializer, Serialize};

use crate::pin::Pin;
use crate::statistics::Ratio;
use crate::system::{System, Transport};

/// One system's figures for one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The scenario: `rtt`, `ttcp`, ….
    pub experiment: String,
    /// The system: `zorb`, `raw`, a peer's name.
    pub system: String,
    /// `tcp`, …
    pub transport: String,
    /// `giop`, another protocol's name, or `none` for a bare socket.
    pub messaging: String,
    /// What was sent: `null` for a call without arguments, `octet` for a sequence of octets, ….
    pub r#type: String,
    /// Octets of payload, of a round trip each way; 0 for the null call.
    pub size: usize,
    /// `same`, `split` or `none`.
    pub pin: String,
    /// What was found.
    #[serde(flatten)]
    pub figures: Figures,
    /// Median ratio to the floor: of times, so that above 1 is slower. Null where there is none.
    pub ratio_to_raw: Option<f64>,
    /// Lower end of that ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of that ratio's 95 % interval.
    pub ratio_high: Option<f64>,
    /// Other ratios of the same turns.
    #[serde(flatten)]
    pub beside: Beside,
    /// What the scenario varied.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// The command line that repeats the measurement; only rows that are kept in files have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// What was found, by kind of experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// How long a call takes, and how many that makes. First: what is read takes the first kind whose fields are there.
    Calls {
        /// Median over all calls, in microseconds.
        p50_us: f64,
        /// 99th percentile over all calls, in microseconds.
        p99_us: f64,
        /// Calls in a second of calling.
        calls_s: f64,
    },
    /// How long a call takes, and what it takes of the server's processor. Before the kind with fewer fields.
    Served {
        /// Median over all calls, in microseconds.
        p50_us: f64,
        /// 99th percentile over all calls, in microseconds.
        p99_us: f64,
        /// The server's processor time for a call, median over the turns, in microseconds; null where it cannot be seen.
        #[serde(deserialize_with = "present")]
        server_us: Option<f64>,
    },
    /// How long a call takes.
    Latency {
        /// Median over all calls, in microseconds.
        p50_us: f64,
        /// 99th percentile over all calls, in microseconds.
        p99_us: f64,
    },
    /// How much passes, one way.
    Throughput {
        /// Payload bits until the receiver had confirmed every buffer, in 10⁹ a second.
        gbit_s: f64,
        /// The same until the sender had handed over its last buffer; null where the sender does not tell.
        sender_gbit_s: Option<f64>,
        /// Processor seconds of both sides for each GiB of payload; null where it cannot be seen.
        cpu_s_per_gib: Option<f64>,
        /// The sender's part.
        sender_cpu_s_per_gib: Option<f64>,
        /// The receiver's part.
        receiver_cpu_s_per_gib: Option<f64>,
    },
    /// What many calls take together, and what they take less of than the slowest kind of them.
    Together {
        /// Median of the server's processor time for all of them, in milliseconds; null where it cannot be seen.
        server_ms: Option<f64>,
        /// Median of the client's time for all of them, in milliseconds.
        client_ms: f64,
        /// How much less time the client takes than with the slowest kind, as a part of that one's: median over the
        /// rounds, in percent. Null where there is none.
        gain_percent: Option<f64>,
        /// Lower end of its 95 % interval.
        gain_low: Option<f64>,
        /// Upper end of its 95 % interval.
        gain_high: Option<f64>,
    },
    /// How many calls end in a second, all callers together.
    Rate {
        /// Calls a second.
        calls_s: f64,
    },
    /// What an idle connection costs the server.
    Memory {
        /// Resident memory, in KiB.
        kib_per_connection: f64,
    },
    /// One step of a call, seen from within.
    Step {
        /// `client` or `server`.
        side: String,
        /// The step's number, 1 to 14.
        step: u32,
        /// The step's name.
        name: String,
        /// Median time in it, in nanoseconds.
        p50_ns: f64,
        /// Its part of the call, 0 to 1.
        share: f64,
    },
    /// How long a call takes that is too short for a clock: by the average of each round. Behind the kind with more fields.
    Collocated {
        /// Median over the rounds, in nanoseconds.
        p50_ns: f64,
    },
    /// What a function takes of one side of a flood.
    Function {
        /// `sender` or `receiver`.
        side: String,
        /// What it does ([`crate::profile::Group`]).
        group: String,
        /// Its name; `others` stands for all of the group that have no row.
        function: String,
        /// Processor seconds in it for each GiB of payload.
        cpu_s_per_gib: f64,
        /// Its part of the side's processor time, 0 to 1.
        share: f64,
    },
    /// What one side of a call takes of things that can be counted, on average.
    Counts {
        /// `client` or `server`.
        side: String,
        /// System calls of zorb's handles.
        system_calls: f64,
        /// Octets copied in user space.
        octets_copied: f64,
        /// Times that memory was asked for.
        allocations: f64,
        /// Octets of it.
        octets_allocated: f64,
    },
}

/// A field that may be null and may not be missing: it tells one kind of figures from another.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(from)
}

/// Ratios of a flood beside that of its time to the floor's, of the same pairs of turns; only those that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Median ratio of both sides' processor time to the floor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio_low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ratio_high: Option<f64>,
    /// Median ratio of times to those of the bare socket that has zorb's options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_to_equal: Option<f64>,
    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_high: Option<f64>,
}

/// A median ratio, and its interval if there are enough pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// The median.
    pub median: f64,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

impl Compared {
    fn of(median: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<Compared> {
        Some(Compared { median: median?, interval: low.zip(high) })
    }

    fn fields(compared: Option<Compared>) -> (Option<f64>, Option<f64>, Option<f64>) {
        let (low, high) = compared.and_then(|compared| compared.interval).unzip();
        (compared.map(|compared| rounded(compared.median)), low.map(rounded), high.map(rounded))
    }

    /// The same with its interval, if it has one.
    pub fn ratio(self) -> Option<Ratio> {
        self.interval.map(|(low, high)| Ratio { median: self.median, low, high })
    }
}

impl Beside {
    /// Of processor time, to the floor's.
    pub fn processor(&self) -> Option<Compared> {
        Compared::of(self.cpu_ratio, self.cpu_ratio_low, self.cpu_ratio_high)
    }

    /// Of times, to those of the bare socket with zorb's options.
    pub fn equal(&self) -> Option<Compared> {
        Compared::of(self.ratio_to_equal, self.equal_low, self.equal_high)
    }

    /// Enters the ratio of processor time.
    pub fn set_processor(&mut self, compared: Option<Compared>) {
        (self.cpu_ratio, self.cpu_ratio_low, self.cpu_ratio_high) = Compared::fields(compared);
    }

    /// Enters the ratio to the bare socket with zorb's options.
    pub fn set_equal(&mut self, compared: Option<Compared>) {
        (self.ratio_to_equal, self.equal_low, self.equal_high) = Compared::fields(compared);
    }
}

/// What a scenario varied; only what applies is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Operations of the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u32>,
    /// Which of them was called: `first` or `last`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Objects of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<u32>,
    /// Which of them was called: `same` or `random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<String>,
    /// How the server finds an operation: `linear`, `hashed`, `perfect`, `numbered`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<String>,
    /// `twoway` or `oneway`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// How often the calls of one iteration are made in a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Callers at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callers: Option<u32>,
    /// Idle connections besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// Octets of socket queues, each way, where they were set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<usize>,
    /// Buffers of each flood, where they were fewer than asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<u32>,
    /// Turns of a system that had fewer than the others, because it stalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// How often the systems were started anew, the ratio being the median of what each of these gave; absent: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<u32>,
    /// The system that the ratio is to, where that is not `raw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
    /// Turns that took five times the quickest one or longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled: Option<u32>,
    /// The link that was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Which of the field's studies the row repeats, in a run of all of them ([`crate::paper::Study`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// Of a first call: `connection`, `interface`, `object` or `later`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

impl Row {
    /// What was found of `system` with `size` octets of type `kind`; without a ratio and parameters.
    pub(crate) fn new(
        experiment: &str,
        system: &dyn System,
        (transport, pin): (Transport, Pin),
        (kind, size): (&str, usize),
        figures: Figures,
    ) -> Row {
        Row {
            experiment: experiment.to_owned(),
            system: system.name().to_owned(),
            transport: system.transport().unwrap_or(transport).name().to_owned(),
            messaging: system.messaging().to_owned(),
            r#type: kind.to_owned(),
            size,
            pin: pin.name().to_owned(),
            figures,
            ratio_to_raw: None,
            ratio_low: None,
            ratio_high: None,
            beside: Beside::default(),
            parameters: Parameters::default(),
            command: None,
        }
    }

    /// The row as one line of JSON, without the line's end.
    pub fn to_json(&self) -> String {
        // Field names are constants and every value is a string or a number (NaN becomes null).
        serde_json::to_string(self).expect("strings and numbers always serialise")
    }

    /// Reads what [`Row::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// What is wrong with the line, and at which column.
    pub fn from_json(line: &str) -> Result<Row, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// The ratio with its interval, if there is one.
    pub fn ratio(&self) -> Option<Ratio> {
        Some(Ratio { median: self.ratio_to_raw?, low: self.ratio_low?, high: self.ratio_high? })
    }

    /// Enters a ratio and its interval, rounded to the four decimals that mean anything.
    pub fn set_ratio(&mut self, ratio: Option<Ratio>) {
        self.ratio_to_raw = ratio.map(|ratio| rounded(ratio.median));
        self.ratio_low = ratio.map(|ratio| rounded(ratio.low));
        self.ratio_high = ratio.map(|ratio| rounded(ratio.high));
    }

    /// Enters a ratio as it was found.
    pub fn set_compared(&mut self, compared: Option<Compared>) {
        (self.ratio_to_raw, self.ratio_low, self.ratio_high) = Compared::fields(compared);
    }

    /// Enters a ratio of too few pairs to have an interval.
    pub fn set_unresolved_ratio(&mut self, median: f64) {
        (self.ratio_to_raw, self.ratio_low, self.ratio_high) = (Some(rounded(median)), None, None);
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orb::Zorb;

    fn row(figures: Figures) -> Row {
        Row::new("rtt", &Zorb, (Transport::Tcp, Pin::Same), ("octet", 1024), figures)
    }

    const COMMON: &str = concat!(
        r#"{"experiment":"rtt","system":"zorb","transport":"tcp","messaging":"giop","type":"octet","#,
        r#""size":1024,"pin":"same","#
    );
    const LATENCY: Figures = Figures::Latency { p50_us: 12.5, p99_us: 20.25 };

    #[test]
    fn the_fields_are_exactly_these_in_this_order() {
        let mut with_ratio = row(LATENCY);
        with_ratio.set_ratio(Some(Ratio { median: 1.05, low: 1.040_04, high: 1.06 }));
        assert_eq!(
            with_ratio.to_json(),
            format!(
                "{COMMON}{}",
                concat!(
                    r#""p50_us":12.5,"p99_us":20.25,"#,
                    r#""ratio_to_raw":1.05,"ratio_low":1.04,"ratio_high":1.06}"#
                )
            )
        );
    }

    #[test]
    fn no_ratio_is_null() {
        let line = row(LATENCY).to_json();
        assert!(line.ends_with(r#""ratio_to_raw":null,"ratio_low":null,"ratio_high":null}"#), "{line}");
        assert_eq!(row(LATENCY).ratio(), None);
        let mut unresolved = row(LATENCY);
        unresolved.set_unresolved_ratio(2.5);
        assert!(unresolved.to_json().ends_with(r#""ratio_to_raw":2.5,"ratio_low":null,"ratio_high":null}"#));
    }

    #[test]
    fn every_kind_is_read_back_as_it_was_written() {
        let step = Figures::Step {
            side: "client".to_owned(),
            step: 3,
            name: "route".to_owned(),
            p50_ns: 12.0,
            share: 0.25,
        };
        let throughput = Figures::Throughput {
            gbit_s: 40.0,
            sender_gbit_s: None,
            cpu_s_per_gib: Some(0.5),
            sender_cpu_s_per_gib: Some(0.25),
            receiver_cpu_s_per_gib: Some(0.25),
        };
        let together = Figures::Together {
            server_ms: None,
            client_ms: 1_300.5,
            gain_percent: Some(3.0),
            gain_low: Some(2.5),
            gain_high: None,
        };
        let counts = Figures::Counts {
            side: "server".to_owned(),
            system_calls: 2.0,
            octets_copied: 64.5,
            allocations: 0.0,
            octets_allocated: 0.0,
        };
        let kinds = [
            (LATENCY, r#""p50_us":12.5,"p99_us":20.25,"ratio"#),
            (
                Figures::Calls { p50_us: 12.5, p99_us: 20.25, calls_s: 7.0 },
                r#""p50_us":12.5,"p99_us":20.25,"calls_s":7.0,"ratio"#,
            ),
            (
                Figures::Served { p50_us: 12.5, p99_us: 20.25, server_us: None },
                r#""p50_us":12.5,"p99_us":20.25,"server_us":null,"ratio"#,
            ),
            (
                together,
                r#""server_ms":null,"client_ms":1300.5,"gain_percent":3.0,"gain_low":2.5,"gain_high":null,"ratio"#,
            ),
            (throughput, r#""gbit_s":40.0,"sender_gbit_s":null,"cpu_s_per_gib":0.5,"sender_cpu"#),
            (Figures::Rate { calls_s: 9.0 }, r#""calls_s":9.0,"ratio"#),
            (Figures::Memory { kib_per_connection: 9.5 }, r#""kib_per_connection":9.5,"ratio"#),
            (step, r#""side":"client","step":3,"name":"route","p50_ns":12.0,"share":0.25,"ratio"#),
            (
                counts,
                r#""side":"server","system_calls":2.0,"octets_copied":64.5,"allocations":0.0,"octets_allocated":0.0,"ratio"#,
            ),
        ];
        for (figures, expected) in kinds {
            let line = row(figures.clone()).to_json();
            assert!(line.starts_with(&format!("{COMMON}{expected}")), "{line}");
            assert_eq!(Row::from_json(&line), Ok(row(figures)));
        }
        assert!(Row::from_json("{}").unwrap_err().contains("experiment"));
    }

    #[test]
    fn parameters_follow_the_ratio_and_the_command_is_last() {
        let mut row = row(LATENCY);
        row.parameters.callers = Some(8);
        row.parameters.queue = Some(65_536);
        row.parameters.phase = Some("later".to_owned());
        row.command = Some("zorb bench rtt".to_owned());
        row.beside.set_processor(Some(Compared { median: 1.023_456, interval: Some((1.01, 1.03)) }));
        row.beside.set_equal(Some(Compared { median: 0.99, interval: None }));
        let line = row.to_json();
        let end = r#""ratio_high":null,"cpu_ratio":1.0235,"cpu_ratio_low":1.01,"cpu_ratio_high":1.03,"ratio_to_equal":0.99,"callers":8,"queue":65536,"phase":"later","command":"zorb bench rtt"}"#;
        assert!(line.ends_with(end), "{line}");
        assert_eq!(Row::from_json(&line), Ok(row));
    }
}
