//! The stream families, and the addresses of each that tests need.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::Duration;

use zorb_ipc::{
    Acceptor, AcceptorOptions, Error, Shm, ShmAcceptor, ShmOptions, Stream, Tcp, Unix, UnixAddress, Vsock,
    VsockAddress,
};

use super::streams::Tried;
use super::{unused_path, within};

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

impl Tried for Shm {
    type Held = ();

    fn fresh() -> UnixAddress {
        unused_path()
    }

    fn refusing() -> ((), UnixAddress) {
        Unix::refusing()
    }

    fn listen_for_few() -> ShmAcceptor {
        ShmAcceptor::bind(Self::fresh(), &AcceptorOptions::new().backlog(0), &ShmOptions::new()).unwrap()
    }
}

impl Tried for Vsock {
    type Held = ();

    fn left_out() -> Option<String> {
        static WHY: OnceLock<Option<String>> = OnceLock::new();
        let connects = || -> Result<(), Error> {
            let acceptor = Acceptor::<Vsock>::bind(Self::fresh(), &AcceptorOptions::new())?;
            Stream::<Vsock>::connect(*acceptor.local(), within(Duration::from_secs(5))).map(drop)
        };
        let why = WHY
            .get_or_init(|| connects().err().map(|error| format!("no vsock within this machine: {error}")));
        why.clone()
    }

    fn fresh() -> VsockAddress {
        VsockAddress { context: VsockAddress::LOCAL, port: VsockAddress::ANY_PORT }
    }

    /// Nobody listens there any more.
    fn refusing() -> ((), VsockAddress) {
        let acceptor = Acceptor::<Vsock>::bind(Self::fresh(), &AcceptorOptions::new()).unwrap();
        ((), *acceptor.local())
    }

    fn listen_for_few() -> Acceptor<Vsock> {
        Acceptor::bind(Self::fresh(), &AcceptorOptions::new().backlog(0)).unwrap()
    }

    const FULL_REFUSES: bool = true;
}
