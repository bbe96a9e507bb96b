//! Timers by both clocks.

use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use zorb_ipc::{Error, Expired, OnClockChange, Step, Timer, WallClockTimer, wait_readable};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);

fn soon() -> Instant {
    Instant::now() + LONG
}

fn is_quiet(timer: &Timer) -> bool {
    timer.expirations_now().is_err_and(|error| error.is_would_block() && error.step() == Step::Wait)
}

#[test]
fn one_that_is_not_set_never_expires() {
    let timer = Timer::new().unwrap();
    assert!(is_quiet(&timer));
    assert_eq!(timer.remaining().unwrap(), None);
    let begun = Instant::now();
    let error = timer.expirations_by(begun + SHORT).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Wait, "{error}");
    assert!(begun.elapsed() >= SHORT);
}

#[test]
fn once_is_once_and_not_before_its_time() {
    let timer = Timer::new().unwrap();
    let at = Instant::now() + SHORT;
    timer.fire_at(at).unwrap();
    assert_eq!(timer.expirations_by(soon()).unwrap(), 1);
    assert!(Instant::now() >= at);
    assert!(is_quiet(&timer));
    assert_eq!(timer.remaining().unwrap(), None);

    let begun = Instant::now();
    timer.fire_after(SHORT).unwrap();
    assert!(wait_readable(&timer, soon()).unwrap());
    assert!(begun.elapsed() >= SHORT);
    assert_eq!(timer.expirations_now().unwrap(), 1);
}

#[test]
fn what_has_passed_expires_at_once() {
    let timer = Timer::new().unwrap();
    timer.fire_at(Instant::now()).unwrap();
    assert_eq!(timer.expirations_by(soon()).unwrap(), 1);
    timer.fire_after(Duration::ZERO).unwrap();
    assert_eq!(timer.expirations_by(soon()).unwrap(), 1);
    let timer = WallClockTimer::new().unwrap();
    for past in [UNIX_EPOCH, UNIX_EPOCH - HOUR, SystemTime::now() - HOUR] {
        timer.fire_at(past, OnClockChange::Follow).unwrap();
        assert_eq!(timer.expirations_by(soon()).unwrap(), Expired::Times(1));
    }
}

#[test]
fn again_and_again_none_is_lost() {
    let timer = Timer::new().unwrap();
    let first = Instant::now() + SHORT;
    let period = Duration::from_millis(2);
    timer.fire_every(first, period).unwrap();
    thread::sleep(SHORT + 20 * period);
    let seen = timer.expirations_now().unwrap();
    let due = |now: Instant| 1 + u64::try_from((now - first).as_nanos() / period.as_nanos()).unwrap();
    assert!(seen >= 20 && seen <= due(Instant::now()), "{seen}");
    let more = timer.expirations_by(soon()).unwrap();
    assert!(more >= 1 && seen + more <= due(Instant::now()), "{more}");
    assert!(timer.remaining().unwrap().is_some_and(|left| left <= period));
    timer.stop().unwrap();
    assert!(is_quiet(&timer));
    assert_eq!(timer.remaining().unwrap(), None);
}

#[test]
fn to_set_it_anew_forgets_what_was() {
    let timer = Timer::new().unwrap();
    timer.fire_after(Duration::ZERO).unwrap();
    assert!(wait_readable(&timer, soon()).unwrap());
    timer.fire_after(HOUR).unwrap();
    assert!(is_quiet(&timer));
    let left = timer.remaining().unwrap().unwrap();
    assert!(left <= HOUR && left > HOUR - LONG);
    timer.fire_after(SHORT).unwrap();
    assert_eq!(timer.expirations_by(soon()).unwrap(), 1);
}

#[test]
fn who_waits_is_told_when_another_sets_it() {
    let timer = Timer::new().unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| timer.expirations_by(soon()).unwrap());
        thread::sleep(SHORT);
        timer.fire_after(Duration::ZERO).unwrap();
        assert_eq!(waiting.join().unwrap(), 1);
    });
}

#[test]
fn the_wall_clock_is_followed() {
    let timer = WallClockTimer::new().unwrap();
    assert_eq!(timer.remaining().unwrap(), None);
    for change in [OnClockChange::Follow, OnClockChange::Tell] {
        timer.fire_at(SystemTime::now() + SHORT, change).unwrap();
        assert_eq!(timer.expirations_by(soon()).unwrap(), Expired::Times(1));
        timer.fire_every(SystemTime::now(), Duration::from_millis(1), change).unwrap();
        let Expired::Times(_) = timer.expirations_by(soon()).unwrap() else { panic!("nobody set the clock") };
    }
    timer.fire_at(SystemTime::now() + HOUR, OnClockChange::Tell).unwrap();
    assert!(timer.expirations_now().unwrap_err().is_would_block());
    assert!(timer.expirations_by(Instant::now() + SHORT).unwrap_err().is_timeout());
    assert!(timer.remaining().unwrap().is_some_and(|left| left > HOUR - LONG));
    timer.stop().unwrap();
    assert_eq!(timer.remaining().unwrap(), None);
}

#[test]
fn times_that_cannot_be_are_errors() {
    let invalid = |error: Error| {
        assert_eq!(error.step(), Step::Configure);
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::INVAL.raw_os_error()), "{error}");
    };
    let timer = Timer::new().unwrap();
    timer.fire_after(HOUR).unwrap();
    invalid(timer.fire_after(Duration::MAX).unwrap_err());
    invalid(timer.fire_every(Instant::now(), Duration::ZERO).unwrap_err());
    invalid(timer.fire_every(Instant::now(), Duration::MAX).unwrap_err());
    assert!(timer.remaining().unwrap().is_some(), "it is set as it was");
    let wall = WallClockTimer::new().unwrap();
    invalid(wall.fire_every(SystemTime::now(), Duration::ZERO, OnClockChange::Follow).unwrap_err());
}

#[test]
fn one_that_came_from_elsewhere_is_adopted_as_what_it_is() {
    let duplicate = |fd: &dyn AsFd| fd.as_fd().try_clone_to_owned().unwrap();
    let timer = Timer::new().unwrap();
    timer.fire_after(Duration::ZERO).unwrap();
    let adopted = Timer::adopt(duplicate(&timer)).unwrap();
    assert!(fcntl_getfd(&adopted).unwrap().contains(FdFlags::CLOEXEC));
    assert!(fcntl_getfl(&adopted).unwrap().contains(OFlags::NONBLOCK));
    assert_eq!(adopted.expirations_by(soon()).unwrap(), 1, "the same timer");
    WallClockTimer::adopt(duplicate(&WallClockTimer::new().unwrap())).unwrap();

    let refused = WallClockTimer::adopt(duplicate(&timer)).unwrap_err();
    assert!(refused.error().is_of_another_kind() && refused.error().step() == Step::Adopt);
    assert!(
        refused.to_string().ends_with("wanted a timer by the wall clock, found a timer by clock 1"),
        "{refused}"
    );
    Timer::adopt(refused.into_handle()).unwrap();
    let counter = zorb_ipc::EventCounter::new(0).unwrap();
    let refused = Timer::adopt(duplicate(&counter)).unwrap_err();
    assert!(refused.to_string().ends_with("found a descriptor of the kind [eventfd]"), "{refused}");
}

#[test]
fn they_are_not_inherited_and_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let (timer, wall) = (Timer::new().unwrap(), WallClockTimer::new().unwrap());
    shared(&timer);
    shared(&wall);
    for fd in [timer.as_fd(), wall.as_fd()] {
        assert!(fcntl_getfd(fd).unwrap().contains(FdFlags::CLOEXEC));
    }
}
