//! A server that closes idle connections exactly as calls arrive, 100,000 times: every call is executed once, and no caller
//! notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use zorb_orb::Orb;
use zorb_orb::rt::{InterfaceInfo, Operation, ServerRequest, Skeleton, SystemException, call};
use zorb_orb::server::{ServerLimits, ThreadModel};

static INFO: InterfaceInfo = InterfaceInfo { id: "IDL:test/Counter:1.0", ancestors: &[] };
static COUNT: Operation = Operation::new("count");

/// `unsigned long count()`: how often it was called before.
#[derive(Default)]
struct Counter(AtomicU32);

impl Skeleton for Counter {
    fn interface(&self) -> &'static InterfaceInfo {
        &INFO
    }

    fn dispatch(&self, request: ServerRequest) {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        request.reply(|to| {
            to.write_u32(before);
            Ok(())
        });
    }
}

/// Ends the closing thread, also when an assertion fails.
struct Ends<'e>(&'e AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls one after the other, while connections are closed as soon as they are idle, until so many were.
fn calls_meet_closes(threads: ThreadModel, closings: usize) {
    // Connections are idle, and so may be closed, as soon as a call has been answered.
    let mut limits = ServerLimits::default();
    limits.linger = Duration::ZERO;
    let server =
        Orb::builder().listen("tcp:127.0.0.1:0").server_threads(threads).server_limits(limits).build();
    let poa = server.root_poa().expect("a root adapter");
    let object = poa.activate_servant(Arc::new(Counter::default()), INFO.id).expect("activated");
    poa.manager().activate().expect("a manager");
    let client = Orb::builder().build();
    let object = client.string_to_object(&object.to_string()).expect("a reference").expect("not nil");
    let done = AtomicBool::new(false);
    let closed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let _ends = Ends(&done);
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                closed.fetch_add(server.close_idle_connections(), Ordering::Relaxed);
                std::thread::yield_now();
            }
        });
        let mut number = 0;
        while closed.load(Ordering::Relaxed) < closings {
            let before: Result<u32, SystemException> =
                call(&object, &COUNT, |_| Ok(()), |from| from.read_u32());
            assert_eq!(before, Ok(number));
            number += 1;
        }
        eprintln!("{closings} connections closed under {number} calls");
    });
    drop(object);
    drop(client);
    server.shutdown(true, Duration::from_secs(10));
}

#[test]
fn calls_meet_a_hundred_thousand_closes() {
    for threads in [ThreadModel::per_connection(), ThreadModel::pool(4)] {
        calls_meet_closes(threads, 35_000);
    }
    calls_meet_closes(ThreadModel::Reactor, 30_000);
}
