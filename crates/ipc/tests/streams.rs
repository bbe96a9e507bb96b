//! Every stream transport does the same: the conformance suite, a line for each.

#[macro_use]
mod conformance;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use zorb_ipc::{Acceptor, AcceptorOptions, Tcp, Unix, UnixAddress};

use conformance::Tried;

stream_transport!(tcp: zorb_ipc::Tcp);
stream_transport!(unix_file: zorb_ipc::Unix);

impl Tried for Tcp {
    type Held = OwnedFd;

    fn fresh() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    /// Its port is bound, so that no other test gets it, and nobody listens.
    fn refusing() -> (OwnedFd, SocketAddr) {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&held, &Tcp::fresh()).unwrap();
        let address = getsockname(&held).unwrap().try_into().unwrap();
        (held, address)
    }

    fn listen_for_few() -> Acceptor<Tcp> {
        Acceptor::bind(Tcp::fresh(), &AcceptorOptions::new().backlog(0)).unwrap()
    }
}

/// A path that nobody else has.
fn unused_path() -> UnixAddress {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    UnixAddress::path(std::env::temp_dir().join(name)).unwrap()
}

impl Tried for Unix {
    type Held = ();

    fn fresh() -> UnixAddress {
        unused_path()
    }

    /// An abstract name that was never bound.
    fn refusing() -> ((), UnixAddress) {
        let name = format!("zorb-ipc-{}-nobody", std::process::id());
        ((), UnixAddress::abstract_name(name.as_bytes()).unwrap())
    }

    fn listen_for_few() -> Acceptor<Unix> {
        Acceptor::bind(Unix::fresh(), &AcceptorOptions::new().backlog(0)).unwrap()
    }
}
