//! The short path, counted: a null call is one system call to send and one to receive on either side, and asks for no memory; a batch of
//! oneways is one system call.
//!
//! `cargo test -p zorb-tests --features probes --test system_calls`. Client and server are threads of this process. Each counts its own system
//! calls, the server's where it serves, so that neither sees the other's. Both sleep in their receives
//! ([`Spinning::none`]): who looks before it sleeps receives once more. And calls come one behind the other: a connection that was idle for a
//! millisecond is looked at before it is used, a keeper that has fallen asleep is woken, and a thread that has waited 32 times takes its
//! connection out of the keeper's set, each by one more. Such may be one call in ten here. Where a machine is busy with other things more
//! of them are: there the calls are made again, until nearly all of one round come one behind the other.

#![cfg(feature = "probes")]

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use zorb::policy::{Buffering, Policies, SyncScope};
use zorb::probes::{SystemCalls, system_calls_of_thread};
use zorb::server::ThreadModel;
use zorb::transport::Spinning;
use zorb::{Call, Interface, Orb, SystemException};
use zorb_tests::belfry::{Bell, BellServant};
use zorb_tests::servant::PATIENCE;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

const CALLS: usize = 1000;
const WARM_UP: usize = 200;

/// Oneways that leave together.
const BATCH: usize = 64;

/// By which both sides meet.
const ENDPOINTS: [&str; 2] = ["tcp:127.0.0.1:0", "unix:"];

/// Notes what its thread had made of system calls when it was called.
#[derive(Default)]
struct Tower(Mutex<Vec<(ThreadId, SystemCalls)>>);

impl Tower {
    fn note(&self) -> Result<(), SystemException> {
        // Room was made for it.
        self.0.lock().unwrap().push((thread::current().id(), system_calls_of_thread()));
        Ok(())
    }

    /// What was noted since the last time.
    fn noted(&self) -> Vec<(ThreadId, SystemCalls)> {
        let room = Vec::with_capacity(2 * CALLS.max(BATCH));
        std::mem::replace(&mut self.0.lock().unwrap(), room)
    }

    fn wait_for(&self, count: usize) {
        let by = Instant::now() + PATIENCE;
        while self.0.lock().unwrap().len() < count {
            assert!(Instant::now() < by, "{count} oneways arrive");
            thread::sleep(Duration::from_micros(100));
        }
    }
}

impl BellServant for Tower {
    fn ring(&self, _: &Call) -> Result<(), SystemException> {
        self.note()
    }

    fn chime(&self, _: &Call, _: i32) -> Result<(), SystemException> {
        self.note()
    }
}

/// A server, a client's reference to its bell, and what hangs there.
fn meet(endpoint: &str, model: ThreadModel) -> (Orb, Orb, Bell, Arc<Tower>) {
    let server = Orb::builder().spinning(Spinning::none()).listen(endpoint).server_threads(model).build();
    let client = Orb::builder().spinning(Spinning::none()).build();
    let (poa, tower) = (server.root_poa().unwrap(), Arc::new(Tower::default()));
    let bell = poa.activate::<Bell>(tower.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(bell.as_object()));
    let bell = Bell::from_object(client.string_to_object(&text).unwrap().unwrap());
    (server, client, bell, tower)
}

fn between(before: SystemCalls, after: SystemCalls) -> [u64; 3] {
    [after.sends - before.sends, after.receives - before.receives, after.others - before.others]
}

/// From one note to the next, where the same thread wrote both.
fn between_notes(noted: &[(ThreadId, SystemCalls)]) -> Vec<[u64; 3]> {
    let pairs = noted.array_windows::<2>().filter(|[before, after]| before.0 == after.0);
    pairs.map(|[before, after]| between(before.1, after.1)).collect()
}

/// That nearly all are just that, or what was counted instead. That one is less is wrong at once.
fn nearly_all(counts: &[[u64; 3]], expected: [Option<u64>; 3], what: &str) -> Result<(), String> {
    let fewer = |count: &&[u64; 3]| {
        count.iter().zip(expected).any(|(count, expected)| expected.is_some_and(|expected| *count < expected))
    };
    assert_eq!(counts.iter().find(fewer), None, "{what}: fewer than there can be");
    let is_it = |count: &&[u64; 3]| {
        count.iter().zip(expected).all(|(count, expected)| expected.is_none_or(|expected| *count == expected))
    };
    let (exact, of) = (counts.iter().filter(is_it).count(), counts.len());
    let seen = &counts[..of.min(20)];
    sure(exact >= of * 9 / 10, || format!("{what}: {exact} of {of}; sends, receives, others: {seen:?} …"))
}

