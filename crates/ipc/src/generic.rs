//! What all streams can do, for code that does not care which: one type parameter switches a program from one family
//! to another, with calls that are known when it is compiled.
//!
//! ```
//! use std::io::IoSlice;
//! use std::time::{Duration, Instant};
//! use zorb_ipc::{ByteStream, Error, StreamTransport, Tcp};
//!
//! /// Sends back what comes, until the peer ends.
//! fn echo<T: StreamTransport>(acceptor: &T::Acceptor) -> Result<(), Error> {
//!     let stream = T::accept_by(acceptor, Instant::now() + Duration::from_secs(60))?;
//!     let mut buffer = [0; 4096];
//!     loop {
//!         let deadline = Instant::now() + Duration::from_secs(60);
//!         match stream.receive_by(&mut buffer, deadline)? {
//!             0 => return Ok(()),
//!             received => stream.send_all(&mut [IoSlice::new(&buffer[..received])], deadline)?,
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Error> {
//! let acceptor = Tcp::listen("127.0.0.1:0".parse().unwrap())?;
//! let deadline = Instant::now() + Duration::from_secs(60);
//! let client = Tcp::connect(Tcp::address(&acceptor), deadline)?;
//! let server = std::thread::spawn(move || echo::<Tcp>(&acceptor));
//! client.send_all(&mut [IoSlice::new(b"hello")], deadline)?;
//! client.shutdown_send()?;
//! let mut back = [0; 5];
//! client.receive_exact(&mut back, deadline)?;
//! assert_eq!(&back, b"hello");
//! server.join().unwrap()?;
//! # Ok(())
//! # }
//! ```

use std::fmt::Debug;
use std::io::{IoSlice, IoSliceMut};
use std::time::Instant;

use crate::stream::Calls;
use crate::{Acceptor, AcceptorOptions, Address, Error, Idle, Sent, Stream, StreamFamily};

/// A way to make connections: every [`StreamFamily`], with the options that its handles have by default.
#[diagnostic::on_unimplemented(
    message = "`{Self}` makes no connections that move octets",
    label = "makes no connections",
    note = "the families of streams do: `Tcp`, `Unix`, `Vsock`, `Shm`"
)]
pub trait StreamTransport {
    /// Where to listen and connect.
    type Address: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// Who listens.
    type Acceptor: Send + Sync + 'static;
    /// A connection.
    type Stream: ByteStream;

    /// Listens on `address`.
    ///
    /// # Errors
    /// As [`Acceptor::bind`].
    fn listen(address: Self::Address) -> Result<Self::Acceptor, Error>;

    /// Where it listens, with what the system chose.
    fn address(acceptor: &Self::Acceptor) -> Self::Address;

    /// An address with its family, as it is printed and parsed.
    fn full_address(address: &Self::Address) -> Address;

    /// Takes the next peer, and waits for one until `deadline`.
    ///
    /// # Errors
    /// As [`Acceptor::accept_by`].
    fn accept_by(acceptor: &Self::Acceptor, deadline: Instant) -> Result<Self::Stream, Error>;

    /// Connects to `address` by `deadline`.
    ///
    /// # Errors
    /// As [`Stream::connect`].
    fn connect(address: Self::Address, deadline: Instant) -> Result<Self::Stream, Error>;
}

/// A connection that moves octets both ways, in order and without bounds between them. Each call does what the one of the
/// same name does in [`Stream`], errors included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a connection that moves octets",
    label = "not a stream of octets",
    note = "an acceptor and a connector yield one; messages and datagrams have bounds, which it would lose"
)]
pub trait ByteStream: Debug + Send + Sync + 'static {
    /// Receives what is there, without waiting; 0: the peer has ended its direction.
    ///
    /// # Errors
    /// As [`Stream::receive_now`].
    fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error>;

    /// Receives what is there, at least one octet, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`Stream::receive_by`].
    fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error>;

    /// Receives what is there, at least one octet, into slices, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`Stream::receive_slices_by`].
    fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error>;

    /// Fills `into` to its end by `deadline`.
    ///
    /// # Errors
    /// As [`Stream::receive_exact`].
    fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error>;

    /// Waits until there is something to receive, or an end of it, or `deadline`, which is what false says.
    ///
    /// # Errors
    /// As [`Stream::wait_readable`].
    fn wait_readable(&self, deadline: Instant) -> Result<bool, Error>;

    /// Copies what is there without taking it, and without waiting.
    ///
    /// # Errors
    /// As [`Stream::peek_now`].
    fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error>;

    /// What became of a connection that nobody watched.
    fn idle(&self) -> Idle;

    /// Sends as much of the slices as there is room for, without waiting.
    ///
    /// # Errors
    /// As [`Stream::send_now`].
    fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error>;

    /// Sends the slices to their end by `deadline`.
    ///
    /// # Errors
    /// As [`Stream::send_all`].
    fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error>;

    /// Ends the sending direction; receiving goes on.
    ///
    /// # Errors
    /// As [`Stream::shutdown_send`].
    fn shutdown_send(&self) -> Result<(), Error>;

    /// Ends both directions, and wakes whoever waits.
    ///
    /// # Errors
    /// As [`Stream::shutdown_both`].
    fn shutdown_both(&self) -> Result<(), Error>;
}

#[diagnostic::do_not_recommend]
impl<F: StreamFamily> StreamTransport for F {
    type Address = F::Address;
    type Acceptor = Acceptor<F>;
    type Stream = Stream<F>;

    fn listen(address: F::Address) -> Result<Acceptor<F>, Error> {
        Acceptor::bind(address, &AcceptorOptions::new())
    }

    fn address(acceptor: &Acceptor<F>) -> F::Address {
        acceptor.local().clone()
    }

    fn full_address(address: &F::Address) -> Address {
        <F as Calls>::address(address)
    }

    fn accept_by(acceptor: &Acceptor<F>, deadline: Instant) -> Result<Stream<F>, Error> {
        acceptor.accept_by(deadline)
    }

    fn connect(address: F::Address, deadline: Instant) -> Result<Stream<F>, Error> {
        Stream::connect(address, deadline)
    }
}

impl<F: StreamFamily> ByteStream for Stream<F> {
    #[inline]
    fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        Stream::receive_now(self, into)
    }

    #[inline]
    fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        Stream::receive_by(self, into, deadline)
    }

    #[inline]
    fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        Stream::receive_slices_by(self, into, deadline)
    }

    #[inline]
    fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        Stream::receive_exact(self, into, deadline)
    }

    fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        Stream::wait_readable(self, deadline)
    }

    fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        Stream::peek_now(self, into)
    }

    fn idle(&self) -> Idle {
        Stream::idle(self)
    }

    #[inline]
    fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        Stream::send_now(self, slices)
    }

    #[inline]
    fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        Stream::send_all(self, slices, deadline)
    }

    fn shutdown_send(&self) -> Result<(), Error> {
        Stream::shutdown_send(self)
    }

    fn shutdown_both(&self) -> Result<(), Error> {
        Stream::shutdown_both(self)
    }
}
