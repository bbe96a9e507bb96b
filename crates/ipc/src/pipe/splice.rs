//! Octets that go from one descriptor to another without passing through this process (splice(2), tee(2)).
//! One of the two is always a pipe: what is moved into it from a file or a stream is moved on to the next. From
//! a file to a stream there is a way without (sendfile(2)).

use std::fmt;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::fs::sendfile;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::pipe::{SpliceFlags, splice, tee};

use super::{PipeReader, PipeWriter};
use crate::ready::{Waiting, resumed};
use crate::{ByteStream, Error, Idle, Refused, Sent, Step, Stream, StreamFamily, counts};

/// Where the pipe is full or empty the calls come back; whether the other end waits is that end's mode. Pages
/// may be moved instead of copied.
const FLAGS: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);

/// A connection that octets are spliced from and to.
///
/// Its descriptor does not block, since a splice has no way to ask for that by itself, and a peer that does
/// not receive would keep it waiting past any deadline. All that a [`ByteStream`] can do it can, from several
/// threads at once; what waits for a stream's own timeouts needs the stream back
/// ([`into_stream`](Self::into_stream)).
///
/// A whole file, through a pipe, to a peer:
///
/// ```no_run
/// # use std::time::{Duration, Instant};
/// # fn send(file: &std::fs::File, stream: zorb_ipc::TcpStream) -> Result<(), Box<dyn std::error::Error>> {
/// let deadline = Instant::now() + Duration::from_secs(60);
/// let stream = zorb_ipc::SpliceStream::of(stream)?;
/// let (reader, writer) = zorb_ipc::pipe()?;
/// let mut at = 0;
/// loop {
///     let mut moved = writer.splice_from_file(file, &mut at, 1 << 16, deadline)?;
///     if moved == 0 {
///         return Ok(()); // the end of the file
///     }
///     while moved > 0 {
///         moved -= reader.splice_to_stream(&stream, moved, deadline)?;
///     }
/// }
/// # }
/// ```
///
/// To move octets to a stream whose peer has gone, or into a pipe that nobody reads, raises `SIGPIPE` besides
/// the error, as splice(2) has no flag against it. A Rust program ignores that signal from its start; others
/// have to do so.
pub struct SpliceStream<F: StreamFamily>(Stream<F>);

impl<F: StreamFamily> SpliceStream<F> {
    /// Of a stream. Whoever has a duplicate of its descriptor finds that it no longer blocks.
    ///
    /// # Errors
    /// At [`Step::Configure`], with the stream.
    pub fn of(stream: Stream<F>) -> Result<Self, Refused<Stream<F>>> {
        match ioctl_fionbio(&stream, true) {
            Ok(()) => Ok(Self(stream)),
            Err(errno) => Err(Refused::new(stream.failed(Step::Configure, errno), stream)),
        }
    }

    /// The stream, which blocks again.
    ///
    /// # Errors
    /// At [`Step::Configure`], with this.
    pub fn into_stream(self) -> Result<Stream<F>, Refused<Self>> {
        match ioctl_fionbio(&self.0, false) {
            Ok(()) => Ok(self.0),
            Err(errno) => Err(Refused::new(self.0.failed(Step::Configure, errno), self)),
        }
    }

    /// The other end. No system call.
    pub fn peer(&self) -> &F::Peer {
        self.0.peer()
    }

    /// Sends octets of a file, from offset `at` on, without copying them (sendfile(2)): at least one, at most
    /// `octets`, and waits for room until `deadline`. `at` is moved on by as many. 0: the file has no more
    /// there (or `octets` is 0). The disk is waited for as long as it takes.
    ///
    /// What is sent are the file's own pages: whoever writes the file before the peer has received them may
    /// change what it receives.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`].
    pub fn send_file(
        &self,
        from: &impl SpliceFile,
        at: &mut u64,
        octets: usize,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let moved =
            moved_by(from.as_fd(), self.as_fd(), deadline, || sendfile(self, from, Some(&mut *at), octets));
        moved.map_err(|failed| self.0.naming(failed.at(Step::Send)))
    }
}

