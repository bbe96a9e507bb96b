//! Bulk is received where it is to stay: results in the caller's slice, arguments in memory that the servant offers.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zorb::deposit::{Bulk, Deposit};
use zorb::server::ThreadModel;
use zorb::{Call, Completion, Interface, Kind, Orb, OrbBuilder, Sequence, SystemException};
use zorb_tests::darkroom::{BinStruct, Scale, ScaleServant, Store};
use zorb_tests::darkroom_servant::{FRAME, Room, bins, image, meet, octets};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Screen, ScreenServant};

use crate::fixture::{Place, models};

over!(
    results_go_into_the_callers_slice,
    arguments_go_into_memory_that_the_servant_offers,
    structs_that_tile_are_received_in_phase,
    structs_for_whom_no_servant_has_memory_are_brought_in_phase,
    structs_that_are_less_than_bulk_are_brought_in_phase_where_they_come_again,
    what_is_larger_than_structs_that_came_whole_is_asked_for_all_the_same,
    oneways_and_derived_interfaces_have_a_place_too,
    what_does_not_fit_is_received_as_ever,
    a_result_beyond_the_slice_names_both_lengths,
    fragments_go_there_too,
);

/// Waits until the room has so many free frames: what a connection keeps it lets go of some time after a call has returned.
fn is_free(room: &Room, frames: usize) -> bool {
    let latest = Instant::now() + PATIENCE;
    while room.free() < frames && Instant::now() < latest {
        std::thread::sleep(Duration::from_millis(2));
    }
    room.free() == frames
}

fn results_go_into_the_callers_slice(place: Place) {
    let room = Arc::new(Room::default());
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    for size in [0, 100, 5000, 16_383, 16_384, 100_000, 1 << 20, 3_000_001] {
        let data = octets(size);
        there.put("a", &data, "a").unwrap();
        let mut into = vec![0xee; size + 10];
        for _ in 0..3 {
            into.fill(0xee);
            assert_eq!(there.get_into("a", &mut into).unwrap(), size);
            assert!(into[..size] == data && into[size..] == [0xee; 10], "{size}");
        }
        // Between them ordinary calls on the same connection.
        assert!(there.get("a").unwrap() == data);
        assert_eq!(there.thrown_in().unwrap(), 0);
    }
    let mut into = vec![0.0; 100_000];
    let data = octets(50_000);
    there.put("b", &data, "b").unwrap();
    let (result, note, count, mark, thumb) = there.look_into("b", "m", &mut into).unwrap();
    assert_eq!((result, &*note, count, &*mark), (-7, "B", 100_000, "m!"));
    assert!(image(100_000) == into && thumb == data);
    // What it raises is raised.
    let missing = there.get_into("c", &mut [0; 20_000]).unwrap_err();
    assert!(missing.to_string().contains('c'), "{missing}");
    // Of what has no such memory it is read.
    let mut flags = vec![Default::default(); 40_000];
    assert_eq!(there.flagged_into(40_000, &mut flags).unwrap(), 40_000);
    assert!(there.flagged(40_000).unwrap() == flags);
    let mut longs = vec![0; 60_000];
    assert_eq!(there.counted_into(50_000, &mut longs).unwrap(), 50_000);
    assert_eq!((longs[49_999], longs[50_000]), (49_999, 0));
    assert_eq!(there.all_into(&mut vec![0; 4_000_000]).unwrap(), 3_050_001);
    assert_eq!((there.paint_into_(70_000, &mut into).unwrap(), there.paint_into().unwrap()), (70_000, 4711));
}

