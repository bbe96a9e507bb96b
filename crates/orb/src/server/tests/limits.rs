//! Peers that misbehave: each ends by a limit, and others are served meanwhile.

use std::io::IoSlice;
use std::sync::atomic::Ordering;
use std::time::Duration;

use zorb_giop::{Message, ResponseFlags};

use super::super::{ServerLimits, ThreadModel};
use super::rig::{Rig, models, nothing};

fn short() -> ServerLimits {
    ServerLimits {
        receive_time: Duration::from_millis(150),
        send_time: Duration::from_millis(300),
        drain: Duration::from_millis(300),
        ..ServerLimits::default()
    }
}

#[test]
fn half_a_message_ends_in_time() {
    for model in models() {
        let rig = Rig::with(model, short(), |builder| builder);
        let (mut half, mut whole) = (rig.connect(), rig.connect());
        let message = half.message(1, ResponseFlags::WITH_TARGET, "null", &nothing);
        half.send(&message[..message.len() - 1]);
        whole.call(1, "null", &nothing);
        assert!(half.ends());
        whole.call(2, "null", &nothing);
    }
}

#[test]
fn an_octet_now_and_then_is_not_enough() {
    let rig = Rig::with(ThreadModel::per_connection(), short(), |builder| builder);
    let mut slow = rig.connect();
    let message = slow.message(1, ResponseFlags::WITH_TARGET, "null", &|to| to.write_octets(&[0; 5000]));
    let deadline = super::rig::soon();
    for octet in message.chunks(1) {
        std::thread::sleep(Duration::from_millis(10));
        if slow.channel.send_now(&[IoSlice::new(octet)]).is_err() {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "a connection whose message never ends stays open");
    }
    assert!(slow.ends());
}

#[test]
fn a_peer_that_does_not_read_is_closed_and_holds_nobody_up() {
    for model in models() {
        let rig = Rig::with(model, short(), |builder| builder);
        let (deaf, mut other) = (rig.connect(), rig.connect());
        for id in 0..8 {
            deaf.request(id, "bulk", &|to| to.write_u32(8 << 20));
        }
        other.call(1, "null", &nothing);
        let deadline = super::rig::soon();
        while deaf.channel.send_now(&[IoSlice::new(b"GIOP")]).is_ok() {
            assert!(std::time::Instant::now() < deadline, "never closed");
            std::thread::sleep(Duration::from_millis(10));
            other.call(2, "null", &nothing);
        }
    }
}

#[test]
fn a_slow_reader_of_bulk_gets_all_of_it() {
    for model in models() {
        let rig = Rig::new(model);
        let mut wire = rig.connect();
        for id in 0..4 {
            wire.request(id, "bulk", &|to| to.write_u32(4 << 20));
        }
        std::thread::sleep(Duration::from_millis(300));
        for id in 0..4 {
            assert_eq!(wire.reply(id).body.len(), 4 + (4 << 20));
        }
        wire.call(9, "null", &nothing);
    }
}

#[test]
fn garbage_is_answered_with_message_error() {
    for model in models() {
        let rig = Rig::new(model);
        for garbage in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"GIOP\x01\x02\x01\x09\0\0\0\0",
            b"GIOP\x01\x02\x01\x01\x0c\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            let mut wire = rig.connect();
            // What came before is answered first.
            wire.request(1, "slow", &|to| to.write_u32(0));
            wire.send(garbage);
            wire.reply(1);
            assert!(matches!(wire.next(), Some(Message::MessageError)), "{garbage:?}");
            assert!(wire.next().is_none());
        }
    }
}

#[test]
fn every_prefix_of_a_request_is_survived() {
    let rig = Rig::new(ThreadModel::per_connection());
    let message = rig.connect().message(1, ResponseFlags::WITH_TARGET, "echo", &|to| to.write_u32(0));
    for end in 0..message.len() {
        let mut wire = rig.connect();
        wire.send(&message[..end]);
        wire.channel.shutdown_send();
        assert!(wire.ends(), "{end}");
    }
    rig.connect().call(1, "null", &nothing);
}

#[test]
fn calls_beyond_a_connections_limit_are_refused() {
    let limits = ServerLimits { requests_per_connection: 3, ..ServerLimits::default() };
    let rig = Rig::with(ThreadModel::per_connection(), limits, |builder| builder);
    let mut wire = rig.connect();
    (0..3).for_each(|id| wire.request(id, "wait", &nothing));
    rig.stage.wait_for("the servants", |stage| stage.inside.load(Ordering::SeqCst) == 3);
    wire.request(3, "null", &nothing);
    assert_eq!(wire.exception(3).0, "TRANSIENT");
    rig.stage.open();
    (0..3).for_each(|id| drop(wire.reply(id)));
    wire.call(4, "null", &nothing);
}

#[test]
fn at_the_limit_of_connections_the_longest_idle_makes_room() {
    let limits =
        ServerLimits { connections: 3, drain: Duration::from_millis(200), ..ServerLimits::default() };
    let rig = Rig::with(ThreadModel::per_connection(), limits, |builder| builder);
    let mut wires: Vec<_> = (0..3).map(|_| rig.connect()).collect();
    for wire in &mut wires {
        wire.call(1, "null", &nothing);
    }
    // Each is idle once it is parked.
    let mut fourth = rig.connect();
    fourth.call(1, "null", &nothing);
    assert!(wires.iter_mut().any(|wire| matches!(wire.channel.state(), crate::transport::Idle::Unread)));
}

#[test]
fn hundreds_of_half_open_connections_hold_nobody_up() {
    let rig = Rig::with(ThreadModel::per_connection(), short(), |builder| builder);
    let half: Vec<_> = (0..300)
        .map(|_| {
            let wire = rig.connect();
            wire.send(b"GIOP");
            wire
        })
        .collect();
    let mut wire = rig.connect();
    for id in 0..100 {
        wire.call(id, "null", &nothing);
    }
    half.into_iter().for_each(|mut wire| assert!(wire.ends()));
}
