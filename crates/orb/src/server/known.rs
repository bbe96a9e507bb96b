//! What was found out for a request whose head the next requests of its connection repeat: whose it is and what it asks for. They go
//! straight to the servant and its method.
//!
//! ```text
//! Reading ── Heads ── Known ◄── each request with that head, as long as it lives
//!                      ├ the octets         giop tells by them that a request has this head
//!                      ├ the object         found again as long as it is where it was (`poa/remembered.rs`)
//!                      └ the operation's place in its interface
//! ```
//!
//! Whatever may change between two requests is looked at for each: limits, order and cancellation by the connection, the
//! manager's and the object's life by the adapter.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use zorb_giop::{KnownHead, Request};

use super::implicit::Implicit;
use crate::poa::Remembered;
use crate::rt::Operations;

/// Every so many requests of changing heads one is remembered. 64: making that costs as much as reading two heads, and a client that
/// goes over to calling one operation again and again does so thousands of times.
const ONE_IN: u32 = 64;

/// A head, and what was found for it.
pub(super) struct Known {
    head: KnownHead,
    object: OnceLock<Remembered>,
    place: OnceLock<(&'static Operations, usize)>,
    /// The object is another now, or gone.
    stale: AtomicBool,
}

/// The head that a connection's requests repeat, if they do.
#[derive(Default)]
pub(super) struct Heads {
    known: Option<Arc<Known>>,
    /// Requests in a row that had another.
    others: u32,
}

impl Heads {
    /// The head to look for.
    #[inline]
    pub(super) fn known(&self) -> Option<&Arc<Known>> {
        self.known.as_ref()
    }

    /// A request had it.
    #[inline]
    pub(super) fn repeated(&mut self) {
        self.others = 0;
    }

    /// A request had another. Among heads that keep changing few are remembered: after the first other ones, then ever more rarely.
    #[inline]
    pub(super) fn met(&mut self, request: &Request) {
        self.others = self.others.wrapping_add(1);
        if self.others.is_power_of_two() || self.others.is_multiple_of(ONE_IN) {
            self.remember(request);
        }
    }

    #[cold]
    fn remember(&mut self, request: &Request) {
        // What every object answers has no place in an interface.
        let is_implicit = Implicit::named(request.operation()).is_some();
        let head = if is_implicit { None } else { KnownHead::of(request) };
        self.known = head.map(|head| {
            let (object, place) = (OnceLock::new(), OnceLock::new());
            Arc::new(Known { head, object, place, stale: AtomicBool::new(false) })
        });
    }
}

impl Known {
    #[inline]
    pub(super) fn head(&self) -> &KnownHead {
        &self.head
    }

    /// Its object, if it was found before.
    #[inline]
    pub(super) fn object(&self) -> Option<&Remembered> {
        self.object.get()
    }

    /// The object was found for a request that asks for it. What was remembered before holds again, or never more.
    pub(super) fn note_object(&self, found: Remembered) {
        let before = self.object.get_or_init(|| found.clone());
        if !before.renew(&found) {
            self.stale.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it is of no more use.
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    /// The place of its operation among these.
    #[inline]
    pub(super) fn place(&self, operations: &'static Operations) -> Option<usize> {
        match self.place.get() {
            Some(&(of, place)) if ptr::eq(of, operations) => Some(place),
            _ => self.find_place(operations),
        }
    }

    #[cold]
    fn find_place(&self, operations: &'static Operations) -> Option<usize> {
        let place = operations.find(self.head.operation())?;
        // A skeleton that asks in several interfaces has the first of them remembered.
        let _ = self.place.set((operations, place));
        Some(place)
    }
}
