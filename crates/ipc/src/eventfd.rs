//! Numbers in the kernel that threads and processes wait on (eventfd(2)): a counter, which is taken as a
//! whole, and a semaphore, of which one is taken at a time.
//!
//! To wake a thread from an [`Epoll`](crate::Epoll), [`Wake`](crate::Wake) is simpler.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{EventfdFlags, PollFlags, eventfd};
use rustix::io::{Errno, read, write};

use crate::kind::{self, adopted};
use crate::ready::{attempt_by, resumed};
use crate::{Error, Refused, Step};

/// A counter in the kernel: what any number of threads and processes add, one takes together.
///
/// Its descriptor is readable while the number is not zero.
#[derive(Debug)]
pub struct EventCounter(Eventfd);

/// A semaphore in the kernel: each take takes one.
///
/// Its descriptor is readable while the number is not zero.
#[derive(Debug)]
pub struct EventSemaphore(Eventfd);

impl EventCounter {
    /// That begins with a number.
    ///
    /// # Errors
    /// At [`Step::Open`]: [`Error::is_descriptors_exhausted`].
    pub fn new(begin: u32) -> Result<Self, Error> {
        Eventfd::new(begin, EventfdFlags::empty()).map(Self)
    }

    /// Takes over a descriptor that came from elsewhere. It no longer blocks, for whoever shares it either,
    /// and is not inherited by other programs.
    ///
    /// # Errors
    /// At [`Step::Adopt`], with the descriptor: [`Error::is_of_another_kind`] if it is not a counter, or the
    /// kernel (before Linux 6.5, or without `/proc`) does not tell a counter from a semaphore.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Eventfd::adopt(fd, "0", "an eventfd that is a counter").map(Self)
    }

    /// Takes the number, which is zero from then on.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_would_block`] if it is zero.
    #[inline]
    pub fn take_now(&self) -> Result<u64, Error> {
        self.0.take_now()
    }

    /// Takes the number, and waits until `deadline` for it not to be zero.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_timeout`].
    pub fn take_by(&self, deadline: Instant) -> Result<u64, Error> {
        self.0.take_by(deadline)
    }

    /// Adds to the number.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_would_block`] if the sum would pass 2⁶⁴ − 2; an invalid argument for
    /// 2⁶⁴ − 1.
    #[inline]
    pub fn add_now(&self, number: u64) -> Result<(), Error> {
        self.0.add_now(number)
    }

    /// Adds to the number, and waits until `deadline` for room.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_timeout`]; an invalid argument for 2⁶⁴ − 1.
    pub fn add_by(&self, number: u64, deadline: Instant) -> Result<(), Error> {
        self.0.add_by(number, deadline)
    }
}

impl EventSemaphore {
    /// That begins with a number.
    ///
    /// # Errors
    /// At [`Step::Open`]: [`Error::is_descriptors_exhausted`].
    pub fn new(begin: u32) -> Result<Self, Error> {
        Eventfd::new(begin, EventfdFlags::SEMAPHORE).map(Self)
    }

    /// Takes over a descriptor that came from elsewhere, as [`EventCounter::adopt`].
    ///
    /// # Errors
    /// As there.
    pub fn adopt(fd: OwnedFd) -> Result<Self, Refused<OwnedFd>> {
        Eventfd::adopt(fd, "1", "an eventfd that is a semaphore").map(Self)
    }

    /// Takes one.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_would_block`] if there is none.
    #[inline]
    pub fn take_now(&self) -> Result<(), Error> {
        self.0.take_now().map(|_one| ())
    }

    /// Takes one, and waits for it until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Wake`]: [`Error::is_timeout`].
    pub fn take_by(&self, deadline: Instant) -> Result<(), Error> {
        self.0.take_by(deadline).map(|_one| ())
    }

    /// Adds so many, for as many to take.
    ///
    /// # Errors
    /// As [`EventCounter::add_now`].
    #[inline]
    pub fn add_now(&self, number: u64) -> Result<(), Error> {
        self.0.add_now(number)
    }

    /// Adds so many, and waits until `deadline` for room.
    ///
    /// # Errors
    /// As [`EventCounter::add_by`].
    pub fn add_by(&self, number: u64, deadline: Instant) -> Result<(), Error> {
        self.0.add_by(number, deadline)
    }
}

impl AsFd for EventCounter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl AsFd for EventSemaphore {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl From<EventCounter> for OwnedFd {
    fn from(counter: EventCounter) -> Self {
        counter.0.0
    }
}

impl From<EventSemaphore> for OwnedFd {
    fn from(semaphore: EventSemaphore) -> Self {
        semaphore.0.0
    }
}

/// Either, not blocking.
#[derive(Debug)]
struct Eventfd(OwnedFd);

impl Eventfd {
    fn new(begin: u32, mode: EventfdFlags) -> Result<Self, Error> {
        let fd = eventfd(begin, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK | mode);
        fd.map(Self).map_err(|errno| Error::os(Step::Open, errno))
    }

    fn adopt(fd: OwnedFd, semaphore: &str, wanted: &str) -> Result<Self, Refused<OwnedFd>> {
        let (fd, ()) = adopted(fd, |fd| {
            if kind::anonymous(fd)?.as_deref() != Some("[eventfd]") {
                return Err(kind::unlike(wanted, fd));
            }
            let found = match kind::told(fd, "eventfd-semaphore")?.as_deref() {
                Some(told) if told == semaphore => return kind::prepare(fd, false),
                Some("0") => "an eventfd that is a counter",
                Some(_) => "an eventfd that is a semaphore",
                None => "an eventfd, of which this kernel does not tell whether it is a semaphore",
            };
            Err(Error::unlike(Step::Adopt, wanted, found))
        })?;
        Ok(Self(fd))
    }

    #[inline]
    fn take(&self) -> Result<u64, Errno> {
        let mut number = [0; 8];
        // It gives all eight octets or none.
        resumed(|| read(&self.0, &mut number)).map(|_eight| u64::from_ne_bytes(number))
    }

    #[inline]
    fn take_now(&self) -> Result<u64, Error> {
        self.take().map_err(failed)
    }

    fn take_by(&self, deadline: Instant) -> Result<u64, Error> {
        attempt_by(self.0.as_fd(), Step::Wake, PollFlags::IN, Some(deadline), || self.take())
    }

    #[inline]
    fn add(&self, number: u64) -> Result<(), Errno> {
        resumed(|| write(&self.0, &number.to_ne_bytes())).map(|_eight| ())
    }

    #[inline]
    fn add_now(&self, number: u64) -> Result<(), Error> {
        self.add(number).map_err(failed)
    }

    /// The descriptor is ready as soon as there is room for one, which may not be enough; then nothing tells when
    /// there is more, and it is tried again and again.
    fn add_by(&self, number: u64, deadline: Instant) -> Result<(), Error> {
        attempt_by(self.0.as_fd(), Step::Wake, PollFlags::OUT, Some(deadline), || self.add(number))
    }
}

#[cold]
fn failed(errno: Errno) -> Error {
    Error::os(Step::Wake, errno)
}
