//! The field's experiment of demultiplexing beside our figures: a table with columns for each number of iterations.

use std::collections::BTreeSet;

use super::{Group, Part, Scope, Shown, by_circumstances};
use crate::demux::Style;
use crate::iterations::{FIELDS_GAIN_PERCENT, FIELDS_ITERATIONS, FIELDS_SERVER_MS};
use crate::report::grouping::{self, alike, sentence};
use crate::report::number;
use crate::report::record::Record;
use crate::report::table::{Cell, Table};

/// Whether the row is of that experiment.
pub(super) fn is_of(row: &Record) -> bool {
    row.positive("iterations").is_some() && row.positive("client_ms").is_some()
}

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    let mut groups = by_circumstances(rows, |rows, scope| vec![table(rows, scope)]);
    for group in &mut groups {
        group.heading = match group.heading.as_str() {
            "" => "Iterations of 100 calls".into(),
            heading => format!("Iterations of 100 calls: {heading}"),
        };
    }
    groups
}

fn table<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Part<'a> {
    let [.., most] = FIELDS_ITERATIONS;
    let most = f64::from(most);
    let measured = rows.iter().filter_map(|row| row.positive("iterations"));
    // Numbers above zero are in the order of their bits. The field's column is there whether or not it was measured.
    let columns: BTreeSet<u64> = measured.chain([most]).map(f64::to_bits).collect();
    let columns: Vec<f64> = columns.into_iter().map(f64::from_bits).collect();

    let mut table = Table { caption: caption(scope), ..Table::default() };
    let over = ["server, ms", "client, ms", "client's gain over linear, %"];
    table.over =
        [(String::new(), 1)].into_iter().chain(over.map(|head| (head.into(), columns.len()))).collect();
    table.heads = vec![Cell::word("iterations")];
    table
        .heads
        .extend(over.iter().flat_map(|_| columns.iter().map(|&column| Cell::number(number::plain(column)))));
    for line in alike(rows, &["style", "lookup"]) {
        let at = |column: f64| -> Vec<&Record> {
            line.rows.iter().copied().filter(|row| row.positive("iterations") == Some(column)).collect()
        };
        let mut cells = vec![Cell::word(sentence(&line.words))];
        for field in ["server_ms", "client_ms"] {
            cells.extend(columns.iter().map(|&column| Cell::figure(grouping::median(&at(column), field))));
        }
        cells.extend(columns.iter().map(|&column| Cell::number(gain(&at(column)))));
        table.rows.push(cells);
    }
    table.rows.extend(fields(&columns, most));
    Part { shown: Shown::Table(table), rows: rows.to_vec() }
}

fn caption(scope: &Scope<'_>) -> String {
    let what = "Two-way calls until answered, oneways until executed. The server's processor time, all that its process \
                spends; in 1996 what its side took, on other machines: what can be compared are lines with each other.";
    match scope.words {
        "" => what.to_owned(),
        words => format!("{what} {}.", sentence(words)),
    }
}

/// With its interval where there is one; of several rows the last one's, since intervals have no median.
fn gain(rows: &[&Record]) -> String {
    let Some((row, gain)) = rows.iter().rev().find_map(|row| Some((row, row.number("gain_percent")?))) else {
        return String::new();
    };
    match row.number("gain_low").zip(row.number("gain_high")) {
        Some((low, high)) => {
            format!("{} ({} – {})", number::figure(gain), number::figure(low), number::figure(high))
        }
        None => number::figure(gain),
    }
}

/// What the field found, in the column of so many iterations.
fn fields(columns: &[f64], most: f64) -> Vec<Vec<Cell>> {
    let line = |words: String, group: usize, value: f64| {
        let mut cells = vec![Cell::word(words)];
        for at in 0..3 {
            // As the field gives them: nobody knows further digits.
            let text = |here: bool| if here { number::plain(value) } else { String::new() };
            cells.extend(columns.iter().map(|&column| Cell::number(text(at == group && column == most))));
        }
        cells
    };
    let server = FIELDS_SERVER_MS.map(|(lookup, ms)| line(format!("In 1996: {lookup}"), 0, ms));
    let gain = FIELDS_GAIN_PERCENT.map(|(style, percent)| {
        let style = match style {
            Style::Twoway => "two-way",
            Style::Oneway => "oneway",
        };
        line(format!("In 1996: {style}, the better way"), 2, percent)
    });
    server.into_iter().chain(gain).collect()
}
