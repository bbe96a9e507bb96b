//! gRPC over tonic as a peer: `peer serve` and `peer drive`, see `bench/peers/README.md` for the protocol.
//!
//! Settings, and why:
//! - one thread a side (a current-thread runtime): what wakes a task need not wake a thread;
//! - `TCP_NODELAY`: calls and replies leave at once;
//! - flow-control windows of 64 MiB: the default of 64 KiB makes a sender wait for each 64 KiB to be acknowledged;
//! - frames of up to 1 MiB towards the server: the default of 16 KiB cuts large messages into many; tonic has no such setting
//!   for a client;
//! - no limit to a message's size: the default refuses more than 4 MiB;
//! - `bytes` fields are `Bytes`, which tonic neither copies out of what it received nor allocates anew.
//!
//! One-way messages are one client-streaming call, whose answer comes when the server has taken the last. tonic
//! gathers small ones, up to 32 KiB a write.

mod driver;
mod messages;
mod patterns;
mod server;

#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
mod rpc {
    include!(concat!(env!("OUT_DIR"), "/zorb.peers.Bench.rs"));
}

use std::process::ExitCode;

const WINDOW: u32 = 64 << 20;
const FRAME: u32 = 1 << 20;

fn main() -> ExitCode {
    peer::run(server::serve, driver::Driver::new)
}
