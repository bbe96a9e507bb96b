//! Collocated calls that are made again and again: what is near a thread is called as what is looked up is, and is let go as soon.

#[path = "probe/mod.rs"]
#[allow(dead_code)]
mod probe;

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Barrier, Mutex, Weak};
use std::thread;
use std::time::Duration;

use probe::{PATIENCE, Probe, ProbeServant, does, end, orb};
use zorb_ipc::BiasedSlots;
use zorb_orb::poa::{
    Etherealized, ManagerState, ObjectId, Poa, PoaError, PoaPolicies, ServantActivator, servant,
};
use zorb_orb::rt::Servant;
use zorb_orb::{Call, Kind, Orb, SystemException};

/// Calls until an object is near: the first finds it, the second brings it, and more find it there.
const OFTEN: i32 = 5;

/// A root adapter of an ORB that nobody else calls, let through. The system is ready for objects to be near.
fn root() -> Poa {
    static ANY: BiasedSlots<(), 1> = BiasedSlots::new();
    drop(ANY.claim());
    let root = orb().root_poa().expect("a new ORB");
    root.manager().activate().expect("a new manager");
    root
}

/// An adapter in which programs choose ids.
fn with_ids(root: &Poa) -> Poa {
    root.create_child_with("ids", PoaPolicies::new().user_ids(), &root.manager()).expect("a new name")
}

fn kind(outcome: Result<i32, SystemException>) -> Kind {
    outcome.expect_err("an exception was to come").kind
}

/// A servant that answers with a number of its own.
fn answers(number: i32) -> Arc<impl ProbeServant> {
    does(move |_: &Call, _| Ok(number))
}

fn call_often(probe: &Probe, answer: i32) {
    for _ in 0..OFTEN {
        assert_eq!(probe.poke(0), Ok(answer));
    }
}

#[test]
fn each_call_knows_what_it_is_about() {
    let root = root();
    let poa = with_ids(&root);
    let calls = Arc::new(AtomicI32::new(0));
    let probe = poa.activate_with_id::<Probe>(
        "one",
        does({
            let (poa, calls) = (poa.clone(), calls.clone());
            move |cx, number| {
                // The innermost call is refused, so that they come to an end.
                if number == 0 {
                    return Err(SystemException::NoPermission("not again"));
                }
                calls.fetch_add(1, Ordering::Relaxed);
                assert_eq!(
                    (cx.object_id(), cx.adapter().as_ref(), cx.operation()),
                    (&b"one"[..], Some(&poa), "poke")
                );
                assert!(cx.peer().is_none() && !cx.is_cancelled());
                let this: Probe = cx.this().expect("the ORB runs");
                assert_eq!(kind(this.poke(0)), Kind::NoPermission);
                Ok(number)
            }
        }),
    );
    let probe = probe.expect("a new id");
    for number in 1..=OFTEN {
        assert_eq!(probe.poke(number), Ok(number));
    }
    assert_eq!(calls.load(Ordering::Relaxed), OFTEN);
    end(root.orb());
}

#[test]
fn a_deactivated_object_is_let_go_by_all_who_called_it() {
    let root = root();
    let servant = answers(7);
    let (left, probe) = (Arc::downgrade(&servant), root.activate::<Probe>(servant).expect("a new servant"));
    let id = root.reference_to_id(&probe).expect("its own");
    let step = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                call_often(&probe, 7);
                step.wait();
                // They do nothing while it is deactivated.
                step.wait();
                assert_eq!(kind(probe.poke(0)), Kind::ObjectNotExist);
            });
        }
        step.wait();
        assert!(left.upgrade().is_some());
        root.deactivate(&id).expect("it is active");
        let is_held = left.upgrade().is_some();
        step.wait();
        assert!(!is_held, "something holds it");
    });
    end(root.orb());
}

#[test]
fn a_thread_that_ends_lets_go_of_what_it_called() {
    let root = root();
    let probe = root.activate::<Probe>(answers(7)).expect("a new servant");
    for _ in 0..3 {
        thread::scope(|scope| scope.spawn(|| call_often(&probe, 7)).join()).expect("no panic");
    }
    root.destroy(true, Some(PATIENCE)).expect("nothing is running");
    end(root.orb());
}

