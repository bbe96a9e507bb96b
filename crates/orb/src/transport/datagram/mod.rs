//! What transports of datagrams have in common: oneways out, oneways in, and what a stranger may make a server hold.
//!
//! A datagram arrives or does not, once or twice, early or late. So these transports carry oneway requests alone
//! ([`Carries::Oneways`](super::Carries)), each of them whole:
//!
//! ```text
//! client   octets of a message ──► Outgoing: whole? ──► one datagram (udp), some packets (miop)
//!
//! server   datagram ──► rate ──► whole message ──► a oneway? ──► Senders ──► one channel for each sender
//! ```
//!
//! **What is guaranteed**: what arrives is a whole request, and one sender's requests reach the server in the order in which
//! the network delivers them. Nothing else: not that it arrives, nor in which order, nor (by `udp`) that it comes only once.
//! Code sets are announced by every request, since the one before may be lost.
//!
//! **What is bounded** ([`DatagramLimits`]): datagrams a second; senders, and what waits of each. What goes beyond is
//! dropped and counted ([`Dropped`]), and the counts are traced, at most once a second.

mod dropped;
mod outgoing;
mod senders;

pub use dropped::Dropped;

pub(super) use dropped::Counts;
pub(super) use outgoing::{Outgoing, Wire};
pub(super) use senders::{Budget, Senders};

/// What senders may make one acceptor do and hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatagramLimits {
    /// Datagrams looked at a second. 50,000: a thread does more, so that those dropped cost little beside it; an honest sender
    /// of video in packets of an Ethernet frame stays below with half a gigabit a second.
    pub per_second: u32,
    /// Datagrams that may come at once after silence. 5,000: a tenth of a second's, and more than a socket's queue holds.
    pub burst: u32,
    /// Senders at a time. Each is a connection of the server's: a descriptor and some memory. 64: as many parties as talk to
    /// one object without a connection; of more the longest silent one makes room.
    pub senders: usize,
    /// Octets that wait to be served of one sender. 1 MiB: sixteen of the largest datagrams.
    pub octets_of_sender: usize,
}

impl Default for DatagramLimits {
    fn default() -> Self {
        DatagramLimits { per_second: 50_000, burst: 5_000, senders: 64, octets_of_sender: 1 << 20 }
    }
}

impl DatagramLimits {
    /// Where they differ from the defaults, for people.
    pub(super) fn properties(&self) -> Vec<(&'static str, String)> {
        let usual = DatagramLimits::default();
        [
            ("per_second", self.per_second as usize, usual.per_second as usize),
            ("burst", self.burst as usize, usual.burst as usize),
            ("senders", self.senders, usual.senders),
            ("octets_of_sender", self.octets_of_sender, usual.octets_of_sender),
        ]
        .into_iter()
        .filter(|(_, told, usual)| told != usual)
        .map(|(name, told, _)| (name, told.to_string()))
        .collect()
    }
}

/// What does not fit, in words.
fn invalid(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, what)
}
