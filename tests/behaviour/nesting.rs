//! No call waits behind another's upcall, and nested callbacks come back, under every threading model.

use std::sync::Arc;
use std::time::Duration;

use zorb::Kind;
use zorb::server::ThreadModel;
use zorb_tests::servant::Servant;

use crate::fixture::{Place, models, probe, serve};

const PARTY: usize = 64;

fn sixty_four_calls_on_one_connection_meet_in_the_servant(at: Place) {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(PARTY)] {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(PARTY)));
        // No private connections: all calls share one.
        let client = at.client().private_connections(0).build();
        let probe = probe(&client, &text);
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..PARTY).map(|_| scope.spawn(|| probe.meet())).collect();
            for caller in callers {
                caller.join().unwrap().unwrap_or_else(|exception| panic!("{model:?}: {exception}"));
            }
        });
    }
}

fn sixty_four_futures_on_one_connection_meet_in_the_servant(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(PARTY)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    let calls: Vec<_> = (0..PARTY).map(|_| probe.meet_async()).collect();
    for call in calls {
        call.wait().unwrap();
    }
}

fn callbacks_nested_eight_deep_come_back_under_every_pair_of_models(at: Place) {
    for near in models() {
        for far in models() {
            for private in [64, 0] {
                let build = |model| at.server().server_threads(model).private_connections(private);
                let (here, my_text) = serve(build(near), Arc::new(Servant::new(1)));
                let (there, their_text) = serve(build(far), Arc::new(Servant::new(1)));
                let (me, them) = (probe(&here, &my_text), probe(&here, &their_text));
                let depth = them.descend(8, Some(&me));
                assert_eq!(depth, Ok(8), "{near:?} and {far:?}, {private} private connections");
                drop(there);
            }
        }
    }
}

fn a_pool_that_nested_calls_exhaust_answers_with_an_exception(at: Place) {
    for threads in [1, 2, 3] {
        let pool = ThreadModel::pool(threads);
        let (here, my_text) = serve(at.server().server_threads(pool), Arc::new(Servant::new(1)));
        let (_there, their_text) = serve(at.server().server_threads(pool), Arc::new(Servant::new(1)));
        let (me, them) = (probe(&here, &my_text), probe(&here, &their_text));
        // Each side serves every second level: two pools of n hold 2n levels, the last of which calls nobody.
        let fits = 2 * threads as i32 - 1;
        assert_eq!(them.descend(fits, Some(&me)), Ok(fits), "{threads} threads");
        let exception = them.descend(2 * threads as i32 + 1, Some(&me)).unwrap_err();
        assert!(
            matches!(exception.kind, Kind::Transient | Kind::NoResources),
            "{threads} threads: {exception}"
        );
        // And the pool serves on.
        assert_eq!(them.descend(1, Some(&me)), Ok(1));
    }
}

fn a_long_upcall_holds_up_nobody_else(at: Place) {
    for model in [ThreadModel::per_connection(), ThreadModel::pool(4)] {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(2)));
        let client = at.client().private_connections(0).build();
        let probe = probe(&client, &text);
        let first = probe.meet_async();
        // The other waits in its upcall until this connection brings a second caller.
        std::thread::sleep(Duration::from_millis(20));
        probe.nothing().unwrap();
        probe.meet().unwrap();
        first.wait().unwrap();
    }
}

over! {
    sixty_four_calls_on_one_connection_meet_in_the_servant,
    sixty_four_futures_on_one_connection_meet_in_the_servant,
    callbacks_nested_eight_deep_come_back_under_every_pair_of_models,
    a_pool_that_nested_calls_exhaust_answers_with_an_exception,
    a_long_upcall_holds_up_nobody_else,
}
