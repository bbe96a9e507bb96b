//! What a thread has sent that may not have been executed yet: its next call to the same object follows on the same
//! connection, and so does not overtake it.
//!
//! Each thread keeps its own list, so that nothing is locked and nothing outlives the thread. An entry ends when a
//! blocking call to the object that followed it has come back, or with the connection, as the promise does.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Weak};

use zorb_giop::Target;

use super::shared::Shared;

/// Entries of a thread. A thousand: more objects than anybody sends to without ever asking one. Beyond it the objects
/// on one connection share an entry, which ends with the connection.
const MOST: usize = 1024;

/// An object, by its key's hash: two that are taken for one only follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recipient(u64);

impl Recipient {
    pub(crate) fn of(target: &Target) -> Self {
        let keyed = BuildHasherDefault::<DefaultHasher>::new();
        match target {
            Target::ObjectKey(key) => Self(keyed.hash_one(&key[..])),
            // Candidates name keys; what else there may be is taken for one object.
            _ => Self(0),
        }
    }
}

struct Entry {
    connection: Weak<Shared>,
    /// `None`: any.
    recipient: Option<Recipient>,
    /// When it was sent to last.
    sent: u64,
}

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
    /// How many there are: a plain look for threads that have none.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// Messages that this thread has sent.
    static SENT: Cell<u64> = const { Cell::new(0) };
}

/// Messages sent by this thread up to now: what a call that follows, and comes back, settles.
pub(crate) fn mark() -> u64 {
    SENT.get()
}

/// Whether this thread's next call to the `recipient` has to follow earlier ones on the connection that `is_meant`.
#[inline]
pub(crate) fn precedes(recipient: Recipient, is_meant: impl Fn(&Arc<Shared>) -> bool) -> bool {
    COUNT.get() != 0 && has(recipient, &is_meant)
}

#[inline(never)]
fn has(recipient: Recipient, is_meant: &dyn Fn(&Arc<Shared>) -> bool) -> bool {
    let found = |entries: &Vec<Entry>| {
        let mut candidates =
            entries.iter().filter(|entry| entry.recipient.is_none_or(|other| other == recipient));
        candidates.any(|entry| entry.live().is_some_and(|connection| is_meant(&connection)))
    };
    // At the thread's very end the list is gone: what is called from there overtakes nothing.
    ENTRIES.try_with(|entries| found(&entries.borrow())).unwrap_or(true)
}

/// This thread has sent to the `recipient` on `connection`, and has not seen what came of it.
#[inline]
pub(crate) fn sent(connection: &Arc<Shared>, recipient: Recipient) {
    let sent = SENT.get() + 1;
    SENT.set(sent);
    let same = |entry: &&mut Entry| {
        entry.connection.as_ptr() == Arc::as_ptr(connection)
            && entry.recipient.is_none_or(|other| other == recipient)
    };
    let again = |entries: &RefCell<Vec<Entry>>| match entries.borrow_mut().iter_mut().find(same) {
        Some(entry) => {
            entry.sent = sent;
            true
        }
        None => false,
    };
    if !ENTRIES.try_with(again).unwrap_or(true) {
        sent_first(connection, recipient, sent);
    }
}

#[cold]
fn sent_first(connection: &Arc<Shared>, recipient: Recipient, sent: u64) {
    change(|entries| {
        entries.push(Entry { connection: Arc::downgrade(connection), recipient: Some(recipient), sent });
        if entries.len() > MOST {
            entries.retain(|entry| entry.live().is_some());
        }
        if entries.len() > MOST {
            entries.retain(|entry| entry.connection.as_ptr() != Arc::as_ptr(connection));
            entries.push(Entry { connection: Arc::downgrade(connection), recipient: None, sent });
        }
    });
}

/// A call to the `recipient` that followed on `connection` has come back; it was made when [`mark`] was this.
pub(crate) fn settled(connection: &Arc<Shared>, recipient: Recipient, mark: u64) {
    if COUNT.get() != 0 {
        let is_settled = |entry: &Entry| {
            entry.recipient == Some(recipient)
                && entry.connection.as_ptr() == Arc::as_ptr(connection)
                && entry.sent <= mark
        };
        change(|entries| entries.retain(|entry| !is_settled(entry)));
    }
}

fn change(change: impl FnOnce(&mut Vec<Entry>)) {
    let _ = ENTRIES.try_with(|entries| {
        let mut entries = entries.borrow_mut();
        change(&mut entries);
        COUNT.set(entries.len());
    });
}

impl Entry {
    fn live(&self) -> Option<Arc<Shared>> {
        self.connection.upgrade().filter(|connection| !connection.has_ended())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::super::end::End;
    use super::*;
    use crate::transport::Endpoint;

    fn key(number: u16) -> Recipient {
        Recipient::of(&Target::ObjectKey(number.to_ne_bytes()[..].into()))
    }

    fn connection() -> Arc<Shared> {
        let endpoint = Endpoint { transport: "none".into(), address: "test".into() };
        Shared::connecting(endpoint, zorb_giop::Protocol::Giop, &Settings::default())
    }

    /// Each test has a thread of its own, and so a list.
    #[test]
    fn an_object_is_followed_until_a_call_to_it_has_come_back() {
        let (one, two) = (connection(), connection());
        let follows = |number, on: &Arc<Shared>| precedes(key(number), |other| Arc::ptr_eq(on, other));
        assert!(!follows(1, &one));
        sent(&one, key(1));
        sent(&one, key(2));
        assert!(follows(1, &one) && follows(2, &one));
        assert!(!follows(3, &one) && !follows(1, &two));
        settled(&one, key(1), mark());
        assert!(!follows(1, &one) && follows(2, &one));
        let before = mark();
        sent(&one, key(2));
        settled(&one, key(2), before);
        settled(&two, key(2), mark());
        assert!(follows(2, &one), "a call that was made earlier settles nothing, nor one elsewhere");
        one.end(End::Closed);
        assert!(!follows(2, &one), "the promise ends with the connection");
    }

    #[test]
    fn a_list_is_bounded_and_keeps_what_was_promised() {
        let (one, two) = (connection(), connection());
        sent(&two, key(7));
        for number in 0..3_000 {
            sent(&one, key(number));
        }
        assert!(COUNT.get() <= MOST, "{}", COUNT.get());
        assert!((0..3_000).all(|number| precedes(key(number), |other| Arc::ptr_eq(&one, other))));
        assert!(precedes(key(7), |other| Arc::ptr_eq(&two, other)));
        for _ in 0..3_000 {
            sent(&connection(), key(1));
        }
        assert!(COUNT.get() <= MOST + 1, "those whose connection is gone make room: {}", COUNT.get());
    }
}
