//! Transports: how bytes travel, apart from what they mean.
//!
//! A [`Transport`] listens and connects; an [`Acceptor`] yields [`Channel`]s; a channel moves bytes. All are
//! registered on the ORB's builder; the ORB knows nothing else of them. Errors are [`std::io::Error`]s; the
//! layers above add endpoint and step.
//!
//! | transport | carries | in references |
//! |---|---|---|
//! | [`tcp`] | everything | the IIOP profile |
//! | [`unix`](mod@unix) | everything, within a machine | a component of the IIOP profile (omniORB), a profile (TAO) |
//! | [`udp`] | oneways | a component of the IIOP profile (zorb) |
//! | [`miop`] | oneways to groups of objects | the UIPMC profile of the group |
//! | [`shm`] | everything, within a machine, by shared memory | a component of the IIOP profile (zorb) |
//! | [`memory`] | everything, within a process | a component of the IIOP profile (zorb) |

pub mod datagram;
pub(crate) mod gather;
pub(crate) mod lent;
mod loopback;
mod machine;
pub mod memory;
pub mod miop;
pub(crate) mod reference;
#[cfg(test)]
pub(crate) mod scripted;
pub mod shm;
mod stream;
pub mod tcp;
mod tuning;
pub mod udp;
pub mod unix;

pub use crate::loan::Lendable;
pub use reference::{InProfile, ProfileForm, Published, Ways};

use std::any::Any;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use zorb_giop::{Ior, TaggedProfile};
pub use zorb_ipc::{Resolver, ResolverOptions, Spinners, Spinning};

/// Where a channel leads or a listener listens, as text says it: `tcp:host:port`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The transport's name, such as `tcp`.
    pub transport: Arc<str>,
    /// The rest, in the transport's own form: `host:port`, `[v6]:port`, a path.
    pub address: Arc<str>,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.transport, self.address)
    }
}

/// What a transport can move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Octets in both directions, in order and without loss: every message.
    Streams,
    /// Oneway requests alone, each whole or not at all, of at most so many octets: nothing tells whether one arrived. Calls
    /// that wait for a reply, or for a oneway's arrival, pass such endpoints by.
    Oneways {
        /// The largest message in octets, with its header.
        largest: usize,
    },
}

/// A way to move bytes between processes. It is [`Any`] so that who knows its type can make another one of it.
pub trait Transport: Any + Send + Sync {
    /// The first word of its endpoints, such as `tcp`.
    fn name(&self) -> &'static str;
    /// Whether clients use it only where a list of [protocols](crate::protocols::Protocols) names it, for which `*` does not count. So
    /// for a second one of a kind, with properties of its own, such as [`Tcp::named`](tcp::Tcp::named): it can read the same references.
    fn is_by_name_alone(&self) -> bool {
        false
    }
    /// Listens at `address` (its own form; a host alone, a port range and so on are its business).
    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>>;
    /// Connects by the deadline; name lookup counts.
    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>>;
    /// What may be sent by it.
    fn carries(&self) -> Carries {
        Carries::Streams
    }
    /// Whether its datagrams may be those of [frames](crate::frames).
    fn carries_frames(&self) -> bool {
        false
    }
    /// What this transport can use of a profile; `None` if nothing. `reference` is the one that the profile stands in, whose
    /// other profiles may say what this one does not. Asked once for each reference, not with every call; never blocks.
    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways>;
    /// What it knows in a profile and does not use, each with the reason, such as that it is another machine's: for people who
    /// ask why calls go another way.
    fn declines(&self, profile: &TaggedProfile, reference: &Ior) -> Vec<Declined> {
        let _ = (profile, reference);
        Vec::new()
    }
    /// Memory for so many octets that is sent without a copy by this transport's channels, or the reason why there is none now; `None`: it has no such
    /// memory. It begins at a multiple of 8.
    fn loan(&self, octets: usize) -> Option<io::Result<Box<dyn Lendable>>> {
        let _ = octets;
        None
    }
    /// What it was told beyond its defaults, by name, such as (`queues`, `64KiB`): for people.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// What a transport knows in a reference, and does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    /// As an endpoint would be written.
    pub endpoint: String,
    /// Why not.
    pub reason: String,
}

/// A listening endpoint.
pub trait Acceptor: Send + Sync {
    /// The next connection if one waits, `None` if none does. Never blocks.
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>>;
    /// Readable when a connection may wait.
    fn descriptor(&self) -> BorrowedFd<'_>;
    /// Where it listens, as bound.
    fn local(&self) -> Endpoint;
    /// What references should say of it. `published_host` is the user's choice of a host's name, if made.
    fn published(&self, published_host: Option<&str>) -> Published;
    /// Has requests to the group of objects that `group` names go to the object of this key too, once however often it is
    /// said. `None`: this acceptor knows nothing of such groups.
    ///
    /// # Errors
    /// The group cannot be listened to.
    fn join(&self, group: &TaggedProfile, object_key: &[u8]) -> Option<io::Result<()>> {
        let _ = (group, object_key);
        None
    }
    /// The opposite. False: the object was not in the group here.
    fn leave(&self, group: &TaggedProfile, object_key: &[u8]) -> bool {
        let _ = (group, object_key);
        false
    }
    /// For transports within one process, whose ends may be served without a thread: `accept` takes the connections that
    /// wait, and the connecting end calls it. False, and nothing else, from every other transport.
    fn drive(&self, accept: Driver) -> bool {
        let _ = accept;
        false
    }
}

