//! A transport within this process: pipes of octets, no socket. For tests, and for counting instructions.
//!
//! With a server that has threads it behaves like any other transport. With one that has none
//! ([`ThreadModel::Caller`](crate::server::ThreadModel::Caller)) the connecting end serves where it would wait, so that
//! client and server run on one thread, the same way every time:
//!
//! ```text
//! client end  receive ── nothing there ──► Driver: server receives, upcall, replies
//!                │◄──────────────────────────────────────────────────────────┘
//! ```
//!
//! References name it by a component of the IIOP profile ([`ComponentTag::ZORB_MEMORY`]): eight octets that say which
//! [`Memory`] it is, drawn at random, and those of the name that was listened at. It is no address, which other
//! transports would take for theirs, and no other process can use it. URLs have no place for
//! components: a `corbaloc:` with the name as its host and port 1 is read too, while somebody listens there.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use zorb_giop::{ComponentTag, IiopProfile, Ior, TaggedComponent, TaggedProfile};
use zorb_ipc::Wake;

use super::{Acceptor, Armed, Channel, Driver, Endpoint, Idle, Published, Received, Transport, Wanted, Ways};

const NAME: &str = "memory";

/// Octets that a pipe holds before its sender must wait: 1 MiB, so that the messages of tests fit.
const CAPACITY: usize = 1 << 20;

/// The port in URLs; 0 would say that the profile names no address.
const PORT: u16 = 1;

/// The listeners of one memory. ORBs that share it (as an [`Arc`]) reach each other.
pub struct Memory {
    /// Which one it is, among those of all processes.
    id: [u8; 8],
    listeners: Arc<Mutex<HashMap<String, Arc<Listener>>>>,
    /// Names given to listeners that asked for none.
    named: AtomicUsize,
}

/// Connections that wait to be accepted.
struct Listener {
    waiting: Mutex<VecDeque<Arc<dyn Channel>>>,
    bell: Wake,
    driver: OnceLock<Driver>,
}

impl Memory {
    /// One in which nobody listens yet.
    pub fn new() -> Memory {
        // Each state is keyed at random.
        let id = RandomState::new().hash_one(NAME).to_be_bytes();
        Memory { id, listeners: Arc::default(), named: AtomicUsize::default() }
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<String, Arc<Listener>>> {
        self.listeners.lock()
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

fn endpoint(name: &str) -> Endpoint {
    Endpoint { transport: NAME.into(), address: name.into() }
}

impl Transport for Memory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let mut listeners = self.listeners();
        let name = match address {
            // Never one that was used before: references to it must not lead here.
            "" => format!("memory-{}", self.named.fetch_add(1, Ordering::Relaxed)),
            name => name.to_owned(),
        };
        if listeners.contains_key(&name) {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!("somebody listens at memory:{name}"),
            ));
        }
        let listener =
            Arc::new(Listener { waiting: Mutex::default(), bell: Wake::new()?, driver: OnceLock::new() });
        listeners.insert(name.clone(), listener.clone());
        Ok(Box::new(MemoryAcceptor { id: self.id, name, listener, listeners: self.listeners.clone() }))
    }

    fn connect(&self, to: &Endpoint, _: Instant) -> io::Result<Arc<dyn Channel>> {
        let listener = self.listeners().get(&*to.address).cloned().ok_or_else(|| {
            io::Error::new(io::ErrorKind::ConnectionRefused, format!("nobody listens at {to}"))
        })?;
        let (client, server) = pair(to.clone(), endpoint("client"))?;
        listener.waiting.lock().push_back(Arc::new(server));
        listener.bell.wake()?;
        if let Some(accept) = listener.driver.get() {
            accept();
        }
        Ok(Arc::new(client))
    }

    fn ways(&self, profile: &TaggedProfile, _: &Ior) -> Option<Ways> {
        let profile = IiopProfile::decode(profile).ok()?;
        let named = profile.components.iter().filter(|component| component.tag == ComponentTag::ZORB_MEMORY);
        // Whoever listened there may have gone, as with addresses.
        let names = named.filter_map(|component| component.data.strip_prefix(&self.id));
        let names = names.filter_map(|name| std::str::from_utf8(name).ok());
        let by_hand =
            Some(&*profile.host).filter(|name| profile.port == PORT && self.listeners().contains_key(*name));
        let endpoints = names.chain(by_hand).map(endpoint).collect();
        Ways::iiop(profile, endpoints)
    }
}

