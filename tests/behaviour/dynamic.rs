//! Calls that no stub was generated for, and servants without a skeleton, against those that were: neither can tell.

use std::sync::{Arc, Mutex};

use zorb::dynamic::{
    DynamicError, DynamicReply, DynamicRequest, DynamicServant, Mode, Request, Results, Signature,
    dynamic_servant,
};
use zorb::poa::PoaPolicies;
use zorb::policy::{Policies, SyncScope};
use zorb::rt::Described;
use zorb::{Any, Call, Completion, DynAny, Interface, Kind, Minor, ObjectRef, SystemException, TypeCode};
use zorb_tests::exchange::{Listener, ListenerServant, Session};
use zorb_tests::exchanged;
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, Refused, Special, probe as errors};

use crate::fixture::{Place, probe, serve};

fn refused() -> TypeCode {
    Refused::type_code()
}

fn divide() -> Arc<Signature> {
    let long = i32::type_code();
    let signature = Signature::new("divide").takes("dividend", long.clone()).takes("divisor", long.clone());
    Arc::new(signature.parameter("remainder", Mode::Out, long.clone()).gives(long).raises(refused()))
}

fn greet() -> Arc<Signature> {
    Arc::new(Signature::new("greet").takes("name", TypeCode::string(0)).gives(TypeCode::string(0)))
}

fn nothing() -> Arc<Signature> {
    Arc::new(Signature::new("nothing"))
}

fn echo() -> Arc<Signature> {
    let octets = zorb::Sequence::<u8>::type_code();
    Arc::new(Signature::new("echo").takes("data", octets.clone()).gives(octets))
}

fn note() -> Arc<Signature> {
    Arc::new(Signature::new("note").takes("number", i32::type_code()).oneway())
}

fn wait() -> Arc<Signature> {
    Arc::new(Signature::new("wait").takes("milliseconds", u32::type_code()))
}

fn long(number: i32) -> Any {
    Any::new(&number).unwrap()
}

fn text(text: &str) -> Any {
    Any::new(&text.to_owned()).unwrap()
}

fn request(object: &impl Interface, signature: Arc<Signature>) -> Request {
    Request::new(object.as_object(), signature).unwrap()
}

fn system(error: DynamicError) -> SystemException {
    match error {
        DynamicError::System(exception) => exception,
        DynamicError::User(exception) => panic!("a user exception: {exception:?}"),
    }
}

fn results_and_exceptions_come_back(at: Place) {
    let (_server, reference) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &reference);

    assert_eq!(request(&probe, nothing()).invoke(&[]).unwrap(), Results::nothing());
    let greeting = request(&probe, greet()).invoke(&[text("Grüße, 東京")]).unwrap();
    assert_eq!(greeting.result.get::<String>().unwrap(), "hello, Grüße, 東京");

    let division = request(&probe, divide());
    let quotient = division.invoke(&[long(17), long(5)]).unwrap();
    assert_eq!(quotient, Results::of(long(3)).and(long(2)));
    let DynamicError::User(exception) = division.invoke(&[long(1), long(0)]).unwrap_err() else {
        panic!("a system exception")
    };
    assert_eq!(exception.get::<Refused>().unwrap(), Refused { why: "division by zero".into(), code: 7 });

    for size in [0, 1, 1000, 20_000, 300_000] {
        let data = zorb::Sequence::from((0..size).map(|index| index as u8).collect::<Vec<_>>());
        let echoed = request(&probe, echo()).invoke(&[Any::new(&data).unwrap()]).unwrap();
        assert_eq!(echoed.result.get::<zorb::Sequence<u8>>().unwrap(), data, "{size} octets");
    }

    let panicked = system(request(&probe, Arc::new(Signature::new("panic"))).invoke(&[]).unwrap_err());
    assert_eq!(panicked.kind, Kind::Unknown);
    let missing = system(request(&probe, Arc::new(Signature::new("nowhere"))).invoke(&[]).unwrap_err());
    assert_eq!(missing.kind, Kind::BadOperation);
}

