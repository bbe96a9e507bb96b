//! A server's side: who sent what, each sender a channel of its own.
//!
//! The acceptor takes datagrams in the keeper's thread and puts each message into its sender's queue; the server reads
//! the queue as it reads any connection. A queue's counter is not zero while there is something to read, so that its
//! descriptor can be waited for.

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use zorb_ipc::EventCounter;

use super::super::{Armed, Channel, Endpoint, Idle, Received, Wanted};
use super::{Counts, DatagramLimits};

/// All senders of one acceptor.
pub(in crate::transport) struct Senders {
    limits: DatagramLimits,
    transport: Arc<str>,
    counts: Arc<Counts>,
    table: Mutex<HashMap<SocketAddr, Arc<Sender>>>,
}

impl Senders {
    pub(in crate::transport) fn new(
        transport: Arc<str>,
        limits: DatagramLimits,
        counts: Arc<Counts>,
    ) -> Arc<Senders> {
        Arc::new(Senders { limits, transport, counts, table: Mutex::default() })
    }

    /// Hands on a message. `Some`: its sender is a new one, whose channel the server has yet to know.
    ///
    /// # Errors
    /// There is no descriptor for a new sender.
    pub(in crate::transport) fn deliver(
        self: &Arc<Self>,
        from: SocketAddr,
        message: Vec<u8>,
        now: Instant,
    ) -> io::Result<Option<Arc<dyn Channel>>> {
        let mut table = self.table.lock();
        if let Some(sender) = table.get(&from) {
            if !sender.put(message, self.limits.octets_of_sender, now) {
                Counts::add(&self.counts.queue);
            }
            return Ok(None);
        }
        let mut silent = None;
        if table.len() >= self.limits.senders {
            silent = table.iter().filter_map(|(from, sender)| Some((sender.silent_since()?, *from))).min();
            if silent.is_none() {
                Counts::add(&self.counts.senders);
                return Ok(None);
            }
        }
        let name = if from.port() == 0 { from.ip().to_string() } else { from.to_string() };
        let sender = Arc::new(Sender {
            address: from,
            peer: Endpoint { transport: self.transport.clone(), address: name.into() },
            waiting: Mutex::new(Waiting {
                messages: VecDeque::new(),
                at: 0,
                octets: 0,
                closed: false,
                last: now,
            }),
            ready: EventCounter::new(0)?,
            senders: Arc::downgrade(self),
        });
        if !sender.put(message, self.limits.octets_of_sender, now) {
            Counts::add(&self.counts.queue);
            return Ok(None);
        }
        let evicted = silent.and_then(|(_, silent)| table.remove(&silent));
        table.insert(from, sender.clone());
        drop(table);
        if let Some(evicted) = evicted {
            evicted.finish();
        }
        Ok(Some(sender))
    }

    fn forget(&self, sender: &Sender) {
        let mut table = self.table.lock();
        if table.get(&sender.address).is_some_and(|known| std::ptr::eq(&**known, sender)) {
            table.remove(&sender.address);
        }
    }
}

/// One sender, as the server's channel to it.
struct Sender {
    address: SocketAddr,
    peer: Endpoint,
    waiting: Mutex<Waiting>,
    /// Not zero while something can be read, the end included.
    ready: EventCounter,
    senders: Weak<Senders>,
}

struct Waiting {
    messages: VecDeque<Vec<u8>>,
    /// Octets of the first one that were read.
    at: usize,
    /// Of all of them.
    octets: usize,
    closed: bool,
    /// When the last one came.
    last: Instant,
}

impl Sender {
    fn put(&self, message: Vec<u8>, most: usize, now: Instant) -> bool {
        let mut waiting = self.waiting.lock();
        if waiting.closed || waiting.octets + message.len() > most {
            return false;
        }
        waiting.last = now;
        waiting.octets += message.len();
        waiting.messages.push_back(message);
        if waiting.messages.len() == 1 {
            self.tell();
        }
        true
    }

    /// The number is at most 2: it cannot overflow.
    fn tell(&self) {
        let _ = self.ready.add_now(1);
    }

    /// When it was heard of last; `None` while something waits to be read.
    fn silent_since(&self) -> Option<Instant> {
        let waiting = self.waiting.lock();
        waiting.messages.is_empty().then_some(waiting.last)
    }

    /// No more will come; what waits can be read still.
    fn finish(&self) {
        let mut waiting = self.waiting.lock();
        if !waiting.closed {
            waiting.closed = true;
            self.tell();
        }
    }
}

