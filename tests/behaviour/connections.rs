//! Connections are reused, closed when idle and reopened; servers come and go without an error where the request
//! was not executed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::poa::PoaPolicies;
use zorb::server::ServerLimits;
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{local, probe, serve};

/// A server whose probe is persistent, at `endpoint`.
fn persistent(endpoint: &str) -> (Orb, String) {
    let orb = Orb::builder().listen(endpoint).build();
    let root = orb.root_poa().unwrap();
    let poa = root.create_child("accounts", PoaPolicies::new().persistent().user_ids()).unwrap();
    let probe = poa.activate_with_id::<Probe>("main", Arc::new(Servant::new(1))).unwrap();
    poa.manager().activate().unwrap();
    let text = probe.as_object().to_string();
    (orb, text)
}

fn port(orb: &Orb) -> u16 {
    let address = orb.endpoints()[0].address.clone();
    address.rsplit(':').next().unwrap().parse().unwrap()
}

#[test]
fn a_persistent_reference_works_again_after_a_restart() {
    let (first, text) = persistent("tcp:127.0.0.1:0");
    let endpoint = format!("tcp:127.0.0.1:{}", port(&first));
    let client = Orb::builder().build();
    let probe = probe(&client, &text);
    probe.note(1).unwrap();
    assert_eq!(probe.noted().unwrap()[..], [1]);
    first.shutdown(true, PATIENCE);
    drop(first);
    let gone = probe.nothing().unwrap_err();
    assert_eq!(gone.kind, Kind::Transient, "{gone}");
    let (_second, again) = persistent(&endpoint);
    assert_eq!(text, again, "the same reference is made again");
    probe.nothing().unwrap();
    assert!(probe.noted().unwrap().is_empty(), "it is a new servant");
}

#[test]
fn a_transient_reference_does_not_outlive_its_server() {
    let (first, text) = serve(local(), Arc::new(Servant::new(1)));
    let endpoint = format!("tcp:127.0.0.1:{}", port(&first));
    let client = Orb::builder().build();
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    first.shutdown(true, PATIENCE);
    drop(first);
    let (_second, _) = serve(Orb::builder().listen(endpoint), Arc::new(Servant::new(1)));
    let gone = probe.nothing().unwrap_err();
    assert_eq!(gone.kind, Kind::ObjectNotExist, "{gone}");
}

#[test]
fn a_server_that_closes_idle_connections_is_called_again_without_an_error() {
    let mut limits = ServerLimits::default();
    limits.idle = Duration::from_millis(20);
    let (server, text) = serve(local().server_limits(limits), Arc::new(Servant::new(1)));
    let client = Orb::builder().build();
    let probe = probe(&client, &text);
    for _ in 0..3 {
        probe.nothing().unwrap();
        probe.nothing_async().wait().unwrap();
        let began = Instant::now();
        while server.connections() > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.connections(), 0, "idle connections are closed");
    }
}

#[test]
fn a_client_closes_what_it_does_not_use() {
    let (server, text) = serve(local(), Arc::new(Servant::new(1)));
    let client = Orb::builder().client_idle(Duration::from_millis(200)).build();
    let probe = probe(&client, &text);
    for _ in 0..2 {
        probe.nothing().unwrap();
        probe.nothing_async().wait().unwrap();
        let began = Instant::now();
        while server.connections() > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.connections(), 0, "unused connections are closed");
    }
}

#[test]
fn several_addresses_are_tried_in_turn() {
    let (server, _) = persistent("tcp:127.0.0.1:0");
    let root = server.root_poa().unwrap();
    let poa = root.find_child("accounts", false).unwrap();
    let reference = poa.id_to_reference("main").unwrap();
    server.bind_key("plain", &reference);
    // Ports 1 and 2 of the loopback interface are nobody's.
    let url = format!("corbaloc::127.0.0.1:1,iiop:1.2@127.0.0.1:2,:127.0.0.1:{}/plain", port(&server));
    let client = Orb::builder().build();
    let probe = probe(&client, &url);
    probe.nothing().unwrap();
    probe.nothing_async().wait().unwrap();
}
