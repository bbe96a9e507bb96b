//! Where a flood's processor time goes: what each side of each system spends it on, and its most costly functions.

use super::{Group, Part, Scope, Shown, by_circumstances};
use crate::profile::{Group as Kind, OTHERS};
use crate::report::grouping::{Alike, alike};
use crate::report::number;
use crate::report::plot::{Stack, StackPart, Stacks};
use crate::report::record::Record;
use crate::report::table::{Cell, Table};

/// The kinds of work, in the order of [`Kind::ALL`].
const KINDS: &[StackPart] = &[
    ("copies to and from the kernel", "kernel-copies"),
    ("the rest of the kernel", "kernel"),
    ("copies in the process", "copies"),
    ("the program and its libraries", "program"),
];

/// Functions that the table names of each side.
const NAMED: usize = 3;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let floods = alike(rows, &["type", "size"]).into_iter();
        floods.flat_map(|flood| of_flood(&flood, scope)).collect()
    })
}

/// One side of one system.
struct Side<'a> {
    system: String,
    side: String,
    rows: Vec<&'a Record>,
}

impl Side<'_> {
    fn sum(&self, of: impl Fn(&Record) -> bool) -> f64 {
        let seconds = self.rows.iter().filter(|row| of(row)).filter_map(|row| row.positive("cpu_s_per_gib"));
        seconds.fold(0.0, |sum, seconds| sum + seconds)
    }
}

fn of_flood<'a>(flood: &Alike<'a>, scope: &Scope<'_>) -> Vec<Part<'a>> {
    let systems = scope.names.systems(&flood.rows).into_iter();
    let sides = systems.flat_map(|(system, _, rows)| {
        // The sender, then the receiver.
        let sides = alike(&rows, &["side"]).into_iter().rev();
        sides.map(move |side| Side { system: system.clone(), side: side.words, rows: side.rows })
    });
    let sides: Vec<Side> = sides.filter(|side| side.sum(|_| true) > 0.0).collect();
    let bar = |side: &Side| Stack {
        label: format!("{}, {}", side.system, side.side),
        values: Kind::ALL.map(|kind| side.sum(|row| row.text("group") == kind.name())).into(),
    };
    let plot = Stacks {
        title: format!("What the time of {} goes to", flood.words),
        unit: "CPU seconds per GiB",
        note: scope.words.to_owned(),
        parts: KINDS,
        bars: sides.iter().map(bar).collect(),
    };
    let rows: Vec<_> = sides.iter().flat_map(|side| side.rows.iter().copied()).collect();
    let plot = plot.draw().map(|plot| Part { shown: Shown::Plot(plot), rows: rows.clone() });
    let table = (!sides.is_empty()).then(|| Part { shown: Shown::Table(table(flood, &sides)), rows });
    plot.into_iter().chain(table).collect()
}

fn table(flood: &Alike, sides: &[Side]) -> Table {
    let mut table = Table {
        caption: format!("The most costly functions of {}: parts of that side's processor time", flood.words),
        ..Table::default()
    };
    table.heads = vec![Cell::word("system"), Cell::word("side"), Cell::number("CPU s/GiB")];
    table.heads.extend(Kind::ALL.map(|kind| Cell::number(kind.name())));
    table.heads.push(Cell::word("functions"));
    for side in sides {
        let whole = side.sum(|_| true);
        let mut cells = vec![Cell::word(&side.system), Cell::word(&side.side), Cell::figure(Some(whole))];
        let share = |kind: Kind| side.sum(|row| row.text("group") == kind.name()) / whole;
        cells.extend(Kind::ALL.map(|kind| Cell::number(number::percent(share(kind)))));
        let functions = side.rows.iter().filter(|row| row.text("function") != OTHERS).take(NAMED);
        let share = |row: &Record| row.number("share").map(number::percent).unwrap_or_default();
        let functions = functions.map(|row| format!("{} {}", row.text("function"), share(row)));
        cells.push(Cell::word(functions.collect::<Vec<_>>().join(", ")));
        table.rows.push(cells);
    }
    table
}
