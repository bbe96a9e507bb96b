//! Portable interceptors: which points run, in which order, what they see, and what becomes of what they raise.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use zorb::dynamic::{Request, Signature};
use zorb::giop::{ComponentTag, ContextId, ProfileTag};
use zorb::interceptors::{
    AdapterState, ClientRequestInfo, ClientRequestInterceptor, Codec, CodecError, Intervention, IorInfo,
    IorInterceptor, ObservedException, OrbInitializer, ReplyStatus, ServerRequestInfo,
    ServerRequestInterceptor, SlotId,
};
use zorb::poa::{Lifespan, ManagerState, PoaManager, PoaPolicies};
use zorb::policy::{Policies, SyncScope};
use zorb::{Any, Call, Completion, Interface, Kind, Minor, ObjectRef, Orb, OrbBuilder, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, ProbeServant, Refused, probe as errors};
use zorb_tests::unserved;

use crate::fixture::{Place, probe, serve};

const ID: ContextId = ContextId(0x7a6f_7263);
const OTHER: ContextId = ContextId(0x7a6f_7264);

/// What happened, in order, at either side.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<String>>>);

impl Tape {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    /// What was noted since, once there is so much: what a server does after a oneway nobody waits for.
    fn until(&self, count: usize) -> Vec<String> {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let mut notes = self.0.lock().unwrap();
            if notes.len() >= count {
                return std::mem::take(&mut *notes);
            }
            assert!(std::time::Instant::now() < deadline, "waiting for {count} notes: {notes:?}");
            drop(notes);
            std::thread::yield_now();
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// What an interceptor is to do at a point, once.
enum Act {
    Raise(SystemException),
    Forward(ObjectRef),
    Panic,
}

/// Notes each point, and does there what it was told.
struct Spy {
    name: &'static str,
    tape: Tape,
    acts: Mutex<Vec<(&'static str, Act)>>,
}

impl Spy {
    fn new(name: &'static str, tape: &Tape) -> Arc<Spy> {
        Arc::new(Spy { name, tape: tape.clone(), acts: Mutex::default() })
    }

    fn at(&self, point: &'static str, act: Act) {
        self.acts.lock().unwrap().push((point, act));
    }

    fn raises_at(&self, point: &'static str) {
        self.at(point, Act::Raise(SystemException::NoPermission(point).minor(Minor(77))));
    }

    fn point(&self, point: &'static str, more: &str) -> Result<(), Intervention> {
        self.tape.note(format!("{}.{point}{more}", self.name));
        let mut acts = self.acts.lock().unwrap();
        let Some(at) = acts.iter().position(|(when, _)| *when == point) else { return Ok(()) };
        let (_, act) = acts.remove(at);
        drop(acts);
        match act {
            Act::Raise(exception) => Err(exception.into()),
            Act::Forward(to) => Err(Intervention::ForwardRequest(to)),
            Act::Panic => panic!("as it was told"),
        }
    }
}

fn only_raise(intervention: Intervention) -> SystemException {
    match intervention {
        Intervention::Raise(exception) => exception,
        Intervention::ForwardRequest(_) => panic!("no forward from here"),
    }
}

fn status(status: Option<ReplyStatus>) -> String {
    match status {
        Some(status) => format!(" {status:?}"),
        None => String::new(),
    }
}

impl ClientRequestInterceptor for Spy {
    fn name(&self) -> &str {
        self.name
    }
    fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
        assert_eq!(info.reply_status(), None);
        self.point("send_request", "")
    }
    fn send_poll(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        assert_eq!(info.reply_status(), None);
        self.point("send_poll", "").map_err(only_raise)
    }
    fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        assert_eq!(info.reply_status(), Some(ReplyStatus::Successful));
        self.point("receive_reply", "").map_err(only_raise)
    }
    fn receive_exception(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        assert!(info.received_exception().is_some());
        self.point("receive_exception", &status(info.reply_status()))
    }
    fn receive_other(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        self.point("receive_other", &status(info.reply_status()))
    }
}

impl ServerRequestInterceptor for Spy {
    fn name(&self) -> &str {
        self.name
    }
    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        assert_eq!((info.object_id(), info.adapter_name().len()), (None, 0));
        self.point("service_contexts", "")
    }
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        assert!(info.target_is_a("IDL:testing/Probe:1.0").unwrap());
        self.point("receive_request", "")
    }
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        assert_eq!(info.reply_status(), Some(ReplyStatus::Successful));
        self.point("send_reply", "").map_err(only_raise)
    }
    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        assert!(info.sending_exception().is_some());
        self.point("send_exception", &status(info.reply_status()))
    }
    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        self.point("send_other", &status(info.reply_status()))
    }
}

/// A client with interceptors A, B and C, and a server with X, Y and Z.
struct Stage {
    tape: Tape,
    client: [Arc<Spy>; 3],
    server: [Arc<Spy>; 3],
    orb: Orb,
    probe: Probe,
}

