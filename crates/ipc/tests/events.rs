//! Counters and semaphores in the kernel.

mod left_out;

use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use zorb_ipc::{EventCounter, EventSemaphore, Step, wait_readable};

use left_out::left_out;

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn shortly() -> Instant {
    Instant::now() + SHORT
}

#[test]
fn a_counter_is_taken_as_a_whole() {
    let counter = EventCounter::new(3).unwrap();
    counter.add_now(4).unwrap();
    counter.add_by(0, soon()).unwrap();
    assert!(wait_readable(&counter, soon()).unwrap());
    assert_eq!(counter.take_now().unwrap(), 7);
    let error = counter.take_now().unwrap_err();
    assert!(error.is_would_block() && error.step() == Step::Wake, "{error}");
    let begun = Instant::now();
    assert!(counter.take_by(shortly()).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= SHORT);
    assert!(!wait_readable(&counter, shortly()).unwrap());
}

#[test]
fn a_semaphore_is_taken_one_at_a_time() {
    let semaphore = EventSemaphore::new(1).unwrap();
    semaphore.add_now(2).unwrap();
    for _ in 0..2 {
        semaphore.take_now().unwrap();
    }
    semaphore.take_by(soon()).unwrap();
    assert!(semaphore.take_now().unwrap_err().is_would_block());
    assert!(semaphore.take_by(shortly()).unwrap_err().is_timeout());
    semaphore.add_by(1, soon()).unwrap();
    semaphore.take_now().unwrap();
}

#[test]
fn who_takes_waits_for_who_adds() {
    let (counter, semaphore) = (EventCounter::new(0).unwrap(), EventSemaphore::new(0).unwrap());
    thread::scope(|scope| {
        let counted = scope.spawn(|| counter.take_by(soon()).unwrap());
        let takers = [(); 3].map(|()| scope.spawn(|| semaphore.take_by(soon()).unwrap()));
        thread::sleep(SHORT);
        counter.add_now(9).unwrap();
        semaphore.add_now(3).unwrap();
        assert_eq!(counted.join().unwrap(), 9);
        takers.into_iter().for_each(|taker| taker.join().unwrap());
    });
    assert!(semaphore.take_now().unwrap_err().is_would_block());
}

#[test]
fn who_adds_waits_for_room() {
    const FULL: u64 = u64::MAX - 1;
    let counter = EventCounter::new(0).unwrap();
    counter.add_now(FULL - 5).unwrap();
    let error = counter.add_now(6).unwrap_err();
    assert!(error.is_would_block() && error.step() == Step::Wake, "{error}");
    // There is room, but not enough.
    let begun = Instant::now();
    assert!(counter.add_by(6, begun + SHORT).unwrap_err().is_timeout());
    assert!(begun.elapsed() >= SHORT);
    counter.add_now(5).unwrap();
    assert!(counter.add_by(1, shortly()).unwrap_err().is_timeout());
    thread::scope(|scope| {
        let adding = scope.spawn(|| counter.add_by(FULL, soon()).unwrap());
        thread::sleep(SHORT);
        assert_eq!(counter.take_now().unwrap(), FULL);
        adding.join().unwrap();
    });
    assert_eq!(counter.take_now().unwrap(), FULL);
    let error = counter.add_now(u64::MAX).unwrap_err();
    assert!(!error.is_would_block() && error.step() == Step::Wake, "{error}");
    let error = counter.add_by(u64::MAX, soon()).unwrap_err();
    assert!(!error.is_timeout(), "{error}");
}

#[test]
fn one_that_came_from_elsewhere_is_adopted_as_what_it_is() {
    let counter = EventCounter::new(7).unwrap();
    let semaphore = EventSemaphore::new(7).unwrap();
    let duplicate = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().unwrap();
    let adopted = match EventCounter::adopt(duplicate(&counter)) {
        Ok(adopted) => adopted,
        Err(refused) if refused.to_string().contains("does not tell") => {
            left_out("adopting events", &refused.to_string());
            return;
        }
        Err(refused) => panic!("{refused}"),
    };
    assert!(fcntl_getfd(&adopted).unwrap().contains(FdFlags::CLOEXEC));
    assert!(fcntl_getfl(&adopted).unwrap().contains(OFlags::NONBLOCK));
    assert_eq!(adopted.take_now().unwrap(), 7, "the same counter");
    EventSemaphore::adopt(duplicate(&semaphore)).unwrap().take_now().unwrap();

    let refused = EventCounter::adopt(duplicate(&semaphore)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "adopt a descriptor: wanted an eventfd that is a counter, found an eventfd that is a semaphore"
    );
    assert!(refused.error().is_of_another_kind());
    let refused = EventSemaphore::adopt(refused.into_handle())
        .map(drop)
        .and_then(|()| EventSemaphore::adopt(duplicate(&counter)).map(drop));
    assert!(refused.unwrap_err().to_string().ends_with("found an eventfd that is a counter"));
    let timer = zorb_ipc::Timer::new().unwrap();
    let refused = EventCounter::adopt(duplicate(&timer)).unwrap_err();
    assert!(refused.to_string().ends_with("found a descriptor of the kind [timerfd]"), "{refused}");
    let (reader, _writer) = zorb_ipc::pipe().unwrap();
    let refused = EventSemaphore::adopt(duplicate(&reader)).unwrap_err();
    assert!(refused.to_string().ends_with("found a pipe's reading end"), "{refused}");
}

#[test]
fn they_are_not_inherited_and_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let (counter, semaphore) = (EventCounter::new(0).unwrap(), EventSemaphore::new(0).unwrap());
    shared(&counter);
    shared(&semaphore);
    for fd in [counter.as_fd(), semaphore.as_fd()] {
        assert!(fcntl_getfd(fd).unwrap().contains(FdFlags::CLOEXEC));
    }
}
