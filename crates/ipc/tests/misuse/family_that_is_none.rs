// A stream of something that is no family of streams.

use zorb_ipc::{Stream, Udp};

fn wrong(_: &Stream<Udp>) {}

fn main() {}
