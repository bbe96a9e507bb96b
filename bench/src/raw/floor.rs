//! The families of sockets that the floor is measured over.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use zorb_ipc::{Acceptor, Error, StreamFamily, Tcp, Unix, UnixAddress};

use super::stream::Stream;
use crate::BenchError;
use crate::system::Setting;

/// A family of stream sockets whose addresses can be announced as text.
pub(super) trait Floor: StreamFamily<Address = <Self as Floor>::At> + Sized {
    /// Where it listens and connects.
    type At: Clone + Display + FromStr + Send + Sync + 'static;
    /// The standard library's own connection.
    type Bare: Stream<Family = Self>;

    /// Where a server is to listen.
    fn place(setting: &Setting) -> Result<Self::At, BenchError>;

    /// Where its clients connect.
    fn reachable(acceptor: &Acceptor<Self>) -> Result<Self::At, Error>;
}

impl Floor for Tcp {
    type At = SocketAddr;
    type Bare = TcpStream;

    fn place(setting: &Setting) -> Result<SocketAddr, BenchError> {
        Ok(setting.listen.unwrap_or(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)))
    }

    fn reachable(acceptor: &Acceptor<Tcp>) -> Result<SocketAddr, Error> {
        // A wildcard names no host that could be connected to.
        acceptor.reachable_address()
    }
}

impl Floor for Unix {
    type At = UnixAddress;
    type Bare = UnixStream;

    fn place(_: &Setting) -> Result<UnixAddress, BenchError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("zorb-bench-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        UnixAddress::path(std::env::temp_dir().join(name))
            .map_err(|error| BenchError::System { system: "raw", what: error.to_string() })
    }

    fn reachable(acceptor: &Acceptor<Unix>) -> Result<UnixAddress, Error> {
        Ok(acceptor.local().clone())
    }
}
