//! The ORB's share of a call against the size of its argument.
//!
//! A row's ratio to a bare socket that moves as many bytes parts its time in two: the socket's, and what exceeds it.

use super::{ARGUMENTS, Group, LATENCY, by_circumstances, lines_plot};
use crate::report::grouping::line;
use crate::report::number;
use crate::report::plot::{Axis, Look};
use crate::report::record::Record;

const SHARE: Axis = Axis { label: "% of the call's time", written: number::tick, base: None };

/// The part of the row's time that exceeds the floor, from 0 to 1.
fn share(row: &Record) -> Option<f64> {
    Some((1.0 - 1.0 / row.positive("ratio_to_raw")?).max(0.0))
}

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        // The sockets' own rows are in the ratios, and stand in the data.
        let (floors, compared): (Vec<_>, Vec<_>) =
            rows.iter().copied().partition(|row| row.text("system") == "raw");
        let systems = scope.names.systems(&compared);
        let mut parts = Vec::new();
        let percent = |row: &Record| Some(share(row)? * 100.0);
        let shares =
            systems.iter().map(|(name, look, rows)| line(name.clone(), *look, rows, "size", &percent));
        let title = "The ORB's share of a call by size of its argument".into();
        parts.extend(lines_plot(title, shares.collect(), scope, ARGUMENTS, SHARE, 0.0));
        for (name, look, rows) in &systems {
            let orb = |row: &Record| Some(row.positive("p50_us")? * share(row)?);
            let floor = |row: &Record| Some(row.positive("p50_us")? * (1.0 - share(row)?));
            let lines = vec![
                line("the socket".into(), Look::of_floor(), rows, "size", &floor),
                line("the ORB".into(), *look, rows, "size", &orb),
            ];
            let title = format!("The time of a call with {name}, parted in two");
            let mut plot = lines_plot(title, lines, scope, ARGUMENTS, LATENCY, 0.0);
            if let Some(plot) = &mut plot {
                plot.rows = plot.rows.iter().copied().chain(floors.iter().copied()).collect();
            }
            parts.extend(plot);
        }
        parts
    })
}
