//! Options of sockets: what is set is what is in force, what the kernel clips is told, and what cannot be is
//! refused.

mod left_out;

use std::fmt::Debug;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use zorb_ipc::{
    AcceptorOptions, BusyPoll, CongestionControl, ConnectedUdpSocket, Cork, IncomingCore, KeepAlive,
    LargestWindow, Linger, MaximumSegment, NoDelay, PeakRate, Priority, Probes, QueueSizes, QuickAck,
    ReceiveQueue, ReceiveTimestamps, ReceiveWindow, SendQueue, SocketOption, Step, TcpAcceptor, TcpConnector,
    TcpStream, TypeOfService, UdpSocket, UnixAcceptor, UnixAddress, UnixDatagramSocket, UnixStream,
    UserTimeout,
};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn pair_at(host: &str) -> (TcpStream, TcpStream, TcpAcceptor) {
    let acceptor = TcpAcceptor::bind(host.parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    (client, server, acceptor)
}

fn pair() -> (TcpStream, TcpStream, TcpAcceptor) {
    pair_at("127.0.0.1:0")
}

fn unix_name(of: &str) -> UnixAddress {
    UnixAddress::abstract_name(format!("zorb-ipc-options-{}-{of}", std::process::id()).as_bytes()).unwrap()
}

/// Sets each value and reads it back.
fn keeps<O: SocketOption<TcpStream> + Clone + PartialEq + Debug>(stream: &TcpStream, values: &[O]) {
    for value in values {
        stream.set(value.clone()).unwrap();
        assert_eq!(&stream.option::<O>().unwrap(), value);
    }
}

#[test]
fn what_is_set_is_what_is_in_force() {
    let (stream, _server, _acceptor) = pair();
    let seconds = Duration::from_secs;
    keeps(&stream, &[NoDelay(false), NoDelay(true)]);
    keeps(&stream, &[Cork(true), Cork(false)]);
    let slow = Probes { idle: seconds(32_767), interval: seconds(32_767), count: 127 };
    let fast = Probes { idle: seconds(1), interval: seconds(1), count: 1 };
    keeps(&stream, &[KeepAlive(None), KeepAlive(Some(slow)), KeepAlive(Some(fast)), KeepAlive(None)]);
    let longest = Duration::from_millis(2_147_483_647);
    keeps(
        &stream,
        &[UserTimeout(Some(Duration::from_millis(1))), UserTimeout(Some(longest)), UserTimeout(None)],
    );
    keeps(&stream, &[CongestionControl("reno".into())]);
    for octets in [70_000, 30_000] {
        assert_eq!(stream.set(ReceiveWindow(octets)).unwrap(), ReceiveWindow(octets));
        assert_eq!(stream.option::<ReceiveWindow>().unwrap(), ReceiveWindow(octets));
    }
    assert!(stream.set(ReceiveWindow(1)).unwrap() > ReceiveWindow(1));
    keeps(&stream, &[Linger(Some(seconds(7))), Linger(Some(Duration::ZERO)), Linger(None)]);
    keeps(&stream, &[Priority(6), Priority(0)]);
    keeps(&stream, &[TypeOfService(0xb8), TypeOfService(0)]);
    keeps(&stream, &[ReceiveTimestamps(true), ReceiveTimestamps(false)]);
    keeps(&stream, &[BusyPoll(Duration::ZERO)]);
    keeps(&stream, &[PeakRate(Some(1)), PeakRate(Some(u64::from(u32::MAX) - 1)), PeakRate(None)]);
    stream.set(QuickAck(true)).unwrap();
    assert_eq!(stream.option::<QuickAck>().unwrap(), QuickAck(true));
    let udp = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    udp.set(PeakRate(Some(1000))).unwrap();
    assert_eq!(udp.option::<PeakRate>().unwrap(), PeakRate(Some(1000)));
}

#[test]
fn parts_of_the_kernels_unit_are_rounded_up() {
    let (stream, _server, _acceptor) = pair();
    let brief = Duration::from_nanos(1);
    stream.set(KeepAlive(Some(Probes { idle: brief, interval: brief, count: 3 }))).unwrap();
    let second = Duration::from_secs(1);
    let rounded = Probes { idle: second, interval: second, count: 3 };
    assert_eq!(stream.option::<KeepAlive>().unwrap(), KeepAlive(Some(rounded)));
    stream.set(UserTimeout(Some(brief))).unwrap();
    assert_eq!(stream.option::<UserTimeout>().unwrap(), UserTimeout(Some(Duration::from_millis(1))));
    stream.set(Linger(Some(brief))).unwrap();
    assert_eq!(stream.option::<Linger>().unwrap(), Linger(Some(second)));
}

#[test]
fn what_is_out_of_range_is_refused_and_changes_nothing() {
    let (stream, _server, _acceptor) = pair();
    let refused = |set: Result<(), zorb_ipc::Error>, name: &str| {
        let error = set.unwrap_err();
        assert!(error.is_out_of_range() && error.step() == Step::Configure, "{error}");
        assert!(error.address().is_some() && error.to_string().contains(name), "{error}");
        assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
    };
    let second = Duration::from_secs(1);
    let good = Probes { idle: second, interval: second, count: 1 };
    for bad in [
        Probes { idle: Duration::ZERO, ..good },
        Probes { idle: Duration::from_secs(32_768), ..good },
        Probes { interval: Duration::ZERO, ..good },
        Probes { interval: Duration::MAX, ..good },
        Probes { count: 0, ..good },
        Probes { count: 128, ..good },
    ] {
        refused(stream.set(KeepAlive(Some(bad))), "KeepAlive");
    }
    assert_eq!(stream.option::<KeepAlive>().unwrap(), KeepAlive(None));
    for bad in [Duration::ZERO, Duration::from_millis(2_147_483_648), Duration::MAX] {
        refused(stream.set(UserTimeout(Some(bad))), "UserTimeout");
    }
    refused(stream.set(Linger(Some(Duration::MAX))), "Linger");
    refused(stream.set(BusyPoll(Duration::MAX)), "BusyPoll");
    refused(stream.set(Priority(u32::MAX)), "Priority");
    for bad in [0, u64::MAX] {
        refused(stream.set(PeakRate(Some(bad))), "PeakRate");
    }
    assert_eq!(stream.option::<PeakRate>().unwrap(), PeakRate(None));
    for bad in ["", "a name of 16 oct", "re\0no"] {
        refused(stream.set(CongestionControl(bad.into())), "CongestionControl");
    }
    for bad in [0, 1 << 31, usize::MAX] {
        refused(stream.set(ReceiveWindow(bad)).map(drop), "ReceiveWindow");
    }
    refused(stream.set(SendQueue(1 << 31)).map(drop), "queue");
    refused(stream.set(ReceiveQueue(usize::MAX)).map(drop), "queue");
}

#[test]
fn an_algorithm_that_the_kernel_has_not_is_an_error_of_the_system() {
    let (stream, _server, _acceptor) = pair();
    let error = stream.set(CongestionControl("nonesuch".into())).unwrap_err();
    assert!(!error.is_out_of_range() && error.raw_os_error().is_some(), "{error}");
    assert_eq!((error.step(), error.address()), (Step::Configure, Some(&stream.peer_address().into())));
}

#[test]
fn a_stream_may_have_another_algorithm_and_window_than_the_systems_before_it_is_connected() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let to = acceptor.local_address();
    let by =
        |algorithm: &'static str| TcpConnector::new().congestion_control(CongestionControl(algorithm.into()));
    let plain = TcpConnector::new().connect(to, soon()).unwrap();
    assert_eq!(plain.option(), CongestionControl::of_new_sockets());
    assert_eq!(by("reno").connect(to, soon()).unwrap().option(), Ok(CongestionControl("reno".into())));
    for (told, scale) in [(60_000, 0), (70_000, 1), (65_535 << 3, 3), (1 << 19, 4)] {
        let narrow = TcpConnector::new().receive_window(ReceiveWindow(told)).connect(to, soon()).unwrap();
        assert_eq!(narrow.option(), Ok(LargestWindow(65_535 << scale)), "{told}");
    }
    assert!(plain.option::<LargestWindow>().unwrap() > LargestWindow(65_535 << 4));
    for (bad, is_of_system) in [("nonesuch", true), ("", false)] {
        let error = by(bad).connect(to, soon()).unwrap_err();
        assert_eq!((error.raw_os_error().is_some(), error.is_out_of_range()), (is_of_system, !is_of_system));
        assert_eq!((error.step(), error.address()), (Step::Configure, Some(&to.into())), "{error}");
    }
}

