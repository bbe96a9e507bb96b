//! The image application: one bar for each system, of whatever was measured.

use super::{Group, bar, by_circumstances, rows_plot};
use crate::report::grouping::alike;
use crate::report::record::Record;

/// Field, title, unit.
const FIGURES: &[(&str, &str, &str)] = &[
    ("calls_s", "Calls per second of the application", "calls/s"),
    ("gbit_s", "Throughput of the application", "Gbit/s"),
    ("p50_us", "Median time of the application's calls", "µs"),
    ("p99_us", "99th percentile of the application's calls", "µs"),
];

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        // Kinds of calls have a heading each where the rows tell them apart.
        let mut kinds = alike(rows, &["type"]);
        if let [only] = &mut kinds[..] {
            only.words.clear();
        }
        let figures = FIGURES.iter();
        figures
            .filter_map(|(field, title, unit)| {
                let kinds = kinds.iter().map(|kind| crate::report::grouping::Alike {
                    words: kind.words.clone(),
                    rows: kind.rows.clone(),
                });
                rows_plot((*title).into(), unit, kinds.collect(), scope, &bar(field))
            })
            .collect()
    })
}