struct MemoryAcceptor {
    id: [u8; 8],
    name: String,
    listener: Arc<Listener>,
    listeners: Arc<Mutex<HashMap<String, Arc<Listener>>>>,
}

impl Drop for MemoryAcceptor {
    fn drop(&mut self) {
        self.listeners.lock().remove(&self.name);
        for channel in self.listener.waiting.lock().drain(..) {
            channel.close();
        }
    }
}

impl Acceptor for MemoryAcceptor {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        self.listener.bell.drain()?;
        let mut waiting = self.listener.waiting.lock();
        let next = waiting.pop_front();
        if !waiting.is_empty() {
            self.listener.bell.wake()?;
        }
        Ok(next)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.listener.bell.as_fd()
    }

    fn local(&self) -> Endpoint {
        endpoint(&self.name)
    }

    fn published(&self, _: Option<&str>) -> Published {
        Published {
            components: vec![TaggedComponent {
                tag: ComponentTag::ZORB_MEMORY,
                data: [&self.id, self.name.as_bytes()].concat().into(),
            }],
            endpoints: vec![self.local()],
            ..Published::default()
        }
    }

    fn drive(&self, accept: Driver) -> bool {
        self.listener.driver.set(accept).is_ok()
    }
}

/// The two ends of a connection: the connecting one, the accepting one. Each is told who is at the other end.
fn pair(server: Endpoint, client: Endpoint) -> io::Result<(MemoryChannel, MemoryChannel)> {
    let (there, back) = (Arc::new(Pipe::new()?), Arc::new(Pipe::new()?));
    let driver = Arc::new(OnceLock::new());
    let connecting = MemoryChannel {
        incoming: back.clone(),
        outgoing: there.clone(),
        peer: server,
        driver: driver.clone(),
        connecting: true,
    };
    let accepting =
        MemoryChannel { incoming: there, outgoing: back, peer: client, driver, connecting: false };
    Ok((connecting, accepting))
}

/// Octets in one direction.
struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
    /// Rung when octets come, for whoever waits for descriptors.
    bell: Wake,
}

#[derive(Default)]
struct State {
    octets: Vec<u8>,
    /// Octets at the front of `octets` that have been received.
    taken: usize,
    ended: bool,
    /// Whose bell to ring when there is room: the sender's other pipe.
    wants_room: Option<Arc<Pipe>>,
}

impl State {
    fn unread(&self) -> usize {
        self.octets.len() - self.taken
    }
}

