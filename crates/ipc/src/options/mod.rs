//! Options of sockets as typed values: a value says which option it is, and fits only handles that have it.
//!
//! What a handle is told before it has a socket is in [`AcceptorOptions`](crate::AcceptorOptions) and
//! [`Connector`](crate::Connector).

mod connection;
#[cfg(target_os = "linux")]
mod network;
mod queues;
#[cfg(target_os = "linux")]
pub(crate) mod raw;
#[cfg(target_os = "linux")]
mod stamps;
#[cfg(target_os = "linux")]
mod tcp;

pub use connection::{KeepAlive, Linger, NoDelay, Probes};
#[cfg(target_os = "linux")]
pub use network::{BusyPoll, IncomingCore, PeakRate, Priority, TypeOfService};
pub use queues::{ReceiveQueue, SendQueue};
pub(crate) use queues::{set_receive, set_send};
#[cfg(target_os = "linux")]
pub use stamps::{ReceiveTimestamps, Stamped};
#[cfg(target_os = "linux")]
pub use tcp::{CongestionControl, Cork, LargestWindow, MaximumSegment, QuickAck, ReceiveWindow, UserTimeout};

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

#[cfg(target_os = "linux")]
use crate::Seqpacket;
use crate::{
    Acceptor, Address, ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Error, Step, Stream,
    StreamFamily,
};

/// A value that handles of type `H` have and that can be asked for, by their `option`. Most can also be set,
/// and are a [`SocketOption`]; this one is enough for what the kernel alone decides:
///
/// ```compile_fail,E0277
/// # fn wrong(stream: &zorb_ipc::TcpStream) {
/// stream.set(zorb_ipc::MaximumSegment(1460)); // `MaximumSegment` cannot be set
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an option of `{H}`",
    label = "not an option of `{H}`",
    note = "the option's documentation lists the handles that have it"
)]
pub trait SocketFact<H>: Read {}

/// A value that handles of type `H` have and that can be set, by their `set`, and asked for, by their
/// `option`.
///
/// ```
/// use std::time::Duration;
/// use zorb_ipc::{Error, KeepAlive, NoDelay, Probes, SendQueue, TcpStream};
///
/// fn tune(stream: &TcpStream) -> Result<(), Error> {
///     stream.set(NoDelay(true))?;
///     let idle = Duration::from_secs(60);
///     stream.set(KeepAlive(Some(Probes { idle, interval: Duration::from_secs(10), count: 3 })))?;
///     // The kernel clips it, and this says to what.
///     let granted = stream.set(SendQueue(1 << 20))?;
///     assert_eq!(stream.option::<SendQueue>()?, granted);
///     Ok(())
/// }
/// # use std::time::Instant;
/// # let deadline = Instant::now() + Duration::from_secs(60);
/// # let acceptor = zorb_ipc::TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &Default::default())?;
/// # tune(&TcpStream::connect(acceptor.local_address(), deadline)?)?;
/// # Ok::<(), Error>(())
/// ```
///
/// It fits only those handles:
///
/// ```compile_fail,E0277
/// # fn wrong(stream: &zorb_ipc::UnixStream) {
/// stream.set(zorb_ipc::NoDelay(true)); // `NoDelay` is not an option of `Stream<Unix>`
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an option of `{H}`, or cannot be set",
    label = "cannot be set on `{H}`",
    note = "the option's documentation lists the handles that have it"
)]
pub trait SocketOption<H>: SocketFact<H> + Give {}

/// How to ask the kernel, for this crate.
#[doc(hidden)]
pub trait Read: Sized {
    /// The value in force. Errors name nobody yet.
    fn read(fd: BorrowedFd<'_>) -> Result<Self, Error>;
}

/// How to tell the kernel, for this crate.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing that can be set on a socket",
    label = "cannot be set"
)]
pub trait Give {
    /// What the kernel made of it, where it takes liberties: it may clip the value in silence.
    type Granted;

