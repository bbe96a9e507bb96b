//! The families of streams and of datagrams, and the addresses of each that tests need.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use zorb_ipc::{
    Acceptor, AcceptorOptions, Address, DatagramSocket, Error, RingSize, Shm, ShmAcceptor, ShmConnector,
    ShmOptions, ShmStream, Slabs, Stream, StreamTransport, Tcp, Udp, Unix, UnixAddress, UnixDatagram, Vsock,
    VsockAddress,
};

use super::streams::Tried;
use super::{datagrams, left_out, unused_name, unused_path, within};

/// Runs a suite for one transport, unless this machine cannot try it, which a line says.
pub(crate) fn tried<T: Tried>(name: &str, suite: impl FnOnce()) {
    unless(T::left_out(), name, suite);
}

/// The same for one kind of datagrams.
pub(crate) fn tried_datagrams<F: datagrams::Tried>(name: &str, suite: impl FnOnce()) {
    unless(F::left_out(), name, suite);
}

fn unless(left_out: Option<String>, name: &str, suite: impl FnOnce()) {
    match left_out {
        None => suite(),
        Some(why) => left_out::left_out(name, &why),
    }
}

/// An address whose port is bound, so that no other test gets it, and where nobody listens.
fn refusing(fresh: SocketAddr) -> (OwnedFd, SocketAddr) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let family = if fresh.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let held = socket(family, SocketType::STREAM, None).unwrap();
    bind(&held, &fresh).unwrap();
    let address = getsockname(&held).unwrap().try_into().unwrap();
    (held, address)
}

impl Tried for Tcp {
    type Held = OwnedFd;

