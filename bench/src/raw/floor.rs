//! What the floor is measured over: two families of sockets, and memory.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use zorb_ipc::{
    AcceptorOptions, CongestionControl, Connector, Error, QueueSizes, ReceiveWindow, Tcp, TcpAcceptor, Unix,
    UnixAcceptor, UnixAddress,
};

use super::equal::EqualSocket;
use super::memory::{BareMemory, Channel};
use super::spinning::{SpinningMemory, SpinningSocket};
use super::stream::Stream;
use crate::BenchError;
use crate::system::Setting;

/// A way to connect two processes whose addresses can be announced as text.
pub(super) trait Floor: Sized + 'static {
    /// Where it listens and connects.
    type At: Clone + Display + FromStr + Send + Sync + 'static;
    /// Who listens.
    type Acceptor: Send + Sync + 'static;
    /// A connection before anything was sent over it.
    type Handle: Send;
    /// Moves octets in the barest way.
    type Bare: Stream<Family = Self>;
    /// Moves them through a typed handle.
    type Typed: Stream<Family = Self>;
    /// Moves octets in the barest way over a socket that has the options of zorb's.
    type Equal: Stream<Family = Self>;
    /// Moves them without ever sleeping.
    type Spinning: Stream<Family = Self>;

    /// Where a server is to listen.
    fn place(setting: &Setting) -> Result<Self::At, BenchError>;

    fn bind(at: Self::At, queues: QueueSizes) -> Result<Self::Acceptor, Error>;

    /// The same; its connections are born with what zorb's are.
    fn bind_told(at: Self::At, queues: QueueSizes) -> Result<Self::Acceptor, Error> {
        Self::bind(at, queues)
    }

    /// Where its clients connect.
    fn reachable(acceptor: &Self::Acceptor) -> Result<Self::At, Error>;

    fn accept(acceptor: &Self::Acceptor) -> Result<Self::Handle, Error>;

    fn connect(to: Self::At, queues: QueueSizes, by: Instant) -> Result<Self::Handle, Error>;

    /// The same, by a socket that is told what zorb tells its own.
    fn connect_told(to: Self::At, queues: QueueSizes, by: Instant) -> Result<Self::Handle, Error> {
        Self::connect(to, queues, by)
    }
}

impl Floor for Tcp {
    type At = SocketAddr;
    type Acceptor = TcpAcceptor;
    type Handle = zorb_ipc::TcpStream;
    type Bare = TcpStream;
    type Typed = zorb_ipc::TcpStream;
    type Equal = EqualSocket<TcpStream>;
    type Spinning = SpinningSocket<TcpStream>;

    fn place(setting: &Setting) -> Result<SocketAddr, BenchError> {
        Ok(setting.listen.unwrap_or(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)))
    }

    fn bind(at: SocketAddr, queues: QueueSizes) -> Result<TcpAcceptor, Error> {
        TcpAcceptor::bind(at, &AcceptorOptions::new().queue_sizes(queues))
    }

    fn bind_told(at: SocketAddr, queues: QueueSizes) -> Result<TcpAcceptor, Error> {
        let told = told(at, queues);
        let acceptor = Tcp::bind(at, queues)?;
        if let Some(window) = told.window {
            acceptor.set(window)?;
        }
        if let Some(algorithm) = told.algorithm {
            // zorb goes on with what the system has if it has no other, and so does this.
            let _ = acceptor.set(algorithm);
        }
        Ok(acceptor)
    }

    fn reachable(acceptor: &TcpAcceptor) -> Result<SocketAddr, Error> {
        // A wildcard names no host that could be connected to.
        acceptor.reachable_address()
    }

    fn accept(acceptor: &TcpAcceptor) -> Result<zorb_ipc::TcpStream, Error> {
        acceptor.accept()
    }

    fn connect(to: SocketAddr, queues: QueueSizes, by: Instant) -> Result<zorb_ipc::TcpStream, Error> {
        Connector::<Tcp>::new().queue_sizes(queues).connect(to, by)
    }

    fn connect_told(to: SocketAddr, queues: QueueSizes, by: Instant) -> Result<zorb_ipc::TcpStream, Error> {
        let told = told(to, queues);
        let connector = Connector::<Tcp>::new().queue_sizes(queues);
        let connector = told.window.into_iter().fold(connector, Connector::receive_window);
        let told =
            told.algorithm.map(|algorithm| connector.clone().congestion_control(algorithm).connect(to, by));
        told.and_then(Result::ok).map_or_else(|| connector.connect(to, by), Ok)
    }
}

