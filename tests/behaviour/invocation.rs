//! Policies of single invocations: until when requests and replies are wanted, and references that are bound once.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use zorb::giop::{Inbound, Limits, Message, request_end};
use zorb::poa::{Declined, ObjectId, Poa, PoaPolicies, Servant as AnyServant, ServantLocator};
use zorb::policy::{Policies, Rebind, with_thread_policies};
use zorb::{Call, Completion, Interface, Kind, ObjectRef, Orb, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, ProbeServant};

use crate::fixture::{Place, probe, serve};

const HOUR: Duration = Duration::from_secs(3600);

fn under(probe: &Probe, policies: Policies) -> Probe {
    Probe::from_object(probe.as_object().with_policies(policies))
}

fn what_is_wanted_no_more_is_not_sent(at: Place) {
    let servant = Arc::new(Servant::new(1));
    let (_server, text) = serve(at.server(), servant.clone());
    let client = at.client().build();
    let probe = probe(&client, &text);
    let past = SystemTime::now() - HOUR;
    for policies in [
        Policies::new().request_end_time(past),
        Policies::new().reply_end_time(past),
        Policies::new().request_timeout(Duration::ZERO),
    ] {
        let late = under(&probe, policies.clone());
        let threads = with_thread_policies(policies, || probe.nothing());
        for result in [late.nothing(), late.nothing_async().wait(), late.note(1), threads] {
            let late = result.unwrap_err();
            assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::No), "{late}");
        }
    }
    let coming = SystemTime::now() + HOUR;
    let policies = Policies::new().request_end_time(coming).reply_end_time(coming).request_timeout(HOUR);
    let timely = under(&probe, policies);
    assert_eq!(timely.greet("me").unwrap(), "hello, me");
    assert_eq!(timely.greet("me").unwrap(), "hello, me");
    assert_eq!(timely.greet_async("me".into()).wait().unwrap(), "hello, me");
    timely.note(7).unwrap();
    assert_eq!(timely.noted().unwrap()[..], [7]);
    assert_eq!(probe.greet("me").unwrap(), "hello, me");
}

fn a_reply_is_waited_for_until_its_end_time(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(2)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    let soon = Policies::new().reply_end_time(SystemTime::now() + Duration::from_secs(1));
    let late = under(&probe, soon).meet().unwrap_err();
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{late}");
}

/// Counts its calls; each blocks the adapter for a while.
#[derive(Default)]
struct Slow(AtomicUsize);

impl ProbeServant for Slow {
    fn nothing(&self, _: &Call) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(1));
        Ok(())
    }
    zorb_tests::unserved!();
}

/// The request waits in the server's queue for too long, and is not started. GIOPlite has no service contexts to tell it.
fn a_request_that_is_late_at_the_server_is_not_started(at: Place) {
    if at.is_lite() {
        return;
    }
    let server = at.server().server_threads(zorb::server::ThreadModel::pool(1)).build();
    let servant = Arc::new(Slow::default());
    let poa = server.root_poa().unwrap();
    let text = poa.activate::<Probe>(servant.clone()).unwrap().as_object().to_string();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let probe = probe(&client, &text);
    let first = probe.nothing_async();
    while servant.0.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    let hurried = under(&probe, Policies::new().request_timeout(Duration::from_millis(20)));
    let late = hurried.nothing_async().wait().unwrap_err();
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::No), "{late}");
    first.wait().unwrap();
    assert_eq!(servant.0.load(Ordering::Relaxed), 1);
}

/// What is on the wire: the context is there when it is asked for, and not otherwise.
#[test]
fn the_server_is_told_until_when() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("corbaloc::{}/key", listener.local_addr().unwrap());
    let client = Place::TCP.client().build();
    let probe = probe(&client, &text);
    let soon = Policies::new().call_timeout(PATIENCE);
    let told = under(&probe, soon.clone().request_end_time(SystemTime::UNIX_EPOCH + 1_000_000 * HOUR));
    let untold = under(&probe, soon);
    let caller = std::thread::spawn(move || (told.note(1), told.note(2), untold.note(3)));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut inbound = Inbound::new(Limits::default());
    let mut ends = Vec::new();
    while ends.len() < 3 {
        let count = stream.read(inbound.space()).unwrap();
        inbound.received(count);
        while let Some(message) = inbound.next().unwrap() {
            let Message::Request(request) = message else { panic!("{message:?}") };
            ends.push(request_end(&request.contexts).unwrap());
        }
    }
    let ticks = zorb::giop::UtcTime::UNIX_EPOCH.ticks + 1_000_000 * 3600 * 10_000_000;
    let end = Some(zorb::giop::UtcTime { ticks });
    assert_eq!(ends, [end, end, None]);
    let (first, second, third) = caller.join().unwrap();
    [first, second, third].into_iter().for_each(|result| result.unwrap());
    let _ = stream.flush();
}

