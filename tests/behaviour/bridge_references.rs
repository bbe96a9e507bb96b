//! References that pass through a bridge which knows the types lead through it; those that lead through it already are
//! what they were.

use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use zorb::cdr::{Decoder, Format};
use zorb::giop::{IiopProfile, Ior};
use zorb::{Call, Completion, Interface, Kind, ObjectRef, Orb, OrbBuilder, Sequence, SystemException};
use zorb_bridge::{Bridge, Callbacks, Interfaces, Settings, Unknown};
use zorb_tests::exchange::{
    Desk, DeskServant, Entry, Gone, Listener, ListenerServant, Session, SessionServant, desk,
};
use zorb_tests::root;
use zorb_tests::wire::{Order, Wire};

use crate::bridge_messages::End;
use crate::fixture::Place;

/// The desk, and the sessions that it opens.
struct AtDesk {
    name: String,
    listening: Mutex<Option<Listener>>,
}

impl AtDesk {
    fn named(name: &str) -> Arc<AtDesk> {
        Arc::new(AtDesk { name: name.into(), listening: Mutex::default() })
    }
}

impl SessionServant for AtDesk {
    fn name(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.name.clone())
    }
}

impl DeskServant for AtDesk {
    fn listening(&self, _: &Call) -> Result<Option<Listener>, SystemException> {
        Ok(self.listening.lock().unwrap().clone())
    }

    fn set_listening(&self, _: &Call, listener: Option<Listener>) -> Result<(), SystemException> {
        *self.listening.lock().unwrap() = listener;
        Ok(())
    }

