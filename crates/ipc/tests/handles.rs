//! What every handle has, whatever it is for.

mod left_out;

use std::fmt::Debug;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_ipc::{
    Acceptor, AcceptorOptions, Address, AddressParseError, BroadcastSocket, Completed, Completion,
    ConnectedDatagramSocket, Connecting, Connector, DatagramSocket, Epoll, Error, Event, EventCounter,
    EventSemaphore, Events, Fifo, Idle, Memfd, MulticastGroup, MulticastReceiver, MulticastSender, Outgoing,
    Pages, Passed, PipeReader, PipeWriter, PrivateFutex, QueueSizes, ReceiveBatch, Received, Refused,
    Resolver, ResolverOptions, SealedBytes, SealedMemfd, Segment, SegmentOptions, SendBatch, Seqpacket,
    SeqpacketAcceptor, SeqpacketAcceptorOptions, SeqpacketConnector, SharedFutex, SizedMemfd, SpliceStream,
    Stream, Tcp, TcpAcceptor, TcpConnector, TcpStream, Timer, Udp, Unix, UnixAcceptor, UnixAddress,
    UnixConnector, UnixDatagram, UnixStream, Vsock, VsockAcceptor, VsockAddress, VsockStream, Wake,
    WallClockTimer, ZeroCopyStream,
};

use left_out::left_out;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

fn unused_path(name: &str) -> UnixAddress {
    let file = format!("zorb-ipc-handles-{name}-{}", std::process::id());
    UnixAddress::path(std::env::temp_dir().join(file)).unwrap()
}