fn deferred_calls_are_awaited_polled_and_waited_for(at: Place) {
    let (_server, reference) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &reference);

    let slow = request(&probe, wait()).send_deferred(vec![Any::new(&30_u32).unwrap()]);
    let mut greeting = request(&probe, greet()).send_deferred(vec![text("you")]);
    while !greeting.poll_response() {
        std::thread::yield_now();
    }
    assert!(greeting.poll_response(), "once there it stays there");
    let greeting = greeting.get_response().unwrap();
    assert_eq!(greeting.result.get::<String>().unwrap(), "hello, you");
    assert_eq!(slow.get_response().unwrap(), Results::nothing());

    let failed = request(&probe, divide()).send_deferred(vec![long(1), long(0)]);
    assert!(matches!(failed.get_response(), Err(DynamicError::User(_))));
    // Nothing leaves of what does not fit, and waiting for it tells.
    let unfit = system(request(&probe, greet()).send_deferred(vec![long(1)]).get_response().unwrap_err());
    assert_eq!((unfit.kind, unfit.completed), (Kind::BadParam, Completion::No));
}

fn oneways_arrive_in_order(at: Place) {
    let (_server, reference) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &reference);
    let confirmed = probe.as_object().with_policies(Policies::new().sync_scope(SyncScope::WithTarget));

    let note = Request::new(&confirmed, note()).unwrap();
    for number in 0..5 {
        note.send_oneway(&[long(number)]).unwrap();
    }
    assert_eq!(note.invoke(&[long(5)]).unwrap(), Results::nothing());
    assert_eq!(note.send_deferred(vec![long(6)]).get_response().unwrap(), Results::nothing());
    assert_eq!(probe.noted().unwrap()[..], [0, 1, 2, 3, 4, 5, 6]);
    // What is not declared a oneway may be sent as one: its result is not waited for.
    Request::new(&confirmed, divide()).unwrap().send_oneway(&[long(1), long(0)]).unwrap();
}

#[test]
fn what_does_not_fit_the_signature_does_not_leave() {
    let (_server, reference) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Place::TCP.client().build();
    let probe = probe(&client, &reference);
    let told = |arguments: &[Any]| {
        let exception = system(request(&probe, divide()).invoke(arguments).unwrap_err());
        assert_eq!((exception.kind, exception.completed), (Kind::BadParam, Completion::No));
        exception.to_string()
    };
    assert!(told(&[long(1)]).contains("divide: 1 values were given for 2 parameters"));
    let told = told(&[long(1), text("x")]);
    assert!(told.contains("divide: divisor is a long, and the value given a string"), "{told}");

    let no_exception = Arc::new(Signature::new("x").raises(TypeCode::string(0)));
    assert_eq!(Request::new(probe.as_object(), no_exception).unwrap_err().kind, Kind::BadParam);
    let talkative = Arc::new(Signature::new("x").gives(TypeCode::string(0)).oneway());
    assert_eq!(Request::new(probe.as_object(), talkative).unwrap_err().kind, Kind::BadParam);
    // A bound that the type has and the value does not keep.
    let bounded = Signature::new("greet").takes("name", TypeCode::string(3)).gives(TypeCode::string(0));
    let exception = system(request(&probe, Arc::new(bounded)).invoke(&[text("four")]).unwrap_err());
    assert_eq!(exception.kind, Kind::BadParam, "{exception}");
}

/// Answers as the generated probe does, as far as it goes.
struct Dynamic {
    noted: Mutex<Vec<i32>>,
}

impl DynamicServant for Dynamic {
    fn repository_id(&self) -> &str {
        Special::INFO.id
    }

    fn is_a(&self, id: &str) -> bool {
        Special::INFO.is_a(id)
    }

    fn invoke(&self, request: DynamicRequest) {
        let signature = match request.operation() {
            "nothing" => nothing(),
            "greet" => greet(),
            "divide" => divide(),
            "echo" => echo(),
            "note" => note(),
            // Says what is not so.
            "_get_label" => Arc::new(Signature::new("_get_label").gives(TypeCode::string(0))),
            "panic" => panic!("on purpose"),
            "extra" => {
                let refused = SystemException::NoPermission("not today").minor(Minor(77));
                return request.system_exception(refused);
            }
            // Forgotten.
            "noted" => return,
            _ => return request.unknown_operation(),
        };
        let Some((reply, arguments)) = request.arguments(&signature) else { return };
        let operation = reply.signature().operation.clone();
        match &*operation {
            // From another thread, later.
            "greet" => {
                let _ = std::thread::spawn(move || {
                    let name = arguments[0].get::<String>().unwrap();
                    reply.results(Results::of(text(&format!("hello, {name}"))));
                });
            }
            "divide" => reply.finish(division(&arguments)),
            "echo" => reply.results(Results::of(arguments[0].clone())),
            "note" => {
                self.noted.lock().unwrap().push(arguments[0].get().unwrap());
                reply.results(Results::nothing());
            }
            "_get_label" => reply.results(Results::of(long(1))),
            _ => reply.results(Results::nothing()),
        }
    }
}

