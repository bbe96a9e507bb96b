//! `zorb bench demux`: finding object and operation.

use clap::Args;

use zorb_bench::demux::{Lookup, MOST_OBJECTS, OPERATIONS, Plan, Style};
use zorb_bench::iterations::{self, FIELDS_GAIN_PERCENT, FIELDS_SERVER_MS, MOST_ITERATIONS};
use zorb_bench::paper::Scenario;
use zorb_bench::row::{Figures, Row};
use zorb_bench::statistics::LEAST_PAIRS;

use super::common::Common;
use crate::failure::Failure;
use crate::table::{self, Table};

/// Finding operation and object: a call among 1 to 1,000 operations, or objects up to a million.
///
/// The first and the last of an interface's operations are called, which the server finds in four ways: by comparing
/// names one after the other, in a hash map, by the perfect hash of a generated skeleton (what zorb does), and by a number in
/// place of a name. Then the same or random ones of many objects. Two-way and oneway, beside a blocking socket that
/// moves as many bytes.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) common: Common,

    /// Ways to find an operation: linear, hashed, perfect, numbered.
    #[arg(long, value_delimiter = ',', default_values_t = Lookup::ALL, hide_default_value = true, value_name = "NAMES")]
    lookup: Vec<Lookup>,

    /// Numbers of operations, of 1, 10, 100 and 1000; 0 leaves them out.
    #[arg(long, value_delimiter = ',', default_values_t = OPERATIONS, hide_default_value = true, value_name = "NUMBERS")]
    operations: Vec<u32>,

    /// Numbers of objects, 1 to 1,000,000; 0 leaves them out.
    #[arg(long, value_delimiter = ',', default_value = "1,1000,100000,1000000", value_name = "NUMBERS")]
    objects: Vec<u32>,

    /// twoway, oneway.
    #[arg(long, value_delimiter = ',', default_values_t = Style::ALL, hide_default_value = true, value_name = "NAMES")]
    style: Vec<Style>,

    /// Calls of each system for each combination.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    calls: u32,

    /// Instead: the field's experiment, iterations of 100 calls of the last of 100 operations; it had 1,100,500,1000.
    #[arg(
        long,
        value_delimiter = ',',
        conflicts_with_all = ["operations", "objects", "calls"],
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_ITERATIONS)),
        value_name = "NUMBERS"
    )]
    iterations: Option<Vec<u32>>,

    /// With --iterations: turns of each way for each number.
    #[arg(long, requires = "iterations", default_value_t = LEAST_PAIRS as u32, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    repeat: u32,
}

const HELP: &str = "\
Two-way calls are timed one by one. Oneways are timed in bursts that end when
the server has executed them: their percentiles are over bursts, and the
bare socket beside them sends as many messages one way. What the server's
process spends of its processor on a call stands beside.

With --iterations the gain is what the client needs less than with linear, in
the same rounds; it has an interval from 20 turns on, for --pin same only.

Examples:
  zorb bench demux
  zorb bench demux --operations 100 --objects 0 --lookup linear,perfect
  zorb bench demux --iterations 1,100,500,1000
  zorb bench demux --operations 0 --objects 1,1000000 --style twoway --json";

