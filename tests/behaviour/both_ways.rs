//! Calls back over the connection that the client opened, of clients that listen nowhere, under every threading model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use zorb::bidirectional::{Accept, Bidirectional, BidirectionalPolicy};
use zorb::poa::PoaPolicies;
use zorb::policy::{Policies, with_thread_policies};
use zorb::protocols::{Protocols, Verdict};
use zorb::server::{ServerLimits, ThreadModel};
use zorb::{Completion, Interface, Kind, Orb, OrbBuilder, Sequence};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{Place, models, probe, serve};
use crate::tap::Tap;

/// A builder of a server that calls clients back over their connections.
fn accepting(at: Place) -> OrbBuilder {
    at.server().bidirectional(Bidirectional::new().accept(Accept::PeerAddress))
}

/// A builder of a client that can be called back so, and listens nowhere.
fn offering(at: Place) -> OrbBuilder {
    at.client().bidirectional(Bidirectional::new().offer())
}

/// An object of such a client's, which may be called so.
fn object_of(client: &Orb, servant: Arc<Servant>) -> Probe {
    let root = client.root_poa().expect("a fresh ORB has a root adapter");
    let manager = root.manager();
    let poa = root
        .create_child_with("called-back", PoaPolicies::new().bidirectional(), &manager)
        .expect("a new name");
    manager.activate().expect("it can be activated");
    poa.activate::<Probe>(servant).expect("a fresh servant can be activated")
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Both sides, and each one's object as the other sees it. The client's first call has made the offer.
struct Pair {
    server: Orb,
    client: Orb,
    to_server: Probe,
    to_client: Probe,
    of_server: Arc<Servant>,
    of_client: Arc<Servant>,
}

impl Pair {
    fn new(server: OrbBuilder, client: OrbBuilder) -> Pair {
        let (of_server, of_client) = (Arc::new(Servant::new(1)), Arc::new(Servant::new(1)));
        let (server, text) = serve(server, of_server.clone());
        let client = client.build();
        let object = object_of(&client, of_client.clone());
        let to_client = probe(&server, &object.to_string());
        let to_server = probe(&client, &text);
        to_server.nothing().expect("the server is there");
        Pair { server, client, to_server, to_client, of_server, of_client }
    }

    fn at(at: Place) -> Pair {
        Pair::new(accepting(at), offering(at))
    }
}

fn a_client_that_listens_nowhere_is_called_back(at: Place) {
    for near in models() {
        for far in models() {
            let pair = Pair::new(accepting(at).server_threads(far), offering(at).server_threads(near));
            let context = format!("{near:?} called by {far:?}");
            assert_eq!(pair.to_client.greet("you"), Ok("hello, you".into()), "{context}");
            assert_eq!(pair.server.connections(), 1, "{context}");
            assert_eq!(pair.client.connections(), 0, "{context}");
            // Out of an upcall, by the reference that came with the call.
            let me = probe(&pair.client, &pair.to_client.to_string());
            assert_eq!(pair.to_server.descend(1, Some(&me)), Ok(1), "{context}");
            assert_eq!(pair.server.connections(), 1, "{context}");
        }
    }
}

fn calls_nested_eight_deep_come_back_over_one_connection(at: Place) {
    for near in models() {
        for far in models() {
            let pair = Pair::new(accepting(at).server_threads(far), offering(at).server_threads(near));
            let me = probe(&pair.client, &pair.to_client.to_string());
            for _ in 0..3 {
                assert_eq!(pair.to_server.descend(8, Some(&me)), Ok(8), "{near:?} and {far:?}");
            }
            assert_eq!(pair.server.connections(), 1, "{near:?} and {far:?}");
        }
    }
}

fn a_pool_whose_threads_all_wait_gets_its_replies(at: Place) {
    // Each side has one thread: it waits in its upcall while the reply to its own call comes.
    let mut limits = ServerLimits::default();
    (limits.stall_time, limits.queue_time) = (PATIENCE, PATIENCE);
    let one = |builder: OrbBuilder| builder.server_threads(ThreadModel::pool(1)).server_limits(limits);
    let pair = Pair::new(one(accepting(at)), one(offering(at)));
    let me = probe(&pair.client, &pair.to_client.to_string());
    let sooner = Policies::new().call_timeout(PATIENCE / 3);
    let to_server = Probe::from_object(pair.to_server.as_object().with_policies(sooner));
    for _ in 0..50 {
        assert_eq!(to_server.descend(1, Some(&me)), Ok(1));
    }
}

fn both_sides_call_from_many_threads_at_once(at: Place) {
    for (near, far) in models().into_iter().zip(models().into_iter().rev()) {
        let pair = Pair::new(accepting(at).server_threads(far), offering(at).server_threads(near));
        let data = |thread: usize, call: usize| -> Vec<u8> {
            let length = if call.is_multiple_of(7) { 100_000 } else { 10 + call };
            (0..length).map(|at| (at + thread) as u8).collect()
        };
        std::thread::scope(|scope| {
            for thread in 0..8 {
                for target in [&pair.to_server, &pair.to_client] {
                    scope.spawn(move || {
                        for call in 0..40 {
                            let sent = data(thread, call);
                            let echoed = target.echo(&sent).expect("it is served");
                            assert!(echoed[..] == sent[..], "another call's reply");
                            let pending = target.divide_async(thread as i32 * 1000 + call as i32, 7);
                            let (quotient, remainder) = pending.wait().expect("it is served");
                            assert_eq!(quotient * 7 + remainder, thread as i32 * 1000 + call as i32);
                        }
                    });
                }
            }
        });
        assert_eq!(pair.server.connections(), 1);
    }
}

fn large_messages_both_ways_at_once_do_not_wait_for_each_other(at: Place) {
    // More than any transport holds: whoever stopped reading because he cannot send would wait for ever.
    let pair = Pair::at(at);
    let sent: Vec<u8> = (0..8 << 20).map(|at| at as u8).collect();
    std::thread::scope(|scope| {
        for target in [&pair.to_server, &pair.to_client, &pair.to_server, &pair.to_client] {
            let sent = &sent;
            scope.spawn(move || {
                for _ in 0..3 {
                    assert!(target.echo(sent).expect("it is served")[..] == sent[..]);
                }
            });
        }
    });
}

fn oneways_and_futures_go_back_too(at: Place) {
    let pair = Pair::at(at);
    for number in 0..100 {
        pair.to_client.note(number).unwrap();
    }
    let noted = pair.to_client.noted().unwrap();
    assert_eq!(noted, (0..100).collect::<Sequence<i32>>(), "in the order made");
    let calls: Vec<_> = (0..50).map(|number| pair.to_client.divide_async(number, 3)).collect();
    for (number, call) in (0..).zip(calls) {
        assert_eq!(call.wait(), Ok((number / 3, number % 3)));
    }
    // The offer goes with the first request, of whatever kind.
    let client = offering(at).build();
    let object = object_of(&client, Arc::new(Servant::new(1)));
    let to_server = probe(&client, &pair.to_server.to_string());
    to_server.note_async(7).wait().unwrap();
    let to_client = probe(&pair.server, &object.to_string());
    until("the offer has come", || to_client.nothing().is_ok());
}

fn text_is_what_it_was_in_both_directions(at: Place) {
    let pair = Pair::at(at);
    for target in [&pair.to_server, &pair.to_client] {
        assert_eq!(target.greet("Ærø 東京 🜁"), Ok("hello, Ærø 東京 🜁".into()));
    }
}

fn a_call_back_has_a_deadline_and_the_connection_goes_on(at: Place) {
    let pair = Pair::at(at);
    let soon = Policies::new().call_timeout(Duration::from_millis(300));
    let hurried = Probe::from_object(pair.to_client.as_object().with_policies(soon));
    let late = hurried.wait(3_000).unwrap_err();
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{late}");
    assert_eq!(pair.to_client.greet("you"), Ok("hello, you".into()));
    // A future that is dropped is cancelled.
    drop(pair.to_client.wait_async(100));
    assert_eq!(pair.to_client.greet("you"), Ok("hello, you".into()));
    until("nobody is in `wait`", || pair.of_client.waiting() == 0);
    assert_eq!(pair.server.connections(), 1);
}

fn fragments_go_both_ways(at: Place) {
    let pair = Pair::new(accepting(at).fragment_size(256), offering(at).fragment_size(256));
    let sent: Vec<u8> = (0..10_000).map(|at| at as u8).collect();
    std::thread::scope(|scope| {
        for target in [&pair.to_server, &pair.to_client] {
            let sent = &sent;
            scope.spawn(move || {
                for _ in 0..20 {
                    assert!(target.echo(sent).expect("it is served")[..] == sent[..]);
                }
            });
        }
    });
}

fn who_shuts_down_while_a_call_back_runs_waits_for_it(at: Place) {
    // The client, which serves it.
    let pair = Pair::at(at);
    let call = pair.to_client.wait_async(1_000);
    until("it runs", || pair.of_client.waiting() == 1);
    pair.client.shutdown(true, PATIENCE);
    call.wait().expect("it was answered before the end");
    let gone = pair.to_client.nothing().unwrap_err();
    assert!(matches!(gone.kind, Kind::Transient | Kind::CommFailure), "{gone}");
    assert_eq!(gone.completed, Completion::No, "{gone}");
    // The server, whose servant waits for it.
    let pair = Pair::at(at);
    let of_client = pair.of_client.clone();
    let me = probe(&pair.client, &pair.to_client.to_string());
    let to_server = pair.to_server.clone();
    let nested = std::thread::spawn(move || to_server.descend(2, Some(&me)));
    assert_eq!(nested.join().expect("no panic"), Ok(2));
    let call = pair.to_client.wait_async(1_000);
    until("it runs", || of_client.waiting() == 1);
    pair.server.shutdown(true, Duration::from_secs(5));
    let ended = call.wait();
    assert!(
        ended.as_ref().is_ok() || ended.as_ref().is_err_and(|it| it.completed == Completion::Maybe),
        "{ended:?}"
    );
    assert!(pair.of_server.waiting() == 0);
}

fn an_upcall_that_waits_for_its_client_is_answered_though_its_server_stops(at: Place) {
    for model in models() {
        let pair = Pair::new(accepting(at).server_threads(model), offering(at));
        let to_server = pair.to_server.clone();
        let me = probe(&pair.client, &pair.to_client.to_string());
        let stopping = Arc::new(AtomicBool::new(false));
        let caller = std::thread::spawn({
            let stopping = stopping.clone();
            move || {
                let mut last = Ok(4);
                while !stopping.load(Ordering::Relaxed) && last == Ok(4) {
                    last = to_server.descend(4, Some(&me));
                }
                last
            }
        });
        std::thread::sleep(Duration::from_millis(20));
        stopping.store(true, Ordering::Relaxed);
        pair.server.shutdown(true, PATIENCE);
        let last = caller.join().expect("no panic");
        // Answered, or one of its levels was not taken in any more.
        assert!(
            last.as_ref().map_or_else(|it| it.completed != Completion::Yes, |depth| *depth == 4),
            "{last:?}"
        );
    }
}

fn when_the_connection_is_gone_the_call_says_so_until_there_is_another(at: Place) {
    let pair = Pair::at(at);
    assert_eq!(pair.to_client.greet("you"), Ok("hello, you".into()));
    pair.client.shutdown(true, PATIENCE);
    until("the server has noticed", || pair.server.connections() == 0);
    let gone = pair.to_client.nothing().unwrap_err();
    assert_eq!((gone.kind, gone.completed), (Kind::Transient, Completion::No), "{gone}");
    assert!(gone.to_string().contains("bidir::"), "it names the way: {gone}");
    assert!(gone.to_string().contains("no client has offered it"), "and says why: {gone}");
}

fn a_client_that_comes_again_is_called_again(at: Place) {
    let pair = Pair::at(at);
    pair.to_client.nothing().unwrap();
    // The server ends it in order; the client's next call opens another, with the offer.
    assert_eq!(pair.server.connections(), 1);
    until("it is idle", || pair.server.close_idle_connections() == 1);
    until("the server has closed it", || pair.server.connections() == 0);
    let gone = pair.to_client.nothing().unwrap_err();
    assert_eq!(gone.completed, Completion::No, "{gone}");
    pair.to_server.nothing().unwrap();
    pair.to_client.nothing().unwrap();
    assert_eq!(pair.server.connections(), 1);
}

fn it_is_not_closed_for_being_idle(at: Place) {
    let mut limits = ServerLimits::default();
    limits.idle = Duration::from_millis(50);
    limits.linger = Duration::from_millis(5);
    let idle = Duration::from_millis(50);
    let pair = Pair::new(
        accepting(at).server_limits(limits).client_idle(idle),
        offering(at).server_limits(limits).client_idle(idle),
    );
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(pair.to_client.greet("you"), Ok("hello, you".into()));
    assert_eq!(pair.server.connections(), 1);
}

fn an_adapter_without_the_policy_is_not_called_so(at: Place) {
    let pair = Pair::at(at);
    let root = pair.client.root_poa().unwrap();
    let plain = root.activate::<Probe>(Arc::new(Servant::new(1))).unwrap();
    let refused = probe(&pair.server, &plain.to_string()).nothing().unwrap_err();
    assert_eq!((refused.kind, refused.completed), (Kind::NoPermission, Completion::No), "{refused}");
    assert!(refused.to_string().contains("NO_PERMISSION"), "{refused}");
    // The connection is as good as before.
    pair.to_client.nothing().unwrap();
}

fn by_default_nothing_is_offered_and_nothing_believed(at: Place) {
    // Who does not offer is not called back, though the server would.
    let (server, text) = serve(accepting(at), Arc::new(Servant::new(1)));
    let client = at.client().listen("bidir:").build();
    assert!(client.listen().is_err(), "without an offer there is no such transport");
    let client = at.client().listen("tcp:127.0.0.1:0").build();
    let object = object_of(&client, Arc::new(Servant::new(1)));
    probe(&client, &text).nothing().unwrap();
    let calling = probe(&server, &object.to_string());
    let alone = Protocols::only(["bidir"]);
    let calling = Probe::from_object(calling.as_object().with_policies(Policies::new().protocols(alone)));
    assert_eq!(calling.nothing().unwrap_err().kind, Kind::Transient);
    // Nor by a server that does not accept.
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = offering(at).build();
    let object = object_of(&client, Arc::new(Servant::new(1)));
    probe(&client, &text).nothing().unwrap();
    let refused = probe(&server, &object.to_string()).nothing().unwrap_err();
    assert_eq!((refused.kind, refused.completed), (Kind::Transient, Completion::No), "{refused}");
}

fn policies_say_which_calls_go_so(at: Place) {
    let (server, text) = serve(accepting(at), Arc::new(Servant::new(1)));
    let normal = || Policies::new().bidirectional(BidirectionalPolicy::Normal);
    let both = || Policies::new().bidirectional(BidirectionalPolicy::Both);
    let client = offering(at).policies(normal()).build();
    let object = object_of(&client, Arc::new(Servant::new(1)));
    let to_client = probe(&server, &object.to_string());
    let to_server = probe(&client, &text);
    let used = |probe: &Probe| {
        let ways = probe.as_object().protocols();
        let used = ways.into_iter().find(|way| way.verdict == Verdict::Used).expect("one is used");
        used.endpoint.starts_with("bidir:")
    };
    to_server.nothing().unwrap();
    assert!(!used(&to_server));
    assert_eq!(to_client.nothing().unwrap_err().kind, Kind::Transient, "nothing was offered");
    with_thread_policies(both(), || {
        assert!(used(&to_server));
        to_server.nothing().unwrap();
    });
    to_client.nothing().unwrap();
    let by_reference = Probe::from_object(to_server.as_object().with_policies(both()));
    assert!(used(&by_reference));
    with_thread_policies(normal(), || {
        assert!(used(&by_reference), "the narrowest wins");
        assert_eq!(
            to_client.nothing().unwrap_err().kind,
            Kind::Transient,
            "and holds for calls back as well"
        );
    });
    to_client.nothing().unwrap();
}

fn who_listens_too_is_called_by_his_connection_and_then_by_the_reference(at: Place) {
    let client = offering(at).listen("tcp:127.0.0.1:0");
    let pair = Pair::new(accepting(at), client);
    pair.to_client.nothing().unwrap();
    assert_eq!(pair.client.connections(), 0, "nobody has connected");
    until("it is idle", || pair.server.close_idle_connections() == 1);
    until("the server has closed it", || pair.server.connections() == 0);
    pair.to_client.nothing().unwrap();
    assert_eq!(pair.client.connections(), 1, "by the reference");
}

over!(by giop between processes:
    a_client_that_listens_nowhere_is_called_back,
    calls_nested_eight_deep_come_back_over_one_connection,
    a_pool_whose_threads_all_wait_gets_its_replies,
    both_sides_call_from_many_threads_at_once,
    large_messages_both_ways_at_once_do_not_wait_for_each_other,
    oneways_and_futures_go_back_too,
    text_is_what_it_was_in_both_directions,
    a_call_back_has_a_deadline_and_the_connection_goes_on,
    fragments_go_both_ways,
    who_shuts_down_while_a_call_back_runs_waits_for_it,
    an_upcall_that_waits_for_its_client_is_answered_though_its_server_stops,
    when_the_connection_is_gone_the_call_says_so_until_there_is_another,
    a_client_that_comes_again_is_called_again,
    it_is_not_closed_for_being_idle,
    an_adapter_without_the_policy_is_not_called_so,
    by_default_nothing_is_offered_and_nothing_believed,
    policies_say_which_calls_go_so,
    who_listens_too_is_called_by_his_connection_and_then_by_the_reference,
);

/// What a client's octets say of the service contexts, by a tap.
fn offers_heard(client: OrbBuilder) -> usize {
    let (_server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let tap = Tap::before(&text);
    let client = client.build();
    let to_server = probe(&client, &tap.reference);
    for _ in 0..3 {
        to_server.nothing().unwrap();
    }
    let heard = tap.heard();
    assert_eq!(heard.len(), 1, "one connection");
    let limits = zorb::giop::Limits::default();
    let (mut inbound, mut offers, mut ids) = (zorb::giop::Inbound::new(limits), 0, Vec::new());
    for part in heard[0].chunks(512) {
        inbound.space()[..part.len()].copy_from_slice(part);
        inbound.received(part.len());
        while let Some(message) = inbound.next().expect("it is GIOP") {
            let zorb::giop::Message::Request(request) = message else { continue };
            offers += usize::from(request.contexts.find(zorb::giop::ContextId::BI_DIR_IIOP).is_some());
            ids.push(request.id);
        }
    }
    assert_eq!(ids.len(), 3);
    assert!(offers == 0 || ids.iter().all(|&id| zorb::giop::RequestIds::is_of_opener(id)), "{ids:?}");
    offers
}

#[test]
fn only_who_offers_says_so_and_says_it_once() {
    assert_eq!(offers_heard(Place::TCP.client()), 0);
    assert_eq!(offers_heard(Place::TCP.client().bidirectional(Bidirectional::new().accept(Accept::Any))), 0);
    assert_eq!(offers_heard(Place::TCP.client().bidirectional(Bidirectional::new().offer())), 1);
}
