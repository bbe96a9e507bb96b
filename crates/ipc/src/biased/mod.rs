//! Values that one thread uses time and again, at the price of a few plain loads and stores, and that any thread may take away: biased
//! locking.
//!
//! ```text
//! the owner, often                        any thread, seldom: revoke_if
//!   uses += 1                               state = WANTED
//!   light fence                             heavy fence
//!   state is HELD: use the value            uses is 0: take it, state = EMPTY
//!   uses -= 1                                  else: the owner gives it up when it ends
//!   light fence
//!   state is WANTED: give it up
//! ```
//!
//! Between a light and a heavy fence it is as between two full ones: either the owner sees that its value is wanted, or who wants it sees that
//! it is used. What is not the owner's everyday (to put a value in, to take it, to give it up) is done under a lock.

#![allow(unsafe_code, reason = "a value is shared and taken by a protocol that the compiler does not know")]

mod fence;
#[cfg(all(test, zorb_loom))]
mod models;
#[cfg(all(test, not(zorb_loom)))]
mod tests;

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

#[cfg(all(test, zorb_loom))]
use loom::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize},
    sync::{Mutex, MutexGuard},
};
#[cfg(not(all(test, zorb_loom)))]
use std::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize},
    sync::{Mutex, MutexGuard},
};

/// Nothing is there. Only the owner puts something in.
const EMPTY: u8 = 0;
/// A value is there.
const HELD: u8 = 1;
/// A value is there, and is to leave.
const WANTED: u8 = 2;

/// Room for `N` values of one thread at a time, its [owner](Self::claim). Whom other threads are to find has to live for ever: when a thread
/// has ended, another may have its room.
///
/// ```
/// use zorb_ipc::BiasedSlots;
///
/// static SLOTS: BiasedSlots<String, 4> = BiasedSlots::new();
///
/// let own = SLOTS.claim().expect("nobody has it");
/// own.put(2, "often used".into()).expect("not in use");
/// let used = own.use_value(2).expect("it is there");
/// assert_eq!(&*used, "often used");
/// // Another thread takes away what is not in use.
/// let taken = std::thread::spawn(|| SLOTS.revoke_if(|_| true)).join().unwrap();
/// assert!(taken.is_empty());
/// // What is in use leaves when its use has ended.
/// drop(used);
/// assert!(own.use_value(2).is_none());
/// ```
#[derive(Debug)]
pub struct BiasedSlots<T: 'static, const N: usize> {
    is_owned: AtomicBool,
    slots: [BiasedSlot<T>; N],
}

/// Room for one value.
pub struct BiasedSlot<T: 'static> {
    /// How often the owner uses it now. Written by the owner alone.
    uses: AtomicUsize,
    /// Written under the lock alone.
    state: AtomicU8,
    lock: Mutex<()>,
    /// There if it is not [`EMPTY`].
    value: UnsafeCell<Option<T>>,
}

// SAFETY: a value is read by its owner's thread and, under the lock, by others (`Sync`), and is moved out by others (`Send`), which the protocol
// keeps apart.
unsafe impl<T: Send + Sync> Sync for BiasedSlot<T> {}

/// The one thread that uses the values: it stays in its thread.
#[derive(Debug)]
pub struct SlotsOwner<T: 'static, const N: usize> {
    of: &'static BiasedSlots<T, N>,
    /// Neither `Send` nor `Sync`.
    here: PhantomData<*const T>,
}

/// A value in use by its owner: it stays where it is until this is dropped.
pub struct InUse<T: 'static> {
    of: &'static BiasedSlot<T>,
    /// Neither `Send` nor `Sync`.
    here: PhantomData<*const T>,
}

impl<T, const N: usize> Default for BiasedSlots<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> BiasedSlots<T, N> {
    /// Room that is nobody's, and empty.
    #[cfg(not(all(test, zorb_loom)))]
    pub const fn new() -> Self {
        Self { is_owned: AtomicBool::new(false), slots: [const { BiasedSlot::new() }; N] }
    }

    #[cfg(all(test, zorb_loom))]
    fn new() -> Self {
        Self { is_owned: AtomicBool::new(false), slots: std::array::from_fn(|_| BiasedSlot::new()) }
    }

