//! Oneways by UDP: they arrive in order where the network keeps it, and nothing else is sent or served by it.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::giop::{IiopProfile, Ior, UdpEndpoint};
use zorb::policy::{Policies, SyncScope};
use zorb::transport::datagram::DatagramLimits;
use zorb::transport::udp::Udp;
use zorb::{Completion, Interface, Kind, Orb, OrbBuilder};
use zorb_tests::mutation::{Random, mutations};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Bulky;

use crate::fixture::{Place, models};

/// Waits for what must come.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An ORB that serves a bulky probe, and the text of its reference.
pub(crate) fn serve(builder: OrbBuilder, servant: Arc<Servant>) -> (Orb, String) {
    let orb = builder.build();
    let poa = orb.root_poa().expect("a fresh ORB has a root adapter");
    let probe = poa.activate::<Bulky>(servant).expect("a fresh servant can be activated");
    poa.manager().activate().expect("the root's manager can be activated");
    let text = orb.object_to_string(Some(probe.as_object()));
    (orb, text)
}

fn probe(client: &Orb, text: &str) -> Bulky {
    Bulky::from_object(
        client.string_to_object(text).expect("the text is a reference").expect("it is not nil"),
    )
}

/// What the probe has noted, asked in its own process.
pub(crate) fn noted(server: &Orb, text: &str) -> Vec<i32> {
    probe(server, text).noted().expect("a direct call").to_vec()
}

/// A server that is reached by UDP and in no other way.
fn server(udp: &Arc<Udp>) -> OrbBuilder {
    Orb::builder().transport(udp.clone()).listen("udp:127.0.0.1:0")
}

fn client() -> Orb {
    Orb::builder().transport(Arc::new(Udp::new())).build()
}

#[test]
fn oneways_arrive_in_the_order_sent_under_every_thread_model() {
    for model in models() {
        let udp = Arc::new(Udp::new());
        let (orb, text) = serve(server(&udp).server_threads(model), Arc::new(Servant::new(1)));
        let client = client();
        let there = probe(&client, &text);
        // In lots that fit into any socket's queue.
        for lot in 0..10 {
            (lot * 20..lot * 20 + 20).for_each(|number| there.note(number).unwrap());
            until("what was sent arrives", || noted(&orb, &text).len() == (lot as usize + 1) * 20);
        }
        assert_eq!(noted(&orb, &text), (0..200).collect::<Vec<_>>());
        assert_eq!(udp.dropped().total(), 0, "{:?}", udp.dropped());
        let (first, second): (Vec<u8>, Vec<u8>) = ((0..65_000).map(|n| n as u8).collect(), vec![0]);
        there.note_size(&first).unwrap();
        futures_wait(there.note_size_async(second.into())).unwrap();
        until("large and small arrive", || noted(&orb, &text).ends_with(&[65_000, 1]));
        orb.shutdown(true, Duration::from_secs(10));
    }
}

/// Polls until the future is done.
fn futures_wait<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        assert!(Instant::now() < deadline, "the future ends");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_waits_for_something_is_refused_where_nothing_comes_back() {
    let (orb, text) = serve(server(&Arc::default()), Arc::new(Servant::new(1)));
    let client = client();
    let there = probe(&client, &text);
    for error in [there.nothing().unwrap_err(), futures_wait(there.nothing_async()).unwrap_err()] {
        assert_eq!((error.kind, error.completed), (Kind::InvObjref, Completion::No), "{error}");
        assert!(error.detail().contains("udp:127.0.0.1:") && error.detail().contains("nothing"), "{error}");
    }
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let policies = Policies::new().sync_scope(scope);
        let client = Orb::builder().transport(Arc::new(Udp::new())).policies(policies).build();
        assert_eq!(probe(&client, &text).note(1).unwrap_err().kind, Kind::InvObjref);
    }
    there.note(2).unwrap();
    until("a oneway arrives", || noted(&orb, &text) == [2]);
    // An ORB without the transport has no way there, and says so.
    let error = probe(&Orb::builder().build(), &text).note(1).unwrap_err();
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
}

#[test]
fn a_message_beyond_the_limit_is_refused_by_name_and_others_go_on() {
    let (orb, text) = serve(server(&Arc::default()), Arc::new(Servant::new(1)));
    let client = Orb::builder().transport(Arc::new(Udp::new().largest_message(1000))).build();
    let there = probe(&client, &text);
    let data: Vec<u8> = (0..1000).map(|n| n as u8).collect();
    for error in [
        there.note_size(&data).unwrap_err(),
        futures_wait(there.note_size_async(data.clone().into())).unwrap_err(),
    ] {
        assert_eq!((error.kind, error.completed), (Kind::ImpLimit, Completion::No), "{error}");
        assert!(error.detail().contains("at most 1000"), "{error}");
    }
    there.note_size(&data[..500]).unwrap();
    until("a smaller one arrives", || noted(&orb, &text) == [500]);
}

/// The reference with a UDP endpoint added.
fn with_udp(text: &str, port: u16) -> String {
    let mut ior: Ior = text.parse().unwrap();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    profile.components.push(UdpEndpoint { host: "127.0.0.1".into(), port }.encode().unwrap());
    ior.profiles[0] = profile.encode().unwrap();
    ior.to_string()
}

fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut datagram = vec![0; 65_536];
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = socket.recv(&mut datagram).expect("a datagram comes");
    datagram.truncate(length);
    datagram
}

