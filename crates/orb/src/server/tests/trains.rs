//! Oneways with one head that come together are run one behind the other by the thread that reads them: as if each had come alone.

use std::sync::atomic::Ordering;
use std::time::Duration;

use zorb_giop::ResponseFlags;

use super::super::request::ServerRequest;
use super::super::{ServerLimits, ThreadModel};
use super::rig::{PATIENCE, Rig, Wire, models, nothing};

/// A connection that has taught the server the head of such oneways.
fn connect(rig: &Rig, operation: &str) -> Wire {
    let mut wire = rig.connect();
    for number in 0..3 {
        wire.oneway(operation, number);
        if operation == "keep" || operation == "keep-odd" && number % 2 == 1 {
            rig.stage.wait_for("it", |stage| stage.kept.lock().pop().is_some());
        }
    }
    wire.call(1, "null", &nothing);
    rig.stage.log.lock().clear();
    wire
}

/// Oneways, and a call behind them, which all leave at once.
fn send(wire: &Wire, operation: &str, numbers: std::ops::Range<u32>, more: usize) {
    let mut octets = Vec::new();
    for number in numbers {
        octets.extend(wire.message(number, ResponseFlags::NONE, operation, &|to| {
            to.write_u32(number);
            to.write_octets(&vec![0; number as usize % 7 * more]);
        }));
    }
    octets.extend(wire.message(1, ResponseFlags::WITH_TARGET, "null", &nothing));
    wire.send(&octets);
}

#[test]
fn they_keep_their_order_and_what_follows_waits() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "note");
        for round in 0..20 {
            send(&wire, "note", round * 100..(round + 1) * 100, 1);
            wire.reply(1);
            let all = (round + 1) * 100;
            assert!(rig.stage.log.lock().iter().copied().eq(0..all), "{model:?}, round {round}");
        }
    }
}

#[test]
fn one_that_lasts_loses_the_turn_and_the_others_keep_their_order() {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(4)] {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "slow");
        send(&wire, "slow", 0..50, 1);
        // Of another object: it does not wait for them, and has its answer before them.
        wire.send(&wire.message_to(b"other", 2, ResponseFlags::WITH_TARGET, "null", &nothing));
        wire.reply(2);
        assert!(rig.stage.log.lock().len() < 50, "{model:?}");
        wire.reply(1);
        assert!(rig.stage.log.lock().iter().copied().eq(0..50), "{model:?}");
    }
}

#[test]
fn a_servant_that_keeps_one_keeps_those_behind_it_waiting() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "keep");
        send(&wire, "keep", 0..30, 1);
        for number in 0..30 {
            rig.stage.wait_for("the next", |stage| !stage.kept.lock().is_empty());
            let kept = std::mem::take(&mut *rig.stage.kept.lock());
            assert_eq!(kept.len(), 1, "{model:?}, {number}");
        }
        wire.reply(1);
        // A connection closes when all its requests have ended: none was counted twice, or not at all.
        rig.orb.shutdown(false, PATIENCE);
        assert!(wire.ends());
    }
}

#[test]
fn one_that_is_kept_keeps_no_memory_of_its_message() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "keep-odd");
        send(&wire, "keep-odd", 0..30, 1);
        for number in 0..15 {
            rig.stage.wait_for("the next", |stage| !stage.kept.lock().is_empty());
            let kept = std::mem::take(&mut *rig.stage.kept.lock());
            let octets = kept.iter().filter_map(ServerRequest::remote).map(|remote| remote.body.len());
            assert!(octets.eq([0]), "{model:?}, {number}");
        }
        wire.reply(1);
    }
}

#[test]
fn one_that_ends_in_another_thread_at_the_same_time_starts_the_next() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = connect(&rig, "keep");
    let stage = rig.stage.clone();
    let dropper = std::thread::spawn(move || {
        let mut dropped = 0;
        while dropped < 500 {
            dropped += std::mem::take(&mut *stage.kept.lock()).len();
        }
    });
    send(&wire, "keep", 0..500, 1);
    wire.reply(1);
    dropper.join().unwrap();
    rig.orb.shutdown(false, PATIENCE);
    assert!(wire.ends());
}

#[test]
fn another_that_runs_within_one_takes_nothing_from_it() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "aside");
        let mut other = connect(&rig, "note");
        send(&wire, "aside", 0..10, 0);
        rig.stage.wait_for("the fifth", |stage| stage.inside.load(Ordering::SeqCst) > 0);
        send(&other, "note", 0..50, 0);
        other.reply(1);
        wire.reply(1);
        assert!(rig.stage.log.lock().iter().copied().eq(0..50), "{model:?}");
        rig.orb.shutdown(false, PATIENCE);
        assert!(wire.ends());
    }
}

#[test]
fn one_that_panics_ends_alone() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = connect(&rig, "panic");
        send(&wire, "panic", 0..50, 1);
        wire.reply(1);
        send(&wire, "note", 0..50, 1);
        wire.reply(1);
        assert!(rig.stage.log.lock().iter().copied().eq(0..50), "{model:?}");
    }
}

#[test]
fn arguments_that_cannot_be_read_end_one_alone() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = connect(&rig, "text");
    // No text begins with such a length.
    send(&wire, "text", 1 << 24..(1 << 24) + 50, 1);
    wire.reply(1);
    send(&wire, "note", 0..50, 1);
    wire.reply(1);
    assert!(rig.stage.log.lock().iter().copied().eq(0..50));
}

#[test]
fn their_octets_are_counted_and_beyond_the_limit_they_are_delayed() {
    let limits = ServerLimits { octets_per_connection: 64, ..ServerLimits::default() };
    for model in models() {
        let rig = Rig::with(model, limits, |builder| builder);
        let mut wire = connect(&rig, "note");
        // Some have more than all may have together.
        send(&wire, "note", 0..300, 20);
        rig.stage.wait_for("all of them", |stage| stage.log.lock().len() == 300);
        assert!(rig.stage.log.lock().iter().copied().eq(0..300), "{model:?}");
        wire.reply(1);
        std::thread::sleep(Duration::from_millis(5));
        rig.orb.shutdown(false, PATIENCE);
        assert!(wire.ends());
    }
}