#[test]
fn threads_that_come_and_go_have_places_of_their_own() {
    const CALLS: i32 = 500;
    let root = root();
    // It is called on by its own method, so that calls end one after another, all in the same place.
    let own: Arc<Mutex<Option<Probe>>> = Arc::default();
    let probe = root.activate::<Probe>(does({
        let own = own.clone();
        move |_, left| match left {
            0 => Ok(0),
            _ => {
                let probe = own.lock().unwrap().clone().expect("it was told");
                Ok(probe.poke(left - 1)? + 1)
            }
        }
    }));
    let probe = probe.expect("a new servant");
    *own.lock().unwrap() = Some(probe.clone());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    thread::scope(|scope| {
                        scope.spawn(|| (0..CALLS).for_each(|_| assert_eq!(probe.poke(3), Ok(3))));
                    });
                }
            });
        }
    });
    *own.lock().unwrap() = None;
    root.destroy(true, Some(PATIENCE)).expect("nothing is running");
    end(root.orb());
}

/// Tells what is etherealized.
struct Tells(Arc<Mutex<Vec<&'static str>>>);

impl ServantActivator for Tells {
    fn incarnate(&self, _: &Poa, _: &ObjectId) -> Result<Servant, zorb_orb::poa::Declined> {
        Ok(servant::<Probe>(answers(1)))
    }

    fn etherealize(&self, _: &Poa, _: &ObjectId, _: Servant, _: Etherealized) {
        self.0.lock().unwrap().push("etherealized");
    }
}

#[test]
fn an_object_that_is_deactivated_in_a_call_of_it_is_etherealized_when_the_call_has_ended() {
    let root = root();
    let policies = PoaPolicies::new().user_ids().servant_manager();
    let poa = root.create_child_with("managed", policies, &root.manager()).expect("a new name");
    let log = Arc::new(Mutex::new(Vec::new()));
    poa.set_servant_activator(Arc::new(Tells(log.clone()))).expect("none yet");
    let servant = does({
        let (poa, log) = (poa.clone(), log.clone());
        move |_, number| {
            if number == OFTEN {
                poa.deactivate("a").expect("it is active");
                log.lock().unwrap().push("deactivated");
            }
            Ok(number)
        }
    });
    let probe = poa.activate_with_id::<Probe>("a", servant).expect("a new id");
    for number in 0..=OFTEN {
        assert_eq!(probe.poke(number), Ok(number));
    }
    assert_eq!(*log.lock().unwrap(), ["deactivated", "etherealized"]);
    // It is incarnated anew, and near again.
    call_often(&probe, 1);
    poa.deactivate("a").expect("it is active");
    assert_eq!(log.lock().unwrap().len(), 3);
    end(root.orb());
}

#[test]
fn a_reference_leads_to_what_is_active_now() {
    let root = root();
    let poa = with_ids(&root);
    let probe = poa.activate_with_id::<Probe>("a", answers(0)).expect("a new id");
    for number in 1..4 {
        call_often(&probe, number - 1);
        poa.deactivate("a").expect("it is active");
        assert_eq!(kind(probe.poke(0)), Kind::ObjectNotExist);
        poa.activate_with_id::<Probe>("a", answers(number)).expect("the id is free");
    }
    call_often(&probe, 3);
    end(root.orb());
}

#[test]
fn while_objects_come_and_go_a_call_meets_none_that_had_left_before_it() {
    const GENERATIONS: i32 = 3000;
    let root = root();
    let poa = with_ids(&root);
    let probe = poa.activate_with_id::<Probe>("a", answers(0)).expect("a new id");
    let (active, answered) = (AtomicI32::new(0), AtomicI32::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let before = active.load(Ordering::SeqCst);
                    match probe.poke(0) {
                        Ok(generation) => {
                            assert!(generation >= before, "{generation} had left, {before} was active");
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(exception) => assert_eq!(exception.kind, Kind::ObjectNotExist),
                    }
                    if before == GENERATIONS {
                        break;
                    }
                }
            });
        }
        let servants: Vec<Weak<_>> = (1..=GENERATIONS)
            .map(|generation| {
                poa.deactivate("a").expect("it is active");
                let servant = answers(generation);
                let left = Arc::downgrade(&servant);
                poa.activate_with_id::<Probe>("a", servant).expect("the id is free");
                active.store(generation, Ordering::SeqCst);
                left
            })
            .collect();
        while active.load(Ordering::SeqCst) != GENERATIONS || answered.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        call_often(&probe, GENERATIONS);
        // Two threads are in a call of one each at most, and one is active.
        assert!(servants.iter().filter(|servant| servant.strong_count() != 0).count() <= 3);
    });
    end(root.orb());
}

#[test]
fn more_objects_than_are_near_are_all_called() {
    let root = root();
    let probes: Vec<Probe> =
        (0..200).map(|number| root.activate::<Probe>(answers(number)).expect("a new servant")).collect();
    for _ in 0..OFTEN {
        for (number, probe) in (0..).zip(&probes) {
            assert_eq!((probe.poke(0), probe.poke(0)), (Ok(number), Ok(number)));
        }
    }
    root.destroy(true, Some(PATIENCE)).expect("nothing is running");
    assert_ne!(kind(probes[0].poke(0)), Kind::Unknown);
    end(root.orb());
}

