//! Calls by one thread on one reference are executed in the order made.

use std::sync::{Arc, OnceLock};

use zorb::policy::{Policies, SyncScope};
use zorb::server::ThreadModel;
use zorb::{Call, Interface, SystemException};
use zorb_tests::servant::Servant;
use zorb_tests::testing::{Probe, ProbeServant};

use crate::fixture::{Place, models, probe, serve};

fn no_two_way_call_overtakes_oneways(at: Place) {
    for model in models() {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = probe(&client, &text);
        let mut expected = Vec::new();
        for round in 0..20 {
            probe.note_slowly(round * 100, 3).unwrap();
            expected.push(round * 100);
            for number in 1..20 {
                probe.note(round * 100 + number).unwrap();
                expected.push(round * 100 + number);
            }
            assert_eq!(probe.noted().unwrap()[..], expected[..], "{model:?}, round {round}");
        }
    }
}

fn no_two_way_call_overtakes_oneways_that_only_the_server_confirms(at: Place) {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(16)] {
        let servant = Arc::new(Servant::new(1));
        let (_server, text) = serve(at.server().server_threads(model), servant.clone());
        let client = at.client().build();
        let probe = probe(&client, &text);
        let confirmed = Policies::new().sync_scope(SyncScope::WithServer);
        let confirmed = Probe::from_object(probe.as_object().with_policies(confirmed));
        confirmed.note_slowly(1, 300).unwrap();
        std::thread::scope(|scope| {
            // Takes the connection that the oneway has confirmed, if that is free for anybody.
            let other = scope.spawn(|| probe.wait(600));
            while servant.waiting() < 1 && !other.is_finished() {
                std::thread::yield_now();
            }
            assert_eq!(probe.noted().unwrap()[..], [1], "{model:?}");
            other.join().unwrap().unwrap();
        });
    }
}

fn a_call_to_another_object_does_not_end_the_wait_for_this_one(at: Place) {
    for model in models() {
        let (server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let other = server.root_poa().unwrap().activate::<Probe>(Arc::new(Servant::new(1))).unwrap();
        let client = at.client().build();
        let (slow, other) = (probe(&client, &text), probe(&client, &other.as_object().to_string()));
        for round in 0..10 {
            slow.note_slowly(round, 20).unwrap();
            other.note(round).unwrap();
            other.nothing().unwrap();
            assert_eq!(slow.noted().unwrap()[..], (0..=round).collect::<Vec<_>>()[..], "{model:?}");
        }
    }
}

fn futures_are_sent_when_made_and_in_that_order(at: Place) {
    for model in models() {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = probe(&client, &text);
        // The first opens the connection: what follows must not pass it while that takes.
        let mut pending: Vec<_> = (0..50).map(|number| probe.note_async(number)).collect();
        let noted = probe.noted().unwrap();
        assert_eq!(noted[..], (0..50).collect::<Vec<_>>()[..], "{model:?}");
        for sent in pending.drain(..) {
            sent.wait().unwrap();
        }
    }
}

fn threads_keep_their_own_order_side_by_side(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let probe = Probe::from_object(probe.as_object().clone());
            scope.spawn(move || {
                for number in 0..50 {
                    probe.note(thread * 1000 + number).unwrap();
                    if number % 10 == 9 {
                        let mine: Vec<_> =
                            probe.noted().unwrap().iter().copied().filter(|n| n / 1000 == thread).collect();
                        let expected: Vec<_> = (0..=number).map(|number| thread * 1000 + number).collect();
                        assert_eq!(mine, expected);
                    }
                }
            });
        }
    });
}

fn a_direct_call_does_not_overtake_what_its_thread_sent(at: Place) {
    for model in models() {
        let (server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let probe = probe(&server, &text);
        for round in 0..20 {
            let sent = probe.note_slowly_async(round, 3);
            assert_eq!(probe.noted().unwrap()[..], (0..=round).collect::<Vec<_>>()[..], "{model:?}");
            sent.wait().unwrap();
        }
    }
}

/// Sends to another object of its ORB, and calls it before that may have come.
#[derive(Default)]
struct Sender(OnceLock<Probe>);

impl ProbeServant for Sender {
    fn nothing(&self, _: &Call) -> Result<(), SystemException> {
        let other = self.0.get().expect("set before the first call");
        let sent = other.note_async(1);
        let answered = other.greet("x").map(drop);
        drop(sent);
        answered
    }
    zorb_tests::unserved!();
}

fn a_servant_calls_directly_what_it_has_just_sent_to(at: Place) {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(1), ThreadModel::Reactor] {
        let servant = Arc::new(Sender::default());
        let (server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        assert!(servant.0.set(probe(&server, &text)).is_ok(), "not yet set");
        let sender = server.root_poa().unwrap().activate::<Probe>(servant).unwrap();
        let client = at.client().build();
        let sender = probe(&client, &sender.as_object().to_string());
        for _ in 0..3 {
            sender.nothing().unwrap_or_else(|exception| panic!("{model:?}: {exception}"));
        }
    }
}

over! {
    no_two_way_call_overtakes_oneways,
    no_two_way_call_overtakes_oneways_that_only_the_server_confirms,
    a_call_to_another_object_does_not_end_the_wait_for_this_one,
    futures_are_sent_when_made_and_in_that_order,
    threads_keep_their_own_order_side_by_side,
    a_direct_call_does_not_overtake_what_its_thread_sent,
    a_servant_calls_directly_what_it_has_just_sent_to,
}
