//! Into what pieces requests are cut, by whose policy.

use std::sync::Arc;

use zorb::policy::{Policies, with_thread_policies};
use zorb::{Interface, Orb};
use zorb_tests::darkroom_servant::octets;
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;

use crate::fixture::{Place, probe, serve};
use crate::tap::Tap;

/// Octets of an argument: many times any size of fragments here.
const OCTETS: usize = 10_000;

/// The sizes of the messages in a stream of GIOP, heads included.
fn messages(stream: &[u8]) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut rest = stream;
    while let [b'G', b'I', b'O', b'P', _, _, flags, _, size @ ..] = rest {
        let size = *size.first_chunk().expect("a whole head");
        let size =
            12 + if flags & 1 == 1 { u32::from_le_bytes(size) } else { u32::from_be_bytes(size) } as usize;
        sizes.push(size);
        rest = &rest[size..];
    }
    assert_eq!(rest, [0; 0], "only messages");
    sizes
}

/// The messages that a call through this reference takes that waits, and one that does not.
fn sent(tap: &Tap, probe: &Probe) -> Vec<usize> {
    let data = octets(OCTETS);
    let already: Vec<usize> = tap.heard().iter().map(Vec::len).collect();
    assert_eq!(probe.echo(&data).unwrap()[..], data[..]);
    assert_eq!(probe.echo_async(data.clone().into()).wait().unwrap()[..], data[..]);
    let heard = tap.heard();
    let before = already.into_iter().chain(std::iter::repeat(0));
    heard.iter().zip(before).flat_map(|(heard, before)| messages(&heard[before..])).collect()
}

fn are_cut(sizes: &[usize], most: usize) -> bool {
    sizes.len() > 2 * (OCTETS / most) && sizes.iter().all(|&size| size <= most)
}

fn are_whole(sizes: &[usize]) -> bool {
    matches!(*sizes, [one, other] if one.min(other) > OCTETS)
}

fn tapped() -> (Orb, Tap) {
    let (server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let tap = Tap::before(&text);
    (server, tap)
}

fn under(probe: &Probe, policies: Policies) -> Probe {
    Probe::from_object(probe.as_object().with_policies(policies))
}

#[test]
fn the_reference_decides_then_the_thread_then_the_orb() {
    let (_server, tap) = tapped();
    let client = Place::TCP.client().policies(Policies::new().fragment_size(4096)).fragment_size(99).build();
    let probe = probe(&client, &tap.reference);
    let own = under(&probe, Policies::new().fragment_size(1024));
    assert!(are_cut(&sent(&tap, &probe), 4096));
    assert!(are_cut(&sent(&tap, &own), 1024));
    with_thread_policies(Policies::new().fragment_size(2048), || {
        let (thread, reference) = (sent(&tap, &probe), sent(&tap, &own));
        assert!(are_cut(&thread, 2048) && !are_cut(&thread, 1024), "{thread:?}");
        assert!(are_cut(&reference, 1024), "{reference:?}");
    });
    let whole = under(&probe, Policies::new().fragment_size(usize::MAX));
    assert!(are_whole(&sent(&tap, &whole)));
}

#[test]
fn without_a_policy_requests_are_whole_or_as_the_builder_says() {
    let (_server, tap) = tapped();
    let (plain, cutting) = (Place::TCP.client().build(), Place::TCP.client().fragment_size(512).build());
    assert!(are_whole(&sent(&tap, &probe(&plain, &tap.reference))));
    assert!(are_cut(&sent(&tap, &probe(&cutting, &tap.reference)), 512));
}

#[test]
fn a_fragment_is_never_little_more_than_a_head() {
    let (_server, tap) = tapped();
    let client = Place::TCP.client().build();
    let tiny = under(&probe(&client, &tap.reference), Policies::new().fragment_size(1));
    let sizes = sent(&tap, &tiny);
    assert!(are_cut(&sizes, 64) && sizes.len() < 2 * (OCTETS / 32), "{sizes:?}");
}