impl Stage {
    fn new(at: Place) -> Stage {
        let tape = Tape::default();
        let client = ["A", "B", "C"].map(|name| Spy::new(name, &tape));
        let server = ["X", "Y", "Z"].map(|name| Spy::new(name, &tape));
        let builder = server.iter().fold(at.server(), |builder, spy| builder.server_interceptor(spy.clone()));
        let (orb, text) = serve(builder, Arc::new(Servant::new(1)));
        let caller = client.iter().fold(at.client(), |builder, spy| builder.client_interceptor(spy.clone()));
        let probe = probe(&caller.build(), &text);
        Stage { tape, client, server, orb, probe }
    }

    /// Another object of the server, which is no group of interceptors' concern.
    fn another(&self, at: Place) -> (Orb, ObjectRef) {
        let (orb, text) = serve(at.server(), Arc::new(Servant::new(1)));
        let to = self.probe.as_object().orb().string_to_object(&text).unwrap().unwrap();
        (orb, to)
    }
}

/// `A.point` for each name.
fn each(names: [&str; 3], point: &str) -> Vec<String> {
    names.map(|name| format!("{name}.{point}")).to_vec()
}

const OUT: [&str; 3] = ["A", "B", "C"];
const BACK: [&str; 3] = ["C", "B", "A"];
const IN: [&str; 3] = ["X", "Y", "Z"];
const FORTH: [&str; 3] = ["Z", "Y", "X"];

/// All points of a call that ends so at either side.
fn whole(server: &str, client: &str) -> Vec<String> {
    [
        each(OUT, "send_request"),
        each(IN, "service_contexts"),
        each(IN, "receive_request"),
        each(FORTH, server),
        each(BACK, client),
    ]
    .concat()
}

fn every_kind_of_call_meets_all_points_in_order(at: Place) {
    let stage = Stage::new(at);
    // GIOPlite asks for the operation's name, which is another attempt, once and before any point.
    stage.probe.nothing().unwrap();
    stage.tape.take();
    let passed = whole("send_reply", "receive_reply");
    for _ in 0..2 {
        assert_eq!(stage.probe.greet("me").unwrap(), "hello, me");
        assert_eq!(stage.tape.take(), passed);
    }
    assert_eq!(stage.probe.greet_async("me".into()).wait().unwrap(), "hello, me");
    assert_eq!(stage.tape.take(), passed);
    assert!(stage.probe.as_object().is_a("IDL:testing/Special:1.0").is_ok_and(|is| !is));
    assert_eq!(stage.tape.take(), passed);

    let nothing = Request::new(stage.probe.as_object(), Arc::new(Signature::new("nothing"))).unwrap();
    nothing.invoke(&[]).unwrap();
    assert_eq!(stage.tape.take(), passed);
    nothing.send_deferred(vec![]).get_response().unwrap();
    assert_eq!(stage.tape.take(), passed);

    let failed = whole("send_exception UserException", "receive_exception UserException");
    let Err(errors::DivideError::Refused(_)) = stage.probe.divide(1, 0) else { panic!("refused") };
    assert_eq!(stage.tape.take(), failed);
    let Err(errors::DivideError::Refused(_)) = stage.probe.divide_async(1, 0).wait() else {
        panic!("refused")
    };
    assert_eq!(stage.tape.take(), failed);

    let broken = whole("send_exception SystemException", "receive_exception SystemException");
    assert_eq!(stage.probe.panic().unwrap_err().kind, Kind::Unknown);
    assert_eq!(stage.tape.take(), broken);
}

fn oneways_end_in_something_else(at: Place) {
    let stage = Stage::new(at);
    let there =
        [each(IN, "service_contexts"), each(IN, "receive_request"), each(FORTH, "send_other Successful")];
    let expected =
        [each(OUT, "send_request"), each(BACK, "receive_other Successful"), there.concat()].concat();
    for scope in [SyncScope::None, SyncScope::WithTransport, SyncScope::WithServer] {
        for in_future in [false, true] {
            let object = stage.probe.as_object().with_policies(Policies::new().sync_scope(scope));
            match in_future {
                false => Probe::from_object(object).note(1).unwrap(),
                true => Probe::from_object(object).note_async(1).wait().unwrap(),
            }
            let mut notes = stage.tape.until(expected.len());
            // The two sides do not wait for each other.
            notes.sort_by_key(|note| !is_of(note, OUT));
            assert_eq!(notes, expected, "{scope:?}, in a future: {in_future}");
        }
    }
}

/// Whether the note is of one of these.
fn is_of(note: &str, names: [&str; 3]) -> bool {
    names.iter().any(|name| note.starts_with(name))
}

over!(
    every_kind_of_call_meets_all_points_in_order,
    oneways_end_in_something_else,
    service_contexts_go_both_ways,
);