impl Pipe {
    fn new() -> io::Result<Pipe> {
        Ok(Pipe { state: Mutex::default(), changed: Condvar::new(), bell: Wake::new()? })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// What a system call does elsewhere, and so not counted among the instructions of a call: never inlined.
    #[inline(never)]
    fn take(&self, into: &mut [u8]) -> Received {
        let mut state = self.state();
        let count = state.unread().min(into.len());
        if count == 0 {
            return if state.ended { Received::Closed } else { Received::Empty };
        }
        into[..count].copy_from_slice(&state.octets[state.taken..state.taken + count]);
        let was_full = state.unread() >= CAPACITY;
        state.taken += count;
        if state.unread() == 0 {
            state.octets.clear();
            state.taken = 0;
        }
        let wants_room = if was_full { state.wants_room.take() } else { None };
        drop(state);
        if was_full {
            self.changed.notify_all();
        }
        if let Some(other) = wants_room {
            let _ = other.bell.wake();
        }
        Received::Octets(count)
    }

    /// Takes what there is room for. `ring` if somebody may be waiting for the descriptor. Not counted, as
    /// [`take`](Self::take).
    #[inline(never)]
    fn put(&self, parts: &[IoSlice<'_>], ring: bool) -> io::Result<usize> {
        let mut state = self.state();
        if state.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = CAPACITY.saturating_sub(state.unread());
        let mut put = 0;
        for part in parts {
            let count = part.len().min(room - put);
            state.octets.extend_from_slice(&part[..count]);
            put += count;
        }
        drop(state);
        if put > 0 && ring {
            self.announce();
        }
        Ok(put)
    }

    fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let wants_room = state.wants_room.take();
        drop(state);
        self.announce();
        if let Some(other) = wants_room {
            let _ = other.bell.wake();
        }
    }

    fn announce(&self) {
        self.changed.notify_all();
        // An eventfd that is full is readable, which is what is wanted.
        let _ = self.bell.wake();
    }

    /// Blocks until `condition` or the deadline.
    fn wait(&self, deadline: Instant, condition: impl Fn(&State) -> bool) {
        let mut state = self.state();
        while !condition(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.changed.wait_for(&mut state, left);
        }
    }
}

struct MemoryChannel {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
    peer: Endpoint,
    /// Given by the accepting end, called by the connecting one.
    driver: Arc<OnceLock<Driver>>,
    connecting: bool,
}

impl MemoryChannel {
    fn driver(&self) -> Option<&Driver> {
        if self.connecting { self.driver.get() } else { None }
    }

    #[cold]
    fn wait_and_take(&self, into: &mut [u8], deadline: Instant) -> Received {
        // With a driver: another thread may have been serving, or the reply comes later.
        let until = match self.driver() {
            Some(_) => deadline.min(Instant::now() + Duration::from_millis(1)),
            None => deadline,
        };
        self.incoming.wait(until, |state| state.unread() > 0 || state.ended);
        self.incoming.take(into)
    }

    #[cold]
    fn wait_and_send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        loop {
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.driver() {
                Some(serve) => serve(),
                None => self.outgoing.wait(deadline, |state| state.unread() < CAPACITY || state.ended),
            }
            match self.send_now(parts)? {
                0 => {}
                sent => return Ok(sent),
            }
        }
    }
}

impl Drop for MemoryChannel {
    /// As a socket's end, which the other one sees.
    fn drop(&mut self) {
        self.incoming.end();
        self.outgoing.end();
    }
}

impl Channel for MemoryChannel {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        if let Some(serve) = self.driver() {
            serve();
        }
        match self.incoming.take(into) {
            Received::Empty => Ok(self.wait_and_take(into, deadline)),
            found => Ok(found),
        }
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        Ok(self.incoming.take(into))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        match self.send_now(parts) {
            Ok(0) => self.wait_and_send(parts, deadline),
            sent => sent,
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.outgoing.put(parts, self.driver.get().is_none())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.incoming.bell.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        if self.driver().is_some() {
            return Armed::Ready;
        }
        // A bell that cannot be silenced rings once too often, no more.
        match wanted {
            Wanted::Input => {
                let state = self.incoming.state();
                if state.unread() > 0 || state.ended {
                    return Armed::Ready;
                }
                // Under the lock: whoever puts octets in afterwards rings again.
                let _ = self.incoming.bell.drain();
            }
            Wanted::Room => {
                let mut state = self.outgoing.state();
                if state.unread() < CAPACITY || state.ended {
                    return Armed::Ready;
                }
                state.wants_room = Some(self.incoming.clone());
            }
        }
        Armed::Readable
    }

    fn shutdown_send(&self) {
        self.outgoing.end();
    }

    fn close(&self) {
        self.incoming.end();
        self.outgoing.end();
    }

