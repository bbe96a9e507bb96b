//! A pair of fences of which the one costs nothing (asymmetric fences): what runs often has the [`light`] one, which keeps only the compiler from
//! reordering, and what runs seldom the [`heavy`] one, which makes every thread of the process pass a full one (membarrier(2)).
//!
//! Where the system has no such call, both are full fences.

#[cfg(all(test, not(zorb_loom)))]
pub(super) use system::REFUSED;
#[cfg(not(all(test, zorb_loom)))]
pub(super) use system::{heavy, light, prepare, prepare_now};

#[cfg(not(all(test, zorb_loom)))]
mod system {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::{Relaxed, SeqCst};
    use std::sync::atomic::{AtomicBool, compiler_fence, fence};

    /// Whether the kernel has promised to do it. Set once, before the first light fence.
    static IS_ASYMMETRIC: AtomicBool = AtomicBool::new(false);

    static PREPARED: OnceLock<()> = OnceLock::new();

    #[cfg(test)]
    std::thread_local! {
        /// The kernel breaks its promise to this thread.
        pub(in crate::biased) static REFUSED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }

    /// Finds out which fences there are. To be called before the others, by whom their threads learn of what they share. Takes the kernel a
    /// grace period (milliseconds), once, in a process that has several threads.
    pub(in crate::biased) fn prepare() {
        PREPARED.get_or_init(|| IS_ASYMMETRIC.store(register(), Relaxed));
    }

    /// The same without waiting, by a thread that ends with it: whether it has been done.
    pub(in crate::biased) fn prepare_now() -> bool {
        static ASKED: AtomicBool = AtomicBool::new(false);
        if PREPARED.get().is_some() {
            return true;
        }
        if ASKED.swap(true, Relaxed) {
            return false;
        }
        // Where there can be no thread, there is but to wait.
        let thread = std::thread::Builder::new().name("zorb-fences".into()).spawn(prepare);
        thread.is_err() && {
            prepare();
            true
        }
    }

    /// What this thread did before is in order with what it does next, for a thread that passes a heavy one.
    #[inline(always)]
    pub(in crate::biased) fn light() {
        if IS_ASYMMETRIC.load(Relaxed) {
            compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
    }

    /// The other side. False where the kernel breaks its promise, as a filter of system calls may have it do: then nothing is in
    /// order.
    #[must_use]
    pub(in crate::biased) fn heavy() -> bool {
        #[cfg(test)]
        if REFUSED.get() {
            return false;
        }
        fence(SeqCst);
        !IS_ASYMMETRIC.load(Relaxed) || barrier()
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn register() -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    fn barrier() -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    fn register() -> bool {
        false
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    fn barrier() -> bool {
        true
    }
}

/// Models know full fences alone.
#[cfg(all(test, zorb_loom))]
pub(super) fn prepare() {}

#[cfg(all(test, zorb_loom))]
pub(super) fn prepare_now() -> bool {
    true
}

#[cfg(all(test, zorb_loom))]
pub(super) fn light() {
    loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

#[cfg(all(test, zorb_loom))]
pub(super) fn heavy() -> bool {
    light();
    true
}
