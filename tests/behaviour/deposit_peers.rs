//! Other ORBs' bulk, and what they may do in the middle of it: fragments as omniORB sends them, either byte order, every version; a peer that dies,
//! falls silent, cancels, or says less than it announced.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use zorb::giop::{Header, IiopProfile};
use zorb::policy::Policies;
use zorb::{Interface, Kind, Orb};
use zorb_tests::darkroom::Archive;
use zorb_tests::darkroom_servant::{Room, image, octets};
use zorb_tests::servant::PATIENCE;
use zorb_tests::wire::{DIALECTS, Order, Wire, kind, request_id};

use crate::fixture::Place;

const COUNT: usize = 100_000;

fn number(order: Order, value: f64) -> [u8; 8] {
    if order == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() }
}

/// A message of these parts: the first, which may be of any length, and fragments with what follows.
struct Cut {
    first: Wire,
    parts: Vec<Vec<u8>>,
}

impl Cut {
    /// All as octets, and where each message begins.
    fn messages(self, dialect: (u8, Order), id: u32) -> Vec<Vec<u8>> {
        let count = self.parts.len();
        let first = if count > 0 { self.first.more() } else { self.first };
        let mut messages = vec![first.done()];
        for (at, part) in self.parts.into_iter().enumerate() {
            let fragment = Wire::fragment(dialect, id).raw(&part);
            messages.push(if at + 1 < count { fragment.more() } else { fragment }.done());
        }
        messages
    }
}

/// Doubles as the elements of a sequence, and its fragments: each of GIOP 1.1 begins its alignment anew, at 12.
fn doubles(wire: Wire, (minor, order): (u8, Order), in_fragments: bool) -> Cut {
    let wire = wire.u32(COUNT as u32).align(8);
    let elements: Vec<u8> = image(COUNT as u32).iter().flat_map(|value| number(order, *value)).collect();
    if !in_fragments || minor == 0 {
        return Cut { first: wire.raw(&elements), parts: Vec::new() };
    }
    let (first, rest) = elements.split_at(8192);
    let padding: &[u8] = if minor == 1 { &[0xee; 4] } else { &[] };
    let mut parts: Vec<Vec<u8>> = rest.chunks(64_000).map(|part| [padding, part].concat()).collect();
    // As omniORB does: nothing is left for the last.
    parts.push(Vec::new());
    Cut { first: wire.raw(first), parts }
}

/// A server that answers each request by what a test makes of its id, and then does as the test says.
fn server(answer: impl Fn(u32) -> Vec<u8> + Send + 'static, then: After) -> (Orb, Archive) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            while let Some(request) = receive(&mut stream) {
                let Some(id) = request_id(&request) else { break };
                if stream.write_all(&answer(id)).is_err() {
                    break;
                }
                match then {
                    After::GoesOn => {}
                    After::Dies => break,
                    After::FallsSilent => std::thread::sleep(PATIENCE),
                }
            }
        }
    });
    let client = Place::TCP.client().build();
    let to = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key");
    let there = client.string_to_object(&to).unwrap().unwrap();
    (client, Archive::from_object(there))
}

#[derive(Clone, Copy)]
enum After {
    GoesOn,
    Dies,
    FallsSilent,
}

/// The next message, whole.
fn receive(from: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = vec![0; 12];
    from.read_exact(&mut message).ok()?;
    let whole = Header::parse(message.first_chunk()?).ok()?.total();
    message.resize(whole, 0);
    from.read_exact(&mut message[12..]).ok()?;
    Some(message)
}

#[test]
fn results_of_every_dialect_come_into_the_slice() {
    for dialect in DIALECTS {
        for in_fragments in [false, true] {
            let answer = move |id| {
                let cut = doubles(Wire::reply(dialect, id, 0), dialect, in_fragments);
                cut.messages(dialect, id).concat()
            };
            let (_client, there) = server(answer, After::GoesOn);
            let mut into = vec![-1.0; COUNT + 1];
            for _ in 0..3 {
                into.fill(-1.0);
                assert_eq!(there.paint_into_(1, &mut into).unwrap(), COUNT, "{dialect:?}");
                assert!(image(COUNT as u32) == into[..COUNT] && into[COUNT] < 0.0, "{dialect:?}");
            }
            assert!(image(COUNT as u32) == there.paint(1).unwrap(), "{dialect:?}");
        }
    }
}

