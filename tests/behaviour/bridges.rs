//! Calls through a bridge: TCP outside, and each transport inside.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::cdr::Version;
use zorb::giop::IiopProfile;
use zorb::policy::Policies;
use zorb::{Completion, Interface, Kind, ObjectRef, Orb, OrbBuilder, Sequence};
use zorb_bridge::{Bridge, Settings, Unknown};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, Refused, probe};

use crate::fixture::{Place, probe as bound, serve};
use crate::processes::Other;

/// A bridge between TCP and a place.
pub(crate) struct Joined {
    pub(crate) bridge: Bridge,
    pub(crate) outside: Orb,
    inside: Orb,
}

impl Joined {
    pub(crate) fn by(outside: OrbBuilder, inside: OrbBuilder, settings: Settings) -> Joined {
        let (outside, inside) = (outside.build(), inside.build());
        let bridge = Bridge::between(&outside, &inside, settings).unwrap();
        Joined { bridge, outside, inside }
    }

    pub(crate) fn to(at: Place) -> Joined {
        Joined::by(Place::TCP.server(), at.client(), Settings::default())
    }

    /// The text of the reference to be used outside.
    pub(crate) fn export(&self, text: &str) -> String {
        let target = self.inside.string_to_object(text).unwrap().unwrap();
        self.bridge.export(&target).unwrap().to_string()
    }
}

/// A builder of a client that knows TCP alone.
fn client() -> OrbBuilder {
    Orb::builder().prefer(["tcp"])
}

fn pattern(length: usize) -> Sequence<u8> {
    (0..length).map(|index| (index * 7 % 251) as u8).collect::<Vec<u8>>().into()
}

fn everything_passes(probe: &Probe) {
    probe.nothing().unwrap();
    assert_eq!(probe.greet("Zoë, €").unwrap(), "hello, Zoë, €");
    assert_eq!(probe.divide(17, 5).unwrap(), (3, 2));
    let refused = probe.divide(1, 0).unwrap_err();
    let why = Refused { why: "division by zero".into(), code: 7 };
    assert_eq!(refused, probe::DivideError::Refused(why));
    for length in [0, 1, 4095, 16 << 10, 1 << 20] {
        let data = pattern(length);
        assert!(probe.echo(&data).unwrap() == data, "{length}");
    }
    let data = pattern(300_000);
    let echoes: Vec<_> = (0..4).map(|_| probe.echo_async(data.clone())).collect();
    for echo in echoes {
        assert!(echo.wait().unwrap() == data);
    }
}

fn every_call_and_exception_passes_through_a_bridge(at: Place) {
    let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let joined = Joined::to(at);
    let text = joined.export(&text);
    let client = client().build();
    let probe = bound(&client, &text);
    everything_passes(&probe);
    let panicked = probe.panic().unwrap_err();
    assert_eq!((panicked.kind, panicked.completed), (Kind::Unknown, Completion::Maybe), "{panicked}");
    // The object's own answers, though the bridge knows no interface.
    let untyped = zorb::giop::Ior { type_id: String::new(), ..probe.as_object().ior().clone() };
    let object = ObjectRef::new(&client, untyped).unwrap();
    assert_eq!(object.is_a("IDL:testing/Probe:1.0"), Ok(true));
    assert_eq!(object.is_a("IDL:testing/Special:1.0"), Ok(false));
    assert_eq!(object.non_existent(), Ok(false));
    let special = zorb_tests::testing::Special::from_object(object);
    assert_eq!(special.extra().unwrap_err().kind, Kind::BadOperation);
}

fn every_version_passes_and_text_with_it(at: Place) {
    for inside in [Version::V1_0, Version::V1_1, Version::V1_2] {
        if matches!(at, Place::SHM | Place::SLABS) && inside == Version::V1_0 {
            // References of 1.0 have no place for shared memory.
            continue;
        }
        let (_there, text) = serve(at.server().giop_version(inside), Arc::new(Servant::new(1)));
        let joined = Joined::to(at);
        let text = joined.export(&text);
        let published: zorb::giop::Ior = text.parse().unwrap();
        let profile = IiopProfile::decode(&published.profiles[0]).unwrap();
        assert_eq!(profile.version, inside);
        for outside in [Version::V1_0, Version::V1_1, Version::V1_2] {
            for fragments in [None, Some(128)] {
                let builder = client().giop_version(outside);
                let client = fragments.into_iter().fold(builder, OrbBuilder::fragment_size).build();
                let probe = bound(&client, &text);
                // Without code sets ISO 8859-1 holds.
                assert_eq!(probe.greet("Zoë").unwrap(), "hello, Zoë", "{outside} to {inside}");
                assert_eq!(probe.divide(17, 5).unwrap(), (3, 2));
                let data = pattern(1001);
                assert!(probe.echo(&data).unwrap() == data, "{outside} to {inside}, {fragments:?}");
                assert!(matches!(probe.divide(1, 0), Err(probe::DivideError::Refused(_))));
            }
        }
    }
}

fn replies_in_fragments_pass(at: Place) {
    for version in [Version::V1_1, Version::V1_2] {
        let (_there, text) = serve(at.server().fragment_size(256), Arc::new(Servant::new(1)));
        let joined = Joined::to(at);
        let text = joined.export(&text);
        let client = client().giop_version(version).build();
        let probe = bound(&client, &text);
        for length in [100, 1000, 50_000] {
            let data = pattern(length);
            assert!(probe.echo(&data).unwrap() == data, "{version}, {length}");
        }
        probe.note(3).unwrap();
        probe.note(4).unwrap();
        assert_eq!(probe.noted().unwrap()[..], [3, 4]);
    }
}

