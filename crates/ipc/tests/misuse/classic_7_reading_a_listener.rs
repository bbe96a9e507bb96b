// Classic error 7: the listening socket is read, not the connection that it yielded.

use zorb_ipc::TcpAcceptor;

fn wrong(acceptor: &TcpAcceptor, buffer: &mut [u8]) {
    acceptor.receive(buffer);
}

fn main() {}
