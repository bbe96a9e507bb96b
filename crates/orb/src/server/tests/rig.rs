//! A server with a servant that does as it is told, and a client that speaks in messages.

use std::collections::HashMap;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use zorb_cdr::{Decoder, EncodeError, EncodeErrorKind, Encoder, Format, Version};
use zorb_giop::{
    Addressing, Inbound, LocateReply, Message, Reply, ReplyStatus, RequestHead, ResponseFlags,
    ServiceContexts, SystemExceptionBody,
};

use super::super::dispatch::Handler;
use super::super::request::{ServerRequest, invoke};
use super::super::{ServerLimits, ThreadModel};
use crate::orb::{Orb, OrbBuilder};
use crate::poa::Located;
use crate::skeleton::{InterfaceInfo, Skeleton};
use crate::transport::tcp::Tcp;
use crate::transport::{Channel, Endpoint, Received, Transport};
use crate::upcall;

/// Long enough for any step on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn soon() -> Instant {
    Instant::now() + PATIENCE
}

/// Every model that has threads.
pub(super) fn models() -> [ThreadModel; 3] {
    [ThreadModel::per_connection(), ThreadModel::pool(4), ThreadModel::Reactor]
}

/// What a test sees of its servant, and does to it.
pub(super) struct Stage {
    /// `note(n)` and `slow(n)`: the numbers, in the order in which the methods ended.
    pub(super) log: Mutex<Vec<u32>>,
    pub(super) logged: Condvar,
    /// `meet()` returns when so many are in it.
    pub(super) barrier: Barrier,
    /// `wait()` returns when this is true.
    pub(super) open: Mutex<bool>,
    pub(super) opened: Condvar,
    /// How many are in `wait()`, or have been in `aside(5)`.
    pub(super) inside: AtomicUsize,
    /// `keep()` leaves its request here.
    pub(super) kept: Mutex<Vec<ServerRequest>>,
}

impl Stage {
    pub(super) fn open(&self) {
        *self.open.lock() = true;
        self.opened.notify_all();
    }

