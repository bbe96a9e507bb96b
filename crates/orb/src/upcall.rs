//! What a thread in an upcall does while the servant's own call to another object waits.
//!
//! Some threading models must not simply block there: a single reactor thread has to go on serving (the
//! reply may depend on a nested request), a single-threaded adapter has to let nested requests in. Such a
//! model pushes a [`Waiter`] on the thread before the upcall; a client's wait asks [`current`] first.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::time::Instant;

/// How a thread in an upcall waits for a descriptor.
pub(crate) trait Waiter {
    /// Returns when `descriptor` may be readable or `deadline` has passed; runs nested upcalls meanwhile.
    fn until_readable(&self, descriptor: BorrowedFd<'_>, deadline: Instant);
}

thread_local! {
    static WAITERS: RefCell<Vec<Rc<dyn Waiter>>> = const { RefCell::new(Vec::new()) };
    /// How many there are: a plain look for ordinary threads, which have none.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The innermost waiter of this thread; `None` on ordinary threads, which just block.
#[inline]
pub(crate) fn current() -> Option<Rc<dyn Waiter>> {
    if COUNT.get() == 0 { None } else { innermost() }
}

#[inline(never)]
fn innermost() -> Option<Rc<dyn Waiter>> {
    WAITERS.with_borrow(|waiters| waiters.last().cloned())
}

/// Runs `body` with `waiter` in charge of this thread's waits.
pub(crate) fn with<R>(waiter: Rc<dyn Waiter>, body: impl FnOnce() -> R) -> R {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            COUNT.set(COUNT.get() - 1);
            WAITERS.with_borrow_mut(|waiters| waiters.pop());
        }
    }
    WAITERS.with_borrow_mut(|waiters| waiters.push(waiter));
    COUNT.set(COUNT.get() + 1);
    let _pop = Pop;
    body()
}