/// Sends every caller on to one of two objects.
struct Switch {
    to: [ObjectRef; 2],
    which: AtomicUsize,
}

impl ServantLocator for Switch {
    fn preinvoke(
        &self,
        _: &Poa,
        _: &ObjectId,
        _: &str,
    ) -> Result<(AnyServant, Box<dyn std::any::Any + Send>), Declined> {
        Err(Declined::forward(&self.to[self.which.load(Ordering::Relaxed)]))
    }
}

/// An object that forwards; it is asked again when what it forwarded to has gone.
fn switched(at: Place, texts: [&str; 2]) -> (Orb, Arc<Switch>, String) {
    let orb = at.server().build();
    let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
    let poa = orb.root_poa().unwrap().create_child("switch", policies).unwrap();
    let to = texts.map(|text| orb.string_to_object(text).unwrap().unwrap());
    let locator = Arc::new(Switch { to, which: AtomicUsize::new(0) });
    poa.set_servant_locator(locator.clone()).unwrap();
    poa.manager().activate().unwrap();
    let text = poa.create_reference_with_id::<Probe>("moved").unwrap().as_object().to_string();
    (orb, locator, text)
}

fn a_reference_that_is_bound_once_is_not_led_elsewhere(at: Place) {
    let (first, one) = serve(at.server(), Arc::new(Servant::new(1)));
    let (_second, two) = serve(at.server(), Arc::new(Servant::new(1)));
    let (_here, switch, text) = switched(at, [&one, &two]);
    let client = at.client().build();
    let free = probe(&client, &text);
    let fixed = under(&probe(&client, &text), Policies::new().rebind(Rebind::NoRebind));
    // The first call binds, by way of a forward.
    free.nothing().unwrap();
    free.note(1).unwrap();
    assert_eq!(free.noted().unwrap()[..], [1]);
    assert_eq!(fixed.noted().unwrap()[..], [1]);
    switch.which.store(1, Ordering::Relaxed);
    first.shutdown(true, PATIENCE);
    drop(first);
    assert!(free.noted().unwrap().is_empty(), "calls that may go elsewhere do");
    for _ in 0..2 {
        let gone = fixed.noted().unwrap_err();
        assert_eq!(gone.kind, Kind::Transient, "{gone}");
    }
    assert!(fixed.as_object().validate_connection().unwrap(), "it is bound anew where that is asked for");
    assert!(fixed.noted().unwrap().is_empty());
}

/// A server that answers the first request, and forwards what comes then.
fn a_forward_after_the_first_answer_is_an_exception(at: Place) {
    struct Moves {
        here: AnyServant,
        to: ObjectRef,
        asked: AtomicUsize,
    }
    impl ServantLocator for Moves {
        fn preinvoke(
            &self,
            _: &Poa,
            _: &ObjectId,
            _: &str,
        ) -> Result<(AnyServant, Box<dyn std::any::Any + Send>), Declined> {
            match self.asked.fetch_add(1, Ordering::Relaxed) {
                0 => Ok((self.here.clone(), Box::new(()))),
                _ => Err(Declined::forward(&self.to)),
            }
        }
    }
    let (_there, there) = serve(at.server(), Arc::new(Servant::new(1)));
    let orb = at.server().build();
    let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
    let poa = orb.root_poa().unwrap().create_child("moves", policies).unwrap();
    let to = orb.string_to_object(&there).unwrap().unwrap();
    let here = zorb::IntoServant::<Probe>::into_servant(Arc::new(Servant::new(1)));
    poa.set_servant_locator(Arc::new(Moves { here, to, asked: AtomicUsize::new(0) })).unwrap();
    poa.manager().activate().unwrap();
    let text = poa.create_reference_with_id::<Probe>("x").unwrap().as_object().to_string();
    let client = at.client().build();
    let fixed = under(&probe(&client, &text), Policies::new().rebind(Rebind::NoRebind));
    fixed.nothing().unwrap();
    for result in [fixed.nothing(), fixed.nothing_async().wait()] {
        let moved = result.unwrap_err();
        assert_eq!((moved.kind, moved.completed), (Kind::Rebind, Completion::No), "{moved}");
    }
    assert!(fixed.as_object().validate_connection().unwrap());
    fixed.nothing().unwrap();
}

over! {
    what_is_wanted_no_more_is_not_sent,
    a_reply_is_waited_for_until_its_end_time,
    a_request_that_is_late_at_the_server_is_not_started,
    a_reference_that_is_bound_once_is_not_led_elsewhere,
    a_forward_after_the_first_answer_is_an_exception,
}