#[test]
fn other_messages_between_the_fragments_of_a_result_change_nothing() {
    for order in [Order::Big, Order::Little] {
        let dialect = (2, order);
        let answer = move |id: u32| {
            let between = Wire::reply(dialect, id + 1000, 0).u32(5).done();
            let messages = doubles(Wire::reply(dialect, id, 0), dialect, true).messages(dialect, id);
            messages.iter().flat_map(|message| [&between[..], message].concat()).collect()
        };
        let (_client, there) = server(answer, After::GoesOn);
        let mut into = vec![0.0; COUNT];
        for _ in 0..3 {
            into.fill(0.0);
            assert_eq!(there.paint_into_(1, &mut into).unwrap(), COUNT);
            assert!(image(COUNT as u32) == into);
        }
    }
}

#[test]
fn a_result_that_does_not_come_whole_is_an_error_and_the_slice_may_hold_a_part() {
    let dialect = (2, Order::Big);
    for in_fragments in [false, true] {
        let answer = move |id| {
            let whole =
                doubles(Wire::reply(dialect, id, 0), dialect, in_fragments).messages(dialect, id).concat();
            whole[..400_000].to_vec()
        };
        let mut into = vec![-1.0; COUNT];
        let (_client, there) = server(answer, After::Dies);
        let ended = there.paint_into_(1, &mut into).unwrap_err();
        assert_eq!(ended.kind, Kind::CommFailure, "{ended}");
        // What had come is there, in the order in which it came.
        assert_eq!(into[COUNT - 1], -1.0);
        let (_client, there) = server(answer, After::FallsSilent);
        let soon = Policies::new().call_timeout(Duration::from_millis(100));
        let there = Archive::from_object(there.as_object().with_policies(soon));
        let ended = there.paint_into_(1, &mut into).unwrap_err();
        assert_eq!(ended.kind, Kind::Timeout, "{ended}");
    }
}

#[test]
fn a_result_that_says_less_than_it_announced_is_unreadable_and_the_connection_good() {
    let dialect = (2, Order::Little);
    let short = move |id: u32| {
        // The odd ones end after some fragments, one of them within an element.
        let mut cut = doubles(Wire::reply(dialect, id, 0), dialect, true);
        if id % 2 == 1 {
            cut.parts.truncate(5);
            cut.parts.push(vec![0; 3]);
        }
        cut.messages(dialect, id).concat()
    };
    let whole = move |id: u32| {
        let count = if id % 2 == 1 { u32::MAX } else { COUNT as u32 };
        let elements = vec![0; 8 * COUNT];
        Wire::reply(dialect, id, 0).u32(count).align(8).raw(&elements).done()
    };
    let (_client, there) = server(short, After::GoesOn);
    let (_other, elsewhere) = server(whole, After::GoesOn);
    for there in [there, elsewhere] {
        let mut into = vec![-1.0; COUNT];
        for _ in 0..3 {
            let ended = there.paint_into_(1, &mut into).unwrap_err();
            assert_eq!(ended.kind, Kind::Marshal, "{ended}");
            assert_eq!(there.paint_into_(1, &mut into).unwrap(), COUNT);
        }
    }
}

#[test]
fn a_peer_that_breaks_the_protocol_within_a_result_is_told_and_left() {
    let dialect = (2, Order::Little);
    // Another order, another message in place of a fragment, no message at all.
    let spoils: [fn(&mut Vec<u8>); 3] =
        [|next| next[6] ^= 1, |next| next[7] = kind::REQUEST, |next| next[0] = b'X'];
    for spoil in spoils {
        let answer = move |id| {
            let mut messages = doubles(Wire::reply(dialect, id, 0), dialect, true).messages(dialect, id);
            spoil(&mut messages[2]);
            messages.concat()
        };
        let (_client, there) = server(answer, After::GoesOn);
        let ended = there.paint_into_(1, &mut vec![0.0; COUNT]).unwrap_err();
        // Of another order the size is as well.
        let told = matches!(ended.kind, Kind::CommFailure | Kind::Marshal | Kind::ImpLimit);
        assert!(told, "{ended}");
    }
}

