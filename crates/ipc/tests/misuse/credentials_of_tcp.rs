// Nobody vouches for a peer over TCP.

use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream) {
    stream.peer_credentials();
}

fn main() {}
