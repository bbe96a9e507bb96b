//! Location forwards are followed, once or for good, and left again when they lead nowhere.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zorb::cdr::Version;
use zorb::giop::{IiopProfile, Inbound, Ior, Limits, Message, ReplyStatus};
use zorb::poa::{Declined, ObjectId, Poa, PoaPolicies, Servant as AnyServant, ServantLocator};
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;
use zorb_tests::wire::{DIALECTS, Wire};

use crate::fixture::{Place, probe, serve};

/// Sends every caller on to `to`.
struct Elsewhere {
    to: zorb::ObjectRef,
    permanent: bool,
    asked: AtomicUsize,
}

impl ServantLocator for Elsewhere {
    fn preinvoke(
        &self,
        _: &Poa,
        _: &ObjectId,
        _: &str,
    ) -> Result<(AnyServant, Box<dyn std::any::Any + Send>), Declined> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err(match self.permanent {
            true => Declined::forward_permanently(&self.to),
            false => Declined::forward(&self.to),
        })
    }
}

/// A server whose only object forwards to the object of `text`.
fn forwarder(at: Place, text: &str, permanent: bool) -> (Orb, Arc<Elsewhere>, String) {
    let orb = at.server().build();
    let root = orb.root_poa().unwrap();
    let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
    let poa = root.create_child("elsewhere", policies).unwrap();
    let to = orb.string_to_object(text).unwrap().unwrap();
    let locator = Arc::new(Elsewhere { to, permanent, asked: AtomicUsize::new(0) });
    poa.set_servant_locator(locator.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = poa.create_reference_with_id::<Probe>("moved").unwrap().as_object().to_string();
    (orb, locator, text)
}

fn a_forward_is_followed_once_and_then_gone_to_directly(at: Place) {
    for permanent in [false, true] {
        let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
        let (_here, locator, text) = forwarder(at, &text, permanent);
        let client = at.client().build();
        let probe = probe(&client, &text);
        assert_eq!(probe.greet("me").unwrap(), "hello, me");
        assert_eq!(probe.greet_async("me too".into()).wait().unwrap(), "hello, me too");
        probe.note(1).unwrap();
        assert_eq!(probe.noted().unwrap()[..], [1]);
        assert_eq!(locator.asked.load(Ordering::Relaxed), 1, "permanent: {permanent}");
    }
}

fn a_forward_that_leads_nowhere_any_more_is_left_for_the_first_reference(at: Place) {
    let (there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let (_here, locator, text) = forwarder(at, &text, false);
    let client = at.client().build();
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    there.shutdown(true, PATIENCE);
    drop(there);
    let gone = probe.nothing().unwrap_err();
    assert_eq!(gone.kind, Kind::Transient, "{gone}");
    assert!(locator.asked.load(Ordering::Relaxed) >= 2, "the forwarder is asked again");
}

fn a_forward_for_good_is_never_left_and_below_giop_1_2_there_is_none(at: Place) {
    for (version, for_good) in [(Version::V1_0, false), (Version::V1_1, false), (Version::V1_2, true)] {
        let (there, text) = serve(at.server(), Arc::new(Servant::new(1)));
        let (_here, locator, text) = forwarder(at, &text, true);
        let client = at.client().giop_version(version).build();
        let probe = probe(&client, &text);
        probe.nothing().unwrap();
        there.shutdown(true, PATIENCE);
        drop(there);
        for gone in [probe.nothing(), probe.nothing_async().wait()] {
            let gone = gone.unwrap_err();
            assert_eq!(gone.kind, Kind::Transient, "{version}: {gone}");
        }
        let asked = locator.asked.load(Ordering::Relaxed);
        // GIOPlite has one version, and says it.
        let for_good = for_good || at.is_lite();
        assert_eq!(asked == 1, for_good, "{version}: the forwarder was asked {asked} times");
    }
}

#[test]
fn which_forward_a_server_says_depends_on_the_version_of_the_request() {
    let at = Place::TCP;
    let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    for permanent in [false, true] {
        let (here, _locator, text) = forwarder(at, &text, permanent);
        let ior: Ior = text.parse().unwrap();
        let key = IiopProfile::decode(&ior.profiles[0]).unwrap().object_key;
        for dialect in DIALECTS {
            let mut stream = TcpStream::connect(&*here.endpoints()[0].address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(&Wire::request(dialect, 1, true, &key, "nothing").done()).unwrap();
            let mut inbound = Inbound::new(Limits::default());
            let reply = loop {
                match inbound.next().unwrap() {
                    Some(Message::Reply(reply)) => break reply,
                    Some(other) => panic!("{dialect:?}: {other:?}"),
                    None => {}
                }
                let count = stream.read(inbound.space()).unwrap();
                assert_ne!(count, 0, "{dialect:?}: closed");
                inbound.received(count);
            };
            let expected = match permanent && dialect.0 == 2 {
                true => ReplyStatus::LOCATION_FORWARD_PERM,
                false => ReplyStatus::LOCATION_FORWARD,
            };
            assert_eq!(reply.status, expected, "{dialect:?}, permanent: {permanent}");
        }
    }
}

fn forwards_in_a_circle_end(at: Place) {
    let (_first, one, two);
    {
        let orb = at.server().build();
        let root = orb.root_poa().unwrap();
        let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
        let poa = root.create_child("circle", policies).unwrap();
        let to = poa.create_reference_with_id::<Probe>("itself").unwrap().as_object().clone();
        one = to.to_string();
        two = Arc::new(Elsewhere { to, permanent: false, asked: AtomicUsize::new(0) });
        poa.set_servant_locator(two.clone()).unwrap();
        poa.manager().activate().unwrap();
        _first = orb;
    }
    let client = at.client().build();
    let probe = probe(&client, &one);
    for result in [probe.nothing(), probe.nothing_async().wait()] {
        let exception = result.unwrap_err();
        assert_eq!(exception.kind, Kind::Transient, "{exception}");
        assert!(exception.detail().contains("forwarded"), "{exception}");
    }
}

#[test]
fn a_plain_key_names_an_object_here_or_elsewhere() {
    let at = Place::TCP;
    let (there, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let here = at.server().build();
    let root = here.root_poa().unwrap();
    let mine = root.activate::<Probe>(Arc::new(Servant::new(1))).unwrap();
    root.manager().activate().unwrap();
    here.bind_key("mine", &mine);
    here.bind_key("theirs", &probe(&here, &text));
    let address = here.endpoints()[0].address.clone();
    let client = at.client().build();
    let by_name = |key: &str| probe(&client, &format!("corbaloc:iiop:1.2@{address}/{key}"));
    by_name("mine").note(1).unwrap();
    assert_eq!(by_name("mine").noted().unwrap()[..], [1]);
    // A oneway gets no answer, so it cannot learn of a forward: a two-way call goes first.
    let theirs = by_name("theirs");
    theirs.nothing().unwrap();
    theirs.note(2).unwrap();
    assert_eq!(theirs.noted().unwrap()[..], [2]);
    assert_eq!(mine.noted().unwrap()[..], [1]);
    let nobody = by_name("nobody").nothing().unwrap_err();
    assert_eq!(nobody.kind, Kind::ObjectNotExist, "{nobody}");
    drop(there);
}

over! {
    a_forward_is_followed_once_and_then_gone_to_directly,
    a_forward_that_leads_nowhere_any_more_is_left_for_the_first_reference,
    a_forward_for_good_is_never_left_and_below_giop_1_2_there_is_none,
    forwards_in_a_circle_end,
}