    fn open(&self, cx: &Call, who: &str) -> Result<Option<Session>, SystemException> {
        let poa = cx.orb().root_poa()?;
        Ok(Some(poa.activate::<Session>(AtDesk::named(who)).map_err(|_| SystemException::Internal("open"))?))
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

    fn lose(&self, _: &Call, it: Option<Session>) -> Result<(), desk::LoseError> {
        Err(Gone { why: "lost".into(), last: it, code: 9 }.into())
    }

    fn notify(
        &self,
        cx: &Call,
        text: &str,
        whom: Option<Listener>,
    ) -> Result<Option<Session>, SystemException> {
        let me = cx.this::<Desk>()?;
        let whom = whom.ok_or_else(|| SystemException::BadParam("nobody"))?;
        whom.told(text, Some(&Session::from_object(me.as_object().clone())))
    }

    fn length(&self, _: &Call, text: &str) -> Result<String, SystemException> {
        Ok(text.len().to_string())
    }
}

/// A client's own object: answers the session it was told of, and keeps the text.
#[derive(Default)]
struct Hears(Mutex<Vec<String>>);

impl ListenerServant for Hears {
    fn told(&self, _: &Call, text: &str, by: Option<Session>) -> Result<Option<Session>, SystemException> {
        let name = by.as_ref().map_or(Ok("nobody".into()), |by| by.name())?;
        self.0.lock().unwrap().push(format!("{name}: {text}"));
        Ok(by)
    }
}

fn settings() -> Settings {
    let path = root().join("tests/idl/exchange.idl");
    let files = zorb_idl::Memory::new([("exchange.idl", std::fs::read(path).unwrap())]);
    let model = zorb_idl::compile(&files, "exchange.idl", &zorb_idl::Options::default()).unwrap();
    let mut interfaces = Interfaces::default();
    interfaces.add(&model);
    let mut settings = Settings::default();
    settings.interfaces = Arc::new(interfaces);
    // What the types do not find, this does.
    settings.unknown = Unknown::Refuse;
    settings
}

/// A server inside, a client outside that serves as well, and a bridge between.
struct Scene {
    bridge: Bridge,
    outside: Orb,
    inside: Orb,
    there: Orb,
    client: Orb,
    desk: Desk,
}

fn scene(at: Place, settings: Settings) -> Scene {
    by(at.server(), Place::TCP.server(), at.server(), settings, |builder| builder)
}

fn by(
    there: OrbBuilder,
    outside: OrbBuilder,
    inside: OrbBuilder,
    settings: Settings,
    as_client: impl Fn(OrbBuilder) -> OrbBuilder,
) -> Scene {
    let (there, outside, inside) = (there.build(), outside.build(), inside.build());
    let poa = there.root_poa().unwrap();
    let served = poa.activate::<Desk>(AtDesk::named("desk")).unwrap();
    poa.manager().activate().unwrap();
    let bridge = Bridge::between(&outside, &inside, settings).unwrap();
    let text = there.object_to_string(Some(served.as_object()));
    let exported = bridge.export(&inside.string_to_object(&text).unwrap().unwrap()).unwrap();
    let client = as_client(Place::TCP.server()).build();
    let desk = client.string_to_object(&exported.to_string()).unwrap().unwrap();
    Scene { bridge, outside, inside, there, client, desk: Desk::from_object(desk) }
}

fn listen(orb: &Orb) -> (Arc<Hears>, Listener) {
    let poa = orb.root_poa().unwrap();
    let hears = Arc::new(Hears::default());
    let listener = poa.activate::<Listener>(hears.clone()).unwrap();
    poa.manager().activate().unwrap();
    (hears, listener)
}

/// Whether a client's reference leads to where the bridge listens.
fn is_through(scene: &Scene, reference: &impl Interface) -> bool {
    let ior = reference.as_object().ior();
    let profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    scene.outside.endpoints()[0].address.ends_with(&format!(":{}", profile.port))
}

fn everything_is_translated(scene: &Scene) {
    let desk = &scene.desk;
    // Outwards, and back: the server meets its own.
    let session = desk.open("Ada").unwrap().unwrap();
    assert!(is_through(scene, &session));
    assert_eq!(session.name().unwrap(), "Ada");
    assert!(desk.is_mine(Some(&session)).unwrap());
    assert!(!desk.is_mine(None).unwrap(), "nil stays nil");
    // In structs, sequences, inout and out parameters, beside bulk.
    let other = desk.open("Grace").unwrap().unwrap();
    for length in [0, 1, 7, 1000, 100_000] {
        let entry =
            |held: Option<&Session>, lead| Entry { lead, held: held.cloned(), weight: f64::from(lead) / 4.0 };
        let all = [entry(Some(&other), 1), entry(None, 2), entry(Some(&session), 3)];
        let bulk: Sequence<u8> = vec![length as u8; length].into();
        let (same, all, back, plain) = desk.pass(Some(&session), &bulk, &all).unwrap();
        assert_eq!(same.unwrap().name().unwrap(), "Ada");
        assert!(back == bulk);
        assert_eq!(plain.unwrap().is_a("IDL:exchange/Session:1.0"), Ok(true));
        let held: Vec<_> = all
            .iter()
            .map(|entry| (entry.lead, entry.weight, entry.held.as_ref().map(|held| held.name().unwrap())))
            .collect();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(held, [(1, 0.25, name("Grace")), (2, 0.5, None), (3, 0.75, name("Ada"))], "{length}");
        assert!(all.iter().flat_map(|entry| &entry.held).all(|held| is_through(scene, held)));
    }
    // In user exceptions.
    match desk.lose(Some(&other)).unwrap_err() {
        desk::LoseError::Gone(gone) => {
            let last = gone.last.unwrap();
            assert!(is_through(scene, &last));
            assert_eq!((last.name().unwrap(), &*gone.why, gone.code), ("Grace".into(), "lost", 9));
        }
        other => panic!("{other:?}"),
    }
    // What was known is known: three objects.
    assert_eq!(scene.bridge.objects(), 3);
}

fn references_are_translated_in_both_directions(at: Place) {
    let mut settings = settings();
    settings.callbacks = Callbacks::Caller;
    let scene = scene(at, settings);
    everything_is_translated(&scene);
    // Inwards, and back: the server calls the client's object through the bridge, the client meets its own.
    let (hears, listener) = listen(&scene.client);
    let by = scene.desk.notify("good morning", Some(&listener)).unwrap().unwrap();
    assert!(is_through(&scene, &by));
    assert_eq!(by.name().unwrap(), "desk");
    assert_eq!(*hears.0.lock().unwrap(), ["desk: good morning"]);
    assert_eq!(scene.bridge.callbacks(), 1);
    scene.desk.set_listening(Some(&listener)).unwrap();
    let back = scene.desk.listening().unwrap().unwrap();
    assert!(back.as_object().leads_here(), "its own reference: {:?}", back.as_object().ior());
    scene.desk.set_listening(None).unwrap();
    assert!(scene.desk.listening().unwrap().is_none());
    // What an object of the client's answers is the server's own again.
    assert_eq!((scene.bridge.objects(), scene.bridge.callbacks()), (3, 1));
}

fn every_version_and_fragments(at: Place) {
    use zorb::cdr::Version;
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        if matches!(at, Place::SHM | Place::SLABS) && version == Version::V1_0 {
            continue;
        }
        for fragment in [None, Some(128), Some(200)] {
            let cut = |builder: OrbBuilder| {
                let builder = builder.giop_version(version);
                fragment
                    .filter(|_| version > Version::V1_0)
                    .into_iter()
                    .fold(builder, OrbBuilder::fragment_size)
            };
            let scene = by(cut(at.server()), Place::TCP.server(), at.server(), settings(), cut);
            everything_is_translated(&scene);
        }
    }
}

