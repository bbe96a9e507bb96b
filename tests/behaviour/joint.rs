//! Many callers at a time, whose short calls share a connection: each gets its own answer, none waits for another's, and an end of the
//! connection is as for any other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use zorb::poa::PoaPolicies;
use zorb::policy::Policies;
use zorb::transport::Transport;
use zorb::transport::shm::Shm;
use zorb::transport::tcp::Tcp;
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{Place, models, probe, serve};

const CALLERS: usize = 16;

/// A reference whose calls end after so long.
fn within(probe: &Probe, time: Duration) -> Probe {
    Probe::from_object(probe.as_object().with_policies(Policies::new().call_timeout(time)))
}

/// Ends what others do until it is told: also where a test fails, which would otherwise wait for them for ever.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// So many callers at once, each with its number.
fn callers(count: usize, call: impl Fn(usize) + Sync) {
    let begin = Barrier::new(count);
    thread::scope(|scope| {
        for number in 0..count {
            let (begin, call) = (&begin, &call);
            scope.spawn(move || {
                begin.wait();
                call(number);
            });
        }
    });
}

fn each_gets_its_own_answer_on_few_connections(at: Place) {
    for model in models() {
        let (server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        // All of them share one.
        let client = at.client().joint_beyond(0).build();
        let probe = probe(&client, &text);
        probe.nothing().unwrap();
        callers(CALLERS, |number| {
            for round in 0..50 {
                let name = format!("{number} in round {round}");
                assert_eq!(probe.greet(&name).unwrap(), format!("hello, {name}"));
                if round % 10 == number % 10 {
                    let refused = probe.divide(1, 0).unwrap_err();
                    assert!(format!("{refused:?}").contains("division by zero"), "{refused:?}");
                    // Larger than what travels there, both ways.
                    let large = vec![number as u8; 100_000];
                    assert_eq!(probe.echo(&large).unwrap()[..], large[..]);
                }
            }
        });
        assert!(server.connections() <= 1 + CALLERS, "{} connections, {model:?}", server.connections());
    }
}

/// All are in the servant at the same time, those too that came in one message with others.
fn none_waits_behind_the_upcall_of_another(at: Place) {
    for model in [models()[0], models()[1]] {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(CALLERS)));
        let client = at.client().joint_beyond(0).build();
        let probe = probe(&client, &text);
        callers(CALLERS, |_| probe.meet().unwrap());
    }
}

fn a_deadline_ends_one_call_and_no_other(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().joint_beyond(0).build();
    let probe = probe(&client, &text);
    let (hasty, done) = (within(&probe, Duration::from_millis(60)), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    assert_eq!(probe.greet("you").unwrap(), "hello, you");
                }
            });
        }
        let _ends = Ends(&done);
        // Among others, as their reader or not,
        for _ in 0..5 {
            let late = hasty.wait(2_000).unwrap_err();
            assert_eq!(late.kind, Kind::Timeout, "{late}");
        }
    });
    // and alone; what it did not wait for comes later, and is nobody's.
    let late = hasty.wait(1_000).unwrap_err();
    assert_eq!(late.kind, Kind::Timeout, "{late}");
    for number in 0..75 {
        let name = number.to_string();
        assert_eq!(probe.greet(&name).unwrap(), format!("hello, {name}"));
        thread::sleep(Duration::from_millis(15));
    }
}

/// Requests that a transport takes only in parts leave all the same, whoever waits meanwhile.
#[test]
fn a_narrow_transport_takes_them_in_parts() {
    let tcp = || Arc::new(Tcp::new().queues(1)) as Arc<dyn Transport>;
    let shm = || Arc::new(Shm::new().ring(4096).unwrap()) as Arc<dyn Transport>;
    for (narrow, endpoint) in [(&tcp as &dyn Fn() -> _, "tcp:127.0.0.1:0"), (&shm, "shm:")] {
        let (_server, text) =
            serve(Orb::builder().transport(narrow()).listen(endpoint), Arc::new(Servant::new(1)));
        let client = Orb::builder().transport(narrow()).joint_beyond(0).build();
        let probe = within(&probe(&client, &text), PATIENCE);
        callers(CALLERS, |number| {
            for round in 0..100 {
                let name = format!("{number} {round} {}", "x".repeat(3_700 + round));
                assert_eq!(probe.greet(&name).unwrap(), format!("hello, {name}"), "{endpoint}");
            }
        });
    }
}

