//! A small message allocates nothing once the connection has its buffer, and a hostile one never much.

mod common;

use allocation_counter::measure;
use common::{VECTORS, hex};
use zorb_giop::*;

fn put(inbound: &mut Inbound, octets: &[u8]) {
    inbound.space()[..octets.len()].copy_from_slice(octets);
    inbound.received(octets.len());
}

#[test]
fn small_messages_allocate_nothing_in_the_steady_state() {
    // Contexts make a list, profiles as targets are boxed; everything else is ranges.
    let plain = |vector: &&common::Vector| {
        vector.head > 0
            && vector.says.contains("contexts []")
            && !vector.says.contains("reference")
            && !vector.says.contains("profile")
    };
    for vector in VECTORS.iter().filter(plain) {
        let octets = vector.octets();
        let mut inbound = Inbound::new(Limits::default());
        let mut cycle = || {
            put(&mut inbound, &octets);
            assert!(inbound.next().unwrap().is_some());
            assert!(inbound.next().unwrap().is_none());
        };
        cycle();
        let counted = measure(|| (0..1000).for_each(|_| cycle()));
        assert_eq!(counted.count_total, 0, "{}", vector.name);
    }
}

#[test]
fn an_announced_size_allocates_the_first_grant_at_most() {
    let limits = Limits::default();
    let counted = measure(|| {
        let mut inbound = Inbound::new(limits);
        put(&mut inbound, &hex("47494f50 01020100 00ffff03 00000000"));
        assert!(inbound.next().unwrap().is_none());
        inbound.space();
    });
    // Large memory begins at a page.
    let page = 4096;
    assert!(
        counted.bytes_max <= (limits.receive_buffer + limits.first_grant + page + 1024) as u64,
        "{counted:?}"
    );
}

#[test]
fn announced_counts_and_lengths_allocate_nothing() {
    for message in [
        // A context count, a key length, an operation length, each far beyond the message.
        "47494f50 01000100 08000000 ffffff00 00000000",
        "47494f50 01020100 10000000 05000000 03000000 00000000 ffffff7f",
        "47494f50 01020100 18000000 05000000 03000000 00000000 00000000 ffffff7f 00000000",
        // A reference with a count of profiles beyond the message.
        "47494f50 01020100 18000000 05000000 03000000 02000000 00000000 01000000 00000000",
    ] {
        let mut inbound = Inbound::new(Limits::default());
        put(&mut inbound, &hex(message));
        let counted = measure(|| assert!(inbound.next().is_err()));
        assert!(counted.bytes_total < 1024, "{message}: {counted:?}");
    }
}
