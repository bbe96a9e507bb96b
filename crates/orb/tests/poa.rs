//! The object adapter over connections: policies, managers, servant managers, restarts.

mod probe;

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use probe::{PATIENCE, Probe, adds_one, does, end, orb, orb_at, server_and_client};
use zorb_orb::poa::{
    AdapterActivator, Cookie, Declined, Etherealized, ManagerState, ObjectId, Poa, PoaError, PoaPolicies,
    ServantActivator, ServantLocator, servant,
};
use zorb_orb::rt::Servant;
use zorb_orb::{Call, Kind, Minor, SystemException};

/// Waits for something that another thread brings about.
fn wait_for(what: &str, done: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while !done() {
        assert!(std::time::Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn raised<R: std::fmt::Debug>(result: Result<R, SystemException>) -> (Kind, Minor) {
    let exception = result.expect_err("an exception was to come");
    (exception.kind, exception.minor)
}

#[test]
fn an_object_is_called_by_message_and_in_place() {
    let (poa, client) = server_and_client();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe: Probe = poa
        .activate::<Probe>(does({
            let (seen, poa) = (seen.clone(), poa.clone());
            move |cx, number| {
                assert_eq!(cx.adapter().as_ref(), Some(&poa));
                seen.lock().unwrap().push((cx.object_id().to_vec(), cx.peer().is_some()));
                Ok(number * 2)
            }
        }))
        .expect("a new servant");
    assert_eq!(probe.poke(4), Ok(8));
    assert_eq!(probe.through(&client).poke(5), Ok(10));
    let id = poa.reference_to_id(&probe).expect("its own").as_bytes().to_vec();
    assert_eq!(*seen.lock().unwrap(), [(id.clone(), false), (id.clone(), true)]);
    poa.deactivate(&id).expect("it is active");
    for probe in [&probe, &probe.through(&client)] {
        assert_eq!(raised(probe.poke(1)).0, Kind::ObjectNotExist);
        assert_eq!(probe.0.non_existent(), Ok(true));
    }
    end(&client);
    end(poa.orb());
}

#[test]
fn a_new_manager_holds_requests_until_it_is_activated() {
    let server = orb();
    let poa = server.root_poa().expect("a new ORB");
    let probe: Probe = poa.activate::<Probe>(adds_one()).expect("a new servant");
    assert_eq!(poa.manager().state(), ManagerState::Holding);
    let client = orb();
    thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|number| {
                let probe = if number == 0 { probe.clone() } else { probe.through(&client) };
                scope.spawn(move || probe.poke(number))
            })
            .collect();
        thread::sleep(Duration::from_millis(50));
        assert!(calls.iter().all(|call| !call.is_finished()));
        poa.manager().activate().expect("it is not inactive");
        for (number, call) in (0..).zip(calls) {
            assert_eq!(call.join().expect("no panic"), Ok(number + 1));
        }
    });
    end(&client);
    end(&server);
}

#[test]
fn a_manager_that_discards_or_is_inactive_turns_away_all_its_adapters() {
    let (poa, client) = server_and_client();
    let child = poa.create_child_with("child", PoaPolicies::new(), &poa.manager()).expect("a new name");
    let apart = poa.create_child("apart", PoaPolicies::new()).expect("a new name");
    apart.manager().activate().expect("it is new");
    let probes: Vec<Probe> =
        [&poa, &child].map(|poa| poa.activate::<Probe>(adds_one()).expect("a new servant")).into();
    let other = apart.activate::<Probe>(adds_one()).expect("a new servant").through(&client);
    poa.manager().discard_requests(Some(PATIENCE)).expect("nothing runs");
    for probe in &probes {
        assert_eq!(raised(probe.poke(1)), (Kind::Transient, Minor::omg(1)));
        assert_eq!(raised(probe.through(&client).poke(1)), (Kind::Transient, Minor::omg(1)));
    }
    poa.manager().activate().expect("it may");
    assert_eq!(probes[1].through(&client).poke(1), Ok(2));
    poa.manager().deactivate(true, Some(PATIENCE)).expect("nothing runs");
    for probe in &probes {
        assert_eq!(raised(probe.poke(1)), (Kind::ObjAdapter, Minor::omg(1)));
        assert_eq!(raised(probe.through(&client).poke(1)), (Kind::ObjAdapter, Minor::omg(1)));
    }
    assert_eq!(other.poke(1), Ok(2));
    assert_eq!(poa.manager().activate(), Err(PoaError::AdapterInactive));
    end(&client);
    end(poa.orb());
}