fn oneways_stay_in_order_also_before_a_call(at: Place) {
    let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let joined = Joined::to(at);
    let text = joined.export(&text);
    let client = client().build();
    let probe = bound(&client, &text);
    let numbers: Vec<i32> = (0..500).collect();
    for &number in &numbers {
        probe.note(number).unwrap();
    }
    assert_eq!(probe.noted().unwrap()[..], numbers);
}

fn calls_do_not_wait_for_each_other(at: Place) {
    let (_there, text) = serve(at.server(), Arc::new(Servant::new(8)));
    let joined = Joined::to(at);
    let text = joined.export(&text);
    let client = client().build();
    let probe = bound(&client, &text);
    let meetings: Vec<_> = (0..8).map(|_| probe.meet_async()).collect();
    for meeting in meetings {
        meeting.wait().unwrap();
    }
}

fn two_bridges_in_a_row(at: Place) {
    let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let near = Joined::to(at);
    let far = Joined::to(Place::TCP);
    let text = far.export(&near.export(&text));
    let client = client().build();
    let probe = bound(&client, &text);
    everything_passes(&probe);
    (0..50).for_each(|number| probe.note(number).unwrap());
    assert_eq!(probe.noted().unwrap().len(), 50);
}

fn a_target_that_is_killed_leaves_exceptions_and_nobody_waiting(at: Place) {
    let mut target = Other::start(at, &[]);
    let joined = Joined::to(at);
    let text = joined.export(&target.ior);
    let client = client().build();
    let probe = bound(&client, &text);
    let lost = probe.wait_async(60_000);
    let began = Instant::now();
    while probe.waiting().unwrap() < 1 {
        assert!(began.elapsed() < PATIENCE, "it executes the call");
        std::thread::sleep(Duration::from_millis(5));
    }
    target.child.kill().unwrap();
    target.child.wait().unwrap();
    let lost = lost.wait().unwrap_err();
    assert_eq!((lost.kind, lost.completed), (Kind::CommFailure, Completion::Maybe), "{lost}");
    std::thread::sleep(Duration::from_millis(20));
    let gone = probe.nothing().unwrap_err();
    assert_eq!((gone.kind, gone.completed), (Kind::Transient, Completion::No), "{gone}");
}

#[test]
fn a_target_that_does_not_answer_is_given_up_by_the_insides_deadline() {
    let (_there, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let inside = Place::TCP.client().policies(Policies::new().call_timeout(Duration::from_millis(300)));
    let joined = Joined::by(Place::TCP.server(), inside, Settings::default());
    let text = joined.export(&text);
    let client = client().build();
    let late = bound(&client, &text).wait(3_000).unwrap_err();
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{late}");
}

#[test]
fn from_ipv4_to_ipv6() {
    let (_there, text) = serve(Orb::builder().listen("tcp:[::1]:0"), Arc::new(Servant::new(1)));
    let joined = Joined::to(Place::TCP);
    let text = joined.export(&text);
    let published: zorb::giop::Ior = text.parse().unwrap();
    assert_eq!(IiopProfile::decode(&published.profiles[0]).unwrap().host, "127.0.0.1");
    everything_passes(&bound(&client().build(), &text));
}

#[test]
fn only_so_many_objects_each_known_once() {
    let mut settings = Settings::default();
    settings.most_objects = 2;
    let joined = Joined::by(Place::TCP.server(), Place::TCP.client(), settings);
    let text = |key: &str| format!("corbaloc:iiop:1.2@127.0.0.1:9/{key}");
    let first = joined.export(&text("a"));
    assert_eq!(first, joined.export(&text("a")));
    assert_ne!(first, joined.export(&text("b")));
    // The bridge's own are not bridged again.
    assert_eq!(first, joined.export(&first));
    assert_eq!(joined.bridge.objects(), 2);
    let third = joined.inside.string_to_object(&text("c")).unwrap().unwrap();
    let full = joined.bridge.export(&third).unwrap_err();
    assert_eq!(full.kind, Kind::ImpLimit, "{full}");
}

#[test]
fn references_of_unknown_types_pass_or_are_refused() {
    for unknown in [Unknown::Pass, Unknown::Refuse] {
        let (_there, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
        let mut settings = Settings::default();
        settings.unknown = unknown;
        let joined = Joined::by(Place::TCP.server(), Place::TCP.client(), settings);
        let text = joined.export(&text);
        let (here, mine) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
        let (probe, me) = (bound(&here, &text), bound(&here, &mine));
        assert_eq!(probe.descend(0, Some(&probe)).is_ok(), unknown == Unknown::Pass);
        match (unknown, probe.descend(3, Some(&me))) {
            (Unknown::Pass, depth) => assert_eq!(depth, Ok(3)),
            (_, Err(refused)) => {
                assert_eq!((refused.kind, refused.completed), (Kind::NoPermission, Completion::No));
            }
            (_, passed) => panic!("{passed:?}"),
        }
        assert_eq!(probe.greet("IDL:testing/Probe:1.0").unwrap(), "hello, IDL:testing/Probe:1.0");
        let nobody = probe.descend(0, None).unwrap_err();
        assert_eq!(nobody.kind, Kind::BadParam, "a nil reference leads nowhere, and passes");
    }
}

over! {
    by giop between processes:
    every_call_and_exception_passes_through_a_bridge,
    every_version_passes_and_text_with_it,
    replies_in_fragments_pass,
    oneways_stay_in_order_also_before_a_call,
    calls_do_not_wait_for_each_other,
    two_bridges_in_a_row,
    a_target_that_is_killed_leaves_exceptions_and_nobody_waiting,
}
