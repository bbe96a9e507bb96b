//! Throughput: a plot for each type as the field's papers drew it, their summary table, and processor time.

use std::collections::BTreeSet;

use super::{BUFFERS, Group, Part, Scope, Shown, by_circumstances, lines_plot, systems_lines, systems_plot};
use crate::report::grouping::alike;
use crate::report::number;
use crate::report::plot::Axis;
use crate::report::record::Record;
use crate::report::table::{Cell, Table};

const THROUGHPUT: Axis = Axis { label: "Gbit/s", written: number::tick, base: None };
const PROCESSOR: Axis =
    Axis { label: "CPU seconds per GiB, both sides", written: number::tick, base: Some(10.0) };

const RATIO: Axis =
    Axis { label: "median ratio; intervals in the data", written: number::tick, base: Some(10.0) };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let mut parts: Vec<Part> = summary(rows, scope).into_iter().collect();
        let types = alike(rows, &["type"]);
        // All types on one vertical axis, so that what a type costs is seen from plot to plot.
        let greatest = rows.iter().filter_map(|row| row.positive("gbit_s")).fold(0.0, f64::max);
        for of_type in &types {
            let title = format!("Throughput of {} by size of the buffer", of_type.words);
            let lines = systems_lines(&of_type.rows, scope, "size", "gbit_s");
            parts.extend(lines_plot(title, lines, scope, BUFFERS, THROUGHPUT, greatest));
        }
        // All scalars cost about the same; one of them and the struct show it.
        for of_type in types.iter().filter(|of_type| matches!(of_type.words.as_str(), "octet" | "struct")) {
            let title = format!("Processor time for {} by size of the buffer", of_type.words);
            let cost = ("cpu_s_per_gib", PROCESSOR);
            parts.extend(systems_plot(title, &of_type.rows, scope, ("size", BUFFERS), cost));
            let title = format!("Time for {} as a multiple of a bare socket's", of_type.words);
            let compared: Vec<_> =
                of_type.rows.iter().copied().filter(|row| row.text("system") != "raw").collect();
            parts.extend(systems_plot(title, &compared, scope, ("size", BUFFERS), ("ratio_to_raw", RATIO)));
        }
        parts
    })
}

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
    let measured: Vec<&Record> =
        rows.iter().copied().filter(|row| row.positive("gbit_s").is_some()).collect();
    if measured.is_empty() {
        return None;
    }
    let floor: Vec<&Record> = measured.iter().copied().filter(|row| row.text("system") == "raw").collect();
    // Several transports have several floors, and a share of one of them would say nothing.
    let one_floor = floor.iter().map(|row| row.text("transport")).collect::<BTreeSet<_>>().len() == 1;
    let mut table = Table {
        caption: "Mbit/s over all sizes, and the least processor time, both sides together".into(),
        over: vec![(String::new(), 1), ("scalars".into(), 4), ("structs".into(), 4)],
        ..Table::default()
    };
    let heads = ["highest", "lowest", "of raw", "CPU s/GiB"];
    table.heads = vec![Cell::word("system")];
    table.heads.extend(heads.iter().chain(&heads).map(|head| Cell::number(*head)));
    for (name, _, rows) in scope.names.systems(&measured) {
        let mut cells = vec![Cell::word(name)];
        for structs in [false, true] {
            let speed = extremes(&rows, structs, "gbit_s");
            let raw = extremes(&floor, structs, "gbit_s").filter(|_| one_floor);
            let share = speed.zip(raw).map(|((highest, _), (raw, _))| number::percent(highest / raw));
            cells.push(Cell::figure(speed.map(|(highest, _)| highest * 1e3)));
            cells.push(Cell::figure(speed.map(|(_, lowest)| lowest * 1e3)));
            cells.push(Cell::number(share.unwrap_or_default()));
            cells.push(Cell::figure(extremes(&rows, structs, "cpu_s_per_gib").map(|(_, lowest)| lowest)));
        }
        table.rows.push(cells);
    }
    Some(Part { shown: Shown::Table(table), rows: measured })
}
