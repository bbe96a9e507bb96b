//! The plain loop over a socket that has the options of zorb's: what of a difference to the bare socket is options, and what is
//! the ORB.
//!
//! zorb tells a socket what nobody told the floor's: a time that a receive may take, so that no wait is without an end, and, where
//! both ends are on this machine and the system paces what is sent, another congestion control before the socket first sends
//! [`Tcp::BULK`] at once. Here each side tells its socket the same, at the same moment. `TCP_NODELAY` both have.

use std::io::{self, Read};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt;
use zorb::transport::tcp::Tcp;

use super::floor::Floor;
use super::stream::{Side, Stream};

/// How long a client's receive may take: the largest power of two of milliseconds below zorb's own bound of a call.
const CLIENT_WAITS: Duration = Duration::from_millis(1 << 15);

/// How long a server's receive waits before it looks anew, as zorb's does before it parks a connection.
const SERVER_WAITS: Duration = Duration::from_millis(128);

/// A bare socket with zorb's options.
pub(super) struct EqualSocket<S> {
    socket: S,
    side: Side,
    /// Whether it was told what it is told before it first carries much.
    told: bool,
}

/// What sockets of a family are told, for which there is no trait.
pub(super) trait Told {
    /// Before it first sends much at once.
    fn before_bulk(&self) -> io::Result<()>;

    fn receive_within(&self, time: Duration) -> io::Result<()>;
}

impl Told for TcpStream {
    fn before_bulk(&self) -> io::Result<()> {
        let (here, there) = (self.local_addr()?.ip(), self.peer_addr()?.ip());
        let is_within = there.is_loopback() || here == there;
        let found = sockopt::tcp_congestion(self.as_fd())?;
        if let Some(other) = Tcp::new().loopback_instead_of(&found).filter(|_| is_within) {
            // zorb goes on with what the system has if it has no other, and so does this.
            let _ = sockopt::set_tcp_congestion(self.as_fd(), &other);
        }
        Ok(())
    }

    fn receive_within(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
    }
}

impl Told for UnixStream {
    fn before_bulk(&self) -> io::Result<()> {
        Ok(())
    }

    fn receive_within(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))
    }
}

impl<S> EqualSocket<S>
where
    S: Told,
{
    fn tell(&mut self, octets: usize) -> io::Result<()> {
        if octets >= Tcp::BULK && !self.told {
            self.told = true;
            self.socket.before_bulk()?;
        }
        Ok(())
    }
}

impl<S> Stream for EqualSocket<S>
where
    S: Stream + Told + Read,
{
    type Family = S::Family;

    fn of(handle: <S::Family as Floor>::Handle, side: Side) -> io::Result<Self> {
        let socket = S::of(handle, side)?;
        socket.receive_within(match side {
            Side::Client => CLIENT_WAITS,
            Side::Server => SERVER_WAITS,
        })?;
        Ok(EqualSocket { socket, side, told: false })
    }

    fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
        self.tell(octets.len())?;
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
        self.tell(head.len() + body.len())?;
        self.socket.send_framed(head, body)
    }

    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        self.receive_exact(body).map(|()| 0)
    }

    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.socket.set_patience(patience)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_socket_is_told_what_zorbs_is_told_and_not_before() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _other = listener.accept().unwrap();
        let algorithm = |socket: &TcpStream| sockopt::tcp_congestion(socket.as_fd()).unwrap();
        let system = algorithm(&socket);
        let mut equal = EqualSocket { socket, side: Side::Client, told: false };
        equal.send_all(&[0; 1024]).unwrap();
        assert_eq!(algorithm(&equal.socket), system, "little is not told of");
        equal.send_all(&[0; Tcp::BULK]).unwrap();
        let expected = Tcp::new().loopback_instead_of(&system).unwrap_or(system);
        assert_eq!(algorithm(&equal.socket), expected);
    }
}
