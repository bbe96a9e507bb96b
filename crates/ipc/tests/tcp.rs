//! TCP handles over real loopback sockets: the calls that wait by the stream's own timeout, and what is TCP's alone. The
//! rest is in the conformance suite.

mod left_out;

use std::io::IoSlice;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};
use zorb_ipc::{
    AcceptorOptions, Address, Error, Idle, QueueSizes, Step, TcpAcceptor, TcpConnector, TcpStream,
};

use left_out::left_out;

const SHORT: Duration = Duration::from_millis(30);
/// Far beyond what any of this takes; a test that waits for it has failed.
const LONG: Duration = Duration::from_secs(30);

fn within(time: Duration) -> Instant {
    Instant::now() + time
}

fn any_port(host: impl Into<IpAddr>) -> SocketAddr {
    SocketAddr::new(host.into(), 0)
}

fn acceptor() -> TcpAcceptor {
    TcpAcceptor::bind(any_port(Ipv4Addr::LOCALHOST), &AcceptorOptions::new()).unwrap()
}

fn pair() -> (TcpStream, TcpStream) {
    let acceptor = acceptor();
    let client = TcpStream::connect(acceptor.local_address(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    for stream in [&client, &server] {
        stream.set_receive_timeout(Some(LONG)).unwrap();
        stream.set_send_timeout(Some(LONG)).unwrap();
    }
    (client, server)
}

fn receive(stream: &TcpStream, octets: usize) -> Vec<u8> {
    let mut buffer = vec![0; octets];
    stream.receive_exact(&mut buffer, within(LONG)).unwrap();
    buffer
}

/// Waits for what the network does on its own time.
fn eventually(mut condition: impl FnMut() -> bool) {
    let until = within(LONG);
    while !condition() {
        assert!(Instant::now() < until, "it never came to pass");
        thread::sleep(Duration::from_millis(1));
    }
}

/// An address that refuses everybody: its port is bound, so that no other test gets it, and nobody listens.
fn refusing() -> (OwnedFd, SocketAddr) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&held, &any_port(Ipv4Addr::LOCALHOST)).unwrap();
    let address = getsockname(&held).unwrap().try_into().unwrap();
    (held, address)
}

