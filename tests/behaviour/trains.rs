//! Oneways that come together, of which one changes what holds for those behind it: they meet what they would have met alone.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zorb::poa::{ManagerState, Poa};
use zorb::policy::{Buffering, Policies, SyncScope};
use zorb::{Call, Interface, Kind, Orb, SystemException};
use zorb_tests::belfry::{Bell, BellServant};
use zorb_tests::servant::PATIENCE;

use crate::fixture::{Place, models};

/// Notes the numbers, and does something at one of them.
struct Tower {
    heard: Mutex<Vec<i32>>,
    at: i32,
    what: fn(&Call),
}

impl BellServant for Tower {
    fn ring(&self, _: &Call) -> Result<(), SystemException> {
        Ok(())
    }

    fn chime(&self, call: &Call, number: i32) -> Result<(), SystemException> {
        self.heard.lock().unwrap().push(number);
        if number == self.at {
            (self.what)(call);
        }
        Ok(())
    }
}

/// A bell whose oneways leave a hundred at a time, what hangs there, and both ORBs.
fn meet(at: i32, what: fn(&Call), server: Orb) -> (Bell, Arc<Tower>, Poa, [Orb; 2]) {
    let client = Place::TCP.client().build();
    let tower = Arc::new(Tower { heard: Mutex::default(), at, what });
    let poa = server.root_poa().unwrap();
    let bell = poa.activate::<Bell>(tower.clone()).unwrap();
    poa.manager().activate().unwrap();
    let object = client.string_to_object(&bell.as_object().to_string()).unwrap().unwrap();
    let buffering = Buffering::new().messages(100).time(Duration::from_secs(60));
    let policies = Policies::new().sync_scope(SyncScope::None).buffering(buffering);
    (Bell::from_object(object.with_policies(policies)), tower, poa, [server, client])
}

fn heard_by(tower: &Tower, count: usize) -> Vec<i32> {
    let by = Instant::now() + PATIENCE;
    while tower.heard.lock().unwrap().len() < count && Instant::now() < by {
        std::thread::sleep(Duration::from_millis(1));
    }
    tower.heard.lock().unwrap().clone()
}

#[test]
fn an_object_that_leaves_is_not_there_for_those_behind() {
    for model in models() {
        let leave = |call: &Call| call.adapter().unwrap().deactivate(call.object_id()).unwrap();
        let (bell, tower, _, _orbs) = meet(130, leave, Place::TCP.server().server_threads(model).build());
        (0..200).for_each(|number| bell.chime(number).unwrap());
        let gone = bell.ring().expect_err("nobody is there");
        assert_eq!(gone.kind, Kind::ObjectNotExist, "{model:?}: {gone}");
        assert_eq!(heard_by(&tower, 131), (0..=130).collect::<Vec<_>>(), "{model:?}");
    }
}

#[test]
fn a_manager_that_holds_keeps_those_behind_and_lets_them_go_in_order() {
    for model in models() {
        let hold = |call: &Call| call.adapter().unwrap().manager().hold_requests(None).unwrap();
        let (bell, tower, poa, _orbs) = meet(130, hold, Place::TCP.server().server_threads(model).build());
        (0..200).for_each(|number| bell.chime(number).unwrap());
        assert_eq!(heard_by(&tower, 131).len(), 131, "{model:?}");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(tower.heard.lock().unwrap().len(), 131, "{model:?}: the others are held");
        assert_eq!(poa.manager().state(), ManagerState::Holding);
        poa.manager().activate().unwrap();
        bell.ring().unwrap();
        assert_eq!(*tower.heard.lock().unwrap(), (0..200).collect::<Vec<_>>(), "{model:?}");
    }
}

#[test]
fn a_thread_that_gathers_what_others_gather_keeps_its_own_order() {
    let (bell, tower, _, _orbs) = meet(-1, |_| (), Place::TCP.server().build());
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (bell, tower) = (&bell, &tower);
            scope.spawn(move || {
                for number in 0..300 {
                    bell.chime(thread * 1000 + number).unwrap();
                    // A call to the same object is behind all that the thread has sent there.
                    if number % 50 == 49 {
                        bell.ring().unwrap();
                        let heard = tower.heard.lock().unwrap();
                        let own = heard.iter().filter(|heard| **heard / 1000 == thread).count();
                        assert_eq!(own as i32, number + 1, "thread {thread}");
                    }
                }
            });
        }
    });
    bell.as_object().send_buffered().unwrap();
    let all = heard_by(&tower, 900);
    for thread in 0..3 {
        let own: Vec<_> = all.iter().copied().filter(|number| number / 1000 == thread).collect();
        assert_eq!(own, (thread * 1000..thread * 1000 + 300).collect::<Vec<_>>());
    }
}