fn queues(
    set_send: impl Fn(SendQueue) -> SendQueue,
    send: impl Fn() -> SendQueue,
    set_receive: impl Fn(ReceiveQueue) -> ReceiveQueue,
    receive: impl Fn() -> ReceiveQueue,
) {
    assert_eq!((set_send(SendQueue(64 << 10)), send()), (SendQueue(64 << 10), SendQueue(64 << 10)));
    assert_eq!(
        (set_receive(ReceiveQueue(32 << 10)), receive()),
        (ReceiveQueue(32 << 10), ReceiveQueue(32 << 10))
    );
    // Clipped from below and from above.
    let (least, most) = (set_send(SendQueue(1)), set_send(SendQueue(1 << 30)));
    assert!(SendQueue(1) < least && least < SendQueue(64 << 10), "{least:?}");
    assert!(SendQueue(64 << 10) < most && most < SendQueue(1 << 30), "{most:?}");
    assert_eq!(send(), most);
    let (least, most) = (set_receive(ReceiveQueue(1)), set_receive(ReceiveQueue(1 << 30)));
    assert!(ReceiveQueue(1) < least && least < ReceiveQueue(32 << 10), "{least:?}");
    assert!(ReceiveQueue(32 << 10) < most && most < ReceiveQueue(1 << 30), "{most:?}");
    assert_eq!(receive(), most);
}