fn calls_that_last_take_other_ways(at: Place) {
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().joint_beyond(0).build();
    let probe = probe(&client, &text);
    callers(4, |_| (0..10).for_each(|_| probe.wait(8).unwrap()));
    assert!(server.connections() > 1, "each has one of its own by now");
}

#[test]
fn nothing_is_lost_where_the_server_closes_in_order() {
    let serve_again = |endpoint: &str| {
        let orb = Orb::builder().listen(endpoint).build();
        let poa =
            orb.root_poa().unwrap().create_child("p", PoaPolicies::new().persistent().user_ids()).unwrap();
        let probe = poa.activate_with_id::<Probe>("main", Arc::new(Servant::new(1))).unwrap();
        poa.manager().activate().unwrap();
        let text = probe.as_object().to_string();
        (orb, text)
    };
    let (mut server, text) = serve_again("tcp:127.0.0.1:0");
    let address = server.endpoints()[0].to_string();
    let client = Orb::builder().joint_beyond(0).build();
    let probe = probe(&client, &text);
    let (done, calls, lost) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let _ends = Ends(&done);
        for _ in 0..8 {
            scope.spawn(|| {
                let mut last = Instant::now();
                while !done.load(Ordering::Relaxed) {
                    match probe.greet("again") {
                        Ok(greeting) => {
                            assert_eq!(greeting, "hello, again");
                            calls.fetch_add(1, Ordering::Relaxed);
                            last = Instant::now();
                        }
                        // Between one server and the next, and where a connection was made in the moment in which the listener ended.
                        Err(gone) => {
                            lost.fetch_add(usize::from(gone.kind != Kind::Transient), Ordering::Relaxed);
                            assert!(matches!(gone.kind, Kind::Transient | Kind::CommFailure), "{gone}");
                        }
                    }
                    assert!(last.elapsed() < PATIENCE, "no call succeeds any more");
                }
            });
        }
        for _ in 0..5 {
            let before = calls.load(Ordering::Relaxed);
            let by = Instant::now() + PATIENCE;
            while calls.load(Ordering::Relaxed) < before + 200 && Instant::now() < by {
                thread::sleep(Duration::from_millis(1));
            }
            server.shutdown(true, PATIENCE);
            server = serve_again(&address).0;
        }
    });
    // In five rounds of eight callers: those whose connection nobody had accepted.
    assert!(lost.load(Ordering::Relaxed) <= 8, "{lost:?} calls are lost");
}

fn calls_under_way_end_well_though_the_client_is_shut_down(at: Place) {
    let servant = Arc::new(Servant::new(1));
    let (server, text) = serve(at.server(), servant.clone());
    let client = at.client().joint_beyond(0).build();
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| probe.wait(1_000))).collect();
        let by = Instant::now() + PATIENCE;
        while servant.waiting() < 4 && Instant::now() < by {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(server.connections(), 1, "they share it");
        client.shutdown(false, PATIENCE);
        waiting.into_iter().for_each(|call| call.join().unwrap().unwrap());
    });
    let by = Instant::now() + PATIENCE;
    while server.connections() > 0 && Instant::now() < by {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.connections(), 0);
}

over!(
    each_gets_its_own_answer_on_few_connections,
    none_waits_behind_the_upcall_of_another,
    a_deadline_ends_one_call_and_no_other,
    calls_that_last_take_other_ways,
    calls_under_way_end_well_though_the_client_is_shut_down,
);
