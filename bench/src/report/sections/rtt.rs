//! Round trips: medians and 99th percentiles by size, for each placement, the bandwidth that follows, and the ratios that
//! may be formed.

use super::{
    ARGUMENTS, Along, Group, LATENCY, Part, RATIO, Scope, Shown, by, by_circumstances, interval, lines_plot,
    rows_plot, span, systems_plot,
};
use crate::report::grouping::{alike, line};
use crate::report::plot::Axis;
use crate::report::record::Record;
use crate::report::table::{self, Cell, Table};
use crate::report::{number, verdict};

/// From this many sizes on a curve says more than rows.
const MANY_SIZES: usize = 7;

const BANDWIDTH: Axis = Axis { label: "Gbit/s at the median", written: number::tick, base: None };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let mut parts = Vec::new();
        // A type of many sizes is a curve; the null call and the like are rows.
        let types = alike(rows, &["type"]);
        let (curves, others): (Vec<_>, Vec<_>) =
            types.into_iter().partition(|of_type| alike(&of_type.rows, &["size"]).len() >= MANY_SIZES);
        let others = others.into_iter().flat_map(|of_type| of_type.rows).collect::<Vec<_>>();
        let title = "Time of a call, median to 99th percentile".into();
        parts.extend(rows_plot(title, "µs", by_size(&others), scope, &span));
        parts.extend(ratio_plot(&others, scope, "Time of a call as a multiple of a bare socket's"));
        for of_type in curves {
            parts.extend(by_many_sizes(&of_type.rows, &of_type.words, scope));
        }
        parts
    })
}

/// Latency, bandwidth and ratios as curves.
fn by_many_sizes<'a>(rows: &[&'a Record], type_name: &str, scope: &Scope<'_>) -> Vec<Part<'a>> {
    const LATENCY_CURVE: Axis = Axis { base: Some(10.0), written: number::figure, ..LATENCY };
    const X: Along = ("size", ARGUMENTS);
    let mut parts = Vec::new();
    for (field, words) in [("p50_us", "Median"), ("p99_us", "99th percentile of the")] {
        let title = format!("{words} time of a call with {type_name} by size");
        parts.extend(systems_plot(title, rows, scope, X, (field, LATENCY_CURVE)));
    }
    let systems = scope.names.systems(rows).into_iter();
    let lines = systems.map(|(name, look, rows)| line(name, look, &rows, X.0, &bandwidth));
    let title = format!("Payload of calls with {type_name}, one after the other, both ways together");
    parts.extend(lines_plot(title, lines.collect(), scope, ARGUMENTS, BANDWIDTH, 0.0));
    let compared: Vec<_> = rows.iter().copied().filter(|row| row.text("system") != "raw").collect();
    let title = format!("Time of a call with {type_name} as a multiple of a bare socket's");
    parts.extend(systems_plot(title, &compared, scope, X, ("ratio_to_raw", RATIO)));
    parts
}

/// Gbit/s that pass when a call follows on the other.
fn bandwidth(row: &Record) -> Option<f64> {
    Some(2.0 * 8e-3 * row.positive("size")? / row.positive("p50_us")?)
}

fn by_size<'a>(rows: &[&'a Record]) -> Vec<crate::report::grouping::Alike<'a>> {
    let mut sizes = alike(rows, &["type", "size"]);
    for size in &mut sizes {
        // "null, 0 B" says the same twice, and octets are what is meant where nothing is said.
        let row = size.rows[0];
        size.words = match (row.text("type"), row.number("size")) {
            ("null", _) => "null".into(),
            ("octet", Some(size)) => number::octets(size),
            _ => std::mem::take(&mut size.words),
        };
    }
    sizes
}

fn ratio_plot<'a>(rows: &[&'a Record], scope: &Scope<'_>, title: &str) -> Option<Part<'a>> {
    let compared: Vec<_> = rows.iter().copied().filter(|row| row.text("system") != "raw").collect();
    rows_plot(
        title.into(),
        "median ratio and 95 % interval; a tall line is a target",
        by_size(&compared),
        scope,
        &interval,
    )
}

/// The report's opening: every row with a target, the verdict, and what it rests on.
pub(in crate::report) fn ratios<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    let judged: Vec<_> = rows.iter().copied().filter(|row| verdict::verdict(row).is_some()).collect();
    by(&["experiment", "link", "queue", "pin"], &judged, |rows, scope| {
        let mut table = Table { caption: scope.words.to_owned(), ..Table::default() };
        // The verdict comes early, so that a narrow screen shows it.
        table.heads = ["call", "verdict"].map(Cell::word).into();
        table.heads.extend(["ratio to raw", "95 % interval", "target"].map(Cell::number));
        for size in by_size(rows) {
            for row in size.rows {
                let (median, interval) = verdict::ratio(row).unzip();
                let interval = interval.flatten().map(|interval| table::interval(&interval));
                let target = verdict::target(row).map(|target| format!("{:.2}", target.0));
                table.rows.push(vec![
                    Cell::word(format!("{}, {}", scope.names.of_row(row), size.words)),
                    Cell::verdict(row),
                    Cell::number(median.map(number::ratio).unwrap_or_default()),
                    Cell::number(interval.unwrap_or_default()),
                    Cell::number(target.unwrap_or_default()),
                ]);
            }
        }
        vec![Part { shown: Shown::Table(table), rows: rows.to_vec() }]
    })
}
