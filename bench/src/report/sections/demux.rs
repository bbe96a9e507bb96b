//! Demultiplexing: a call's time against the number of operations and of objects, a line for each way to find them.
//! The field's experiment is in [`iterations`].

use super::{Along, Group, LATENCY, Part, Scope, by, iterations, lines_plot};
use crate::report::grouping::{alike, line};
use crate::report::number;
use crate::report::plot::{Axis, Look};
use crate::report::record::Record;

const OPERATIONS: Axis =
    Axis { label: "operations of the interface", written: number::count, base: Some(10.0) };
const OBJECTS: Axis = Axis { label: "objects of the server", written: number::count, base: Some(10.0) };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    let (of_iterations, rows): (Vec<_>, Vec<_>) =
        rows.iter().copied().partition(|row| iterations::is_of(row));
    let mut groups = by(&["link", "queue", "pin", "style"], &rows, |rows, scope| {
        let (objects, operations): (Vec<_>, Vec<_>) =
            rows.iter().copied().partition(|row| varies_objects(row));
        let mut parts = Vec::new();
        for (rows, field, axis, apart) in
            [(operations, "operations", OPERATIONS, "position"), (objects, "objects", OBJECTS, "pick")]
        {
            // Plots beside each other have the same vertical axis.
            let greatest = rows.iter().filter_map(|row| row.positive("p50_us")).fold(0.0, f64::max);
            for alike in alike(&rows, &[apart]) {
                let title = match (field, alike.rows[0].text(apart)) {
                    ("operations", "") => "Calling one of many operations".into(),
                    ("operations", position) => format!("Calling the {position} of many operations"),
                    (_, "") => "Calling one of many objects".into(),
                    (_, "same") => "Calling the same of many objects".into(),
                    (_, pick) => format!("Calling {pick} ones of many objects"),
                };
                parts.extend(plot(title, &alike.rows, scope, (field, axis), ("p50_us", LATENCY), greatest));
                if (field, alike.rows[0].text(apart)) == ("operations", "last") {
                    let title = "The server's time, calling the last of many operations".into();
                    parts.extend(plot(title, &alike.rows, scope, (field, axis), ("server_us", LATENCY), 0.0));
                }
            }
        }
        parts
    });
    groups.extend(iterations::draw(&of_iterations));
    groups
}

/// Whether the row belongs to the runs that vary the number of objects.
fn varies_objects(row: &Record) -> bool {
    row.positive("objects").is_some()
        && (row.positive("operations").is_none() || !row.text("pick").is_empty())
}

fn plot<'a>(
    title: String,
    rows: &[&'a Record],
    scope: &Scope<'_>,
    (field, axis): Along<'_>,
    (time, of_time): Along<'_>,
    at_least: f64,
) -> Option<Part<'a>> {
    let latency = |row: &Record| row.positive(time);
    let mut lines = Vec::new();
    for (name, look, rows) in scope.names.systems(rows) {
        let lookups = alike(&rows, &["lookup"]);
        // A way to find things is worth naming only beside another one.
        let one = lookups.len() == 1;
        for lookup in lookups {
            let (label, look) = match (lookup.words.as_str(), name.as_str()) {
                (words, _) if one || words.is_empty() => (name.clone(), look),
                (words, "zorb") => (words.to_owned(), Look::of_lookup(words)),
                (words, _) => (format!("{name} {words}"), look),
            };
            lines.push(line(label, look, &lookup.rows, field, &latency));
        }
    }
    lines_plot(title, lines, scope, axis, of_time, at_least)
}
