//! A server without a thread, in the thread of a client that serves it where it would wait.

use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use zorb::poa::Poa;
use zorb::policy::Policies;
use zorb::server::{DeferredReply, ThreadModel};
use zorb::transport::memory::Memory;
use zorb::{Interface, IntoServant, Kind, Orb, OrbBuilder, SystemException};
use zorb_tests::kitchen::counter::ServeError;
use zorb_tests::kitchen::{Counter, CounterServant};
use zorb_tests::servant::Servant;
use zorb_tests::testing::{Bulky, Probe};

use crate::futures::block_on;

/// A server without a thread, and a client in whose thread it runs, each by its own ORB.
pub(crate) struct Pair {
    poa: Poa,
    client: Orb,
}

impl Pair {
    pub(crate) fn new() -> Pair {
        Pair::built_by(Orb::builder)
    }

    pub(crate) fn built_by(builder: impl Fn() -> OrbBuilder) -> Pair {
        let memory = Arc::new(Memory::new());
        let server = builder().transport(memory.clone()).listen("memory:here");
        let server = server.server_threads(ThreadModel::Caller).build();
        let poa = server.root_poa().expect("a new ORB");
        poa.manager().activate().expect("a new adapter");
        Pair { poa, client: builder().transport(memory).build() }
    }

    /// A new object, as the client sees it.
    pub(crate) fn object<I: Interface>(&self, servant: impl IntoServant<I>) -> I {
        let text = self.poa.activate(servant).expect("a new object").as_object().to_string();
        I::from_object(self.client.string_to_object(&text).expect("our own text").expect("not nil"))
    }
}

#[test]
fn calls_behind_oneways_are_answered_and_oneways_run_first() {
    let pair = Pair::new();
    let probe: Probe = pair.object(Arc::new(Servant::new(1)));
    for round in 1..=10 {
        for number in 0..round {
            probe.note(number).expect("sent");
        }
        let noted = probe.noted().expect("answered");
        assert!(noted.ends_with(&(0..round).collect::<Vec<_>>()), "{noted:?}");
    }
}

#[test]
fn oneways_of_more_than_the_transport_holds_are_all_run() {
    let pair = Pair::new();
    let probe: Bulky = pair.object(Arc::new(Servant::new(1)));
    let data: Vec<u8> = (0..300_000).map(|index| index as u8).collect();
    for _ in 0..20 {
        probe.note_size(&data).expect("sent");
    }
    assert_eq!(probe.noted().expect("answered")[..], [300_000; 20]);
}

type Guest = DeferredReply<(i32, String), ServeError>;

/// Says which thread it runs in, or answers later, or never.
#[derive(Default)]
struct Later(Mutex<Vec<Guest>>);

impl CounterServant for Later {
    fn serve(&self, reply: Guest, dish: &str) {
        match dish {
            "never" => self.0.lock().expect("nobody panics here").push(reply),
            _ => reply.reply((0, format!("{:?}", thread::current().id()))),
        }
    }
    fn call(&self, reply: DeferredReply<(), SystemException>, _: i32) {
        reply.reply(());
    }
    fn waiting(&self, reply: DeferredReply<i32, SystemException>) {
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            reply.reply(7);
        });
    }
}

#[test]
fn it_is_served_by_the_thread_that_waits_also_behind_oneways() {
    let pair = Pair::new();
    let counter: Counter = pair.object(Arc::new(Later::default()));
    let here = |id: ThreadId| (0, format!("{id:?}"));
    assert_eq!(counter.serve("").expect("answered"), here(thread::current().id()));
    counter.call(1).expect("sent");
    assert_eq!(counter.serve("").expect("answered"), here(thread::current().id()));
}

#[test]
fn what_is_answered_later_is_waited_for() {
    let pair = Pair::new();
    let counter: Counter = pair.object(Arc::new(Later::default()));
    for _ in 0..3 {
        assert_eq!(counter.waiting().expect("answered"), 7);
        counter.call(1).expect("sent");
    }
    let soon = Policies::new().call_timeout(Duration::from_millis(5));
    let hasty = Counter::from_object(counter.as_object().with_policies(soon));
    let late = hasty.serve("never").expect_err("nobody answers");
    assert!(matches!(&late, ServeError::System(exception) if exception.kind == Kind::Timeout), "{late:?}");
}

#[test]
fn futures_are_served_where_they_are_polled() {
    let pair = Pair::new();
    let probe: Probe = pair.object(Arc::new(Servant::new(1)));
    let counter: Counter = pair.object(Arc::new(Later::default()));
    let data: Vec<u8> = (0..3_000_000).map(|index| index as u8).collect();
    block_on(async {
        assert_eq!(probe.greet_async("a future".into()).await.expect("answered"), "hello, a future");
        assert_eq!(counter.waiting_async().await.expect("answered"), 7);
        assert_eq!(probe.echo_async(data.clone().into()).await.expect("answered")[..], data[..]);
    });
}
