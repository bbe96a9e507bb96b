//! Throughput: a plot for each type as the field's papers drew it, their summary table, and processor time. Rows of a
//! run of all studies are parted by study, since these differ in what they vary.

use super::{
    BUFFERS, Group, Part, RATIO, Scope, Shown, by_circumstances, lines_plot, matrix, systems_lines,
    systems_plot,
};
use crate::paper::Study;
use crate::report::grouping::{alike, median};
use crate::report::number;
use crate::report::plot::Axis;
use crate::report::record::Record;
use crate::report::table::{Cell, Table};

const THROUGHPUT: Axis = Axis { label: "Gbit/s", written: number::tick, base: None };
const PROCESSOR: Axis =
    Axis { label: "CPU seconds per GiB, both sides", written: number::tick, base: Some(10.0) };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    let of_each = alike(rows, &["study"]).into_iter().map(|of_study| {
        let study = Study::named(of_study.rows[0].text("study"));
        let mut groups = by_circumstances(&of_study.rows, |rows, scope| match study {
            Some(Study::Wrappers) => of_bytes(rows, scope),
            Some(Study::ZeroCopy) => of_blocks(rows, scope),
            _ => of_types(rows, scope),
        });
        if let Some(study) = study {
            groups.iter_mut().for_each(|group| {
                let separator = if group.heading.is_empty() { "" } else { ". " };
                group.heading = [study.title(), separator, &group.heading].concat();
            });
        }
        groups
    });
    of_each.flatten().collect()
}

/// Every type by size of the buffer, and the table of highest and lowest.
fn of_types<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Vec<Part<'a>> {
    let mut parts: Vec<Part> = summary(rows, scope).into_iter().collect();
    let types = alike(rows, &["type"]);
    // All types on one vertical axis, so that what a type costs is seen from plot to plot.
    let greatest = rows.iter().filter_map(|row| row.positive("gbit_s")).fold(0.0, f64::max);
    for of_type in &types {
        let title = format!("Throughput of {} by size of the buffer", of_type.words);
        let lines = systems_lines(&of_type.rows, scope, "size", "gbit_s");
        parts.extend(lines_plot(title, lines, scope, BUFFERS, THROUGHPUT, greatest));
    }
    // All scalars cost about the same; one of them and the struct show it. Text is looked at as well as moved.
    for of_type in
        types.iter().filter(|of_type| matches!(of_type.words.as_str(), "octet" | "struct" | STRING))
    {
        parts.extend(costs(&of_type.rows, &of_type.words, "the buffer", scope));
    }
    parts
}

/// Bytes without a type, as sequences and as strings: of each a table by size, whose buffers reach from one octet to many.
fn of_bytes<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Vec<Part<'a>> {
    const RATES: Axis = Axis { base: Some(10.0), ..THROUGHPUT };
    let parts = alike(rows, &["type"]).into_iter().flat_map(|of_type| {
        let what = match of_type.words.as_str() {
            "octet" => "bytes in sequences".to_owned(),
            STRING => "bytes in strings".to_owned(),
            other => other.to_owned(),
        };
        let mut parts: Vec<Part> = by_size(&of_type.rows, &what, scope).into_iter().collect();
        let title = format!("Throughput of {what} by size of the buffer");
        parts.extend(systems_plot(title, &of_type.rows, scope, ("size", BUFFERS), ("gbit_s", RATES)));
        parts.extend(costs(&of_type.rows, &what, "the buffer", scope));
        parts
    });
    parts.collect()
}

/// Blocks of whole pages.
fn of_blocks<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Vec<Part<'a>> {
    let title = "Throughput by size of the block".into();
    let throughput = systems_plot(title, rows, scope, ("size", BUFFERS), ("gbit_s", THROUGHPUT));
    throughput.into_iter().chain(costs(rows, "octets", "the block", scope)).collect()
}

/// What throughput costs: processor time, and time beside a bare socket's.
fn costs<'a>(rows: &[&'a Record], what: &str, of: &str, scope: &Scope<'_>) -> Vec<Part<'a>> {
    let title = format!("Processor time for {what} by size of {of}");
    let processor = systems_plot(title, rows, scope, ("size", BUFFERS), ("cpu_s_per_gib", PROCESSOR));
    let compared: Vec<_> = rows.iter().copied().filter(|row| row.text("system") != "raw").collect();
    let title = format!("Time for {what} as a multiple of a bare socket's");
    let ratio = systems_plot(title, &compared, scope, ("size", BUFFERS), ("ratio_to_raw", RATIO));
    processor.into_iter().chain(ratio).collect()
}

/// A line for each size, a column for each system.
fn by_size<'a>(rows: &[&'a Record], what: &str, scope: &Scope<'_>) -> Option<Part<'a>> {
    let title = format!("Mbit/s of {what} by size of the buffer, {}", scope.words);
    let rate = |rows: &[&Record]| median(rows, "gbit_s").map(|rate| rate * 1e3);
    let words = |row: &Record| row.number("size").map(number::octets).unwrap_or_default();
    matrix(title, "buffer", rows, &["size"], scope, &words, &rate)
}

/// The type whose buffers are strings, neither scalars nor structs.
const STRING: &str = "string";

fn is_struct(row: &Record) -> bool {
    row.text("type").starts_with("struct")
}

/// The greatest and least of a field.
fn extremes(rows: &[&Record], structs: bool, field: &str) -> Option<(f64, f64)> {
    let values = rows.iter().filter(|row| is_struct(row) == structs).filter_map(|row| row.positive(field));
    values.fold(None, |extremes, value| {
        let (highest, lowest) = extremes.unwrap_or((value, value));
        Some((value.max(highest), value.min(lowest)))
    })
}

/// Highest and lowest over all sizes, of scalars and of structs.
fn summary<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Option<Part<'a>> {
    let in_sequences = |row: &&Record| row.positive("gbit_s").is_some() && row.text("type") != STRING;
    let measured: Vec<&Record> = rows.iter().copied().filter(in_sequences).collect();
    if measured.is_empty() {
        return None;
    }
    let mut table = Table {
        caption: "Mbit/s over all sizes; time at the highest as a multiple of a bare socket's beside it; and the least \
                  processor time, both sides together"
            .into(),
        over: vec![(String::new(), 1), ("scalars".into(), 4), ("structs".into(), 4)],
        ..Table::default()
    };
    let heads = ["highest", "lowest", "ratio", "CPU s/GiB"];
    table.heads = vec![Cell::word("system")];
    table.heads.extend(heads.iter().chain(&heads).map(|head| Cell::number(*head)));
    for (name, _, rows) in scope.names.systems(&measured) {
        let mut cells = vec![Cell::word(name)];
        for structs in [false, true] {
            let speed = extremes(&rows, structs, "gbit_s");
            let fastest = rows.iter().filter(|row| is_struct(row) == structs).max_by(|a, b| {
                f64::total_cmp(&a.number("gbit_s").unwrap_or(0.0), &b.number("gbit_s").unwrap_or(0.0))
            });
            cells.push(Cell::figure(speed.map(|(highest, _)| highest * 1e3)));
            cells.push(Cell::figure(speed.map(|(_, lowest)| lowest * 1e3)));
            cells.push(Cell::figure(fastest.and_then(|row| row.positive("ratio_to_raw"))));
            cells.push(Cell::figure(extremes(&rows, structs, "cpu_s_per_gib").map(|(_, lowest)| lowest)));
        }
        table.rows.push(cells);
    }
    Some(Part { shown: Shown::Table(table), rows: measured })
}
