//! Sockets that came from elsewhere.

mod left_out;

use std::io::{IoSlice, Read, Write};
use std::net::{TcpListener, UdpSocket as PlainUdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixDatagram as PlainUnixDatagram, UnixListener, UnixStream as PlainUnixStream};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketType};
use zorb_ipc::{
    ConnectedUdpSocket, ConnectedUnixDatagramSocket, Error, Refused, Step, TcpAcceptor, TcpStream, UdpSocket,
    UnixAcceptor, UnixAddress, UnixDatagramSocket, UnixStream,
};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

/// As somebody else might leave it.
fn foreign(socket: impl Into<OwnedFd>, blocks: bool) -> OwnedFd {
    let fd = socket.into();
    ioctl_fionbio(&fd, !blocks).unwrap();
    fcntl_setfd(&fd, FdFlags::empty()).unwrap();
    fd
}

fn is_blocking(fd: impl AsFd) -> bool {
    assert!(fcntl_getfd(&fd).unwrap().contains(FdFlags::CLOEXEC));
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

fn unused_path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("zorb-ipc-adopted-{name}-{}", std::process::id()))
}

#[test]
fn a_tcp_acceptor_and_both_ends_of_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let acceptor = TcpAcceptor::adopt(foreign(listener, true)).unwrap();
    assert_eq!(acceptor.local_address(), at);
    assert_eq!(acceptor.reachable_address().unwrap(), at);
    assert!(!is_blocking(&acceptor));
    assert!(acceptor.accept_now().unwrap_err().is_would_block());

    let plain = std::net::TcpStream::connect(at).unwrap();
    let local = plain.local_addr().unwrap();
    let client = TcpStream::adopt(foreign(plain, false)).unwrap();
    assert!(is_blocking(&client));
    assert_eq!((client.peer_address(), client.local_address().unwrap()), (at, local));
    let server = acceptor.accept_by(soon()).unwrap();
    assert_eq!(server.peer_address(), local);
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    assert_eq!(server.receive_by(&mut [0; 8], soon()).unwrap(), 1);
}

#[test]
fn an_ipv4_peer_of_an_ipv6_socket_is_met_under_its_own_address() {
    let Ok(listener) = TcpListener::bind("[::]:0") else {
        left_out("IPv6 on this machine", "it cannot be bound");
        return;
    };
    let port = listener.local_addr().unwrap().port();
    let acceptor = TcpAcceptor::adopt(foreign(listener, true)).unwrap();
    let client = TcpStream::connect(([127, 0, 0, 1], port).into(), soon()).unwrap();
    assert_eq!(acceptor.accept_by(soon()).unwrap().peer_address(), client.local_address().unwrap());
}

#[test]
fn a_unix_acceptor_leaves_its_file_and_streams_need_no_name() {
    let path = unused_path("listener");
    let acceptor = UnixAcceptor::adopt(foreign(UnixListener::bind(&path).unwrap(), true)).unwrap();
    let at = UnixAddress::path(&path).unwrap();
    assert_eq!(acceptor.local(), &at);
    let plain = PlainUnixStream::connect(&path).unwrap();
    let client = UnixStream::adopt(foreign(plain, false)).unwrap();
    assert_eq!(client.peer_address(), Some(&at));
    assert_eq!(acceptor.accept_by(soon()).unwrap().peer_address(), None);
    drop(acceptor);
    assert!(path.exists(), "who made it removes it");
    std::fs::remove_file(&path).unwrap();

    let (one, mut other) = PlainUnixStream::pair().unwrap();
    let stream = UnixStream::adopt(foreign(one, false)).unwrap();
    assert!(is_blocking(&stream) && stream.peer_address().is_none());
    other.write_all(b"x").unwrap();
    assert_eq!(stream.receive(&mut [0; 8]).unwrap(), 1);
    drop(other);
    let descriptor = stream.as_fd().try_clone_to_owned().unwrap();
    let stream = UnixStream::adopt(descriptor).unwrap();
    assert_eq!(stream.receive(&mut [0; 8]).unwrap(), 0, "its peer had left");
}

#[test]
fn datagram_sockets_with_and_without_a_peer() {
    let plain = PlainUdpSocket::bind("127.0.0.1:0").unwrap();
    let at = plain.local_addr().unwrap();
    let socket = UdpSocket::adopt(foreign(plain, false)).unwrap();
    assert!(is_blocking(&socket));
    assert_eq!(socket.local(), Some(&at));
    let plain = PlainUdpSocket::bind("127.0.0.1:0").unwrap();
    plain.connect(at).unwrap();
    let connected = ConnectedUdpSocket::adopt(foreign(plain, false)).unwrap();
    assert!(is_blocking(&connected));
    assert_eq!(connected.peer(), &at);
    connected.send(&[IoSlice::new(b"x")]).unwrap();
    let received = socket.receive_from_by(&mut [0; 8], soon()).unwrap();
    assert_eq!((received.octets, received.from().map(Into::into)), (1, connected.local().unwrap()));

    let path = unused_path("datagrams");
    let socket = UnixDatagramSocket::adopt(foreign(PlainUnixDatagram::bind(&path).unwrap(), false)).unwrap();
    let at = UnixAddress::path(&path).unwrap();
    assert_eq!(socket.local(), Some(&at));
    let plain = PlainUnixDatagram::unbound().unwrap();
    plain.connect(&path).unwrap();
    let connected = ConnectedUnixDatagramSocket::adopt(foreign(plain, false)).unwrap();
    assert_eq!(connected.peer(), &at);
    connected.send(&[IoSlice::new(b"xy")]).unwrap();
    let received = socket.receive_from_by(&mut [0; 8], soon()).unwrap();
    assert_eq!((received.octets, received.from()), (2, None));
    drop(socket);
    assert!(path.exists(), "who made it removes it");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        UnixDatagramSocket::adopt(PlainUnixDatagram::unbound().unwrap().into()).unwrap().local(),
        None
    );
}