#[test]
fn who_raises_at_a_starting_point_is_the_last_to_be_called_there() {
    let stage = Stage::new(Place::TCP);
    for call in [|probe: &Probe| probe.nothing(), |probe: &Probe| probe.nothing_async().wait()] {
        stage.client[1].raises_at("send_request");
        let raised = call(&stage.probe).unwrap_err();
        assert_eq!(
            (raised.kind, raised.minor, raised.completed),
            (Kind::NoPermission, Minor(77), Completion::No)
        );
        let met = ["A.send_request", "B.send_request", "A.receive_exception SystemException"];
        assert_eq!(stage.tape.take(), met);
    }

    stage.server[1].raises_at("service_contexts");
    let raised = stage.probe.nothing().unwrap_err();
    assert_eq!((raised.kind, raised.minor), (Kind::NoPermission, Minor(77)));
    let met = [
        each(OUT, "send_request"),
        vec!["X.service_contexts".into(), "Y.service_contexts".into()],
        vec!["X.send_exception SystemException".into()],
        each(BACK, "receive_exception SystemException"),
    ];
    assert_eq!(stage.tape.take(), met.concat());

    // All have passed the starting point when an intermediate one raises.
    stage.server[1].raises_at("receive_request");
    assert_eq!(stage.probe.nothing().unwrap_err().kind, Kind::NoPermission);
    let met = [
        each(OUT, "send_request"),
        each(IN, "service_contexts"),
        vec!["X.receive_request".into(), "Y.receive_request".into()],
        each(FORTH, "send_exception SystemException"),
        each(BACK, "receive_exception SystemException"),
    ];
    assert_eq!(stage.tape.take(), met.concat());
}

#[test]
fn who_raises_at_an_ending_point_changes_it_for_those_that_follow() {
    let stage = Stage::new(Place::TCP);
    for call in [|probe: &Probe| probe.nothing(), |probe: &Probe| probe.nothing_async().wait()] {
        stage.client[1].raises_at("receive_reply");
        assert_eq!(call(&stage.probe).unwrap_err().kind, Kind::NoPermission);
        let met = ["C.receive_reply", "B.receive_reply", "A.receive_exception SystemException"];
        assert_eq!(stage.tape.take()[12..], met);
    }

    stage.server[1].raises_at("send_reply");
    assert_eq!(stage.probe.nothing().unwrap_err().kind, Kind::NoPermission);
    let met = ["Z.send_reply", "Y.send_reply", "X.send_exception SystemException"];
    assert_eq!(stage.tape.take()[9..12], met);

    // Of a user exception becomes another, which the last makes another again.
    stage.server[1].raises_at("send_exception");
    stage.client[0].at("receive_exception", Act::Raise(SystemException::Transient("again")));
    let Err(errors::DivideError::System(raised)) = stage.probe.divide(1, 0) else {
        panic!("a system exception")
    };
    assert_eq!(raised.kind, Kind::Transient);
    let met = [
        vec![
            "Z.send_exception UserException".into(),
            "Y.send_exception UserException".into(),
            "X.send_exception SystemException".into(),
        ],
        each(BACK, "receive_exception SystemException"),
    ];
    assert_eq!(stage.tape.take()[9..], met.concat());
}

#[test]
fn forwards_of_client_interceptors_concern_one_call() {
    let at = Place::TCP;
    let stage = Stage::new(at);
    let (_other, to) = stage.another(at);
    let there = Probe::from_object(to.clone());
    let noted = |probe: &Probe| probe.noted().unwrap().len();
    for (point, call) in [
        ("send_request", 3),
        ("receive_exception", 3),
        ("send_request", 7),
        ("receive_exception", 7),
        ("receive_other", 4),
    ] {
        stage.tape.take();
        let (before, before_there) = (noted(&stage.probe), noted(&there));
        if point == "receive_exception" {
            stage.server[0].raises_at("service_contexts");
        }
        stage.client[1].at(point, Act::Forward(to.clone()));
        stage.tape.take();
        match call {
            3 => stage.probe.nothing().unwrap(),
            7 => stage.probe.nothing_async().wait().unwrap(),
            _ => stage.probe.note(9).unwrap(),
        }
        let met = stage.tape.take();
        let met: Vec<_> = met.iter().filter(|note| is_of(note, OUT)).map(String::as_str).collect();
        let ended = each(BACK, "receive_reply");
        let once_more = each(OUT, "send_request");
        let expected: Vec<String> = match point {
            "send_request" => [
                vec![
                    "A.send_request".into(),
                    "B.send_request".into(),
                    "A.receive_other LocationForward".into(),
                ],
                once_more,
                ended,
            ]
            .concat(),
            "receive_exception" => [
                each(OUT, "send_request"),
                vec![
                    "C.receive_exception SystemException".into(),
                    "B.receive_exception SystemException".into(),
                    "A.receive_other LocationForward".into(),
                ],
                once_more,
                ended,
            ]
            .concat(),
            _ => [
                each(OUT, "send_request"),
                vec![
                    "C.receive_other Successful".into(),
                    "B.receive_other Successful".into(),
                    "A.receive_other LocationForward".into(),
                ],
                once_more,
                each(BACK, "receive_other Successful"),
            ]
            .concat(),
        };
        assert_eq!(met, expected, "at {point}");
        // The next goes where it went before.
        stage.probe.note(1).unwrap();
        assert_eq!(noted(&stage.probe), before + 1 + usize::from(call == 4));
        assert_eq!(noted(&there), before_there + usize::from(call == 4));
    }
}

