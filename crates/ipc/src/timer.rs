//! Timers that are descriptors (timerfd_create(2)): waited for together with others in an
//! [`Epoll`](crate::Epoll), or by themselves. One goes by the clock that only ever runs on, one by the wall
//! clock, which people and servers set.
//!
//! An expiration is counted until it is taken, so none is lost; the descriptor is readable while some are
//! there.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::PollFlags;
use rustix::io::{Errno, read};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_gettime,
    timerfd_settime,
};

use crate::kind::{self, adopted};
use crate::ready::{attempt_by, resumed};
use crate::{Error, Refused, Step};

/// A timer by the clock of [`Instant`] (`CLOCK_MONOTONIC`), which nobody sets.
///
/// Times of the two clocks are not mistaken for each other:
///
/// ```compile_fail,E0308
/// # fn wrong(timer: &zorb_ipc::Timer) {
/// timer.fire_at(std::time::SystemTime::now()); // that is the other clock's
/// # }
/// ```
#[derive(Debug)]
pub struct Timer(Timerfd);

impl Timer {
    /// That is not set.
    ///
    /// # Errors
    /// At [`Step::Open`]: [`Error::is_descriptors_exhausted`].
    pub fn new() -> Result<Self, Error> {
        Timerfd::new(TimerfdClockId::Monotonic).map(Self)
    }

    /// Takes over a descriptor that came from elsewhere. It no longer blocks, for whoever shares it either,
    /// and is not inherited by other programs; how it is set stays.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not a timer by this
    /// clock.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Timerfd::adopt(fd, TimerfdClockId::Monotonic, "a timer by the monotonic clock").map(Self)
    }

    /// Sets it to expire once, at that time; one that has passed expires at once. What was set or had expired
    /// before is forgotten, as in all calls that set it.
    ///
    /// # Errors
    /// At [`Step::Configure`]: a time beyond what the system can tell.
    pub fn fire_at(&self, at: Instant) -> Result<(), Error> {
        self.fire_after(until(at))
    }

    /// Sets it to expire once, so long from now.
    ///
    /// # Errors
    /// As [`fire_at`](Self::fire_at).
    pub fn fire_after(&self, delay: Duration) -> Result<(), Error> {
        self.0.set(TimerfdTimerFlags::empty(), delay, Duration::ZERO)
    }

    /// Sets it to expire at `first`, and from then on whenever `period` has passed again, however late it is
    /// taken note of.
    ///
    /// # Errors
    /// As [`fire_at`](Self::fire_at); an invalid argument for a period of zero.
    pub fn fire_every(&self, first: Instant, period: Duration) -> Result<(), Error> {
        self.0.set_periodic(TimerfdTimerFlags::empty(), until(first), period)
    }

    /// It is not set any more, and nothing has expired.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn stop(&self) -> Result<(), Error> {
        self.0.stop()
    }

    /// How long until it expires next; `None` if it is not set, or has expired for the last time.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn remaining(&self) -> Result<Option<Duration>, Error> {
        self.0.remaining()
    }

    /// Takes note of how often it has expired since that was last done.
    ///
    /// # Errors
    /// At [`Step::Wait`]: [`Error::is_would_block`] if not once.
    pub fn expirations_now(&self) -> Result<u64, Error> {
        self.0.expirations_now().map_err(failed)
    }

    /// The same, and waits for it to expire until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Wait`]: [`Error::is_timeout`].
    pub fn expirations_by(&self, deadline: Instant) -> Result<u64, Error> {
        self.0.expirations_by(deadline)?.map_err(failed)
    }
}

/// How long until then. The kernel is asked to wait as long, since an [`Instant`] does not tell its number: what
/// passes between this look at the clock and the kernel's makes a timer late, never early.
fn until(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

/// A timer by the wall clock (`CLOCK_REALTIME`).
#[derive(Debug)]
pub struct WallClockTimer(Timerfd);

/// What became of a [`WallClockTimer`].
#[must_use = "the clock may have been set, so that nothing has expired"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// It expired, so many times since that was last asked.
    Times(u64),
    /// Somebody set the clock, so the time that it waits for may have been passed over or be further away
    /// than it was. It is told once, and it goes on waiting. Only with [`OnClockChange::Tell`].
    ClockSet,
}

/// What a [`WallClockTimer`] does when somebody sets the clock. To slow it down or speed it up a little is
/// not to set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnClockChange {
    /// It waits for the time that it was set to, as the clock now tells it.
    Follow,
    /// It does that, and becomes readable to say so ([`Expired::ClockSet`]).
    Tell,
}

impl WallClockTimer {
    /// That is not set.
    ///
    /// # Errors
    /// At [`Step::Open`]: [`Error::is_descriptors_exhausted`].
    pub fn new() -> Result<Self, Error> {
        Timerfd::new(TimerfdClockId::Realtime).map(Self)
    }

