// What another process may write at any time is never lent as a slice.

use zorb_ipc::Segment;

fn wrong(segment: &Segment) -> &[u8] {
    &segment[64..128]
}

fn main() {}
