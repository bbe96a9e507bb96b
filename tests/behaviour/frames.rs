//! Frames by UDP, over a relay that loses, mixes, repeats and delays: what the servant is told.

use std::collections::VecDeque;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use zorb::frames::{self, Frame, FrameRules};
use zorb::giop::{IiopProfile, Ior, UdpEndpoint};
use zorb::messaging::{Giop, Messaging};
use zorb::transport::udp::Udp;
use zorb::{Call, Completion, Interface, Kind, Orb, OrbBuilder, Sequence, SystemException};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Screen, ScreenServant};

use crate::datagrams::until;

/// What was shown: the frame, if it was one, and its octets.
#[derive(Default)]
pub(crate) struct Wall(Mutex<Vec<(Option<Frame>, usize)>>);

impl ScreenServant for Wall {
    fn show(&self, call: &Call, data: Sequence<u8>) -> Result<(), SystemException> {
        assert!(
            data.iter().enumerate().all(|(n, octet)| *octet == n as u8),
            "the octets are as they were sent"
        );
        self.0.lock().unwrap().push((call.frame(), data.len()));
        Ok(())
    }

    fn shown(&self, call: &Call) -> Result<i32, SystemException> {
        assert_eq!(call.frame(), None);
        Ok(i32::try_from(self.0.lock().unwrap().len()).unwrap())
    }
}

impl Wall {
    /// What was shown, in order.
    pub(crate) fn all(&self) -> Vec<(Option<Frame>, usize)> {
        self.0.lock().unwrap().clone()
    }

    /// The last frames' sequence, lost and late.
    pub(crate) fn told(&self) -> Vec<(u32, u32, u32)> {
        let shown = self.0.lock().unwrap();
        let told = |(frame, _): &(Option<Frame>, usize)| frame.map(|it| (it.sequence, it.lost, it.late));
        shown.iter().filter_map(told).collect()
    }
}

/// Lateness is injected by timestamps alone: a machine that is busy makes nothing late.
pub(crate) const RULES: fn() -> FrameRules = || {
    let (max_lateness, max_incomplete) = (Some(Duration::from_secs(3600)), 2 * PATIENCE);
    FrameRules { max_lateness, max_incomplete, ..FrameRules::default() }
};

fn with_frames(udp: Udp) -> (OrbBuilder, Arc<Udp>) {
    let udp = Arc::new(udp.frames(RULES()));
    let messagings: [Arc<dyn Messaging>; 2] = [Arc::new(frames::messaging()), Arc::new(Giop)];
    (Orb::builder().transport(udp.clone()).messagings(messagings), udp)
}

fn serve(builder: OrbBuilder) -> (Orb, Arc<Wall>, String) {
    let (orb, wall) = (builder.build(), Arc::new(Wall::default()));
    let poa = orb.root_poa().unwrap();
    let text = poa.activate::<Screen>(wall.clone()).unwrap().as_object().to_string();
    poa.manager().activate().unwrap();
    (orb, wall, text)
}

fn screen(client: &Orb, text: &str) -> Screen {
    Screen::from_object(client.string_to_object(text).unwrap().unwrap())
}

pub(crate) fn data(octets: usize) -> Vec<u8> {
    (0..octets).map(|n| n as u8).collect()
}

/// The reference with another port for its UDP endpoint, and the port that it had.
fn redirected(text: &str, port: u16) -> (String, u16) {
    let mut ior: Ior = text.parse().unwrap();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    let mut before = 0;
    for component in &mut profile.components {
        if let Ok(udp) = UdpEndpoint::decode(component) {
            before = udp.port;
            *component = UdpEndpoint { port, ..udp }.encode().unwrap();
        }
    }
    ior.profiles[0] = profile.encode().unwrap();
    (ior.to_string(), before)
}

/// A way through which the test hands datagrams by hand.
struct Relay {
    socket: UdpSocket,
    to: u16,
    waiting: VecDeque<Vec<u8>>,
}

