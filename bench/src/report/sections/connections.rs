//! Connections: memory of each idle one, and a null call's time among them.

use super::{Group, LATENCY, by_circumstances, systems_plot};
use crate::report::number;
use crate::report::plot::Axis;
use crate::report::record::Record;

const CONNECTIONS: Axis = Axis { label: "idle connections", written: number::count, base: Some(10.0) };
const MEMORY: Axis = Axis { label: "KiB a connection", written: number::tick, base: None };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let plots = [
            ("Server memory for each idle connection", "kib_per_connection", MEMORY),
            ("Median time of a null call among idle connections", "p50_us", LATENCY),
            ("99th percentile of a null call among idle connections", "p99_us", LATENCY),
        ];
        let plots = plots.into_iter();
        plots
            .filter_map(|(title, field, axis)| {
                systems_plot(title.into(), rows, scope, ("connections", CONNECTIONS), (field, axis))
            })
            .collect()
    })
}
