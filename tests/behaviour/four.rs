//! Two ORBs of one process, each with four protocols: calls both ways by each, and one that ends leaves the other.

use std::sync::Arc;
use std::time::Duration;

use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::transport::memory::Memory;
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{probe, serve};

const FOUR: [&str; 4] = ["tcp", "unix", "shm", "memory"];

/// An ORB with all four, and the text of its probe.
fn orb(memory: &Arc<Memory>) -> (Orb, String) {
    let builder = Orb::builder()
        .transport(memory.clone())
        .policies(Policies::new().call_timeout(PATIENCE))
        .listen_at(["tcp:127.0.0.1:0", "unix:", "shm:", "memory:"]);
    serve(builder, Arc::new(Servant::new(1)))
}

/// The probe of `text` as `orb` reaches it by this protocol alone.
fn by(orb: &Orb, text: &str, protocol: &str) -> Probe {
    let only = Policies::new().protocols(Protocols::only([protocol]));
    Probe::from_object(probe(orb, text).as_object().with_policies(only))
}

#[test]
fn both_call_each_other_by_each_and_one_that_ends_leaves_the_other() {
    let memory = Arc::new(Memory::new());
    let ((one, first), (other, second)) = (orb(&memory), orb(&memory));
    for protocol in FOUR {
        let (there, back) = (by(&one, &second, protocol), by(&other, &first, protocol));
        assert_eq!(there.greet(protocol).unwrap(), format!("hello, {protocol}"));
        let large = vec![7; 300_000];
        assert_eq!(back.echo(&large).unwrap()[..], large[..], "{protocol}");
        let used = there.as_object().protocols();
        assert!(used[0].endpoint.starts_with(&format!("{protocol}:")), "{used:?}");
        // Nested, there and back again.
        assert_eq!(there.descend(4, Some(&probe(&one, &first))), Ok(4), "{protocol}");
    }
    let (all_one, all_other) = (one.connections(), other.connections());
    assert!(all_one >= FOUR.len() && all_other >= FOUR.len(), "{all_one} and {all_other}");

    other.shutdown(true, Duration::from_secs(5));
    // A third one, which is new, still reaches the first by each; nobody reaches the one that has ended.
    let third = Orb::builder().transport(memory).policies(Policies::new().call_timeout(PATIENCE)).build();
    for protocol in FOUR {
        by(&third, &first, protocol).nothing().unwrap();
        let gone = by(&one, &second, protocol).nothing().expect_err("it has ended");
        assert_eq!(gone.kind, Kind::Transient, "{protocol}: {gone}");
    }
    one.shutdown(true, Duration::from_secs(5));
}
