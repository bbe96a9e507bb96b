// A datagram socket of something that is no family of datagrams.

use zorb_ipc::{DatagramSocket, Tcp};

fn wrong(_: &DatagramSocket<Tcp>) {}

fn main() {}