impl Arguments {
    pub(super) fn scenario(&self) -> Result<Scenario, Failure> {
        if self.common.has_peers() {
            return Err(Failure::usage(
                "demux compares ways to find an operation within zorb; peers have no such switch",
            ));
        }
        if let Some(iterations) = &self.iterations {
            return Ok(Scenario::Iterations(self.searches(iterations)));
        }
        let plan = Plan {
            basis: self.common.basis(self.calls),
            lookups: self.lookup.clone(),
            operations: counts(&self.operations, |count| match OPERATIONS.contains(&count) {
                true => Ok(()),
                false => {
                    Err(format!("there is no interface of {count} operations; there are 1, 10, 100, 1000"))
                }
            })?,
            objects: counts(&self.objects, |count| match count <= MOST_OBJECTS {
                true => Ok(()),
                false => Err(format!("{count} objects are too many; there may be 1 to {MOST_OBJECTS}")),
            })?,
            styles: self.style.clone(),
        };
        if plan.operations.is_empty() && plan.objects.is_empty() {
            return Err(Failure::usage(
                "neither operations nor objects are left: give --operations or --objects",
            ));
        }
        if plan.operations.is_empty() && plan.lookups != Lookup::ALL && plan.lookups != [Lookup::Perfect] {
            return Err(Failure::usage(
                "--lookup is how operations are found, and --operations 0 leaves them out",
            ));
        }
        Ok(Scenario::Lookups(plan))
    }

