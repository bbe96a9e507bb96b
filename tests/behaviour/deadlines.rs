//! Every wait has a deadline that the user chose or can see.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::policy::{Policies, SyncScope, with_thread_policies};
use zorb::{Completion, Interface, Kind, Orb};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;

use crate::fixture::{Place, probe, serve};

/// A timeout that a test waits out; a busy machine gets a message written in less.
const SHORT: Duration = Duration::from_millis(500);

fn timed_out(at: Place, result: Result<(), zorb::SystemException>) {
    let exception = result.unwrap_err();
    assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::Maybe), "{exception}");
    assert!(exception.detail().contains(&format!("wait at {}", at.prefix())), "{exception}");
}

fn a_call_timeout_is_a_policy_of_orb_thread_and_reference(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let short = Policies::new().call_timeout(SHORT);
    let client = at.client().policies(short.clone()).build();
    timed_out(at, probe(&client, &text).wait(3000));
    timed_out(at, probe(&client, &text).wait_async(3000).wait());

    let client = at.client().build();
    let patient = probe(&client, &text);
    let began = Instant::now();
    with_thread_policies(short.clone(), || timed_out(at, patient.wait(3000)));
    let hasty = Probe::from_object(patient.as_object().with_policies(short.clone()));
    timed_out(at, hasty.wait(3000));
    timed_out(at, hasty.wait_async(3000).wait());
    assert!(began.elapsed() >= 3 * SHORT, "none of the three may end before its time");
    // The reference's own policy is narrower than the thread's.
    let long = Policies::new().call_timeout(Duration::from_secs(20));
    let patient = Probe::from_object(patient.as_object().with_policies(long));
    with_thread_policies(short, || patient.wait(1_500)).unwrap();
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = format!("corbaloc::127.0.0.1:{}/nobody", silent.local_addr().unwrap().port());
    let client = Orb::builder().policies(Policies::new().call_timeout(SHORT)).build();
    for private in [true, false] {
        let probe = probe(&client, &text);
        let result = if private { probe.nothing() } else { probe.nothing_async().wait() };
        let exception = result.unwrap_err();
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::Maybe), "{exception}");
    }
}

/// Port 1 of the loopback interface is nobody's.
#[test]
fn nobody_listening_is_transient_and_names_the_endpoint() {
    let gone = "127.0.0.1:1";
    let client = Orb::builder().build();
    let probe = probe(&client, &format!("corbaloc::{gone}/nobody"));
    for result in [probe.nothing(), probe.nothing_async().wait()] {
        let exception = result.unwrap_err();
        assert_eq!((exception.kind, exception.completed), (Kind::Transient, Completion::No), "{exception}");
        assert!(exception.detail().contains(&format!("tcp:{gone}")), "{exception}");
        assert!(exception.detail().contains("refused"), "{exception}");
    }
}

fn a_oneway_waits_as_far_as_its_scope_says(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    let with_target = Policies::new().sync_scope(SyncScope::WithTarget);
    let waiting = Probe::from_object(probe.as_object().with_policies(with_target));
    let began = Instant::now();
    waiting.note_slowly(1, 50).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(50), "it must have returned from the servant");
    // Another object adapter would not be asked with WITH_SERVER: the reply only says that the request came.
    let with_server = Policies::new().sync_scope(SyncScope::WithServer);
    Probe::from_object(probe.as_object().with_policies(with_server)).note(2).unwrap();
    assert_eq!(probe.noted().unwrap()[..], [1, 2]);
}

over! {
    a_call_timeout_is_a_policy_of_orb_thread_and_reference,
    a_oneway_waits_as_far_as_its_scope_says,
}
