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
//! So does who waits for a call on a connection that the client's reactor reads, as calls behind oneways and futures do, before each look at what has come.
//!
//! References name it by a component of the IIOP profile ([`ComponentTag::ZORB_MEMORY`]): eight octets that say which
//! [`Memory`] it is, drawn at random, and those of the name that was listened at. It is no address, which other
//! transports would take for theirs, and no other process can use it. URLs have no place for
//! components: a `corbaloc:` with the name as its host and port 1 is read too, while somebody listens there.

mod channel;
mod pipe;

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use zorb_giop::{ComponentTag, IiopProfile, Ior, TaggedComponent, TaggedProfile};
use zorb_ipc::Wake;

use super::{Acceptor, Channel, Driver, Endpoint, Published, Transport, Ways};
use channel::pair;

const NAME: &str = "memory";

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

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::time::Duration;

    use zorb_cdr::Version;

    use super::super::Received;
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
}