/// An address that accepts nobody: its acceptor's queue is full, so the kernel drops further handshakes.
fn unresponsive() -> (TcpAcceptor, Vec<TcpStream>) {
    let acceptor =
        TcpAcceptor::bind(any_port(Ipv4Addr::LOCALHOST), &AcceptorOptions::new().backlog(0)).unwrap();
    let mut queued = Vec::new();
    loop {
        assert!(queued.len() < 100, "the queue has no end");
        match TcpStream::connect(acceptor.local_address(), within(Duration::from_millis(300))) {
            Ok(stream) => queued.push(stream),
            Err(error) if error.is_timeout() => return (acceptor, queued),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn both_ends_know_each_other() {
    let acceptor = acceptor();
    let client = TcpStream::connect(acceptor.local_address(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    assert_eq!(client.peer_address(), acceptor.local_address());
    assert_eq!(client.peer_address(), server.local_address().unwrap());
    assert_eq!(server.peer_address(), client.local_address().unwrap());
}

#[test]
fn slices_arrive_in_order_as_one() {
    let (client, server) = pair();
    assert_eq!(client.send(&[]).unwrap(), 0);
    assert_eq!(client.send(&[IoSlice::new(b"one")]).unwrap(), 3);
    assert_eq!(client.send(&[IoSlice::new(b"two"), IoSlice::new(b""), IoSlice::new(b"three")]).unwrap(), 8);
    assert_eq!(client.send_now(&[IoSlice::new(b"now"), IoSlice::new(b"!")]).unwrap(), 4);
    assert_eq!(receive(&server, 15), b"onetwothreenow!");
}

#[test]
fn more_slices_than_one_call_takes_are_sent_by_several() {
    let (client, server) = pair();
    let octets: Vec<u8> = (0..5000u32).map(|i| i as u8).collect();
    let mut slices: Vec<_> = octets.chunks(1).map(IoSlice::new).collect();
    assert_eq!(client.send(&slices).unwrap(), 1024);
    assert_eq!(receive(&server, 1024), octets[..1024]);
    client.send_all(&mut slices, within(LONG)).unwrap();
    assert_eq!(receive(&server, 5000), octets);
}

#[test]
fn receiving_ends_by_timeout_or_deadline_and_the_stream_lives_on() {
    let (client, server) = pair();
    let mut buffer = [0; 8];

    let begun = Instant::now();
    client.set_receive_timeout(Some(SHORT)).unwrap();
    let error = client.receive(&mut buffer).unwrap_err();
    assert!(error.is_timeout() && !error.is_would_block(), "{error}");
    assert!(begun.elapsed() >= SHORT);
    assert_eq!(error.address(), Some(&Address::Tcp(client.peer_address())));

    let begun = Instant::now();
    assert!(client.receive_by(&mut buffer, within(SHORT)).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= SHORT);
    assert!(!client.wait_readable(within(SHORT)).unwrap());
    assert!(client.receive_now(&mut buffer).unwrap_err().is_would_block());

    // Zero is the shortest timeout, not none.
    client.set_receive_timeout(Some(Duration::ZERO)).unwrap();
    assert!(client.receive(&mut buffer).unwrap_err().is_timeout());

    let _ = server.send(&[IoSlice::new(b"late")]).unwrap();
    assert!(client.wait_readable(within(LONG)).unwrap());
    assert_eq!(client.receive(&mut buffer).unwrap(), 4);
}

#[test]
fn sending_ends_by_timeout_or_deadline_and_says_how_far_it_came() {
    let (client, server) = pair();
    client.set_send_timeout(Some(SHORT)).unwrap();
    let block = vec![7; 1 << 20];
    let mut sent = 0;
    let error = loop {
        match client.send(&[IoSlice::new(&block)]) {
            Ok(octets) => sent += octets,
            Err(error) => break error,
        }
    };
    assert!(error.is_timeout() && error.step() == Step::Send, "{error}");
    // The kernel may still be moving octets to the other end, and so make room.
    eventually(|| match client.send_now(&[IoSlice::new(&block)]) {
        Ok(octets) => {
            sent += octets;
            false
        }
        Err(error) => error.is_would_block() && !error.is_timeout(),
    });

    // Room for a part only: the caller learns how much the peer will see.
    receive(&server, sent);
    // The queues may have grown meanwhile, up to what the system allows them: some tens of MiB.
    let whole = vec![8; sent + (128 << 20)];
    let error = client.send_all(&mut [IoSlice::new(&whole)], within(Duration::from_millis(200))).unwrap_err();
    assert!(error.is_timeout() && error.transferred() > 0 && error.transferred() < whole.len(), "{error}");
    assert!(receive(&server, error.transferred()).iter().all(|&octet| octet == 8));
    assert!(server.receive_by(&mut [0], within(SHORT)).unwrap_err().is_timeout(), "not one octet more");
}

#[test]
fn half_a_close_leaves_the_other_half() {
    let (client, server) = pair();
    let _ = client.send(&[IoSlice::new(b"question")]).unwrap();
    client.shutdown_send().unwrap();
    assert_eq!(receive(&server, 8), b"question");
    assert_eq!(server.receive(&mut [0; 8]).unwrap(), 0);
    let _ = server.send(&[IoSlice::new(b"answer")]).unwrap();
    assert_eq!(receive(&client, 6), b"answer");
    let error = client.send(&[IoSlice::new(b"more")]).unwrap_err();
    assert!(error.is_connection_reset(), "{error}");
}

#[test]
fn a_reset_is_told_from_an_end() {
    let (client, server) = pair();
    let _ = client.send(&[IoSlice::new(b"unread")]).unwrap();
    assert!(server.wait_readable(within(LONG)).unwrap());
    drop(server); // with unread input: TCP resets
    let mut buffer = [0; 8];
    let error = client.receive(&mut buffer).unwrap_err();
    assert!(error.is_connection_reset() && !error.is_timeout(), "{error}");
    eventually(|| client.send(&[IoSlice::new(b"x")]).is_err_and(|e| e.is_connection_reset()));
}

#[test]
fn an_idle_connection_is_judged_before_it_is_used_again() {
    let (client, server) = pair();
    assert_eq!(client.idle(), Idle::Quiet);
    assert!(!client.is_closed_by_peer());

    let _ = server.send(&[IoSlice::new(b"x")]).unwrap();
    eventually(|| client.idle() == Idle::Readable);
    let mut peeked = [0; 4];
    assert_eq!((client.peek_now(&mut peeked).unwrap(), peeked[0]), (1, b'x'));
    drop(server);
    assert_eq!(client.idle(), Idle::Readable, "what was sent before the close is still to be had");
    assert_eq!(receive(&client, 1), b"x");
    eventually(|| client.is_closed_by_peer());
    assert_eq!(client.idle(), Idle::Closed);
}

#[test]
fn shutting_down_wakes_whoever_receives() {
    let (client, _server) = pair();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| client.receive(&mut [0; 8]));
        thread::sleep(SHORT); // either order is right; this one is the interesting one
        client.shutdown_both().unwrap();
        assert_eq!(receiver.join().unwrap().unwrap(), 0);
    });
}

#[test]
fn connecting_is_refused_at_once_where_nobody_listens() {
    let (_held, gone) = refusing();
    let error = TcpStream::connect(gone, within(LONG)).unwrap_err();
    assert!(error.is_connection_refused() && !error.is_timeout(), "{error}");
    assert_eq!((error.step(), error.address()), (Step::Connect, Some(&Address::Tcp(gone))));
}

#[test]
fn the_first_address_that_answers_is_taken() {
    let (silent, _queued) = unresponsive();
    let (_held, refusing) = refusing();
    let serving = acceptor();
    let addresses = [silent.local_address(), refusing, serving.local_address()];
    let stream = TcpConnector::new().connect_any(&addresses, within(Duration::from_secs(3))).unwrap();
    assert_eq!(stream.peer_address(), serving.local_address());

    let error = TcpConnector::new().connect_any(&[refusing], within(LONG)).unwrap_err();
    assert!(error.is_connection_refused());
    assert_eq!(TcpConnector::new().connect_any(&[], within(LONG)).unwrap_err().step(), Step::Connect);
}

#[test]
fn a_connected_stream_blocks() {
    let (client, server) = pair();
    for stream in [&client, &server] {
        let flags = rustix::fs::fcntl_getfl(stream).unwrap();
        assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
    }
}

#[test]
fn streams_are_born_without_delay_unless_told_otherwise() {
    let (client, server) = pair();
    assert!(client.no_delay().unwrap() && server.no_delay().unwrap());
    client.set_no_delay(false).unwrap();
    assert!(!client.no_delay().unwrap());

    let sizes = QueueSizes { send: Some(64 << 10), receive: Some(32 << 10) };
    let options = AcceptorOptions::new().no_delay(false).queue_sizes(sizes);
    let acceptor = TcpAcceptor::bind(any_port(Ipv4Addr::LOCALHOST), &options).unwrap();
    let connector = TcpConnector::new().no_delay(false).queue_sizes(sizes);
    let client = connector.connect(acceptor.local_address(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    for stream in [&client, &server] {
        assert!(!stream.no_delay().unwrap());
        // The kernel doubles what it is asked for.
        assert_eq!(
            stream.queue_sizes().unwrap(),
            QueueSizes { send: Some(128 << 10), receive: Some(64 << 10) }
        );
    }
}

#[test]
fn a_connector_may_choose_its_own_end() {
    let acceptor = acceptor();
    let local = any_port(Ipv4Addr::new(127, 0, 0, 2));
    let client = TcpConnector::new().from(local).connect(acceptor.local_address(), within(LONG)).unwrap();
    assert_eq!(client.local_address().unwrap().ip(), local.ip());
    let foreign = any_port(Ipv4Addr::new(192, 0, 2, 1));
    let error =
        TcpConnector::new().from(foreign).connect(acceptor.local_address(), within(LONG)).unwrap_err();
    assert_eq!((error.step(), error.address()), (Step::Bind, Some(&Address::Tcp(foreign))));
}

#[test]
fn an_acceptor_waits_for_nobody_longer_than_asked() {
    let acceptor = acceptor();
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    let error = acceptor.accept_by(within(SHORT)).unwrap_err();
    assert!(error.is_timeout());
    assert_eq!((error.step(), error.address()), (Step::Accept, Some(&acceptor.local_address().into())));
}

#[test]
fn waiting_for_a_peer_ends_when_one_comes() {
    let acceptor = acceptor();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| acceptor.accept().unwrap());
        thread::sleep(SHORT);
        let client = TcpStream::connect(acceptor.local_address(), within(LONG)).unwrap();
        assert_eq!(accepted.join().unwrap().peer_address(), client.local_address().unwrap());
    });
}

#[test]
fn a_taken_port_is_said_to_be_taken_and_a_range_passes_it_over() {
    let first = acceptor();
    let taken = first.local_address();
    let error = TcpAcceptor::bind(taken, &AcceptorOptions::new()).unwrap_err();
    assert!(error.is_address_in_use(), "{error}");
    assert_eq!(error.address(), Some(&Address::Tcp(taken)));

    let port = taken.port();
    let only = TcpAcceptor::bind_in(taken.ip(), port..=port, &AcceptorOptions::new()).unwrap_err();
    assert!(only.is_address_in_use());
    let end = port.saturating_add(50);
    let next = TcpAcceptor::bind_in(taken.ip(), port..=end, &AcceptorOptions::new()).unwrap();
    assert!(next.local_address().port() > port);

    #[allow(clippy::reversed_empty_ranges)]
    let empty = TcpAcceptor::bind_in(taken.ip(), 2..=1, &AcceptorOptions::new()).unwrap_err();
    assert_eq!(empty.step(), Step::Bind);
}

#[test]
fn a_server_may_restart_on_its_port_while_old_connections_linger() {
    let acceptor = acceptor();
    let address = acceptor.local_address();
    let client = TcpStream::connect(address, within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    // Whoever closes first is left with the lingering end.
    drop((server, acceptor));
    eventually(|| client.is_closed_by_peer());
    drop(client);
    let again = TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap();
    assert_eq!(again.local_address(), address);
}

fn has_ipv6() -> bool {
    let there = TcpAcceptor::bind(any_port(Ipv6Addr::LOCALHOST), &AcceptorOptions::new()).is_ok();
    if !there {
        left_out("IPv6 on this machine", "it has no loopback address");
    }
    there
}

#[test]
fn an_ipv6_wildcard_serves_both_families_unless_told_otherwise() {
    if !has_ipv6() {
        return;
    }
    let connect = |acceptor: &TcpAcceptor, host: IpAddr| -> Result<(), Error> {
        let to = SocketAddr::new(host, acceptor.local_address().port());
        let client = TcpStream::connect(to, within(LONG))?;
        let server = acceptor.accept_by(within(LONG))?;
        // Also an IPv4 peer is met under its own address.
        assert_eq!(server.peer_address(), client.local_address()?);
        assert_eq!(server.local_address()?, client.peer_address());
        Ok(())
    };
    let wildcard = any_port(Ipv6Addr::UNSPECIFIED);
    let both = TcpAcceptor::bind(wildcard, &AcceptorOptions::new()).unwrap();
    connect(&both, Ipv6Addr::LOCALHOST.into()).unwrap();
    connect(&both, Ipv4Addr::LOCALHOST.into()).unwrap();
    let only = TcpAcceptor::bind(wildcard, &AcceptorOptions::new().v6_only(true)).unwrap();
    connect(&only, Ipv6Addr::LOCALHOST.into()).unwrap();
    assert!(connect(&only, Ipv4Addr::LOCALHOST.into()).unwrap_err().is_connection_refused());
    assert!(only.reachable_address().unwrap().is_ipv6());
}

#[test]
fn a_wildcard_acceptor_is_reached_where_it_says() {
    let acceptor = TcpAcceptor::bind(any_port(Ipv4Addr::UNSPECIFIED), &AcceptorOptions::new()).unwrap();
    let published = acceptor.reachable_address().unwrap();
    assert!(!published.ip().is_unspecified());
    TcpStream::connect(published, within(LONG)).unwrap();
    acceptor.accept_by(within(LONG)).unwrap();
}

#[test]
fn descriptors_are_not_inherited_by_other_programs() {
    let (client, server) = pair();
    let (acceptor, epoll, wake) =
        (acceptor(), zorb_ipc::Epoll::new().unwrap(), zorb_ipc::Wake::new().unwrap());
    for fd in [client.as_fd(), server.as_fd(), acceptor.as_fd(), epoll.as_fd(), wake.as_fd()] {
        assert!(rustix::io::fcntl_getfd(fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    }
}
