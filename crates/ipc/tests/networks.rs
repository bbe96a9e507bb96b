//! Multicast, broadcast, hosts that cannot be reached and links that die, across two networks.

mod two_networks;

use std::io::IoSlice;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{
    AcceptorOptions, BroadcastSocket, ConnectedUdpSocket, Error, Interface, KeepAlive, MulticastGroup,
    MulticastReceiver, MulticastSender, Probes, Received, SendBatch, Step, TcpAcceptor, TcpStream, Udp,
    UdpSocket, UserTimeout, ZeroCopyStream, interfaces,
};

use two_networks::{LONG, Meeting, has_ipv6, left_out, run};

const PORT: u16 = 5007;
const ROUTER: &str = "192.0.2.2";

fn soon() -> Instant {
    Instant::now() + LONG
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn at(host: &str, port: u16) -> SocketAddr {
    (ip(host), port).into()
}

fn of(text: &'static str) -> [IoSlice<'static>; 1] {
    [IoSlice::new(text.as_bytes())]
}

fn interface(name: &str) -> Interface {
    interfaces().unwrap().into_iter().find(|one| one.name == name && one.address.is_ipv4()).unwrap()
}

/// A group by the only interface of a side that leads to the other.
fn group(address: &str, interface_name: &str) -> MulticastGroup {
    MulticastGroup::new(at(address, PORT), NonZeroU32::new(interface(interface_name).index)).unwrap()
}

/// What comes next, and who sent it.
fn hear(receive: impl Fn(&mut [u8], Instant) -> Result<Received<Udp>, Error>) -> (String, SocketAddr) {
    let mut into = [0; 2000];
    let received = receive(&mut into, soon()).unwrap();
    (String::from_utf8_lossy(&into[..received.octets]).into_owned(), received.from().unwrap().address())
}

fn multicast_near(meeting: &mut Meeting, groups: [&str; 3], own: &str) {
    let [first, second, other] = groups.map(|address| group(address, "near0"));
    let here = MulticastReceiver::new(first).unwrap();
    let hear_here = || hear(|into, by| here.receive_from_by(into, by)).0;
    let sender = MulticastSender::from(at(own, 0), first).unwrap();
    assert_eq!((sender.group(), sender.local().ip()), (first, ip(own)));
    meeting.at("joined");
    MulticastSender::new(other).unwrap().send(&of("for another group")).unwrap();
    sender.set_hops(0).unwrap();
    sender.send(&of("stays on its host")).unwrap();
    sender.set_hops(1).unwrap();
    sender.send_now(&of("hello")).unwrap();
    assert_eq!((hear_here(), hear_here()), ("stays on its host".into(), "hello".into()));
    let (answer, from) = hear(|into, by| sender.receive_from_by(into, by));
    assert_eq!((answer.as_str(), from.ip() == ip(own)), ("answer", false));

    sender.set_loopback(false).unwrap();
    sender.send_by(&of("for others"), soon()).unwrap();
    sender.set_loopback(true).unwrap();
    sender.send(&of("for all")).unwrap();
    assert_eq!(hear_here(), "for all", "what was for others did not come here");

    meeting.at("left");
    sender.send(&of("nobody hears")).unwrap();
    MulticastSender::new(second).unwrap().send(&of("second")).unwrap();
    meeting.at("end");
}

fn multicast_far(meeting: &mut Meeting, groups: [&str; 3], sender: &str) {
    let [first, second, other] = groups.map(|address| group(address, "far0"));
    let receiver = MulticastReceiver::new(first).unwrap();
    let neighbour = MulticastReceiver::new(other).unwrap();
    let next = || hear(|into, by| receiver.receive_from_by(into, by));
    let again = receiver.join(first).unwrap_err();
    assert!(again.is_address_in_use() && again.step() == Step::Join && again.address().is_some(), "{again}");
    let elsewhere = MulticastGroup::new((first.address().ip(), PORT + 1).into(), first.interface()).unwrap();
    assert_eq!(receiver.join(elsewhere).unwrap_err().step(), Step::Join, "of another port");
    meeting.at("joined");
    let (text, from) = next();
    assert_eq!((text.as_str(), from.ip()), ("hello", ip(sender)), "the first that is for it");
    assert_eq!(hear(|into, by| neighbour.receive_from_by(into, by)).0, "for another group");
    let anywhere = if first.is_ipv4() { at("0.0.0.0", 0) } else { at("::", 0) };
    UdpSocket::bind(anywhere).unwrap().send_to(&of("answer"), &from).unwrap();
    assert_eq!((next().0, next().0), ("for others".into(), "for all".into()));

    receiver.join(second).unwrap();
    receiver.leave(first).unwrap();
    let error = receiver.leave(first).unwrap_err();
    assert!(error.step() == Step::Leave && error.address().is_some(), "{error}");
    meeting.at("left");
    assert_eq!(next().0, "second", "no longer what is for the first");
    meeting.at("end");
}

#[test]
fn multicast_reaches_who_has_joined() {
    const GROUPS: [&str; 3] = ["239.255.7.1", "239.255.7.2", "239.255.7.3"];
    run(
        "multicast_reaches_who_has_joined",
        |meeting| multicast_near(meeting, GROUPS, "192.0.2.1"),
        |meeting| multicast_far(meeting, GROUPS, "192.0.2.1"),
    );
}

#[test]
fn multicast_reaches_who_has_joined_by_ipv6() {
    const GROUPS: [&str; 3] = ["ff15::7:1", "ff15::7:2", "ff15::7:3"];
    if !has_ipv6() {
        return left_out("multicast by IPv6", "this host has none");
    }
    run(
        "multicast_reaches_who_has_joined_by_ipv6",
        |meeting| multicast_near(meeting, GROUPS, "2001:db8::1"),
        |meeting| multicast_far(meeting, GROUPS, "2001:db8::1"),
    );
}

fn sources_near(meeting: &mut Meeting, address: &str, one: &str, other: &str) {
    let group = group(address, "near0");
    let wanted = MulticastSender::from(at(one, 0), group).unwrap();
    let unwanted = MulticastSender::from(at(other, 0), group).unwrap();
    meeting.at("joined");
    unwanted.send(&of("unwanted")).unwrap();
    wanted.send(&of("wanted")).unwrap();
    meeting.at("joined for both");
    unwanted.send(&of("wanted now")).unwrap();
    meeting.at("left for one");
    wanted.send(&of("unwanted now")).unwrap();
    unwanted.send(&of("still wanted")).unwrap();
    meeting.at("end");
}

fn sources_far(meeting: &mut Meeting, address: &str, one: &str, other: &str) {
    let group = group(address, "far0");
    let receiver = MulticastReceiver::of_source(group, ip(one)).unwrap();
    let next = || hear(|into, by| receiver.receive_from_by(into, by));
    let wrong = if group.is_ipv4() { ip("::1") } else { ip("192.0.2.1") };
    assert_eq!(receiver.join_source(group, wrong).unwrap_err().step(), Step::Join, "of another version");
    assert_eq!(receiver.leave_source(group, ip(other)).unwrap_err().step(), Step::Leave, "never joined");
    meeting.at("joined");
    let (text, from) = next();
    assert_eq!((text.as_str(), from.ip()), ("wanted", ip(one)));
    receiver.join_source(group, ip(other)).unwrap();
    assert_eq!(receiver.join_source(group, ip(other)).unwrap_err().step(), Step::Join, "already");
    meeting.at("joined for both");
    let (text, from) = next();
    assert_eq!((text.as_str(), from.ip()), ("wanted now", ip(other)));
    receiver.leave_source(group, ip(one)).unwrap();
    meeting.at("left for one");
    assert_eq!(next().0, "still wanted");
    meeting.at("end");
}

#[test]
fn a_group_may_be_joined_for_some_sources_only() {
    run(
        "a_group_may_be_joined_for_some_sources_only",
        |meeting| sources_near(meeting, "232.7.7.7", "192.0.2.1", "192.0.2.3"),
        |meeting| sources_far(meeting, "232.7.7.7", "192.0.2.1", "192.0.2.3"),
    );
}

#[test]
fn a_group_may_be_joined_for_some_sources_only_by_ipv6() {
    if !has_ipv6() {
        return left_out("multicast of a source by IPv6", "this host has none");
    }
    run(
        "a_group_may_be_joined_for_some_sources_only_by_ipv6",
        |meeting| sources_near(meeting, "ff35::7:7", "2001:db8::1", "2001:db8::3"),
        |meeting| sources_far(meeting, "ff35::7:7", "2001:db8::1", "2001:db8::3"),
    );
}

fn broadcast_near(meeting: &mut Meeting) {
    let interface = interface("near0");
    meeting.at("listening");
    for (socket, text) in [
        (BroadcastSocket::to_network(&interface, PORT).unwrap(), "to the network"),
        (BroadcastSocket::to_link(&interface, PORT).unwrap(), "to the link"),
    ] {
        socket.send(&of(text)).unwrap();
        let (answer, from) = hear(|into, by| socket.receive_from_by(into, by));
        assert_eq!((answer.as_str(), from), (text, at(ROUTER, PORT)));
    }
    // The carrier may take a moment to be noticed.
    let until = soon();
    let everywhere = loop {
        let sockets = BroadcastSocket::to_every_network(PORT).unwrap();
        if !sockets.is_empty() {
            break sockets;
        }
        assert!(Instant::now() < until, "no network to broadcast to");
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(everywhere.iter().map(BroadcastSocket::to).collect::<Vec<_>>(), [at("192.0.2.255", PORT)]);
    everywhere[0].send_by(&of("everywhere"), soon()).unwrap();

    // Any other socket is refused.
    let plain = UdpSocket::bind(at("192.0.2.1", 0)).unwrap();
    for to in [at("192.0.2.255", PORT), at("255.255.255.255", PORT)] {
        let error = plain.send_to(&of("refused"), &to).unwrap_err();
        assert!(error.is_permission_denied() && error.step() == Step::Send, "{error}");
        assert!(error.to_string().contains("BroadcastSocket"), "{error}");
    }
    meeting.at("end");
}

fn broadcast_far(meeting: &mut Meeting) {
    let socket = UdpSocket::bind(at("0.0.0.0", PORT)).unwrap();
    meeting.at("listening");
    for expected in ["to the network", "to the link"] {
        let (text, from) = hear(|into, by| socket.receive_from_by(into, by));
        assert_eq!(text, expected);
        socket.send_to(&[IoSlice::new(text.as_bytes())], &from).unwrap();
    }
    assert_eq!(hear(|into, by| socket.receive_from_by(into, by)).0, "everywhere");
    meeting.at("end");
    assert!(socket.receive_from_now(&mut [0; 16]).unwrap_err().is_would_block());
}

#[test]
fn a_broadcast_reaches_everybody() {
    run("a_broadcast_reaches_everybody", broadcast_near, broadcast_far);
}

/// What comes back, sooner or later, of datagrams of so many octets.
fn told(to: SocketAddr, octets: usize) -> Error {
    let socket = ConnectedUdpSocket::connect(to).unwrap();
    let datagram = vec![7; octets];
    let until = soon();
    loop {
        match socket.send(&[IoSlice::new(&datagram)]) {
            Ok(()) => assert!(Instant::now() < until, "nothing came back from {to}"),
            Err(error) => {
                assert!(error.step() == Step::Send && !error.is_connection_reset(), "{error}");
                assert_eq!(error.address().map(ToString::to_string), Some(format!("udp:{to}")));
                if error.is_too_large_for_path() {
                    // The same again is cut to what fits.
                    socket.send(&[IoSlice::new(&datagram)]).unwrap();
                }
                return error;
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn connected_sockets_are_told() {
    let port = told(at(ROUTER, 9), 5);
    assert!(port.is_connection_refused() && !port.is_unreachable(), "{port}");
    assert_eq!(port.said_by(), Some(ip(ROUTER)));
    let host = told(at("198.51.100.5", 9), 5);
    assert!(host.is_host_unreachable() && !host.is_network_unreachable() && host.is_unreachable(), "{host}");
    assert_eq!(host.said_by(), Some(ip(ROUTER)));
    let network = told(at("198.51.100.200", 9), 5);
    assert!(network.is_network_unreachable() && !network.is_host_unreachable(), "{network}");
    assert_eq!(network.said_by(), Some(ip(ROUTER)));
    let path = told(at("203.0.113.5", 9), 1300);
    assert!(path.is_too_large_for_path() && !path.is_too_large() && !path.is_unreachable(), "{path}");
    assert_eq!((path.path_mtu(), path.said_by()), (Some(1000), Some(ip(ROUTER))));
    let absent = told(at("192.0.2.77", 9), 5);
    assert!(absent.is_host_unreachable(), "{absent}");
    assert_eq!(absent.said_by(), Some(ip("192.0.2.1")), "this host itself, whom nobody answers");
    let routeless = ConnectedUdpSocket::connect(at("10.9.9.9", 9)).unwrap_err();
    assert!(routeless.is_network_unreachable() && routeless.said_by().is_none(), "{routeless}");
    let whole = told(at(ROUTER, 9), 65_508);
    assert!(whole.is_too_large() && !whole.is_too_large_for_path(), "{whole}");
}

fn receiving_calls_are_told_too() {
    let (mut buffer, slices) = ([0; 16], of("x"));
    let socket = ConnectedUdpSocket::connect(at(ROUTER, 9)).unwrap();
    socket.send(&slices).unwrap();
    let error = socket.receive_by(&mut buffer, soon()).unwrap_err();
    assert!(error.is_connection_refused() && error.step() == Step::Receive, "{error}");
    assert_eq!(error.said_by(), Some(ip(ROUTER)));
    assert!(socket.receive_now(&mut buffer).unwrap_err().is_would_block(), "told once");
    socket.send(&slices).unwrap();
    assert!(socket.receive(&mut buffer).unwrap_err().is_connection_refused());
    // However many went, and whatever the sending call was told of it.
    let mut batch = SendBatch::new(16);
    let _ = socket.send_many(&[&slices[..]; 16], &mut batch);
    thread::sleep(Duration::from_millis(50));
    let _ = socket.send_many(&[&slices[..]; 16], &mut batch);
    let error = socket.receive_by(&mut buffer, soon()).unwrap_err();
    assert!(error.is_connection_refused(), "{error}");
}

fn unconnected_sockets_are_told_of_whom() {
    let listening = at(ROUTER, PORT);
    let (refusing, host, path) = (at(ROUTER, 9), at("198.51.100.5", 9), at("203.0.113.6", 9));
    let (small, large) = (of("x"), vec![7; 1300]);
    let large = [IoSlice::new(&large)];
    let mut buffer = [0; 16];

    let plain = UdpSocket::bind(at("0.0.0.0", 0)).unwrap();
    plain.send_to(&small, &refusing).unwrap();
    assert_eq!(plain.next_report().unwrap_err().step(), Step::Receive, "it has not asked for any");

    let socket = UdpSocket::bind(at("0.0.0.0", 0)).unwrap().reporting().unwrap();
    assert!(socket.next_report().unwrap().is_none());
    let (mut reports, until) = (Vec::<Error>::new(), soon());
    let has = |reports: &[Error], to: SocketAddr| {
        reports.iter().any(|one| one.address() == Some(&zorb_ipc::Address::Udp(to)))
    };
    while ![refusing, host, path].iter().all(|&to| has(&reports, to)) {
        assert!(Instant::now() < until, "{reports:?}");
        for (slices, to) in [(&small, refusing), (&small, host), (&large, path)] {
            if !has(&reports, to) {
                socket.send_to(slices, &to).unwrap();
            }
        }
        // Whatever came back, what is for others goes.
        socket.send_to(&small, &listening).unwrap();
        let ended = loop {
            match socket.receive_from_by(&mut buffer, Instant::now() + Duration::from_millis(200)) {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(ended.has_reports_waiting() || ended.is_timeout(), "{ended}");
        while let Some(report) = socket.next_report().unwrap() {
            assert_eq!((report.step(), report.said_by()), (Step::Send, Some(ip(ROUTER))), "{report}");
            reports.push(report);
        }
    }
    for report in &reports {
        let to = report.address().unwrap().to_string();
        let kinds =
            [report.is_connection_refused(), report.is_host_unreachable(), report.is_too_large_for_path()];
        let expected = [refusing, host, path].map(|to_one| to == format!("udp:{to_one}"));
        assert_eq!(kinds, expected, "{report}");
        assert_eq!(report.path_mtu(), (to == format!("udp:{path}")).then_some(1000));
    }
    // A wait of any length ends with a report.
    socket.send_to(&small, &refusing).unwrap();
    let error = loop {
        match socket.receive_from(&mut buffer) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(error.has_reports_waiting() && !error.is_timeout(), "{error}");
    assert!(socket.next_report().unwrap().is_some());
    // What this host refuses by itself the call says that sends it.
    let routeless = socket.send_to(&small, &at("10.9.9.9", 9)).unwrap_err();
    assert!(routeless.is_network_unreachable() && routeless.said_by().is_none(), "{routeless}");
}

fn ipv6_is_told_likewise() {
    let port = told(at("2001:db8::2", 9), 5);
    assert!(port.is_connection_refused(), "{port}");
    assert_eq!(port.said_by(), Some(ip("2001:db8::2")));
    let network = told(at("2001:db8:1::5", 9), 5);
    assert!(network.is_network_unreachable() && !network.is_connection_refused(), "{network}");
    let absent = told(at("2001:db8::77", 9), 5);
    assert!(absent.is_host_unreachable(), "{absent}");
    // A socket of both versions is told of both.
    let socket = UdpSocket::bind(at("::", 0)).unwrap().reporting().unwrap();
    for to in [at("2001:db8::2", 9), at("::ffff:192.0.2.2", 9)] {
        socket.send_to(&of("x"), &to).unwrap();
        assert!(socket.receive_from_by(&mut [0; 4], soon()).unwrap_err().has_reports_waiting());
        let report = socket.next_report().unwrap().unwrap();
        assert!(report.is_connection_refused(), "{report}");
        assert_eq!(report.said_by(), Some(to.ip().to_canonical()));
    }
}

#[test]
fn who_cannot_be_reached_is_told_apart() {
    run(
        "who_cannot_be_reached_is_told_apart",
        |meeting| {
            meeting.at("listening");
            connected_sockets_are_told();
            receiving_calls_are_told_too();
            unconnected_sockets_are_told_of_whom();
            if has_ipv6() {
                ipv6_is_told_likewise();
            } else {
                left_out("who cannot be reached by IPv6", "this host has none");
            }
            meeting.at("end");
        },
        |meeting| {
            let socket = UdpSocket::bind(at("0.0.0.0", PORT)).unwrap();
            meeting.at("listening");
            meeting.at("end");
            assert!(socket.receive_from_now(&mut [0; 4]).is_ok(), "what was for it came");
        },
    );
}

/// Three connections over a link that falls silent: one asks, one has sent what nobody acknowledges, one just waits.
fn a_silent_link_near(meeting: &mut Meeting) {
    meeting.at("listening");
    let connect = || TcpStream::connect(at(ROUTER, PORT), soon()).unwrap();
    let (asking, sending, waiting) = (connect(), connect(), connect());
    let second = Duration::from_secs(1);
    asking.set(KeepAlive(Some(Probes { idle: second, interval: second, count: 1 }))).unwrap();
    sending.set(UserTimeout(Some(second / 2))).unwrap();
    meeting.at("connected");
    meeting.at("silent");
    let _ = sending.send(&of("for nobody")).unwrap();
    for (stream, how) in [(&asking, "asking"), (&sending, "sending")] {
        let error = stream.receive_by(&mut [0; 4], soon()).unwrap_err();
        assert!(error.is_connection_reset() && !error.is_timeout(), "{how}: {error}");
        assert_eq!(error.address().map(ToString::to_string), Some(format!("tcp:{ROUTER}:{PORT}")), "{how}");
    }
    let error = waiting.receive_by(&mut [0; 4], Instant::now() + second / 10).unwrap_err();
    assert!(error.is_timeout(), "who asks nothing is told nothing: {error}");
    meeting.at("end");
}

fn a_silent_link_far(meeting: &mut Meeting) {
    let acceptor = TcpAcceptor::bind(at("0.0.0.0", PORT), &AcceptorOptions::new()).unwrap();
    meeting.at("listening");
    let _streams = [(); 3].map(|()| acceptor.accept_by(soon()).unwrap());
    meeting.at("connected");
    // Whatever this side has to say is thrown away on its way.
    let silenced = Command::new("ip").args(["route", "add", "blackhole", "192.0.2.1/32"]).status().unwrap();
    assert!(silenced.success());
    meeting.at("silent");
    meeting.at("end");
}

#[test]
fn a_link_that_falls_silent_ends_who_asks_and_who_sends() {
    run("a_link_that_falls_silent_ends_who_asks_and_who_sends", a_silent_link_near, a_silent_link_far);
}

/// The loopback interface, and one that leads to another process here, copy what the program lends. What no interface has
/// taken is not copied: the kernel gives it back as it is.
fn lent_near(meeting: &mut Meeting) {
    meeting.at("listening");
    let connect = || TcpStream::connect(at(ROUTER, PORT), soon()).unwrap();
    let (taken, lost) = (connect(), connect());
    lost.set(UserTimeout(Some(Duration::from_millis(500)))).unwrap();
    let mut taken = ZeroCopyStream::new(taken).unwrap();
    let mut lost = ZeroCopyStream::new(lost).unwrap();
    taken.send_all(vec![1; 4096], soon()).unwrap();
    let completed = taken.completed_by(soon()).unwrap().unwrap();
    assert!(completed.copied && completed.buffer == vec![1; 4096]);
    let silenced = Command::new("ip").args(["route", "add", "blackhole", "192.0.2.2/32"]).status().unwrap();
    assert!(silenced.success());
    lost.send_all(vec![2; 4096], soon()).unwrap();
    let completed = lost.completed_by(soon()).unwrap().unwrap();
    assert!(!completed.copied && completed.buffer == vec![2; 4096]);
    meeting.at("end");
}

fn lent_far(meeting: &mut Meeting) {
    let acceptor = TcpAcceptor::bind(at("0.0.0.0", PORT), &AcceptorOptions::new()).unwrap();
    meeting.at("listening");
    let streams = [(); 2].map(|()| acceptor.accept_by(soon()).unwrap());
    streams[0].receive_exact(&mut [0; 4096], soon()).unwrap();
    meeting.at("end");
}

#[test]
fn what_was_lent_comes_back_with_whether_it_was_copied() {
    run("what_was_lent_comes_back_with_whether_it_was_copied", lent_near, lent_far);
}