#[test]
fn interceptors_that_forward_without_end_are_found_out() {
    struct Restless;
    impl ClientRequestInterceptor for Restless {
        fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
            Err(Intervention::ForwardRequest(info.target().clone()))
        }
    }
    let (_server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Place::TCP.client().client_interceptor(Arc::new(Restless)).build();
    let probe = probe(&client, &text);
    assert_eq!(probe.nothing().unwrap_err().kind, Kind::Transient);
    assert_eq!(probe.nothing_async().wait().unwrap_err().kind, Kind::Transient);
}

#[test]
fn forwards_of_servers_end_one_request_and_begin_another() {
    let at = Place::TCP;
    for (point, ended) in [
        ("service_contexts", vec![]),
        ("receive_request", each(FORTH, "send_other LocationForward")),
        (
            "send_exception",
            vec![
                "Z.send_exception SystemException".into(),
                "Y.send_exception SystemException".into(),
                "X.send_other LocationForward".to_owned(),
            ],
        ),
    ] {
        for in_future in [false, true] {
            let stage = Stage::new(at);
            let (_other, to) = stage.another(at);
            match point {
                "service_contexts" => stage.server[0].at(point, Act::Forward(to)),
                "receive_request" => stage.server[1].at(point, Act::Forward(to)),
                _ => {
                    stage.server[2].raises_at("receive_request");
                    stage.server[1].at(point, Act::Forward(to));
                }
            }
            match in_future {
                false => stage.probe.nothing().unwrap(),
                true => stage.probe.nothing_async().wait().unwrap(),
            }
            let met = stage.tape.take();
            let server: Vec<_> = met.iter().filter(|note| is_of(note, IN)).collect();
            assert_eq!(server[server.len() - ended.len()..], ended.iter().collect::<Vec<_>>(), "{met:?}");
            let client: Vec<_> = met.iter().filter(|note| is_of(note, OUT)).cloned().collect();
            let expected = [
                each(OUT, "send_request"),
                each(BACK, "receive_other LocationForward"),
                each(OUT, "send_request"),
                each(BACK, "receive_reply"),
            ];
            assert_eq!(client, expected.concat());
            // It is the reference's forward from now on, as any server's is.
            stage.probe.nothing().unwrap();
            assert!(stage.tape.take().iter().all(|note| is_of(note, OUT)));
        }
    }
}

#[test]
fn panics_in_interceptors_are_unknown_and_hurt_nothing_else() {
    let stage = Stage::new(Place::TCP);
    for (spy, point, completed) in [
        (&stage.client[1], "send_request", Completion::No),
        (&stage.client[1], "receive_reply", Completion::Yes),
        (&stage.server[1], "service_contexts", Completion::No),
        (&stage.server[1], "receive_request", Completion::No),
        (&stage.server[1], "send_reply", Completion::Yes),
    ] {
        spy.at(point, Act::Panic);
        let raised = stage.probe.nothing().unwrap_err();
        assert_eq!((raised.kind, raised.completed), (Kind::Unknown, completed), "{point}");
        stage.probe.nothing().unwrap();
    }
    // One that panics while the servant's panic is still on its way.
    stage.server[1].at("send_exception", Act::Panic);
    assert_eq!(stage.probe.panic().unwrap_err().kind, Kind::Unknown);
    stage.tape.take();
    stage.probe.nothing().unwrap();
    assert_eq!(stage.tape.take(), whole("send_reply", "receive_reply"));
}

