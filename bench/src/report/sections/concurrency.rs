//! Concurrency: what many callers get done together.

use super::{Group, RATE, by_circumstances, systems_plot};
use crate::report::number;
use crate::report::plot::Axis;
use crate::report::record::Record;

const CALLERS: Axis = Axis { label: "callers at a time", written: number::count, base: Some(2.0) };

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let title = "Calls per second by number of callers".into();
        systems_plot(title, rows, scope, ("callers", CALLERS), ("calls_s", RATE)).into_iter().collect()
    })
}
