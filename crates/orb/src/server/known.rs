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

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::{mem, ptr};

use zorb_cdr::ElementType;
use zorb_giop::{KnownHead, Request, Target, operation_number};

use super::implicit::Implicit;
use crate::poa::Remembered;
use crate::rt::Operations;

/// Requests with other heads, at least, from one head that is remembered to the next. 64: remembering one costs as much as reading two, and a
/// client that goes over to calling another operation again and again does so thousands of times.
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
pub(super) struct Heads {
    known: Option<Arc<Known>>,
    /// In its place, one whose requests have bulk that is received as all else is: looked for apart, since they may be large.
    bulk: Option<Arc<Known>>,
    /// What the last head that was read is told by.
    last: u64,
    /// Requests that had another head, since one was remembered.
    others: u32,
}

impl Default for Heads {
    fn default() -> Self {
        Heads { known: None, bulk: None, last: 0, others: ONE_IN }
    }
}

impl Heads {
    /// The head to look for.
    #[inline]
    pub(super) fn known(&self) -> Option<&Arc<Known>> {
        self.known.as_ref()
    }

    /// A request had another, which is remembered if the one before it had the same. Whether it is from now on.
    #[inline(never)]
    pub(super) fn met(&mut self, request: &Request) -> bool {
        self.others = self.others.saturating_add(1);
        // Two that are taken for one are remembered in vain, no more.
        let key = if let Target::ObjectKey(key) = &request.target { operation_number(key) } else { 0 };
        let this = operation_number(request.operation_bytes()).rotate_left(1) ^ key;
        let is_met_again = mem::replace(&mut self.last, this) == this && self.others >= ONE_IN;
        if is_met_again {
            self.others = 0;
            self.remember(request);
        }
        is_met_again
    }

    #[cold]
    fn remember(&mut self, request: &Request) {
        // What every object answers has no place in an interface.
        let is_implicit = Implicit::named(request.operation()).is_some();
        let head = if is_implicit { None } else { KnownHead::of(request) };
        self.known = head.map(|head| Arc::new(Known::new(head)));
        self.bulk = None;
    }

    /// The bulk argument of this request is received as all else is, and so it will be in further ones, where all of their arguments want to lie at multiples
    /// of `alignment`; structs that it begins with are brought in phase then.
    #[cold]
    pub(super) fn note_plain_bulk(
        &mut self,
        request: &Request,
        alignment: usize,
        structs: Option<ElementType>,
    ) {
        if let Some(head) = self.again(request) {
            (self.known, self.bulk) = (None, Some(Arc::new(Known::new(head.with_bulk(alignment, structs)))));
        }
    }

    /// The arguments of requests like this one begin with structs: in further ones that are brought in phase.
    #[cold]
    pub(super) fn note_structs(&mut self, request: &Request, structs: ElementType) {
        if let Some(head) = self.again(request) {
            (self.known, self.bulk) = (Some(Arc::new(Known::new(head.with_structs(structs)))), None);
        }
    }

    /// The head of this request, if it is the one that is remembered.
    fn again(&self, request: &Request) -> Option<KnownHead> {
        let head = KnownHead::of(request)?;
        self.known.iter().chain(&self.bulk).any(|known| known.head.is_same(&head)).then_some(head)
    }

    /// Whether there may be [one](Self::apart) to look for apart.
    #[inline]
    pub(super) fn have_one_apart(&self) -> bool {
        self.bulk.is_some() || self.known.as_ref().is_some_and(|known| known.head.has_structs())
    }

    /// The head of requests that are not all taken as they are: looked for apart.
    pub(super) fn apart(&self) -> Option<&Arc<Known>> {
        let with_structs = self.known.as_ref().filter(|known| known.head.has_structs());
        self.bulk.as_ref().or(with_structs).filter(|known| !known.is_stale())
    }
}

impl Known {
    fn new(head: KnownHead) -> Self {
        let (object, place) = (OnceLock::new(), OnceLock::new());
        Known { head, object, place, stale: AtomicBool::new(false) }
    }

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

    /// Whether its requests may be brought in phase as is good for the object that was found for it: that is still there, or none was found yet.
    pub(super) fn may_be_brought_in_phase(&self) -> bool {
        self.object().is_none_or(Remembered::holds_still)
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
