// What a connection measured is asked of it, not of who listens.

use zorb_ipc::{Error, MaximumSegment, TcpAcceptor};

fn wrong(acceptor: &TcpAcceptor) -> Result<MaximumSegment, Error> {
    acceptor.option::<MaximumSegment>()
}

fn main() {}