#[test]
fn from_ipv6_to_ipv4_and_back() {
    let mut settings = settings();
    settings.callbacks = Callbacks::Caller;
    let v6 = || Orb::builder().listen("tcp:[::1]:0");
    let scene = by(Place::TCP.server(), v6(), Place::TCP.server(), settings, |_| v6());
    let at = |reference: &ObjectRef| IiopProfile::decode(&reference.ior().profiles[0]).unwrap().host;
    assert_eq!(at(scene.desk.as_object()), "::1");
    everything_is_translated(&scene);
    let (hears, listener) = listen(&scene.client);
    let by = scene.desk.notify("hello", Some(&listener)).unwrap().unwrap();
    assert_eq!((at(listener.as_object()), at(by.as_object())), ("::1".into(), "::1".into()));
    assert_eq!(*hears.0.lock().unwrap(), ["desk: hello"]);
    assert_eq!(scene.there.endpoints()[0].address.split(':').next(), Some("127.0.0.1"));
}

fn refused(error: SystemException) {
    assert_eq!((error.kind, error.completed), (Kind::NoPermission, Completion::No), "{error}");
}

#[test]
fn clients_objects_are_reached_only_where_that_is_allowed() {
    for callbacks in [Callbacks::Refuse, Callbacks::Caller, Callbacks::Any] {
        let mut settings = settings();
        settings.callbacks = callbacks;
        let scene = scene(Place::TCP, settings);
        let (_hears, listener) = listen(&scene.client);
        let told = scene.desk.notify("?", Some(&listener));
        match callbacks {
            Callbacks::Refuse => refused(told.unwrap_err()),
            _ => drop(told.unwrap()),
        }
        // Somebody else's address, and one that only a name tells.
        for host in ["127.0.0.2", "localhost", "192.0.2.1"] {
            let text = format!("corbaloc::{host}:9/elsewhere");
            let elsewhere = scene.client.string_to_object(&text).unwrap().unwrap();
            let set = scene.desk.set_listening(Some(&Listener::from_object(elsewhere)));
            match callbacks {
                Callbacks::Any => set.unwrap(),
                _ => refused(set.unwrap_err()),
            }
        }
        let made = scene.bridge.callbacks();
        assert_eq!(
            made,
            [0, 1, 4][[Callbacks::Refuse, Callbacks::Caller, Callbacks::Any]
                .iter()
                .position(|one| *one == callbacks)
                .unwrap()]
        );
        // The keys of what was made are not to be guessed, and lead nowhere outside.
        let inner = scene.there.string_to_object(&scene.desk.as_object().to_string()).unwrap().unwrap();
        assert!(!inner.leads_here());
    }
}

