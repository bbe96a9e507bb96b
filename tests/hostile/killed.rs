//! A server that is killed: calls under way may have run, calls made later were not, or reach its successor.

use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use zorb::{Completion, Kind, Orb};
use zorb_tests::wire::{Order, Wire};

use crate::rig::{Fake, Server, probe, until};

#[test]
fn killed_while_it_executes_the_call_may_have_run() {
    let mut server = Server::start(&[]);
    let orb = Orb::builder().build();
    let probe = server.probe(&orb);
    probe.nothing().expect("it is there");
    let caller = std::thread::spawn({
        let probe = probe.clone();
        move || probe.wait(60_000)
    });
    let late = probe.wait_async(60_000);
    let other = Orb::builder().build();
    let other = server.probe(&other);
    until("it executes both calls", || other.waiting().expect("it serves others") == 2);
    server.kill();
    for result in [caller.join().expect("no panic"), late.wait()] {
        let exception = result.expect_err("nobody answers");
        assert_eq!(
            (exception.kind, exception.completed),
            (Kind::CommFailure, Completion::Maybe),
            "{exception}"
        );
        assert!(exception.detail().contains(&server.address.to_string()), "{exception}");
        assert!(exception.detail().contains("wait"), "{exception}");
    }
}

#[test]
fn killed_before_the_call_it_was_not_executed() {
    let mut server = Server::start(&[]);
    let orb = Orb::builder().build();
    let probe = server.probe(&orb);
    probe.nothing().expect("it is there");
    server.kill();
    // Connections that are used again at once are not looked at first; this one has rested for longer.
    std::thread::sleep(Duration::from_millis(20));
    let exception = probe.nothing().expect_err("nobody is there");
    assert_eq!((exception.kind, exception.completed), (Kind::Transient, Completion::No), "{exception}");
    assert!(exception.detail().contains("connect"), "{exception}");
}

#[test]
fn its_successor_is_reached_without_an_error() {
    let mut first = Server::start(&[]);
    let orb = Orb::builder().build();
    let probe = crate::rig::probe(&orb, &first.ior);
    probe.nothing().expect("it is there");
    first.kill();
    let second = Server::start(&[&format!("listen=tcp:{}", first.address)]);
    // The root adapter's references are of one life only, so the successor does not know the object: that it says so
    // shows that it was asked.
    let exception = probe.nothing().expect_err("another object");
    assert_eq!((exception.kind, exception.completed), (Kind::ObjectNotExist, Completion::No), "{exception}");
    second.probe(&orb).nothing().expect("its own object");
}

#[test]
fn a_connection_that_was_reset_between_two_calls_is_replaced() {
    // Each connection answers one call and is reset.
    let fake = Fake::serving(2, |mut client| {
        let Some(id) = client.request() else { return };
        client.say(&Wire::reply((2, Order::Little), id, 0).string("x").done());
        let _ = set_socket_linger(&client.stream, Some(Duration::ZERO));
    });
    let orb = Orb::builder().build();
    let probe = probe(&orb, &fake.ior);
    let mut answered = 0;
    while answered < 300 {
        // Sooner than a connection is looked at before it is used again, and usually later than the reset.
        std::thread::sleep(Duration::from_micros(300));
        match probe.greet("x") {
            Ok(_) => answered += 1,
            // Sent before the reset came: it may have been executed. Where nothing was sent there is no exception.
            Err(exception) => assert_eq!(
                (exception.kind, exception.completed),
                (Kind::CommFailure, Completion::Maybe),
                "{exception}"
            ),
        }
    }
}