macro_rules! queues_of {
    ($($socket:expr),+) => {$({
        let socket = &$socket;
        queues(
            |size| socket.set(size).unwrap(),
            || socket.option().unwrap(),
            |size| socket.set(size).unwrap(),
            || socket.option().unwrap(),
        );
    })+};
}

#[test]
fn what_is_granted_of_a_queue_is_told_whichever_socket_it_is_of() {
    let (stream, _server, acceptor) = pair();
    let listening = UnixAcceptor::bind(unix_name("queues"), &AcceptorOptions::new()).unwrap();
    let unix = UnixStream::connect(unix_name("queues"), soon()).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let datagrams = UnixDatagramSocket::bind(unix_name("datagrams")).unwrap();
    queues_of!(stream, acceptor, listening, unix, udp, datagrams);
    queues_of!(udp.connect("127.0.0.1:9".parse().unwrap()).unwrap());
}

#[test]
fn unix_streams_have_the_queues_that_their_acceptor_was_to_give_them() {
    let (name, sizes) = (unix_name("given"), QueueSizes { send: Some(100_000), receive: Some(50_000) });
    let acceptor = UnixAcceptor::bind(name.clone(), &AcceptorOptions::new().queue_sizes(sizes)).unwrap();
    let has = |server: UnixStream| {
        assert_eq!(server.option::<SendQueue>().unwrap(), SendQueue(100_000));
        assert_eq!(server.option::<ReceiveQueue>().unwrap(), ReceiveQueue(50_000));
    };
    let _clients = [(); 2].map(|()| UnixStream::connect(name.clone(), soon()).unwrap());
    has(acceptor.accept_by(soon()).unwrap());
    has(acceptor.accept_now().unwrap());
}

