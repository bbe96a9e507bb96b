//! The memory of large messages, which all connections of an ORB share: bounded, and some of it made beforehand.
//!
//! Large is what the ordinary receive buffer of a connection does not hold (16 KiB). Memory counts from the time that a message is granted it until
//! nothing refers to it any more: an upcall that has not returned, a value that was read in place. So do the fragments of a message. What was
//! made beforehand is granted to messages of which 8 KiB have come; where the sender then falls silent it is taken back within two seconds
//! and what has come is kept in memory of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use zorb_cdr::{Home, Memory};
use zorb_giop::Storage;

/// What a receive buffer wants beyond the message, to begin at an aligned address.
const ALIGNMENT: usize = 8;

/// What an ORB's large messages may hold.
#[derive(Debug)]
pub(crate) struct MessageMemory {
    most: usize,
    held: Arc<Held>,
    reserve: Arc<Reserve>,
}

/// Octets that were made for messages and not given back yet.
#[derive(Debug, Default)]
struct Held(AtomicUsize);

/// Buffers of one size that were made beforehand and are used again and again.
#[derive(Debug, Default)]
struct Reserve {
    each: usize,
    /// Last used first: what was touched last is in the processor's cache.
    free: Mutex<Vec<Vec<u8>>>,
}

impl MessageMemory {
    /// At most so many octets beside `count` buffers for messages of `octets`.
    pub(crate) fn new(most: usize, count: usize, octets: usize) -> MessageMemory {
        let each = octets.saturating_add(ALIGNMENT);
        // Written, so that they are memory and not only addresses.
        let free = (0..count).map(|_| vec![0xff; each]).collect();
        let reserve = Reserve { each: if count == 0 { 0 } else { each }, free: Mutex::new(free) };
        MessageMemory { most, held: Arc::default(), reserve: Arc::new(reserve) }
    }
}

impl Storage for MessageMemory {
    fn take(&self, octets: usize) -> Option<Memory> {
        if octets <= self.reserve.each
            && let Some(buffer) = self.reserve.free.lock().pop()
        {
            return Some(Memory::of_home(buffer, self.reserve.clone()));
        }
        self.take_apart(octets)
    }

    fn take_apart(&self, octets: usize) -> Option<Memory> {
        self.claim(octets).then(|| Memory::of_home(vec![0; octets], self.held.clone()))
    }

    fn claim(&self, octets: usize) -> bool {
        let more = |held: usize| held.checked_add(octets).filter(|held| *held <= self.most);
        self.held.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn release(&self, octets: usize) {
        self.held.0.fetch_sub(octets, Ordering::Relaxed);
    }

    fn most(&self) -> usize {
        self.most
    }
}

impl Home for Held {
    fn give_back(&self, octets: Vec<u8>) {
        self.0.fetch_sub(octets.len(), Ordering::Relaxed);
    }
}

impl Home for Reserve {
    fn give_back(&self, octets: Vec<u8>) {
        self.free.lock().push(octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_and_beside_them_the_bound_holds() {
        let memory = MessageMemory::new(1000, 2, 5000);
        let first = memory.take(5000).expect("the reserve");
        let second = memory.take(10).expect("the reserve");
        let at = second.as_ptr();
        assert!(memory.take(5000).is_none(), "beyond the bound");
        let third = memory.take(600).expect("within the bound");
        assert!(memory.take(600).is_none());
        drop(second);
        let again = memory.take(5008).expect("the reserve again");
        assert_eq!(again.as_ptr(), at);
        drop(third);
        assert!(memory.claim(1000) && !memory.claim(1));
        memory.release(1000);
        assert!(memory.take(5009).is_none(), "larger than a buffer of the reserve");
        drop((first, again));
        assert_eq!((memory.reserve.free.lock().len(), memory.held.0.load(Ordering::Relaxed)), (2, 0));
    }
}