    /// Puts the value in force. Errors name nobody yet.
    fn give(self, fd: BorrowedFd<'_>) -> Result<Self::Granted, Error>;
}

/// A handle that is a socket: a stream, an acceptor, a datagram socket.
#[doc(hidden)]
pub trait Socket: AsFd {
    /// As errors name it.
    fn name(&self) -> Option<Address>;
}

fn failed(errno: Errno) -> Error {
    Error::os(Step::Configure, errno)
}

/// Says which handles have an option, all of which may set it.
macro_rules! option_of {
    ($option:ty: $($handle:ty),+) => {$(
        impl crate::options::SocketFact<$handle> for $option {}
        impl crate::options::SocketOption<$handle> for $option {}
    )+};
}
pub(crate) use option_of;

// The same two calls five times, and by no macro, which the compiler would speak of whenever an option fits no handle.

impl<F: StreamFamily> Socket for Stream<F> {
    fn name(&self) -> Option<Address> {
        F::peer(self.peer())
    }
}

impl<F: StreamFamily> Stream<F> {
    /// Sets an option, and says what the kernel granted if that may be something else: the options that say so
    /// themselves do, for the others it is `()`.
    ///
    /// # Errors
    /// At [`Step::Configure`]: [`Error::is_out_of_range`], [`Error::is_permission_denied`].
    pub fn set<O: SocketOption<Self>>(&self, option: O) -> Result<O::Granted, Error> {
        set(self, option)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn option<O: SocketFact<Self>>(&self) -> Result<O, Error> {
        option(self)
    }
}

impl<F: StreamFamily> Socket for Acceptor<F> {
    fn name(&self) -> Option<Address> {
        Some(F::address(self.local()))
    }
}

impl<F: StreamFamily> Acceptor<F> {
    /// Sets an option, and says what the kernel granted if that may be something else: the options that say so
    /// themselves do, for the others it is `()`.
    ///
    /// # Errors
    /// At [`Step::Configure`]: [`Error::is_out_of_range`], [`Error::is_permission_denied`].
    pub fn set<O: SocketOption<Self>>(&self, option: O) -> Result<O::Granted, Error> {
        set(self, option)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn option<O: SocketFact<Self>>(&self) -> Result<O, Error> {
        option(self)
    }
}

impl<F: DatagramFamily> Socket for DatagramSocket<F> {
    fn name(&self) -> Option<Address> {
        self.local().map(F::address)
    }
}

impl<F: DatagramFamily> DatagramSocket<F> {
    /// Sets an option, and says what the kernel granted if that may be something else: the options that say so
    /// themselves do, for the others it is `()`.
    ///
    /// # Errors
    /// At [`Step::Configure`]: [`Error::is_out_of_range`], [`Error::is_permission_denied`].
    pub fn set<O: SocketOption<Self>>(&self, option: O) -> Result<O::Granted, Error> {
        set(self, option)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn option<O: SocketFact<Self>>(&self) -> Result<O, Error> {
        option(self)
    }
}

impl<F: DatagramFamily> Socket for ConnectedDatagramSocket<F> {
    fn name(&self) -> Option<Address> {
        Some(F::address(self.peer()))
    }
}

impl<F: DatagramFamily> ConnectedDatagramSocket<F> {
    /// Sets an option, and says what the kernel granted if that may be something else: the options that say so
    /// themselves do, for the others it is `()`.
    ///
    /// # Errors
    /// At [`Step::Configure`]: [`Error::is_out_of_range`], [`Error::is_permission_denied`].
    pub fn set<O: SocketOption<Self>>(&self, option: O) -> Result<O::Granted, Error> {
        set(self, option)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn option<O: SocketFact<Self>>(&self) -> Result<O, Error> {
        option(self)
    }
}

#[cfg(target_os = "linux")]
impl Socket for Seqpacket {
    fn name(&self) -> Option<Address> {
        self.peer_address().cloned().map(Address::from)
    }
}

#[cfg(target_os = "linux")]
impl Seqpacket {
    /// Sets an option, and says what the kernel granted if that may be something else: the options that say so
    /// themselves do, for the others it is `()`.
    ///
    /// # Errors
    /// At [`Step::Configure`]: [`Error::is_out_of_range`], [`Error::is_permission_denied`].
    pub fn set<O: SocketOption<Self>>(&self, option: O) -> Result<O::Granted, Error> {
        set(self, option)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// At [`Step::Configure`].
    pub fn option<O: SocketFact<Self>>(&self) -> Result<O, Error> {
        option(self)
    }
}

fn set<H: Socket, O: SocketOption<H>>(socket: &H, option: O) -> Result<O::Granted, Error> {
    option.give(socket.as_fd()).map_err(|error| named(error, socket))
}

fn option<H: Socket, O: SocketFact<H>>(socket: &H) -> Result<O, Error> {
    O::read(socket.as_fd()).map_err(|error| named(error, socket))
}

#[cold]
fn named(error: Error, socket: &impl Socket) -> Error {
    match socket.name() {
        Some(address) => error.or_with(|| address),
        None => error,
    }
}
