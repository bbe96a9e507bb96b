//! Copying to and from memory that another process may write at the same time.
//!
//! A plain copy of such memory would be undefined: the compiler may read twice what it was told to read once,
//! and take for granted that both give the same. What is done here instead is what a loop of relaxed
//! `AtomicU8` loads and stores does, octet by octet, which is defined whoever writes meanwhile: each octet is
//! then one that was there at some time. The order of copies towards each other is up to the caller, by the
//! words of the segment.

#![allow(unsafe_code, reason = "memory that others write cannot be read through a slice")]

/// From this many octets on x86-64 copies by its string instructions. They take some 20 ns to start (Xeon of
/// 2023), in which the registers move about as many.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 1024;

/// Copies octets, of which either side may be written, or read, by others at the same time.
///
/// # Safety
/// So many octets at `from` can be read, and at `to` written; they do not overlap. What of them is not shared
/// memory is nobody else's for the time of the call. No reference other than to atomics of one octet exists
/// to what is.
#[inline]
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn copy(mut from: *const u8, mut to: *mut u8, mut octets: usize) {
    use std::arch::asm;
    if octets >= LONG {
        // SAFETY: moves that many octets from the one to the other, upwards, as Rust promises that the
        // direction flag is clear. Each is read and written once, which is what relaxed atomic accesses of
        // single octets do on this processor; as the compiler does not look into it, it takes nothing for
        // granted about them.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") octets => _, inout("rsi") from => _, inout("rdi") to => _,
                options(nostack, preserves_flags)
            );
        }
        return;
    }
    /// Moves so many octets through registers of that class, and goes on behind them.
    macro_rules! step {
        ($octets:literal, $class:ident, [$($register:ident),+], $($instruction:literal),+) => {
            // SAFETY: as above, of as many octets, which are left; a move of several is one of each of them,
            // at any alignment. Every x86-64 has these registers.
            unsafe {
                asm!(
                    $($instruction),+,
                    $($register = out($class) _,)+ from = in(reg) from, to = in(reg) to,
                    options(nostack, preserves_flags)
                );
                (from, to) = (from.add($octets), to.add($octets));
            }
            octets -= $octets;
        };
    }
    while octets >= 64 {
        step!(
            64,
            xmm_reg,
            [a, b, c, d],
            "movdqu {a}, [{from}]",
            "movdqu {b}, [{from} + 16]",
            "movdqu {c}, [{from} + 32]",
            "movdqu {d}, [{from} + 48]",
            "movdqu [{to}], {a}",
            "movdqu [{to} + 16], {b}",
            "movdqu [{to} + 32], {c}",
            "movdqu [{to} + 48], {d}"
        );
    }
    while octets >= 16 {
        step!(16, xmm_reg, [a], "movdqu {a}, [{from}]", "movdqu [{to}], {a}");
    }
    if octets >= 8 {
        step!(8, reg, [a], "mov {a}, [{from}]", "mov [{to}], {a}");
    }
    if octets >= 4 {
        step!(4, reg, [a], "mov {a:e}, [{from}]", "mov [{to}], {a:e}");
    }
    while octets > 0 {
        step!(1, reg_byte, [a], "mov {a}, [{from}]", "mov [{to}], {a}");
    }
}

/// The same, where there is no better way.
///
/// # Safety
/// As on x86-64.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, octets: usize) {
    // SAFETY: what the caller says is what it asks for.
    unsafe { copy_one_by_one(from, to, octets) };
}

/// The same, in Rust's own terms.
///
/// # Safety
/// As on x86-64.
#[cfg(any(test, not(target_arch = "x86_64")))]
unsafe fn copy_one_by_one(from: *const u8, to: *mut u8, octets: usize) {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    for at in 0..octets {
        // SAFETY: the caller says that so many octets can be accessed from here on.
        let (from, to) = (unsafe { from.add(at) }, unsafe { to.add(at) });
        // SAFETY: it can be read, the caller says, and all others who access it at the same time do so atomically, or from
        // outside of this program. It is never written through this pointer.
        let from = unsafe { AtomicU8::from_ptr(from.cast_mut()) };
        // SAFETY: likewise, and it can be written.
        let to = unsafe { AtomicU8::from_ptr(to) };
        to.store(from.load(Relaxed), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(copy: unsafe fn(*const u8, *mut u8, usize)) {
        let source: Vec<u8> = (0..1100_u32).map(|i| (i % 251) as u8).collect();
        for octets in (0..=130).chain([191, 192, 193, 500, 1023, 1024, 1025]) {
            for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 7)] {
                let mut target = [0xee; 1100];
                let (begin, place) = (source[from..].as_ptr(), target[to..].as_mut_ptr());
                // SAFETY: both are followed by so many octets of their arrays, which are this test's own.
                unsafe { copy(begin, place, octets) };
                let mut expected = [0xee; 1100];
                expected[to..to + octets].copy_from_slice(&source[from..from + octets]);
                assert_eq!(target, expected, "{octets} octets from {from} to {to}");
            }
        }
    }

    #[test]
    fn every_length_and_alignment_arrives_and_nothing_else_changes() {
        copies(copy);
        copies(copy_one_by_one);
    }
}
