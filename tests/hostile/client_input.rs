//! What a server sends: every prefix of every answer, mutations. Each ends in a result or an exception, without a panic
//! and without much memory.

use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use zorb::Orb;
use zorb::policy::Policies;
use zorb::transport::tcp::Tcp;
use zorb_ipc::{Resolver, ResolverOptions};
use zorb_tests::mutation::mutations;
use zorb_tests::seeds::to_client;
use zorb_tests::servant::PATIENCE;
use zorb_tests::wire::DIALECTS;

use crate::rig::{Fake, impatient, probe};

/// The request id of the first call on a connection.
const FIRST: u32 = 1;

/// An ORB that knows no host but this one: a mutated forward must not make a test ask the network for names.
fn local(call: Duration) -> Orb {
    let resolver =
        Resolver::with_lookup(ResolverOptions::default(), |_| Err(std::io::ErrorKind::NotFound.into()));
    Orb::builder()
        .policies(Policies::new().call_timeout(call).connect_timeout(Duration::from_millis(20)))
        .transport(Arc::new(Tcp::with_resolver(resolver)))
        .largest_message(1 << 20)
        .build()
}

/// A server that answers each connection's first request with the octets that lie in the cell, then closes if it is told so.
fn parrot(minor: u8, closes: bool) -> (Fake, Arc<Mutex<Vec<u8>>>) {
    let cell = Arc::new(Mutex::new(Vec::new()));
    let answer = cell.clone();
    let fake = Fake::serving(minor, move |mut client| {
        if client.request().is_none() {
            return;
        }
        let octets = answer.lock().expect("no thread panics here").clone();
        client.say(&octets);
        if closes {
            let _ = client.stream.shutdown(Shutdown::Write);
        }
        client.until_closed();
    });
    (fake, cell)
}

#[test]
fn every_prefix_then_the_end() {
    for (minor, _) in DIALECTS.into_iter().step_by(2) {
        let (fake, answer) = parrot(minor, true);
        let orb = local(PATIENCE);
        let probe = probe(&orb, &fake.ior);
        for seed in to_client(FIRST) {
            for end in 0..seed.octets.len() {
                *answer.lock().expect("no thread panics here") = seed.octets[..end].to_vec();
                let called = probe.greet("x");
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

#[test]
fn mutations_of_every_answer() {
    let seeds: Vec<_> = to_client(FIRST).into_iter().map(|seed| seed.octets).collect();
    for (minor, _) in DIALECTS.into_iter().step_by(2) {
        let (fake, answer) = parrot(minor, true);
        let orb = local(Duration::from_secs(2));
        for (number, octets) in mutations(&seeds, 1_000, u64::from(minor) + 1).enumerate() {
            *answer.lock().expect("no thread panics here") = octets;
            // A reference of its own, since a forward is remembered.
            let probe = probe(&orb, &fake.ior);
            let mut held = Ok(String::new());
            let counted = allocation_counter::measure(|| held = probe.greet("x"));
            assert!(counted.bytes_max < 4 << 20, "mutation {number}: {counted:?} for {held:?}");
        }
    }
}