impl Channel for Sender {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        match self.receive_now(into)? {
            Received::Empty => {}
            received => return Ok(received),
        }
        zorb_ipc::wait_readable(self.ready.as_fd(), deadline)?;
        self.receive_now(into)
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        let mut waiting = self.waiting.lock();
        let at = waiting.at;
        let Some(message) = waiting.messages.front() else {
            return Ok(if waiting.closed { Received::Closed } else { Received::Empty });
        };
        let left = &message[at..];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        if count < left.len() {
            waiting.at += count;
            return Ok(Received::Octets(count));
        }
        let whole = message.len();
        waiting.messages.pop_front();
        (waiting.at, waiting.octets) = (0, waiting.octets - whole);
        if waiting.messages.is_empty() && !waiting.closed {
            let _ = self.ready.take_now();
        }
        Ok(Received::Octets(count))
    }

    /// There is no way back: what the server says at the end of a connection is swallowed.
    fn send(&self, parts: &[IoSlice<'_>], _: Instant) -> io::Result<usize> {
        self.send_now(parts)
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(parts.iter().map(|part| part.len()).sum())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        match wanted {
            Wanted::Input => Armed::Readable,
            // What is sent is swallowed.
            Wanted::Room => Armed::Ready,
        }
    }

    fn shutdown_send(&self) {
        if let Some(senders) = self.senders.upgrade() {
            senders.forget(self);
        }
        self.finish();
    }

    fn close(&self) {
        self.shutdown_send();
        let mut waiting = self.waiting.lock();
        waiting.messages.clear();
        (waiting.at, waiting.octets) = (0, 0);
    }

    fn state(&self) -> Idle {
        let waiting = self.waiting.lock();
        match (waiting.messages.is_empty(), waiting.closed) {
            (false, _) => Idle::Unread,
            (true, true) => Idle::Closed,
            (true, false) => Idle::Quiet,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }

    fn is_one_way(&self) -> bool {
        true
    }
}

/// A bucket of tokens: who takes one may look at a datagram.
pub(in crate::transport) struct Budget {
    per_second: f64,
    most: f64,
    tokens: f64,
    at: Option<Instant>,
}

impl Budget {
    /// A full one.
    pub(in crate::transport) fn new(limits: &DatagramLimits) -> Budget {
        let most = f64::from(limits.burst.max(1));
        Budget { per_second: f64::from(limits.per_second), most, tokens: most, at: None }
    }

    /// Takes a token, if there is one at `now`.
    pub(in crate::transport) fn take(&mut self, now: Instant) -> bool {
        if let Some(at) = self.at.replace(now) {
            let passed = now.saturating_duration_since(at).as_secs_f64();
            self.tokens = self.most.min(self.tokens + passed * self.per_second);
        }
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn senders(limits: DatagramLimits) -> (Arc<Senders>, Arc<Counts>) {
        let counts = Arc::new(Counts::default());
        (Senders::new("udp".into(), limits, counts.clone()), counts)
    }

    fn from(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    fn is_readable(channel: &dyn Channel) -> bool {
        zorb_ipc::wait_readable(channel.descriptor(), Instant::now()).unwrap()
    }

    #[test]
    fn each_sender_has_its_messages_in_order_and_a_descriptor_that_tells() {
        let (senders, _) = senders(DatagramLimits::default());
        let now = Instant::now();
        let first = senders.deliver(from(1), b"one".into(), now).unwrap().expect("a new sender");
        assert!(senders.deliver(from(1), b"two".into(), now).unwrap().is_none());
        let second = senders.deliver(from(2), b"other".into(), now).unwrap().expect("a new sender");
        assert_eq!(second.peer().to_string(), "udp:192.0.2.1:2");
        let mut into = [0; 2];
        let mut got = Vec::new();
        while is_readable(&*first) {
            let Received::Octets(count) = first.receive_now(&mut into).unwrap() else { panic!() };
            got.extend_from_slice(&into[..count]);
        }
        assert_eq!(got, b"onetwo");
        assert_eq!(first.receive_now(&mut into).unwrap(), Received::Empty);
        assert!(is_readable(&*second));
        // Who is closed is a new sender when heard of again.
        first.close();
        assert_eq!(first.receive(&mut into, now).unwrap(), Received::Closed);
        assert!(senders.deliver(from(1), b"one".into(), now).unwrap().is_some());
    }

    #[test]
    fn what_goes_beyond_the_limits_is_dropped_and_counted() {
        let limits = DatagramLimits { senders: 2, octets_of_sender: 10, ..DatagramLimits::default() };
        let (senders, counts) = senders(limits);
        let now = Instant::now();
        let first = senders.deliver(from(1), vec![0; 6], now).unwrap().unwrap();
        assert!(senders.deliver(from(1), vec![0; 5], now).unwrap().is_none());
        assert_eq!(counts.so_far().queue, 1);
        let later = now + Duration::from_secs(1);
        let second = senders.deliver(from(2), vec![0; 6], later).unwrap().unwrap();
        assert!(
            senders.deliver(from(3), vec![0; 6], later).unwrap().is_none(),
            "both have something to read"
        );
        assert_eq!(counts.so_far().senders, 1);
        let mut into = [0; 10];
        for channel in [&first, &second] {
            assert_eq!(channel.receive_now(&mut into).unwrap(), Received::Octets(6));
        }
        assert!(senders.deliver(from(3), vec![0; 6], later).unwrap().is_some());
        assert_eq!(first.receive_now(&mut into).unwrap(), Received::Closed, "silent for longest");
        assert_eq!(second.receive_now(&mut into).unwrap(), Received::Empty);
        assert_eq!(counts.so_far().total(), 2);
    }

    #[test]
    fn a_budget_lets_a_burst_through_and_then_a_rate() {
        let limits = DatagramLimits { per_second: 1000, burst: 5, ..DatagramLimits::default() };
        let mut budget = Budget::new(&limits);
        let now = Instant::now();
        assert_eq!((0..100).filter(|_| budget.take(now)).count(), 5);
        let later = now + Duration::from_millis(3);
        assert_eq!((0..100).filter(|_| budget.take(later)).count(), 3);
        let much_later = now + Duration::from_secs(60);
        assert_eq!((0..100).filter(|_| budget.take(much_later)).count(), 5);
    }
}