#[test]
fn all_can_be_shown_and_shared_between_threads() {
    fn shared<T: Send + Sync + Debug + 'static>() {}
    fn family<F: zorb_ipc::StreamFamily>() {
        shared::<Acceptor<F>>();
        shared::<AcceptorOptions<F>>();
        shared::<Connector<F>>();
        shared::<Connecting<F>>();
        shared::<Completion<F>>();
        shared::<Stream<F>>();
        shared::<Refused<Stream<F>>>();
        shared::<Refused<Connecting<F>>>();
    }
    family::<Tcp>();
    family::<Unix>();
    family::<Vsock>();
    fn datagrams<F: zorb_ipc::DatagramFamily>() {
        shared::<(DatagramSocket<F>, ConnectedDatagramSocket<F>, Refused<DatagramSocket<F>>)>();
        shared::<(ReceiveBatch<F>, SendBatch, Received<F>, Outgoing<'static, F::Address>)>();
    }
    datagrams::<Udp>();
    datagrams::<UnixDatagram>();
    shared::<(BroadcastSocket, MulticastReceiver, MulticastSender)>();
    shared::<(Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, SeqpacketConnector)>();
    shared::<(PipeReader, PipeWriter, Fifo, Pages, SpliceStream<Unix>)>();
    shared::<(Memfd, SizedMemfd, SealedMemfd, SealedBytes, Segment, SegmentOptions)>();
    shared::<(EventCounter, EventSemaphore, Timer, WallClockTimer, PrivateFutex<'_>, SharedFutex<'_>)>();
    shared::<(Epoll, Event, Events, Wake, Resolver, ResolverOptions)>();
    shared::<(Error, Address, AddressParseError, Idle, Passed, QueueSizes)>();
    shared::<(ZeroCopyStream<Arc<[u8]>>, Completed<Vec<u8>>)>();
    // What is handed over may be of a kind that one thread at a time can have.
    fn sent<T: Send>() {}
    sent::<ZeroCopyStream<Vec<u8>>>();
}

#[test]
fn each_gives_up_its_descriptor() {
    fn given<H: AsFd + Into<OwnedFd>>(handle: H) -> OwnedFd {
        let number = handle.as_fd().as_raw_fd();
        let fd: OwnedFd = handle.into();
        assert_eq!(fd.as_raw_fd(), number);
        rustix::io::fcntl_getfd(&fd).unwrap();
        fd
    }
    given(Epoll::new().unwrap());
    given(Wake::new().unwrap());
    given(EventCounter::new(0).unwrap());
    given(EventSemaphore::new(0).unwrap());
    given(Timer::new().unwrap());
    given(WallClockTimer::new().unwrap());
    let (reader, writer) = zorb_ipc::pipe().unwrap();
    PipeReader::adopt(given(reader)).unwrap();
    PipeWriter::adopt(given(writer)).unwrap();
    let group: MulticastGroup = "239.255.0.1:5000".parse().unwrap();
    given(MulticastReceiver::new(group).unwrap());
    given(MulticastSender::new(group).unwrap());
    let loopback = zorb_ipc::interfaces().unwrap().into_iter().find(|one| one.address.is_ipv4()).unwrap();
    given(BroadcastSocket::to_link(&loopback, 5000).unwrap());

    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let to = acceptor.local_address();
    let acceptor = TcpAcceptor::adopt(given(acceptor)).unwrap();
    assert_eq!(acceptor.local_address(), to);
    let connecting = given(TcpConnector::new().begin(to).unwrap());
    let server = acceptor.accept_by(soon()).unwrap();
    let client = TcpStream::adopt(given(TcpStream::adopt(connecting).unwrap())).unwrap();
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    server.receive_exact(&mut [0], soon()).unwrap();
}

/// So that one process can go on listening where another did.
#[test]
fn a_listening_sockets_file_stays_with_whoever_takes_it_over() {
    let at = unused_path("given-up");
    let acceptor = UnixAcceptor::bind(at.clone(), &AcceptorOptions::new()).unwrap();
    let fd = OwnedFd::from(acceptor);
    assert!(at.as_path().unwrap().exists());
    let acceptor = UnixAcceptor::adopt(fd).unwrap();
    UnixStream::connect(at.clone(), soon()).unwrap();
    acceptor.accept_by(soon()).unwrap();
    std::fs::remove_file(at.as_path().unwrap()).unwrap();
}

#[test]
fn both_ends_of_a_connection_are_named() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    assert_eq!(&client.local().unwrap(), server.peer());
    assert_eq!(&server.local().unwrap(), client.peer());

    let acceptor = UnixAcceptor::bind(unused_path("named"), &AcceptorOptions::new()).unwrap();
    let client = UnixConnector::new().connect(acceptor.local().clone(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    assert_eq!((client.local().unwrap(), server.peer()), (None, &None));
    assert_eq!(&server.local().unwrap(), client.peer());
    assert_eq!(client.peer(), &Some(acceptor.local().clone()));
}

#[test]
fn a_timeout_beyond_all_time_is_as_long_as_there_is() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    for timeout in [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(1 << 40)] {
        client.set_receive_timeout(Some(timeout)).unwrap();
        client.set_send_timeout(Some(timeout)).unwrap();
        std::thread::scope(|scope| {
            let receiving = scope.spawn(|| client.receive(&mut [0; 4]).unwrap());
            std::thread::sleep(Duration::from_millis(30));
            let _ = server.send(&[IoSlice::new(b"late")]).unwrap();
            assert_eq!(receiving.join().unwrap(), 4);
        });
        assert_eq!(client.send(&[IoSlice::new(b"x")]).unwrap(), 1);
    }
}

#[test]
fn a_vsock_acceptor_is_adopted() {
    let any = VsockAddress { context: VsockAddress::ANY, port: VsockAddress::ANY_PORT };
    let acceptor = match VsockAcceptor::bind(any, &AcceptorOptions::new()) {
        Ok(acceptor) => acceptor,
        Err(error) => return left_out("vsock", &error.to_string()),
    };
    let at = *acceptor.local();
    let refused = VsockStream::adopt(acceptor.into()).unwrap_err();
    assert!(refused.error().to_string().ends_with("found a vsock socket that listens"), "{refused}");
    let acceptor = VsockAcceptor::adopt(refused.into_handle()).unwrap();
    assert_eq!(acceptor.local(), &at);
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
}

/// A socket's mode belongs to all who have a duplicate of it.
#[test]
fn a_stream_waits_whatever_another_owner_sets() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    let shared = client.as_fd().try_clone_to_owned().unwrap();
    rustix::io::ioctl_fionbio(&shared, true).unwrap();
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| client.receive(&mut [0; 4]).unwrap());
        std::thread::sleep(Duration::from_millis(30));
        let _ = server.send(&[IoSlice::new(b"late")]).unwrap();
        assert_eq!(receiving.join().unwrap(), 4);
        let sending = scope.spawn(|| {
            let block = vec![1; 1 << 20];
            (0..64).map(|_| client.send(&[IoSlice::new(&block)]).unwrap().count()).sum::<usize>()
        });
        std::thread::sleep(Duration::from_millis(30));
        let mut into = vec![0; 1 << 20];
        let mut received = 0;
        while !sending.is_finished() {
            match server.receive_by(&mut into, Instant::now() + Duration::from_millis(10)) {
                Err(error) if error.is_timeout() => {}
                octets => received += octets.unwrap(),
            }
        }
        let sent = sending.join().unwrap();
        server.receive_exact(&mut vec![0; sent - received], soon()).unwrap();
    });
    let timeout = Duration::from_millis(50);
    client.set_receive_timeout(Some(timeout)).unwrap();
    let begun = Instant::now();
    assert!(client.receive(&mut [0; 4]).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= timeout);
}

#[test]
fn an_address_that_nobody_has_is_told_apart() {
    let error = TcpAcceptor::bind("192.0.2.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap_err();
    assert!(error.is_address_unavailable() && !error.is_address_in_use(), "{error}");
    assert!(error.to_string().starts_with("bind to tcp:192.0.2.1:0: "), "{error}");
    // As with a port where nobody listens.
    let error = UnixStream::connect(unused_path("nobody"), soon()).unwrap_err();
    assert!(error.is_connection_refused() && error.address().is_some(), "{error}");
}