    /// The field's experiment.
    fn searches(&self, iterations: &[u32]) -> iterations::Plan {
        let basis = self.common.basis(self.calls);
        iterations::Plan {
            transport: basis.transport,
            pin: basis.pin,
            iterations: iterations.to_vec(),
            lookups: self.lookup.clone(),
            styles: self.style.clone(),
            repeat: self.repeat as usize,
            seed: basis.seed,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { common, calls, repeat, .. } = arguments;
    let scenario = arguments.scenario()?;
    let shown = |rows: &[Row]| match &scenario {
        Scenario::Iterations(_) => {
            let title = common.title("Iterations of 100 calls", &format!("{repeat} rounds"), rows);
            format!("{title}{}\n{}", layout_iterations(rows), field())
        }
        _ => {
            let title = common.title("Demultiplexing", &common.rounds(*calls), rows);
            format!("{title}{}\nserver: µs of the server's processor for a call\n", layout(rows))
        }
    };
    common.measure(|lab, finished| scenario.run(lab, finished), shown)
}

/// Those that are not 0.
fn counts(counts: &[u32], check: impl Fn(u32) -> Result<(), String>) -> Result<Vec<u32>, Failure> {
    let counts = counts.iter().copied().filter(|&count| count > 0);
    counts.map(|count| check(count).map(|()| count).map_err(Failure::usage)).collect()
}

/// A table of operations and one of objects.
fn layout(rows: &[Row]) -> String {
    let (operations, objects): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.parameters.operations.is_some());
    let tables = [("<operations", operations), ("<objects", objects)];
    let tables = tables.iter().filter(|(_, rows)| !rows.is_empty());
    tables.map(|(head, rows)| layout_of(head, rows).to_string()).collect::<Vec<_>>().join("\n")
}

fn layout_of(head: &str, rows: &[&Row]) -> Table {
    let heads = [head, "<style", "<lookup", "p50 µs", "p99 µs", "server", "ratio", "<95 % interval"];
    let mut table = Table::new(&heads);
    let mut last = String::new();
    for row in rows {
        let parameters = &row.parameters;
        let count = parameters.operations.or(parameters.objects).unwrap_or_default();
        let place = parameters.position.as_ref().or(parameters.pick.as_ref());
        let call = format!("{count} {}", place.map_or("", String::as_str));
        let style = parameters.style.clone().unwrap_or_default();
        let label = format!("{call} {style}");
        let mut cells = if label == last { vec![String::new(), String::new()] } else { vec![call, style] };
        last = label;
        cells.push(parameters.lookup.clone().unwrap_or_else(|| format!("({})", row.system)));
        if let Figures::Served { p50_us, p99_us, server_us } = row.figures {
            cells.extend([format!("{p50_us:.2}"), format!("{p99_us:.1}")]);
            cells.push(server_us.map_or_else(|| "-".to_owned(), |us| format!("{us:.2}")));
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

fn layout_iterations(rows: &[Row]) -> Table {
    let heads = ["iterations", "<style", "<lookup", "server ms", "client ms", "gain %", "<95 % interval"];
    let mut table = Table::new(&heads);
    let mut last = (None, None);
    for row in rows {
        let parameters = &row.parameters;
        let label = (parameters.iterations, parameters.style.clone());
        let mut cells = match label == last {
            true => vec![String::new(), String::new()],
            false => vec![
                label.0.map(|count| table::thousands(count.into())).unwrap_or_default(),
                label.1.clone().unwrap_or_default(),
            ],
        };
        last = label;
        cells.push(parameters.lookup.clone().unwrap_or_default());
        if let Figures::Together { server_ms, client_ms, gain_percent, gain_low, gain_high } = row.figures {
            let milliseconds = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.2}"));
            cells.extend([milliseconds(server_ms), milliseconds(Some(client_ms))]);
            if let Some(gain) = gain_percent {
                cells.push(format!("{gain:.1}"));
                let interval = gain_low.zip(gain_high);
                let interval = interval.map(|(low, high)| format!("{low:.1} - {high:.1}"));
                cells.push(interval.unwrap_or_else(|| "not resolved".to_owned()));
            }
        }
        table.row(cells);
    }
    table
}

/// What the field found.
fn field() -> String {
    let server =
        FIELDS_SERVER_MS.map(|(lookup, ms)| format!("{} ms with {lookup}", table::thousands(ms as u64)));
    let gain = FIELDS_GAIN_PERCENT.map(|(style, percent)| format!("{percent} % {style}"));
    let [.., most] = iterations::FIELDS_ITERATIONS.map(|count| table::thousands(count.into()));
    let text = format!(
        "The last of 100 operations is called; the gain is the client's over linear. In 1996, on other machines, \
         the server's side took {} for {most} iterations, and the better way gained the client {}.",
        server.join(", "),
        gain.join(", ")
    );
    table::wrapped(&text, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_bench::row::{Beside, Parameters};

    fn row(figures: Figures, parameters: Parameters) -> Row {
        Row {
            experiment: "demux".to_owned(),
            system: "zorb".to_owned(),
            transport: "tcp".to_owned(),
            messaging: "giop".to_owned(),
            r#type: "null".to_owned(),
            size: 0,
            pin: "same".to_owned(),
            figures,
            ratio_to_raw: Some(1.234),
            ratio_low: Some(1.203),
            ratio_high: Some(1.256),
            beside: Beside::default(),
            parameters,
            command: None,
        }
    }

    fn fits(shown: &str) {
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{line:?}");
        }
    }

    #[test]
    fn the_tables_fit_80_columns() {
        let text = |text: &str| Some(text.to_owned());
        let figures = Figures::Served { p50_us: 123.45, p99_us: 12_345.6, server_us: Some(123.45) };
        let operations = Parameters {
            operations: Some(1000),
            position: text("first"),
            lookup: text("numbered"),
            style: text("oneway"),
            ..Parameters::default()
        };
        let objects = Parameters {
            objects: Some(MOST_OBJECTS),
            pick: text("random"),
            lookup: text("perfect"),
            style: text("twoway"),
            ..Parameters::default()
        };
        let shown = layout(&[row(figures.clone(), operations.clone()), row(figures, objects)]);
        fits(&shown);
        assert!(shown.contains("1000 first") && shown.contains("\n\nobjects"), "{shown}");
        let figures = Figures::Together {
            server_ms: Some(123_456.78),
            client_ms: 123_456.78,
            gain_percent: Some(-12.3),
            gain_low: None,
            gain_high: None,
        };
        let shown = layout_iterations(&[row(figures, Parameters { iterations: Some(10_000), ..operations })]);
        fits(&shown.to_string());
        assert!(shown.to_string().contains("not resolved"), "{shown}");
        fits(&field());
        let one_line = field().replace('\n', " ");
        let figures =
            "6,603 ms with linear, 2,511 ms with hashed, 2,062 ms with numbered for 1,000 iterations";
        assert!(one_line.contains(figures), "{one_line}");
    }
}
