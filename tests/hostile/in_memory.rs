//! Thousands of mutations of every message, at the whole ORB and in both roles, without a socket: in memory and on this
//! thread, so that a case takes microseconds and every octet that it makes the ORB allocate is counted.
//!
//! Sockets, threads and futures get fewer of the same cases: `server_input`, `client_input`.

use std::cell::Cell;
use std::io::IoSlice;
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::{Duration, Instant};

use zorb::giop::{IiopProfile, Message};
use zorb::server::ThreadModel;
use zorb::transport::memory::Memory;
use zorb::transport::{Acceptor, Channel, Endpoint, Received, Transport};
use zorb::{Interface, Orb};
use zorb_tests::mutation::{mutations, mutations_of_each};
use zorb_tests::seeds::{to_client, to_server};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;
use zorb_tests::vectors;
use zorb_tests::wire::{Order, Wire};

use crate::client_input::{FIRST, local};
use crate::heard::{Heard, answers_in, no_memory, take_message};
use crate::rig::probe;

/// Mutations of each message.
const EACH: usize = 2_000;

/// Mutations of captured messages, which are many and much alike, and of two messages in a row.
const MIXED: usize = 20_000;

/// Octets that a case may make the ORB hold at a time: the 256 KiB that are granted to who announces much, as much again
/// while they move, and a connection's own.
const MEMORY: u64 = 1 << 20;

/// A server that runs where its client waits.
struct Driven {
    memory: Arc<Memory>,
    orb: Orb,
    at: Endpoint,
    key: Vec<u8>,
}

impl Driven {
    fn new() -> Driven {
        let memory = Arc::new(Memory::new());
        let builder = Orb::builder().transport(memory.clone()).listen("memory:here").largest_message(1 << 20);
        let orb = builder.server_threads(ThreadModel::Caller).build();
        let poa = orb.root_poa().expect("a new ORB");
        let probe = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("a new object");
        poa.manager().activate().expect("a new adapter");
        let profile = IiopProfile::decode(&probe.as_object().ior().profiles[0]).expect("IIOP");
        let at = orb.endpoints()[0].clone();
        Driven { memory, orb, at, key: profile.object_key.to_vec() }
    }

    /// Sends `octets` and the end on a connection of their own; what the server says until it closes.
    fn tell(&self, octets: &[u8]) -> Vec<u8> {
        // It is past, so that a receive serves and does not wait.
        let now = Instant::now();
        let channel = self.memory.connect(&self.at, now).expect("it listens");
        assert_eq!(channel.send_now(&[IoSlice::new(octets)]).expect("open"), octets.len());
        channel.shutdown_send();
        let (mut said, mut into) = (Vec::new(), [0; 4096]);
        // What was sent is received in a few pieces; then comes the end.
        for _ in 0..100 {
            match channel.receive(&mut into, now).expect("in memory nothing breaks") {
                Received::Octets(count) => said.extend_from_slice(&into[..count]),
                Received::Empty => {}
                Received::Closed => return said,
            }
        }
        panic!("the server neither answers nor closes");
    }
}

#[test]
fn mutations_of_every_message_to_a_server() {
    let server = Driven::new();
    let seeds: Vec<_> = to_server(&server.key).into_iter().map(|seed| seed.octets).collect();
    let mut all = seeds.clone();
    all.extend(vectors::messages());
    let cases = mutations_of_each(&seeds, EACH, 0x5e7e).chain(mutations(&all, MIXED, 0x5e7f));
    let panics = panics();
    let (mut count, mut replies) = (0, 0);
    for (number, octets) in cases.enumerate() {
        let mut said = Vec::new();
        let counted = allocation_counter::measure(|| said = server.tell(&octets));
        assert!(
            counted.bytes_max < MEMORY + 2 * said.len() as u64,
            "case {number}: {counted:?} for {octets:02x?}"
        );
        let answers = answers_in(&said, &format!("case {number}"));
        replies += answers.iter().filter(|message| matches!(message, Message::Reply(_))).count();
        assert_eq!(server.orb.connections(), 0, "case {number}: the connection is let go of");
        count += 1;
    }
    assert_eq!(panics(), 0, "in {count} cases");
    // So many get as far as an object, or to where there is none.
    assert!(replies * 8 > count, "{replies} replies to {count} cases");
    let greet = Wire::request((2, Order::Little), 5, true, &server.key, "greet").string("on").done();
    assert!(
        matches!(&answers_in(&server.tell(&greet), "greet")[..], [Message::Reply(reply), ..] if reply.status.0 == 0)
    );
}

