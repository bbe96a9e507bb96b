//! The cubing service: a table of calls per second, a line for each type and a column for each system.

use super::{Group, Part, Scope, Shown, by_circumstances};
use crate::report::grouping::{alike, median};
use crate::report::number;
use crate::report::record::Record;
use crate::report::table::{Cell, Table};

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| table(rows, scope).into_iter().collect())
}

fn table<'a>(rows: &[&'a Record], scope: &Scope<'_>) -> Option<Part<'a>> {
    let measured: Vec<_> = rows.iter().copied().filter(|row| row.positive("calls_s").is_some()).collect();
    let systems: Vec<_> = scope.names.systems(&measured).into_iter().map(|(name, ..)| name).collect();
    if systems.is_empty() {
        return None;
    }
    let mut table = Table { caption: format!("Calls per second, {}", scope.words), ..Table::default() };
    table.heads = vec![Cell::word("argument and result")];
    table.heads.extend(systems.iter().map(Cell::number));
    for kind in alike(&measured, &["type", "size"]) {
        let columns = scope.names.systems(&kind.rows);
        let values: Vec<Option<f64>> = systems
            .iter()
            .map(|system| {
                let (.., rows) = columns.iter().find(|(name, ..)| name == system)?;
                median(rows, "calls_s")
            })
            .collect();
        let greatest = values.iter().flatten().copied().fold(0.0, f64::max);
        let mut cells = vec![Cell::word(kind_words(kind.rows[0]))];
        let cell =
            |value: &Option<f64>| value.map_or(Cell::number(""), |value| Cell::bar(value, value / greatest));
        cells.extend(values.iter().map(cell));
        table.rows.push(cells);
    }
    Some(Part { shown: Shown::Table(table), rows: measured })
}

/// The type, and its size where it has several.
fn kind_words(row: &Record) -> String {
    let octets = row.number("size").unwrap_or_default();
    match row.text("type") {
        "null" => "void".into(),
        "octets" => format!("sequence of octet, {}", number::octets(octets)),
        "longs" => format!("sequence of long, {}", number::octets(octets)),
        "struct" => "struct {octet, long, short}".into(),
        other => other.into(),
    }
}
