// Not every address is a group's: making a group says so.

use std::net::SocketAddr;
use zorb_ipc::MulticastReceiver;

fn wrong(address: SocketAddr) {
    MulticastReceiver::new(address);
}

fn main() {}
