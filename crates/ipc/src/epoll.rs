//! Waiting for many descriptors at once: a set in the kernel that costs nothing per idle member.

#![allow(
    unsafe_code,
    reason = "room for events may go to another thread, which its parts do not say of themselves"
)]

use crate::ready::timespec;
use crate::{Error, Step, counts};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use std::fmt;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// A set of descriptors to wait on, shared by any number of threads.
///
/// A descriptor leaves the set when it is closed for good, so dropping a stream that no one duplicated
/// suffices. The set does not keep its members alive: a token may be reported by one thread's
/// [`wait`](Self::wait) while another thread drops the member it stands for, so a token that means nothing
/// any more must be ignored.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
}

/// What to be told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(EventFlags);

impl Interest {
    /// There is something to receive or to accept, or the peer has ended its direction.
    pub const RECEIVE: Self = Self(EventFlags::IN.union(EventFlags::RDHUP));
    /// There is room to send into.
    pub const SEND: Self = Self(EventFlags::OUT);
    /// Nothing but that the peer is gone or has ended its direction, of a pipe also that nobody reads it any
    /// more.
    pub const HANG_UP: Self = Self(EventFlags::RDHUP);
    /// Either to receive or to send.
    pub const BOTH: Self = Self(Self::RECEIVE.0.union(Self::SEND.0));
}

/// How often to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// As long as it is so.
    Level,
    /// Once, to one thread; then not until [`Epoll::modify`] arms it again.
    OneShot,
    /// When it becomes so again: what is there must be used up first.
    Edge,
}

/// What a member of the set has to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number it was added under.
    pub token: u64,
    flags: EventFlags,
}

impl Event {
    /// Receiving or accepting will not block, be it that it reports an end or an error.
    pub fn can_receive(&self) -> bool {
        self.flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
    }

    /// Sending will not block, be it that it reports an error.
    pub fn can_send(&self) -> bool {
        self.flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR)
    }

    /// The peer has ended its direction or the connection is gone; something may be left to receive.
    pub fn is_hang_up(&self) -> bool {
        self.flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
    }

    /// There is an error to be had from the next call; of a pipe's writing end, that nobody reads.
    pub fn is_error(&self) -> bool {
        self.flags.contains(EventFlags::ERR)
    }
}

// SAFETY: the buffer is memory of its own, and what the kernel writes there are numbers of members: `rustix` offers
// them as a pointer as well, which nobody here makes or follows.
unsafe impl Send for Events {}
// SAFETY: likewise; and by a shared reference nobody reaches the buffer.
unsafe impl Sync for Events {}

/// Room for the events of one wait, reused from wait to wait.
pub struct Events {
    buffer: Box<[MaybeUninit<epoll::Event>]>,
    events: Vec<Event>,
}

impl Events {
    /// Room for that many, at least one. Members that find no room are reported by the next wait.
    pub fn with_capacity(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self { buffer: Box::new_uninit_slice(capacity), events: Vec::with_capacity(capacity) }
    }

    /// The events of the last wait.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        self.events.iter().copied()
    }

    /// How many the last wait brought.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether the last wait brought none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.events).finish()
    }
}

impl Epoll {
    /// An empty set.
    ///
    /// # Errors
    /// At [`Step::Open`].
    pub fn new() -> Result<Self, Error> {
        let fd = epoll::create(CreateFlags::CLOEXEC).map_err(|e| Error::os(Step::Open, e))?;
        Ok(Self { fd })
    }

    /// Adds a descriptor under a number of the caller's choosing.
    ///
    /// # Errors
    /// At [`Step::Wait`], if it is in the set already or the user's limit of watched descriptors is reached.
    pub fn add(&self, member: impl AsFd, token: u64, what: Interest, trigger: Trigger) -> Result<(), Error> {
        counts::enter();
        epoll::add(&self.fd, member, EventData::new_u64(token), flags(what, trigger)).map_err(failed)
    }

    /// Changes what is reported for a member, and arms one that has fired its only shot.
    ///
    /// # Errors
    /// At [`Step::Wait`], if it is not in the set.
    pub fn modify(
        &self,
        member: impl AsFd,
        token: u64,
        what: Interest,
        trigger: Trigger,
    ) -> Result<(), Error> {
        counts::enter();
        epoll::modify(&self.fd, member, EventData::new_u64(token), flags(what, trigger)).map_err(failed)
    }

    /// Takes a member out.
    ///
    /// # Errors
    /// At [`Step::Wait`], if it is not in the set.
    pub fn remove(&self, member: impl AsFd) -> Result<(), Error> {
        counts::enter();
        epoll::delete(&self.fd, member).map_err(failed)
    }

    /// Waits until a member has something to report, or until `deadline`, and puts the reports into `events`
    /// in place of the earlier ones: none only if the deadline came first.
    ///
    /// # Errors
    /// At [`Step::Wait`].
    pub fn wait_by(&self, events: &mut Events, deadline: Instant) -> Result<(), Error> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.wait(events, Some(left))?;
            if !events.is_empty() || left.is_zero() {
                return Ok(());
            }
        }
    }

    /// Waits until a member has something to report, at the longest for `timeout` (`None`: as long as it
    /// takes), and puts the reports into `events` in place of the earlier ones. It may come back early with
    /// none: a signal.
    ///
    /// # Errors
    /// At [`Step::Wait`].
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> Result<(), Error> {
        events.events.clear();
        let timeout = timeout.map(timespec);
        counts::enter();
        match epoll::wait(&self.fd, &mut *events.buffer, timeout.as_ref()) {
            Ok((reported, _)) => {
                events.events.extend(reported.iter().map(|e| Event { token: e.data.u64(), flags: e.flags }));
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }
}

impl From<Epoll> for OwnedFd {
    fn from(epoll: Epoll) -> Self {
        epoll.fd
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn flags(what: Interest, trigger: Trigger) -> EventFlags {
    what.0
        | match trigger {
            Trigger::Level => EventFlags::empty(),
            Trigger::OneShot => EventFlags::ONESHOT,
            Trigger::Edge => EventFlags::ET,
        }
}

fn failed(errno: Errno) -> Error {
    Error::os(Step::Wait, errno)
}
