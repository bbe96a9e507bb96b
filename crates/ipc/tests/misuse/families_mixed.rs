// The acceptor of one family is given the options of another.

use zorb_ipc::{AcceptorOptions, Tcp, UnixAcceptor, UnixAddress};

fn wrong(address: UnixAddress, options: AcceptorOptions<Tcp>) {
    UnixAcceptor::bind(address, &options);
}

fn main() {}
