//! Messaging protocols: which one is spoken, what both ends agree on, and what happens where they no longer do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use zorb::giop::{Giop, GiopLite, IiopProfile, Ior, Messaging};
use zorb::poa::{
    Cookie, Declined, ObjectId, Poa, PoaPolicies, Servant as AnyServant, ServantLocator, servant,
};
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;

use crate::fixture::{Place, Road, Speech, probe, serve};
use crate::tap::Tap;

const LITE: Place = Place::new(Road::Tcp, Speech::Lite);

fn only(messaging: impl Messaging + 'static) -> Vec<Arc<dyn Messaging>> {
    vec![Arc::new(messaging)]
}

fn holds(octets: &[u8], part: &[u8]) -> bool {
    octets.windows(part.len()).any(|window| window == part)
}

#[test]
fn the_first_protocol_that_both_know_is_spoken() {
    let both = || LITE.messagings();
    let giop_first = || vec![Arc::new(Giop) as Arc<dyn Messaging>, Arc::new(GiopLite)];
    for (client, server, spoken) in [
        (both(), both(), b"zL"),
        (both(), only(Giop), b"GI"),
        (only(Giop), both(), b"GI"),
        (giop_first(), both(), b"GI"),
        (only(GiopLite), only(GiopLite), b"zL"),
    ] {
        let builder = Orb::builder().messagings(server).listen("tcp:127.0.0.1:0");
        let (_server, text) = serve(builder, Arc::new(Servant::new(1)));
        let tap = Tap::before(&text);
        let client = Orb::builder().messagings(client).build();
        let probe = probe(&client, &tap.reference);
        assert_eq!(probe.greet("Zoë").unwrap(), "hello, Zoë");
        probe.note(1).unwrap();
        assert_eq!(probe.noted_async().wait().unwrap()[..], [1]);
        assert!(probe.divide(1, 0).unwrap_err().to_string().contains("division by zero"));
        assert!(probe.as_object().is_a("IDL:omg.org/CORBA/Object:1.0").unwrap());
        for connection in tap.heard() {
            assert_eq!(&connection[..2], spoken);
        }
    }
}

