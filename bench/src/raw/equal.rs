//! The plain loop over a socket that has the options of zorb's, and moves as many octets: what of a difference to the bare socket is options, what is
//! the message's head, and what is the ORB.
//!
//! In front of each buffer of a flood there are as many octets as zorb's message has there, in one piece with it: what a kernel takes for them it takes
//! whoever sends them.
//!
//! zorb tells a socket what nobody told the floor's: a time that a receive may take, so that no wait is without an end, and, where
//! its address is a loopback one, a receive window and, if the system's paces what is sent, another congestion control; a Unix socket a send
//! queue. Here each side tells its socket the same, before it is connected. `TCP_NODELAY` both have.

use std::io::{self, Read};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::floor::Floor;
use super::stream::{Side, Stream};

/// How long a client's receive may take: the largest power of two of milliseconds below zorb's own bound of a call.
const CLIENT_WAITS: Duration = Duration::from_millis(1 << 15);

/// How long a server's receive waits before it looks anew, as zorb's does before it parks a connection.
const SERVER_WAITS: Duration = Duration::from_millis(128);

/// Octets of zorb's message in front of a flood's elements: GIOP's header, the request's, and the length of the sequence. A test in
/// `orb/flood.rs` compares it with what is sent.
pub(crate) const HEAD: usize = 84;

/// A bare socket with zorb's options.
pub(super) struct EqualSocket<S> {
    socket: S,
    side: Side,
}

/// What sockets of a family are told once they are connected, for which there is no trait.
pub(super) trait Told {
    fn receive_within(&self, time: Duration) -> io::Result<()>;
}

impl Told for TcpStream {
    fn receive_within(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
    }
}

impl Told for UnixStream {
    fn receive_within(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
    }
}

impl<S> Stream for EqualSocket<S>
where
    S: Stream + Told + Read,
{
    type Family = S::Family;

    const IS_TOLD: bool = true;

    const LEAD: usize = HEAD;

    fn of(handle: <S::Family as Floor>::Handle, side: Side) -> io::Result<Self> {
        let socket = S::of(handle, side)?;
        socket.receive_within(match side {
            Side::Client => CLIENT_WAITS,
            Side::Server => SERVER_WAITS,
        })?;
        Ok(EqualSocket { socket, side })
    }

    fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
        self.socket.send_all(octets)
    }

    fn receive_exact(&mut self, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            match self.socket.read(into) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(received) => into = &mut into[received..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A server's connections may be idle for as long as their clients like.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.side == Side::Server => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.socket.send_framed(head, body)
    }

    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        self.receive_exact(body).map(|()| 0)
    }

    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.socket.set_patience(patience)
    }
}
