//! A clock that somebody sets. Alone in its process, since it does so: by one microsecond forth and back.

mod left_out;

use std::time::{Duration, Instant, SystemTime};

use zorb_ipc::{Expired, OnClockChange, WallClockTimer};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

/// Sets the wall clock by so many microseconds (adjtimex(2)), if this process may.
fn set_by(microseconds: i64) -> bool {
    // SAFETY: a zeroed structure is a valid one without changes.
    let mut change: libc::timex = unsafe { std::mem::zeroed() };
    change.modes = libc::ADJ_SETOFFSET;
    // The fraction counts upwards from the second before.
    change.time.tv_sec = microseconds.div_euclid(1_000_000);
    change.time.tv_usec = microseconds.rem_euclid(1_000_000);
    // SAFETY: the call reads and fills the structure and keeps no reference to it.
    let state = unsafe { libc::adjtimex(&mut change) };
    state >= 0
}

#[test]
fn a_clock_that_is_set_is_told_to_who_asked() {
    let follow = WallClockTimer::new().unwrap();
    let tell = WallClockTimer::new().unwrap();
    let at = SystemTime::now() + Duration::from_secs(3600);
    follow.fire_at(at, OnClockChange::Follow).unwrap();
    tell.fire_at(at, OnClockChange::Tell).unwrap();
    if !set_by(1) {
        left_out("a clock that is set", "this process may not set it");
        return;
    }
    assert!(set_by(-1));
    let deadline = Instant::now() + LONG;
    assert_eq!(tell.expirations_by(deadline).unwrap(), Expired::ClockSet);
    assert!(tell.expirations_now().unwrap_err().is_would_block(), "told once");
    assert!(tell.remaining().unwrap().is_some(), "it goes on waiting");
    assert!(follow.expirations_now().unwrap_err().is_would_block());
    tell.fire_at(SystemTime::now(), OnClockChange::Tell).unwrap();
    assert_eq!(tell.expirations_by(deadline).unwrap(), Expired::Times(1));

    // One that nobody has taken note of is forgotten when the timer is set again.
    tell.fire_at(at, OnClockChange::Tell).unwrap();
    assert!(set_by(1) && set_by(-1));
    tell.fire_at(at, OnClockChange::Tell).unwrap();
    assert!(tell.expirations_now().unwrap_err().is_would_block());
    assert!(tell.remaining().unwrap().is_some(), "it is set");
    assert!(set_by(1) && set_by(-1));
    assert_eq!(tell.expirations_by(deadline).unwrap(), Expired::ClockSet, "and tells of the next one");
}
