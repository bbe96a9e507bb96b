// An acceptor has no peer: there is nobody to send to.

use std::io::IoSlice;
use zorb_ipc::UnixAcceptor;

fn wrong(acceptor: &UnixAcceptor) {
    acceptor.send(&[IoSlice::new(b"hello")]);
}

fn main() {}