impl<F: StreamFamily> ByteStream for SpliceStream<F> {
    #[inline]
    fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.0.receive_now(into)
    }

    #[inline]
    fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        self.0.receive_by(into, deadline)
    }

    #[inline]
    fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        self.0.receive_slices_by(into, deadline)
    }

    #[inline]
    fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        self.0.receive_exact(into, deadline)
    }

    fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        self.0.wait_readable(deadline)
    }

    fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.0.peek_now(into)
    }

    fn idle(&self) -> Idle {
        self.0.idle()
    }

    #[inline]
    fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        self.0.send_now(slices)
    }

    #[inline]
    fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        self.0.send_all(slices, deadline)
    }

    fn shutdown_send(&self) -> Result<(), Error> {
        self.0.shutdown_send()
    }

    fn shutdown_both(&self) -> Result<(), Error> {
        self.0.shutdown_both()
    }
}

impl<F: StreamFamily> AsFd for SpliceStream<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<F: StreamFamily> fmt::Debug for SpliceStream<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SpliceStream").field(&self.0).finish()
    }
}

/// What has octets at offsets, so that splicing says where, and moves no position that others share: a file,
/// memory.
///
/// A [`File`] that is none (a terminal, a socket) has no offsets, which is an error of the call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no octets at offsets to splice",
    label = "neither a file nor memory",
    note = "streams have calls of their own: `splice_from_stream`, `splice_to_stream`"
)]
pub trait SpliceFile: AsFd {}

impl SpliceFile for File {}
impl SpliceFile for crate::Memfd {}
impl SpliceFile for crate::SizedMemfd {}
impl SpliceFile for crate::SealedMemfd {}

impl PipeWriter {
    /// Moves what a stream has received into the pipe: at least one octet, at most `octets`, and waits for it
    /// until `deadline`. 0: the peer has ended its direction (or `octets` is 0).
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`], which may be for want of room in the pipe as well as of
    /// something to receive; [`Error::is_connection_reset`] of the stream, or of the pipe if nobody reads it.
    pub fn splice_from_stream<F: StreamFamily>(
        &self,
        from: &SpliceStream<F>,
        octets: usize,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let moved =
            moved_by(from.as_fd(), self.as_fd(), deadline, || splice(from, None, self, None, octets, FLAGS));
        moved.map_err(|failed| from.0.naming(failed.at(Step::Receive)))
    }

    /// Moves octets of a file, from offset `at` on, into the pipe: at least one, at most `octets`, and waits
    /// for room until `deadline`. `at` is moved on by as many. 0: the file has no more there (or `octets` is
    /// 0). The disk is waited for as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`]; [`Error::is_connection_reset`] if nobody reads the pipe any
    /// more.
    pub fn splice_from_file(
        &self,
        from: &impl SpliceFile,
        at: &mut u64,
        octets: usize,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let moved = moved_by(from.as_fd(), self.as_fd(), deadline, || {
            splice(from, Some(&mut *at), self, None, octets, FLAGS)
        });
        moved.map_err(|failed| self.0.naming(failed.at(Step::Send)))
    }
}

