//! Round trips: medians and 99th percentiles by size, for each placement, and the ratios that may be formed.

use super::{
    ARGUMENTS, Group, LATENCY, Part, Scope, Shown, by_circumstances, interval, rows_plot, span, systems_plot,
};
use crate::report::grouping::alike;
use crate::report::plot::Axis;
use crate::report::record::Record;
use crate::report::{number, table, verdict};

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

/// The report's opening: every row with a target, its ratio, and the verdict.
pub(in crate::report) fn ratios<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    let judged: Vec<_> = rows.iter().copied().filter(|row| verdict::verdict(row).is_some()).collect();
    if judged.is_empty() {
        return Vec::new();
    }
    let shown = Shown::Table(table::of_rows(&judged));
    vec![Group { heading: String::new(), parts: vec![Part { shown, rows: judged }] }]
}