#[test]
fn streams_are_born_with_what_their_acceptor_has() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let second = Duration::from_secs(1);
    let probes = Probes { idle: 9 * second, interval: 8 * second, count: 7 };
    acceptor.set(NoDelay(false)).unwrap();
    acceptor.set(KeepAlive(Some(probes))).unwrap();
    acceptor.set(UserTimeout(Some(6 * second))).unwrap();
    acceptor.set(CongestionControl("reno".into())).unwrap();
    acceptor.set(Linger(Some(5 * second))).unwrap();
    acceptor.set(ReceiveWindow(20_000)).unwrap();
    acceptor.set(TypeOfService(0xb8)).unwrap();
    let queues = (acceptor.set(SendQueue(50_000)).unwrap(), acceptor.set(ReceiveQueue(60_000)).unwrap());
    acceptor.set(PeakRate(Some(5_000_000))).unwrap();
    let polls = acceptor.set(BusyPoll(Duration::from_micros(50)));
    let _client = TcpStream::connect(acceptor.local_address(), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    assert_eq!(server.option::<NoDelay>().unwrap(), NoDelay(false));
    assert_eq!(server.option::<KeepAlive>().unwrap(), KeepAlive(Some(probes)));
    assert_eq!(server.option::<UserTimeout>().unwrap(), UserTimeout(Some(6 * second)));
    assert_eq!(server.option::<CongestionControl>().unwrap(), CongestionControl("reno".into()));
    assert_eq!(server.option::<Linger>().unwrap(), Linger(Some(5 * second)));
    assert_eq!(server.option::<ReceiveWindow>().unwrap(), ReceiveWindow(20_000));
    assert_eq!(server.option::<LargestWindow>().unwrap(), LargestWindow(65_535));
    assert_eq!(server.option::<TypeOfService>().unwrap(), TypeOfService(0xb8));
    assert_eq!((server.option().unwrap(), server.option().unwrap()), queues);
    assert_eq!(server.option::<PeakRate>().unwrap(), PeakRate(Some(5_000_000)));
    match polls {
        Ok(()) => {
            assert_eq!(server.option::<BusyPoll>().unwrap(), BusyPoll(Duration::from_micros(50)));
        }
        Err(error) => assert!(error.is_permission_denied(), "{error}"),
    }
    // Dropping the server must not wait for anything.
    server.set(Linger(None)).unwrap();
}

#[test]
fn a_cork_holds_back_what_is_less_than_a_segment() {
    let mut buffer = [0; 8];
    loop {
        let (client, server, _acceptor) = pair();
        let begun = Instant::now();
        client.set(Cork(true)).unwrap();
        for part in [b"one", b"two"] {
            let _ = client.send(&[IoSlice::new(part)]).unwrap();
        }
        let early = server.receive_now(&mut buffer);
        // The kernel holds it back no longer than 200 ms, in which a busy machine may not come to ask.
        let in_time = begun.elapsed() < Duration::from_millis(150);
        client.set(Cork(false)).unwrap();
        if in_time {
            assert!(early.unwrap_err().is_would_block());
            server.receive_exact(&mut buffer[..6], soon()).unwrap();
            assert_eq!(&buffer[..6], b"onetwo");
            return;
        }
    }
}

/// What has arrived, held against the time that it took: a machine that is busy makes that longer, and the bound wider.
#[test]
fn a_peak_rate_holds_back_what_exceeds_it() {
    const RATE: u64 = 8 << 20;
    const WHOLE: usize = 6 << 20;
    let (client, server, _acceptor) = pair();
    client.set(PeakRate(Some(RATE))).unwrap();
    let octets: Vec<u8> = (0..=250).cycle().take(WHOLE).collect();
    let mut arrived = vec![0; WHOLE];
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| client.send_all(&mut [IoSlice::new(&octets)], soon()).unwrap());
        server.receive_exact(&mut arrived, soon()).unwrap();
    });
    let took = begun.elapsed();
    assert!(arrived == octets, "other octets than were sent");
    // Ten segments leave at once, of 64 KiB each here, and some more before the kernel has its measure.
    let allowed = 2.0 * RATE as f64 * took.as_secs_f64() + f64::from(2 << 20);
    assert!(WHOLE as f64 <= allowed, "{WHOLE} octets in {took:?}");
}

