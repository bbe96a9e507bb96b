//! What holds with one thread and with several; interleavings are tried by `models`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;

fn slots<T: Send + Sync, const N: usize>() -> &'static BiasedSlots<T, N> {
    Box::leak(Box::new(BiasedSlots::new()))
}

#[test]
fn one_thread_owns_them_at_a_time_and_leaves_nothing_behind() {
    let slots = slots::<Arc<()>, 2>();
    let value = Arc::new(());
    let own = slots.claim().expect("nobody has them");
    own.put(0, value.clone()).expect("not in use");
    // A claim in vain takes nothing from who has them, not even the claim.
    for _ in 0..2 {
        assert!(thread::spawn(|| slots.claim().is_none()).join().expect("no panic"));
    }
    assert!(own.use_value(0).is_some());
    drop(own);
    assert_eq!(Arc::strong_count(&value), 1);
    let again = slots.claim().expect("nobody has them any more");
    assert!(again.use_value(0).is_none());
}

#[test]
fn the_system_gets_ready_while_nobody_waits() {
    while !BiasedSlots::<u8, 1>::is_ready() {
        thread::yield_now();
    }
    assert!(slots::<u8, 1>().claim().is_some());
}

#[test]
fn a_value_in_use_is_neither_replaced_nor_taken() {
    let slots = slots::<u32, 2>();
    let own = slots.claim().expect("nobody has them");
    assert_eq!(own.put(1, 7), Ok(None));
    let (outer, inner) = (own.use_value(1).expect("there"), own.use_value(3).expect("the same slot"));
    assert_eq!((*outer, *inner), (7, 7));
    assert_eq!(own.put(1, 8), Err(8));
    assert_eq!(own.take(1), None);
    drop(outer);
    assert_eq!(own.put(1, 8), Err(8));
    drop(inner);
    assert_eq!(own.put(1, 8), Ok(Some(7)));
    assert_eq!(own.take(1), Some(8));
    assert!(own.use_value(1).is_none());
}

#[test]
fn what_is_revoked_leaves_at_once_or_with_its_last_use() {
    let slots = slots::<Arc<u32>, 4>();
    let values: Vec<Arc<u32>> = (0..3).map(Arc::new).collect();
    let own = slots.claim().expect("nobody has them");
    for (at, value) in values.iter().enumerate() {
        own.put(at, value.clone()).expect("not in use");
    }
    let (outer, inner) = (own.use_value(1).expect("there"), own.use_value(1).expect("there"));
    let taken = thread::scope(|scope| {
        scope.spawn(|| slots.revoke_if(|value| **value != 2)).join().expect("no panic")
    });
    assert_eq!(taken, [values[0].clone()]);
    assert!(own.use_value(0).is_none() && own.use_value(1).is_none());
    assert_eq!(own.use_value(2).as_deref(), Some(&values[2]));
    assert_eq!(outer.slot().look(|value| **value), Some(1));
    drop(outer);
    assert_eq!((**inner, Arc::strong_count(&values[1])), (1, 2));
    drop(inner);
    assert_eq!(Arc::strong_count(&values[1]), 1);
    assert!(own.put(1, values[0].clone()).expect("not in use").is_none());
    assert!(own.use_value(1).is_some());
}

#[test]
fn without_its_fence_nothing_is_taken_and_what_is_wanted_leaves_all_the_same() {
    let slots = slots::<Arc<u32>, 3>();
    let values: Vec<Arc<u32>> = (0..3).map(Arc::new).collect();
    let own = slots.claim().expect("nobody has them");
    for (at, value) in values.iter().enumerate() {
        own.put(at, value.clone()).expect("not in use");
    }
    let used = own.use_value(0).expect("there");
    let refused = || {
        fence::REFUSED.set(true);
        slots.revoke_if(|_| true)
    };
    assert!(thread::scope(|scope| scope.spawn(refused).join()).expect("no panic").is_empty());
    assert_eq!(values.iter().map(Arc::strong_count).collect::<Vec<_>>(), [2; 3]);
    // When its owner ends with it, when its owner comes to it,
    drop(used);
    assert!(own.use_value(1).is_none());
    assert_eq!(values.iter().map(Arc::strong_count).collect::<Vec<_>>(), [1, 1, 2]);
    // or with the next call.
    assert_eq!(slots.revoke_if(|_| false), [values[2].clone()]);
}

#[test]
fn a_claim_stays_with_what_is_used_for_ever() {
    let slots = slots::<u32, 1>();
    let own = slots.claim().expect("nobody has them");
    own.put(0, 7).expect("not in use");
    let used = own.use_value(0).expect("there");
    drop(own);
    assert_eq!(*used, 7);
    std::mem::forget(used);
    assert!(slots.claim().is_none());
}

/// A value that knows whether it still lives.
struct Living(AtomicBool);

impl Drop for Living {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn no_use_meets_a_value_that_has_left() {
    const ROUNDS: usize = if cfg!(miri) { 20 } else { 20_000 };
    let slots = slots::<Living, 2>();
    let (rounds, used, is_over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let own = slots.claim().expect("nobody has them");
            while !is_over.load(Ordering::Relaxed) {
                let at = rounds.fetch_add(1, Ordering::Relaxed);
                if let Some(living) = own.use_value(at) {
                    assert!(living.0.load(Ordering::Relaxed), "used after it has left");
                    used.fetch_add(1, Ordering::Relaxed);
                    assert!(living.0.load(Ordering::Relaxed), "left while it was in use");
                } else {
                    assert!(own.put(at, Living(true.into())).is_ok(), "none is in use");
                }
            }
        });
        for _ in 0..ROUNDS {
            drop(slots.revoke_if(|living| living.0.load(Ordering::Relaxed)));
            thread::yield_now();
        }
        while used.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
