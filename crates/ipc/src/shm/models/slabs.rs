//! Slabs beside the ring: which is free, which comes next, and that nobody fills one that is still read.

use std::sync::atomic::Ordering::Acquire;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU32;
use loom::thread;

use super::super::doorbell::{self, SLEEPING};
use super::super::ring::{Consumer, Producer};
use super::super::slabs::{Emptying, Filling, Reference, ReferenceWords};
use super::{Lane, model};

/// Slabs of a cell each, which loom watches for accesses that race.
struct Slabs {
    posted: AtomicU32,
    said: Vec<[AtomicU32; 2]>,
    cells: Vec<UnsafeCell<u32>>,
}

// SAFETY: the cells are what is tried here: loom ends a model in which two threads reach one without an order between them.
unsafe impl Send for Slabs {}
// SAFETY: as before.
unsafe impl Sync for Slabs {}

impl Slabs {
    fn new(count: usize) -> Arc<Self> {
        let zero = || AtomicU32::new(0);
        let said = (0..count).map(|_| [zero(), zero()]).collect();
        Arc::new(Self { posted: zero(), said, cells: (0..count).map(|_| UnsafeCell::new(0)).collect() })
    }

    fn words(&self, place: usize) -> ReferenceWords<'_, AtomicU32> {
        ReferenceWords { position: &self.said[place][0], content: &self.said[place][1] }
    }

    fn count(&self) -> u32 {
        self.cells.len() as u32
    }
}

/// Who sends.
struct Sending {
    lane: Arc<Lane>,
    slabs: Arc<Slabs>,
    producer: Producer,
    filling: Filling,
}

impl Sending {
    fn new(lane: &Arc<Lane>, slabs: &Arc<Slabs>) -> Self {
        let (producer, filling) = (Producer::new(lane.capacity()), Filling::new(slabs.count()));
        Self { lane: Arc::clone(lane), slabs: Arc::clone(slabs), producer, filling }
    }

    /// As `put` does: room for its octet, and the next slab that is free. `None`: none is.
    fn try_slab(&mut self, value: u32) -> Option<()> {
        self.lane.sleep_for_room(&mut self.producer);
        self.producer.room(&self.lane.tail, u32::MAX).unwrap();
        let slab = self.filling.free(self.producer.position(), self.producer.seen())?;
        // SAFETY: the slab is free: nobody reads it, which loom checks.
        self.slabs.cells[slab].with_mut(|cell| unsafe { *cell = value });
        let said = Reference { position: self.producer.position(), slab, length: 1 };
        self.filling.post(&self.slabs.posted, |place| self.slabs.words(place), said);
        self.producer.publish(&self.lane.head, 1);
        self.lane.ring_data();
        Some(())
    }

    fn slab(&mut self, value: u32) {
        while self.try_slab(value).is_none() {
            thread::yield_now();
        }
    }

    fn octet(&mut self, value: u32) {
        self.lane.sleep_for_room(&mut self.producer);
        self.lane.put(&mut self.producer, value);
    }
}

/// Who receives.
struct Receiving {
    lane: Arc<Lane>,
    slabs: Arc<Slabs>,
    consumer: Consumer,
    emptying: Emptying,
}

impl Receiving {
    fn new(lane: &Arc<Lane>, slabs: &Arc<Slabs>) -> Self {
        let (consumer, emptying) = (Consumer::new(lane.capacity()), Emptying::new(1, slabs.count()));
        Self { lane: Arc::clone(lane), slabs: Arc::clone(slabs), consumer, emptying }
    }

    /// What comes next, and whether it came by a slab.
    fn next(&mut self) -> (u32, bool) {
        assert!(self.lane.sleep_for_data(&mut self.consumer));
        let (posted, capacity) = (self.slabs.posted.load(Acquire), self.lane.capacity());
        let words = |place| self.slabs.words(place);
        let ahead = self.emptying.ahead(posted, self.consumer.position(), capacity, words);
        if ahead.expect("nobody lies") != Some(0) {
            return (self.lane.take(&mut self.consumer), false);
        }
        let (slab, _, _) = self.emptying.rest();
        // SAFETY: the slab is posted, and not given back: nobody fills it, which loom checks.
        let value = self.slabs.cells[slab].with(|cell| unsafe { *cell });
        assert!(self.emptying.take(1));
        self.consumer.consume(&self.lane.tail, 1);
        if doorbell::ring(&self.lane.room) & SLEEPING != 0 {
            self.lane.room_kernel.wake_all();
        }
        (value, true)
    }
}

#[test]
fn the_only_slab_is_filled_again_when_it_was_read_and_not_before() {
    model(|| {
        let (lane, slabs) = (Lane::new(2), Slabs::new(1));
        let mut sending = Sending::new(&lane, &slabs);
        let sending = thread::spawn(move || (1..=2).for_each(|value| sending.slab(value)));
        let mut receiving = Receiving::new(&lane, &slabs);
        for value in 1..=2 {
            assert_eq!(receiving.next(), (value, true));
        }
        sending.join().unwrap();
    });
}

#[test]
fn what_two_slabs_hold_comes_out_in_turn() {
    model(|| {
        let (lane, slabs) = (Lane::new(2), Slabs::new(2));
        let mut sending = Sending::new(&lane, &slabs);
        let sending = thread::spawn(move || (1..=3).for_each(|value| sending.slab(value)));
        let mut receiving = Receiving::new(&lane, &slabs);
        for value in 1..=3 {
            assert_eq!(receiving.next(), (value, true));
        }
        sending.join().unwrap();
    });
}

#[test]
fn octets_of_the_ring_before_and_behind_a_slab_are_told_from_it() {
    model(|| {
        let (lane, slabs) = (Lane::new(2), Slabs::new(1));
        let mut sending = Sending::new(&lane, &slabs);
        let sending = thread::spawn(move || {
            sending.octet(1);
            sending.slab(2);
            sending.octet(3);
        });
        let mut receiving = Receiving::new(&lane, &slabs);
        assert_eq!(receiving.next(), (1, false));
        assert_eq!(receiving.next(), (2, true));
        assert_eq!(receiving.next(), (3, false));
        sending.join().unwrap();
    });
}
