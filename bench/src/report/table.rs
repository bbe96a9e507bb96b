//! Tables: of our own making, and of rows as they are.

use std::collections::BTreeSet;

use super::markup::Markup;
use super::number;
use super::record::Record;
use super::verdict;

/// A cell.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Number,
    /// A number with a bar behind it whose length is this share of the longest.
    Bar(f64),
    Good,
    Bad,
}

impl Cell {
    pub(super) fn word(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), kind: Kind::Word }
    }

    pub(super) fn number(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), kind: Kind::Number }
    }

    /// A measured figure; a missing one stays empty.
    pub(super) fn figure(value: Option<f64>) -> Cell {
        Cell::number(value.map(number::figure).unwrap_or_default())
    }

    pub(super) fn bar(value: f64, share: f64) -> Cell {
        Cell { text: number::figure(value), kind: Kind::Bar(share) }
    }

    pub(super) fn verdict(record: &Record) -> Cell {
        use crate::statistics::Verdict;
        let verdict = verdict::verdict(record);
        let kind = match verdict {
            Some(Verdict::Met) => Kind::Good,
            Some(Verdict::Missed) => Kind::Bad,
            _ => Kind::Word,
        };
        Cell { text: verdict.map(|verdict| verdict.to_string()).unwrap_or_default(), kind }
    }
}

/// Rows of cells under one or two rows of heads.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// What it shows.
    pub(super) caption: String,
    /// Heads above the heads, each with the number of columns that it stands over.
    pub(super) over: Vec<(String, usize)>,
    pub(super) heads: Vec<Cell>,
    pub(super) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(super) fn write(&self, markup: &mut Markup) {
        if !self.caption.is_empty() {
            // Not in the table: it breaks to the width of the screen, which a wide table exceeds.
            markup.element("p").class("caption").text(&self.caption);
        }
        // Narrow screens scroll the table, not the page; the keyboard must reach it for that.
        let frame = markup.element("div").class("scroll").with("tabindex", 0);
        frame.holding(|markup| markup.element("table").holding(|markup| self.content(markup)));
    }

    fn content(&self, markup: &mut Markup) {
        markup.element("thead").holding(|markup| {
            if !self.over.is_empty() {
                markup.element("tr").holding(|markup| {
                    for (head, columns) in &self.over {
                        let head_cell = markup.element("th").class("over").with("colspan", columns);
                        head_cell.with("scope", "colgroup").text(head);
                    }
                });
            }
            markup.element("tr").holding(|markup| {
                for head in &self.heads {
                    write_cell(markup.element("th").with("scope", "col"), head);
                }
            });
        });
        markup.element("tbody").holding(|markup| {
            for row in &self.rows {
                markup.element("tr").holding(|markup| {
                    for (index, cell) in row.iter().enumerate() {
                        match index {
                            0 => write_cell(markup.element("th").with("scope", "row"), cell),
                            _ => write_cell(markup.element("td"), cell),
                        }
                    }
                });
            }
        });
    }
}

fn write_cell(element: super::markup::Element<'_>, cell: &Cell) {
    match cell.kind {
        Kind::Word => element.text(&cell.text),
        Kind::Number => element.class("n").text(&cell.text),
        Kind::Bar(share) => {
            let width = format!("--w:{:.2}", share.clamp(0.0, 1.0));
            element.class("n share").with("style", width).text(&cell.text);
        }
        Kind::Good => element.class("good").text(&cell.text),
        Kind::Bad => element.class("bad").text(&cell.text),
    }
}

/// How a column's values are written.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Words,
    Octets,
    Given,
    Figure,
    Share,
}

