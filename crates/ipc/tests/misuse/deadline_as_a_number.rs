// Of a number nobody knows whether it is seconds or milliseconds.

use zorb_ipc::TcpStream;

fn wrong(stream: &TcpStream, buffer: &mut [u8]) {
    stream.receive_exact(buffer, 5000);
}

fn main() {}
