//! A collocated call as its servant sees it: nothing is known of it but the operation until the servant asks.

use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;

use super::call::Position;
use crate::orb::Orb;
use crate::poa::near::Place;
use crate::poa::{Active, ActiveObject, Upcall};

/// A call from within this process.
pub(crate) struct Local {
    operation: &'static str,
    held: Held,
    /// Told at once, or found when first asked for.
    known: OnceLock<Box<Known>>,
}

/// What counts the call among those in progress, so that the adapter's shutdown waits for it.
enum Held {
    /// The object is near, and in use.
    Near(&'static Place),
    Active(Active),
    /// It does so elsewhere, if at all.
    Elsewhere,
}

struct Known {
    orb: Orb,
    key: Bytes,
    /// Where in the key the object id stands.
    id: Position,
}

impl Local {
    /// Of an object that is near, as long as it is in use.
    #[inline(always)]
    pub(crate) fn of_near(operation: &'static str, place: &'static Place) -> Local {
        Local { operation, held: Held::Near(place), known: OnceLock::new() }
    }

    /// Of an active object, which tells the rest.
    pub(crate) fn of_object(operation: &'static str, active: Active) -> Local {
        Local { operation, held: Held::Active(active), known: OnceLock::new() }
    }

    /// Of what is no active object: its adapter knows not which it is.
    pub(crate) fn of_key(
        operation: &'static str,
        active: Active,
        orb: &Orb,
        key: &Bytes,
        id: &Range<usize>,
    ) -> Local {
        let known = Known { orb: orb.clone(), key: key.clone(), id: Position::of(id) };
        Local { operation, held: Held::Active(active), known: OnceLock::from(Box::new(known)) }
    }

    /// Of which all is told.
    pub(super) fn told(operation: &'static str, orb: Orb, key: Bytes, id: Position) -> Local {
        Local { operation, held: Held::Elsewhere, known: OnceLock::from(Box::new(Known { orb, key, id })) }
    }

    /// This thread is in its upcall, until what is returned is dropped. `None`: its guard is elsewhere.
    pub(crate) fn enter(&self) -> Option<Upcall> {
        match &self.held {
            Held::Active(active) => Some(active.enter()),
            Held::Near(_) | Held::Elsewhere => None,
        }
    }

    #[inline]
    pub(super) fn operation(&self) -> &'static str {
        self.operation
    }

    #[inline(never)]
    pub(super) fn orb(&self) -> &Orb {
        &self.known().orb
    }

    #[inline(never)]
    pub(super) fn object_key(&self) -> &[u8] {
        &self.known().key
    }

    /// Where in the key the object id stands.
    #[inline(never)]
    pub(super) fn id(&self) -> Position {
        self.known().id
    }

    fn known(&self) -> &Known {
        let whose = || match &self.held {
            Held::Near(place) => place.look(|near| near.object()?.whose()).flatten(),
            Held::Active(active) => active.on().and_then(ActiveObject::whose),
            Held::Elsewhere => None,
        };
        self.known.get_or_init(|| match whose() {
            Some((orb, key, id)) => Box::new(Known { orb, key, id: Position::of(&id) }),
            // Who calls has a reference, which holds the ORB; what is no object has told all.
            None => unreachable!("a call of an object whose ORB is gone"),
        })
    }
}