fn arguments_go_into_memory_that_the_servant_offers(place: Place) {
    let room = Arc::new(Room::with_frames(3));
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    let in_place = || room.in_place.load(Ordering::SeqCst);
    for (round, size) in [20_000, 100_000, 1 << 20, FRAME].into_iter().enumerate() {
        let data = octets(size);
        for title in ["a", "b", "c"] {
            there.put(title, &data, title).unwrap();
        }
        if !place.is_lite() {
            assert_eq!(in_place(), 3 * (round + 1), "{size}");
            assert_eq!(room.free(), 0);
        }
        // All are in use.
        there.put("d", &data, "d").unwrap();
        for title in ["a", "b", "c", "d"] {
            assert!(there.get(title).unwrap() == data, "{size}");
        }
        room.clear();
        assert!(is_free(&room, 3), "{}", room.free());
    }
    there.hang(&image(100_000)).unwrap();
    there.put_longs(&(0..50_000).collect::<Vec<i32>>()).unwrap();
    assert!(place.is_lite() || in_place() == 14);
    room.clear();
    assert!(is_free(&room, 3));
    // Small ones are not asked for.
    let asked = room.asked.load(Ordering::SeqCst);
    there.put("a", &octets(10_000), "a").unwrap();
    assert_eq!(room.asked.load(Ordering::SeqCst), asked);
    assert!(place.is_lite() || asked >= 18);
}

fn structs_that_tile_are_received_in_phase(place: Place) {
    let (with, without) = (Arc::new(Room::with_frames(1)), Arc::new(Room::default()));
    for room in [&with, &without] {
        let (_server, _client, there) = meet(place.server(), place.client(), room);
        let frames = room.free();
        // Texts of all lengths modulo 8 before them: in phase, and out of it.
        for title in ["", "1", "12", "123", "1234", "12345", "123456", "1234567"] {
            for count in [100, 700, 44_000] {
                let values = bins(count);
                there.put_bins(title, &values).unwrap();
                assert!(there.struck(title, 0).unwrap() == values);
                let mut into = vec![Default::default(); count + 1];
                assert_eq!(there.struck_into(title, 0, &mut into).unwrap(), count);
                assert!(into[..count] == values[..], "{title:?}, {count}");
                room.clear();
                // The answer that was sent from it may be given up a little later.
                assert!(is_free(room, frames));
            }
        }
    }
    assert!(place.is_lite() || with.in_place.load(Ordering::SeqCst) == 16);
}

/// Counts what is right, and what lies in the message.
#[derive(Default)]
struct Weighed {
    views: AtomicUsize,
    dropped: AtomicU32,
}

impl Weighed {
    /// Waits until so many have been dropped.
    fn has_dropped(&self, count: u32) {
        let latest = Instant::now() + PATIENCE;
        while self.dropped.load(Ordering::SeqCst) < count {
            assert!(Instant::now() < latest, "they do not arrive as they were sent");
            std::thread::yield_now();
        }
    }
}

impl ScaleServant for Weighed {
    fn weigh(&self, _: &Call, values: Sequence<BinStruct>, text: &str) -> Result<String, SystemException> {
        self.views.fetch_add(values.is_view().into(), Ordering::SeqCst);
        let sum: i64 = values.iter().map(|value| i64::from(value.l)).sum();
        Ok(format!("{} of {sum}, {text}", values.len()))
    }

    fn drop(&self, _: &Call, values: Sequence<BinStruct>) -> Result<(), SystemException> {
        self.views.fetch_add(values.is_view().into(), Ordering::SeqCst);
        self.dropped.fetch_add((*values == *bins(values.len())).into(), Ordering::SeqCst);
        Ok(())
    }

    fn dropped(&self, _: &Call) -> Result<u32, SystemException> {
        Ok(self.dropped.load(Ordering::SeqCst))
    }
}

fn structs_for_whom_no_servant_has_memory_are_brought_in_phase(place: Place) {
    weighs(place, place.server(), 4);
    // Memory that connections share: they have a place of their own, which a client earns anew behind what was small.
    weighs(place, place.server().message_memory(64 << 20), 8);
}

