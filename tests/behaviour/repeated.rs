//! Oneways that their thread sends again and again, each at once, and what comes between two of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zorb::policy::{Policies, SyncScope};
use zorb::{Call, Interface, Orb, Sequence, SystemException, Value};
use zorb_tests::belfry::{Carillon, CarillonServant, Stroke};
use zorb_tests::stroke::{BROKEN, REFUSED};

use crate::fixture::Place;

#[derive(Default)]
struct Bells(Mutex<Vec<i32>>);

impl CarillonServant for Bells {
    fn strike(&self, _: &Call, struck: &Option<Value<Stroke>>) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(struck.as_ref().and_then(Value::get).map_or(0, |stroke| stroke.number));
        Ok(())
    }

    fn hush(&self, _: &Call, number: i32) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(-number);
        Ok(())
    }

    fn heard(&self, _: &Call) -> Result<Sequence<i32>, SystemException> {
        Ok(self.0.lock().unwrap().clone().into())
    }
}

fn serve(server: &Orb) -> String {
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    poa.activate::<Carillon>(Arc::new(Bells::default())).unwrap().as_object().to_string()
}

fn reach(client: &Orb, text: &str) -> Carillon {
    Carillon::from_object(client.string_to_object(text).unwrap().unwrap())
}

fn stroke(number: i32) -> Option<Value<Stroke>> {
    Some(Value::new(Stroke { number }))
}

fn heard(by: &Carillon) -> Vec<i32> {
    by.heard().unwrap().to_vec()
}

/// Other objects, operations and scopes change what is repeated; a call to the object is behind all that was sent to it.
fn all_arrive_in_order_whatever_comes_between(at: Place) {
    let (server, client) = (at.server().build(), at.client().build());
    let (first, second) = (reach(&client, &serve(&server)), reach(&client, &serve(&server)));
    let confirmed = Policies::new().sync_scope(SyncScope::WithServer);
    let sure = Carillon::from_object(first.as_object().with_policies(confirmed));
    let mut sent = Vec::new();
    for number in 1..=200 {
        match number % 10 {
            3 | 4 => first.hush(number).unwrap(),
            5 => {
                second.hush(number).unwrap();
                second.hush(number).unwrap();
                continue;
            }
            7 => sure.hush(number).unwrap(),
            8 => {
                assert_eq!(heard(&first), sent, "{at:?}");
                continue;
            }
            _ => {
                first.strike(&stroke(number)).unwrap();
                sent.push(number);
                continue;
            }
        }
        sent.push(-number);
    }
    assert_eq!(heard(&first), sent, "{at:?}");
    assert_eq!(heard(&second).len(), 40);
}

/// Threads share the connection, each with a oneway of its own that it repeats.
fn threads_keep_their_own_order(at: Place) {
    let (server, client) = (at.server().build(), at.client().build());
    let carillon = reach(&client, &serve(&server));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let carillon = &carillon;
            scope.spawn(move || {
                for number in 0..500 {
                    carillon.hush(thread * 1000 + number).unwrap();
                    // So that no more are under way than a connection may have.
                    if number % 20 == 19 {
                        heard(carillon);
                    }
                }
            });
        }
    });
    let all = heard(&carillon);
    for thread in 0..4 {
        let own: Vec<_> = all.iter().map(|number| -number).filter(|number| number / 1000 == thread).collect();
        assert_eq!(own, (thread * 1000..thread * 1000 + 500).collect::<Vec<_>>(), "{at:?}");
    }
}

/// One whose arguments cannot be written does not leave, and those behind it do.
fn what_cannot_be_written_is_an_error_of_its_own(at: Place) {
    let (server, client) = (at.server().build(), at.client().build());
    let carillon = reach(&client, &serve(&server));
    for round in 0..3 {
        (1..4).for_each(|number| carillon.strike(&stroke(number)).unwrap());
        let refused = carillon.strike(&stroke(REFUSED)).expect_err("it cannot be written");
        assert!(refused.to_string().contains("strike"), "{refused}");
        (1..4).for_each(|number| carillon.strike(&stroke(number)).unwrap());
        let broken = catch_unwind(AssertUnwindSafe(|| carillon.strike(&stroke(BROKEN))));
        assert!(broken.is_err(), "the program learns of its fault");
        // The same again: its head was in the memory that the panic has lost.
        (1..4).for_each(|number| carillon.strike(&stroke(number)).unwrap());
        assert_eq!(heard(&carillon).len(), (round + 1) * 9, "{at:?}");
    }
}

/// The connection that it left on last is gone.
fn after_a_servers_end_the_next_one_gets_it(at: Place) {
    let client = at.client().build();
    let gone = {
        let server = at.server().build();
        let carillon = reach(&client, &serve(&server));
        (0..10).for_each(|number| carillon.hush(number).unwrap());
        assert_eq!(heard(&carillon).len(), 10);
        server.shutdown(true, Duration::from_secs(10));
        carillon
    };
    // What has left before the end was noticed is nobody's; then there is nobody.
    let refused = (0..100).find_map(|number| {
        std::thread::sleep(Duration::from_millis(5));
        gone.hush(number).err()
    });
    assert!(refused.is_some(), "{at:?}");
    let server = at.server().build();
    let carillon = reach(&client, &serve(&server));
    (0..10).for_each(|number| carillon.hush(number).unwrap());
    assert_eq!(heard(&carillon).len(), 10, "{at:?}");
}

over! {
    all_arrive_in_order_whatever_comes_between,
    threads_keep_their_own_order,
    what_cannot_be_written_is_an_error_of_its_own,
    after_a_servers_end_the_next_one_gets_it,
}