#[test]
fn calls_that_cannot_be_made_are_seen_to_fail() {
    let stage = Stage::new(Place::TCP);
    stage.orb.shutdown(true, PATIENCE);
    let failed = [each(OUT, "send_request"), each(BACK, "receive_exception SystemException")].concat();
    assert_eq!(stage.probe.nothing().unwrap_err().kind, Kind::Transient);
    assert_eq!(stage.tape.take(), failed);
    assert_eq!(stage.probe.nothing_async().wait().unwrap_err().kind, Kind::Transient);
    assert_eq!(stage.tape.take(), failed);

    // Nothing in the reference can be used: an interceptor knows what can.
    let (_other, to) = stage.another(Place::TCP);
    let nowhere = zorb::giop::Ior {
        type_id: String::new(),
        profiles: vec![zorb::giop::TaggedProfile { tag: ProfileTag(0x7a6f), data: vec![0].into() }],
    };
    let nowhere = Probe::from_object(ObjectRef::new(to.orb(), nowhere).unwrap());
    assert_eq!(nowhere.nothing().unwrap_err().kind, Kind::InvObjref);
    assert_eq!(stage.tape.take(), failed);
    for call in [|probe: &Probe| probe.nothing(), |probe: &Probe| probe.nothing_async().wait()] {
        stage.client[1].at("receive_exception", Act::Forward(to.clone()));
        call(&nowhere).unwrap();
    }

    // The time is up: the outcome is another one, and so are interceptors'.
    let (_other, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let slow = probe(to.orb(), &text);
    let within = Policies::new().call_timeout(std::time::Duration::from_millis(20));
    let slow = Probe::from_object(slow.as_object().with_policies(within));
    stage.tape.take();
    assert_eq!(slow.wait(5_000).unwrap_err().kind, Kind::Timeout);
    assert_eq!(stage.tape.take(), failed);
}

#[test]
fn a_future_that_is_dropped_ends_in_something_unknown() {
    let stage = Stage::new(Place::TCP);
    drop(stage.probe.wait_async(5_000));
    let client: Vec<_> = stage.tape.take().into_iter().filter(|note| is_of(note, OUT)).collect();
    assert_eq!(client, [each(OUT, "send_request"), each(BACK, "receive_other Unknown")].concat());
}

/// What both sides learn of each other, as text.
#[derive(Default)]
struct Gossip(Mutex<Vec<String>>);

fn octets(data: Option<&bytes::Bytes>) -> String {
    data.map_or_else(|| "nothing".into(), |data| String::from_utf8_lossy(data).into_owned())
}

impl ClientRequestInterceptor for Gossip {
    fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
        info.add_request_service_context(ID, format!("to {}", info.operation()), false)?;
        let twice = info.add_request_service_context(ID, "again", false).unwrap_err();
        assert_eq!((twice.kind, twice.minor), (Kind::BadInvOrder, Minor::omg(15)));
        info.add_request_service_context(OTHER, "first", true)?;
        info.add_request_service_context(OTHER, "second", true)?;
        let code_sets = info.add_request_service_context(ContextId::CODE_SETS, "", true).unwrap_err();
        assert_eq!(code_sets.kind, Kind::BadParam);
        assert_eq!(info.effective_target(), info.target());
        Ok(())
    }
    fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(octets(info.reply_service_context(ID)));
        Ok(())
    }
    fn receive_exception(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        let exception = info.received_exception().unwrap();
        if let ObservedException::User(user) = exception {
            let refused: Refused = user.get(info.orb()).unwrap().unwrap();
            assert!(!refused.why.is_empty());
        }
        let text = format!("{} {}", octets(info.reply_service_context(ID)), exception.repository_id());
        self.0.lock().unwrap().push(text);
        Ok(())
    }
}

impl ServerRequestInterceptor for Gossip {
    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let (one, two) = (info.request_service_context(ID), info.request_service_context(OTHER));
        self.0.lock().unwrap().push(format!("{} {}", octets(one), octets(two)));
        assert!(info.peer().is_some());
        Ok(())
    }
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        assert_eq!(info.adapter_name(), ["RootPOA"]);
        assert!(!info.object_id().unwrap().is_empty());
        assert_eq!(info.target_most_derived_interface().unwrap(), "IDL:testing/Probe:1.0");
        info.add_reply_service_context(ID, "from receive_request", false)?;
        Ok(())
    }
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        assert!(info.response_expected());
        assert_eq!(info.sync_scope(), SyncScope::WithTarget);
        info.add_reply_service_context(ID, format!("from {}", info.operation()), true)
    }
}

fn service_contexts_go_both_ways(at: Place) {
    let (here, there) = (Arc::new(Gossip::default()), Arc::new(Gossip::default()));
    let (_server, text) = serve(at.server().server_interceptor(there.clone()), Arc::new(Servant::new(1)));
    let client = at.client().client_interceptor(here.clone()).build();
    let probe = probe(&client, &text);
    let large = vec![7; 100_000];
    for _ in 0..2 {
        probe.nothing().unwrap();
        probe.greet_async("me".into()).wait().unwrap();
        assert_eq!(probe.echo(&large).unwrap().len(), large.len());
        probe.divide(1, 0).unwrap_err();
        assert_eq!(
            here.0.lock().unwrap().split_off(0),
            ["from nothing", "from greet", "from echo", "from receive_request IDL:testing/Refused:1.0"]
        );
        let met = there.0.lock().unwrap().split_off(0);
        assert_eq!(met, ["nothing", "greet", "echo", "divide"].map(|name| format!("to {name} second")));
    }
}

