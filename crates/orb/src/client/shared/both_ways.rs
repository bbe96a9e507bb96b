//! A shared connection that carries requests both ways (CORBA 3.4 part 2, §9.8): the server's threads read it and hand replies to
//! it, and requests of both sides leave by it.
//!
//! ```text
//! opener    offer ─► with_offer: the first requests say where it listens ─► note_offered: further ones do not
//! other     may_be_called ─► its requests have ids that the opener's have not
//! reader    replied, closed_in_order ─► the calls that wait
//! ```

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use zorb_cdr::CodeSets;
use zorb_giop::{Inbound, Reply, RequestIds, ServiceContexts};

use super::{Shared, fill};
use crate::client::end::End;

/// What a connection has beside that carries requests both ways.
pub(super) struct BothWays {
    pub(super) ids: RequestIds,
    /// The context by which its opener lets the other side call. Not set by the other side.
    offer: OnceLock<ServiceContexts>,
    /// The offer may have left: requests may come.
    offering: AtomicBool,
    /// It has left: further requests go without.
    offered: AtomicBool,
}

impl BothWays {
    /// Of one that this side has opened, or the other one.
    pub(super) fn new(opened_here: bool) -> BothWays {
        BothWays {
            ids: RequestIds::bidirectional(opened_here),
            offer: OnceLock::new(),
            offering: AtomicBool::new(false),
            offered: AtomicBool::new(false),
        }
    }
}

impl Shared {
    /// The other side may call once this has left, with the first request.
    pub(crate) fn offer(&self, contexts: ServiceContexts) {
        if let Some(both) = self.both.as_ref().filter(|_| !contexts.is_empty()) {
            let _ = both.offer.set(contexts);
        }
    }

    /// These contexts and the offer, if that is still to be made.
    pub(super) fn with_offer(&self, contexts: Option<&ServiceContexts>) -> Option<ServiceContexts> {
        let both = self.both.as_ref()?;
        let offer = both.offer.get().filter(|_| !both.offered.load(Ordering::Acquire))?;
        both.offering.store(true, Ordering::SeqCst);
        Some(contexts.into_iter().flatten().chain(offer).cloned().collect())
    }

    pub(super) fn note_offered(&self, it_was: bool) {
        if it_was && let Some(both) = &self.both {
            both.offered.store(true, Ordering::Release);
        }
    }

    /// Whether both sides send requests.
    pub(in crate::client) fn is_both_ways(&self) -> bool {
        self.both.is_some()
    }

    /// Whether an offer is still to be made.
    pub(in crate::client) fn has_to_offer(&self) -> bool {
        let left = |both: &BothWays| both.offer.get().is_some() && !both.offered.load(Ordering::Acquire);
        self.both.as_ref().is_some_and(left)
    }

    /// Whether the other side may have been told that it may call.
    pub(crate) fn may_be_called(&self) -> bool {
        self.both.as_ref().is_some_and(|both| both.offering.load(Ordering::SeqCst))
    }

    /// The code sets that this side announced on the connection.
    pub(crate) fn announced(&self) -> Option<CodeSets> {
        self.calls().terms.announced()
    }

    /// The code sets that the other side announced hold for the connection, in both directions.
    pub(crate) fn adopt_code_sets(&self, code_sets: CodeSets) {
        self.calls().terms.adopt(code_sets);
    }

    /// Whether calls wait for replies.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.calls().waiting.is_empty()
    }

    /// A reply has come.
    pub(crate) fn replied(&self, reply: Reply) {
        fill(self.outcome_of(reply).into_iter().collect());
    }

    /// A CloseConnection has come.
    pub(crate) fn closed_in_order(&self, inbound: &Inbound) {
        let mut outcomes = Vec::new();
        self.lose_begun_replies(inbound, &mut outcomes);
        self.ended(End::InOrder, &mut outcomes);
        fill(outcomes);
    }
}