/// The columns of tables of rows, in this order: field, head, kind. Fields that are not here come last, under
/// their own names.
const COLUMNS: &[(&str, &str, Column)] = &[
    ("experiment", "experiment", Column::Words),
    ("system", "system", Column::Words),
    ("transport", "transport", Column::Words),
    ("messaging", "messaging", Column::Words),
    ("type", "type", Column::Words),
    ("size", "size", Column::Octets),
    ("pin", "pin", Column::Words),
    ("link", "link", Column::Words),
    ("queue", "queue", Column::Octets),
    ("buffers", "buffers", Column::Given),
    ("turns", "turns", Column::Given),
    ("stalled", "stalled", Column::Given),
    ("operations", "operations", Column::Given),
    ("position", "position", Column::Words),
    ("objects", "objects", Column::Given),
    ("pick", "pick", Column::Words),
    ("lookup", "lookup", Column::Words),
    ("style", "style", Column::Words),
    ("iterations", "iterations", Column::Given),
    ("phase", "phase", Column::Words),
    ("callers", "callers", Column::Given),
    ("connections", "connections", Column::Given),
    ("side", "side", Column::Words),
    ("step", "step", Column::Given),
    ("name", "name", Column::Words),
    ("group", "kind", Column::Words),
    ("function", "function", Column::Words),
    ("gbit_s", "Gbit/s", Column::Figure),
    ("sender_gbit_s", "sender Gbit/s", Column::Figure),
    ("cpu_s_per_gib", "CPU s/GiB", Column::Figure),
    ("sender_cpu_s_per_gib", "sender", Column::Figure),
    ("receiver_cpu_s_per_gib", "receiver", Column::Figure),
    ("calls_s", "calls/s", Column::Figure),
    ("p50_us", "p50 µs", Column::Figure),
    ("p99_us", "p99 µs", Column::Figure),
    ("server_us", "server µs", Column::Figure),
    ("server_ms", "server ms", Column::Figure),
    ("client_ms", "client ms", Column::Figure),
    ("gain_percent", "gain %", Column::Figure),
    ("gain_low", "gain, low", Column::Figure),
    ("gain_high", "high", Column::Figure),
    ("p50_ns", "p50 ns", Column::Figure),
    ("share", "share", Column::Share),
    ("kib_per_connection", "KiB a connection", Column::Figure),
    ("system_calls", "system calls", Column::Figure),
    ("octets_copied", "octets copied", Column::Figure),
    ("allocations", "allocations", Column::Figure),
    ("octets_allocated", "octets allocated", Column::Figure),
    ("cpu_ratio", "CPU ratio", Column::Figure),
    ("cpu_ratio_low", "CPU, low", Column::Figure),
    ("cpu_ratio_high", "high", Column::Figure),
    ("ratio_to_equal", "ratio to raw-equal", Column::Figure),
    ("equal_low", "equal, low", Column::Figure),
    ("equal_high", "high", Column::Figure),
];

/// The fields that make one ratio, and the command, are shown together or elsewhere.
const ELSEWHERE: &[&str] = &["ratio_to_raw", "ratio_low", "ratio_high", "target", "command"];

/// All that rows say, but what they have in common stands once, in the caption.
pub(super) fn of_rows(rows: &[&Record]) -> Table {
    let known = |name: &str| COLUMNS.iter().any(|(field, ..)| *field == name) || ELSEWHERE.contains(&name);
    let others: BTreeSet<&str> =
        rows.iter().flat_map(|row| row.names()).filter(|name| !known(name)).collect();
    let columns = COLUMNS.iter().copied().chain(others.into_iter().map(|name| (name, name, Column::Words)));
    let mut table = Table::default();
    let mut common = Vec::new();
    let mut shown = Vec::new();
    for (field, head, column) in columns {
        let first = rows.first().map(|row| row.shown(field)).unwrap_or_default();
        let all_alike = rows.iter().all(|row| row.shown(field) == first);
        let measured = matches!(column, Column::Figure | Column::Share);
        // The first column is never a figure, so that each line of a table begins with a name.
        if all_alike && field != "system" && (!measured || first.is_empty()) {
            if let (Some(row), false) = (rows.first(), first.is_empty()) {
                common.push(format!("{head} {}", written(row, field, column)));
            }
            continue;
        }
        table.heads.push(if column == Column::Words { Cell::word(head) } else { Cell::number(head) });
        shown.push((field, column));
    }
    let ratios = rows.iter().any(|row| verdict::ratio(row).is_some());
    let targets = rows.iter().any(|row| verdict::target(row).is_some());
    if ratios {
        table.heads.extend([Cell::number("ratio to raw"), Cell::number("95 % interval")]);
    }
    if targets {
        table.heads.extend([Cell::number("target"), Cell::word("verdict")]);
    }
    table.caption = common.join(" · ");
    table.rows = rows.iter().map(|row| cells(row, &shown, ratios, targets)).collect();
    table
}

fn cells(row: &Record, shown: &[(&str, Column)], ratios: bool, targets: bool) -> Vec<Cell> {
    let cell = |(field, column): &(&str, Column)| {
        let text = written(row, field, *column);
        if *column == Column::Words { Cell::word(text) } else { Cell::number(text) }
    };
    let mut cells: Vec<Cell> = shown.iter().map(cell).collect();
    if ratios {
        let (median, interval) = verdict::ratio(row).unzip();
        cells.push(Cell::number(median.map(number::ratio).unwrap_or_default()));
        // A ratio without an interval rests on too few pairs.
        let unresolved = if median.is_some() { "not resolved" } else { "" };
        let interval = interval.flatten().map(|interval| self::interval(&interval));
        cells.push(Cell::number(interval.unwrap_or_else(|| unresolved.to_owned())));
    }
    if targets {
        let target = verdict::target(row);
        cells.push(Cell::number(target.map(|target| format!("{:.2}", target.0)).unwrap_or_default()));
        cells.push(Cell::verdict(row));
    }
    cells
}

/// An interval's ends.
pub(super) fn interval(ratio: &crate::statistics::Ratio) -> String {
    format!("{} – {}", number::ratio(ratio.low), number::ratio(ratio.high))
}

fn written(row: &Record, field: &str, column: Column) -> String {
    let format: fn(f64) -> String = match column {
        Column::Words | Column::Given => number::plain,
        Column::Octets => number::octets,
        Column::Figure => number::figure,
        Column::Share => number::percent,
    };
    row.number(field).map_or_else(|| row.shown(field), format)
}