fn division(arguments: &[Any]) -> Result<Results, DynamicError> {
    let [dividend, divisor] = [0, 1].map(|at| arguments[at].get::<i32>().unwrap());
    match dividend.checked_div(divisor) {
        Some(quotient) => Ok(Results::of(long(quotient)).and(long(dividend % divisor))),
        None => {
            let refused = Refused { why: "division by zero".into(), code: 7 };
            Err(DynamicError::User(Any::new(&refused).unwrap()))
        }
    }
}

fn stubs_call_a_servant_without_a_skeleton(at: Place) {
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let servant = Arc::new(Dynamic { noted: Mutex::default() });
    let object = poa.activate_servant(dynamic_servant(servant.clone()), Special::INFO.id).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let here = client.string_to_object(&object.to_string()).unwrap().unwrap();

    let untyped = ObjectRef::new(&client, zorb::giop::Ior { type_id: String::new(), ..here.ior().clone() });
    let special = Special::narrow(&untyped.unwrap()).unwrap().expect("it says that it is one");
    assert!(!here.is_a("IDL:other:1.0").unwrap());
    assert!(!here.non_existent().unwrap());

    special.nothing().unwrap();
    assert_eq!(special.greet("東京").unwrap(), "hello, 東京");
    assert_eq!(special.divide(17, 5).unwrap(), (3, 2));
    let refused = special.divide(1, 0).unwrap_err();
    assert_eq!(refused, errors::DivideError::Refused(Refused { why: "division by zero".into(), code: 7 }));
    let data: Vec<u8> = (0..100_000).map(|index| index as u8).collect();
    assert_eq!(special.echo(&data).unwrap()[..], data[..]);
    assert_eq!(special.extra().unwrap_err().minor, Minor(77));
    assert_eq!(special.panic().unwrap_err().kind, Kind::Unknown);
    assert_eq!(special.noted().unwrap_err().kind, Kind::NoResponse);
    assert_eq!(special.waiting().unwrap_err().kind, Kind::BadOperation);
    let unfit = special.label().unwrap_err();
    assert_eq!((unfit.kind, unfit.completed), (Kind::BadParam, Completion::Yes), "{unfit}");

    special.note(3).unwrap();
    special.note(4).unwrap();
    special.nothing().unwrap();
    assert_eq!(*servant.noted.lock().unwrap(), [3, 4]);
    orb.shutdown(true, PATIENCE);
}

#[test]
fn an_exception_that_is_not_declared_is_unknown() {
    struct Wild;
    impl DynamicServant for Wild {
        fn repository_id(&self) -> &str {
            Probe::INFO.id
        }
        fn invoke(&self, request: DynamicRequest) {
            let undeclared = Arc::new(Signature::new("divide"));
            let Some((reply, _)) = request.arguments(&undeclared) else { return };
            reply.user_exception(Any::new(&Refused { why: String::new(), code: 0 }).unwrap());
        }
    }
    let orb = Place::TCP.server().build();
    let poa = orb.root_poa().unwrap();
    let object = poa.activate_servant(dynamic_servant(Arc::new(Wild)), Probe::INFO.id).unwrap();
    poa.manager().activate().unwrap();
    let client = Place::TCP.client().build();
    let exception = system(
        request(&probe(&client, &object.to_string()), Arc::new(Signature::new("divide")))
            .invoke(&[])
            .unwrap_err(),
    );
    assert_eq!((exception.kind, exception.minor), (Kind::Unknown, Minor::omg(1)));
}

