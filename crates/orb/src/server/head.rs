//! What a request says beside its arguments: what its own message has, or what is known of a head that it repeats.

use std::num::NonZeroU64;
use std::sync::Arc;

use zorb_cdr::Octets;
use zorb_giop::{ServiceContexts, Target};

use super::known::Known;

static NO_CONTEXTS: ServiceContexts = ServiceContexts::new();

/// The head of a request.
pub(super) struct Head {
    /// That of requests before it on its connection: nothing of it was read, or is held.
    known: Option<Arc<Known>>,
    /// Otherwise one of its own, which lies in the message's memory.
    own: OwnHead,
}

/// A head that was read.
pub(super) struct OwnHead {
    pub(super) target: Target,
    /// Empty where there is a number.
    pub(super) operation: Octets,
    pub(super) number: Option<NonZeroU64>,
    pub(super) contexts: ServiceContexts,
}

impl OwnHead {
    const fn none() -> OwnHead {
        OwnHead {
            target: Target::ObjectKey(Octets::new()),
            operation: Octets::new(),
            number: None,
            contexts: ServiceContexts::new(),
        }
    }
}

impl Head {
    /// None, until one begins.
    pub(super) const fn none() -> Head {
        Head { known: None, own: OwnHead::none() }
    }

    /// A request comes whose head is known.
    #[inline(always)]
    pub(super) fn begin_known(&mut self, known: Arc<Known>) {
        self.known = Some(known);
    }

    /// A request comes with one of its own.
    #[inline(always)]
    pub(super) fn begin_own(&mut self, own: OwnHead) {
        self.own = own;
    }

    /// The request has ended.
    #[inline(always)]
    pub(super) fn end(&mut self) {
        if self.known.take().is_none() {
            self.own = OwnHead::none();
        }
    }

    /// What is known of it, if anything is.
    #[inline]
    pub(super) fn known(&self) -> Option<&Arc<Known>> {
        self.known.as_ref()
    }

    /// The object key, if it names its object by one.
    #[inline]
    pub(super) fn key(&self) -> Option<&[u8]> {
        match (&self.known, &self.own.target) {
            (Some(known), _) => Some(known.head().key()),
            (None, Target::ObjectKey(key)) => Some(key),
            _ => None,
        }
    }

    /// The octets of the operation's name; empty where there is a number in its place.
    #[inline]
    pub(super) fn operation(&self) -> &[u8] {
        match &self.known {
            Some(known) => known.head().operation(),
            None => &self.own.operation,
        }
    }

    /// The operation's number.
    #[inline]
    pub(super) fn number(&self) -> Option<NonZeroU64> {
        self.own.number
    }

    /// What came beside.
    #[inline]
    pub(super) fn contexts(&self) -> &ServiceContexts {
        match &self.known {
            Some(_) => &NO_CONTEXTS,
            None => &self.own.contexts,
        }
    }
}
