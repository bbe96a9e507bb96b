//! Two ORBs of one process, each with four protocols: calls both ways by each, and one that ends leaves the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::transport::udp::Udp;
use zorb::{Interface, Kind, Orb, OrbBuilder};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{probe, serve};

/// Those that carry every call; UDP carries oneways.
const THREE: [&str; 3] = ["tcp", "unix", "shm"];

fn builder() -> OrbBuilder {
    Orb::builder().transport(Arc::new(Udp::new())).policies(Policies::new().call_timeout(PATIENCE))
}

/// An ORB with all four, and the text of its probe.
fn orb() -> (Orb, String) {
    let listen = ["tcp:127.0.0.1:0", "unix:", "shm:", "udp:127.0.0.1:0"];
    serve(builder().listen_at(listen), Arc::new(Servant::new(1)))
}

/// The probe of `text` as `orb` reaches it by this protocol alone.
fn by(orb: &Orb, text: &str, protocol: &str) -> Probe {
    let only = Policies::new().protocols(Protocols::only([protocol]));
    Probe::from_object(probe(orb, text).as_object().with_policies(only))
}

/// A oneway by UDP arrives.
fn notes_by_udp(from: &Orb, text: &str, number: i32) {
    by(from, text, "udp").note(number).unwrap();
    let there = by(from, text, "tcp");
    let latest = Instant::now() + PATIENCE;
    while !there.noted().unwrap().contains(&number) {
        assert!(Instant::now() < latest, "{number} does not arrive");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn both_call_each_other_by_each_and_one_that_ends_leaves_the_other() {
    let ((one, first), (other, second)) = (orb(), orb());
    for protocol in THREE {
        let (there, back) = (by(&one, &second, protocol), by(&other, &first, protocol));
        assert_eq!(there.greet(protocol).unwrap(), format!("hello, {protocol}"));
        let large = vec![7; 300_000];
        assert_eq!(back.echo(&large).unwrap()[..], large[..], "{protocol}");
        let used = there.as_object().protocols();
        assert!(used[0].endpoint.starts_with(&format!("{protocol}:")), "{used:?}");
        // Nested, there and back again.
        assert_eq!(there.descend(4, Some(&probe(&one, &first))), Ok(4), "{protocol}");
    }
    notes_by_udp(&one, &second, 1);
    notes_by_udp(&other, &first, 2);
    // A call that waits for its reply does not go by UDP.
    let refused = by(&one, &second, "udp").nothing().expect_err("nothing comes back");
    assert_eq!(refused.kind, Kind::InvObjref, "{refused}");

    other.shutdown(true, Duration::from_secs(5));
    // A third one, which is new, still reaches the first by each; nobody reaches the one that has ended.
    let third = builder().build();
    for protocol in THREE {
        by(&third, &first, protocol).nothing().unwrap();
        let gone = by(&one, &second, protocol).nothing().expect_err("it has ended");
        assert_eq!(gone.kind, Kind::Transient, "{protocol}: {gone}");
    }
    notes_by_udp(&third, &first, 3);
    one.shutdown(true, Duration::from_secs(5));
}
