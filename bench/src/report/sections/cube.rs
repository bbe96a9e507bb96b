//! The cubing service: a table of calls per second, a line for each type and a column for each system.

use super::{Group, by_circumstances, matrix};
use crate::report::grouping::median;
use crate::report::number;
use crate::report::record::Record;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let title = format!("Calls per second, {}", scope.words);
        let rate = |rows: &[&Record]| median(rows, "calls_s");
        matrix(title, "argument and result", rows, &["type", "size"], scope, &kind_words, &rate)
            .into_iter()
            .collect()
    })
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
