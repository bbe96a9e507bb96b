//! Interleavings of an owner and those who revoke, all in which a thread is stopped against its will at most three times, by loom, which
//! sees each access to a value: that none meets a move.
//!
//! ```text
//! RUSTFLAGS="--cfg zorb_loom" CARGO_PROFILE_RELEASE_LTO=off \
//!     cargo test -p zorb-ipc --lib --release --target-dir target/models biased::models
//! ```

use loom::thread;

use super::*;

fn model(run: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

fn slots() -> &'static BiasedSlots<u32, 1> {
    Box::leak(Box::new(BiasedSlots::new()))
}

/// The value as its use finds it, at its beginning and at its end.
fn uses(own: &SlotsOwner<u32, 1>) -> Option<u32> {
    let used = own.use_value(0)?;
    let first = *used;
    thread::yield_now();
    assert_eq!(*used, first);
    Some(first)
}

#[test]
fn a_value_leaves_once_and_never_while_it_is_used() {
    model(|| {
        let slots = slots();
        let own = slots.claim().expect("nobody has them");
        own.put(0, 7).expect("not in use");
        let other = thread::spawn(move || slots.revoke_if(|_| true));
        assert!(uses(&own).is_none_or(|value| value == 7));
        let taken = other.join().expect("no panic");
        assert!(taken.is_empty() || taken == [7]);
        assert_eq!(uses(&own), None);
        assert_eq!(own.take(0), None);
    });
}

#[test]
fn what_is_put_after_a_value_has_left_is_not_taken_for_it() {
    model(|| {
        let slots = slots();
        let own = slots.claim().expect("nobody has them");
        own.put(0, 7).expect("not in use");
        let others = [(); 2].map(|()| thread::spawn(move || slots.revoke_if(|&value| value == 7)));
        let first = uses(&own);
        let there = own.put(0, 8).expect("not in use");
        let used = uses(&own);
        let taken: usize = others.into_iter().map(|it| it.join().expect("no panic").len()).sum();
        assert_eq!(used, Some(8));
        assert!(taken <= 1 && (taken == 0 || there.is_none()), "{first:?} {there:?} {taken}");
        assert_eq!(own.take(0), Some(8));
    });
}

#[test]
fn the_claim_of_one_thread_takes_nothing_from_another() {
    model(|| {
        let slots = slots();
        let claim = move || {
            let own = slots.claim()?;
            own.put(0, 7).expect("not in use");
            assert_eq!(uses(&own), Some(7));
            Some(())
        };
        let other = thread::spawn(claim);
        let claimed = [claim(), other.join().expect("no panic")];
        assert_ne!(claimed, [None; 2]);
        assert!(slots.claim().is_some_and(|own| own.use_value(0).is_none()));
    });
}
