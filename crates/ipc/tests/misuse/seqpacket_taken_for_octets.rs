// Messages that stay whole are no stream of octets: code for streams would lose their bounds.

use zorb_ipc::{ByteStream, Seqpacket};

fn copy(_: &impl ByteStream) {}

fn wrong(messages: &Seqpacket) {
    copy(messages);
}

fn main() {}
