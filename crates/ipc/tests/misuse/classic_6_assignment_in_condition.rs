// Classic error 6: `=` where `==` was meant. An assignment is no condition.

use zorb_ipc::{Error, TcpStream};

fn wrong(stream: &TcpStream, buffer: &mut [u8]) -> Result<(), Error> {
    let mut received = 1;
    while received = stream.receive(buffer)? {}
    Ok(())
}

fn main() {}
