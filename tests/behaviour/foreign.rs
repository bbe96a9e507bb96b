//! Profiles and components that nobody here knows stay what they are, octet for octet and in their place, when a reference
//! passes through.

use std::sync::Arc;
use std::time::Duration;

use zorb::giop::{ComponentTag, IiopProfile, Ior, ProfileTag, TaggedComponent, TaggedProfile};
use zorb::{Call, Interface, Kind, ObjectRef, Orb, Sequence, SystemException};
use zorb_bridge::{Bridge, Settings};
use zorb_tests::exchange::{Desk, DeskServant, Entry, Listener, Session, SessionServant, desk};

use crate::fixture::Place;

/// How long an ORB may take to its end.
const END: Duration = Duration::from_secs(10);

over!(what_is_foreign_passes_through_a_call);

/// Answers what it is given.
struct Mirror;

impl SessionServant for Mirror {
    fn name(&self, _: &Call) -> Result<String, SystemException> {
        Ok("mirror".into())
    }
}

impl DeskServant for Mirror {
    fn listening(&self, _: &Call) -> Result<Option<Listener>, SystemException> {
        Ok(None)
    }

    fn set_listening(&self, _: &Call, _: Option<Listener>) -> Result<(), SystemException> {
        Ok(())
    }

    fn open(&self, cx: &Call, text: &str) -> Result<Option<Session>, SystemException> {
        Ok(cx.orb().string_to_object(text)?.map(Session::from_object))
    }

    fn is_mine(&self, _: &Call, it: Option<Session>) -> Result<bool, SystemException> {
        Ok(it.is_some_and(|it| it.as_object().leads_here()))
    }

    fn pass(
        &self,
        _: &Call,
        it: Option<Session>,
        bulk: Sequence<u8>,
        all: &[Entry],
    ) -> Result<(Option<Session>, Vec<Entry>, Sequence<u8>, Option<ObjectRef>), SystemException> {
        let plain = it.as_ref().map(|it| it.as_object().clone());
        Ok((it, all.to_vec(), bulk, plain))
    }

    fn lose(&self, _: &Call, _: Option<Session>) -> Result<(), desk::LoseError> {
        Ok(())
    }

    fn notify(&self, _: &Call, _: &str, _: Option<Listener>) -> Result<Option<Session>, SystemException> {
        Ok(None)
    }

    fn length(&self, cx: &Call, text: &str) -> Result<String, SystemException> {
        // The reference as the server's ORB writes it.
        Ok(cx.orb().object_to_string(cx.orb().string_to_object(text)?.as_ref()))
    }
}

/// A reference with profiles of unknown tags around an IIOP profile with unknown components, one that is no encapsulation, one
/// of a known tag that cannot be read, and the same tag twice.
fn foreign() -> Ior {
    let unknown = |tag: u32, data: &'static [u8]| TaggedProfile { tag: ProfileTag(tag), data: data.into() };
    let component =
        |tag: u32, data: &'static [u8]| TaggedComponent { tag: ComponentTag(tag), data: data.into() };
    let iiop = IiopProfile {
        version: zorb::cdr::Version::V1_2,
        host: "elsewhere.example".into(),
        port: 7,
        object_key: "key".into(),
        components: vec![
            component(0x4a41_4300, b"\x01its own"),
            component(3, b"cannot be read"),
            component(0x4a41_4300, b""),
        ],
    };
    // Of the other byte order: what would be written again would differ.
    let order = u8::from(cfg!(target_endian = "big"));
    let port = if order == 0 { [0, 7] } else { [7, 0] };
    let length: [u8; 4] = if order == 0 { [0, 0, 0, 2] } else { [2, 0, 0, 0] };
    let other = [&[order, 1, 0, 0], &length[..], b"h\0", &port, &[0; 4]].concat();
    Ior {
        type_id: "IDL:exchange/Session:1.0".into(),
        profiles: vec![
            unknown(0x7a6f_7a6f, b"\xff\xfe before"),
            iiop.encode().unwrap(),
            unknown(0x7a6f_7a6f, b""),
            TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: other.into() },
            unknown(ProfileTag::TAO_UIOP.0, b"\x01 no such profile"),
            unknown(0x4f4d_4702, b"\0after"),
        ],
    }
}

/// Serves a mirror, and gives the client's reference to it.
fn mirror(server: &Orb, client: &Orb) -> Desk {
    let poa = server.root_poa().unwrap();
    let served = poa.activate::<Desk>(Arc::new(Mirror)).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(served.as_object()));
    Desk::from_object(client.string_to_object(&text).unwrap().unwrap())
}

/// By text, parameter, result, out parameter and member of a struct.
fn comes_back_as_it_was(desk: &Desk, client: &Orb) {
    let foreign = foreign();
    let text = foreign.to_string();
    let object = client.string_to_object(&text).unwrap().unwrap();
    assert_eq!(client.object_to_string(Some(&object)), text);
    assert_eq!(desk.length(&text).unwrap(), text, "the server reads and writes it");
    let session = Session::from_object(object);
    let entry = Entry { lead: 1, held: Some(session.clone()), weight: 0.5 };
    let bulk: Sequence<u8> = vec![0; 3].into();
    let (same, all, _, plain) = desk.pass(Some(&session), &bulk, &[entry]).unwrap();
    assert_eq!(same.unwrap().as_object().ior(), &foreign);
    assert_eq!(plain.unwrap().ior(), &foreign);
    assert_eq!(all[0].held.as_ref().unwrap().as_object().ior(), &foreign);
    assert_eq!(desk.open(&text).unwrap().unwrap().as_object().ior(), &foreign);
    assert!(!desk.is_mine(Some(&session)).unwrap());
}

fn what_is_foreign_passes_through_a_call(at: Place) {
    let (server, client) = (at.server().build(), at.client().build());
    comes_back_as_it_was(&mirror(&server, &client), &client);
    for orb in [client, server] {
        orb.shutdown(true, END);
    }
}

/// A bridge that is not told the types passes references as they are.
#[test]
fn what_is_foreign_passes_through_a_bridge() {
    let built = || Place::TCP.server().build();
    let (server, outside, inside, client) = (built(), built(), built(), Place::TCP.client().build());
    let target = mirror(&server, &inside);
    let bridge = Bridge::between(&outside, &inside, Settings::default()).unwrap();
    let exported = bridge.export(target.as_object()).unwrap();
    let desk = Desk::from_object(client.string_to_object(&exported.to_string()).unwrap().unwrap());
    comes_back_as_it_was(&desk, &client);
    for orb in [client, outside, inside, server] {
        orb.shutdown(true, END);
    }
}

/// Where none of the profiles is known the reference is kept all the same, and a call says so.
#[test]
fn a_reference_of_nobodys_profiles_is_kept_and_cannot_be_called() {
    let client = Place::TCP.client().build();
    let mut foreign = foreign();
    foreign.profiles.retain(|profile| profile.tag != ProfileTag::INTERNET_IOP);
    let object = client.string_to_object(&foreign.to_string()).unwrap().unwrap();
    assert_eq!(client.object_to_string(Some(&object)), foreign.to_string());
    assert_eq!(object.is_a("IDL:x:1.0").unwrap_err().kind, Kind::InvObjref);
}
