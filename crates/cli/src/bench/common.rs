//! What the scenarios' command lines have in common: whom to measure, where, how the results come out.

use std::io::Write;
use std::time::Duration;

use clap::Args;

use zorb_bench::calls::{Basis, PAIRS};
use zorb_bench::lab::Lab;
use zorb_bench::link::{Link, Spec};
use zorb_bench::orb::Zorb;
use zorb_bench::paper::Systems;
use zorb_bench::pin::Pin;
use zorb_bench::row::{Figures, Row};
use zorb_bench::system::Transport;
use zorb_bench::{BenchError, System};

use super::rtt::print_rows;
use super::surroundings::{surrounded, tell_if_busy};
use super::systems;
use crate::failure::Failure;
use crate::table::Table;

/// Options of every scenario.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// What the messages travel over: tcp, unix, shm.
    #[arg(long, default_value = "tcp", value_name = "NAME")]
    transport: Transport,

    /// Both processes on one processor, on two, or unpinned: same, split or none.
    #[arg(long, default_value = "same", value_name = "WHERE")]
    pin: Pin,

    /// Peers to measure beside zorb: omniorb, jacorb, tirpc, tonic, capnp.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    peers: Vec<String>,

    /// Put a link between both sides, such as 155mbit,mtu=9180,delay=0.2ms, or wan: two network namespaces. Needs root.
    #[arg(long, value_name = "LINK")]
    link: Option<Spec>,

    /// Seed of the interval's resampling.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Longest wait for one answer of a peer, in seconds.
    #[arg(long, default_value_t = Lab::PATIENCE.as_secs(), value_parser = clap::value_parser!(u64).range(1..), value_name = "SECONDS")]
    patience: u64,

    /// One JSON object a line, each as soon as it is measured, instead of the table.
    #[arg(long)]
    json: bool,
}

impl Common {
    #[cfg(test)]
    pub(crate) fn link(&self) -> Option<Spec> {
        self.link.clone()
    }

    pub(crate) fn basis(&self, calls: u32) -> Basis {
        let calls = calls as usize;
        Basis { transport: self.transport, pin: self.pin, calls, seed: self.seed, ..Basis::default() }
    }

    pub(crate) fn has_peers(&self) -> bool {
        !self.peers.is_empty()
    }

    /// The peers asked for.
    pub(crate) fn peers(&self) -> Result<Systems, Failure> {
        systems::beside_zorb(&self.peers).map(Systems)
    }

    /// zorb and the peers asked for.
    pub(crate) fn systems(&self) -> Result<Vec<&'static dyn System>, Failure> {
        Ok(self.peers()?.with(&Zorb))
    }

    /// Measures, and prints each event's rows as JSON as soon as they are there, or at the end what `layout` makes of
    /// all.
    pub(crate) fn measure(
        &self,
        measure: impl FnOnce(&Lab, &mut (dyn FnMut(Vec<Row>) + Send)) -> Result<Vec<String>, BenchError>,
        layout: impl FnOnce(&[Row]) -> String,
    ) -> Result<(), Failure> {
        tell_if_busy(self.json)?;
        let mut rows = Vec::new();
        let mut unwritten = Ok(());
        let patience = Duration::from_secs(self.patience);
        crossing(self.transport, self.link.as_ref())?;
        let ended = surrounded("measuring", patience, self.link.as_ref(), |lab| {
            measure(lab, &mut |mut event| {
                over(lab.link, &mut event);
                if self.json && unwritten.is_ok() {
                    lab.progress.aside(&mut || unwritten = print_rows(&event));
                    if unwritten.is_err() {
                        lab.stop.request();
                    }
                }
                rows.extend(event);
            })
        });
        unwritten?;
        if !self.json && !rows.is_empty() {
            write!(std::io::stdout().lock(), "{}", layout(&rows))?;
        }
        Failure::of_run(ended)
    }

    /// What stands above a table of these rows: what was done, over what and where.
    pub(crate) fn title(&self, what: &str, how: &str, rows: &[Row]) -> String {
        let place = match self.pin {
            Pin::Same => "one processor",
            Pin::Split => "a processor each",
            Pin::None => "not pinned",
        };
        let link = across(rows);
        crate::table::wrapped(&format!("{what} over {}{link}, {place}; {how}", self.transport.name()), 0)
            + "\n"
    }

    /// How often calls are made one at a time, in words.
    pub(crate) fn rounds(&self, calls: u32) -> String {
        format!("{PAIRS} rounds of {} calls", self.basis(calls).burst())
    }
}

/// Whether there can be such a link between both sides.
///
/// # Errors
/// They are on one machine.
pub(crate) fn crossing(transport: Transport, link: Option<&Spec>) -> Result<(), Failure> {
    match link {
        Some(_) if transport != Transport::Tcp => Err(Failure::usage(format!(
            "--link: {} does not leave the machine; a link is for tcp",
            transport.name()
        ))),
        _ => Ok(()),
    }
}

/// Over which link the rows were measured, for behind the transport's name.
pub(crate) fn across(rows: &[Row]) -> String {
    let link = rows.first().and_then(|row| row.parameters.link.as_ref());
    link.map(|link| format!(" across {link}")).unwrap_or_default()
}

/// Notes what link the rows were measured on.
pub(crate) fn over(link: Option<&Link>, rows: &mut [Row]) {
    for row in rows {
        row.parameters.link = link.map(|link| link.spec().to_string());
    }
}

/// A table with a line for each row, the first of each event with what `label` says of it. An event begins with the
/// floor's row.
pub(crate) fn table(head: &str, rows: &[Row], label: impl Fn(&Row) -> String) -> Table {
    let has = |kind: fn(&Figures) -> bool| rows.iter().any(|row| kind(&row.figures));
    let rates = has(|figures| matches!(figures, Figures::Calls { .. } | Figures::Rate { .. }));
    let latencies = has(|figures| matches!(figures, Figures::Calls { .. } | Figures::Latency { .. }));
    let head = format!("<{head}");
    let mut heads = vec![head.as_str(), "<system"];
    heads.extend(rates.then_some("calls/s"));
    heads.extend(if latencies { &["p50 µs", "p99 µs"][..] } else { &[] });
    heads.extend(["ratio", "<95 % interval"]);
    let mut table = Table::new(&heads);
    let mut last = String::new();
    for row in rows {
        let label = label(row);
        let mut cells = vec![if label == last { String::new() } else { label.clone() }, row.system.clone()];
        last = label;
        let rate = |calls_s: f64| format!("{calls_s:.0}");
        let times = |p50_us: f64, p99_us: f64| [p50_us, p99_us].map(|us| format!("{us:.1}"));
        match row.figures {
            Figures::Calls { p50_us, p99_us, calls_s } => {
                cells.push(rate(calls_s));
                cells.extend(times(p50_us, p99_us));
            }
            Figures::Latency { p50_us, p99_us } => cells.extend(times(p50_us, p99_us)),
            Figures::Rate { calls_s } => cells.push(rate(calls_s)),
            _ => {}
        }
        if row.messaging != "none"
            && let Some(ratio) = row.ratio()
        {
            cells.push(format!("{:.3}", ratio.median));
            cells.push(format!("{:.3} - {:.3}", ratio.low, ratio.high));
        }
        table.row(cells);
    }
    table
}