#[test]
fn a_stream_that_lingers_for_no_time_resets() {
    let (client, server, _acceptor) = pair();
    client.set(Linger(Some(Duration::ZERO))).unwrap();
    drop(client);
    let error = server.receive_by(&mut [0; 8], soon()).unwrap_err();
    assert!(error.is_connection_reset(), "an orderly end would be 0 octets: {error}");
}

#[test]
fn the_type_of_service_of_a_stream_leaves_two_bits_to_tcp() {
    let hosts = ["127.0.0.1:0", "[::1]:0"];
    for host in hosts {
        if TcpAcceptor::bind(host.parse().unwrap(), &AcceptorOptions::new()).is_err() {
            left_out("IPv6 on this machine", &format!("it has no {host}"));
            continue;
        }
        let (stream, _server, _acceptor) = pair_at(host);
        assert_eq!(stream.set(TypeOfService(0xbb)).unwrap(), TypeOfService(0xb8));
        assert_eq!(stream.option::<TypeOfService>().unwrap(), TypeOfService(0xb8));
    }
    let udp = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    assert_eq!(udp.set(TypeOfService(0xbb)).unwrap(), TypeOfService(0xbb));
}

#[test]
fn what_the_kernel_found_out_can_be_asked_for() {
    let (client, server, _acceptor) = pair();
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    server.receive_exact(&mut [0], soon()).unwrap();
    let IncomingCore(core) = server.option().unwrap();
    assert!(core.is_some_and(|core| core < 4096), "{core:?}");
    let MaximumSegment(octets) = server.option().unwrap();
    assert!((500..=65_535).contains(&octets), "{octets}");
}

#[test]
fn what_is_received_is_stamped_by_the_kernel() {
    let (client, server, _acceptor) = pair();
    let mut buffer = [0; 8];
    let _ = client.send(&[IoSlice::new(b"before")]).unwrap();
    let unstamped = server.receive_stamped_by(&mut buffer, soon()).unwrap();
    assert_eq!((unstamped.received, unstamped.at), (6, None));

    server.set(ReceiveTimestamps(true)).unwrap();
    // The kernel switches its clock on a little later.
    let stamped = loop {
        let _ = client.send(&[IoSlice::new(b"after")]).unwrap();
        let stamped = server.receive_stamped_by(&mut buffer, soon()).unwrap();
        assert_eq!((stamped.received, &buffer[..5]), (5, &b"after"[..]));
        if stamped.at.is_some() {
            break stamped;
        }
    };
    is_between(stamped.at.unwrap(), SystemTime::now());
    let begun = SystemTime::now();
    let _ = client.send(&[IoSlice::new(b"early")]).unwrap();
    assert!(server.wait_readable(soon()).unwrap());
    let arrived = SystemTime::now();
    thread::sleep(Duration::from_millis(20));
    let at = server.receive_stamped_by(&mut buffer, soon()).unwrap().at.unwrap();
    assert!(begun <= at && at <= arrived, "{begun:?} {at:?} {arrived:?}: not when somebody came for it");

    drop(client);
    assert_eq!(server.receive_stamped_by(&mut buffer, soon()).unwrap().received, 0);
}

fn is_between(at: SystemTime, now: SystemTime) {
    let age = now.duration_since(at).unwrap();
    assert!(age < 10 * LONG, "{age:?}");
}