#[test]
fn contexts_go_with_joint_short_calls_and_in_every_version() {
    use zorb::cdr::Version;
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let (here, there) = (Arc::new(Gossip::default()), Arc::new(Gossip::default()));
        let (_server, text) =
            serve(Place::TCP.server().server_interceptor(there.clone()), Arc::new(Servant::new(1)));
        let builder = Place::TCP.client().giop_version(version).joint_beyond(0);
        let client = builder.client_interceptor(here.clone()).build();
        let probe = probe(&client, &text);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| probe.nothing().unwrap()));
            }
        });
        assert_eq!(*here.0.lock().unwrap(), vec!["from nothing"; 40]);
        assert_eq!(*there.0.lock().unwrap(), vec!["to nothing second"; 40]);
    }
}

#[test]
fn calls_to_objects_of_the_same_orb_are_seen_at_both_sides() {
    let tape = Tape::default();
    let (caller, served) = (Spy::new("A", &tape), Spy::new("X", &tape));
    let builder = Place::TCP.server().client_interceptor(caller).server_interceptor(served);
    let (orb, text) = serve(builder, Arc::new(Servant::new(1)));
    probe(&orb, &text).nothing().unwrap();
    let met =
        ["A.send_request", "X.service_contexts", "X.receive_request", "X.send_reply", "A.receive_reply"];
    assert_eq!(tape.take(), met);
}

/// Takes a slot to the other side, and there into a slot.
struct Carrier(SlotId);

fn text(any: &Any) -> String {
    any.get::<String>().unwrap_or_else(|_| "nothing".into())
}

impl ClientRequestInterceptor for Carrier {
    fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
        let codec = Codec::new(zorb::cdr::Version::V1_2).unwrap();
        let octets = codec.encode(&info.slot(self.0)?).unwrap();
        // The thread's slot is not the request's.
        info.orb().current().set_slot(self.0, Any::new("changed").unwrap())?;
        info.add_request_service_context(ID, octets, false)?;
        Ok(())
    }
}

impl ServerRequestInterceptor for Carrier {
    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let codec = Codec::new(zorb::cdr::Version::V1_2).unwrap();
        if let Some(octets) = info.request_service_context(ID) {
            let value = codec.decode(octets).unwrap();
            info.set_slot(self.0, value)?;
        }
        Ok(())
    }
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let value = format!("{}, received", text(&info.slot(self.0)?));
        info.set_slot(self.0, Any::new(&value).unwrap())?;
        Ok(())
    }
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let value = text(&info.slot(self.0)?);
        info.add_reply_service_context(ID, value, false)
    }
}

/// Hears and says in its thread's slot.
struct Slotted(SlotId, Mutex<Vec<String>>);

impl ProbeServant for Slotted {
    fn nothing(&self, cx: &Call) -> Result<(), SystemException> {
        let current = cx.orb().current();
        self.1.lock().unwrap().push(text(&current.slot(self.0)?));
        Ok(current.set_slot(self.0, Any::new("done").unwrap())?)
    }
    unserved!();
}

#[test]
fn slots_go_from_thread_to_request_to_thread_and_back() {
    let (mut there, mut here) = (Place::TCP.server(), Place::TCP.client());
    let (inner, outer) = (there.allocate_slot(), here.allocate_slot());
    let orb = there.server_interceptor(Arc::new(Carrier(inner))).build();
    let poa = orb.root_poa().unwrap();
    let servant = Arc::new(Slotted(inner, Mutex::default()));
    let object = poa.activate::<Probe>(servant.clone()).unwrap().as_object().to_string();
    poa.manager().activate().unwrap();
    let listening = Arc::new(Keeper::default());
    let client =
        here.client_interceptor(Arc::new(Carrier(outer))).client_interceptor(listening.clone()).build();
    let probe = probe(&client, &object);
    let current = client.current();
    assert_eq!(current.slot(outer).unwrap(), Any::EMPTY);

    probe.nothing().unwrap();
    assert_eq!(text(&current.slot(outer).unwrap()), "changed");
    current.set_slot(outer, Any::new("me").unwrap()).unwrap();
    probe.nothing().unwrap();
    current.set_slot(outer, Any::new("a future").unwrap()).unwrap();
    let pending = probe.nothing_async();
    current.set_slot(outer, Any::new("too late").unwrap()).unwrap();
    pending.wait().unwrap();
    // Another thread has slots of its own.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(current.slot(outer).unwrap(), Any::EMPTY);
            current.set_slot(outer, Any::new("another").unwrap()).unwrap();
            probe.nothing().unwrap();
        });
    });
    let heard = ["nothing", "me", "a future", "another"].map(|who| format!("{who}, received"));
    assert_eq!(*servant.1.lock().unwrap(), heard);
    assert_eq!(*listening.0.lock().unwrap(), ["done"; 4]);

    // The server's builder gave one slot, the client's too, and no builder a second.
    let second = Place::TCP.client().build().current();
    assert!(second.slot(outer).is_err());
    let mut more = Place::TCP.client();
    more.allocate_slot();
    let unknown = more.allocate_slot();
    assert_eq!(current.slot(unknown).unwrap_err().0, unknown);
    assert_eq!(
        SystemException::from(current.set_slot(unknown, Any::EMPTY).unwrap_err()).kind,
        Kind::BadParam
    );
}

