//! What a call takes of things that can be counted: the rows as they are.

use super::{Group, Part, Shown, by_circumstances};
use crate::report::record::Record;

pub(super) fn draw<'a>(rows: &[&'a Record]) -> Vec<Group<'a>> {
    by_circumstances(rows, |rows, _| vec![Part { shown: Shown::Rows, rows: rows.to_vec() }])
}
