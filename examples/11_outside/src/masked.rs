//! A transport of one's own: TCP whose octets are masked by a key that both ends know, so that a line's idle reader sees no text. It keeps
//! no secrets; it stands for what encrypts or compresses, and has what is hard in those:
//!
//! * Its channels read ahead: what has come is taken from the socket at once and kept, so a socket with nothing to read does not
//!   mean that there is nothing to read. [`Channel::arm`] says so before anybody waits.
//! * Its endpoints stand in references in a profile of its own ([`PROFILE`]), which only who has this transport reads. All
//!   others keep it as it is, and pass it on.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use zorb::giop::{IiopProfile, Ior, ProfileTag, TaggedProfile};
use zorb::transport::tcp::Tcp;
use zorb::transport::{
    Acceptor, Armed, Channel, Endpoint, Idle, InProfile, ProfileForm, Published, Received, Transport, Wanted,
    Ways,
};

const NAME: &str = "masked";

/// The tag of its profiles, which are laid out as IIOP's. Not registered: it spells `MASK`.
const PROFILE: ProfileTag = ProfileTag(0x4d41_534b);

/// Octets that are taken from the socket at once.
const TAKEN: usize = 16 << 10;

pub struct Masked {
    tcp: Tcp,
    key: Arc<[u8]>,
}

impl Masked {
    /// By a key of at least one octet, the same on both sides.
    pub fn new(key: &[u8]) -> Masked {
        assert!(!key.is_empty(), "a mask needs a key");
        Masked { tcp: Tcp::new(), key: key.into() }
    }
}

/// The same address, by this transport.
fn ours(below: &Endpoint) -> Endpoint {
    Endpoint { transport: NAME.into(), address: below.address.clone() }
}

impl Transport for Masked {
    fn name(&self) -> &'static str {
        NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        Ok(Box::new(MaskedAcceptor { below: self.tcp.listen(address)?, key: self.key.clone() }))
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        Ok(masked(self.tcp.connect(to, deadline)?, &self.key))
    }

    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        if profile.tag != PROFILE {
            return None;
        }
        let iiop = TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: profile.data.clone() };
        let mut ways = self.tcp.ways(&iiop, reference)?;
        ways.endpoints = ways.endpoints.iter().map(ours).collect();
        Some(ways)
    }
}

struct MaskedAcceptor {
    below: Box<dyn Acceptor>,
    key: Arc<[u8]>,
}

impl Acceptor for MaskedAcceptor {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        Ok(self.below.accept_now()?.map(|channel| masked(channel, &self.key)))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.below.descriptor()
    }

    fn local(&self) -> Endpoint {
        ours(&self.below.local())
    }

    fn published(&self, host: Option<&str>) -> Published {
        let below = self.below.published(host);
        // Nothing for the IIOP profile: plain TCP does not lead here.
        Published {
            profiles: below.addresses.into_iter().map(form).collect(),
            endpoints: below.endpoints.iter().map(ours).collect(),
            ..Published::default()
        }
    }
}

/// How an address is written for any object.
fn form((host, port): (String, u16)) -> ProfileForm {
    Arc::new(move |object: &InProfile<'_>| {
        let profile = IiopProfile {
            version: object.version,
            host: host.clone(),
            port,
            object_key: object.object_key.to_vec().into(),
            components: object.components.to_vec(),
        };
        Ok(TaggedProfile { tag: PROFILE, ..profile.encode()? })
    })
}

struct MaskedChannel {
    below: Arc<dyn Channel>,
    key: Arc<[u8]>,
    peer: Endpoint,
    /// Octets that have left: which octet of the key is next.
    sent: Mutex<usize>,
    incoming: Mutex<Incoming>,
}

#[derive(Default)]
struct Incoming {
    /// Octets that have come.
    count: usize,
    /// Those of them that nobody has received yet, without their mask.
    held: VecDeque<u8>,
}

fn masked(below: Arc<dyn Channel>, key: &Arc<[u8]>) -> Arc<dyn Channel> {
    let peer = ours(below.peer());
    Arc::new(MaskedChannel {
        below,
        key: key.clone(),
        peer,
        sent: Mutex::default(),
        incoming: Mutex::default(),
    })
}

/// A thread that panicked with the lock has left numbers that hold.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MaskedChannel {
    /// The octet at this place of the stream, with its mask put on or taken off.
    fn mask(&self, octet: u8, at: usize) -> u8 {
        octet ^ self.key[at % self.key.len()]
    }

    /// Hands out what is held; if that is nothing, what `take` takes.
    fn give(
        &self,
        into: &mut [u8],
        take: impl FnOnce(&mut [u8]) -> io::Result<Received>,
    ) -> io::Result<Received> {
        let mut incoming = lock(&self.incoming);
        if incoming.held.is_empty() {
            let mut taken = [0; TAKEN];
            let count = match take(&mut taken)? {
                Received::Octets(count) => count,
                nothing => return Ok(nothing),
            };
            let begin = incoming.count;
            let plain = taken[..count].iter().enumerate().map(|(at, octet)| self.mask(*octet, begin + at));
            incoming.held.extend(plain);
            incoming.count += count;
        }
        let count = incoming.held.len().min(into.len());
        into.iter_mut().zip(incoming.held.drain(..count)).for_each(|(to, octet)| *to = octet);
        Ok(Received::Octets(count))
    }

    /// Sends by `send` what it takes: what it did not take is masked again for another try.
    fn put(
        &self,
        parts: &[IoSlice<'_>],
        send: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut sent = lock(&self.sent);
        let plain = parts.iter().flat_map(|part| part.iter()).take(TAKEN);
        let hidden: Vec<u8> = plain.enumerate().map(|(at, octet)| self.mask(*octet, *sent + at)).collect();
        let count = send(&[IoSlice::new(&hidden)])?;
        *sent += count;
        Ok(count)
    }
}

impl Channel for MaskedChannel {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        self.give(into, |taken| self.below.receive(taken, deadline))
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        self.give(into, |taken| self.below.receive_now(taken))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        self.put(parts, |hidden| self.below.send(hidden, deadline))
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.put(parts, |hidden| self.below.send_now(hidden))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.below.descriptor()
    }

    /// What is held can be received at once, whatever the descriptor says.
    fn arm(&self, wanted: Wanted) -> Armed {
        match wanted {
            Wanted::Input if !lock(&self.incoming).held.is_empty() => Armed::Ready,
            _ => self.below.arm(wanted),
        }
    }

    fn heard(&self) {
        self.below.heard();
    }

    fn rest(&self) {
        self.below.rest();
    }

    fn shutdown_send(&self) {
        self.below.shutdown_send();
    }

    fn close(&self) {
        self.below.close();
    }

    fn state(&self) -> Idle {
        if lock(&self.incoming).held.is_empty() { self.below.state() } else { Idle::Unread }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }
}