/// A server of zorb's with a room, and a bare connection to it.
struct Peer {
    _server: Orb,
    room: Arc<Room>,
    key: Vec<u8>,
    stream: TcpStream,
    at: (String, u16),
    through: Archive,
}

impl Peer {
    fn new(frames: usize) -> Peer {
        let room = Arc::new(Room::with_frames(frames));
        let server = Place::TCP.server().build();
        let poa = server.root_poa().unwrap();
        let through = poa.activate::<Archive>(room.clone()).unwrap();
        poa.manager().activate().unwrap();
        let profile = IiopProfile::decode(&through.as_object().ior().profiles[0]).unwrap();
        let at = (profile.host.to_string(), profile.port);
        let stream = TcpStream::connect((&*at.0, at.1)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer { _server: server, room, key: profile.object_key.to_vec(), stream, at, through }
    }

    fn connect_again(&mut self) {
        self.stream = TcpStream::connect((&*self.at.0, self.at.1)).unwrap();
    }

    fn hang(&self, dialect: (u8, Order), id: u32, in_fragments: bool) -> Vec<Vec<u8>> {
        let wire = Wire::request(dialect, id, true, &self.key, "hang");
        let wire = if dialect.0 < 2 { wire } else { wire.align(8) };
        doubles(wire, dialect, in_fragments).messages(dialect, id)
    }

    fn send(&mut self, octets: &[u8]) {
        self.stream.write_all(octets).unwrap();
    }

    /// The status of the next reply.
    fn status(&mut self, (minor, order): (u8, Order)) -> u32 {
        let reply = receive(&mut self.stream).expect("a reply");
        assert_eq!(reply[7], kind::REPLY);
        let at = if minor < 2 { 20 } else { 16 };
        let octets = *reply[at..].first_chunk().unwrap();
        if order == Order::Big { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
    }

    fn is_free(&self, frames: usize) -> bool {
        let latest = Instant::now() + PATIENCE;
        while self.room.free() < frames && Instant::now() < latest {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.room.free() == frames
    }

    fn in_place(&self) -> usize {
        self.room.in_place.load(Ordering::SeqCst)
    }

    fn waits_for_memory(&self, asked: usize) {
        let latest = Instant::now() + PATIENCE;
        while self.room.asked.load(Ordering::SeqCst) < asked {
            assert!(Instant::now() < latest, "it is not asked");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn arguments_of_every_dialect_come_into_the_servants_memory() {
    for dialect in DIALECTS {
        let mut peer = Peer::new(1);
        for (in_fragments, calls) in [(false, 3), (true, 6)] {
            for call in 0..3 {
                let request = peer.hang(dialect, 7 + call, in_fragments).concat();
                peer.send(&request);
                assert_eq!(peer.status(dialect), 0, "{dialect:?}");
                peer.room.clear();
                assert!(peer.is_free(1));
            }
            assert_eq!(peer.in_place(), calls, "{dialect:?}, in fragments: {in_fragments}");
        }
    }
}

/// omniORB sends the head and what fits in one message, and all the rest in a second.
#[test]
fn octets_in_two_pieces_are_put_where_they_stay() {
    for minor in [1, 2] {
        let dialect = (minor, Order::Little);
        let mut peer = Peer::new(1);
        for id in 0..3 {
            let data = octets(COUNT);
            let wire = Wire::request(dialect, id, true, &peer.key, "put").string("title").u32(COUNT as u32);
            let (first, rest) = data.split_at(8000);
            // A string behind it: its length is aligned by what stands before it in the message, or in the fragment.
            let before = wire.clone().raw(first).done().len();
            let at = if minor == 1 { 12 + rest.len() } else { before + rest.len() };
            let mut rest = rest.to_vec();
            rest.resize(rest.len() + (at.next_multiple_of(4) - at), 0xee);
            rest.extend([6, 0, 0, 0]);
            rest.extend(b"title\0");
            let messages = Cut { first: wire.raw(first), parts: vec![rest] }.messages(dialect, id);
            peer.send(&messages.concat());
            assert_eq!(peer.status(dialect), 0);
            assert!(peer.through.get("title").unwrap() == data, "1.{minor}");
            peer.room.clear();
            assert!(peer.is_free(1));
        }
        assert_eq!(peer.in_place(), 3);
    }
}

#[test]
fn requests_between_the_fragments_of_an_argument_are_answered() {
    let dialect = (2, Order::Big);
    let mut peer = Peer::new(1);
    for round in 0..3 {
        let messages = peer.hang(dialect, 1, true);
        for (at, message) in messages.iter().enumerate() {
            peer.send(message);
            if at + 1 < messages.len() {
                let between = Wire::request(dialect, 100, true, &peer.key.clone(), "thrown_in").done();
                peer.send(&between);
                assert_eq!(peer.status(dialect), 0);
            }
        }
        assert_eq!((peer.status(dialect), peer.in_place()), (0, round + 1));
        peer.room.clear();
        assert!(peer.is_free(1));
    }
}

#[test]
fn memory_is_given_back_when_the_peer_dies_or_cancels_and_no_servant_is_called() {
    let dialect = (2, Order::Little);
    let mut peer = Peer::new(1);
    for round in 0..4 {
        let messages = peer.hang(dialect, 1, round % 2 == 1);
        let some = messages.concat();
        peer.send(&some[..200_000]);
        peer.waits_for_memory(2 * round + 1);
        assert_eq!(peer.room.free(), 0);
        peer.connect_again();
        assert!(peer.is_free(1), "the connection has ended");
        // Between two fragments.
        let messages = peer.hang(dialect, 1, true);
        peer.send(&messages[..3].concat());
        peer.waits_for_memory(2 * round + 2);
        peer.send(&Wire::short(dialect, kind::CANCEL_REQUEST, Some(1)));
        assert!(peer.is_free(1), "it was cancelled");
        assert_eq!(peer.in_place(), round);
        let whole = peer.hang(dialect, 2, true).concat();
        peer.send(&whole);
        // Asked once more than is counted on above.
        peer.room.asked.fetch_sub(1, Ordering::SeqCst);
        assert_eq!((peer.status(dialect), peer.in_place()), (0, round + 1));
        peer.room.clear();
        assert!(peer.is_free(1));
    }
}

#[test]
fn lengths_that_are_not_so_are_refused_and_the_connection_goes_on() {
    let dialect = (2, Order::Little);
    let mut peer = Peer::new(1);
    let key = peer.key.clone();
    for id in 0..3 {
        // A sequence of 4 GiB, in a message of less, and in fragments that end soon.
        let lie = |count: u32| Wire::request(dialect, id, true, &key, "hang").u32(count).align(8);
        let elements = vec![0; 50_000];
        let whole = lie(u32::MAX).raw(&elements).done();
        let cut = |count| Cut { first: lie(count).raw(&elements), parts: vec![vec![0; 1000], vec![0; 11]] };
        for request in [vec![whole], cut(u32::MAX).messages(dialect, id), cut(20_000).messages(dialect, id)] {
            peer.send(&request.concat());
            assert_eq!(peer.status(dialect), 2, "a system exception");
            assert!(peer.is_free(1));
        }
        assert_eq!(peer.in_place(), id as usize);
        let request = peer.hang(dialect, 50 + id, true).concat();
        peer.send(&request);
        assert_eq!((peer.status(dialect), peer.in_place()), (0, id as usize + 1));
        peer.room.clear();
        assert!(peer.is_free(1));
    }
}

/// Each octet by itself, so that every head comes in parts.
#[test]
fn it_does_not_matter_in_what_parts_it_comes() {
    let dialect = (2, Order::Big);
    let mut peer = Peer::new(1);
    peer.stream.set_nodelay(true).unwrap();
    let messages = peer.hang(dialect, 1, true).concat();
    let (head, rest) = messages.split_at(200);
    for octet in head {
        peer.send(&[*octet]);
    }
    for part in rest.chunks(3333) {
        peer.send(part);
    }
    assert_eq!((peer.status(dialect), peer.in_place()), (0, 1));
}