#[test]
fn arguments_that_are_none_are_answered_with_marshal() {
    let orb = Place::TCP.server().build();
    let poa = orb.root_poa().unwrap();
    let servant = dynamic_servant(Arc::new(Dynamic { noted: Mutex::default() }));
    let object = poa.activate_servant(servant, Special::INFO.id).unwrap();
    poa.manager().activate().unwrap();
    let client = Place::TCP.client().build();
    // Two longs are expected.
    let short = Signature::new("divide").takes("dividend", i32::type_code());
    let probe = probe(&client, &object.to_string());
    let exception = system(request(&probe, Arc::new(short)).invoke(&[long(1)]).unwrap_err());
    assert_eq!((exception.kind, exception.completed), (Kind::Marshal, Completion::No), "{exception}");
}

#[test]
fn one_servant_answers_for_objects_that_nobody_activated() {
    struct Echo;
    impl DynamicServant for Echo {
        fn repository_id(&self) -> &str {
            "IDL:Named:1.0"
        }
        fn invoke(&self, request: DynamicRequest) {
            let signature = Arc::new(Signature::new("name").gives(TypeCode::string(0)));
            let Some((reply, _)) = request.arguments(&signature) else { return };
            let name = |call: &Call| String::from_utf8_lossy(call.object_id()).into_owned();
            let name = text(&name(reply.call()));
            reply.results(Results::of(name));
        }
    }
    let orb = Place::TCP.server().build();
    let root = orb.root_poa().unwrap();
    let policies = PoaPolicies::new().user_ids().non_retain().multiple_ids().default_servant();
    let poa = root.create_child("named", policies).unwrap();
    poa.set_default_skeleton(dynamic_servant(Arc::new(Echo))).unwrap();
    poa.manager().activate().unwrap();
    let client = Place::TCP.client().build();
    for id in ["first", "second"] {
        let text = poa.create_reference_of(id, "IDL:Named:1.0").unwrap().to_string();
        let object = client.string_to_object(&text).unwrap().unwrap();
        assert_eq!(object.type_id(), "IDL:Named:1.0");
        let name = Arc::new(Signature::new("name").gives(TypeCode::string(0)));
        let results = Request::new(&object, name).unwrap().invoke(&[]).unwrap();
        assert_eq!(results.result.get::<String>().unwrap(), id);
    }
}

#[test]
fn the_interface_is_described_by_the_servers_repository() {
    /// Knows one interface, which is described by itself.
    struct Repository;
    impl DynamicServant for Repository {
        fn repository_id(&self) -> &str {
            "IDL:omg.org/CORBA/Repository:1.0"
        }
        fn invoke(&self, request: DynamicRequest) {
            let object =
                TypeCode::build(|to| to.interface("IDL:omg.org/CORBA/Contained:1.0", "Contained")).unwrap();
            let signature =
                Signature::new("lookup_id").takes("id", TypeCode::string(0)).gives(object.clone());
            let Some((reply, arguments)) = request.arguments(&Arc::new(signature)) else { return };
            let known = arguments[0].get::<String>().unwrap() == Probe::INFO.id;
            let found = known.then(|| reply_object(&reply));
            reply.results(Results::of(ObjectRef::to_any_of(found.as_ref(), object).unwrap()));
        }
    }
    fn reply_object(reply: &DynamicReply) -> ObjectRef {
        reply.call().orb().resolve_initial_references("InterfaceRepository").unwrap()
    }
    let (server, reference) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Place::TCP.client().build();
    let probe = probe(&client, &reference);
    let none = probe.as_object().get_interface().unwrap_err();
    assert_eq!(none.kind, Kind::IntfRepos, "{none}");

    let poa = server.root_poa().unwrap();
    let repository =
        poa.activate_servant(dynamic_servant(Arc::new(Repository)), "IDL:Repository:1.0").unwrap();
    server.register_initial_reference("InterfaceRepository", &repository);
    let found = probe.as_object().get_interface().unwrap().expect("it is known");
    assert_eq!(found.to_string(), repository.to_string());
}

/// `struct Entry { string name; sequence<Object> objects; };`
fn entry() -> TypeCode {
    TypeCode::build(|to| {
        let (name, object) = (to.string(0), to.interface("IDL:omg.org/CORBA/Object:1.0", "Object"));
        let objects = to.sequence(object, 0);
        to.structure("IDL:Entry:1.0", "Entry", |_| vec![("name", name), ("objects", objects)])
    })
    .unwrap()
}

