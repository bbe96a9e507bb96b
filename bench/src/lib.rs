//! Benchmark scenarios and statistics: zorb beside raw sockets and beside its peers, in one run.
//!
//! A scenario ([`rtt`]) runs [`System`]s against each other. A system is a way to move a request and a
//! reply between two processes: zorb over some transport, a bare socket ([`raw`]), another ORB. Its server
//! half runs in a child process of the measuring one ([`process`]), its client half in the measuring
//! process, each pinned to a stated core ([`pin`]). Bursts of calls of the two systems alternate, each
//! pair of bursts gives one ratio, and [`statistics`] turns the ratios into a median, an interval and a
//! verdict. [`row`] writes results as one JSON object a line.
//!
//! What a number means, and what may not be compared, is decided here and nowhere else; how to lay it
//! out for people is left to the command line.
//!
//! Dependencies: `hdrhistogram` (latency distributions in constant memory), `rustix` (core affinity),
//! `serde` and `serde_json` (the JSON lines).

#![forbid(unsafe_code)]

mod error;
pub mod latency;
pub mod meter;
pub mod orb;
pub mod pin;
pub mod process;
pub mod raw;
pub mod row;
pub mod rtt;
pub mod statistics;
pub mod system;

pub use error::BenchError;
pub use system::System;
