//! A request starts only when earlier oneways to the same object on its connection have returned.

use std::sync::atomic::Ordering;

use zorb_giop::ResponseFlags;

use super::super::{ServerLimits, ThreadModel};
use super::rig::{Rig, models, nothing};

#[test]
fn a_flood_of_oneways_keeps_its_order() {
    for model in models() {
        // Where just as many wait as may, the call behind them would be refused.
        let limits = ServerLimits { requests_per_connection: 4096, ..ServerLimits::default() };
        let rig = Rig::with(model, limits, |builder| builder);
        let mut wire = rig.connect();
        for number in 0..2000 {
            wire.oneway("note", number);
        }
        wire.call(1, "null", &nothing);
        assert!(rig.stage.log.lock().iter().copied().eq(0..2000));
    }
}

#[test]
fn slow_oneways_keep_their_order_too() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        for number in 0..10 {
            wire.oneway(if number % 3 == 0 { "slow" } else { "note" }, number);
        }
        wire.call(1, "note", &|to| to.write_u32(10));
        assert!(rig.stage.log.lock().iter().copied().eq(0..=10));
    }
}

#[test]
fn other_objects_do_not_wait() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    wire.send(&wire.message_to(b"one", 0, ResponseFlags::NONE, "wait", &nothing));
    wire.send(&wire.message_to(b"one", 1, ResponseFlags::WITH_TARGET, "null", &nothing));
    wire.send(&wire.message_to(b"two", 2, ResponseFlags::WITH_TARGET, "null", &nothing));
    wire.reply(2);
    rig.stage.wait_for("the servant", |stage| stage.inside.load(Ordering::SeqCst) == 1);
    // Another connection keeps no order with this one.
    rig.connect().call(3, "null", &nothing);
    rig.stage.open();
    wire.reply(1);
}

#[test]
fn oneways_beyond_the_limit_are_delayed_and_not_lost() {
    let limits = ServerLimits { requests_per_connection: 4, ..ServerLimits::default() };
    for model in models() {
        let rig = Rig::with(model, limits, |builder| builder);
        let mut wire = rig.connect();
        for number in 0..50 {
            wire.oneway(if number < 5 { "slow" } else { "note" }, number);
        }
        loop {
            wire.request(1, "note", &|to| to.write_u32(50));
            if wire.reply(1).status == zorb_giop::ReplyStatus::NO_EXCEPTION {
                break;
            }
        }
        assert!(rig.stage.log.lock().iter().copied().eq(0..=50));
    }
}

#[test]
fn oneways_of_a_client_that_has_left_are_executed() {
    for model in models() {
        let rig = Rig::new(model);
        let wire = rig.connect();
        for number in 0..100 {
            wire.oneway("note", number);
        }
        wire.channel.shutdown_send();
        rig.stage.wait_for("all oneways", |stage| stage.log.lock().len() == 100);
    }
}