    /// Whether the system is ready, so that claiming does not wait for it. If not, a thread sees to it.
    pub fn is_ready() -> bool {
        fence::prepare_now()
    }

    /// Makes this thread the owner. `None`: another is. Waits until the system is ready, which in a process that has several threads takes the
    /// kernel a grace period (milliseconds), once.
    pub fn claim(&'static self) -> Option<SlotsOwner<T, N>> {
        fence::prepare();
        self.is_owned.compare_exchange(false, true, Acquire, Relaxed).ok()?;
        // Only now: an owner that is dropped ends the claim, whosever it is.
        Some(SlotsOwner { of: self, here: PhantomData })
    }

    /// Takes away the values that are `meant`, and gives those of which none is in use, with such as were meant before and have stayed. The others leave
    /// when their use has ended: their owner drops them. As soon as this has returned, no use of any of them begins.
    ///
    /// Where the system refuses the fence that it had promised (a filter of system calls may), nothing can be taken: then each value leaves when its owner
    /// comes to its slot, or with the next call of this.
    ///
    /// `meant` runs under locks: it is to be short, and must not come back to these slots.
    #[must_use = "the values are to be dropped where that does no harm"]
    pub fn revoke_if(&self, meant: impl Fn(&T) -> bool) -> Vec<T> {
        fence::prepare();
        // They stay locked, so that what is looked at behind the fence is what was wanted before it.
        let wanted: Vec<_> = self.slots.iter().filter_map(|slot| Some((slot, slot.want(&meant)?))).collect();
        // Without the fence nobody knows what is in use.
        if wanted.is_empty() || !fence::heavy() {
            return Vec::new();
        }
        wanted.into_iter().filter_map(|(slot, locked)| slot.take_wanted(locked)).collect()
    }
}

impl<T> BiasedSlot<T> {
    #[cfg(not(all(test, zorb_loom)))]
    const fn new() -> Self {
        Self {
            uses: AtomicUsize::new(0),
            state: AtomicU8::new(EMPTY),
            lock: Mutex::new(()),
            value: UnsafeCell::new(None),
        }
    }

    #[cfg(all(test, zorb_loom))]
    fn new() -> Self {
        Self {
            uses: AtomicUsize::new(0),
            state: AtomicU8::new(EMPTY),
            lock: Mutex::new(()),
            value: UnsafeCell::new(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // What is under the lock is whole after each step.
        self.lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Looks at the value, from whatever thread; `None` if there is none. `look` runs under a lock: it is to be short, and must not come back to
    /// the slot.
    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        let locked = self.lock();
        let seen = self.value(&locked).map(look);
        drop(locked);
        seen
    }

    fn value<'l>(&'l self, _: &'l MutexGuard<'_, ()>) -> Option<&'l T> {
        // SAFETY: values are written under the lock alone.
        unsafe { shared(&self.value) }.as_ref()
    }

    /// The value is to leave if it is `meant`, or was before and has stayed; then it is locked.
    fn want(&self, meant: impl Fn(&T) -> bool) -> Option<MutexGuard<'_, ()>> {
        if self.state.load(Acquire) == EMPTY {
            return None;
        }
        let locked = self.lock();
        let is_wanted = |value| self.state.load(Relaxed) == WANTED || meant(value);
        self.value(&locked).is_some_and(is_wanted).then(|| {
            self.state.store(WANTED, Release);
            locked
        })
    }

    /// Takes out a value that is to leave, unless it is in use.
    fn take_wanted(&self, _locked: MutexGuard<'_, ()>) -> Option<T> {
        // Acquire: the owner's uses are over.
        if self.state.load(Relaxed) != WANTED || self.uses.load(Acquire) != 0 {
            return None;
        }
        self.state.store(EMPTY, Release);
        // SAFETY: under the lock; the owner uses it not, and will not: behind the fence that its use begins with it sees that it is wanted, or gone.
        unsafe { exclusive(&self.value, Option::take) }
    }

    /// The owner counts a use out, and gives the value up if it is to leave and this was the last use.
    #[inline(always)]
    fn end_use(&self) {
        let left = self.uses.load(Relaxed) - 1;
        // Release: who takes the value has this use behind it.
        self.uses.store(left, Release);
        fence::light();
        if self.state.load(Relaxed) == WANTED && left == 0 {
            self.give_up();
        }
    }

    #[cold]
    fn give_up(&self) {
        let left = self.take_wanted(self.lock());
        // Not under the lock: it may be anybody's code.
        drop(left);
    }
}