impl Relay {
    fn through(text: &str) -> (Relay, String) {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let (text, to) = redirected(text, socket.local_addr().unwrap().port());
        (Relay { socket, to, waiting: VecDeque::new() }, text)
    }

    /// Waits until so many have come.
    fn take(&mut self, count: usize) {
        for _ in 0..count {
            let mut datagram = vec![0; 65_536];
            let octets = self.socket.recv(&mut datagram).expect("a datagram comes");
            datagram.truncate(octets);
            self.waiting.push_back(datagram);
        }
    }

    fn pass(&self, index: usize) {
        self.socket.send_to(&self.waiting[index], ("127.0.0.1", self.to)).unwrap();
    }
}

#[test]
fn oneways_go_as_frames_of_any_size_and_calls_that_wait_by_what_else_there_is() {
    let (server, udp) = with_frames(Udp::new());
    let (orb, wall, text) = serve(server.listen("tcp:127.0.0.1:0").listen("udp:127.0.0.1:0"));
    let client = with_frames(Udp::new()).0.build();
    let there = screen(&client, &text);
    let sizes = [0, 1, 1000, 1400, 1408, 1409, 5000, 100_000];
    for (n, size) in sizes.into_iter().enumerate() {
        there.show(&data(size)).unwrap();
        until("a frame arrives", || wall.0.lock().unwrap().len() == n + 1);
    }
    assert_eq!(there.shown().unwrap(), 8);
    assert_eq!(wall.told(), (0..8).map(|n| (n, 0, 0)).collect::<Vec<_>>());
    assert_eq!(wall.0.lock().unwrap().iter().map(|(_, size)| *size).collect::<Vec<_>>(), sizes);
    let times: Vec<_> =
        wall.0.lock().unwrap().iter().filter_map(|(frame, _)| Some(frame.as_ref()?.timestamp)).collect();
    assert!(times.is_sorted() && times[0] < times[7], "{times:?}");
    let error = there.show(&data(2 << 20)).unwrap_err();
    assert_eq!((error.kind, error.completed), (Kind::ImpLimit, Completion::No), "{error}");
    assert_eq!(udp.dropped().total(), 0, "{:?}", udp.dropped());
    orb.shutdown(true, Duration::from_secs(10));
}

#[test]
fn where_only_frames_lead_a_call_that_waits_is_refused_and_others_get_giop() {
    let (orb, wall, text) = serve(with_frames(Udp::new()).0.listen("udp:127.0.0.1:0"));
    let client = with_frames(Udp::new()).0.build();
    let there = screen(&client, &text);
    let error = there.shown().unwrap_err();
    assert_eq!((error.kind, error.completed), (Kind::InvObjref, Completion::No), "{error}");
    there.show(&data(3)).unwrap();
    until("a frame arrives", || wall.told() == [(0, 0, 0)]);
    // A client that does not know frames.
    let plain = Orb::builder().transport(Arc::new(Udp::new())).build();
    screen(&plain, &text).show(&data(4)).unwrap();
    until("a request arrives", || wall.0.lock().unwrap().ends_with(&[(None, 4)]));
    // A server that does not.
    let (other, wall, text) = serve(Orb::builder().transport(Arc::new(Udp::new())).listen("udp:127.0.0.1:0"));
    screen(&client, &text).show(&data(5)).unwrap();
    until("a request arrives", || *wall.0.lock().unwrap() == [(None, 5)]);
    drop((orb, other));
}

