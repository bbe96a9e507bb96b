//! Peers over shared memory, of another user where the tests may start such: what they can do to who is at the other end.
//! That end gets an exception that says what happened, others are served meanwhile, and the memory is given back.

mod peer;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use zorb::giop::IiopProfile;
use zorb::policy::Policies;
use zorb::server::ServerLimits;
use zorb::transport::shm::Shm;
use zorb::transport::unix::Users;
use zorb::{Completion, Interface, Kind, Orb, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::rig::{probe, until};
use peer::{Geometry, MUCH, Peer, Place};

/// Of connections with hostile peers: an argument takes all slabs and more.
const SMALL: Geometry = Geometry { count: 4, slab: 4096 };

/// Of a client that behaves.
const HEALTHY: Geometry = Geometry { count: 2, slab: 32_768 };

/// One test at a time has such memory.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether slabs of a hostile peer are mapped here, or their descriptor is open.
fn is_held() -> bool {
    let octets = SMALL.octets();
    let maps = fs::read_to_string("/proc/self/maps").expect("it is there");
    let is_mapped = maps.lines().filter(|line| line.contains("slabs")).any(|line| {
        let (from, to) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let [from, to] = [from, to].map(|at| usize::from_str_radix(at, 16).expect("an address"));
        to - from == octets
    });
    let descriptors = fs::read_dir("/proc/self/fd").expect("it is there").filter_map(Result::ok);
    let mut links = descriptors.map(|descriptor| descriptor.path());
    let is_open = |link: &Path| {
        fs::read_link(link).is_ok_and(|memory| memory.to_string_lossy().contains("slabs"))
            && fs::metadata(link).is_ok_and(|memory| memory.len() == octets as u64)
    };
    is_mapped || links.any(|link| is_open(&link))
}

fn transport(geometry: Geometry) -> Arc<Shm> {
    let shm = Shm::new().users(Users::Any).ring(Geometry::RING).expect("a ring");
    Arc::new(shm.slabs(geometry.count, geometry.slab).expect("slabs"))
}

/// A server's ORB at the socket, with the reference of its probe.
fn server(at: &Path, limits: ServerLimits) -> (Orb, Probe) {
    let builder = Orb::builder().transport(Arc::new(Shm::new().users(Users::Any)));
    let orb = builder.listen(format!("shm:{}", at.display())).server_limits(limits).build();
    let poa = orb.root_poa().expect("a new ORB");
    let probe = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("a new object");
    poa.manager().activate().expect("a new adapter");
    (orb, probe)
}

/// A client's ORB and a reference to who will listen at the socket.
fn client(at: &Path, patience: Duration) -> (Orb, Probe) {
    let (listened, named) = server(at, ServerLimits::default());
    let reference = listened.object_to_string(Some(named.as_object()));
    listened.shutdown(true, PATIENCE);
    drop((listened, named));
    let _ = fs::remove_file(at);
    let policies = Policies::new().call_timeout(patience).connect_timeout(PATIENCE);
    let orb = Orb::builder().transport(transport(SMALL)).policies(policies).build();
    let probe = probe(&orb, &reference);
    (orb, probe)
}

/// What a call of it came to, with an argument of several slabs.
fn call(probe: &Probe) -> SystemException {
    probe.echo(&[1; MUCH]).expect_err("nobody answers as one should")
}

const STEPS: [&str; 4] = ["connected", "part-of-request", "request", "part-of-reply"];

#[test]
fn a_server_that_holds_slabs_for_ever_is_waited_for_until_the_deadline() {
    let _alone = alone();
    let place = Place::new("holds");
    for step in STEPS {
        let (orb, probe) = client(&place.socket(), Duration::from_millis(500));
        let mut peer = Peer::start(&format!("serve:{step}"), SMALL, &place.socket(), "");
        peer.comes_to("listening");
        let late = call(&probe);
        assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{step}: {late}");
        assert!(late.detail().contains("echo") && late.detail().contains("socket"), "{step}: {late}");
        orb.shutdown(true, PATIENCE);
        until("its memory is given back", || !is_held());
    }
}

#[test]
fn a_server_that_is_killed_while_it_holds_slabs_is_a_lost_connection() {
    let _alone = alone();
    let place = Place::new("killed");
    for step in STEPS {
        let (_orb, probe) = client(&place.socket(), PATIENCE);
        let mut peer = Peer::start(&format!("serve:{step}"), SMALL, &place.socket(), "");
        peer.comes_to("listening");
        let calling = std::thread::spawn({
            let probe = probe.clone();
            move || call(&probe)
        });
        peer.comes_to(step);
        assert!(is_held(), "{step}: what is looked for below is found while it is there");
        peer.kill();
        let lost = calling.join().expect("no panic");
        assert_eq!((lost.kind, lost.completed), (Kind::CommFailure, Completion::Maybe), "{step}: {lost}");
        assert!(lost.detail().contains("echo") && lost.detail().contains("socket"), "{step}: {lost}");
        until("its memory is given back", || !is_held());
    }
}

#[test]
fn a_server_that_scribbles_over_everything_is_found_out() {
    let _alone = alone();
    let place = Place::new("scribbles");
    let (_orb, probe) = client(&place.socket(), Duration::from_secs(5));
    let mut peer = Peer::start("serve-scribbling", SMALL, &place.socket(), "");
    peer.comes_to("listening");
    let mut said = Vec::new();
    until("it is told that the peer broke the rules", || {
        let exception = call(&probe);
        let kinds = [Kind::CommFailure, Kind::Timeout, Kind::Transient, Kind::Marshal];
        assert!(kinds.contains(&exception.kind), "{exception}");
        said.push(exception.to_string());
        said.iter().any(|said| said.contains("cannot be"))
    });
    drop(probe);
    peer.kill();
    drop(_orb);
    until("its memory is given back", || !is_held());
}

/// A server whose limits are soon reached.
fn impatient_server(at: &Path) -> (Orb, Probe) {
    let time = Duration::from_secs(1);
    let mut limits = ServerLimits::default();
    (limits.send_time, limits.receive_time, limits.idle) = (time, time, time);
    server(at, limits)
}

/// Its object's key, as a word.
fn key(served: &Probe) -> String {
    let profile = IiopProfile::decode(&served.as_object().ior().profiles[0]).expect("IIOP");
    profile.object_key.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// That it serves who behaves.
fn serves(orb: &Orb, served: &Probe) {
    let reference = orb.object_to_string(Some(served.as_object()));
    let client = Orb::builder().transport(transport(HEALTHY)).build();
    let data: Vec<u8> = (0..MUCH).map(|at| at as u8).collect();
    assert!(probe(&client, &reference).echo(&data).expect("it serves others") == data[..]);
}

#[test]
fn a_client_that_holds_slabs_for_ever_is_closed_by_the_server_s_limits() {
    let _alone = alone();
    let place = Place::new("held");
    let (orb, served) = impatient_server(&place.socket());
    let key = key(&served);
    for step in STEPS {
        let mut peer = Peer::start(&format!("call:{step}"), SMALL, &place.socket(), &key);
        peer.comes_to(step);
        serves(&orb, &served);
        until("its memory is given back", || !is_held());
    }
}

#[test]
fn a_client_that_is_killed_while_it_holds_slabs_leaves_nothing_behind() {
    let _alone = alone();
    let place = Place::new("died");
    let (orb, served) = server(&place.socket(), ServerLimits::default());
    let key = key(&served);
    for step in STEPS {
        let mut peer = Peer::start(&format!("call:{step}"), SMALL, &place.socket(), &key);
        peer.comes_to(step);
        until("it was accepted", is_held);
        peer.kill();
        serves(&orb, &served);
        until("its memory is given back", || !is_held());
    }
}

#[test]
fn a_client_that_scribbles_over_everything_ends_its_own_connection_only() {
    let _alone = alone();
    let place = Place::new("scribbled");
    let (orb, served) = impatient_server(&place.socket());
    let key = key(&served);
    let mut peer = Peer::start("call-scribbling", SMALL, &place.socket(), &key);
    serves(&orb, &served);
    peer.comes_to("scribbled");
    serves(&orb, &served);
    until("its memory is given back", || !is_held());
}

#[test]
fn memory_that_may_change_or_is_less_than_said_ends_the_connection() {
    let _alone = alone();
    let place = Place::new("unsealed");
    let (orb, served) = impatient_server(&place.socket());
    let key = key(&served);
    let mut peer = Peer::start("call-badly", SMALL, &place.socket(), &key);
    peer.comes_to("refused");
    serves(&orb, &served);
    until("its memory is given back", || !is_held());
}
