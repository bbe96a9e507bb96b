// Nor which queue.

use zorb_ipc::TcpConnector;

fn wrong() -> TcpConnector {
    TcpConnector::new().queue_sizes(65_536)
}

fn main() {}