#[test]
fn where_no_protocol_is_known_to_both_a_call_says_so() {
    let (_server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Orb::builder().messagings(only(GiopLite)).build();
    let error = probe(&client, &text).nothing().unwrap_err();
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
    assert!(error.detail().contains("giop-lite"), "{error}");

    // A server that serves no GIOP tells a client that speaks nothing else.
    let builder = Orb::builder().messagings(only(GiopLite)).listen("tcp:127.0.0.1:0");
    let (_server, text) = serve(builder, Arc::new(Servant::new(1)));
    let client = Place::TCP.client().build();
    let error = probe(&client, &text).nothing().unwrap_err();
    assert_eq!(error.kind, Kind::CommFailure, "{error}");
}

#[test]
fn names_are_left_out_once_the_object_has_answered() {
    let (_server, text) = serve(LITE.server(), Arc::new(Servant::new(1)));
    let tap = Tap::before(&text);
    let client = LITE.client().build();
    let probe = probe(&client, &tap.reference);
    probe.greet("first").unwrap();
    let first = tap.heard()[0].len();
    probe.greet("later").unwrap();
    let both = &tap.heard()[0];
    assert!(holds(&both[..first], b"greet"), "the first call has the name");
    assert!(!holds(&both[first..], b"greet"), "the second has the number alone");
    assert!(both.len() - first < first);
}

/// Servants of whose requests it is told, and which it wants to know the names of.
struct Names {
    servant: Arc<Servant>,
    told: Mutex<Vec<String>>,
    numbers_too: AtomicBool,
}

impl ServantLocator for Names {
    fn preinvoke(&self, _: &Poa, _: &ObjectId, operation: &str) -> Result<(AnyServant, Cookie), Declined> {
        self.told.lock().unwrap().push(operation.to_owned());
        Ok((servant::<Probe>(self.servant.clone()), Box::new(())))
    }

    fn postinvoke(&self, _: &Poa, _: &ObjectId, operation: &str, _: Cookie, _: AnyServant) {
        self.numbers_too.fetch_or(operation.is_empty(), Ordering::Relaxed);
    }
}

#[test]
fn a_servant_locator_is_always_told_the_name() {
    let orb = LITE.server().build();
    let root = orb.root_poa().unwrap();
    let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
    let poa = root.create_child("located", policies).unwrap();
    let names = Arc::new(Names {
        servant: Arc::new(Servant::new(1)),
        told: Mutex::default(),
        numbers_too: AtomicBool::new(false),
    });
    poa.set_servant_locator(names.clone()).unwrap();
    poa.manager().activate().unwrap();
    let reference = poa.create_reference_with_id::<Probe>("one").unwrap();
    let client = LITE.client().build();
    let probe = probe(&client, &reference.as_object().to_string());
    for _ in 0..3 {
        probe.nothing().unwrap();
    }
    probe.note(7).unwrap();
    assert_eq!(probe.noted().unwrap()[..], [7]);
    assert_eq!(*names.told.lock().unwrap(), ["nothing", "nothing", "nothing", "note", "noted"]);
    assert!(!names.numbers_too.load(Ordering::Relaxed));
}

/// A server that was replaced by one that knows GIOP alone, and a reference of the earlier one to the same object. The earlier
/// server had a call by `client`, where there is one.
fn replaced(client: Option<&Orb>) -> (Orb, String) {
    let (first, text) = serve(LITE.server(), Arc::new(Servant::new(1)));
    let key = IiopProfile::decode(&text.parse::<Ior>().unwrap().profiles[0]).unwrap();
    if let Some(client) = client {
        probe(client, &text).nothing().unwrap();
    }
    first.shutdown(true, zorb_tests::servant::PATIENCE);
    drop(first);
    let servant = Arc::new(Servant::new(1));
    let again = Orb::builder().listen(format!("tcp:127.0.0.1:{}", key.port)).build();
    let object = {
        let root = again.root_poa().unwrap();
        root.manager().activate().unwrap();
        root.activate::<Probe>(servant).unwrap()
    };
    again.bind_key("fixed", object.as_object());
    // The same object by a key that outlives its server.
    let mut ior: Ior = text.parse().unwrap();
    let mut profile = key;
    profile.object_key = bytes::Bytes::from_static(b"fixed");
    ior.profiles = vec![profile.encode().unwrap()];
    (again, ior.to_string())
}

#[test]
fn a_server_that_no_longer_speaks_it_is_spoken_to_in_giop() {
    let client = LITE.client().build();
    let (_server, text) = replaced(Some(&client));
    let fixed = probe(&client, &text);
    assert_eq!(fixed.greet("again").unwrap(), "hello, again");
    fixed.note(3).unwrap();
    assert_eq!(fixed.noted().unwrap()[..], [3], "nothing was lost, and nothing came twice");
}

#[test]
fn no_oneway_is_lost_that_is_the_first_message_to_such_a_server() {
    for knows_it in [false, true] {
        let client = LITE.client().build();
        let (_server, text) = replaced(knows_it.then_some(&client));
        let fixed = probe(&client, &text);
        for number in 1..=3 {
            fixed.note(number).unwrap();
        }
        assert_eq!(fixed.noted().unwrap()[..], [1, 2, 3], "by blocking stubs");

        let client = LITE.client().build();
        let fixed = probe(&client, &text);
        fixed.note_async(4).wait().unwrap();
        fixed.note_async(5).wait().unwrap();
        assert_eq!(fixed.noted().unwrap()[..], [1, 2, 3, 4, 5], "by futures");
    }
}

/// What a request of GIOPlite has in the upper half of its fourth octet.
fn responses(octets: &[u8]) -> Vec<u8> {
    let mut messages = octets;
    let mut found = Vec::new();
    while let [_, _, _, kind, a, b, c, d, ..] = *messages {
        found.push(kind >> 4);
        messages = &messages[u32::from_ne_bytes([a, b, c, d]) as usize..];
    }
    found
}

#[test]
fn oneways_are_confirmed_until_the_server_has_answered() {
    let (_server, text) = serve(LITE.server(), Arc::new(Servant::new(1)));
    let tap = Tap::before(&text);
    let client = LITE.client().build();
    let probe = probe(&client, &tap.reference);
    for number in 1..=3 {
        probe.note(number).unwrap();
    }
    assert_eq!(probe.noted().unwrap()[..], [1, 2, 3]);
    let shared = tap.heard().remove(0);
    assert_eq!(responses(&shared), [1, 0, 0, 3], "WITH_SERVER, twice NONE, and a call");
}
