//! The loops that move bytes, over a bare socket and over a typed handle.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use zorb_ipc::{StreamFamily, Tcp, Unix};

use super::floor::Floor;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// A connected stream, spoken to directly.
pub(super) trait Stream: Send + Sized + 'static {
    /// Its family.
    type Family: Floor;

    /// Whether it is told what zorb tells its own, and so has to be before it is connected.
    const IS_TOLD: bool = false;

    /// Octets in front of those of each buffer of a flood.
    const LEAD: usize = 0;

    /// Takes over a connection, at this end of it.
    fn of(handle: <Self::Family as Floor>::Handle, side: Side) -> io::Result<Self>;

    /// Sends all, in as many calls as it takes.
    fn send_all(&mut self, octets: &[u8]) -> io::Result<()>;

    /// Fills `into`, in as many calls as it takes.
    fn receive_exact(&mut self, into: &mut [u8]) -> io::Result<()>;

    /// Sends a head and a body in one call, where that takes both.
    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()>;

    /// Fills `body`, and as much of `next` as has come with its end; says how much that is.
    fn receive_framed(&mut self, body: &mut [u8], next: &mut [u8]) -> io::Result<usize>;

    /// How long one call may wait. The kernel sees to it: it costs nothing.
    fn set_patience(&self, patience: Duration) -> io::Result<()>;
}

/// The standard library's connections, which know nothing of each other.
macro_rules! bare {
    ($bare:ident: $family:ident) => {
        impl Stream for $bare {
            type Family = $family;

            fn of(stream: zorb_ipc::Stream<$family>, _: Side) -> io::Result<$bare> {
                // The connection without the handle: `zorb_ipc` makes it, since queues must be sized before the handshake, and
                // then only its descriptor is used.
                Ok(stream.as_fd().try_clone_to_owned()?.into())
            }

            fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
                self.write_all(octets)
            }

            fn receive_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
                self.read_exact(into)
            }

            fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
                gathered(head, body, |slices| self.write_vectored(slices))
            }

            fn receive_framed(&mut self, body: &mut [u8], next: &mut [u8]) -> io::Result<usize> {
                let mut filled = 0;
                while filled < body.len() {
                    let mut slices = [IoSliceMut::new(&mut body[filled..]), IoSliceMut::new(next)];
                    match self.read_vectored(&mut slices) {
                        Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Ok(received) => filled += received,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(filled - body.len())
            }

            fn set_patience(&self, patience: Duration) -> io::Result<()> {
                self.set_read_timeout(Some(patience))?;
                self.set_write_timeout(Some(patience))
            }
        }
    };
}

bare!(TcpStream: Tcp);
bare!(UnixStream: Unix);

impl<F> Stream for zorb_ipc::Stream<F>
where
    F: StreamFamily + Floor<Handle = zorb_ipc::Stream<F>>,
{
    type Family = F;

    fn of(stream: zorb_ipc::Stream<F>, _: Side) -> io::Result<zorb_ipc::Stream<F>> {
        Ok(stream)
    }

    fn send_all(&mut self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            let sent = self.send(&[IoSlice::new(octets)])?;
            octets = &octets[sent.count()..];
        }
        Ok(())
    }

    fn receive_exact(&mut self, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            match self.receive(into)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                received => into = &mut into[received..],
            }
        }
        Ok(())
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        gathered(head, body, |slices| Ok(self.send(slices)?.count()))
    }

    /// One call reads into one place: the next head is read by itself.
    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        Stream::receive_exact(self, body).map(|()| 0)
    }

    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_receive_timeout(Some(patience))?;
        Ok(self.set_send_timeout(Some(patience))?)
    }
}

fn gathered(
    head: &[u8],
    body: &[u8],
    mut send: impl FnMut(&[IoSlice]) -> io::Result<usize>,
) -> io::Result<()> {
    let mut slices = [IoSlice::new(head), IoSlice::new(body)];
    let mut left = &mut slices[..];
    while !left.is_empty() {
        match send(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => IoSlice::advance_slices(&mut left, sent),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