/// Keeps what came beside replies.
#[derive(Default)]
struct Keeper(Mutex<Vec<String>>);

impl ClientRequestInterceptor for Keeper {
    fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(octets(info.reply_service_context(ID)));
        Ok(())
    }
}

#[test]
fn client_interceptors_see_ids_targets_and_forwards() {
    #[derive(Default)]
    struct Seen(Mutex<Vec<(u32, ObjectRef, Option<ObjectRef>)>>);
    impl ClientRequestInterceptor for Seen {
        fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
            self.0.lock().unwrap().push((info.request_id(), info.effective_target().clone(), None));
            Ok(())
        }
        fn receive_other(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
            let forward = info.forward_reference().cloned();
            self.0.lock().unwrap().push((info.request_id(), info.effective_target().clone(), forward));
            Ok(())
        }
    }
    let at = Place::TCP;
    let tape = Tape::default();
    let spy = Spy::new("X", &tape);
    let (_here, text) = serve(at.server().server_interceptor(spy.clone()), Arc::new(Servant::new(1)));
    let (_there, elsewhere) = serve(at.server(), Arc::new(Servant::new(1)));
    let seen = Arc::new(Seen::default());
    let client = at.client().client_interceptor(seen.clone()).build();
    let to = client.string_to_object(&elsewhere).unwrap().unwrap();
    spy.at("service_contexts", Act::Forward(to.clone()));
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    let seen = seen.0.lock().unwrap();
    let [(first, from, Some(forward)), (second, effective, None)] = &seen[..] else {
        panic!("a forward and a reply: {}", seen.len())
    };
    assert_ne!(first, second);
    assert_eq!((from, forward, effective), (probe.as_object(), &to, &to));
}

/// Adds two components by an adapter's policies, and notes what managers do.
#[derive(Default)]
struct Brander {
    states: Mutex<Vec<ManagerState>>,
    destroyed: Mutex<Vec<String>>,
    refuse: Option<&'static str>,
}

const BRAND: ComponentTag = ComponentTag(0x7a6f_0001);
const ASIDE: ComponentTag = ComponentTag(0x7a6f_0002);

impl IorInterceptor for Brander {
    fn establish_components(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException> {
        info.add_component(BRAND, info.adapter_name().join("/"));
        if info.policies().lifespan == Lifespan::Persistent {
            info.add_component_to_profile(ASIDE, "persistent", ProfileTag::MULTIPLE_COMPONENTS)?;
        }
        let strange = info.add_component_to_profile(ASIDE, "", ProfileTag(99)).unwrap_err();
        assert_eq!((strange.kind, strange.minor), (Kind::BadParam, Minor::omg(29)));
        Err(SystemException::Internal("is passed over"))
    }
    fn components_established(&self, info: &IorInfo<'_>) -> Result<(), SystemException> {
        match info.adapter_name().last().map(String::as_str) == self.refuse {
            true => Err(SystemException::NoPermission("not this one")),
            false => Ok(()),
        }
    }
    fn adapter_manager_state_changed(&self, _: &PoaManager, state: ManagerState) {
        self.states.lock().unwrap().push(state);
    }
    fn adapter_state_changed(&self, adapter_name: &[String], state: AdapterState) {
        assert_eq!(state, AdapterState::NonExistent);
        self.destroyed.lock().unwrap().push(adapter_name.join("/"));
    }
}

#[test]
fn adapters_references_have_the_components_that_interceptors_add() {
    /// What the effective target has to say.
    #[derive(Default)]
    struct Reader(Mutex<Vec<String>>);
    impl ClientRequestInterceptor for Reader {
        fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
            let said = [BRAND, ASIDE].map(|tag| octets(info.effective_component(tag).as_ref()));
            self.0.lock().unwrap().push(said.join(" "));
            Ok(())
        }
    }
    let brander = Arc::new(Brander { refuse: Some("refused"), ..Brander::default() });
    let orb = Place::TCP.server().ior_interceptor(brander.clone()).build();
    let root = orb.root_poa().unwrap();
    let refused = root.create_child("refused", PoaPolicies::new()).unwrap_err();
    assert!(refused.to_string().contains("not this one"), "{refused}");
    assert!(root.children().is_empty());
    let child = root.create_child("child", PoaPolicies::new().persistent()).unwrap();
    let [in_root, in_child] = [&root, &child].map(|poa| {
        let servant = Arc::new(Servant::new(1));
        poa.manager().activate().unwrap();
        poa.activate::<Probe>(servant).unwrap().as_object().to_string()
    });
    assert_eq!(*brander.states.lock().unwrap(), [ManagerState::Active; 2]);
    let reader = Arc::new(Reader::default());
    let client = Place::TCP.client().client_interceptor(reader.clone()).build();
    for reference in [&in_root, &in_child] {
        probe(&client, reference).nothing().unwrap();
    }
    assert_eq!(*reader.0.lock().unwrap(), ["RootPOA nothing", "RootPOA/child persistent"]);
    child.create_child("inner", PoaPolicies::new()).unwrap();
    assert!(brander.destroyed.lock().unwrap().is_empty());
    child.destroy(true, None).unwrap();
    assert_eq!(*brander.destroyed.lock().unwrap(), ["RootPOA/child/inner", "RootPOA/child"]);
}