#[test]
fn datagrams_are_stamped_too() {
    let mut buffer = [0; 8];
    let one = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let other = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    one.set(ReceiveTimestamps(true)).unwrap();
    let at_one = *one.local().unwrap();
    let stamped = loop {
        other.send_to(&[IoSlice::new(b"hello")], &at_one).unwrap();
        let stamped = one.receive_from_stamped_by(&mut buffer, soon()).unwrap();
        assert_eq!(stamped.received.octets, 5);
        assert_eq!(stamped.received.from().unwrap(), *other.local().unwrap());
        if stamped.at.is_some() {
            break stamped;
        }
    };
    is_between(stamped.at.unwrap(), SystemTime::now());
    other.send_to(&[IoSlice::new(b"longer than its memory")], &at_one).unwrap();
    let error = one.receive_from_stamped_by(&mut buffer, soon()).unwrap_err();
    assert!(error.is_truncated() && error.whole_length() == Some(22), "{error}");

    let one = one.connect(*other.local().unwrap()).unwrap();
    other.send_to(&[IoSlice::new(b"hello")], &at_one).unwrap();
    let stamped = one.receive_stamped_by(&mut buffer, soon()).unwrap();
    assert!(stamped.received == 5 && stamped.at.is_some(), "{stamped:?}");
    let brief = Instant::now() + Duration::from_millis(20);
    assert!(one.receive_stamped_by(&mut buffer, brief).unwrap_err().is_timeout());

    let unix = UnixDatagramSocket::bind(unix_name("stamped")).unwrap();
    unix.set(ReceiveTimestamps(true)).unwrap();
    let stamped = loop {
        unix.send_to(&[IoSlice::new(b"self")], unix.local().unwrap()).unwrap();
        let stamped = unix.receive_from_stamped_by(&mut buffer, soon()).unwrap();
        assert_eq!(stamped.received.octets, 4);
        assert_eq!(stamped.received.from().unwrap(), *unix.local().unwrap());
        if stamped.at.is_some() {
            break stamped;
        }
    };
    is_between(stamped.at.unwrap(), SystemTime::now());
}

#[test]
fn what_takes_privileges_says_so() {
    let (stream, _server, _acceptor) = pair();
    let privileged = rustix::process::geteuid().is_root();
    match stream.set(Priority(7)) {
        Ok(()) => assert!(privileged),
        Err(error) => assert!(error.is_permission_denied() && !error.is_out_of_range(), "{error}"),
    }
    match stream.set(BusyPoll(Duration::from_nanos(49_001))) {
        Ok(()) => assert_eq!(stream.option::<BusyPoll>().unwrap(), BusyPoll(Duration::from_micros(50))),
        Err(error) => assert!(error.is_permission_denied(), "{error}"),
    }
    // Whatever came of it, the descriptor is the stream's own still.
    assert!(rustix::net::sockopt::socket_error(stream.as_fd()).unwrap().is_ok());
}

/// Of sockets for datagrams, connected and not, what concerns their packets.
#[test]
fn datagrams_have_their_priority_class_and_polling_too() {
    let plain = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let connected = ConnectedUdpSocket::connect(*plain.local().unwrap()).unwrap();
    for priority in [Priority(6), Priority(0)] {
        plain.set(priority).unwrap();
        connected.set(priority).unwrap();
        assert_eq!((plain.option(), connected.option()), (Ok(priority), Ok(priority)));
    }
    assert_eq!(plain.set(TypeOfService(0xb8)).unwrap(), TypeOfService(0xb8));
    assert_eq!(connected.set(TypeOfService(0x20)).unwrap(), TypeOfService(0x20));
    assert_eq!(plain.option::<TypeOfService>(), Ok(TypeOfService(0xb8)), "each has its own");
    let polls = BusyPoll(Duration::from_micros(50));
    for (set, option) in [(plain.set(polls), plain.option()), (connected.set(polls), connected.option())] {
        match set {
            Ok(()) => assert_eq!(option, Ok(polls)),
            Err(error) => assert!(error.is_permission_denied(), "{error}"),
        }
    }
    // They work as before.
    connected.send(&[IoSlice::new(b"still")]).unwrap();
    assert_eq!(plain.receive_from_by(&mut [0; 8], soon()).unwrap().octets, 5);
}