/// But for so many, which a client has not earned yet, all are viewed where they were received; of those that come together half: where an upcall
/// lasts, as on a busy machine, another thread reads on, and what came with the message in its hands stays as it is.
fn weighs(place: Place, server: OrbBuilder, unearned: usize) {
    let (server, client) = (server.build(), place.client().build());
    let (poa, weighed) = (server.root_poa().unwrap(), Arc::new(Weighed::default()));
    let scale = poa.activate::<Scale>(weighed.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(scale.as_object()));
    let there = Scale::from_object(client.string_to_object(&text).unwrap().unwrap());
    let sizes = [44_000, 2800, 0, 1, 44_000, 1000, 44_000, 2800, 1000, 44_000];
    for (round, count) in (0..).zip(sizes.into_iter().cycle().take(40)) {
        let text = "x".repeat(round % 9);
        let sum: i64 = (0..count as i64).map(|n| n * -3).sum();
        assert_eq!(there.weigh(&bins(count), &text).unwrap(), format!("{count} of {sum}, {text}"));
    }
    // What a peer lends is copied where it is out of phase.
    let is_viewed = !place.is_lite() && !place.is_shared_memory();
    let large = 4 * sizes.iter().filter(|count| **count > 1000).count();
    let views = weighed.views.swap(0, Ordering::SeqCst);
    assert!(!is_viewed || views + unearned >= large, "{views} views of {large}");
    for round in 1..=30 {
        there.drop(&bins(3000)).unwrap();
        let latest = Instant::now() + PATIENCE;
        while there.dropped().unwrap() < round {
            assert!(Instant::now() < latest, "it does not arrive as it was sent");
        }
    }
    let views = weighed.views.swap(0, Ordering::SeqCst);
    assert!(!is_viewed || views + unearned >= 30, "{views} views of 30");
    // Faster than they are looked at, so that several are received at once.
    let flood = bins(2700);
    (0..300).for_each(|_| there.drop(&flood).unwrap());
    let latest = Instant::now() + PATIENCE;
    while there.dropped().unwrap() < 330 {
        assert!(Instant::now() < latest, "it does not arrive as it was sent");
    }
    let views = weighed.views.load(Ordering::SeqCst);
    assert!(!is_viewed || views + unearned >= 150, "{views} views of 300");
}

fn structs_that_are_less_than_bulk_are_brought_in_phase_where_they_come_again(place: Place) {
    let (server, client) = (place.server().build(), place.client().build());
    let (poa, weighed) = (server.root_poa().unwrap(), Arc::new(Weighed::default()));
    let scale = poa.activate::<Scale>(weighed.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(scale.as_object()));
    let there = Scale::from_object(client.string_to_object(&text).unwrap().unwrap());
    let is_viewed = !place.is_lite() && !place.is_shared_memory();
    let has_views = |least: usize, what: &str| {
        let views = weighed.views.swap(0, Ordering::SeqCst);
        assert!(!is_viewed || views >= least, "{views} views of {least} {what}");
    };
    // Alone, and faster than they are looked at (half, as above); the head of the first two is not known yet, and they are too few to be viewed.
    let mut dropped = 0;
    for (count, each, is_alone) in
        [(10, 3, true), (500, 30, true), (600, 300, false), (10, 30, false), (200, 30, true)]
    {
        for _ in 0..each {
            there.drop(&bins(count)).unwrap();
            dropped += 1;
            if is_alone {
                weighed.has_dropped(dropped);
            }
        }
        weighed.has_dropped(dropped);
        let least = match (count, is_alone) {
            (10, _) => 0,
            (_, true) => each,
            (_, false) => each / 2,
        };
        has_views(least as usize, "oneways");
    }
    // Their head is another one, which is to be met first.
    for (count, least) in [(10, 0), (500, 37), (100, 0), (44_000, 39), (600, 39)] {
        (0..40).for_each(|_| drop(there.weigh(&bins(count), "").unwrap()));
        has_views(least, "calls");
    }
}

fn what_is_larger_than_structs_that_came_whole_is_asked_for_all_the_same(place: Place) {
    let room = Arc::new(Room::with_frames(1));
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    for _ in 0..2 {
        (0..6).for_each(|_| there.file_bins(&bins(400)).unwrap());
        there.file_bins(&bins(44_000)).unwrap();
        assert!(is_free(&room, 1));
    }
    assert!(place.is_lite() || room.in_place.load(Ordering::SeqCst) == 2);
    let views = room.views.load(Ordering::SeqCst);
    assert!(place.is_lite() || place.is_shared_memory() || views >= 2 + 8, "{views} views");
}

