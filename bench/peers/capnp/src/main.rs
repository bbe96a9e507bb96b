//! Cap'n Proto RPC as a peer: `peer serve` and `peer drive`, see `bench/peers/README.md` for the protocol.
//!
//! Settings, and why:
//! - one thread a side: capnp-rpc's objects live on one;
//! - `TCP_NODELAY`: calls and replies leave at once;
//! - streams buffered with 64 KiB on both sides, as capnp-rpc's documentation advises: a message's head and its segments
//!   leave in one write, and small messages arrive many in one read; of the memory only what is used is written to;
//! - no limit to what a reader traverses: the default ends after 64 MiB of one message;
//! - a flow-control window of 1 MiB for streams: the default of 64 KiB makes a sender of bulk wait for each message.
//!
//! One-way messages are streaming calls: they are sent one after another while no more than the window is unacknowledged.
//! Elements are written into the message where they will be sent from, primitive lists as slices, which is what the
//! format is for.

mod connection;
mod driver;
mod server;

#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
mod bench_capnp {
    include!(concat!(env!("OUT_DIR"), "/bench_capnp.rs"));
}

use std::process::ExitCode;

fn main() -> ExitCode {
    peer::run(server::serve, driver::Driver::new)
}