    /// Waits for fifty notes, as who makes a call of its own waits for the answer: where others are served by this thread, they are served meanwhile.
    fn look_aside(&self) {
        let (here, _there) = UnixStream::pair().expect("two sockets");
        let deadline = soon();
        self.inside.fetch_add(1, Ordering::SeqCst);
        while self.log.lock().len() < 50 && Instant::now() < deadline {
            let soon = Instant::now() + Duration::from_millis(1);
            match upcall::current() {
                Some(waiter) => waiter.until_readable(here.as_fd(), soon),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    pub(super) fn wait_for(&self, what: &str, condition: impl Fn(&Stage) -> bool) {
        let deadline = soon();
        while !condition(self) {
            assert!(Instant::now() < deadline, "in vain: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

pub(super) static INFO: InterfaceInfo =
    InterfaceInfo { id: "IDL:test/Stage:1.0", ancestors: &["IDL:test/Base:1.0"] };

struct Player(Arc<Stage>);

impl Skeleton for Player {
    fn interface(&self) -> &'static InterfaceInfo {
        &INFO
    }

    fn dispatch(&self, request: ServerRequest) {
        let stage = &self.0;
        match request.operation() {
            "null" => request.reply(|_| Ok(())),
            "echo" => {
                let Some((request, octets)) = request.arguments(|from| from.read_octet_sequence()) else {
                    return;
                };
                request.reply(|to| to.write_octet_sequence(&octets));
            }
            "text" => {
                let Some((request, text)) = request.arguments(|from| from.read_string()) else { return };
                request.reply(|to| to.write_string(&text));
            }
            "bulk" => {
                let Some((request, count)) = request.arguments(|from| from.read_u32()) else { return };
                let octets = vec![0xa5; count as usize];
                request.reply(|to| to.write_octet_sequence(&octets));
            }
            "note" => {
                let Some((request, number)) = request.arguments(|from| from.read_u32()) else { return };
                stage.log.lock().push(number);
                stage.logged.notify_all();
                request.reply(|_| Ok(()));
            }
            "slow" => {
                let Some((request, number)) = request.arguments(|from| from.read_u32()) else { return };
                std::thread::sleep(Duration::from_millis(20));
                stage.log.lock().push(number);
                stage.logged.notify_all();
                request.reply(|_| Ok(()));
            }
            "aside" => {
                let Some((request, number)) = request.arguments(|from| from.read_u32()) else { return };
                request.reply(|_| Ok(()));
                if number == 5 {
                    stage.look_aside();
                }
            }
            "meet" => {
                stage.barrier.wait();
                request.reply(|_| Ok(()));
            }
            "wait" => {
                stage.inside.fetch_add(1, Ordering::SeqCst);
                let mut open = stage.open.lock();
                while !*open {
                    stage.opened.wait(&mut open);
                }
                drop(open);
                stage.inside.fetch_sub(1, Ordering::SeqCst);
                request.reply(|_| Ok(()));
            }
            "keep-odd" => {
                let Some((request, number)) = request.arguments(|from| from.read_u32()) else { return };
                match number % 2 {
                    0 => request.reply(|_| Ok(())),
                    _ => stage.kept.lock().push(request),
                }
            }
            "keep" => stage.kept.lock().push(request),
            "drop" => drop(request),
            "panic" => panic!("the servant's own words"),
            "half" => request.reply(|to| {
                to.write_u32(7);
                to.write_octets(&[1; 100]);
                Err(EncodeError::new(EncodeErrorKind::Invalid("half a result"), "half"))
            }),
            "raise" => request.user_exception("IDL:test/Oops:1.0", &5u32),
            _ => request.unknown_operation(),
        }
    }
}

struct TestHandler(Player);

impl Handler for TestHandler {
    fn serve(&self, mut request: ServerRequest) {
        let _ = &mut request;
        invoke(&self.0, request);
    }

    fn locate(&self, _: &Orb, key: &[u8]) -> Located {
        if key == b"elsewhere" { Located::Forward(zorb_giop::Ior::nil(), true) } else { Located::Here }
    }
}

/// A server on loopback.
pub(super) struct Rig {
    pub(super) orb: Orb,
    pub(super) stage: Arc<Stage>,
}

impl Rig {
    pub(super) fn new(threads: ThreadModel) -> Rig {
        Rig::with(threads, ServerLimits::default(), |builder| builder)
    }

    pub(super) fn with(
        threads: ThreadModel,
        limits: ServerLimits,
        more: impl FnOnce(OrbBuilder) -> OrbBuilder,
    ) -> Rig {
        let builder = Orb::builder().listen("tcp:127.0.0.1:0").server_threads(threads).server_limits(limits);
        let orb = more(builder).build();
        let stage = Arc::new(Stage {
            log: Mutex::default(),
            logged: Condvar::new(),
            barrier: Barrier::new(64),
            open: Mutex::new(false),
            opened: Condvar::new(),
            inside: AtomicUsize::new(0),
            kept: Mutex::default(),
        });
        let handler = Box::new(TestHandler(Player(stage.clone())));
        orb.server().started(&orb, || handler).expect("loopback");
        Rig { orb, stage }
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        self.orb.endpoints()[0].clone()
    }

    pub(super) fn connect(&self) -> Wire {
        Wire::over(Tcp::new().connect(&self.endpoint(), soon()).expect("listening"))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.stage.open();
        self.orb.shutdown(false, Duration::ZERO);
    }
}

/// A client's connection.
pub(super) struct Wire {
    pub(super) channel: Arc<dyn Channel>,
    inbound: Inbound,
    pub(super) version: Version,
    replies: HashMap<u32, Reply>,
}

pub(super) type Body<'b> = &'b dyn Fn(&mut Encoder<'_>);

pub(super) fn nothing(_: &mut Encoder<'_>) {}

impl Wire {
    pub(super) fn over(channel: Arc<dyn Channel>) -> Wire {
        let inbound = Inbound::new(zorb_giop::Limits::default());
        Wire { channel, inbound, version: Version::V1_2, replies: HashMap::new() }
    }

    pub(super) fn message(
        &self,
        id: u32,
        response: ResponseFlags,
        operation: &str,
        body: Body<'_>,
    ) -> Vec<u8> {
        self.message_to(b"object", id, response, operation, body)
    }

    pub(super) fn message_to(
        &self,
        key: &[u8],
        id: u32,
        response: ResponseFlags,
        operation: &str,
        body: Body<'_>,
    ) -> Vec<u8> {
        let head = RequestHead {
            id,
            response,
            target: Addressing::ObjectKey(key),
            operation,
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        request_octets(self.version, &head, body)
    }

    pub(super) fn send(&self, octets: &[u8]) {
        let mut left = octets;
        while !left.is_empty() {
            let sent = self.channel.send(&[IoSlice::new(left)], soon()).expect("the server takes it");
            left = &left[sent..];
        }
    }

    pub(super) fn request(&self, id: u32, operation: &str, body: Body<'_>) {
        self.send(&self.message(id, ResponseFlags::WITH_TARGET, operation, body));
    }

    pub(super) fn oneway(&self, operation: &str, number: u32) {
        self.send(&self.message(0, ResponseFlags::NONE, operation, &|to| to.write_u32(number)));
    }

    /// The next message; `None` when the server has closed.
    pub(super) fn next(&mut self) -> Option<Message> {
        let deadline = soon();
        loop {
            if let Some(message) = self.inbound.next().expect("a server sends GIOP") {
                return Some(message);
            }
            match self.channel.receive(self.inbound.space(), deadline) {
                Ok(Received::Octets(count)) => self.inbound.received(count),
                Ok(Received::Empty) => assert!(Instant::now() < deadline, "no message"),
                Ok(Received::Closed) | Err(_) => return None,
            }
        }
    }

    pub(super) fn reply(&mut self, id: u32) -> Reply {
        loop {
            if let Some(reply) = self.replies.remove(&id) {
                return reply;
            }
            match self.next() {
                Some(Message::Reply(reply)) => {
                    self.replies.insert(reply.id, reply);
                }
                other => panic!("instead of reply {id}: {other:?}"),
            }
        }
    }

    pub(super) fn locate_reply(&mut self) -> LocateReply {
        match self.next() {
            Some(Message::LocateReply(reply)) => reply,
            other => panic!("instead of a LocateReply: {other:?}"),
        }
    }

    /// A call that succeeds.
    pub(super) fn call(&mut self, id: u32, operation: &str, body: Body<'_>) -> Reply {
        self.request(id, operation, body);
        let reply = self.reply(id);
        assert_eq!(reply.status, ReplyStatus::NO_EXCEPTION, "{operation}");
        reply
    }

    /// The name of the system exception that a reply holds, and its completion.
    pub(super) fn exception(&mut self, id: u32) -> (String, u32) {
        let reply = self.reply(id);
        assert_eq!(reply.status, ReplyStatus::SYSTEM_EXCEPTION);
        let body = decode::<SystemExceptionBody>(&reply);
        let name = body.repository_id.trim_start_matches("IDL:omg.org/CORBA/").trim_end_matches(":1.0");
        (name.to_owned(), body.completed)
    }

    /// Whether the server closes: nothing but what is to be skipped comes before the end.
    pub(super) fn ends(&mut self) -> bool {
        while let Some(message) = self.next() {
            if !matches!(message, Message::CloseConnection) {
                return false;
            }
        }
        true
    }
}

pub(super) fn request_octets(version: Version, head: &RequestHead<'_>, body: Body<'_>) -> Vec<u8> {
    let mut to = Encoder::new(Format::new(version));
    zorb_giop::begin_request(&mut to, head).expect("a head");
    body(&mut to);
    zorb_giop::finish(&mut to).expect("a size");
    to.to_bytes().to_vec()
}

pub(super) fn decode<T: zorb_cdr::Decode>(reply: &Reply) -> T {
    T::decode(&mut Decoder::over(&reply.body, Format::new(reply.version))).expect("a body")
}
