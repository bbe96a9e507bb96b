// A closed handle is gone.

use zorb_ipc::TcpStream;

fn wrong(stream: TcpStream) {
    drop(stream);
    stream.shutdown_send();
}

fn main() {}