impl PipeReader {
    /// Moves what the pipe holds to a stream: at least one octet, at most `octets`, and waits until
    /// `deadline` for something to move and for room. 0: the pipe has ended (or `octets` is 0).
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`], [`Error::is_connection_reset`].
    pub fn splice_to_stream<F: StreamFamily>(
        &self,
        to: &SpliceStream<F>,
        octets: usize,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let moved = moved_by(self.as_fd(), to.as_fd(), deadline, || {
            self.unless_ended(octets, splice(self, None, to, None, octets, FLAGS))
        });
        moved.map_err(|failed| to.0.naming(failed.at(Step::Send)))
    }

    /// Moves what the pipe holds to another pipe; the rest as [`splice_to_stream`](Self::splice_to_stream).
    ///
    /// # Errors
    /// At [`Step::Send`]: [`Error::is_timeout`]; [`Error::is_connection_reset`] if nobody reads the other
    /// pipe; an invalid argument if the two are one.
    pub fn splice_to_pipe(&self, to: &PipeWriter, octets: usize, deadline: Instant) -> Result<usize, Error> {
        let moved = moved_by(self.as_fd(), to.as_fd(), deadline, || {
            self.unless_ended(octets, splice(self, None, to, None, octets, FLAGS))
        });
        moved.map_err(|failed| to.0.naming(failed.at(Step::Send)))
    }

    /// Moves what the pipe holds to a file, at offset `at`: at least one octet, at most `octets`, and waits
    /// for something to move until `deadline`. `at` is moved on by as many. 0: the pipe has ended (or
    /// `octets` is 0). The disk is waited for as long as it takes.
    ///
    /// # Errors
    /// At [`Step::Receive`]: [`Error::is_timeout`]; an invalid argument of a file opened to append only.
    pub fn splice_to_file(
        &self,
        to: &impl SpliceFile,
        at: &mut u64,
        octets: usize,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let moved = moved_by(self.as_fd(), to.as_fd(), deadline, || {
            self.unless_ended(octets, splice(self, None, to, Some(&mut *at), octets, FLAGS))
        });
        moved.map_err(|failed| self.0.naming(failed.at(Step::Receive)))
    }

    /// Copies what the pipe holds to another pipe, and leaves it there: at least one octet, at most `octets`,
    /// always from the beginning of what is there. The rest as [`splice_to_pipe`](Self::splice_to_pipe). The
    /// kernel shares the pages; nothing is copied.
    ///
    /// # Errors
    /// As [`splice_to_pipe`](Self::splice_to_pipe).
    pub fn tee(&self, to: &PipeWriter, octets: usize, deadline: Instant) -> Result<usize, Error> {
        let moved = moved_by(self.as_fd(), to.as_fd(), deadline, || {
            self.unless_ended(octets, tee(self, to, octets, FLAGS))
        });
        moved.map_err(|failed| to.0.naming(failed.at(Step::Send)))
    }

    /// Nothing moved is the end, unless nobody has opened the FIFO yet.
    fn unless_ended(&self, octets: usize, moved: Result<usize, Errno>) -> Result<usize, Errno> {
        match moved {
            Ok(0) if octets > 0 && !matches!(self.has_ended(), Ok(true)) => Err(Errno::AGAIN),
            done => done,
        }
    }
}

/// Why nothing was moved.
enum Failed {
    Os(Errno),
    OutOfTime,
}

impl Failed {
    fn at(self, step: Step) -> Error {
        match self {
            Failed::Os(errno) => Error::os(step, errno),
            Failed::OutOfTime => Error::out_of_time(step),
        }
    }
}

/// Attempts it until it is done, each time that `from` has something and `to` has room.
#[inline]
fn moved_by(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    deadline: Instant,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Failed> {
    counts::enter();
    match attempt() {
        Err(Errno::AGAIN | Errno::INTR) => moved_after(from, to, deadline, attempt),
        done => done.map_err(Failed::Os),
    }
}

/// The same, where one attempt was made in vain: whatever it takes to wait is made here.
#[cold]
fn moved_after(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    deadline: Instant,
    mut attempt: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, Failed> {
    let mut waits = [(from, PollFlags::IN), (to, PollFlags::OUT)]
        .map(|(fd, what)| (fd, Waiting::new(what, Some(deadline))));
    loop {
        match resumed(&mut attempt) {
            Err(Errno::AGAIN) => {}
            done => return done.map_err(Failed::Os),
        }
        // Both may be ready all the time and yet not at the same time, if others use them; or a socket reports
        // what is no matter of this.
        for (fd, waiting) in &mut waits {
            if waiting.next(*fd).map_err(Failed::Os)?.is_none() {
                return Err(Failed::OutOfTime);
            }
        }
        if Instant::now() >= deadline {
            return Err(Failed::OutOfTime);
        }
    }
}