fn references_are_put_into_a_dyn_any_and_taken_out(at: Place) {
    /// Turns the objects of an entry round.
    struct Turn;
    impl DynamicServant for Turn {
        fn repository_id(&self) -> &str {
            "IDL:Turn:1.0"
        }
        fn invoke(&self, request: DynamicRequest) {
            let signature = Signature::new("turn").takes("entry", entry()).gives(entry());
            let Some((reply, arguments)) = request.arguments(&Arc::new(signature)) else { return };
            let mut entry = DynAny::from_any(&arguments[0]).unwrap();
            let objects = entry.member("objects").unwrap();
            let turned: Vec<_> = objects.elements().unwrap().into_iter().rev().collect();
            objects.set_elements(&turned).unwrap();
            entry.member("name").unwrap().insert_string("turned").unwrap();
            reply.results(Results::of(entry.to_any().unwrap()));
        }
    }
    let (server, reference) = serve(at.server(), Arc::new(Servant::new(1)));
    let turn = server.root_poa().unwrap().activate_servant(dynamic_servant(Arc::new(Turn)), "IDL:Turn:1.0");
    let client = at.client().build();
    let turn = client.string_to_object(&turn.unwrap().to_string()).unwrap().unwrap();
    let probe = probe(&client, &reference);

    let mut sent = DynAny::new(&entry()).unwrap();
    let objects = sent.member("objects").unwrap();
    objects.push().unwrap();
    let of = TypeCode::build(|to| to.interface(Probe::INFO.id, "Probe")).unwrap();
    let some = ObjectRef::to_any_of(Some(probe.as_object()), of).unwrap();
    objects.push().unwrap().insert_reference(&some).unwrap();
    let turns = Arc::new(Signature::new("turn").takes("entry", entry()).gives(entry()));
    let results = Request::new(&turn, turns).unwrap().invoke(&[sent.to_any().unwrap()]).unwrap();

    let mut received = DynAny::from_any(&results.result).unwrap();
    assert_eq!(received.get::<String>().unwrap(), "turned");
    let objects = received.member("objects").unwrap();
    assert_eq!(objects.component_count(), 2);
    let found = ObjectRef::from_any(&objects.reference().unwrap(), &client).unwrap().expect("it is not nil");
    assert_eq!(Probe::from_object(found).greet("again").unwrap(), "hello, again");
    assert!(objects.next());
    assert!(ObjectRef::from_any(&objects.reference().unwrap(), &client).unwrap().is_none());
}

over!(
    references_are_put_into_a_dyn_any_and_taken_out,
    results_and_exceptions_come_back,
    deferred_calls_are_awaited_polled_and_waited_for,
    oneways_arrive_in_order,
    stubs_call_a_servant_without_a_skeleton,
);

/// Says nothing of interest: what it is asked for is its interface.
struct Deaf;

impl ListenerServant for Deaf {
    fn told(&self, _: &Call, _: &str, by: Option<Session>) -> Result<Option<Session>, SystemException> {
        Ok(by)
    }
}

/// A server without any IDL beside it describes its objects to who knows nothing of them, by what was compiled into it.
#[test]
fn a_server_describes_its_objects_by_the_idl_that_it_carries() {
    let server = zorb::Orb::builder().listen("tcp:127.0.0.1:0").build();
    let repository = zorb_dynamic::Repository::of_carried(&[&exchanged::CARRIED_IDL]).unwrap();
    zorb_dynamic::ifr::serve(&server, Arc::new(repository)).unwrap();
    let poa = server.root_poa().unwrap();
    let listener = poa.activate::<Listener>(Arc::new(Deaf)).unwrap();
    poa.manager().activate().unwrap();

    let client = zorb::Orb::builder().build();
    let object = client.string_to_object(&listener.as_object().to_string()).unwrap().unwrap();
    let definition = object.get_interface().unwrap().expect("its server knows it");
    let interface = zorb_dynamic::ifr::interface(&definition).unwrap().unwrap();
    assert_eq!((&*interface.id, interface.operations().len()), ("IDL:exchange/Listener:1.0", 1));
    let told = interface.operation("told").unwrap();
    let nobody = ObjectRef::to_any_of(None, told.parameters[1].ty.clone()).unwrap();
    let results = request(&listener, told).invoke(&[text("x"), nobody.clone()]);
    assert_eq!(results.unwrap().result, nobody);
}
