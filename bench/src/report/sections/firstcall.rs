//! First calls: what a connection, an interface and an object cost once.

use super::{Group, bar, by_circumstances, rows_plot};
use crate::report::grouping::alike;
use crate::report::record::Record;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, scope| {
        let mut phases = alike(rows, &["phase"]);
        for phase in &mut phases {
            phase.words = match phase.words.as_str() {
                "connection" => "first on a new connection".into(),
                "interface" => "first on a new interface".into(),
                "object" => "first on a new object".into(),
                "later" => "later calls".into(),
                _ => std::mem::take(&mut phase.words),
            };
        }
        let title = "Time of a first call, median".into();
        rows_plot(title, "µs", phases, scope, &bar("p50_us")).into_iter().collect()
    })
}
