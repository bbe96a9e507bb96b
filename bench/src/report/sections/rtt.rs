//! Round trips: medians and 99th percentiles by size, for each placement, and the ratios that may be formed.

use super::{
    ARGUMENTS, Group, LATENCY, Part, Scope, Shown, by, by_circumstances, interval, rows_plot, span,
    systems_plot,
};
use crate::report::grouping::alike;
use crate::report::plot::Axis;
use crate::report::record::Record;
use crate::report::table::{self, Cell, Table};
use crate::report::{number, verdict};

/// From this many sizes on a curve says more than rows.
const MANY_SIZES: usize = 7;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let mut parts = Vec::new();
        let sizes = alike(rows, &["type", "size"]);
        if sizes.len() < MANY_SIZES {
            let title = "Time of a call, median to 99th percentile".into();
            parts.extend(rows_plot(title, "µs", by_size(rows), scope, &span));
        } else {
            const LATENCY_CURVE: Axis = Axis { base: Some(10.0), written: number::figure, ..LATENCY };
            for of_type in alike(rows, &["type"]) {
                for (field, words) in [("p50_us", "Median"), ("p99_us", "99th percentile of the")] {
                    let title = format!("{words} time of a call with {} by size", of_type.words);
                    let x = ("size", ARGUMENTS);
                    parts.extend(systems_plot(title, &of_type.rows, scope, x, (field, LATENCY_CURVE)));
                }
            }
        }
        parts.extend(ratio_plot(rows, scope, "Time of a call as a multiple of a bare socket's"));
        parts
    })
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
