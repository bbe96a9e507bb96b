//! What a server may be told: its threads, and what its clients may make it hold. Every limit is a value with a default.

use std::sync::Arc;
use std::time::Duration;

use zorb_giop::Protocol;

use crate::messages::MessageMemory;
use crate::transport::Spinners;

/// What the builder chose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Where to listen; empty: `tcp::0`.
    pub(crate) endpoints: Vec<String>,
    pub(crate) published_host: Option<String>,
    pub(crate) threads: ThreadModel,
    pub(crate) limits: ServerLimits,
    /// Replies above this many octets leave in fragments; `None`: never.
    pub(crate) fragment_size: Option<usize>,
    pub(crate) message_limits: zorb_giop::Limits,
    /// What the memory of large messages comes from, where all share it.
    pub(crate) storage: Option<Arc<MessageMemory>>,
    /// How threads that read look for the next request before they sleep; `None`: they sleep at once.
    pub(crate) spinners: Option<Spinners>,
    /// What clients may speak.
    pub(crate) messagings: Messagings,
}

/// Messaging protocols in their order of preference.
#[derive(Clone, Debug)]
pub(crate) struct Messagings(pub(crate) Arc<[Protocol]>);

impl Messagings {
    /// What may come without a connection: GIOP, and what is for datagrams alone.
    pub(crate) fn by_datagrams(&self) -> Arc<[Protocol]> {
        let others = self.0.iter().filter(|messaging| messaging.by_datagrams().is_some()).cloned();
        others.chain([Protocol::Giop]).collect()
    }

    /// Leaves out those for streams that carry no service contexts, unless nothing else is there.
    pub(crate) fn keep_those_with_contexts(&mut self) {
        let carries =
            |messaging: &&Protocol| messaging.carries_contexts() || messaging.by_datagrams().is_some();
        if self.0.iter().any(|messaging| messaging.carries_contexts()) {
            self.0 = self.0.iter().filter(carries).cloned().collect();
        }
    }
}

impl Default for Messagings {
    fn default() -> Self {
        Messagings(Arc::new([Protocol::Giop]))
    }
}

/// Which threads serve.
///
/// In every model but [`Caller`](ThreadModel::Caller) one more thread, the keeper, accepts connections, watches those
/// that are idle, and sees to the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadModel {
    /// A thread per busy connection, and one more for each call that waits behind another's upcall. Idle connections are
    /// parked and cost memory only.
    ///
    /// A thread stays with a connection as long as calls come at intervals below
    /// [`ServerLimits::linger`]: a call is then one receive and one send, without any other thread.
    PerConnection {
        /// The most threads. When all are in upcalls, further requests wait for [`ServerLimits::queue_time`].
        most: usize,
    },
    /// A fixed number of threads for all connections.
    ///
    /// Callbacks need a thread per level: a chain of nested calls deeper than the pool ends in `TRANSIENT` after
    /// [`ServerLimits::stall_time`].
    Pool {
        /// How many.
        threads: usize,
        /// Requests that may wait for one; beyond it they are answered with `TRANSIENT` at once.
        queue: usize,
    },
    /// One thread, the keeper itself, for everything: no two upcalls run at the same time. While a servant's own call
    /// waits for its reply, other requests are served on top of it, [`ServerLimits::nesting`] levels deep. While such a call
    /// looks up a name, connects or sends, nobody is served: its connect and call timeouts bound that.
    Reactor,
    /// No thread: a client in the same thread serves where it would wait, its earlier oneways first, and where it polls a future. For transports that
    /// support it ([`Memory`](crate::transport::memory::Memory)); for tests, and for counting instructions.
    Caller,
}

impl ThreadModel {
    /// The default: a thread per busy connection, at most 512. That is beyond what any machine runs at the same time, and
    /// half of what small containers allow a process.
    pub const fn per_connection() -> Self {
        Self::PerConnection { most: 512 }
    }

    /// A pool of `threads` in whose queue ten requests per thread, and at least 64, may wait.
    pub const fn pool(threads: usize) -> Self {
        let queue = if threads < 7 { 64 } else { threads * 10 };
        Self::Pool { threads, queue }
    }
}

impl Default for ThreadModel {
    fn default() -> Self {
        Self::per_connection()
    }
}