/// What zorb tells a socket before it is connected to that address or listens there, where these queues were chosen.
fn told(address: SocketAddr, queues: QueueSizes) -> Told {
    let zorbs = zorb::transport::tcp::Tcp::new();
    let system = CongestionControl::of_new_sockets();
    match (address.ip().is_loopback(), system) {
        (true, Ok(system)) => {
            let algorithm = zorbs.loopback_instead_of(&system.0);
            Told {
                window: zorbs.loopback_receive_window().filter(|_| queues.receive.is_none()),
                algorithm: algorithm.map(|name| CongestionControl(name.into())),
            }
        }
        _ => Told::default(),
    }
}

#[derive(Default)]
struct Told {
    window: Option<ReceiveWindow>,
    algorithm: Option<CongestionControl>,
}

impl Floor for Unix {
    type At = UnixAddress;
    type Acceptor = UnixAcceptor;
    type Handle = zorb_ipc::UnixStream;
    type Bare = std::os::unix::net::UnixStream;
    type Typed = zorb_ipc::UnixStream;
    type Equal = EqualSocket<std::os::unix::net::UnixStream>;
    type Spinning = SpinningSocket<std::os::unix::net::UnixStream>;

    fn place(_: &Setting) -> Result<UnixAddress, BenchError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("zorb-bench-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        UnixAddress::path(std::env::temp_dir().join(name))
            .map_err(|error| BenchError::System { system: "raw", what: error.to_string() })
    }

    fn bind(at: UnixAddress, queues: QueueSizes) -> Result<UnixAcceptor, Error> {
        UnixAcceptor::bind(at, &AcceptorOptions::new().queue_sizes(queues))
    }

    fn bind_told(at: UnixAddress, queues: QueueSizes) -> Result<UnixAcceptor, Error> {
        Unix::bind(at, told_unix(queues))
    }

    fn reachable(acceptor: &UnixAcceptor) -> Result<UnixAddress, Error> {
        Ok(acceptor.local().clone())
    }

    fn accept(acceptor: &UnixAcceptor) -> Result<zorb_ipc::UnixStream, Error> {
        acceptor.accept()
    }

    fn connect(to: UnixAddress, queues: QueueSizes, by: Instant) -> Result<zorb_ipc::UnixStream, Error> {
        Connector::<Unix>::new().queue_sizes(queues).connect(to, by)
    }

    fn connect_told(to: UnixAddress, queues: QueueSizes, by: Instant) -> Result<zorb_ipc::UnixStream, Error> {
        Unix::connect(to, told_unix(queues), by)
    }
}

/// What zorb tells a Unix socket, where these queues were chosen.
fn told_unix(queues: QueueSizes) -> QueueSizes {
    let zorbs = zorb::transport::unix::Unix::new().queue_sizes();
    QueueSizes { send: queues.send.or(zorbs.send), receive: queues.receive.or(zorbs.receive) }
}

/// Memory that is passed over a Unix socket.
pub(super) enum Shm {}

impl Floor for Shm {
    type At = UnixAddress;
    type Acceptor = UnixAcceptor;
    type Handle = zorb_ipc::UnixStream;
    type Bare = BareMemory;
    type Typed = Channel;
    /// Memory has no options.
    type Equal = BareMemory;
    type Spinning = SpinningMemory;

    fn place(setting: &Setting) -> Result<UnixAddress, BenchError> {
        Unix::place(setting)
    }

    fn bind(at: UnixAddress, _: QueueSizes) -> Result<UnixAcceptor, Error> {
        Unix::bind(at, QueueSizes::default())
    }

    fn reachable(acceptor: &UnixAcceptor) -> Result<UnixAddress, Error> {
        Unix::reachable(acceptor)
    }

    fn accept(acceptor: &UnixAcceptor) -> Result<zorb_ipc::UnixStream, Error> {
        Unix::accept(acceptor)
    }

    fn connect(to: UnixAddress, _: QueueSizes, by: Instant) -> Result<zorb_ipc::UnixStream, Error> {
        Unix::connect(to, QueueSizes::default(), by)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use zorb_ipc::LargestWindow;

    use super::*;

    #[test]
    fn sockets_are_told_what_zorbs_are_told() {
        let zorbs = zorb::transport::tcp::Tcp::new();
        let system = CongestionControl::of_new_sockets().unwrap();
        let algorithm =
            zorbs.loopback_instead_of(&system.0).map_or(system, |name| CongestionControl(name.into()));
        let acceptor = Tcp::bind_told((Ipv4Addr::LOCALHOST, 0).into(), QueueSizes::default()).unwrap();
        let soon = Instant::now() + Duration::from_secs(20);
        let client = Tcp::connect_told(acceptor.local_address(), QueueSizes::default(), soon).unwrap();
        for socket in [client, acceptor.accept().unwrap()] {
            assert_eq!(socket.option::<CongestionControl>().unwrap(), algorithm);
            let largest = socket.option::<LargestWindow>().unwrap();
            assert_eq!(Some(ReceiveWindow(largest.0)), zorbs.loopback_receive_window());
        }
    }
}
