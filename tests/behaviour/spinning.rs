//! Waits that look again before they sleep: calls are what they are without, and silence is silent.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zorb::Kind;
use zorb::policy::Policies;
use zorb::transport::Spinning;
use zorb_tests::servant::{PATIENCE, Servant};

use crate::fixture::{Place, models, probe, serve};
use crate::processes::Other;

/// Enough that what learns has learned, and unlearned.
const CALLS: i32 = 1_000;

fn every_way_of_waiting_serves_calls(at: Place) {
    for spinning in [Spinning::none(), Spinning::bounded(Duration::from_micros(100)), Spinning::adaptive()] {
        for model in models() {
            let builder = at.server().server_threads(model).spinning(spinning);
            assert_eq!(builder.chosen().spinning, spinning);
            let (_server, text) = serve(builder, Arc::new(Servant::new(1)));
            let client = at.client().spinning(spinning).build();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        let target = probe(&client, &text);
                        for call in 0..CALLS {
                            target.nothing().unwrap();
                            if call % 250 == 0 {
                                // Longer than anybody spins.
                                target.wait(1).unwrap();
                            }
                        }
                    });
                }
            });
        }
    }
}

fn a_spin_ends_with_the_calls_deadline(at: Place) {
    let endless = Spinning::bounded(Duration::from_secs(3_600));
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let policies = Policies::new().call_timeout(Duration::from_millis(50));
    let client = at.client().spinning(endless).policies(policies).build();
    let late = probe(&client, &text).wait(60_000).unwrap_err();
    assert_eq!(late.kind, Kind::Timeout, "{late}");
}

/// How often the threads of a process have gone to sleep so far, and whether all of them sleep.
fn sleeps(process: u32) -> (u64, bool) {
    let (mut count, mut all) = (0, true);
    for thread in fs::read_dir(format!("/proc/{process}/task")).unwrap() {
        // It may have ended meanwhile.
        let Ok(status) = fs::read_to_string(thread.unwrap().path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        count += field("voluntary_ctxt_switches:").and_then(|it| it.parse::<u64>().ok()).unwrap_or_default();
        all &= field("State:").is_some_and(|state| state.starts_with('S'));
    }
    (count, all)
}

fn a_server_whose_clients_are_silent_sleeps(at: Place) {
    let there = Other::start(at, &[]);
    let client = at.client().build();
    let target = probe(&client, &there.ior);
    for _ in 0..5 * CALLS {
        target.nothing().unwrap();
    }
    let began = Instant::now();
    loop {
        let (before, _) = sleeps(there.child.id());
        let asleep = (0..20).all(|_| {
            thread::sleep(Duration::from_millis(10));
            sleeps(there.child.id()).1
        });
        let (after, _) = sleeps(there.child.id());
        // Once a second the keeper looks at its connections.
        if asleep && after - before <= 1 {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{} wake-ups while nobody calls", after - before);
    }
}

over! {
    between processes:
    a_server_whose_clients_are_silent_sleeps,
    a_spin_ends_with_the_calls_deadline,
    every_way_of_waiting_serves_calls,
}
