//! The processor's cycle counter: the cheapest clock there is, for measuring within a call.

/// The cycle counter of the core that the calling thread runs on, in ticks of a frequency that [`Instant`] has to tell.
///
/// On x86-64 it is the time-stamp counter (some 20 cycles to read; constant rate and the same on all cores of every
/// processor of the last fifteen years), on AArch64 the virtual counter, elsewhere nanoseconds of the monotonic clock. It
/// does not wait for instructions before it: differences of less than about 30 ticks mean nothing.
///
/// [`Instant`]: std::time::Instant
#[inline(always)]
#[allow(unsafe_code)]
pub fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction reads a counter into registers and touches no memory. It is part of every x86-64, and Linux
    // forbids it only to threads that asked for that themselves (PR_SET_TSC).
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a counter that Linux lets every program read; touches no memory, stack or flags.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags))
        };
        return ticks;
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        use std::sync::OnceLock;
        use std::time::Instant;
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_up() {
        let before = cycles();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(cycles() > before);
    }
}
