//! The client's side of connections.
//!
//! ```text
//!                       ┌─ Private: one blocking call, its own thread writes and reads ────────────┐
//! Pool (per endpoint ───┼─ Joint: several short blocking calls at a time, one of their threads reads ─┼─ Channel
//! and code sets)        └─ Shared: many calls; any thread writes, the reactor reads ──────────────────┘
//! ```
//!
//! Blocking two-way calls take an idle [`private`] connection, or, where many are under way, share a [`joint`] one. Oneways, `_async` calls, and calls for which no
//! private connection may be opened travel on the pool's one [`shared`] connection. What a thread has sent there without
//! seeing what came of it is [`unsettled`]: its next call to the same object goes there too, and so arrives behind. Oneways may be
//! [`gathered`] there first, and leave together.

pub(crate) mod end;
pub(crate) mod failure;
pub(crate) mod gathered;
mod joint;
pub(crate) mod message;
mod outbox;
pub(crate) mod pool;
pub(crate) mod private;
pub(crate) mod reactor;
pub(crate) mod shared;
pub(crate) mod slot;
pub(crate) mod straight;
pub(crate) mod unsettled;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::CodeSets;
use zorb_giop::{Inbound, Protocol};

use crate::messages::MessageMemory;
use crate::transport::{Endpoint, Spinners, Transport};
use pool::Pool;
use reactor::Reactor;
use shared::Shared;

/// What the client's side lets the builder choose.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Private connections to one endpoint at a time. 64: beyond that a server's threads gain nothing, and
    /// further calls share a connection.
    pub(crate) private_connections: usize,
    /// Where more calls to one endpoint are under way at a time, short ones share a connection. 4: up to there a
    /// call's own connection is faster where each side has a processor, and nowhere much slower.
    pub(crate) joint_beyond: usize,
    /// An unused connection is closed after this. Two minutes: what omniORB does, and below the idle time after which
    /// common servers and firewalls close.
    pub(crate) idle: Duration,
    /// What a server may make us hold.
    pub(crate) message_limits: zorb_giop::Limits,
    /// Octets of `_async` and oneway messages that wait for one connection. 64 MiB, as for one message.
    pub(crate) outbox: usize,
    /// What the memory of large messages comes from, where all share it.
    pub(crate) storage: Option<Arc<MessageMemory>>,
    /// How calls look for their reply before they sleep; `None`: they sleep at once.
    pub(crate) spinners: Option<Spinners>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            private_connections: 64,
            joint_beyond: 4,
            idle: Duration::from_secs(120),
            message_limits: zorb_giop::Limits::default(),
            outbox: 64 << 20,
            storage: None,
            spinners: None,
        }
    }
}

impl Settings {
    /// The receiving half of a new connection.
    fn inbound(&self, messaging: &Protocol) -> Inbound {
        let inbound = Inbound::of(messaging.clone(), self.message_limits);
        match &self.storage {
            Some(storage) => inbound.with_storage(storage.clone()),
            None => inbound,
        }
    }
}

/// All connections that this ORB opened, and the thread that reads the shared ones.
pub(crate) struct Client {
    settings: Arc<Settings>,
    pools: Arc<Pools>,
    reactor: OnceLock<Reactor>,
    /// No reactor is started any more. Set under the pools' lock.
    ended: AtomicBool,
    /// References with connections of their own, so far.
    owners: AtomicU64,
}