/// What an end within this process calls in place of waiting: it serves what has arrived at the other end.
pub type Driver = Arc<dyn Fn() + Send + Sync>;

/// What a receive that does not block found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// So many octets, at least one.
    Octets(usize),
    /// Nothing now.
    Empty,
    /// The peer has closed its sending half: no octet will come.
    Closed,
}

/// What to wait for on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Octets to receive, or the end of them.
    Input,
    /// Room to send into.
    Room,
}

/// How to wait for something on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Armed {
    /// Not at all: it may be there already, in the channel itself. To be tried again.
    Ready,
    /// Until the descriptor is readable.
    Readable,
    /// Until the descriptor is writable.
    Writable,
}

/// A connected byte stream. All methods take `&self`: one thread may send while another receives.
pub trait Channel: Send + Sync {
    /// Blocks until octets come (`Octets`), the peer closes (`Closed`) or the deadline passes (`Empty`). May return
    /// `Empty` early; the caller looks at its clock.
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received>;
    /// The same for a length of time, so that a clock need not be read: what a server does between two calls.
    fn receive_within(&self, into: &mut [u8], time: Duration) -> io::Result<Received> {
        self.receive(into, Instant::now() + time)
    }
    /// The same without blocking.
    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received>;
    /// As [`receive`](Self::receive), into several slices, which are filled one after the other; the first is not empty. Channels that know
    /// nothing of it fill that one.
    fn receive_slices(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> io::Result<Received> {
        self.receive(first_of(into), deadline)
    }
    /// The same without blocking.
    fn receive_slices_now(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Received> {
        self.receive_now(first_of(into))
    }
    /// Whether the peer may lend memory on it ([`receive_lent`](Self::receive_lent)).
    fn lends(&self) -> bool {
        false
    }
    /// Octets that come next and lie in memory that the peer has lent, which keeps them as they are until these are dropped: at most
    /// `most`, and then they were received. `None`: what comes next, if anything, comes by the receives. Never blocks.
    fn receive_lent(&self, most: usize) -> io::Result<Option<Bytes>> {
        let _ = most;
        Ok(None)
    }
    /// Whether the system usually holds little of what is on its way to here, half a MiB at most: the two ends then take turns as often, however much is
    /// received at once.
    fn queues_little(&self) -> bool {
        false
    }
    /// Sends what it can of `parts` in order, blocking until at least one octet went or the deadline passed
    /// (`ErrorKind::TimedOut`). Returns the count.
    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize>;
    /// The same by who knows how long that was from now a moment ago, so that a clock need not be read: what a flood does between two messages. `left` bounds the
    /// first wait, the deadline all further ones.
    fn send_within(&self, parts: &[IoSlice<'_>], left: Duration, deadline: Instant) -> io::Result<usize> {
        let _ = left;
        self.send(parts, deadline)
    }
    /// The same without blocking: `Ok(0)` when the transport takes nothing now.
    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize>;
    /// How receives look before they sleep, if they do: said once by the ORB whose channel it becomes, on a thread that may run
    /// where the receives will. Channels that know nothing of it sleep.
    fn spin(&self, spinners: &Spinners) {
        let _ = spinners;
    }
    /// What to wait on: the same descriptor for as long as the channel lives, so that a set of them has it once. What it is
    /// waited for, and whether at all, says [`arm`](Self::arm).
    fn descriptor(&self) -> BorrowedFd<'_>;
    /// Prepares to wait, after a receive or a send that found nothing: to be asked before each wait, since a channel may hold
    /// octets above its descriptor, and may have to tell its peer that somebody waits. Whichever of several things was
    /// waited for, the descriptor tells only that one of them may be there.
    fn arm(&self, wanted: Wanted) -> Armed;
    /// The descriptor was reported: whoever waited on it says so, and nobody else, before looking at what has come. Needed
    /// where it stays readable otherwise.
    fn heard(&self) {}
    /// Nothing has come or gone for some time: what it holds to be quick may be given back. Anything may come after it.
    fn rest(&self) {}
    /// It is to stay, though nothing may come or go for long: so that who is in between does not forget it, and a peer that has vanished is
    /// found, it is asked from time to time whether it is there, where the transport can do so.
    fn stay(&self) {}
    /// Says that no more will be sent; input can still be received.
    fn shutdown_send(&self);
    /// Ends both directions at once; a receive that blocks in another thread returns.
    fn close(&self);
    /// Before an idle channel is used again: has the peer closed it, or sent something unasked?
    fn state(&self) -> Idle;
    /// The other end, for messages to people.
    fn peer(&self) -> &Endpoint;
    /// Whether nothing can go the other way, and each message stands for itself: what one announced, such as code sets, says
    /// nothing of the next. A client's is handed one message after another, and sends each as one.
    fn is_one_way(&self) -> bool {
        false
    }
    /// What serves the other end where that has no thread to: who waits for something from there calls it first, and again while it waits. Receives
    /// that block do so themselves.
    fn driver(&self) -> Option<&Driver> {
        None
    }
    /// As [`Acceptor::drive`]: `serve` serves what has arrived here, and is the other end's [`driver`](Self::driver).
    fn drive(&self, serve: Driver) -> bool {
        let _ = serve;
        false
    }
}

fn first_of<'s>(slices: &'s mut [IoSliceMut<'_>]) -> &'s mut [u8] {
    slices.first_mut().map(|first| &mut **first).unwrap_or_default()
}

/// What an idle channel holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing: it can be used.
    Quiet,
    /// Unread octets, such as a CloseConnection.
    Unread,
    /// Closed or broken.
    Closed,
}