#[test]
fn of_one_reference_calls_take_the_stream_and_oneways_the_datagrams_which_announce_their_code_sets() {
    let (orb, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let ear = UdpSocket::bind("127.0.0.1:0").unwrap();
    // Fragments are not for datagrams, whatever the builder says.
    let client = Orb::builder().transport(Arc::new(Udp::new())).fragment_size(64).build();
    let there = probe(&client, &with_udp(&text, ear.local_addr().unwrap().port()));
    let mut lengths = Vec::new();
    for round in 0..3 {
        assert_eq!(there.greet("x").unwrap(), "hello, x");
        there.note(round).unwrap();
        let datagram = receive(&ear);
        assert!(datagram.starts_with(b"GIOP\x01\x02"), "{datagram:?}");
        assert!(zorb::giop::Oneway::read(&datagram).is_ok());
        lengths.push(datagram.len());
    }
    assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "each announces code sets: {lengths:?}");
    assert!(noted(&orb, &text).is_empty());
    // Nobody takes them any more: once that is known, the stream takes what is left.
    drop(ear);
    until("the other endpoint is used", || {
        there.note(9).unwrap();
        !noted(&orb, &text).is_empty()
    });
}

#[test]
fn a_refusal_is_told_to_the_next_oneway() {
    let (orb, text) = serve(server(&Arc::default()), Arc::new(Servant::new(1)));
    let client = client();
    let there = probe(&client, &text);
    there.note(1).unwrap();
    until("a oneway arrives", || noted(&orb, &text) == [1]);
    orb.shutdown(true, Duration::from_secs(10));
    drop(orb);
    let mut told = None;
    until("the refusal is told", || {
        told = there.note(2).err();
        told.is_some()
    });
    let told = told.unwrap();
    assert_eq!((told.kind, told.completed), (Kind::Transient, Completion::No), "{told}");
    assert!(told.detail().contains("refused"), "{told}");
}

/// What a client sends for `note(-1)`.
fn note(client: &Orb, text: &str) -> Vec<u8> {
    let ear = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut ior: Ior = text.parse().unwrap();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    profile.components.retain(|component| UdpEndpoint::decode(component).is_err());
    ior.profiles[0] = profile.encode().unwrap();
    let elsewhere = with_udp(&ior.to_string(), ear.local_addr().unwrap().port());
    probe(client, &elsewhere).note(-1).unwrap();
    receive(&ear)
}

#[test]
fn more_senders_than_are_kept_take_turns() {
    let udp = Arc::new(Udp::new());
    let (orb, text) = serve(server(&udp).listen("tcp:127.0.0.1:0"), Arc::new(Servant::new(1)));
    let to = orb.endpoints()[0].address.to_string();
    let genuine = note(&client(), &text);
    for round in 1..=200 {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&genuine, &*to).unwrap();
        // One after the other, so that all but the last have nothing left to be read.
        until("each is served", || noted(&orb, &text).len() == round);
    }
    assert_eq!(udp.dropped().total(), 0, "{:?}", udp.dropped());
    until("those that made room are gone", || orb.connections() <= 64);
}

#[test]
fn a_hostile_sender_leaves_the_server_serving() {
    let udp = Arc::new(Udp::new());
    let (orb, text) = serve(server(&udp).listen("tcp:127.0.0.1:0"), Arc::new(Servant::new(1)));
    let to = orb.endpoints()[0].address.to_string();
    let client = client();
    let genuine = note(&client, &text);
    let sockets: Vec<_> = (0..8).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let send = |index: usize, datagram: &[u8]| {
        let _ = sockets[index % sockets.len()].send_to(datagram, &*to);
    };
    for end in 0..genuine.len() {
        send(end, &genuine[..end]);
    }
    let mut seeds: Vec<_> =
        zorb_tests::seeds::to_server(b"key").into_iter().map(|seed| seed.octets).collect();
    seeds.push(genuine.clone());
    mutations(&seeds, 3000, 0xda7a).enumerate().for_each(|(index, case)| send(index, &case));
    let mut random = Random::new(7);
    for index in 0..1000 {
        let noise: Vec<u8> = (0..random.below(300)).map(|_| random.octet()).collect();
        send(index, &noise);
    }
    until("it is looked at", || udp.dropped().malformed > 100);
    // Two-way requests are neither served nor answered.
    let mut asks = genuine.clone();
    asks[16] = 3;
    sockets[0].send_to(&asks, &*to).unwrap();
    sockets[0].set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(sockets[0].recv(&mut [0; 100]).is_err(), "nothing is answered");
    let there = probe(&client, &text);
    until("an honest sender is served", || {
        there.note(7).unwrap();
        noted(&orb, &text).contains(&7)
    });
    assert!(orb.connections() <= 64, "{} senders", orb.connections());
}

#[test]
fn what_goes_beyond_the_rate_is_dropped_and_counted() {
    let mut limits = DatagramLimits::default();
    (limits.per_second, limits.burst) = (1, 10);
    let udp = Arc::new(Udp::new().limits(limits));
    let (orb, text) = serve(server(&udp), Arc::new(Servant::new(1)));
    let client = client();
    let there = probe(&client, &text);
    (0..100).for_each(|number| there.note(number).unwrap());
    until("all are looked at", || noted(&orb, &text).len() as u64 + udp.dropped().total() == 100);
    assert!(udp.dropped().rate >= 50, "{:?}", udp.dropped());
    assert!(noted(&orb, &text).len() >= 10);
}
