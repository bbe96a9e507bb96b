// What has no descriptor cannot be waited for.

use zorb_ipc::{Epoll, Interest, TcpConnector, Trigger};

fn wrong(set: &Epoll, connector: &TcpConnector) {
    set.add(connector, 1, Interest::SEND, Trigger::Level);
}

fn main() {}