fn oneways_and_derived_interfaces_have_a_place_too(place: Place) {
    let room = Arc::new(Room::with_frames(1));
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    let data = octets(100_000);
    for round in 1..=3 {
        there.throw_in(&data).unwrap();
        let latest = Instant::now() + PATIENCE;
        while there.thrown_in().unwrap() < round {
            assert!(Instant::now() < latest, "it does not arrive");
        }
        assert!(is_free(&room, 1));
    }
    there.put_into("drawer", &data).unwrap();
    assert!(there.get("drawer").unwrap() == data);
    assert!(place.is_lite() || room.in_place.load(Ordering::SeqCst) == 4);
}

fn what_does_not_fit_is_received_as_ever(place: Place) {
    let room = Arc::new(Room::with_frames(1));
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    let data = octets(100_000);
    let large = octets(FRAME + 1);
    for _ in 0..2 {
        there.put("a", &large, "a").unwrap();
        assert!(there.get("a").unwrap() == large);
        room.misfits.store(true, Ordering::SeqCst);
        there.put("a", &data, "a").unwrap();
        room.misfits.store(false, Ordering::SeqCst);
        assert!(there.get("a").unwrap() == data);
        room.panics.store(true, Ordering::SeqCst);
        there.put("a", &data, "a").unwrap();
        room.panics.store(false, Ordering::SeqCst);
        assert!(there.get("a").unwrap() == data);
    }
    assert_eq!((room.in_place.load(Ordering::SeqCst), room.free()), (0, 1));
    // Beyond its bound a sequence is refused before anybody is asked.
    let asked = room.asked.load(Ordering::SeqCst);
    let refused = there.put_longs(&vec![1; 50_001]).unwrap_err();
    assert_eq!((refused.kind, room.asked.load(Ordering::SeqCst)), (Kind::BadParam, asked));
}

fn a_result_beyond_the_slice_names_both_lengths(place: Place) {
    let room = Arc::new(Room::default());
    let (_server, _client, there) = meet(place.server(), place.client(), &room);
    for size in [1000, 1 << 20] {
        there.put("a", &octets(size), "a").unwrap();
        let refused = there.get_into("a", &mut vec![0; size - 1]).unwrap_err().to_string();
        assert!(
            refused.contains(&size.to_string()) && refused.contains(&(size - 1).to_string()),
            "{refused}"
        );
        let refused = there.paint_into_(200, &mut [0.0; 100]).unwrap_err();
        assert_eq!((refused.kind, refused.completed), (Kind::BadParam, Completion::Yes));
        // The connection is as good as before.
        assert_eq!(there.get_into("a", &mut vec![0; size]).unwrap(), size);
    }
}

fn fragments_go_there_too(place: Place) {
    let room = Arc::new(Room::with_frames(1));
    for size in [1024, 8192, 65_536] {
        room.in_place.store(0, Ordering::SeqCst);
        let (server, client) = (place.server().fragment_size(size), place.client().fragment_size(size));
        let (_server, _client, there) = meet(server, client, &room);
        for count in [30_000, 1 << 20] {
            let data = octets(count);
            for _ in 0..2 {
                there.put("a", &data, "a").unwrap();
                let mut into = vec![0; count];
                assert_eq!(there.get_into("a", &mut into).unwrap(), count);
                assert!(into == data);
                room.clear();
                assert!(is_free(&room, 1));
                let values = bins(count / 24);
                there.put_bins("bins", &values).unwrap();
                let mut into = vec![Default::default(); values.len()];
                assert_eq!(there.struck_into("bins", 0, &mut into).unwrap(), values.len());
                assert!(into == values);
                room.clear();
                assert!(is_free(&room, 1));
            }
        }
        assert!(place.is_lite() || room.in_place.load(Ordering::SeqCst) == 8);
    }
}

