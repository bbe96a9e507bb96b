//! What is copied of bulk that is received where it is to stay: the heads, what the first read brings with them, and nothing else.
//!
//! `cargo test -p zorb-tests --features probes --test deposits`. Client and server are this process's, so what is counted is both sides'.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zorb::cdr::copies::so_far;
use zorb::{Orb, OrbBuilder};
use zorb_tests::darkroom::Archive;
use zorb_tests::darkroom_servant::{Room, bins, meet, octets};
use zorb_tests::servant::PATIENCE;

/// Octets of what is sent.
const MUCH: usize = 1 << 20;

/// What a first read may bring of it.
const FIRST_READ: usize = 16 << 10;

/// Heads, requests without bulk and their replies.
const HEADS: usize = 2048;

/// The number is the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const ROADS: [&str; 2] = ["tcp:127.0.0.1:0", "unix:"];

/// By this road, with messages in fragments of so many octets.
fn meet_by(endpoint: &str, fragments: Option<usize>, room: &Arc<Room>) -> (Orb, Orb, Archive) {
    let cut = |builder: OrbBuilder| match fragments {
        Some(size) => builder.fragment_size(size),
        None => builder,
    };
    meet(cut(Orb::builder().listen(endpoint)), cut(Orb::builder()), room)
}

/// Octets copied by each of several calls. What is left of a reply that its client does not take for 100 ms waits in a copy: calls that were
/// held up for so long say nothing.
fn copied(mut call: impl FnMut()) -> Vec<usize> {
    let by = Instant::now() + PATIENCE;
    let mut counts = Vec::new();
    while counts.len() < 6 {
        let (before, began) = (so_far(), Instant::now());
        call();
        if began.elapsed() < Duration::from_millis(100) {
            counts.push(so_far() - before);
        }
        assert!(Instant::now() < by, "too many calls were held up");
    }
    counts
}

/// The first call on a connection, when nothing is known yet; and all others.
fn assert_at_most(counts: &[usize], first: usize, others: usize, what: &str) {
    println!("octets copied, {what}: {counts:?}");
    assert!(counts[0] <= first && counts[1..].iter().all(|&count| count <= others), "{what}: {counts:?}");
}

#[test]
fn of_a_result_nothing_but_what_the_first_read_brings() {
    let _alone = alone();
    for road in ROADS {
        for fragments in [None, Some(8192), Some(65_536)] {
            let room = Arc::new(Room::default());
            let (_server, _client, there) = meet_by(road, fragments, &room);
            there.put("a", &octets(MUCH), "a").unwrap();
            let mut into = vec![0; MUCH];
            let counts = copied(|| assert_eq!(there.get_into("a", &mut into).unwrap(), MUCH));
            assert!(into == octets(MUCH));
            let heads = HEADS + fragments.map_or(0, |size| 64 * (MUCH / size));
            assert_at_most(&counts, heads, heads, &format!("a result by {road}, {fragments:?}"));
        }
    }
}

#[test]
fn of_an_argument_nothing_but_what_the_first_read_brings() {
    let _alone = alone();
    for road in ROADS {
        for fragments in [None, Some(8192), Some(65_536)] {
            let room = Arc::new(Room::with_frames(2));
            let (_server, _client, there) = meet_by(road, fragments, &room);
            let data = octets(MUCH);
            let counts = copied(|| there.put("a", &data, "a").unwrap());
            assert!(there.get("a").unwrap() == data);
            assert!(room.in_place.load(Ordering::SeqCst) >= counts.len());
            let heads = HEADS + fragments.map_or(0, |size| 64 * (MUCH / size));
            assert_at_most(
                &counts,
                FIRST_READ + heads,
                heads,
                &format!("an argument by {road}, {fragments:?}"),
            );
        }
    }
}

/// In a message behind the first of these titles the structs are in phase, behind the second their first one has a layout of its own.
const TITLES: [&str; 2] = ["title", "out"];

#[test]
fn of_structs_that_tile_nothing_but_what_the_first_read_brings() {
    let _alone = alone();
    for (road, title) in ROADS.into_iter().flat_map(|road| TITLES.map(|title| (road, title))) {
        for fragments in [None, Some(65_536)] {
            let heads = HEADS + fragments.map_or(0, |size| 64 * (MUCH / size));
            let values = bins(MUCH / 24);
            for offers in [true, false] {
                let room = Arc::new(if offers { Room::with_frames(2) } else { Room::default() });
                let (_server, _client, there) = meet_by(road, fragments, &room);
                let counts = copied(|| there.put_bins(title, &values).unwrap());
                // Memory of the ORB's is given by what the connection has brought before: the first is received as ever, moved, and copied.
                let first = if offers { FIRST_READ + heads } else { 3 * MUCH };
                let how = format!("by {road}, {fragments:?}, behind {title:?}, memory offered: {offers}");
                assert_at_most(&counts, first, heads, &format!("structs {how}"));
                let counts = copied(|| assert!(there.struck(title, 0).unwrap() == values));
                assert_at_most(&counts, 3 * MUCH, heads, &format!("structs as a result {how}"));
                let mut into = vec![Default::default(); values.len()];
                let counts = copied(|| {
                    assert_eq!(there.struck_into(title, 0, &mut into).unwrap(), values.len());
                });
                assert!(into == values);
                assert_at_most(&counts, heads, heads, &format!("structs into a slice {how}"));
            }
        }
    }
}
