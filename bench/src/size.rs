//! The ORB's share of a call against the size of its argument.
//!
//! Octets are echoed, beside a bare socket that moves as many bytes: what a call takes longer than the socket is the
//! ORB's. The field found that it stays level while input and output grow (O'Ryan and others, 2000).

use crate::BenchError;
use crate::calls::{self, Basis, Side};
use crate::lab::Lab;
use crate::row::Row;
use crate::system::{Payload, System};

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How, and how many calls for each size.
    pub basis: Basis,
    /// Octets of the argument.
    pub sizes: Vec<usize>,
}

/// The part of a row's time that exceeds the floor's, 0 to 1; `None` where there is no ratio.
pub fn share(row: &Row) -> Option<f64> {
    Some((1.0 - 1.0 / row.ratio_to_raw.filter(|&ratio| ratio > 0.0)?).max(0.0))
}

/// Measures `systems` beside the bare socket, and hands on each size's rows as soon as they are there, the bare
/// socket's first. Gives what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let payloads: Vec<_> = plan.sizes.iter().map(|&size| Payload::Octets(size)).collect();
    calls::compare("size", Side::latency, systems, (&plan.basis, &payloads), lab, &mut |outcome| {
        finished(outcome.rows);
    })
}