#[test]
fn what_is_lost_mixed_repeated_or_cut_short_on_the_way_is_told() {
    let (server, udp) = with_frames(Udp::new());
    let (_orb, wall, text) = serve(server.listen("udp:127.0.0.1:0"));
    let (mut relay, text) = Relay::through(&text);
    let client = with_frames(Udp::new()).0.build();
    let there = screen(&client, &text);
    for _ in 0..6 {
        there.show(&data(10)).unwrap();
    }
    relay.take(6);
    // 1 and 2 are missing; then 2 is overtaken, 3 comes twice.
    for (index, shown) in [(0, 1), (3, 2), (2, 2), (3, 2), (4, 3)] {
        relay.pass(index);
        until("what is due arrives", || wall.told().len() == shown);
    }
    until("the overtaken and the second are counted", || {
        (udp.dropped().late, udp.dropped().duplicates) == (1, 1)
    });
    // A later one tells what had come by then.
    relay.pass(5);
    until("the last arrives", || wall.told().len() == 4);
    assert_eq!(wall.told(), [(0, 0, 0), (3, 2, 0), (4, 0, 1), (5, 0, 0)]);
    // Of 6 a part is missing; 7 comes with its parts in reverse.
    relay.waiting.clear();
    there.show(&data(4000)).unwrap();
    there.show(&data(4001)).unwrap();
    relay.take(6);
    [0, 2, 5, 4, 3].into_iter().for_each(|index| relay.pass(index));
    until("the last arrives", || wall.told().ends_with(&[(7, 1, 0)]));
    assert_eq!(udp.dropped().incomplete, 1, "{:?}", udp.dropped());
}

#[test]
fn what_is_late_by_the_senders_own_clock_is_dropped_and_told() {
    let (server, udp) = with_frames(Udp::new());
    let (_orb, wall, text) = serve(server.listen("udp:127.0.0.1:0"));
    let client = with_frames(Udp::new()).0.build();
    let there = screen(&client, &text);
    let hour = Duration::from_secs(3600);
    // By the third's time it is two hours late, by the fourth's half an hour.
    for (time, shown) in [(hour * 10, 1), (hour * 11, 2), (hour * 9, 2), (hour * 21 / 2, 3)] {
        frames::at(time, || there.show(&data(1))).unwrap();
        if shown == 2 {
            let late = u64::from(time == hour * 9);
            until("it is late or is not", || udp.dropped().late == late && wall.told().len() == 2);
        }
    }
    until("the last arrives", || wall.told().len() == 3);
    assert_eq!(wall.told(), [(0, 0, 0), (1, 0, 0), (3, 0, 1)]);
    assert_eq!(wall.0.lock().unwrap()[2].0.map(|frame| frame.timestamp), Some(21 * 1800 * 1_000_000_000));
}

#[test]
fn strangers_who_send_endless_parts_and_nonsense_do_not_keep_frames_from_arriving() {
    let (server, udp) = with_frames(Udp::new());
    let (_orb, wall, text) = serve(server.listen("udp:127.0.0.1:0"));
    let (mut relay, by_relay) = Relay::through(&text);
    let client = with_frames(Udp::new()).0.build();
    let there = screen(&client, &by_relay);
    there.show(&data(4000)).unwrap();
    relay.take(3);
    let part = relay.waiting[0].clone();
    let until_sent = Instant::now() + PATIENCE;
    for stranger in 0..20u32 {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for sequence in 0..50u32 {
            let mut part = part.clone();
            part[8..12].copy_from_slice(&(stranger * 1000 + sequence % 5).to_ne_bytes());
            part[12..16].copy_from_slice(&sequence.to_ne_bytes());
            socket.send_to(&part, ("127.0.0.1", relay.to)).unwrap();
            // Of no version, and of a size that is none.
            part[if sequence % 2 == 0 { 2 } else { 7 }] ^= 0xff;
            socket.send_to(&part, ("127.0.0.1", relay.to)).unwrap();
        }
        // So that the socket's queue holds them.
        thread::sleep(Duration::from_millis(1));
        assert!(Instant::now() < until_sent);
    }
    until("nonsense is counted", || udp.dropped().malformed > 0);
    // Nonsense may still fill the queue: the frame's parts are sent until all have come.
    until("the frame arrives", || {
        (0..3).for_each(|index| relay.pass(index));
        wall.told() == [(0, 0, 0)]
    });
}
