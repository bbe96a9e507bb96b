//! `_async` twins: any executor drives them, and dropping one cancels its call.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::Instant;

use zorb::{Call, SystemException};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::{Probe, ProbeServant};

use crate::fixture::{Place, probe, serve};

/// An executor of a dozen lines: what any executor has.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(PATIENCE),
        }
    }
}

fn a_future_brings_results_and_exceptions(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    block_on(async {
        assert_eq!(probe.greet_async("a future".into()).await.unwrap(), "hello, a future");
        assert_eq!(probe.divide_async(7, 2).await.unwrap(), (3, 1));
        assert!(probe.divide_async(7, 0).await.is_err());
        let data: Vec<u8> = (0..1_000_000).map(|index| index as u8).collect();
        assert_eq!(probe.echo_async(data.clone().into()).await.unwrap()[..], data[..]);
    });
}

fn many_calls_are_in_flight_on_one_connection(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    let calls: Vec<_> = (0..1000).map(|number| (number, probe.divide_async(number, 3))).collect();
    block_on(async {
        for (number, call) in calls {
            assert_eq!(call.await.unwrap(), (number / 3, number % 3));
        }
    });
}

/// A servant that waits until its caller has given up.
#[derive(Default)]
struct Abandoned {
    begun: AtomicBool,
    seen: AtomicBool,
}

impl ProbeServant for Abandoned {
    fn nothing(&self, call: &Call) -> Result<(), SystemException> {
        self.begun.store(true, Ordering::Release);
        until("a cancel", || call.is_cancelled());
        self.seen.store(true, Ordering::Release);
        Ok(())
    }
    zorb_tests::unserved!();
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "in vain: {what}");
        std::thread::yield_now();
    }
}

fn a_dropped_future_cancels_its_call(at: Place) {
    let servant = Arc::new(Abandoned::default());
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let reference = poa.activate::<Probe>(servant.clone()).unwrap();
    poa.manager().activate().unwrap();
    let client = at.client().build();
    let probe = probe(&client, &zorb::Interface::as_object(&reference).to_string());
    let call = probe.nothing_async();
    // It was sent when it was made: nothing has polled it yet. A call that is cancelled before its upcall may never run.
    until("the upcall", || servant.begun.load(Ordering::Acquire));
    drop(call);
    until("the servant sees it", || servant.seen.load(Ordering::Acquire));
}

over! {
    a_future_brings_results_and_exceptions,
    many_calls_are_in_flight_on_one_connection,
    a_dropped_future_cancels_its_call,
}