#[test]
fn interceptors_see_that_a_poller_asks() {
    let tape = Tape::default();
    let (first, second) = (Spy::new("a", &tape), Spy::new("b", &tape));
    let (_server, ior) = serve(Place::TCP.server(), Arc::new(Servant::new(2)));
    let client =
        Place::TCP.client().client_interceptor(first.clone()).client_interceptor(second.clone()).build();
    let probe = probe(&client, &ior);

    let mut poller = probe.wait_async(1_000).poller();
    assert!(!poller.is_ready(Duration::ZERO));
    assert_eq!(tape.take(), ["a.send_request", "b.send_request", "a.send_poll", "b.send_poll"]);
    poller.get(PATIENCE).unwrap();
    let [.., last, end] = &tape.take()[..] else { panic!("two see each point") };
    assert!(last.starts_with("b.receive_reply") && end.starts_with("a.receive_reply"), "{last} {end}");
    assert!(!poller.is_ready(Duration::ZERO) && tape.take().is_empty(), "nobody asks for what was taken");

    // Who raises ends the request; the others see it.
    first.raises_at("send_poll");
    let mut poller = probe.wait_async(10_000).poller();
    let raised = poller.get(PATIENCE).unwrap_err();
    assert_eq!((raised.kind, raised.minor), (Kind::NoPermission, Minor(77)));
    let taken = tape.take();
    assert_eq!(taken[..3], ["a.send_request", "b.send_request", "a.send_poll"]);
    assert!(taken[3].starts_with("b.receive_exception") && taken[4].starts_with("a.receive_exception"));
    assert_eq!(taken.len(), 5);
}

#[test]
fn initializers_add_to_a_builder_and_see_the_orb() {
    struct Service(Tape);
    impl OrbInitializer for Service {
        fn pre_init(&self, builder: OrbBuilder) -> OrbBuilder {
            self.0.note("pre_init".into());
            builder.client_interceptor(Spy::new("A", &self.0))
        }
        fn post_init(&self, orb: &Orb) {
            self.0.note("post_init".into());
            let object = orb.string_to_object("corbaloc::127.0.0.1:1/x").unwrap().unwrap();
            orb.register_initial_reference("Service", &object);
        }
    }
    let tape = Tape::default();
    let (_server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let second = Spy::new("B", &tape);
    let builder = Place::TCP.client().initializer(Arc::new(Service(tape.clone())));
    let client = builder
        .initializer(Arc::new(move |builder: OrbBuilder| builder.client_interceptor(second.clone())))
        .build();
    assert_eq!(client.list_initial_services(), ["Service"]);
    probe(&client, &text).nothing().unwrap();
    let met =
        ["pre_init", "post_init", "A.send_request", "B.send_request", "B.receive_reply", "A.receive_reply"];
    assert_eq!(tape.take(), met);
}

#[test]
fn codecs_make_encapsulations_and_read_them() {
    use zorb::cdr::Version;
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let codec = Codec::new(version).unwrap();
        for value in [Any::new(&7i32).unwrap(), Any::new("text").unwrap(), Any::EMPTY] {
            let octets = codec.encode(&value).unwrap();
            assert_eq!(codec.decode(&octets).unwrap(), value);
            for end in 0..octets.len() {
                let cut = codec.decode(&octets.slice(..end));
                assert!(matches!(cut, Err(CodecError::FormatMismatch(_))), "{end} octets of {value:?}");
            }
            let octets = codec.encode_value(&value).unwrap();
            assert_eq!(codec.decode_value(&octets, value.type_code().clone()).unwrap(), value);
        }
    }
    // By hand: big-endian, three octets of padding, a long.
    let codec = Codec::new(Version::V1_2).unwrap();
    let long = Any::new(&0i32).unwrap().type_code().clone();
    let by_hand = bytes::Bytes::from_static(&[0, 0, 0, 0, 0, 0, 1, 2]);
    assert_eq!(codec.decode_value(&by_hand, long.clone()).unwrap().get::<i32>().unwrap(), 258);
    let short = codec.decode_value(&by_hand.slice(..7), long);
    assert!(matches!(short, Err(CodecError::TypeMismatch(_))));
    assert!(matches!(codec.decode(&bytes::Bytes::from_static(&[9])), Err(CodecError::FormatMismatch(_))));
    assert!(matches!(Codec::new(Version { major: 1, minor: 7 }), Err(CodecError::UnknownEncoding(_))));
}
