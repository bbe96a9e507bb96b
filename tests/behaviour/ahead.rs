//! A transport whose channels read ahead of their descriptors, as those of TLS do: TCP, of which each channel takes all
//! that has come, and hands it out a few octets at a time.
//!
//! Whoever waits for such a descriptor without asking the channel first waits for ever.

use std::collections::VecDeque;
use std::io::{self, IoSlice, Read};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use zorb::giop::{Ior, TaggedProfile};
use zorb::transport::tcp::Tcp;
use zorb::transport::{
    Acceptor, Armed, Channel, Endpoint, Idle, Published, Received, Transport, Wanted, Ways,
};

/// Octets that a channel takes at once, and hands out at once: neither is a message's length.
const TAKEN: usize = 4_000;
const GIVEN: usize = 61;

/// TCP, read ahead.
pub(crate) struct Ahead(Tcp);

impl Ahead {
    pub(crate) fn new() -> Ahead {
        Ahead(Tcp::new())
    }
}

struct AheadAcceptor(Box<dyn Acceptor>);

struct AheadChannel {
    below: Arc<dyn Channel>,
    held: Mutex<VecDeque<u8>>,
}

fn above(below: Arc<dyn Channel>) -> Arc<dyn Channel> {
    Arc::new(AheadChannel { below, held: Mutex::default() })
}

impl Transport for Ahead {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        Ok(Box::new(AheadAcceptor(self.0.listen(address)?)))
    }
    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        self.0.connect(to, deadline).map(above)
    }
    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        self.0.ways(profile, reference)
    }
}

impl Acceptor for AheadAcceptor {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        Ok(self.0.accept_now()?.map(above))
    }
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.descriptor()
    }
    fn local(&self) -> Endpoint {
        self.0.local()
    }
    fn published(&self, published_host: Option<&str>) -> Published {
        self.0.published(published_host)
    }
}

impl AheadChannel {
    /// Takes with `take` if nothing is held, and hands out some of it.
    fn give(
        &self,
        into: &mut [u8],
        take: impl FnOnce(&mut [u8]) -> io::Result<Received>,
    ) -> io::Result<Received> {
        let mut held = self.held.lock().unwrap();
        if held.is_empty() {
            let mut taken = [0; TAKEN];
            match take(&mut taken)? {
                Received::Octets(count) => held.extend(&taken[..count]),
                nothing => return Ok(nothing),
            }
        }
        let room = into.len().min(GIVEN);
        held.read(&mut into[..room]).map(Received::Octets)
    }
}

impl Channel for AheadChannel {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        self.give(into, |taken| self.below.receive(taken, deadline))
    }
    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        self.give(into, |taken| self.below.receive_now(taken))
    }
    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        self.below.send(parts, deadline)
    }
    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.below.send_now(parts)
    }
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.below.descriptor()
    }
    fn arm(&self, wanted: Wanted) -> Armed {
        match wanted {
            Wanted::Input if !self.held.lock().unwrap().is_empty() => Armed::Ready,
            _ => self.below.arm(wanted),
        }
    }
    fn shutdown_send(&self) {
        self.below.shutdown_send();
    }
    fn close(&self) {
        self.below.close();
    }
    fn state(&self) -> Idle {
        if self.held.lock().unwrap().is_empty() { self.below.state() } else { Idle::Unread }
    }
    fn peer(&self) -> &Endpoint {
        self.below.peer()
    }
}
