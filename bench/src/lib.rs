//! Benchmark scenarios and statistics: zorb beside raw sockets and beside its peers, in one run.
//!
//! | what | where |
//! |---|---|
//! | what is measured: a server half and a client half | [`system`]; ours in [`raw`], [`orb`]; programs of their own in [`peer`]; client halves in processes of their own in [`driver`] |
//! | systems side by side, their processes, and what happens when one fails | [`contest`], [`process`], [`pin`] |
//! | where a flood's time goes, by function | [`profile`] |
//! | a call seen from within | [`whitebox`], with the marks of [`probes`]; what it takes of things that can be counted: [`counts`] |
//! | scenarios | [`ttcp`]; of calls, which share [`calls`]: [`rtt`], [`size`], [`cube`], [`demux`] with [`iterations`], [`firstcall`], [`collocated`], [`concurrency`], [`connections`], [`images`] |
//! | a network between both sides | [`link`] |
//! | from times to a median, an interval and a verdict | [`latency`], [`statistics`] |
//! | processor time, and the machine | [`cpu`], [`machine`] |
//! | all scenarios in one run that can be stopped and gone on with | [`paper`] |
//! | one result as a line of JSON | [`row`] |
//! | a page with plots, of the lines that a run has left | [`report`] |
//! | what a scenario is given: peers' folder, patience, who looks on | [`lab`], [`progress`] |
//!
//! What a number means, and what may not be compared, is decided here and nowhere else; how to lay it
//! out for people is left to the command line.
//!
//! # To add a system or a peer
//!
//! One of our own implements [`system::System`] and [`system::Local`] and joins the list in the command line
//! (`crates/cli/src/bench/systems.rs`). A foreign one is a program that speaks the protocol of [`peer`], with one line
//! in [`peer::Peer::ALL`].
//!
//! # To add a scenario
//!
//! A file here with a `Plan` (what is varied), and a `run(systems, plan, lab, finished)` that makes a
//! [`contest::Contest`] and for each *event* calls `begin`, lets the systems `prepare`, warm up, and take turns
//! in [`contest::Contest::order`], at least [`statistics::LEAST_PAIRS`] rounds, and hands on [`row::Row`]s as soon as
//! they are there. [`rtt`] is the shortest example. What it asks of clients beyond calls and bursts is a method of
//! [`system::Client`] with a default that says no. Its command line is a file in `crates/cli/src/bench`.
//!
//! Dependencies: `blazesym` (functions by their addresses, in programs and in the kernel), `hdrhistogram` (latency distributions in constant memory), `libc` (where the C library's copying functions are), `perf-event2` (what processors execute), `resvg` (plots as PNG, with their
//! words), `rustix` (core affinity, process groups, waiting for packets), `serde` and `serde_json` (the JSON lines), `stats_alloc` (counts
//! allocations; with the feature `probes` only), `tun-rs` (network interfaces whose packets a program carries, for links with a
//! delay on kernels that cannot; to make one takes system calls that are `unsafe`).

#![deny(unsafe_code)]

pub mod calls;
pub mod collocated;
pub mod concurrency;
pub mod connections;
pub mod contest;
pub mod counts;
pub mod cpu;
pub mod cube;
pub mod demux;
pub mod driver;
mod error;
pub mod firstcall;
pub mod flood;
pub mod images;
pub mod iterations;
pub mod lab;
pub mod latency;
pub mod link;
pub mod machine;
pub mod meter;
pub mod orb;
pub mod paper;
mod pattern;
pub mod peer;
pub mod pin;
pub mod probes;
pub mod process;
pub mod profile;
pub mod progress;
pub mod raw;
pub mod report;
pub mod row;
pub mod rtt;
pub mod size;
pub mod statistics;
pub mod system;
pub mod ttcp;
pub mod whitebox;

pub use error::BenchError;
pub use system::System;