/// A server that answers one request with what the test says, all others with `NO_MEMORY`. Each connection ends with its
/// answer.
struct Parrot {
    acceptor: Box<dyn Acceptor>,
    answer: Mutex<Option<Vec<u8>>>,
    connections: Mutex<Vec<Arc<dyn Channel>>>,
}

impl Parrot {
    fn listen(memory: &Memory) -> Arc<Parrot> {
        let acceptor = memory.listen("here").expect("a free name");
        let parrot = Arc::new(Parrot { acceptor, answer: Mutex::default(), connections: Mutex::default() });
        let accepting = Arc::downgrade(&parrot);
        assert!(parrot.acceptor.drive(Arc::new(move || {
            accepting.upgrade().into_iter().for_each(Parrot::accept);
        })));
        parrot
    }

    fn accept(self: Arc<Parrot>) {
        while let Some(channel) = self.acceptor.accept_now().expect("in memory nothing breaks") {
            let (parrot, served) = (Arc::downgrade(&self), Arc::downgrade(&channel));
            let heard = Mutex::default();
            channel.drive(Arc::new(move || {
                if let (Some(parrot), Some(channel)) = (Weak::upgrade(&parrot), Weak::upgrade(&served)) {
                    parrot.serve(&*channel, &mut heard.lock().expect("no thread panics here"));
                }
            }));
            self.connections.lock().expect("no thread panics here").push(channel);
        }
    }

    fn serve(&self, channel: &dyn Channel, heard: &mut Vec<u8>) {
        let mut into = [0; 4096];
        if let Ok(Received::Octets(count)) = channel.receive_now(&mut into) {
            heard.extend_from_slice(&into[..count]);
        }
        let Some(request) = take_message(heard) else { return };
        let answer = self.answer.lock().expect("no thread panics here").take();
        let answer = answer.unwrap_or_else(|| no_memory(&request));
        channel.send_now(&[IoSlice::new(&answer)]).expect("the client waits");
        channel.close();
    }

    /// The next request is answered with `octets`.
    fn repeats(&self, octets: &[u8]) {
        *self.answer.lock().expect("no thread panics here") = Some(octets.to_vec());
        self.connections.lock().expect("no thread panics here").clear();
    }

    fn has_answered(&self) -> bool {
        self.answer.lock().expect("no thread panics here").is_none()
    }
}

#[test]
fn mutations_of_every_answer_to_a_client() {
    let seeds: Vec<_> = to_client(FIRST).into_iter().map(|seed| seed.octets).collect();
    let memory = Arc::new(Memory::new());
    let parrot = Parrot::listen(&memory);
    let orb = local(Duration::from_secs(10)).transport(memory).build();
    let panics = panics();
    // A client reads an answer in whatever version it asked: most of the cases are for the usual one.
    for (minor, each) in [(0, 100), (1, 100), (2, EACH)] {
        let cases = mutations_of_each(&seeds, each, 0xc11e).chain(mutations(&seeds, each, 0xc11f + minor));
        for (number, octets) in cases.enumerate() {
            parrot.repeats(&octets);
            // A reference of its own, since a forward is remembered.
            let probe = probe(&orb, &format!("corbaloc:iiop:1.{minor}@here:1/key"));
            let mut called = Ok(String::new());
            let counted = allocation_counter::measure(|| called = probe.greet("x"));
            assert!(parrot.has_answered(), "1.{minor}, case {number}: {called:?}");
            assert!(counted.bytes_max < MEMORY, "1.{minor}, case {number}: {counted:?} for {called:?}");
            assert!(
                called.is_err() || Heard::in_octets(&octets).messages.iter().any(is_result),
                "1.{minor}, case {number}: {called:?} from {octets:02x?}"
            );
        }
    }
    assert_eq!(panics(), 0);
}

/// A reply to the first call, with a result.
fn is_result(message: &Message) -> bool {
    matches!(message, Message::Reply(reply) if reply.id == FIRST && reply.status.0 == 0)
}

/// Counts this thread's panics from now on, also those that somebody catches.
fn panics() -> impl Fn() -> u32 {
    thread_local!(static PANICS: Cell<u32> = const { Cell::new(0) });
    static COUNTED: Once = Once::new();
    COUNTED.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            default(panic);
        }));
    });
    let before = PANICS.get();
    move || PANICS.get() - before
}
