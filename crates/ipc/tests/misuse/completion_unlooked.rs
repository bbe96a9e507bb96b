// A connection that was begun may be pending still: what became of it is looked at first.

use zorb_ipc::{Connecting, Error, Tcp, TcpStream};

fn wrong(connecting: Connecting<Tcp>) -> Result<TcpStream, Error> {
    connecting.complete_now()
}

fn main() {}
