//! `PICurrent`: slots by which a thread hands what it knows to the interceptors of its calls, and those of a server what they
//! learnt to the servant.
//!
//! ```text
//! client   thread's slots ── copied when the call begins ──► the request's, read by its interceptors
//! server   the request's, filled in receive_request_service_contexts ── copied ──► slots of the thread that runs the servant
//!          and back ── when the servant has answered ──► the request's, read in send_reply and its like
//! ```
//!
//! Who sets no slot copies a null pointer.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use zorb_cdr::Any;

use super::outcome::Intervention;
use crate::exception::SystemException;
use crate::orb::Orb;

/// One slot of an ORB's [`Current`]: from [`OrbBuilder::allocate_slot`](crate::OrbBuilder::allocate_slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub(crate) u32);

/// The slot was not allocated by this ORB's builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSlot(pub SlotId);

impl fmt::Display for InvalidSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {} was not allocated by this ORB's builder", self.0.0)
    }
}

impl std::error::Error for InvalidSlot {}

impl From<InvalidSlot> for SystemException {
    fn from(error: InvalidSlot) -> Self {
        SystemException::BadParam(error.to_string())
    }
}

impl From<InvalidSlot> for Intervention {
    fn from(error: InvalidSlot) -> Self {
        Intervention::Raise(error.into())
    }
}

/// The slots of the calling thread (`PortableInterceptor::Current`): from [`Orb::current`].
///
/// A future takes those of the thread that makes the call, when it makes it.
#[derive(Clone, Debug)]
pub struct Current {
    orb: Orb,
}

thread_local! {
    /// By ORB; those with nothing in them are not here.
    static OF_THREAD: RefCell<Vec<(u64, Slots)>> = const { RefCell::new(Vec::new()) };
}

impl Current {
    pub(crate) fn new(orb: Orb) -> Current {
        Current { orb }
    }

    /// What this thread has in the slot; [`Any::EMPTY`] if nothing was set.
    ///
    /// # Errors
    /// The ORB's builder did not allocate the slot.
    pub fn slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        Slots::of_thread(&self.orb).get(&self.orb, slot)
    }

    /// Puts a value into this thread's slot. Calls that are under way keep what they had.
    ///
    /// # Errors
    /// As for [`slot`](Self::slot).
    pub fn set_slot(&self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        let mut slots = Slots::of_thread(&self.orb);
        slots.set(&self.orb, slot, value)?;
        slots.into_thread(&self.orb);
        Ok(())
    }
}

/// The values of an ORB's slots. Cloning is a count; writing copies what is shared.
#[derive(Clone, Default)]
pub(crate) struct Slots(Option<Arc<Vec<Any>>>);

impl Slots {
    /// Those of the calling thread.
    pub(crate) fn of_thread(orb: &Orb) -> Slots {
        let Some(interceptors) = orb.interceptors().filter(|interceptors| interceptors.slots > 0) else {
            return Slots::default();
        };
        OF_THREAD.with_borrow(|all| {
            let found = all.iter().find(|(identity, _)| *identity == interceptors.identity);
            found.map_or_else(Slots::default, |(_, slots)| slots.clone())
        })
    }

    /// Makes them those of the calling thread, in place of what it had.
    pub(crate) fn into_thread(self, orb: &Orb) {
        let Some(interceptors) = orb.interceptors().filter(|interceptors| interceptors.slots > 0) else {
            return;
        };
        // What was there is dropped outside: values may hold anything.
        let _before: Vec<_> = OF_THREAD.with_borrow_mut(|all| {
            let before = all.extract_if(.., |(identity, _)| *identity == interceptors.identity).collect();
            if self.0.is_some() {
                all.push((interceptors.identity, self));
            }
            before
        });
    }

    pub(super) fn get(&self, orb: &Orb, slot: SlotId) -> Result<Any, InvalidSlot> {
        Self::check(orb, slot)?;
        let value = self.0.as_ref().and_then(|values| values.get(slot.0 as usize));
        Ok(value.cloned().unwrap_or(Any::EMPTY))
    }

    pub(super) fn set(&mut self, orb: &Orb, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        let count = Self::check(orb, slot)?;
        let values = Arc::make_mut(self.0.get_or_insert_default());
        values.resize(count as usize, Any::EMPTY);
        values[slot.0 as usize] = value;
        Ok(())
    }

    fn check(orb: &Orb, slot: SlotId) -> Result<u32, InvalidSlot> {
        let count = orb.interceptors().map_or(0, |interceptors| interceptors.slots);
        if slot.0 < count { Ok(count) } else { Err(InvalidSlot(slot)) }
    }
}