    fn state(&self) -> Idle {
        let state = self.incoming.state();
        match (state.unread(), state.ended) {
            (0, false) => Idle::Quiet,
            (0, true) => Idle::Closed,
            _ => Idle::Unread,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }

    fn drive(&self, serve: Driver) -> bool {
        !self.connecting && self.driver.set(serve).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use zorb_cdr::Version;

    use super::super::reference::Publication;
    use super::super::tcp::Tcp;
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn a_pipe_keeps_order_and_ends() {
        let memory = Memory::new();
        let acceptor = memory.listen("here").expect("a free name");
        assert!(memory.listen("here").is_err());
        let client = memory.connect(&acceptor.local(), soon()).expect("listening");
        let server = acceptor.accept_now().expect("accepts").expect("one waits");
        client.send(&[IoSlice::new(b"on"), IoSlice::new(b"ce")], soon()).expect("room");
        let mut into = [0; 3];
        assert_eq!(server.receive(&mut into, soon()).expect("open"), Received::Octets(3));
        assert_eq!(server.receive(&mut into, soon()).expect("open"), Received::Octets(1));
        assert_eq!(server.receive_now(&mut into).expect("open"), Received::Empty);
        client.shutdown_send();
        assert_eq!(server.receive(&mut into, soon()).expect("open"), Received::Closed);
        drop(acceptor);
        assert!(memory.connect(&endpoint("here"), soon()).is_err());
    }

    #[test]
    fn beside_tcp_in_one_profile_each_reads_its_own() {
        let (memory, tcp) = (Memory::new(), Tcp::new());
        let acceptors: Vec<Arc<dyn Acceptor>> =
            vec![tcp.listen("127.0.0.1:0").unwrap().into(), memory.listen("here").unwrap().into()];
        let locals: Vec<_> = acceptors.iter().map(|acceptor| acceptor.local()).collect();
        for order in [[0, 1], [1, 0]] {
            let ordered = order.map(|index| acceptors[index].clone());
            let published = Publication::of(&ordered, None, Vec::new()).unwrap();
            let profiles = published.profiles(Version::V1_2, b"key").unwrap();
            assert_eq!(profiles.len(), 1);
            let reference = Ior { type_id: String::new(), profiles };
            let ways = |transport: &dyn Transport| {
                let ways = transport.ways(&reference.profiles[0], &reference);
                ways.map(|ways| (ways.object_key, ways.endpoints))
            };
            assert_eq!(ways(&tcp), Some(("key".into(), vec![locals[0].clone()])));
            assert_eq!(ways(&memory), Some(("key".into(), vec![locals[1].clone()])));
            assert_eq!(ways(&Memory::new()), None, "nobody listens there");
        }
    }

    #[test]
    fn a_full_pipe_takes_nothing_until_it_is_read() {
        let (client, server) = pair(endpoint("s"), endpoint("c")).expect("descriptors");
        let bulk = vec![7; CAPACITY + 1];
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), CAPACITY);
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), 0);
        let mut into = [0; 10];
        assert_eq!(server.receive_now(&mut into).expect("open"), Received::Octets(10));
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), 10);
    }

    #[test]
    fn the_connecting_end_drives_the_other() {
        let (client, server) = pair(endpoint("s"), endpoint("c")).expect("descriptors");
        let server = Arc::new(server);
        let driven = server.clone();
        assert!(server.drive(Arc::new(move || {
            let mut into = [0; 4];
            if let Ok(Received::Octets(count)) = driven.receive_now(&mut into) {
                driven.send_now(&[IoSlice::new(&into[..count])]).expect("room");
            }
        })));
        client.send(&[IoSlice::new(b"echo")], soon()).expect("room");
        let mut into = [0; 8];
        assert_eq!(client.receive(&mut into, soon()).expect("open"), Received::Octets(4));
        assert_eq!(&into[..4], b"echo");
    }
}