/// What one client, and all together, may make a server hold, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Open connections. 16,384: room for ten thousand clients, at under 2 KiB each while idle. At the limit the
    /// connection that has been idle longest is closed in order, so that its client comes back when it has a call;
    /// while none is idle nobody is accepted.
    pub connections: usize,
    /// Requests of one connection that are being executed or wait to be. 1,024: twice the threads. A two-way call
    /// beyond it is answered with `TRANSIENT`; after a oneway beyond it the connection is not read until some have ended.
    pub requests_per_connection: usize,
    /// Octets of arguments that such requests hold. 256 MiB: four of the largest messages. Beyond it as above.
    pub octets_per_connection: usize,
    /// Octets of replies that the transport of one connection does not take. 128 MiB: two of the largest messages.
    /// The connection is closed beyond it, and not read from the first on.
    pub unsent_octets: usize,
    /// A peer that takes nothing of what waits for it for so long is closed. 30 s: longer than any outage that TCP rides
    /// out unnoticed, shorter than people wait.
    pub send_time: Duration,
    /// How long a message may take from its first octet to its last, whatever its size; see
    /// [`receive_rate`](Self::receive_rate). 30 s, for the same reasons.
    pub receive_time: Duration,
    /// Octets a second that earn a large message more time: it may take [`receive_time`](Self::receive_time) and a second
    /// for each so many octets that have arrived. 16 KiB: a slow mobile link; who sends an octet a second gets
    /// nothing beyond the 30 s.
    pub receive_rate: usize,
    /// An unused connection is closed in order after so long. Three minutes: what omniORB does, and longer than zorb's
    /// clients keep unused connections.
    pub idle: Duration,
    /// How long to go on reading from a connection that was closed in order until the peer closes it too. 5 s: a few
    /// round trips of the slowest link.
    pub drain: Duration,
    /// How long a request waits for a thread before it is answered with `TRANSIENT`. 10 s: a sixth of the default call
    /// timeout, so that the client has time to try elsewhere.
    pub queue_time: Duration,
    /// The same while every thread waits for the reply to a call of its own: those replies may depend on this very
    /// request, and then waiting longer is no use. 100 ms: many times what a call on a local network takes.
    pub stall_time: Duration,
    /// How long a thread waits in the receive for the next call on a connection before it parks it. 128 ms: long enough for
    /// a client that works between its calls, short enough that the threads of clients that have left are soon free. Of use in
    /// powers of two of milliseconds; zero: every connection is parked after every call.
    pub linger: Duration,
    /// How deep a [`Reactor`](ThreadModel::Reactor) serves requests within the waits of others; deeper ones are answered with
    /// `TRANSIENT`. 64: each level takes stack, of which its thread has 64 times the usual need.
    pub nesting: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            requests_per_connection: 1024,
            octets_per_connection: 256 << 20,
            unsent_octets: 128 << 20,
            send_time: Duration::from_secs(30),
            receive_time: Duration::from_secs(30),
            receive_rate: 16 << 10,
            idle: Duration::from_secs(180),
            drain: Duration::from_secs(5),
            queue_time: Duration::from_secs(10),
            stall_time: Duration::from_millis(100),
            linger: Duration::from_millis(128),
            nesting: 64,
        }
    }
}

impl ServerLimits {
    /// How often the keeper looks for connections whose time is up: often enough for the shortest of the times, at most
    /// once a second, since a look costs a microsecond per twenty connections.
    pub(crate) fn sweep_interval(&self) -> Duration {
        let shortest = [self.send_time, self.receive_time, self.idle, self.drain].into_iter().min();
        (shortest.unwrap_or_default() / 4).clamp(Duration::from_millis(5), Duration::from_secs(1))
    }

    /// The longest that a message of which `octets` have arrived may have taken so far.
    pub(crate) fn message_time(&self, octets: u64) -> Duration {
        let rate = u64::try_from(self.receive_rate.max(1)).unwrap_or(u64::MAX);
        self.receive_time + Duration::from_millis(octets.saturating_mul(1000) / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_earns_time_by_arriving() {
        let limits = ServerLimits::default();
        assert_eq!(limits.message_time(30), Duration::from_millis(30_001));
        assert_eq!(limits.message_time(64 << 20), Duration::from_secs(30 + 4096));
    }

    #[test]
    fn short_times_are_looked_after_in_time() {
        let limits = ServerLimits { idle: Duration::from_millis(40), ..ServerLimits::default() };
        assert_eq!(limits.sweep_interval(), Duration::from_millis(10));
        assert_eq!(ServerLimits::default().sweep_interval(), Duration::from_secs(1));
    }
}
