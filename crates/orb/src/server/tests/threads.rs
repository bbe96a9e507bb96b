//! Thread models: nobody waits behind another's upcall, and nobody waits for ever.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use zorb_giop::{ReplyStatus, ResponseFlags};

use super::super::{ServerLimits, ThreadModel};
use super::rig::{PATIENCE, Rig, models, nothing};

#[test]
fn calls_on_one_connection_meet_at_a_barrier() {
    let rig = Rig::new(ThreadModel::per_connection());
    // In one burst,
    let mut wire = rig.connect();
    let burst: Vec<u8> =
        (0..64).flat_map(|id| wire.message(id, ResponseFlags::WITH_TARGET, "meet", &nothing)).collect();
    wire.send(&burst);
    (0..64).for_each(|id| drop(wire.reply(id)));
    // and one by one, each while the one before is in its upcall.
    for id in 0..64 {
        wire.request(id, "meet", &nothing);
        std::thread::sleep(Duration::from_millis(1));
    }
    (0..64).for_each(|id| drop(wire.reply(id)));
    // In a pool that is just large enough.
    let rig = Rig::new(ThreadModel::pool(64));
    let mut wire = rig.connect();
    wire.send(&burst);
    (0..64).for_each(|id| drop(wire.reply(id)));
}

#[test]
fn a_call_does_not_wait_behind_an_upcall_that_lasts() {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(2)] {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        wire.call(1, "null", &nothing);
        wire.request(2, "wait", &nothing);
        wire.call(3, "null", &nothing);
        wire.call(4, "null", &nothing);
        rig.stage.open();
        wire.reply(2);
        wire.call(5, "null", &nothing);
    }
}

#[test]
fn a_call_does_not_wait_behind_an_upcall_that_lasts_after_many_short_ones() {
    // So many that the keeper looks less often.
    for model in [ThreadModel::per_connection(), ThreadModel::pool(2)] {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        (0..2_000).for_each(|id| drop(wire.call(id, "null", &nothing)));
        wire.request(2_001, "wait", &nothing);
        wire.call(2_002, "null", &nothing);
        rig.stage.open();
        wire.reply(2_001);
    }
}

#[test]
fn an_upcall_that_lasts_is_found_while_others_come_and_end_elsewhere() {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(3)] {
        let rig = Rig::new(model);
        let (mut wire, mut busy) = (rig.connect(), rig.connect());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // No more than so many, should this fail.
            scope.spawn(|| {
                (0..500_000)
                    .take_while(|_| !is_over.load(Ordering::Relaxed))
                    .for_each(|id| drop(busy.call(id, "null", &nothing)));
            });
            (0..500).for_each(|id| drop(wire.call(id, "null", &nothing)));
            wire.request(501, "wait", &nothing);
            wire.call(502, "null", &nothing);
            rig.stage.open();
            wire.reply(501);
            is_over.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn an_answer_does_not_wait_for_an_upcall_that_was_received_with_it() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        let message = |id, operation| wire.message(id, ResponseFlags::WITH_TARGET, operation, &nothing);
        let burst = [message(1, "null"), message(2, "null"), message(3, "wait"), message(4, "null")].concat();
        wire.send(&burst);
        wire.reply(1);
        wire.reply(2);
        if model != ThreadModel::Reactor {
            wire.reply(4);
        }
        rig.stage.open();
        wire.reply(3);
        wire.call(5, "null", &nothing);
    }
}

#[test]
fn answers_to_what_was_received_together_come_whole_and_in_order() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        // Small ones that are held, and one between them that is not.
        for round in 0..50 {
            let sizes = [0, 10, 5_000, 3_000, 100_000, 7];
            let id = |at: usize| round * 10 + at as u32;
            let burst: Vec<u8> = (0..sizes.len())
                .flat_map(|at| {
                    let size = sizes[at];
                    wire.message(id(at), ResponseFlags::WITH_TARGET, "echo", &|to| {
                        to.write_u32(size as u32);
                        to.write_octets(&vec![at as u8; size]);
                    })
                })
                .collect();
            wire.send(&burst);
            for (at, &size) in sizes.iter().enumerate() {
                let reply = wire.reply(id(at));
                assert_eq!(reply.status, ReplyStatus::NO_EXCEPTION, "{model:?}");
                assert_eq!(reply.body.len(), 4 + size, "{model:?}");
            }
        }
    }
}

#[test]
fn many_connections_are_served_by_every_model() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wires: Vec<_> = (0..50).map(|_| rig.connect()).collect();
        for round in 0..20 {
            wires.iter().for_each(|wire| wire.request(round, "null", &nothing));
            wires.iter_mut().for_each(|wire| drop(wire.reply(round)));
        }
    }
}

#[test]
fn a_connection_goes_from_hot_to_parked_and_back() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    for id in 0..3 {
        wire.call(id, "null", &nothing);
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_full_pool_ends_in_an_exception() {
    let limits = ServerLimits { queue_time: Duration::from_millis(500), ..ServerLimits::default() };
    for model in [ThreadModel::Pool { threads: 2, queue: 10 }, ThreadModel::PerConnection { most: 2 }] {
        let rig = Rig::with(model, limits, |builder| builder);
        let mut wires: Vec<_> = (0..3).map(|_| rig.connect()).collect();
        for (occupied, wire) in (1..=2).zip(&wires) {
            wire.request(1, "wait", &nothing);
            rig.stage.wait_for("the servant", |stage| stage.inside.load(Ordering::SeqCst) == occupied);
        }
        wires[2].request(1, "null", &nothing);
        assert_eq!(wires[2].exception(1).0, "TRANSIENT");
        // On the connection of one of them, too.
        wires[0].request(2, "null", &nothing);
        assert_eq!(wires[0].exception(2).0, "TRANSIENT");
        rig.stage.open();
        wires[0].reply(1);
        wires[1].reply(1);
        // A thread that has replied is back a moment later; who comes earlier than that may be refused once more.
        let served = |id| {
            wires[2].request(id, "null", &nothing);
            wires[2].reply(id).status == ReplyStatus::NO_EXCEPTION
        };
        assert!((3..600).any(served), "{model:?} serves no more");
    }
}

#[test]
fn a_full_queue_refuses_at_once() {
    // Who waits in the queue waits for longer than this test: only a full queue refuses.
    let limits = ServerLimits { queue_time: 2 * PATIENCE, ..ServerLimits::default() };
    let rig = Rig::with(ThreadModel::Pool { threads: 1, queue: 3 }, limits, |builder| builder);
    let mut busy = rig.connect();
    busy.request(1, "wait", &nothing);
    rig.stage.wait_for("the servant", |stage| stage.inside.load(Ordering::SeqCst) == 1);
    let (refused, served) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut wire = rig.connect();
                wire.request(1, "null", &nothing);
                match wire.reply(1).status {
                    ReplyStatus::NO_EXCEPTION => served.fetch_add(1, Ordering::SeqCst),
                    _ => refused.fetch_add(1, Ordering::SeqCst),
                }
            });
        }
        rig.stage.wait_for("the refused", |_| refused.load(Ordering::SeqCst) == 5);
        assert_eq!(served.load(Ordering::SeqCst), 0, "the only thread is in its upcall");
        rig.stage.open();
    });
    busy.reply(1);
    assert_eq!((refused.into_inner(), served.into_inner()), (5, 3));
}

#[test]
fn panics_cost_nobody_a_thread() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        for id in 0..20 {
            wire.request(id, "panic", &nothing);
            assert_eq!(wire.exception(id).0, "UNKNOWN");
        }
        wire.call(99, "null", &nothing);
    }
}