    fn fresh() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    fn refusing() -> (OwnedFd, SocketAddr) {
        refusing(Self::fresh())
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

/// The other version of the protocol.
#[derive(Debug)]
pub(crate) struct TcpByIpv6;

impl StreamTransport for TcpByIpv6 {
    type Address = SocketAddr;
    type Acceptor = Acceptor<Tcp>;
    type Stream = Stream<Tcp>;

    fn listen(address: SocketAddr) -> Result<Acceptor<Tcp>, Error> {
        Tcp::listen(address)
    }

    fn address(acceptor: &Acceptor<Tcp>) -> SocketAddr {
        Tcp::address(acceptor)
    }

    fn full_address(address: &SocketAddr) -> Address {
        Tcp::full_address(address)
    }

    fn accept_by(acceptor: &Acceptor<Tcp>, deadline: Instant) -> Result<Stream<Tcp>, Error> {
        Tcp::accept_by(acceptor, deadline)
    }

    fn connect(address: SocketAddr, deadline: Instant) -> Result<Stream<Tcp>, Error> {
        <Tcp as StreamTransport>::connect(address, deadline)
    }
}

impl Tried for TcpByIpv6 {
    type Held = OwnedFd;

    fn left_out() -> Option<String> {
        Acceptor::<Tcp>::bind(Self::fresh(), &AcceptorOptions::new()).err().map(|error| error.to_string())
    }

    fn fresh() -> SocketAddr {
        (Ipv6Addr::LOCALHOST, 0).into()
    }

    fn refusing() -> (OwnedFd, SocketAddr) {
        refusing(Self::fresh())
    }

    fn listen_for_few() -> Acceptor<Tcp> {
        Acceptor::bind(Self::fresh(), &AcceptorOptions::new().backlog(0)).unwrap()
    }
}

/// Unix sockets that have a name and no file.
#[derive(Debug)]
pub(crate) struct UnixByName;

impl StreamTransport for UnixByName {
    type Address = UnixAddress;
    type Acceptor = Acceptor<Unix>;
    type Stream = Stream<Unix>;

    fn listen(address: UnixAddress) -> Result<Acceptor<Unix>, Error> {
        Unix::listen(address)
    }

    fn address(acceptor: &Acceptor<Unix>) -> UnixAddress {
        Unix::address(acceptor)
    }

    fn full_address(address: &UnixAddress) -> Address {
        Unix::full_address(address)
    }

    fn accept_by(acceptor: &Acceptor<Unix>, deadline: Instant) -> Result<Stream<Unix>, Error> {
        Unix::accept_by(acceptor, deadline)
    }

    fn connect(address: UnixAddress, deadline: Instant) -> Result<Stream<Unix>, Error> {
        <Unix as StreamTransport>::connect(address, deadline)
    }
}

impl Tried for UnixByName {
    type Held = ();

    fn fresh() -> UnixAddress {
        unused_name()
    }

    fn refusing() -> ((), UnixAddress) {
        Unix::refusing()
    }

    fn listen_for_few() -> Acceptor<Unix> {
        Acceptor::bind(Self::fresh(), &AcceptorOptions::new().backlog(0)).unwrap()
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

/// Shared memory whose slabs are used for nearly all, and used up soon.
#[derive(Debug)]
pub(crate) struct SmallSlabs;

impl SmallSlabs {
    fn options() -> ShmOptions {
        let ring = RingSize::new(8 << 10).unwrap();
        ShmOptions::new().ring(ring).slabs(Some(Slabs::new(4, 4 << 10).unwrap()))
    }
}

impl StreamTransport for SmallSlabs {
    type Address = UnixAddress;
    type Acceptor = ShmAcceptor;
    type Stream = ShmStream;

    fn listen(address: UnixAddress) -> Result<ShmAcceptor, Error> {
        ShmAcceptor::bind(address, &AcceptorOptions::new(), &Self::options())
    }

    fn address(acceptor: &ShmAcceptor) -> UnixAddress {
        acceptor.local().clone()
    }

    fn full_address(address: &UnixAddress) -> Address {
        Shm::full_address(address)
    }

    fn accept_by(acceptor: &ShmAcceptor, deadline: Instant) -> Result<ShmStream, Error> {
        acceptor.accept_by(deadline)
    }

    fn connect(address: UnixAddress, deadline: Instant) -> Result<ShmStream, Error> {
        ShmConnector::new(&Self::options()).connect(address, deadline)
    }
}

impl Tried for SmallSlabs {
    type Held = ();

    fn fresh() -> UnixAddress {
        unused_path()
    }

    fn refusing() -> ((), UnixAddress) {
        Unix::refusing()
    }

    fn listen_for_few() -> ShmAcceptor {
        Shm::listen_for_few()
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

impl datagrams::Tried for Udp {
    type Address = SocketAddr;
    type Family = Udp;

    fn fresh() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }

    /// 64 KiB less the heads of IPv4 and UDP, and one (RFC 791, RFC 768).
    fn longest() -> usize {
        65_507
    }

    const WAITS: bool = false;
}

/// The other version of the protocol.
#[derive(Debug)]
pub(crate) struct UdpByIpv6;

impl datagrams::Tried for UdpByIpv6 {
    type Address = SocketAddr;
    type Family = Udp;

    fn left_out() -> Option<String> {
        DatagramSocket::<Udp>::bind(Self::fresh()).err().map(|error| error.to_string())
    }

    fn fresh() -> SocketAddr {
        (Ipv6Addr::LOCALHOST, 0).into()
    }

    /// 64 KiB less the head of UDP, and one: that of IPv6 does not count (RFC 8200).
    fn longest() -> usize {
        65_527
    }

    const WAITS: bool = false;
}

impl datagrams::Tried for UnixDatagram {
    type Address = UnixAddress;
    type Family = UnixDatagram;

    fn fresh() -> UnixAddress {
        unused_path()
    }

    /// The sender's queue less 32 octets, which the kernel keeps for itself.
    fn longest() -> usize {
        let queue = std::fs::read_to_string("/proc/sys/net/core/wmem_default").unwrap();
        queue.trim().parse::<usize>().unwrap() - 32
    }

    const WAITS: bool = true;
}