#[test]
fn what_is_passed_gives_way_to_what_is_passed_later_and_exports_stay() {
    let mut settings = settings();
    settings.most_objects = 4;
    let scene = scene(Place::TCP, settings);
    let first = scene.desk.open("first").unwrap().unwrap();
    let second = scene.desk.open("second").unwrap().unwrap();
    let third = scene.desk.open("third").unwrap().unwrap();
    first.name().unwrap();
    let fourth = scene.desk.open("fourth").unwrap().unwrap();
    assert_eq!(scene.bridge.objects(), 4);
    for (session, name) in [(&first, "first"), (&third, "third"), (&fourth, "fourth")] {
        assert_eq!(session.name().unwrap(), name);
    }
    assert_eq!(second.name().unwrap_err().kind, Kind::ObjectNotExist);
    let gone = scene.desk.is_mine(Some(&second)).unwrap_err();
    assert_eq!((gone.kind, gone.completed), (Kind::InvObjref, Completion::No), "{gone}");
    assert_eq!(scene.desk.name().unwrap(), "desk");
}

#[test]
fn two_bridges_in_a_row_translate_twice() {
    let mut near = settings();
    near.callbacks = Callbacks::Caller;
    let scene = scene(Place::TCP, near.clone());
    // The far bridge's inside is the near one's outside.
    let (outside, inside) = (Place::TCP.server().build(), Place::TCP.server().build());
    let far = Bridge::between(&outside, &inside, near).unwrap();
    let target = inside.string_to_object(&scene.desk.as_object().to_string()).unwrap().unwrap();
    let client = Place::TCP.server().build();
    let text = far.export(&target).unwrap().to_string();
    let desk = Desk::from_object(client.string_to_object(&text).unwrap().unwrap());
    let session = desk.open("Ada").unwrap().unwrap();
    assert_eq!(session.name().unwrap(), "Ada");
    assert!(desk.is_mine(Some(&session)).unwrap());
    let (hears, listener) = listen(&client);
    assert_eq!(desk.notify("far", Some(&listener)).unwrap().unwrap().name().unwrap(), "desk");
    assert_eq!(*hears.0.lock().unwrap(), ["desk: far"]);
}

#[test]
fn bridges_that_lead_to_each_other_end_the_call() {
    let pair = || {
        let mut settings = settings();
        settings.most_hops = 5;
        let (outside, inside) = (Place::TCP.server().build(), Place::TCP.client().build());
        outside.listen().unwrap();
        (Bridge::between(&outside, &inside, settings).unwrap(), outside, inside)
    };
    let ((here, outside, inside), (there, far_outside, far_inside)) = (pair(), pair());
    // Each target is a key of the other's, which leads back.
    let port = |orb: &Orb| orb.endpoints()[0].address.to_string();
    let (a, b) =
        (format!("corbaloc::{}/Loop", port(&outside)), format!("corbaloc::{}/Loop", port(&far_outside)));
    let to_there = here.export(&inside.string_to_object(&b).unwrap().unwrap()).unwrap();
    let to_here = there.export(&far_inside.string_to_object(&a).unwrap().unwrap()).unwrap();
    outside.bind_key("Loop", &to_there);
    far_outside.bind_key("Loop", &to_here);
    let client = Place::TCP.client().build();
    let desk = Desk::from_object(client.string_to_object(&to_there.to_string()).unwrap().unwrap());
    let ended = desk.length("round and round").unwrap_err();
    assert_eq!((ended.kind, ended.completed), (Kind::ImpLimit, Completion::No), "{ended}");
}

#[test]
fn a_body_that_its_types_do_not_fit_is_refused_where_it_breaks() {
    let scene = scene(Place::TCP, settings());
    let profile = IiopProfile::decode(&scene.desk.as_object().ior().profiles[0]).unwrap();
    let mut client = End::of(TcpStream::connect((&*profile.host, profile.port)).unwrap());
    client.send(&Wire::request((2, Order::Big), 1, true, &profile.object_key, "is_mine").u32(1000).done());
    let reply = client.reply();
    let exception = Decoder::over(&reply.body, Format::default()).read_string().unwrap();
    assert_eq!(exception, "IDL:omg.org/CORBA/MARSHAL:1.0");
    assert_eq!(scene.desk.name().unwrap(), "desk");
    let published: Ior = scene.desk.as_object().ior().clone();
    assert_eq!(published.type_id, "IDL:exchange/Desk:1.0");
    assert_ne!(scene.inside.endpoints(), scene.outside.endpoints());
}

over! {
    by giop between processes:
    references_are_translated_in_both_directions,
    every_version_and_fragments,
}
