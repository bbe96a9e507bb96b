// How far a datagram goes is an octet of its header.

use zorb_ipc::MulticastSender;

fn wrong(sender: &MulticastSender) {
    sender.set_hops(300_u32);
}

fn main() {}