/// What is agreed holds for a whole connection, so calls by another messaging protocol, and those that agree on other code
/// sets, or on none, do not share one. References with connections of their own are told apart by their number.
type ByEndpoint = HashMap<(Endpoint, &'static str, Option<CodeSets>, Option<u64>), Arc<Pool>>;

#[derive(Default)]
struct Pools {
    by_endpoint: Mutex<ByEndpoint>,
    /// A sweep is due on the reactor.
    sweeping: AtomicBool,
}

impl Pools {
    fn lock(&self) -> MutexGuard<'_, ByEndpoint> {
        self.by_endpoint.lock()
    }

    /// Looks for unused connections each eighth of the idle time, until none is open: so much longer one may stay.
    fn sweep_later(self: &Arc<Self>, idle: Duration, reactor: &Reactor) {
        let pools = self.clone();
        reactor.at(Instant::now() + idle / 8, move |reactor| {
            // Cleared first: a connection opened from here on asks for a sweep of its own.
            pools.sweeping.store(false, Ordering::SeqCst);
            let now = Instant::now();
            let mut open = 0;
            pools.lock().retain(|_, pool| {
                let is_open = pool.sweep(now);
                open += usize::from(is_open);
                // Endpoints that no reference names any more would pile up: servers forward where they like.
                is_open || Arc::strong_count(pool) > 1
            });
            if open > 0 && !pools.sweeping.swap(true, Ordering::AcqRel) {
                pools.sweep_later(idle, reactor);
            }
        });
    }
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Client {
        Client {
            settings: Arc::new(settings),
            pools: Arc::default(),
            reactor: OnceLock::new(),
            ended: AtomicBool::new(false),
            owners: AtomicU64::new(0),
        }
    }

    /// A number for a reference with connections of its own.
    pub(crate) fn next_owner(&self) -> u64 {
        self.owners.fetch_add(1, Ordering::Relaxed)
    }

    /// The connections to one endpoint by one messaging protocol on which these code sets are agreed. References keep what they get, so this is no step
    /// of a call.
    pub(crate) fn pool(
        &self,
        endpoint: &Endpoint,
        transport: &Arc<dyn Transport>,
        messaging: &Protocol,
        code_sets: Option<CodeSets>,
        owner: Option<u64>,
    ) -> Arc<Pool> {
        self.pools
            .lock()
            .entry((endpoint.clone(), messaging.name(), code_sets, owner))
            .or_insert_with(|| {
                let (endpoint, transport) = (endpoint.clone(), transport.clone());
                Pool::new(endpoint, transport, messaging.clone(), self.settings.clone())
            })
            .clone()
    }

    /// Whether an ordinary connection by TCP to that address stands.
    pub(crate) fn has_connection(&self, address: &str) -> bool {
        let pools = self.pools.lock();
        let mut there = pools.iter().filter(|((endpoint, ..), _)| {
            &*endpoint.transport == "tcp" && endpoint.address.eq_ignore_ascii_case(address)
        });
        there.any(|(_, pool)| pool.is_open())
    }

    /// The sending half of a connection that a client has opened and offered.
    pub(crate) fn offered(&self, peer: Endpoint, reactor: &Reactor) -> Arc<Shared> {
        let shared = Shared::both_ways(peer, &self.settings, false);
        reactor.enroll(&shared);
        shared
    }

    /// The reactor, started when first needed.
    #[inline]
    pub(crate) fn reactor(&self) -> std::io::Result<&Reactor> {
        match self.reactor.get() {
            Some(reactor) => Ok(reactor),
            None => self.start_reactor(),
        }
    }

    #[cold]
    fn start_reactor(&self) -> std::io::Result<&Reactor> {
        let _one_at_a_time = self.pools.lock();
        if self.ended.load(Ordering::Acquire) {
            return Err(std::io::Error::new(std::io::ErrorKind::NotConnected, "this ORB was shut down"));
        }
        if self.reactor.get().is_none() {
            let _ = self.reactor.set(Reactor::start()?);
        }
        Ok(self.reactor.get().expect("set above"))
    }

    /// A connection may have been opened: from now on the reactor looks whether it is still used.
    pub(crate) fn opened(&self) {
        if self.pools.sweeping.swap(true, Ordering::AcqRel) {
            return;
        }
        match self.reactor() {
            Ok(reactor) => self.pools.sweep_later(self.settings.idle, reactor),
            Err(error) => {
                self.pools.sweeping.store(false, Ordering::Release);
                tracing::warn!(%error, "no reactor thread: unused connections stay open");
            }
        }
    }

    /// Sends all oneways that were gathered; false: not all of them by the deadline, or a connection has ended meanwhile.
    pub(crate) fn release(&self, deadline: Instant) -> bool {
        let Some(reactor) = self.reactor.get() else { return true };
        let pools: Vec<_> = self.pools.lock().values().cloned().collect();
        pools.iter().filter(|pool| !pool.release(deadline, reactor)).count() == 0
    }

    /// Ends the reactor and closes every connection that no call is using.
    pub(crate) fn shutdown(&self) {
        let starting = self.pools.lock();
        self.ended.store(true, Ordering::Release);
        drop(starting);
        if let Some(reactor) = self.reactor.get() {
            reactor.stop();
        }
        // Without the lock: whoever waits for one of their calls may make another.
        let pools: Vec<_> = self.pools.lock().values().cloned().collect();
        for pool in pools {
            pool.close();
        }
    }
}
