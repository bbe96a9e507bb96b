//! The oneway that a thread sends again: the same operation of the same object, by the connection that the last one left on. It is
//! that one's head and other arguments; where it goes, and by which connection, is not looked up again.
//!
//! ```text
//! first     Journey ─► Pool ─► Shared::send_blocking ─► Last, of this thread
//! further ones            Last ─► straight ─► head, arguments ─► the connection's turn to send
//! ```
//!
//! Whether the connection stands, whether something is to leave before, and whose turn it is to send is asked each time.
//! Oneways that are gathered have a way of their own ([`again`](super::gathered::again)).

use std::cell::RefCell;
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use zorb_cdr::Format;

use super::failure::Failure;
use super::message::{Repeated, WriteArguments, send_whole};
use super::outbox::Turn;
use super::reactor::Reactor;
use super::shared::Shared;
use super::unsettled::{self, Recipient};
use crate::object::route::Candidate;
use crate::skeleton::Operation;
use crate::transport::gather::By;

/// What a thread has sent last.
struct Last {
    /// Which may end meanwhile.
    shared: Weak<Shared>,
    whose: u64,
    recipient: Recipient,
    operation: &'static Operation,
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// This thread's last oneway has left on that connection.
pub(super) fn note(shared: &Arc<Shared>, candidate: &Candidate, operation: &'static Operation) {
    if candidate.pool.largest_oneway().is_some() || shared.is_both_ways() {
        return;
    }
    let _ = LAST.try_with(|last| {
        // Arguments that are being written may make calls.
        let Ok(mut last) = last.try_borrow_mut() else { return };
        let (whose, recipient) = (candidate.identity, candidate.recipient);
        *last = Some(Last { shared: Arc::downgrade(shared), whose, recipient, operation });
    });
}

/// Sends it, if it is what the thread has sent last. `None`: nothing has left, and it has to go the long way.
pub(crate) fn straight(
    this: &Repeated,
    format: Format,
    timeout: Duration,
    arguments: &mut WriteArguments<'_, '_>,
    reactor: &Reactor,
) -> Option<Result<(), Box<Failure>>> {
    let send = |last: &RefCell<Option<Last>>| {
        let last = last.try_borrow().ok()?;
        let last = last.as_ref()?;
        if last.whose != this.whose || !ptr::eq(last.operation, this.operation) {
            return None;
        }
        let shared = last.shared.upgrade()?;
        let sent = shared.send_straight(this, format, timeout, arguments, reactor)?;
        if sent.is_ok() {
            unsettled::sent(&shared, last.recipient);
        }
        Some(sent)
    };
    LAST.try_with(send).ok()?
}

impl Shared {
    #[inline(always)]
    fn send_straight(
        self: &Arc<Self>,
        this: &Repeated,
        format: Format,
        timeout: Duration,
        arguments: &mut WriteArguments<'_, '_>,
        reactor: &Reactor,
    ) -> Option<Result<(), Box<Failure>>> {
        if self.gathered.has_any() {
            return None;
        }
        let channel = self.channel()?;
        let mut buffer = self.buffer.try_lock()?;
        let head = buffer.head_of(this)?;
        let started = Instant::now();
        let (form, deadline) = (self.next_like(format, started)?, started + timeout);
        // The long way says what is wrong with the arguments, and cuts what is too long.
        let message = buffer.compose_again(head, form, self.messaging.writer(), arguments)?;
        let sent = (message.len() <= this.fragment_size).then(|| {
            self.outbox.in_turn(deadline, |waited| {
                let left = if waited { deadline.saturating_duration_since(Instant::now()) } else { timeout };
                send_whole(&**channel, &message, started, By { deadline, left: Some(left) })
            })
        });
        buffer.take_back(message);
        drop(buffer);
        match sent? {
            Ok(false) => Some(Ok(())),
            Ok(true) => {
                self.flush(reactor);
                Some(Ok(()))
            }
            Err(unsent) => Some(Err(self.unsent_straight(unsent, started, reactor))),
        }
    }

    #[cold]
    fn unsent_straight(
        self: &Arc<Self>,
        unsent: Turn<Box<Failure>>,
        started: Instant,
        reactor: &Reactor,
    ) -> Box<Failure> {
        Box::new(self.not_sent(unsent, started, reactor).of_another())
    }
}