#[test]
fn every_threading_model_receives_them() {
    for model in models().into_iter().chain([ThreadModel::pool(1)]) {
        let room = Arc::new(Room::with_frames(2));
        let server = Place::TCP.server().server_threads(model);
        let (_server, client, there) = meet(server, Place::TCP.client(), &room);
        let data = octets(1 << 20);
        std::thread::scope(|scope| {
            for title in ["a", "b"] {
                let (there, data) = (&there, &data);
                scope.spawn(move || {
                    for _ in 0..5 {
                        there.put(title, data, title).unwrap();
                        let mut into = vec![0; data.len()];
                        assert_eq!(there.get_into(title, &mut into).unwrap(), data.len());
                        assert!(into == *data);
                    }
                });
            }
        });
        assert!(room.in_place.load(Ordering::SeqCst) > 0, "{model:?}");
        drop(client);
    }
}

/// What comes by TCP is received into memory that is lent, and sent on from there.
#[test]
fn memory_that_is_lent_can_be_offered() {
    struct Relay(Orb, Mutex<Sequence<u8>>);
    impl Relay {
        fn lends(&self, octets: usize) -> Option<Deposit> {
            Deposit::of_loan(self.0.loan::<u8>(octets).ok()?)
        }
    }
    impl ScreenServant for Relay {
        fn show(&self, _: &Call, data: Sequence<u8>) -> Result<(), SystemException> {
            // At a page's beginning, as memory that is mapped for it.
            assert_eq!(data.as_ptr().align_offset(4096), 0);
            *self.1.lock().unwrap() = data;
            Ok(())
        }
        fn shown(&self, _: &Call) -> Result<i32, SystemException> {
            Ok(i32::try_from(self.1.lock().unwrap().len()).unwrap())
        }
        fn memory_for(&self, bulk: &Bulk<'_>) -> Option<Deposit> {
            self.lends(bulk.octets())
        }
    }
    let server = Place::TCP.server().transport(Place::SHM.transport()).build();
    let poa = server.root_poa().unwrap();
    let relay = Arc::new(Relay(server.clone(), Mutex::default()));
    let screen = poa.activate::<Screen>(relay.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(Some(screen.as_object()));
    let client = Place::TCP.client().build();
    let there = Screen::from_object(client.string_to_object(&text).unwrap().unwrap());
    let data = octets(300_000);
    for _ in 0..3 {
        there.show(&data).unwrap();
        let latest = Instant::now() + PATIENCE;
        while there.shown().unwrap() != 300_000 {
            assert!(Instant::now() < latest, "it is not shown");
        }
        assert!(*relay.1.lock().unwrap() == data);
        *relay.1.lock().unwrap() = Sequence::new();
    }
    assert!(Deposit::of_loan(server.loan::<bool>(100).unwrap()).is_none());
}

#[test]
fn many_callers_share_connections_and_have_their_results() {
    let room = Arc::new(Room::default());
    let client = Place::TCP.client().joint_beyond(1).private_connections(2);
    let (_server, _client, there) = meet(Place::TCP.server(), client, &room);
    let data = octets(200_000);
    there.put("a", &data, "a").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut into = vec![0; data.len()];
                for _ in 0..5 {
                    into.fill(0);
                    assert_eq!(there.get_into("a", &mut into).unwrap(), data.len());
                    assert!(into == data);
                }
            });
        }
    });
}

#[test]
fn a_call_in_this_process_copies_into_the_slice() {
    let room = Arc::new(Room::with_frames(1));
    let server = Place::TCP.server().build();
    let poa = server.root_poa().unwrap();
    let here = poa.activate::<Store>(room.clone()).unwrap();
    poa.manager().activate().unwrap();
    let data = octets(100_000);
    here.put("a", &data, "a").unwrap();
    let mut into = vec![0; 100_000];
    assert_eq!(here.get_into("a", &mut into).unwrap(), 100_000);
    assert!(into == data);
    assert!(here.get_into("a", &mut [0; 10]).unwrap_err().to_string().contains("100000"));
    assert_eq!(room.asked.load(Ordering::SeqCst), 0);
}
