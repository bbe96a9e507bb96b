// A time is a duration, not so many of something.

use zorb_ipc::{BusyPoll, TcpStream};

fn wrong(stream: &TcpStream) {
    stream.set(BusyPoll(50));
}

fn main() {}
