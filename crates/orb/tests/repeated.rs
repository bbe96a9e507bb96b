//! Requests whose heads repeat go straight to their object; whatever changes between two of them is seen all the same.

mod probe;

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use probe::{PATIENCE, Probe, adds_one, does, end, server_and_client};
use zorb_orb::poa::{
    Declined, Etherealized, ManagerState, ObjectId, Poa, PoaPolicies, ServantActivator, servant,
};
use zorb_orb::rt::Servant;
use zorb_orb::{Call, Kind, SystemException};

/// Calls often enough that the head is known and the object remembered, by one connection.
fn warm(probe: &Probe, more: i32) {
    (0..10).for_each(|number| assert_eq!(probe.poke(number), Ok(number + more)));
}

fn adds(more: i32) -> Arc<impl probe::ProbeServant> {
    does(move |_: &Call, number| Ok(number + more))
}

fn kind(result: Result<i32, SystemException>) -> Kind {
    result.expect_err("an exception was to come").kind
}

#[test]
fn an_object_that_is_deactivated_is_gone_and_another_under_its_id_is_another() {
    let (root, client) = server_and_client();
    let poa = root.create_child_with("named", PoaPolicies::new().user_ids(), &root.manager()).expect("new");
    let probe = poa.activate_with_id::<Probe>("a", adds(1)).expect("a new id").through(&client);
    for more in 1..5 {
        warm(&probe, more);
        poa.deactivate("a").expect("it is active");
        assert_eq!(kind(probe.poke(1)), Kind::ObjectNotExist);
        let _ = poa.activate_with_id::<Probe>("a", adds(more + 1)).expect("the id is free");
    }
    end(&client);
    end(root.orb());
}

#[test]
fn objects_that_come_and_go_beside_it_change_nothing() {
    let (poa, client) = server_and_client();
    let probe = poa.activate::<Probe>(adds(7)).expect("a new servant").through(&client);
    for _ in 0..50 {
        let other = poa.activate::<Probe>(adds_one()).expect("a new servant");
        assert_eq!(probe.poke(1), Ok(8));
        let id = poa.reference_to_id(&other).expect("its own");
        poa.deactivate(&id).expect("it is active");
        assert_eq!(probe.poke(2), Ok(9));
        assert_eq!(probe.poke(3), Ok(10));
    }
    end(&client);
    end(poa.orb());
}

#[test]
fn calls_of_several_objects_take_turns() {
    let (poa, client) = server_and_client();
    let probes: Vec<Probe> = (0..3)
        .map(|more| poa.activate::<Probe>(adds(more)).expect("a new servant").through(&client))
        .collect();
    for round in 0..200 {
        for (more, probe) in (0..).zip(&probes) {
            // One after the other, and some often in a row.
            for number in 0..1 + (round / 50) * more {
                assert_eq!(probe.poke(number), Ok(number + more), "round {round}");
            }
        }
        assert_eq!(probes[0].0.non_existent(), Ok(false));
    }
    end(&client);
    end(poa.orb());
}

#[test]
fn the_manager_is_asked_for_each() {
    let (root, client) = server_and_client();
    let poa = root.create_child("apart", PoaPolicies::new()).expect("a new name");
    poa.manager().activate().expect("it is new");
    let probe = poa.activate::<Probe>(adds_one()).expect("a new servant").through(&client);
    warm(&probe, 1);
    poa.manager().discard_requests(Some(PATIENCE)).expect("nothing runs");
    assert_eq!(kind(probe.poke(1)), Kind::Transient);
    poa.manager().activate().expect("it may");
    warm(&probe, 1);
    poa.manager().hold_requests(Some(PATIENCE)).expect("nothing runs");
    thread::scope(|scope| {
        let held = scope.spawn(|| probe.poke(5));
        thread::sleep(Duration::from_millis(30));
        assert!(!held.is_finished() && poa.manager().state() == ManagerState::Holding);
        poa.manager().activate().expect("it may");
        assert_eq!(held.join().expect("no panic"), Ok(6));
    });
    warm(&probe, 1);
    poa.destroy(true, Some(PATIENCE)).expect("nothing runs");
    assert_eq!(kind(probe.poke(1)), Kind::ObjectNotExist);
    end(&client);
    end(root.orb());
}

#[test]
fn an_adapter_that_is_made_anew_has_objects_of_its_own() {
    let (root, client) = server_and_client();
    let policies = || PoaPolicies::new().user_ids().persistent();
    let make = |more| {
        let poa = root.create_child_with("lasting", policies(), &root.manager()).expect("the name is free");
        let probe = poa.activate_with_id::<Probe>("a", adds(more)).expect("a new id");
        (poa, probe.through(&client))
    };
    let (poa, probe) = make(1);
    warm(&probe, 1);
    poa.destroy(true, Some(PATIENCE)).expect("nothing runs");
    assert_eq!(kind(probe.poke(1)), Kind::ObjectNotExist);
    let (_poa, _same) = make(2);
    warm(&probe, 2);
    end(&client);
    end(root.orb());
}

/// Counts what it gives and gets back.
struct Counts(Mutex<Vec<String>>, AtomicI32);

impl ServantActivator for Counts {
    fn incarnate(&self, _: &Poa, id: &ObjectId) -> Result<Servant, Declined> {
        self.0.lock().unwrap().push(format!("incarnate {id}"));
        let more = self.1.fetch_add(1, Ordering::SeqCst);
        Ok(servant::<Probe>(adds(more)))
    }

    fn etherealize(&self, _: &Poa, id: &ObjectId, _: Servant, _: Etherealized) {
        self.0.lock().unwrap().push(format!("etherealize {id}"));
    }
}

#[test]
fn what_is_remembered_keeps_no_servant_from_its_end() {
    let (root, client) = server_and_client();
    let policies = PoaPolicies::new().user_ids().servant_manager();
    let poa = root.create_child_with("kept", policies, &root.manager()).expect("a new name");
    let counts = Arc::new(Counts(Mutex::default(), AtomicI32::new(1)));
    poa.set_servant_activator(counts.clone()).expect("the first");
    let probe = poa.create_reference_with_id::<Probe>("a").expect("any id").through(&client);
    warm(&probe, 1);
    poa.deactivate("a").expect("it is active");
    // Its last request lets it go a little after the reply.
    let deadline = Instant::now() + PATIENCE;
    while *counts.0.lock().unwrap() != [r#"incarnate "a""#, r#"etherealize "a""#] {
        assert!(Instant::now() < deadline, "it is kept: {:?}", counts.0);
        thread::yield_now();
    }
    warm(&probe, 2);
    assert_eq!(counts.0.lock().unwrap().len(), 3);
    end(&client);
    end(root.orb());
}
