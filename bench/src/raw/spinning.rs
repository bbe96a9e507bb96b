//! The floor where both sides have a processor each and never sleep: they look again and again.
//!
//! A server of this kind keeps its processor busy until its client is gone, so it is no floor where both share one.

use std::hint;
use std::io::{self, Read, Write};
use std::time::Duration;

use zorb_ipc::UnixStream;

use super::floor::{Floor, Shm};
use super::memory::BareMemory;
use super::stream::{Side, Stream};

/// A socket that does not block.
pub(super) struct SpinningSocket<S>(S);

/// How a socket is told not to block: there is no trait for it.
pub(super) trait NonBlocking {
    fn unblock(&self) -> io::Result<()>;
}

impl NonBlocking for std::net::TcpStream {
    fn unblock(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}

impl NonBlocking for std::os::unix::net::UnixStream {
    fn unblock(&self) -> io::Result<()> {
        self.set_nonblocking(true)
    }
}

impl<S> Stream for SpinningSocket<S>
where
    S: Stream + NonBlocking + Read + Write,
{
    type Family = S::Family;

    fn of(handle: <S::Family as Floor>::Handle, side: Side) -> io::Result<Self> {
        let stream = S::of(handle, side)?;
        stream.unblock()?;
        Ok(SpinningSocket(stream))
    }

    fn send_all(&mut self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            let sent = again(|| self.0.write(octets))?;
            octets = &octets[sent..];
        }
        Ok(())
    }

    fn receive_exact(&mut self, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            let received = again(|| self.0.read(into))?;
            into = &mut into[received..];
        }
        Ok(())
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.send_all(head)?;
        self.send_all(body)
    }

    fn receive_framed(&mut self, body: &mut [u8], _next: &mut [u8]) -> io::Result<usize> {
        self.receive_exact(body).map(|()| 0)
    }

    fn set_patience(&self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

fn again(mut attempt: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match attempt() {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => hint::spin_loop(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Memory in which nobody sleeps, nor is woken.
pub(super) struct SpinningMemory(BareMemory);

impl Stream for SpinningMemory {
    type Family = Shm;

    fn of(socket: UnixStream, side: Side) -> io::Result<SpinningMemory> {
        let mut memory = BareMemory::of(socket, side)?;
        memory.spins = true;
        Ok(SpinningMemory(memory))
    }

    fn send_all(&mut self, octets: &[u8]) -> io::Result<()> {
        self.0.send_all(octets)
    }

    fn receive_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.0.receive_exact(into)
    }

    fn send_framed(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.0.send_framed(head, body)
    }

    fn receive_framed(&mut self, body: &mut [u8], next: &mut [u8]) -> io::Result<usize> {
        self.0.receive_framed(body, next)
    }

    fn set_patience(&self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}
