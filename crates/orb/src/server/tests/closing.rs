//! Closing in order: what was read is answered, what was not can be sent again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use zorb_giop::Message;

use super::super::{ServerLimits, ThreadModel};
use super::rig::{Rig, Wire, models, nothing};

#[test]
fn shutdown_lets_running_requests_be_answered() {
    for model in models() {
        let rig = Rig::new(model);
        let (mut wire, mut idle) = (rig.connect(), rig.connect());
        idle.call(1, "null", &nothing);
        wire.request(1, "wait", &nothing);
        rig.stage.wait_for("the servant", |stage| stage.inside.load(Ordering::SeqCst) == 1);
        rig.orb.shutdown(false, Duration::from_secs(20));
        rig.stage.open();
        wire.reply(1);
        for wire in [&mut wire, &mut idle] {
            assert!(matches!(wire.next(), Some(Message::CloseConnection)));
            assert!(wire.next().is_none());
            wire.channel.close();
        }
        rig.orb.shutdown(true, Duration::from_secs(20));
    }
}

#[test]
fn shutdown_ends_by_its_deadline_whatever_servants_do() {
    let rig = Rig::new(ThreadModel::per_connection());
    let wire = rig.connect();
    wire.request(1, "wait", &nothing);
    rig.stage.wait_for("the servant", |stage| stage.inside.load(Ordering::SeqCst) == 1);
    rig.orb.shutdown(true, Duration::from_millis(50));
    rig.stage.open();
}

#[test]
fn an_orb_that_is_dropped_stops_serving() {
    let rig = Rig::new(ThreadModel::per_connection());
    let mut wire = rig.connect();
    wire.call(1, "null", &nothing);
    drop(rig);
    assert!(wire.ends());
}

#[test]
fn unused_connections_are_closed_in_order() {
    let limits = ServerLimits { idle: Duration::from_millis(50), ..ServerLimits::default() };
    for model in models() {
        let rig = Rig::with(model, limits, |builder| builder);
        // On a busy machine a connection may be unused for that long before its first call.
        let called = (1..100).find_map(|number| {
            let mut wire = rig.connect();
            answered(&mut wire, number).then_some(wire)
        });
        let mut wire = called.expect("one call arrives in time");
        assert!(matches!(wire.next(), Some(Message::CloseConnection)));
        assert!(wire.next().is_none());
    }
}

/// Calls that arrive exactly as the server closes are executed and answered, or neither: the client repeats those, and in
/// the end each was executed once.
#[test]
fn calls_that_meet_a_close_are_executed_once() {
    let limits = ServerLimits { linger: Duration::ZERO, ..ServerLimits::default() };
    for model in models() {
        let rig = Rig::with(model, limits, |builder| builder);
        let done = Done(AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.0.load(Ordering::Relaxed) {
                    rig.orb.server().close_idle();
                    std::thread::yield_now();
                }
            });
            let _when_over = Finally(&done);
            let mut wire = rig.connect();
            let (mut closed, mut number) = (0, 0);
            while closed < 300 {
                number += 1;
                while !answered(&mut wire, number) {
                    closed += 1;
                    wire = rig.connect();
                }
            }
            let log = rig.stage.log.lock();
            assert!(log.iter().copied().eq(1..=number), "lost or doubled among {number}");
        });
    }
}

struct Done(AtomicBool);

/// Says that it is done, also by a panic.
struct Finally<'d>(&'d Done);

impl Drop for Finally<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// One attempt; false when the connection was closed in order before the answer.
fn answered(wire: &mut Wire, number: u32) -> bool {
    let message =
        wire.message(number, zorb_giop::ResponseFlags::WITH_TARGET, "note", &|to| to.write_u32(number));
    let sent = wire.channel.send(&[std::io::IoSlice::new(&message)], super::rig::soon());
    match wire.next() {
        Some(Message::Reply(reply)) => {
            assert_eq!(reply.id, number);
            true
        }
        Some(Message::CloseConnection) => false,
        other => panic!("neither answered nor closed in order: {other:?} ({sent:?})"),
    }
}
