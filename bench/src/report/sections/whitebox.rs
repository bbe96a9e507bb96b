//! A call from within: its steps stacked for each call measured, and unfolded for the smallest one.

use super::{Group, Part, Scope, Shown, by_circumstances};
use crate::report::grouping::{Alike, alike};
use crate::report::plot::{Bar, Step, Steps, Waterfall};
use crate::report::record::Record;
use crate::whitebox::BETWEEN;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let systems = scope.names.systems(rows).into_iter();
        systems.flat_map(|(name, _, rows)| of_system(&name, &rows, scope)).collect()
    })
}

fn of_system<'a>(name: &str, rows: &[&'a Record], scope: &Scope<'_>) -> Vec<Part<'a>> {
    let measured: Vec<_> = rows.iter().copied().filter(|row| step(row).is_some()).collect();
    let calls = alike(&measured, &["type", "size"]);
    let Some(smallest) = calls.first() else { return Vec::new() };
    let what = |call: &Alike| match call.rows[0].text("type") {
        "null" => "null".into(),
        _ => call.words.clone(),
    };
    let bars = calls.iter().flat_map(|call| {
        sides(call).into_iter().map(|bar| Bar { label: format!("{}, {}", what(call), bar.label), ..bar })
    });
    let stacked = Steps {
        title: format!("The steps of {name} calls, stacked"),
        note: scope.words.to_owned(),
        bars: bars.collect(),
    };
    let unfolded = Waterfall {
        title: format!("A {name} call ({}), step by step", what(smallest)),
        note: scope.words.to_owned(),
        sides: sides(smallest),
    };
    let part = |plot, rows| Part { shown: Shown::Plot(plot), rows };
    let stacked = stacked.draw().map(|plot| part(plot, measured.clone()));
    let unfolded = unfolded.draw().map(|plot| part(plot, smallest.rows.clone()));
    stacked.into_iter().chain(unfolded).collect()
}

/// The steps of each side of one call, by number. Several may share one: these stay in the order of their rows. Of
/// several rows of one step the last counts.
fn sides(call: &Alike) -> Vec<Bar> {
    let steps = |rows: &[&Record]| {
        let mut steps: Vec<&Record> = Vec::new();
        for row in rows {
            let same = |other: &&mut &Record| {
                ["step", "name"].iter().all(|field| other.shown(field) == row.shown(field))
            };
            match steps.iter_mut().find(same) {
                Some(earlier) => *earlier = row,
                None => steps.push(row),
            }
        }
        steps.sort_by(|a, b| {
            f64::total_cmp(&a.number("step").unwrap_or_default(), &b.number("step").unwrap_or_default())
        });
        steps.into_iter().filter_map(step).collect()
    };
    let mut sides = alike(&call.rows, &["side"]);
    // As a call passes them.
    sides.sort_by_key(|side| ["client", BETWEEN, "server"].iter().position(|one| *one == side.words));
    sides.into_iter().map(|side| Bar { steps: steps(&side.rows), label: side.words }).collect()
}

fn step(row: &Record) -> Option<Step> {
    let number = row.positive("step")?;
    let none_at_all = || row.number("p50_ns").filter(|time| *time == 0.0);
    let time = row.positive("p50_ns").or_else(none_at_all)?;
    Some(Step::new(number as u64, row.shown("name"), time / 1e3, row.number("share")))
}