impl<T, const N: usize> SlotsOwner<T, N> {
    /// Uses the value of slot `at` modulo `N`. `None`: there is none, or it is to leave.
    #[inline(always)]
    pub fn use_value(&self, at: usize) -> Option<InUse<T>> {
        let of = &self.of.slots[at % N];
        let uses = of.uses.load(Relaxed).checked_add(1)?;
        of.uses.store(uses, Relaxed);
        fence::light();
        // It ends its use, if it is none.
        let in_use = InUse { of, here: PhantomData };
        (of.state.load(Acquire) == HELD).then_some(in_use)
    }

    /// Puts a value into slot `at` modulo `N`, and gives the one that was there.
    ///
    /// # Errors
    /// The value, where the one that is there is in use.
    pub fn put(&self, at: usize, value: T) -> Result<Option<T>, T> {
        self.replace(at, Some(value)).map_err(|value| value.expect("it was given"))
    }

    /// Takes the value out of slot `at` modulo `N`, unless it is in use.
    pub fn take(&self, at: usize) -> Option<T> {
        self.replace(at, None).unwrap_or_default()
    }

    fn replace(&self, at: usize, value: Option<T>) -> Result<Option<T>, Option<T>> {
        let slot = &self.of.slots[at % N];
        if slot.uses.load(Relaxed) != 0 {
            return Err(value);
        }
        let _locked = slot.lock();
        slot.state.store(if value.is_some() { HELD } else { EMPTY }, Release);
        // SAFETY: under the lock; this is the owner's thread, where it is not in use.
        Ok(unsafe { exclusive(&slot.value, |there| std::mem::replace(there, value)) })
    }
}

/// Nobody owns it any more, and all is dropped. If a value is still in use, it stays, and so does the claim, for good.
impl<T, const N: usize> Drop for SlotsOwner<T, N> {
    fn drop(&mut self) {
        let left: Vec<T> = (0..N).filter_map(|at| self.take(at)).collect();
        if self.of.slots.iter().all(|slot| slot.uses.load(Relaxed) == 0) {
            self.of.is_owned.store(false, Release);
        }
        drop(left);
    }
}

impl<T> InUse<T> {
    /// Where it is: another thread may look at it there, as long as this use lasts.
    pub fn slot(&self) -> &'static BiasedSlot<T> {
        self.of
    }
}

impl<T> Deref for InUse<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: while it is in use nobody writes it: neither its owner nor, seeing that it is in use, who takes it away.
        match unsafe { shared(&self.of.value) } {
            Some(value) => value,
            None => unreachable!("a value in use is there"),
        }
    }
}

impl<T> Drop for InUse<T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.of.end_use();
    }
}

impl<T> std::fmt::Debug for BiasedSlot<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BiasedSlot")
            .field("uses", &self.uses)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl<T> std::fmt::Debug for InUse<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.of.fmt(f)
    }
}

/// The value, which nobody writes.
#[inline(always)]
unsafe fn shared<T>(value: &UnsafeCell<Option<T>>) -> &Option<T> {
    #[cfg(not(all(test, zorb_loom)))]
    let pointer = value.get();
    #[cfg(all(test, zorb_loom))]
    let pointer = value.with(|pointer| pointer);
    // SAFETY: the caller says so.
    unsafe { &*pointer }
}

/// Changes the value, which nobody uses.
unsafe fn exclusive<T, R>(value: &UnsafeCell<Option<T>>, change: impl FnOnce(&mut Option<T>) -> R) -> R {
    #[cfg(not(all(test, zorb_loom)))]
    let pointer = value.get();
    #[cfg(all(test, zorb_loom))]
    let pointer = value.with_mut(|pointer| pointer);
    // SAFETY: the caller says so.
    change(unsafe { &mut *pointer })
}