    /// Takes over a descriptor that came from elsewhere, as [`Timer::adopt`].
    ///
    /// # Errors
    /// As there.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Timerfd::adopt(fd, TimerfdClockId::Realtime, "a timer by the wall clock").map(Self)
    }

    /// Sets it to expire once, when the clock shows that time; one that has passed expires at once. What was
    /// set or had expired before is forgotten, as in all calls that set it.
    ///
    /// # Errors
    /// At [`Step::Configure`]: a time beyond what the system can tell.
    pub fn fire_at(&self, at: SystemTime, change: OnClockChange) -> Result<(), Error> {
        self.0.set(flags(change), since_epoch(at), Duration::ZERO)
    }

    /// Sets it to expire when the clock shows `first`, and from then on whenever `period` has passed again.
    ///
    /// # Errors
    /// As [`fire_at`](Self::fire_at); an invalid argument for a period of zero.
    pub fn fire_every(
        &self,
        first: SystemTime,
        period: Duration,
        change: OnClockChange,
    ) -> Result<(), Error> {
        self.0.set_periodic(flags(change), since_epoch(first), period)
    }

    /// It is not set any more, and nothing has expired.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn stop(&self) -> Result<(), Error> {
        self.0.stop()
    }

    /// How long until it expires next, if nobody sets the clock; `None` if it is not set, or has expired for
    /// the last time.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn remaining(&self) -> Result<Option<Duration>, Error> {
        self.0.remaining()
    }

    /// Takes note of how often it has expired since that was last done.
    ///
    /// # Errors
    /// At [`Step::Wait`]: [`Error::is_would_block`] if not once.
    pub fn expirations_now(&self) -> Result<Expired, Error> {
        expired(self.0.expirations_now())
    }

    /// The same, and waits for it to expire until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Wait`]: [`Error::is_timeout`].
    pub fn expirations_by(&self, deadline: Instant) -> Result<Expired, Error> {
        expired(self.0.expirations_by(deadline)?)
    }
}

fn flags(change: OnClockChange) -> TimerfdTimerFlags {
    match change {
        OnClockChange::Follow => TimerfdTimerFlags::ABSTIME,
        OnClockChange::Tell => TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET,
    }
}

/// As the kernel counts; what was before has passed.
fn since_epoch(at: SystemTime) -> Duration {
    at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

fn expired(read: Result<u64, Errno>) -> Result<Expired, Error> {
    match read {
        Ok(times) => Ok(Expired::Times(times)),
        Err(Errno::CANCELED) => Ok(Expired::ClockSet),
        Err(errno) => Err(failed(errno)),
    }
}

#[cold]
fn failed(errno: Errno) -> Error {
    Error::os(Step::Wait, errno)
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl AsFd for WallClockTimer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl From<Timer> for OwnedFd {
    fn from(timer: Timer) -> Self {
        timer.0.0
    }
}

impl From<WallClockTimer> for OwnedFd {
    fn from(timer: WallClockTimer) -> Self {
        timer.0.0
    }
}

/// Either, not blocking.
#[derive(Debug)]
struct Timerfd(OwnedFd);

impl Timerfd {
    fn new(clock: TimerfdClockId) -> Result<Self, Error> {
        let fd = timerfd_create(clock, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK);
        fd.map(Self).map_err(|errno| Error::os(Step::Open, errno))
    }

    fn adopt(fd: OwnedFd, clock: TimerfdClockId, wanted: &str) -> Result<Self, Refused<OwnedFd>> {
        let (fd, ()) = adopted(fd, |fd| {
            if timerfd_gettime(fd).is_err() {
                return Err(kind::unlike(wanted, fd));
            }
            match kind::told(fd, "clockid")? {
                Some(told) if told == (clock as u32).to_string() => kind::prepare(fd, false),
                told => {
                    let found = format!("a timer by clock {}", told.as_deref().unwrap_or("unknown"));
                    Err(Error::unlike(Step::Adopt, wanted, found))
                }
            }
        })?;
        Ok(Self(fd))
    }

    fn set_periodic(&self, flags: TimerfdTimerFlags, first: Duration, period: Duration) -> Result<(), Error> {
        if period.is_zero() {
            return Err(Error::os(Step::Configure, Errno::INVAL));
        }
        self.set(flags, first, period)
    }

    fn set(&self, flags: TimerfdTimerFlags, first: Duration, period: Duration) -> Result<(), Error> {
        // To the kernel zero means not at all, the opposite of what was asked for.
        self.arm(flags, first.max(Duration::from_nanos(1)), period)
    }

    fn stop(&self) -> Result<(), Error> {
        self.arm(TimerfdTimerFlags::empty(), Duration::ZERO, Duration::ZERO)
    }

    fn arm(&self, flags: TimerfdTimerFlags, first: Duration, period: Duration) -> Result<(), Error> {
        let time = |duration: Duration| Timespec::try_from(duration).map_err(|_| Errno::INVAL);
        let arm = || {
            let times = Itimerspec { it_interval: time(period)?, it_value: time(first)? };
            resumed(|| timerfd_settime(&self.0, flags, &times))
        };
        match arm() {
            // It is set, and the change of the clock that nobody has taken note of belongs to what was set before
            // (`timerfd_setup` in Linux's fs/timerfd.c); only what it shows of its flags comes with another call.
            Err(Errno::CANCELED) => match arm() {
                Ok(_) | Err(Errno::CANCELED) => Ok(()),
                Err(errno) => Err(Error::os(Step::Configure, errno)),
            },
            Ok(_before) => Ok(()),
            Err(errno) => Err(Error::os(Step::Configure, errno)),
        }
    }

    fn remaining(&self) -> Result<Option<Duration>, Error> {
        let times = resumed(|| timerfd_gettime(&self.0));
        let left = times.and_then(|times| Duration::try_from(times.it_value).map_err(|_| Errno::OVERFLOW));
        let left = left.map_err(|errno| Error::os(Step::Configure, errno))?;
        Ok((!left.is_zero()).then_some(left))
    }

    fn expirations_now(&self) -> Result<u64, Errno> {
        let mut times = [0; 8];
        // It gives all eight octets or none.
        resumed(|| read(&self.0, &mut times)).map(|_eight| u64::from_ne_bytes(times))
    }

    fn expirations_by(&self, deadline: Instant) -> Result<Result<u64, Errno>, Error> {
        attempt_by(self.0.as_fd(), Step::Wait, PollFlags::IN, Some(deadline), || {
            match self.expirations_now() {
                Err(Errno::AGAIN) => Err(Errno::AGAIN),
                done => Ok(done),
            }
        })
    }
}
