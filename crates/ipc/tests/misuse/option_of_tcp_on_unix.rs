// Unix sockets have no packets to delay.

use zorb_ipc::{NoDelay, UnixStream};

fn wrong(stream: &UnixStream) {
    stream.set(NoDelay(true));
}

fn main() {}
