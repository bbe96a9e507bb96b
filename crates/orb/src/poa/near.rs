//! Objects of this process that a thread calls again and again: a further call finds its object without a lock or an instruction that
//! processors would have to agree about, however many threads call it.
//!
//! What is near is held and counted as by a request in progress, so that nothing needs to be looked at when it is called. Who changes anything
//! that a call would have to look at (takes an object out of its map, closes a manager's gate, ends an adapter) does so first, and
//! [revokes](revoke) second; who [brings](bring) an object near does that first, and looks second. So one of the two sees the other.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use parking_lot::Mutex;
use zorb_ipc::{BiasedSlot, BiasedSlots, InUse, SlotsOwner};

use super::active::Active;
use super::active_map::ActiveObject;
use super::remembered::Remembered;
use super::traffic::Counted;

/// References whose objects are near a thread, at most: by their numbers, so that fewer may have to do. 32: a thread works with a few objects at
/// a time; 2 KiB a thread that makes collocated calls.
const PLACES: usize = 32;

/// An object that is near a thread.
pub(crate) struct Near {
    /// That of the [`Home`](crate::object::route::Home) by which it is called.
    number: u64,
    /// How it is called: an `Arc<dyn XServant>`. Let go before the object is, which then may end.
    servant: Box<dyn Any + Send + Sync>,
    object: Held,
}

/// An object, and a request to it counted in.
struct Held {
    /// Until it is dropped.
    object: Option<Arc<ActiveObject>>,
    counted: Counted,
}

/// Where such an object is.
pub(crate) type Place = BiasedSlot<Near>;

type Places = BiasedSlots<Near, PLACES>;

/// All threads' places; those of threads that have ended are given to others.
static ALL: Mutex<Vec<&'static Places>> = Mutex::new(Vec::new());

/// This thread's.
struct Mine {
    /// Once something is to be near.
    places: OnceCell<SlotsOwner<Near, PLACES>>,
    /// The reference that was called last of those whose place each is, when it was not there.
    missed: [Cell<u64>; PLACES],
}

thread_local! {
    static MINE: Mine = const { Mine { places: OnceCell::new(), missed: [const { Cell::new(0) }; PLACES] } };
}

impl Mine {
    /// The thread's places, or those of one that has ended, or new ones; `None`: not yet, and nobody waits for them.
    fn places(&self) -> Option<&SlotsOwner<Near, PLACES>> {
        if self.places.get().is_none() {
            let _ = self.places.set(claim()?);
        }
        self.places.get()
    }
}

fn claim() -> Option<SlotsOwner<Near, PLACES>> {
    if !Places::is_ready() {
        return None;
    }
    let mut all = ALL.lock();
    let free = all.iter().find_map(|places| places.claim());
    free.or_else(|| {
        let new: &'static Places = Box::leak(Box::new(Places::new()));
        all.push(new);
        new.claim()
    })
}

#[inline(always)]
fn place(number: u64) -> usize {
    (number % PLACES as u64) as usize
}

impl Near {
    #[inline(always)]
    pub(crate) fn object(&self) -> Option<&ActiveObject> {
        self.object.object.as_deref()
    }

    /// The servant, if it is one of these: the same object may be called through several interfaces.
    #[inline(always)]
    pub(crate) fn servant<T: ?Sized + 'static>(&self) -> Option<&Arc<T>> {
        self.servant.downcast_ref()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            drop(Active::object(object, self.counted));
        }
    }
}

/// The object that is called by the reference of that `number`, if it is near. As long as what is returned lives a request to it is in
/// progress.
#[inline(always)]
pub(crate) fn find(number: u64) -> Option<InUse<Near>> {
    // At the thread's very end nothing is near.
    let near = MINE.try_with(|mine| mine.places.get()?.use_value(place(number))).ok().flatten();
    near.filter(|near| near.number == number)
}

/// The object of the reference of that `number` is called, and is not near. Whether it should be: it was the last that was called of those whose place
/// it shares; to bring near what is called once is not worth it.
pub(crate) fn should_be(number: u64) -> bool {
    let is_second = |mine: &Mine| {
        let missed = &mine.missed[place(number)];
        let is_second = missed.get() == number;
        missed.set(if is_second { 0 } else { number });
        is_second
    };
    MINE.try_with(is_second).unwrap_or(false)
}

/// Brings an object near, to be called by the reference of that `number` as this servant. `found`: how it was found.
#[cold]
pub(crate) fn bring<T: ?Sized + Send + Sync + 'static>(number: u64, servant: &Arc<T>, found: &Remembered) {
    let Some((object, counted)) = found.find() else { return };
    let servant = Box::new(servant.clone());
    bring_held(Near { number, servant, object: Held { object: Some(object), counted } }, found);
}

fn bring_held(near: Near, found: &Remembered) {
    let brought = MINE.try_with(|mine| {
        let (at, places) = (place(near.number), mine.places()?);
        let before = places.put(at, near);
        fence(Ordering::SeqCst);
        let is_stale = before.is_ok() && !found.holds_still();
        Some((before, is_stale.then(|| places.take(at))))
    });
    // Letting an object go may call anything.
    drop(brought);
}

/// Takes the objects that are `meant` from where they are near: they are held only as long as calls of them are running. `meant` is to be
/// short, and what it looks at has changed so that they are not brought near anew. To be called without a lock that objects or adapters end by.
pub(super) fn revoke(meant: impl Fn(&ActiveObject) -> bool) {
    fence(Ordering::SeqCst);
    let all = ALL.lock();
    let revoked: Vec<Vec<Near>> =
        all.iter().map(|places| places.revoke_if(|near| near.object().is_some_and(&meant))).collect();
    drop(all);
    drop(revoked);
}