#[test]
fn a_manager_stops_calls_of_what_is_near() {
    let root = root();
    let manager = root.manager();
    let probe = root.activate::<Probe>(answers(7)).expect("a new servant");
    for _ in 0..2 {
        call_often(&probe, 7);
        manager.discard_requests(Some(PATIENCE)).expect("nothing is running");
        assert_eq!(kind(probe.poke(0)), Kind::Transient);
        manager.activate().expect("it discards");
    }
    call_often(&probe, 7);
    manager.hold_requests(Some(PATIENCE)).expect("nothing is running");
    thread::scope(|scope| {
        let held = scope.spawn(|| probe.poke(0));
        thread::sleep(Duration::from_millis(50));
        assert!(!held.is_finished());
        manager.activate().expect("it holds");
        assert_eq!(held.join().expect("no panic"), Ok(7));
    });
    call_often(&probe, 7);
    manager.deactivate(true, None).expect("it lets through");
    assert_eq!(manager.state(), ManagerState::Inactive);
    assert_eq!(kind(probe.poke(0)), Kind::ObjAdapter);
    end(root.orb());
}

#[test]
fn who_waits_for_running_requests_waits_for_calls_of_what_is_near() {
    let root = root();
    let (is_in, may_end) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let probe: Probe = root
        .activate::<Probe>(does({
            let (is_in, may_end) = (is_in.clone(), may_end.clone());
            move |_, number| {
                while number == OFTEN && !may_end.load(Ordering::SeqCst) {
                    is_in.store(true, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(number)
            }
        }))
        .expect("a new servant");
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..=OFTEN {
                assert_eq!(probe.poke(number), Ok(number));
            }
        });
        while !is_in.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        let soon = Some(Duration::from_millis(30));
        assert_eq!(root.manager().hold_requests(soon), Err(PoaError::StillRunning));
        // Who lets requests through again ends the wait, and not the call.
        let waits = scope.spawn(|| root.manager().discard_requests(Some(PATIENCE)));
        while root.manager().state() != ManagerState::Discarding {
            thread::yield_now();
        }
        root.manager().activate().expect("it discards");
        assert_eq!(waits.join().expect("no panic"), Ok(()));
        may_end.store(true, Ordering::SeqCst);
        root.manager().hold_requests(Some(PATIENCE)).expect("it has ended");
    });
    end(root.orb());
}

#[test]
fn an_upcall_of_what_is_near_does_not_wait_for_itself() {
    let root = root();
    let probe: Probe = root
        .activate::<Probe>(does({
            let root = root.clone();
            move |_, number| {
                let waited = root.manager().hold_requests(Some(PATIENCE));
                assert_eq!(waited, Err(PoaError::WouldDeadlock));
                assert_eq!(root.destroy(true, Some(PATIENCE)), Err(PoaError::WouldDeadlock));
                Ok(number)
            }
        }))
        .expect("a new servant");
    for number in 0..OFTEN {
        assert_eq!(probe.poke(number), Ok(number));
    }
    end(root.orb());
}

#[test]
fn an_orb_that_is_dropped_is_held_by_nobody_who_called_its_objects() {
    let root = root();
    let servant = answers(7);
    let (left, probe) = (Arc::downgrade(&servant), root.activate::<Probe>(servant).expect("a new servant"));
    let step = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn({
            let (probe, step) = (probe.clone(), &step);
            move || {
                call_often(&probe, 7);
                drop(probe);
                step.wait();
                step.wait();
            }
        });
        step.wait();
        end(root.orb());
        let orb: Orb = root.orb().clone();
        drop((orb, root, probe));
        let is_held = left.upgrade().is_some();
        step.wait();
        assert!(!is_held, "something holds it");
    });
}

#[test]
fn a_panic_leaves_an_object_near() {
    let root = root();
    let probe: Probe = root
        .activate::<Probe>(does(|_, number| if number == 3 { panic!("on purpose") } else { Ok(number) }))
        .expect("a new servant");
    for _ in 0..3 {
        for number in 0..OFTEN {
            match number {
                3 => assert_eq!(kind(probe.poke(number)), Kind::Unknown),
                _ => assert_eq!(probe.poke(number), Ok(number)),
            }
        }
    }
    root.destroy(true, Some(PATIENCE)).expect("nothing is running");
    end(root.orb());
}
