//! Memory that may be handed to the kernel.

#![allow(
    unsafe_code,
    reason = "the kernel reads this memory after the call: a promise that only its type can make"
)]

use std::sync::Arc;

/// Memory that stays where it is, and as it is, while its owner is moved about and not otherwise touched.
///
/// For other types than those here, put one of them inside.
///
/// # Safety
/// From one call of [`octets`](Self::octets) to the owner's destruction each call gives the same memory,
/// wherever the owner has been moved; and as long as nobody but the caller has the owner in hand, nobody can
/// change this memory or free it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that may be handed to the kernel",
    label = "may move, change or end while the kernel reads it",
    note = "`Vec<u8>`, `Box<[u8]>`, `Arc<[u8]>`, `Arc<Vec<u8>>` and `&'static [u8]` may"
)]
pub unsafe trait StableOctets: Send + 'static {
    /// The memory.
    fn octets(&self) -> &[u8];
}

// SAFETY: lives as long as the program, and nobody can change what is borrowed so.
unsafe impl StableOctets for &'static [u8] {
    fn octets(&self) -> &[u8] {
        self
    }
}

// SAFETY: the memory is on the heap, where moving its owner leaves it, and is reached through its one owner
// only.
unsafe impl StableOctets for Vec<u8> {
    fn octets(&self) -> &[u8] {
        self
    }
}

// SAFETY: as for a vector.
unsafe impl StableOctets for Box<[u8]> {
    fn octets(&self) -> &[u8] {
        self
    }
}

// SAFETY: the memory is on the heap. There may be other owners, but as long as there is this one none of them
// can change it (`Arc::get_mut` refuses, `Arc::make_mut` makes a copy) or free it.
unsafe impl StableOctets for Arc<[u8]> {
    fn octets(&self) -> &[u8] {
        self
    }
}

// SAFETY: likewise for the vector and thereby for its memory.
unsafe impl StableOctets for Arc<Vec<u8>> {
    fn octets(&self) -> &[u8] {
        self
    }
}
