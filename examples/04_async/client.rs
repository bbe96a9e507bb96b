//! Calls that are made now and waited for later, on any executor: here one of ten lines.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use work::Worker;
use zorb::{Interface, Orb, SystemException};

zorb::include_idl!("work");

/// Runs a future in this thread, which sleeps until the future's waker wakes it.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// All three calls are under way when the first is waited for; they share one connection.
async fn sum(worker: &Worker) -> Result<i32, SystemException> {
    let calls = [worker.square_async(2, 60), worker.square_async(3, 30), worker.square_async(4, 1)];
    let mut sum = 0;
    for call in calls {
        sum += call.await?;
    }
    Ok(sum)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args().nth(1).ok_or("usage: async-client REFERENCE")?;
    let orb = Orb::builder().build();
    let object = orb.string_to_object(&reference)?.ok_or("the reference is nil")?;
    let worker = Worker::from_object(object);

    println!("4 + 9 + 16 = {}", block_on(sum(&worker))?);
    // Without an executor: `wait` blocks.
    println!("25 = {}", worker.square_async(5, 0).wait()?);

    // Who drops a call cancels it; the servant, if it has begun, hears of it.
    let call = worker.dawdle_async();
    while worker.dawdling()? == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    drop(call);
    while worker.dawdling()? != 0 {
        thread::sleep(Duration::from_millis(1));
    }
    println!("the server knows that we gave up");
    Ok(())
}
