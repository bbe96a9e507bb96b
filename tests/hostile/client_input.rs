//! What a server sends: every prefix of every answer, mutations. Each ends in a result or an exception, without a panic
//! and without much memory.

use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zorb::policy::Policies;
use zorb::transport::tcp::Tcp;
use zorb::{Kind, Orb, OrbBuilder, SystemException};
use zorb_ipc::{Resolver, ResolverOptions};
use zorb_tests::mutation::mutations_of_each;
use zorb_tests::seeds::to_client;
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::Probe;
use zorb_tests::wire::DIALECTS;

use crate::heard::no_memory;
use crate::rig::{Fake, impatient, probe};

/// The request id of the first call on a connection.
pub(crate) const FIRST: u32 = 1;

/// An ORB that knows no host but this one: a mutated forward must not make a test ask the network for names.
pub(crate) fn local(call: Duration) -> OrbBuilder {
    let resolver =
        Resolver::with_lookup(ResolverOptions::default(), |_| Err(std::io::ErrorKind::NotFound.into()));
    Orb::builder()
        .policies(Policies::new().call_timeout(call).connect_timeout(Duration::from_millis(20)))
        .transport(Arc::new(Tcp::with_resolver(resolver)))
        .largest_message(1 << 20)
}

/// What the next request is answered with.
type Answer = Arc<Mutex<Option<Vec<u8>>>>;

/// A server that answers one request with the octets that lie in the cell, all others with `NO_MEMORY`. Each connection
/// ends with its answer.
fn parrot(minor: u8) -> (Fake, Answer) {
    let answer = Answer::default();
    let next = answer.clone();
    let fake = Fake::serving(minor, move |mut client| {
        let Some(request) = client.message() else { return };
        let octets = next.lock().expect("no thread panics here").take();
        client.say(&octets.unwrap_or_else(|| no_memory(&request)));
        let _ = client.stream.shutdown(Shutdown::Write);
        client.until_closed();
    });
    (fake, answer)
}

/// Has a call answered with `octets`. One that still went by the connection that the answer before has ended found nobody
/// to answer it, and is made again.
fn answered_with(
    octets: &[u8],
    answer: &Answer,
    call: impl Fn() -> Result<String, SystemException>,
) -> Result<String, SystemException> {
    *answer.lock().expect("no thread panics here") = Some(octets.to_vec());
    loop {
        let called = call();
        if answer.lock().expect("no thread panics here").is_none() {
            return called;
        }
        assert!(called.is_err_and(|exception| exception.kind == Kind::CommFailure), "nobody has answered");
    }
}

#[test]
fn every_prefix_then_the_end() {
    for (minor, _) in DIALECTS.into_iter().step_by(2) {
        let (fake, answer) = parrot(minor);
        let orb = local(PATIENCE).build();
        let probe = probe(&orb, &fake.ior);
        for seed in to_client(FIRST) {
            for end in 0..seed.octets.len() {
                let called = answered_with(&seed.octets[..end], &answer, || probe.greet("x"));
                assert!(called.is_err(), "{}, {end} octets: {called:?}", seed.name);
            }
        }
    }
}

#[test]
fn every_prefix_then_silence() {
    let seeds = to_client(FIRST);
    let mut answers = Vec::new();
    for seed in &seeds {
        answers.extend((0..seed.octets.len()).map(|end| (&seed.name, seed.octets[..end].to_vec())));
    }
    let octets: Vec<_> = answers.iter().map(|(_, octets)| octets.clone()).collect();
    // The call's argument, `#` and a number, says which answer it is to get.
    let fake = Fake::serving(2, move |mut client| {
        let Some(request) = client.message() else { return };
        let number =
            request.iter().rposition(|&octet| octet == b'#').map(|at| &request[at + 1..request.len() - 1]);
        let number = number.and_then(|digits| str::from_utf8(digits).ok()?.parse::<usize>().ok());
        client.say(&octets[number.expect("a number")]);
        client.until_closed();
    });
    // The deadlines are what this waits for, so the calls wait side by side. Each has an ORB of its own, for calls of one
    // would share a connection.
    let numbered: Vec<_> = answers.iter().enumerate().collect();
    for batch in numbered.chunks(200) {
        let calls: Vec<_> = batch
            .iter()
            .map(|(number, _)| {
                let orb = impatient(Duration::from_millis(200));
                probe(&orb, &fake.ior).greet_async(format!("#{number}"))
            })
            .collect();
        for (call, (_, (name, octets))) in calls.into_iter().zip(batch) {
            let called = call.wait();
            assert!(called.is_err(), "{name}, {} octets, and silence: {called:?}", octets.len());
        }
    }
}

/// Mutations of each answer, for each version and each way to call.
const EACH: usize = 50;

#[test]
fn mutations_of_every_answer() {
    mutations_to("greet", |probe| probe.greet("x"));
}

#[test]
fn mutations_of_every_answer_to_a_future() {
    mutations_to("greet_async", |probe| probe.greet_async("x".into()).wait());
}

fn mutations_to(what: &str, call: impl Fn(&Probe) -> Result<String, SystemException>) {
    let seeds: Vec<_> = to_client(FIRST).into_iter().map(|seed| seed.octets).collect();
    for (minor, _) in DIALECTS.into_iter().step_by(2) {
        let (fake, answer) = parrot(minor);
        let orb = local(Duration::from_secs(2)).build();
        for (number, octets) in mutations_of_each(&seeds, EACH, u64::from(minor) + 1).enumerate() {
            // A reference of its own, since a forward is remembered.
            let probe = probe(&orb, &fake.ior);
            let mut called = Ok(String::new());
            let counted = allocation_counter::measure(|| {
                called = answered_with(&octets, &answer, || call(&probe));
            });
            assert!(counted.bytes_max < 4 << 20, "{what}, mutation {number}: {counted:?} for {called:?}");
        }
    }
}
