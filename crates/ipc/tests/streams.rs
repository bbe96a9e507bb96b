//! Every stream transport does the same: the conformance suite, a line for each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;

use zorb_ipc::{Acceptor, AcceptorOptions, Tcp, Unix, UnixAddress};

use conformance::streams::Tried;
use conformance::unused_path;

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
