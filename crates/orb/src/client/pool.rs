//! The connections to one endpoint: the idle private ones, and the shared one.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use zorb_cdr::Format;
use zorb_giop::Reply;

use super::Settings;
use super::failure::Failure;
use super::message::{Course, Outgoing};
use super::private::Private;
use super::reactor::Reactor;
use super::shared::{End, Shared, Ticket, Unsettled};
use crate::transport::{Endpoint, Transport};

/// All connections of one ORB to one endpoint.
pub(crate) struct Pool {
    endpoint: Endpoint,
    transport: Arc<dyn Transport>,
    settings: Arc<Settings>,
    /// Least recently used first. Taken from the end, so that what is not needed grows old and is closed.
    idle: Mutex<IdleConnections>,
    /// Private connections, idle or lent.
    open: AtomicUsize,
    shared: Mutex<Option<Arc<Shared>>>,
    unsettled: Arc<Unsettled>,
}

/// Boxed: each goes from here to a call and back, and a pointer is less to move than its some hundred octets.
#[allow(clippy::vec_box, reason = "taken out and put back with every call")]
type IdleConnections = Vec<Box<Private>>;

/// A private connection on loan; goes back to its pool unless its call failed.
pub(crate) struct Lease {
    connection: Option<Box<Private>>,
    /// Opened for this call.
    pub(crate) is_new: bool,
    pool: Arc<Pool>,
}

impl Pool {
    pub(crate) fn new(
        endpoint: Endpoint,
        transport: Arc<dyn Transport>,
        settings: Arc<Settings>,
    ) -> Arc<Pool> {
        Arc::new(Pool {
            endpoint,
            transport,
            settings,
            idle: Mutex::default(),
            open: AtomicUsize::new(0),
            shared: Mutex::default(),
            unsettled: Arc::default(),
        })
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A private connection for one call; `None` if this call must or should travel on the shared one.
    pub(crate) fn lease(
        self: &Arc<Self>,
        course: Course<'_>,
        connect_by: impl FnOnce() -> Instant,
    ) -> Result<Option<Lease>, Failure> {
        if self.unsettled.has_mine() {
            return Ok(None);
        }
        while let Some(connection) = self.idle().pop() {
            if connection.is_usable(course.started) {
                let pool = self.clone();
                return Ok(Some(Lease { connection: Some(connection), is_new: false, pool }));
            }
            self.open.fetch_sub(1, Ordering::Relaxed);
        }
        if self.open.fetch_add(1, Ordering::Relaxed) >= self.settings.private_connections {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return Ok(None);
        }
        // From here the count falls when the lease is dropped without a connection to give back.
        let mut lease = Lease { connection: None, is_new: true, pool: self.clone() };
        let channel = self
            .transport
            .connect(&self.endpoint, connect_by())
            .map_err(|cause| Failure::unsent("connect", cause, course.started.elapsed()))?;
        lease.connection = Some(Box::new(Private::new(channel, &self.settings)));
        Ok(Some(lease))
    }

    /// Sends on the shared connection, blocking; the ticket tells how it went on.
    pub(crate) fn send_shared(
        self: &Arc<Self>,
        course: Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        connect_by: Instant,
        reactor: &Reactor,
    ) -> Result<Ticket, Failure> {
        let (shared, fresh) = self.shared();
        if fresh {
            reactor.enroll(&shared);
            self.connect_shared(&shared, connect_by, reactor);
        }
        shared.send_blocking(course, outgoing, reactor)
    }

    /// Gives the message to the shared connection without blocking; where there is none yet, another thread connects.
    pub(crate) fn send_shared_later(
        self: &Arc<Self>,
        course: Course<'_>,
        outgoing: &mut Outgoing<'_, 'static>,
        connect_by: Instant,
        reactor: &Reactor,
    ) -> Result<Ticket, Failure> {
        let (shared, fresh) = self.shared();
        if fresh {
            reactor.enroll(&shared);
            let (pool, connecting, reactor) = (self.clone(), shared.clone(), reactor.clone());
            let spawned = std::thread::Builder::new()
                .name("zorb-connect".into())
                .spawn(move || pool.connect_shared(&connecting, connect_by, &reactor));
            if let Err(cause) = spawned {
                shared.end(End::Broken { step: "start a thread to connect", kind: cause.kind() });
            }
        }
        let ticket = shared.send_later(course, outgoing, reactor)?;
        reactor.deadline(course.deadline);
        Ok(ticket)
    }

    /// The shared connection, and whether it was made just now and has yet to be connected.
    fn shared(&self) -> (Arc<Shared>, bool) {
        let mut current = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = &*current
            && !shared.has_ended()
        {
            return (shared.clone(), false);
        }
        let shared = Shared::connecting(self.endpoint.clone(), self.settings.clone(), self.unsettled.clone());
        *current = Some(shared.clone());
        (shared, true)
    }

    fn connect_shared(&self, shared: &Arc<Shared>, connect_by: Instant, reactor: &Reactor) {
        let started = Instant::now();
        match self.transport.connect(&self.endpoint, connect_by) {
            Ok(channel) => shared.connected(channel, reactor),
            Err(error) => {
                let (kind, text) = (error.kind(), error.to_string().into());
                shared.end(End::NotConnected { kind, text, after: started.elapsed() });
            }
        }
    }

    /// Closes what has been idle for longer than the settings allow; true while anything is open.
    pub(crate) fn sweep(&self, now: Instant) -> bool {
        let limit = self.settings.idle;
        let mut idle = self.idle();
        let fresh = idle.partition_point(|one| now.saturating_duration_since(one.last_used()) >= limit);
        let old: Vec<_> = idle.drain(..fresh).collect();
        drop(idle);
        self.open.fetch_sub(old.len(), Ordering::Relaxed);
        drop(old);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unused) = shared.take_if(|shared| shared.is_idle(now, limit)) {
            unused.end(End::Closed);
        }
        shared.is_some() || self.open.load(Ordering::Relaxed) > 0
    }

    /// Closes every connection that no call is using.
    pub(crate) fn close(&self) {
        let idle = mem::take(&mut *self.idle());
        self.open.fetch_sub(idle.len(), Ordering::Relaxed);
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(shared) = shared {
            shared.end(End::Closed);
        }
    }

    fn idle(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Makes the call; after a failure that leaves the connection in doubt it is closed, not given back.
    pub(crate) fn call(
        &mut self,
        course: Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
    ) -> Result<(), Failure> {
        let connection = self.connection.as_mut().expect("a lease holds its connection until it is dropped");
        let result = connection.call(course, outgoing);
        match &result {
            Ok(()) | Err(Failure::Encode(_)) => {}
            Err(_) => self.connection = None,
        }
        result
    }

    /// The reply that the call brought, and how its body is to be read. To be asked after a call that did not fail.
    pub(crate) fn answer(&self) -> (&Reply, Format) {
        let answer = self.connection.as_ref().and_then(|connection| connection.answer());
        answer.expect("a call that does not fail brings a reply")
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        match self.connection.take() {
            Some(mut connection) => {
                connection.drop_answer();
                self.pool.idle().push(connection);
            }
            None => {
                self.pool.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
