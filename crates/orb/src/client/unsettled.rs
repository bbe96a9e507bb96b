//! What a thread has sent that may not have been executed yet: its next call to the same object follows on the same
//! connection, and so does not overtake it.
//!
//! Each thread keeps its own list, so that nothing is locked and nothing outlives the thread. An entry ends when a
//! blocking call to the object, which went the same way, has come back.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use zorb_giop::Target;

/// Entries of a thread. 64: threads that send without asking send to a handful of objects. Beyond it the objects of
/// one endpoint share an entry, which does not end; and beyond so many endpoints the oldest are forgotten.
const MOST: usize = 64;

/// Objects by their endpoint, and there by their key's hash: two that are taken for one only follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    pool: usize,
    /// `None`: any.
    target: Option<u64>,
}

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
    /// How many there are: a plain look for threads that have none.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Whether this thread's next call to `target`, at the endpoint whose connections are `pool`, has to follow earlier ones.
#[inline]
pub(crate) fn precedes(pool: usize, target: &Target) -> bool {
    COUNT.get() != 0 && has(pool, target)
}

#[inline(never)]
fn has(pool: usize, target: &Target) -> bool {
    let target = Some(hash(target));
    ENTRIES.with_borrow(|entries| {
        entries.iter().any(|entry| entry.pool == pool && (entry.target.is_none() || entry.target == target))
    })
}

/// This thread has sent to `target` and has not seen what came of it.
pub(crate) fn sent(pool: usize, target: &Target) {
    if has(pool, target) {
        return;
    }
    change(|entries| {
        entries.push(Entry { pool, target: Some(hash(target)) });
        if entries.len() > MOST {
            entries.iter_mut().for_each(|entry| entry.target = None);
            entries.dedup();
            let mut seen = Vec::new();
            entries.retain(|entry| {
                let is_new = !seen.contains(&entry.pool);
                seen.push(entry.pool);
                is_new
            });
        }
        if entries.len() > MOST {
            entries.remove(0);
        }
    });
}

/// A call to `target` that followed has come back.
pub(crate) fn settled(pool: usize, target: &Target) {
    if precedes(pool, target) {
        let entry = Entry { pool, target: Some(hash(target)) };
        change(|entries| entries.retain(|other| *other != entry));
    }
}

fn change(change: impl FnOnce(&mut Vec<Entry>)) {
    ENTRIES.with_borrow_mut(|entries| {
        change(entries);
        COUNT.set(entries.len());
    });
}

fn hash(target: &Target) -> u64 {
    let keyed = BuildHasherDefault::<DefaultHasher>::new();
    match target {
        Target::ObjectKey(key) => keyed.hash_one(&key[..]),
        // Candidates name keys; what else there may be is taken for one object.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> Target {
        Target::ObjectKey([number][..].into())
    }

    /// Each test has a thread of its own, and so a list.
    #[test]
    fn an_object_is_followed_until_a_call_to_it_has_come_back() {
        assert!(!precedes(1, &key(1)));
        sent(1, &key(1));
        sent(1, &key(1));
        sent(1, &key(2));
        assert!(precedes(1, &key(1)) && precedes(1, &key(2)));
        assert!(!precedes(1, &key(3)) && !precedes(2, &key(1)));
        settled(1, &key(1));
        assert!(!precedes(1, &key(1)) && precedes(1, &key(2)));
        settled(1, &key(1));
        settled(1, &key(2));
        assert_eq!(COUNT.get(), 0);
    }

    #[test]
    fn a_list_does_not_grow_and_keeps_what_was_promised() {
        for number in 0..=u8::MAX {
            sent(1, &key(number));
            sent(2, &key(number));
        }
        assert!(COUNT.get() <= MOST, "{}", COUNT.get());
        for number in 0..=u8::MAX {
            assert!(precedes(1, &key(number)) && precedes(2, &key(number)));
        }
        for pool in 0..1_000 {
            sent(pool, &key(0));
        }
        assert!(COUNT.get() <= MOST && precedes(999, &key(0)));
    }
}
