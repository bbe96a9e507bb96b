//! Oneways that are gathered: what makes them leave, that they arrive once and in order, and what becomes of them at an end.

use std::io::Read;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use zorb::policy::{Buffering, Policies, SyncScope, with_thread_policies};
use zorb::{Interface, Orb, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, Screen};

use crate::fixture::{Place, models, probe, serve};
use crate::futures::block_on;

/// Conditions that do not hold by themselves.
fn endless() -> Buffering {
    Buffering::new().messages(1_000_000).octets(16 << 20).time(Duration::from_secs(60))
}

fn gathering(buffering: Buffering) -> Policies {
    Policies::new().sync_scope(SyncScope::None).buffering(buffering)
}

/// The same object, of which oneways are gathered.
fn with(probe: &Probe, buffering: Buffering) -> Probe {
    Probe::from_object(probe.as_object().with_policies(gathering(buffering)))
}

/// Waits until so many have been noted, as another client sees it, and returns all.
fn noted(other: &Probe, count: usize) -> Vec<i32> {
    let by = Instant::now() + PATIENCE;
    loop {
        let noted = other.noted().unwrap();
        if noted.len() >= count || Instant::now() > by {
            return noted.to_vec();
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Server, gathering client, and another client of the same object.
struct Meeting {
    _server: Orb,
    client: Orb,
    probe: Probe,
    other: Probe,
    _other_client: Orb,
}

fn meet(at: Place) -> Meeting {
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let (client, other_client) = (at.client().build(), at.client().build());
    let (probe, other) = (probe(&client, &text), probe(&other_client, &text));
    // A protocol other than GIOP is known to be understood once it was answered.
    block_on(probe.nothing_async()).unwrap();
    Meeting { _server: server, client, probe, other, _other_client: other_client }
}

fn each_condition_makes_them_leave(at: Place) {
    let Meeting { probe, other, _server, .. } = meet(at);
    let by_count = with(&probe, endless().messages(10));
    (0..25).for_each(|number| by_count.note(number).unwrap());
    assert_eq!(noted(&other, 20), (0..20).collect::<Vec<_>>());
    thread::sleep(Duration::from_millis(30));
    assert_eq!(other.noted().unwrap().len(), 20, "the others wait");
    by_count.as_object().send_buffered().unwrap();
    assert_eq!(noted(&other, 25), (0..25).collect::<Vec<_>>());
    let by_octets = with(&probe, endless().octets(1000));
    (25..60).for_each(|number| by_octets.note(number).unwrap());
    assert!(noted(&other, 26).len() > 25, "35 heads are more than 1,000 octets");
    // Another reference, the same connection.
    let by_time = with(&probe, endless().time(Duration::from_millis(5)));
    by_time.note(60).unwrap();
    probe.as_object().send_buffered().unwrap();
    assert_eq!(noted(&other, 61), (0..61).collect::<Vec<_>>());
    let before = Instant::now();
    by_time.note(61).unwrap();
    assert_eq!(noted(&other, 62).len(), 62);
    assert!(before.elapsed() >= Duration::from_millis(5), "not before");
}

fn they_leave_before_whatever_follows_them(at: Place) {
    for model in models() {
        let (_server, text) = serve(at.server().server_threads(model), Arc::new(Servant::new(1)));
        let client = at.client().build();
        let probe = with(&probe(&client, &text), endless());
        block_on(probe.nothing_async()).unwrap();
        let mut expected = Vec::new();
        for round in 0..20 {
            for number in 0..20 {
                probe.note(round * 100 + number).unwrap();
                expected.push(round * 100 + number);
            }
            match round % 3 {
                0 => assert_eq!(probe.noted().unwrap()[..], expected[..], "{model:?}, round {round}"),
                1 => {
                    assert_eq!(block_on(probe.noted_async()).unwrap()[..], expected[..], "{model:?}, {round}")
                }
                _ => {
                    let sure = Policies::new().sync_scope(SyncScope::WithTarget);
                    Probe::from_object(probe.as_object().with_policies(sure)).note(-round).unwrap();
                    expected.push(-round);
                }
            }
        }
    }
}

fn many_threads_gather_on_one_connection(at: Place) {
    let Meeting { probe, other, _server, .. } = meet(at);
    let probe = with(&probe, Buffering::new().messages(7).octets(700));
    thread::scope(|scope| {
        for thread in 0..4 {
            let probe = &probe;
            scope.spawn(move || (0..500).for_each(|number| probe.note(thread * 1000 + number).unwrap()));
        }
    });
    let all = noted(&other, 2000);
    for thread in 0..4 {
        let own: Vec<_> = all.iter().filter(|number| **number / 1000 == thread).copied().collect();
        assert_eq!(own, (thread * 1000..thread * 1000 + 500).collect::<Vec<_>>(), "once each, and in order");
    }
}

fn an_orb_that_is_shut_down_sends_them(at: Place) {
    let Meeting { client, probe, other, _server, .. } = meet(at);
    let probe = with(&probe, endless());
    (0..50).for_each(|number| probe.note(number).unwrap());
    client.shutdown(true, PATIENCE);
    assert_eq!(noted(&other, 50), (0..50).collect::<Vec<_>>());
    assert!(matches!(probe.note(51), Err(error) if error.to_string().contains("BAD_INV_ORDER")));
}

over!(
    each_condition_makes_them_leave,
    they_leave_before_whatever_follows_them,
    many_threads_gather_on_one_connection,
    an_orb_that_is_shut_down_sends_them,
);

#[test]
fn threads_and_orbs_choose_it_too_and_only_the_scope_none_gathers() {
    let (_server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Place::TCP.client().policies(Policies::new().buffering(endless())).build();
    let (probe, other_client) = (probe(&client, &text), Place::TCP.client().build());
    let other = crate::fixture::probe(&other_client, &text);
    probe.note(0).unwrap();
    assert_eq!(noted(&other, 1), [0], "the scope is another");
    with_thread_policies(Policies::new().sync_scope(SyncScope::None), || probe.note(1).unwrap());
    thread::sleep(Duration::from_millis(30));
    assert_eq!(other.noted().unwrap().len(), 1);
    let off = gathering(Buffering::new().messages(1));
    with_thread_policies(off, || probe.note(2).unwrap());
    assert_eq!(noted(&other, 3), [0, 1, 2], "the narrowest set wins, and what follows is sent behind");
    assert!(client.send_buffered(PATIENCE));
}

#[test]
fn what_was_gathered_is_lost_with_its_connection_and_the_next_goes_by_another() {
    let (server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let client = Place::TCP.client().build();
    let probe = with(&probe(&client, &text), endless());
    (0..10).for_each(|number| probe.note(number).unwrap());
    server.close_idle_connections();
    server.shutdown(true, PATIENCE);
    drop(server);
    // The end is seen at once, or by who sends into it.
    let by = Instant::now() + PATIENCE;
    let mut ended: Option<SystemException> = None;
    while ended.is_none() && Instant::now() < by {
        ended = probe.note(10).and_then(|()| probe.as_object().send_buffered()).err();
        thread::sleep(Duration::from_millis(5));
    }
    let ended = ended.expect("nobody is there any more").to_string();
    assert!(ended.contains("TRANSIENT") || ended.contains("COMM_FAILURE"), "{ended}");
}

#[test]
fn a_message_larger_than_all_that_is_gathered_goes_by_itself_behind_the_others() {
    let Meeting { probe, other, _server, .. } = meet(Place::UNIX);
    let small = with(&probe, endless().octets(200));
    // Each is within the octets; two are not.
    small.note(1).unwrap();
    let tiny = with(&probe, endless().octets(50));
    tiny.note(2).unwrap();
    assert_eq!(noted(&other, 2), [1, 2]);
}

/// A peer that accepts and does not read before it is told to: then it counts what comes until the end.
fn slow_peer() -> (u16, mpsc::Sender<()>, thread::JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (read, may_read) = mpsc::channel();
    let counted = thread::spawn(move || {
        let (mut from, _) = listener.accept().unwrap();
        may_read.recv().unwrap();
        let (mut buffer, mut all) = (vec![0; 1 << 16], 0);
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            all += count;
        }
        all
    });
    (port, read, counted)
}

#[test]
fn batches_wait_for_room_before_they_pile_up() {
    const OCTETS: usize = 1024;
    const ALL: usize = 100_000;
    let (port, read, counted) = slow_peer();
    let client = Place::TCP.client().build();
    let object =
        client.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/slow")).unwrap().unwrap();
    let screen = Screen::from_object(object.with_policies(gathering(endless().messages(64))));
    let sent = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ALL {
                screen.show(&[7; OCTETS]).unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            }
            screen.as_object().send_buffered().unwrap();
        });
        // It goes on as long as there is room, and then no further.
        let mut before = 0;
        loop {
            thread::sleep(Duration::from_millis(300));
            let now = sent.load(Ordering::SeqCst);
            assert!(now < ALL / 2, "nothing is read, and {now} have left");
            if now > 0 && now == before {
                break;
            }
            before = now;
        }
        read.send(()).unwrap();
    });
    client.shutdown(true, PATIENCE);
    drop(client);
    let all = counted.join().unwrap();
    assert!(all >= ALL * OCTETS, "{all} octets have come");
}
