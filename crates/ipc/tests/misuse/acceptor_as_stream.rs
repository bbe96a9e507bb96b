// What serves any connection is given an acceptor.

use zorb_ipc::{ByteStream, TcpAcceptor};

fn serve(_: &impl ByteStream) {}

fn wrong(acceptor: &TcpAcceptor) {
    serve(acceptor);
}

fn main() {}