/// The error, and the descriptor as it was.
fn refused<T>(adopted: Result<T, Refused<OwnedFd>>) -> (Error, OwnedFd) {
    let Err(refused) = adopted else { panic!("it is not one") };
    assert!(refused.error().is_of_another_kind() && refused.error().step() == Step::Adopt, "{refused}");
    (refused.error().clone(), refused.into_handle())
}

#[test]
fn what_a_socket_is_instead_is_said_and_it_comes_back() {
    let listener = foreign(TcpListener::bind("127.0.0.1:0").unwrap(), true);
    let (error, listener) = refused(TcpStream::adopt(listener));
    assert_eq!(
        error.to_string(),
        "adopt a descriptor: wanted a TCP socket that is connected, found a TCP socket that listens"
    );
    assert!(!fcntl_getfl(&listener).unwrap().contains(OFlags::NONBLOCK), "untouched");
    assert!(!fcntl_getfd(&listener).unwrap().contains(FdFlags::CLOEXEC), "untouched");
    let (error, listener) = refused(UnixAcceptor::adopt(listener));
    assert!(
        error
            .to_string()
            .ends_with("wanted a Unix stream socket that listens, found a TCP socket that listens")
    );
    let (_, listener) = refused(UdpSocket::adopt(listener));
    TcpAcceptor::adopt(listener).unwrap();

    let unconnected = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let (error, unconnected) = refused(TcpStream::adopt(unconnected));
    assert!(error.to_string().ends_with("found a TCP socket without a peer"), "{error}");
    refused(TcpAcceptor::adopt(unconnected));

    let (one, other) = PlainUnixStream::pair().unwrap();
    let (error, one) = refused(TcpStream::adopt(one.into()));
    assert!(error.to_string().ends_with("found a Unix stream socket that is connected"), "{error}");
    refused(ConnectedUnixDatagramSocket::adopt(one));
    drop(other);

    let plain = PlainUdpSocket::bind("127.0.0.1:0").unwrap();
    let (error, plain) = refused(ConnectedUdpSocket::adopt(plain.into()));
    assert!(error.to_string().ends_with("found a UDP socket without a peer"), "{error}");
    let plain = PlainUdpSocket::from(plain);
    plain.connect("127.0.0.1:9").unwrap();
    let (error, _) = refused(UdpSocket::adopt(plain.into()));
    assert!(error.to_string().ends_with("found a UDP socket that is connected"), "{error}");

    let (one, _other) = PlainUnixDatagram::pair().unwrap();
    let (error, _) = refused(ConnectedUnixDatagramSocket::adopt(one.into()));
    assert!(error.to_string().ends_with("wanted a peer with an address, found one without"), "{error}");
    let packets = rustix::net::socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    let (error, _) = refused(UnixStream::adopt(packets));
    assert!(error.to_string().ends_with("found a Unix seqpacket socket without a peer"), "{error}");
    let netlink = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None).unwrap();
    let (error, _) = refused(TcpStream::adopt(netlink));
    assert!(error.to_string().contains("found a socket of another family"), "{error}");
}

#[test]
fn what_is_no_socket_is_refused() {
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    let (error, file) = refused(TcpStream::adopt(file.into()));
    assert!(error.to_string().ends_with("found a regular file"), "{error}");
    let (_, file) = refused(UnixAcceptor::adopt(file));
    let mut magic = [0; 4];
    std::fs::File::from(file).read_exact(&mut magic).unwrap();
    assert_eq!(&magic, b"\x7fELF", "it is as usable as before");
    let (reader, _writer) = zorb_ipc::pipe().unwrap();
    let (error, _) = refused(UdpSocket::adopt(reader.into_descriptor().unwrap()));
    assert!(error.to_string().ends_with("found a pipe's reading end"), "{error}");
}

#[test]
fn one_that_was_passed_on_is_adopted() {
    let (one, other) = PlainUnixStream::pair().unwrap();
    let (one, other) = (UnixStream::adopt(one.into()).unwrap(), UnixStream::adopt(other.into()).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    one.send_passing(b"x", &[listener.as_fd()], soon()).unwrap();
    drop(listener);
    let passed = other.receive_passed(&mut [0; 8], soon()).unwrap();
    let [fd] = <[OwnedFd; 1]>::try_from(passed.descriptors).unwrap();
    let acceptor = TcpAcceptor::adopt(fd).unwrap();
    let client = TcpStream::connect(at, soon()).unwrap();
    assert_eq!(acceptor.accept_by(soon()).unwrap().peer_address(), client.local_address().unwrap());
}