/// Writes down what it is asked for.
struct Lists {
    log: Arc<Mutex<Vec<String>>>,
    /// Its servants wait here twice when poked with 0.
    gate: Arc<Barrier>,
}

impl ServantActivator for Lists {
    fn incarnate(&self, _: &Poa, id: &ObjectId) -> Result<Servant, Declined> {
        self.log.lock().unwrap().push(format!("incarnate {id}"));
        if id.as_text() == Some("none") {
            return Err(SystemException::ObjectNotExist("there never was").into());
        }
        assert_ne!(id.as_text(), Some("panic"));
        thread::sleep(Duration::from_millis(20));
        let gate = self.gate.clone();
        Ok(servant::<Probe>(does(move |_: &Call, number| {
            if number == 0 {
                gate.wait();
                gate.wait();
            }
            Ok(number + 1)
        })))
    }

    fn etherealize(&self, _: &Poa, id: &ObjectId, _: Servant, circumstances: Etherealized) {
        assert!(!circumstances.remaining_activations);
        self.log.lock().unwrap().push(format!("etherealize {id} {}", circumstances.cleanup_in_progress));
    }
}

#[test]
fn an_activator_incarnates_once_and_gets_back_what_no_request_uses() {
    let (root, client) = server_and_client();
    let policies = PoaPolicies::new().user_ids().servant_manager();
    let poa = root.create_child_with("kept", policies, &root.manager()).expect("a new name");
    let (log, gate) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Barrier::new(2)));
    let make = |id| poa.create_reference_with_id::<Probe>(id).expect("any id").through(&client);
    assert_eq!(raised(make("a").poke(1)), (Kind::ObjAdapter, Minor::omg(4)));
    let lists = Arc::new(Lists { log: log.clone(), gate: gate.clone() });
    poa.set_servant_activator(lists.clone()).expect("the first");
    assert_eq!(poa.set_servant_activator(lists), Err(PoaError::ServantManagerSet));
    let a = make("a");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(a.poke(1), Ok(2)));
        }
    });
    assert_eq!(*log.lock().unwrap(), [r#"incarnate "a""#]);
    assert_eq!(raised(make("none").poke(1)).0, Kind::ObjectNotExist);
    assert_eq!(raised(make("panic").poke(1)).0, Kind::Unknown);
    log.lock().unwrap().clear();

    thread::scope(|scope| {
        let running = scope.spawn(|| a.poke(0));
        gate.wait();
        poa.deactivate("a").expect("it is active");
        assert_eq!(poa.deactivate("a"), Err(PoaError::ObjectNotActive { id: "a".into() }));
        let next = scope.spawn(|| make("a").poke(5));
        thread::sleep(Duration::from_millis(50));
        assert!(log.lock().unwrap().is_empty(), "a request still runs");
        assert!(matches!(
            poa.activate_with_id::<Probe>("a", adds_one()),
            Err(PoaError::ObjectAlreadyActive { .. })
        ));
        gate.wait();
        assert_eq!(running.join().expect("no panic"), Ok(1));
        assert_eq!(next.join().expect("no panic"), Ok(6));
    });
    assert_eq!(*log.lock().unwrap(), [r#"etherealize "a" false"#, r#"incarnate "a""#]);
    log.lock().unwrap().clear();
    poa.destroy(true, Some(PATIENCE)).expect("nothing runs");
    assert_eq!(*log.lock().unwrap(), [r#"etherealize "a" true"#]);
    assert_eq!(raised(a.poke(1)).0, Kind::ObjectNotExist);
    end(&client);
    end(root.orb());
}

struct Finds {
    after: Mutex<Vec<(String, i32)>>,
    elsewhere: Probe,
}

impl ServantLocator for Finds {
    fn preinvoke(&self, _: &Poa, id: &ObjectId, operation: &str) -> Result<(Servant, Cookie), Declined> {
        match id.as_text() {
            Some("moved") => Err(Declined::forward(&self.elsewhere)),
            Some("moved for good") => Err(Declined::forward_permanently(&self.elsewhere)),
            _ => {
                assert_eq!(operation, "poke");
                let length = id.as_bytes().len() as i32;
                Ok((servant::<Probe>(does(move |_: &Call, number| Ok(number + length))), Box::new(length)))
            }
        }
    }

    fn postinvoke(&self, _: &Poa, id: &ObjectId, operation: &str, cookie: Cookie, _: Servant) {
        let length = *cookie.downcast::<i32>().expect("what preinvoke gave");
        self.after.lock().unwrap().push((format!("{id} {operation}"), length));
    }
}

#[test]
fn a_locator_finds_a_servant_for_each_request_or_sends_it_on() {
    let (root, client) = server_and_client();
    let elsewhere = root.activate::<Probe>(adds_one()).expect("a new servant");
    let policies = PoaPolicies::new().user_ids().servant_manager().non_retain();
    let poa = root.create_child_with("found", policies, &root.manager()).expect("a new name");
    let finds = Arc::new(Finds { after: Mutex::default(), elsewhere });
    poa.set_servant_locator(finds.clone()).expect("the first");
    let make = |id| poa.create_reference_with_id::<Probe>(id).expect("any id");
    assert_eq!(make("abc").poke(1), Ok(4));
    assert_eq!(make("abcd").through(&client).poke(1), Ok(5));
    wait_for("postinvoke", || finds.after.lock().unwrap().len() == 2);
    assert_eq!(*finds.after.lock().unwrap(), [(r#""abc" poke"#.into(), 3), (r#""abcd" poke"#.into(), 4)]);
    for id in ["moved", "moved for good"] {
        assert_eq!(make(id).poke(1), Ok(2));
        assert_eq!(make(id).through(&client).poke(1), Ok(2));
    }
    assert!(matches!(poa.activate_with_id::<Probe>("x", adds_one()), Err(PoaError::WrongPolicy { .. })));
    assert!(matches!(poa.id_to_servant("x"), Err(PoaError::WrongPolicy { .. })));
    end(&client);
    end(root.orb());
}

#[test]
fn a_default_servant_is_every_object_that_is_not_active() {
    let (root, client) = server_and_client();
    let policies = PoaPolicies::new().user_ids().multiple_ids().default_servant();
    let poa = root.create_child_with("all", policies, &root.manager()).expect("a new name");
    let make = |id| poa.create_reference_with_id::<Probe>(id).expect("any id").through(&client);
    assert_eq!(raised(make("abc").poke(1)), (Kind::ObjAdapter, Minor::omg(3)));
    assert_eq!(poa.default_servant().err(), Some(PoaError::NoServant));
    poa.set_default_servant::<Probe>(does(|cx: &Call, number| Ok(number + cx.object_id().len() as i32)))
        .expect("the policy is right");
    assert_eq!(make("abc").poke(1), Ok(4));
    poa.activate_with_id::<Probe>("abc", adds_one()).expect("it is not active");
    assert_eq!(make("abc").poke(1), Ok(2));
    assert_eq!(make("ab").poke(1), Ok(3));
    poa.deactivate("abc").expect("it is active");
    assert_eq!(make("abc").poke(1), Ok(4));
    end(&client);
    end(root.orb());
}

#[test]
fn servants_ids_and_references_lead_to_each_other() {
    let (root, client) = server_and_client();
    let it = adds_one();
    let id = root.servant_to_id::<Probe>(it.clone()).expect("the root activates implicitly");
    assert_eq!(root.servant_to_id::<Probe>(it.clone()), Ok(id.clone()));
    let probe: Probe = root.servant_to_reference(it.clone()).expect("it is active");
    assert_eq!(probe.through(&client).poke(1), Ok(2));
    assert_eq!(root.reference_to_id(&probe), Ok(id.clone()));
    assert_eq!(root.activate::<Probe>(it.clone()), Err(PoaError::ServantAlreadyActive { id: id.clone() }));
    assert!(root.id_to_reference(&id).expect("it is active").is_equivalent(&probe.0));
    let found = root.reference_to_servant(&probe).expect("it is active");
    assert!(Arc::ptr_eq(&found, &root.id_to_servant(&id).expect("it is active")));

    let child = root.create_child("child", PoaPolicies::new()).expect("a new name");
    assert_eq!(child.reference_to_id(&probe), Err(PoaError::WrongAdapter));
    assert_eq!(child.servant_to_id::<Probe>(it.clone()), Err(PoaError::ServantNotActive));
    assert_eq!(child.id_to_servant("x").err(), Some(PoaError::ObjectNotActive { id: "x".into() }));
    assert_eq!(child.create_reference_with_id::<Probe>("x"), Err(PoaError::ForeignId { id: "x".into() }));
    let early = child.create_reference::<Probe>().expect("ids are the system's");
    child.manager().activate().expect("it is new");
    assert_eq!(raised(early.through(&client).poke(1)).0, Kind::ObjectNotExist);
    let id = child.reference_to_id(&early).expect("its own");
    child.activate_with_id::<Probe>(&id, it).expect("the id is its own");
    assert_eq!(early.through(&client).poke(1), Ok(2));
    assert_eq!(root.children(), std::slice::from_ref(&child));
    assert_eq!(child.parent().as_ref(), Some(&root));
    assert_eq!(root.find_child("child", false).as_ref(), Ok(&child));
    end(&client);
    end(root.orb());
}

/// Makes the adapters that it is asked for, each with a servant that says how many were made.
struct Makes {
    made: AtomicI32,
}

impl AdapterActivator for Makes {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException> {
        if name == "broken" {
            return Err(SystemException::Internal("no disk"));
        }
        if name == "none" {
            return Ok(false);
        }
        let made = self.made.fetch_add(1, Ordering::SeqCst) + 1;
        let poa = parent.create_child_with(name, persistent(), &parent.manager())?;
        // Requests that wait for the adapter must not meet it half made.
        thread::sleep(Duration::from_millis(20));
        if name == "inner" {
            poa.activate_with_id::<Probe>("it", does(move |_: &Call, number| Ok(number + made)))?;
        } else {
            poa.set_adapter_activator(Some(Arc::new(Makes { made: AtomicI32::new(made) })));
        }
        Ok(true)
    }
}

fn persistent() -> PoaPolicies {
    PoaPolicies::new().persistent().user_ids()
}

#[test]
fn a_persistent_reference_works_again_after_a_restart_and_a_transient_one_does_not() {
    let (first, client) = server_and_client();
    let port = first.orb().endpoints();
    let outer = first.create_child_with("outer", persistent(), &first.manager()).expect("a new name");
    let inner = outer.create_child_with("inner", persistent(), &first.manager()).expect("a new name");
    let lasting = inner.activate_with_id::<Probe>("it", adds_one()).expect("a new id").through(&client);
    let fleeting = first.activate::<Probe>(adds_one()).expect("a new servant").through(&client);
    let missing = outer.create_reference_with_id::<Probe>("it").expect("any id").through(&client);
    assert!(port.is_empty(), "it listens when the first reference is made");
    let endpoint = first.orb().endpoints()[0].to_string();
    assert_eq!([lasting.poke(1), fleeting.poke(1)], [Ok(2), Ok(2)]);
    end(first.orb());

    let server = orb_at(&endpoint);
    let root = server.root_poa().expect("a new ORB");
    server.listen().expect("the port is free again");
    root.manager().activate().expect("it is new");
    assert_eq!(raised(fleeting.poke(1)), (Kind::ObjectNotExist, Minor::omg(2)));
    assert_eq!(raised(lasting.poke(1)), (Kind::ObjectNotExist, Minor::omg(2)));
    root.set_adapter_activator(Some(Arc::new(Makes { made: AtomicI32::new(0) })));
    thread::scope(|scope| {
        for _ in 0..4 {
            // Two adapters were made, once each, whoever came first.
            scope.spawn(|| assert_eq!(lasting.poke(1), Ok(3)));
        }
    });
    assert_eq!(raised(missing.poke(1)).0, Kind::ObjectNotExist);
    let outer = root.find_child("outer", false).expect("it was made");
    assert_eq!(outer.find_child("none", true), Err(PoaError::AdapterNonExistent { name: "none".into() }));
    let broken = outer.find_child("broken", true);
    assert!(matches!(&broken, Err(PoaError::System(it)) if it.minor == Minor::omg(1)), "{broken:?}");
    end(&client);
    end(&server);
}

#[test]
fn a_well_known_key_reaches_its_object_here_and_elsewhere() {
    let (here, client) = server_and_client();
    let (elsewhere, _) = server_and_client();
    let near = here.activate::<Probe>(adds_one()).expect("a new servant");
    let far = elsewhere.activate::<Probe>(does(|_, number| Ok(number + 100))).expect("a new servant");
    here.orb().bind_key("Near", &near);
    here.orb().bind_key("Far", &far.through(here.orb()));
    let address = here.orb().endpoints()[0].address.clone();
    let named = |key: &str| {
        let object = client.string_to_object(&format!("corbaloc::{address}/{key}")).expect("a URL");
        Probe(object.expect("not nil"))
    };
    assert_eq!(named("Near").poke(1), Ok(2));
    assert_eq!(named("Far").poke(1), Ok(101));
    assert_eq!(raised(named("Nowhere").poke(1)), (Kind::ObjectNotExist, Minor::omg(2)));
    assert_eq!(named("Near").0.is_a("IDL:test/Probe:1.0"), Ok(true));
    for orb in [&client, here.orb(), elsewhere.orb()] {
        end(orb);
    }
}

#[test]
fn a_single_threaded_adapter_runs_one_request_at_a_time_and_lets_callbacks_in() {
    let (root, client) = server_and_client();
    let callback_poa = client.root_poa().expect("a new ORB");
    callback_poa.manager().activate().expect("it is new");
    let policies = PoaPolicies::new().single_thread();
    let poa = root.create_child_with("single", policies, &root.manager()).expect("a new name");
    let inside = Arc::new(AtomicI32::new(0));
    let probe = poa
        .activate::<Probe>(does({
            let inside = inside.clone();
            move |_, number| {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two requests at a time");
                thread::sleep(Duration::from_millis(2));
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok(number + 1)
            }
        }))
        .expect("a new servant");
    thread::scope(|scope| {
        for thread in 0..4 {
            let probe = if thread == 0 { probe.clone() } else { probe.through(&client) };
            scope.spawn(move || (0..10).for_each(|number| assert_eq!(probe.poke(number), Ok(number + 1))));
        }
    });

    // Down to 0, back and forth between the two processes' adapters.
    let there: Arc<Mutex<Option<Probe>>> = Arc::default();
    let descend = |other: Arc<Mutex<Option<Probe>>>| {
        does(move |_: &Call, depth| {
            let other = other.lock().unwrap().clone().expect("set below");
            if depth == 0 { Ok(0) } else { Ok(other.poke(depth - 1)? + 1) }
        })
    };
    let back: Arc<Mutex<Option<Probe>>> = Arc::default();
    let server_side = poa.activate::<Probe>(descend(there.clone())).expect("a new servant");
    let client_side = callback_poa.activate::<Probe>(descend(back.clone())).expect("a new servant");
    *there.lock().unwrap() = Some(client_side.through(root.orb()));
    *back.lock().unwrap() = Some(server_side.through(&client));
    assert_eq!(server_side.through(&client).poke(8), Ok(8));
    end(&client);
    end(root.orb());
}

#[test]
fn a_main_thread_adapter_runs_in_the_thread_that_runs_the_orb_and_lets_callbacks_in() {
    let (root, client) = server_and_client();
    let callback_poa = client.root_poa().expect("a new ORB");
    callback_poa.manager().activate().expect("it is new");
    let policies = PoaPolicies::new().main_thread();
    let poa = root.create_child_with("main", policies, &root.manager()).expect("a new name");
    let server = root.orb().clone();
    let main = thread::spawn(move || {
        server.run();
        thread::current().id()
    });
    let main_id = main.thread().id();
    let back: Arc<Mutex<Option<Probe>>> = Arc::default();
    let client_side = callback_poa
        .activate::<Probe>(does({
            let back = back.clone();
            move |_, depth| {
                // Not held during the call, which nests.
                let probe = back.lock().unwrap().clone();
                probe.expect("set below").poke(depth)
            }
        }))
        .expect("a new servant")
        .through(root.orb());
    let probe = poa
        .activate::<Probe>(does(move |_, depth| {
            assert_eq!(thread::current().id(), main_id);
            if depth == 0 { Ok(0) } else { Ok(client_side.poke(depth - 1)? + 1) }
        }))
        .expect("a new servant");
    *back.lock().unwrap() = Some(probe.through(&client));
    assert_eq!(probe.through(&client).poke(8), Ok(8));
    assert_eq!(probe.poke(2), Ok(2));
    end(&client);
    end(root.orb());
    assert_eq!(main.join().expect("no panic"), main_id);
}

#[test]
fn destroying_waits_for_running_requests_but_not_from_within_one() {
    let (root, client) = server_and_client();
    let poa = root.create_child_with("short-lived", PoaPolicies::new(), &root.manager()).expect("a new name");
    let (gate, ended) = (Arc::new(Barrier::new(2)), Arc::new(AtomicBool::new(false)));
    let probe = poa
        .activate::<Probe>(does({
            let (gate, poa, ended) = (gate.clone(), poa.clone(), ended.clone());
            move |_, number| {
                assert_eq!(poa.destroy(true, Some(PATIENCE)), Err(PoaError::WouldDeadlock));
                assert_eq!(poa.manager().hold_requests(Some(PATIENCE)), Err(PoaError::WouldDeadlock));
                gate.wait();
                gate.wait();
                ended.store(true, Ordering::SeqCst);
                Ok(number)
            }
        }))
        .expect("a new servant")
        .through(&client);
    thread::scope(|scope| {
        let running = scope.spawn(|| probe.poke(7));
        gate.wait();
        assert_eq!(poa.destroy(true, Some(Duration::ZERO)), Err(PoaError::StillRunning));
        assert_eq!(raised(probe.poke(1)), (Kind::Transient, Minor::omg(4)));
        assert!(matches!(
            root.create_child("short-lived", PoaPolicies::new()),
            Err(PoaError::AdapterAlreadyExists { .. })
        ));
        let waiting = scope.spawn(|| {
            poa.destroy(true, Some(PATIENCE)).expect("the request ends");
            assert!(ended.load(Ordering::SeqCst));
        });
        gate.wait();
        waiting.join().expect("no panic");
        assert_eq!(running.join().expect("no panic"), Ok(7));
    });
    assert_eq!(raised(probe.poke(1)), (Kind::ObjectNotExist, Minor::omg(2)));
    assert!(root.create_child("short-lived", PoaPolicies::new()).is_ok());
    end(&client);
    end(root.orb());
}

#[test]
fn shutting_down_answers_requests_that_were_held() {
    let server = orb();
    let poa = server.root_poa().expect("a new ORB");
    let client = orb();
    let probe = poa.activate::<Probe>(adds_one()).expect("a new servant").through(&client);
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.poke(1));
        thread::sleep(Duration::from_millis(50));
        end(&server);
        assert_eq!(raised(call.join().expect("no panic")).0, Kind::Transient);
    });
    assert_eq!(raised(server.root_poa()), (Kind::BadInvOrder, Minor::omg(4)));
    end(&client);
}