fn sure(is_so: bool, what_is: impl FnOnce() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(what_is()) }
}

/// One round after another, until one is as it should be: what other threads of the machine add to one they do not add to each.
fn in_one_round(mut round: impl FnMut() -> Result<(), String>) {
    let by = Instant::now() + PATIENCE;
    while let Err(what_is) = round() {
        assert!(Instant::now() < by, "in no round of many; in the last: {what_is}");
    }
}

/// One test at a time, since memory is the process's: so one test.
#[test]
fn the_short_path_is_as_short_as_can_be() {
    for endpoint in ENDPOINTS {
        // A reactor waits for its descriptors, by a system call that is neither.
        for (model, others) in [
            (ThreadModel::per_connection(), Some(0)),
            (ThreadModel::pool(2), Some(0)),
            (ThreadModel::Reactor, None),
        ] {
            a_null_call(endpoint, model, others);
            a_batch(endpoint, model);
        }
    }
}

fn a_null_call(endpoint: &str, model: ThreadModel, others: Option<u64>) {
    let what = format!("a null call over {endpoint} to {model:?}");
    let (_server, _client, bell, tower) = meet(endpoint, model);
    (0..WARM_UP).for_each(|_| bell.ring().unwrap());
    in_one_round(|| {
        tower.noted();
        let mut made = Vec::with_capacity(CALLS);
        let before = ALLOCATOR.stats();
        for _ in 0..CALLS {
            let before = system_calls_of_thread();
            bell.ring().unwrap();
            made.push(between(before, system_calls_of_thread()));
        }
        let after = ALLOCATOR.stats();
        let asked = after.allocations + after.reallocations - before.allocations - before.reallocations;
        nearly_all(&made, [Some(1), Some(1), Some(0)], &format!("{what}, client"))?;
        let served = between_notes(&tower.noted());
        let of = served.len();
        sure(of > CALLS / 2, || format!("{what}: {of} of {CALLS} served by who has served the one before"))?;
        nearly_all(&served, [Some(1), Some(1), others], &format!("{what}, server"))?;
        // What looks after upcalls may, each millisecond, and where other threads keep the processor that long has to do so: one call
        // in two is far from all.
        sure(asked <= CALLS / 2, || format!("{what}: memory was asked for {asked} times in {CALLS} calls"))
    });
}

fn a_batch(endpoint: &str, model: ThreadModel) {
    let what = format!("a batch over {endpoint} to {model:?}");
    let (_server, _client, bell, tower) = meet(endpoint, model);
    let buffering = Buffering::new().messages(BATCH as u32).time(Duration::from_secs(60));
    let policies = Policies::new().sync_scope(SyncScope::None).buffering(buffering);
    let bell = Bell::from_object(bell.as_object().with_policies(policies));
    let batch = || {
        tower.noted();
        let before = system_calls_of_thread();
        (0..BATCH as i32).for_each(|number| bell.chime(number).unwrap());
        let sent = between(before, system_calls_of_thread());
        tower.wait_for(BATCH);
        (sent, between_notes(&tower.noted()))
    };
    // The first find the sizes of all that is kept, and open the connection.
    (0..4).for_each(|_| drop(batch()));
    in_one_round(|| {
        let (made, served): (Vec<_>, Vec<_>) = (0..CALLS / BATCH).map(|_| batch()).unzip();
        assert!(made.iter().all(|[sends, ..]| *sends == 1), "{what}, client: {made:?}");
        // Before a batch the connection is looked at, and the reactor told of its time, if that was not just done.
        sure(made.iter().any(|[_, receives, _]| *receives == 0), || format!("{what}, client: {made:?}"))?;
        // All of it came with the first: from one to the next nothing is received, and nothing is ever sent.
        nearly_all(&served.concat(), [Some(0), Some(0), Some(0)], &format!("{what}, server"))
    });
}
