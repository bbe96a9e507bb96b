//! What a call takes of things that can be counted: system calls, copied octets, allocations, on both sides.
//!
//! Each process counts for itself, all of its threads together ([`Counts`]), and one caller makes calls. The client's
//! part is the difference over its calls. The server's is asked for before and after them, by a call whose own part is
//! found by asking twice in a row, and left out.
//!
//! Counting is built in with the time probes (cargo feature `probes`); allocations are counted if the program has
//! `stats_alloc`'s allocator, as the `zorb` command then has.

use zorb::probes;

use crate::BenchError;
use crate::orb::idl::bench::Echo;
use crate::orb::{Zorb, echo, failed};
use crate::row::{Figures, Row};
use crate::system::Payload;
use crate::whitebox::Plan;

/// Structs of the sequence that is counted beside a plan's payloads.
const STRUCTS: usize = 100;

/// Calls that are not counted: connections and buffers find their sizes in them.
const WARM_UP: usize = 200;

/// Calls over which is counted: what other threads do meanwhile is to be a small part.
const CALLS: usize = 1_000;

/// What a process has done so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// System calls of zorb's handles.
    pub system_calls: u64,
    /// Octets that zorb copied in user space.
    pub octets_copied: u64,
    /// Times that memory was asked for, be it new or more.
    pub allocations: u64,
    /// Octets of it.
    pub octets_allocated: u64,
}

/// The same for one call, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerCall {
    /// System calls of zorb's handles.
    pub system_calls: f64,
    /// Octets that zorb copied in user space.
    pub octets_copied: f64,
    /// Times that memory was asked for.
    pub allocations: f64,
    /// Octets of it.
    pub octets_allocated: f64,
}

/// One kind of call, counted.
#[derive(Debug, Clone)]
pub struct Counted {
    /// What the calls carried.
    pub payload: Payload,
    /// The client's part.
    pub client: PerCall,
    /// The server's part.
    pub server: PerCall,
}

impl Counts {
    /// Up to now, in this process; nothing where counting is not built in.
    pub fn so_far() -> Counts {
        let counts = probes::Counts::so_far();
        let (allocations, octets_allocated) = allocated();
        Counts {
            system_calls: counts.system_calls,
            octets_copied: counts.octets_copied,
            allocations,
            octets_allocated,
        }
    }

    fn since(self, before: Counts) -> Counts {
        Counts {
            system_calls: self.system_calls - before.system_calls,
            octets_copied: self.octets_copied - before.octets_copied,
            allocations: self.allocations - before.allocations,
            octets_allocated: self.octets_allocated - before.octets_allocated,
        }
    }

    /// For one of `calls`, where so much was done besides.
    fn per_call(self, calls: usize, besides: Counts) -> PerCall {
        let each = |all: u64, besides: u64| (all as f64 - besides as f64) / calls as f64;
        PerCall {
            system_calls: each(self.system_calls, besides.system_calls),
            octets_copied: each(self.octets_copied, besides.octets_copied),
            allocations: each(self.allocations, besides.allocations),
            octets_allocated: each(self.octets_allocated, besides.octets_allocated),
        }
    }
}

#[cfg(feature = "probes")]
fn allocated() -> (u64, u64) {
    let stats = stats_alloc::INSTRUMENTED_SYSTEM.stats();
    ((stats.allocations + stats.reallocations) as u64, stats.bytes_allocated as u64)
}

#[cfg(not(feature = "probes"))]
fn allocated() -> (u64, u64) {
    (0, 0)
}

/// What is counted for a plan: its payloads, and a sequence of structs.
pub(crate) fn payloads(plan: &Plan) -> impl Iterator<Item = Payload> {
    plan.payloads.iter().copied().chain([Payload::Structs(STRUCTS)])
}

/// Makes the calls and counts.
pub(crate) fn count(echo: &Echo, payload: Payload) -> Result<Counted, BenchError> {
    let server = || -> Result<Counts, BenchError> {
        let counts = echo.counted().map_err(failed)?;
        Ok(Counts {
            system_calls: counts.system_calls,
            octets_copied: counts.octets_copied,
            allocations: counts.allocations,
            octets_allocated: counts.octets_allocated,
        })
    };
    let mut exchange = echo::exchange(echo, payload)?;
    let mut calls = |number: usize| {
        (0..number).try_for_each(|_| {
            exchange.round_trip()?;
            exchange.verify()
        })
    };
    calls(WARM_UP)?;
    let (asking, asked) = (server()?, server()?);
    let before = Counts::so_far();
    calls(CALLS)?;
    let client = Counts::so_far().since(before).per_call(CALLS, Counts::default());
    let server = server()?.since(asked).per_call(CALLS, asked.since(asking));
    Ok(Counted { payload, client, server })
}

impl Counted {
    /// Both sides, named.
    pub fn sides(&self) -> [(&'static str, PerCall); 2] {
        [("client", self.client), ("server", self.server)]
    }

    /// The counts as results.
    pub(crate) fn rows(&self, plan: &Plan) -> Vec<Row> {
        let what = (self.payload.type_name(), self.payload.size());
        let row = |(side, counts): (&str, PerCall)| {
            let figures = Figures::Counts {
                side: side.to_owned(),
                system_calls: counts.system_calls,
                octets_copied: counts.octets_copied,
                allocations: counts.allocations,
                octets_allocated: counts.octets_allocated,
            };
            Row::new("counts", &Zorb, (plan.transport, plan.pin), what, figures)
        };
        self.sides().map(row).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(all: u64) -> Counts {
        Counts { system_calls: all, octets_copied: all, allocations: all, octets_allocated: all }
    }

    #[test]
    fn what_was_done_besides_is_left_out() {
        let per_call = counts(2_030).since(counts(10)).per_call(1_000, counts(20));
        let all = 2.0;
        let expected =
            PerCall { system_calls: all, octets_copied: all, allocations: all, octets_allocated: all };
        assert_eq!(per_call, expected);
        // Less than the asking took: noise, and no overflow.
        assert!(counts(10).per_call(1_000, counts(20)).allocations < 0.0);
    }
}
