//! A connection within the process: a pipe each way, and who serves the far end where that has no thread.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::super::{Armed, Channel, Driver, Endpoint, Idle, Received, Wanted};
use super::pipe::{CAPACITY, Pipe};

/// The two ends of a connection: the connecting one, the accepting one. Each is told who is at the other end.
pub(super) fn pair(server: Endpoint, client: Endpoint) -> io::Result<(MemoryChannel, MemoryChannel)> {
    let (there, back) = (Arc::new(Pipe::new()?), Arc::new(Pipe::new()?));
    let driver = Arc::new(OnceLock::new());
    let connecting = MemoryChannel {
        incoming: back.clone(),
        outgoing: there.clone(),
        peer: server,
        driver: driver.clone(),
        connecting: true,
    };
    let accepting =
        MemoryChannel { incoming: there, outgoing: back, peer: client, driver, connecting: false };
    Ok((connecting, accepting))
}

pub(super) struct MemoryChannel {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
    peer: Endpoint,
    /// Given by the accepting end, called by the connecting one.
    driver: Arc<OnceLock<Driver>>,
    connecting: bool,
}

impl MemoryChannel {
    #[cold]
    fn wait_and_take(&self, into: &mut [u8], deadline: Instant) -> Received {
        // With a driver: another thread may have been serving, or the reply comes later.
        let until = match self.driver() {
            Some(_) => deadline.min(Instant::now() + Duration::from_millis(1)),
            None => deadline,
        };
        self.incoming.wait(until, |state| state.unread() > 0 || state.ended);
        self.incoming.take(into)
    }

    #[cold]
    fn wait_and_send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        loop {
            if Instant::now() >= deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.driver() {
                Some(serve) => serve(),
                None => self.outgoing.wait(deadline, |state| state.unread() < CAPACITY || state.ended),
            }
            match self.send_now(parts)? {
                0 => {}
                sent => return Ok(sent),
            }
        }
    }
}

impl Drop for MemoryChannel {
    /// As a socket's end, which the other one sees.
    fn drop(&mut self) {
        self.incoming.end();
        self.outgoing.end();
    }
}

impl Channel for MemoryChannel {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        if let Some(serve) = self.driver() {
            serve();
        }
        match self.incoming.take(into) {
            Received::Empty => Ok(self.wait_and_take(into, deadline)),
            found => Ok(found),
        }
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        Ok(self.incoming.take(into))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        match self.send_now(parts) {
            Ok(0) => self.wait_and_send(parts, deadline),
            sent => sent,
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.outgoing.put(parts, self.driver.get().is_none())
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.incoming.bell.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        // No bell is rung for who serves the other end.
        if wanted == Wanted::Input && self.driver().is_some() {
            return Armed::Ready;
        }
        // Looked at under the lock: whoever puts octets in or takes them out after that rings.
        match wanted {
            Wanted::Input => {
                let state = self.incoming.state();
                if state.unread() > 0 || state.ended {
                    return Armed::Ready;
                }
            }
            Wanted::Room => {
                let mut state = self.outgoing.state();
                if state.unread() < CAPACITY || state.ended {
                    return Armed::Ready;
                }
                state.wants_room = Some(self.incoming.clone());
            }
        }
        Armed::Readable
    }

    /// Only here, since the one bell tells of octets and of room: silenced between the two looks, it would not be heard
    /// for the second.
    fn heard(&self) {
        // A bell that cannot be silenced rings once too often, no more.
        let _ = self.incoming.bell.drain();
    }

    fn shutdown_send(&self) {
        self.outgoing.end();
    }

    fn close(&self) {
        self.incoming.end();
        self.outgoing.end();
    }

    fn state(&self) -> Idle {
        let state = self.incoming.state();
        match (state.unread(), state.ended) {
            (0, false) => Idle::Quiet,
            (0, true) => Idle::Closed,
            _ => Idle::Unread,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }

    fn driver(&self) -> Option<&Driver> {
        if self.connecting { self.driver.get() } else { None }
    }

    fn drive(&self, serve: Driver) -> bool {
        !self.connecting && self.driver.set(serve).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::endpoint;
    use super::*;

    #[test]
    fn a_full_pipe_takes_nothing_until_it_is_read() {
        let (client, server) = pair(endpoint("s"), endpoint("c")).expect("descriptors");
        let bulk = vec![7; CAPACITY + 1];
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), CAPACITY);
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), 0);
        let mut into = [0; 10];
        assert_eq!(server.receive_now(&mut into).expect("open"), Received::Octets(10));
        assert_eq!(client.send_now(&[IoSlice::new(&bulk)]).expect("open"), 10);
    }

    #[test]
    fn who_waits_for_input_leaves_the_bell_to_who_waits_for_room() {
        let (client, server) = pair(endpoint("s"), endpoint("c")).expect("descriptors");
        client.send_now(&[IoSlice::new(&vec![7; CAPACITY])]).expect("open");
        assert_eq!(client.arm(Wanted::Room), Armed::Readable);
        server.receive_now(&mut [0; 10]).expect("open");
        assert_eq!(client.arm(Wanted::Input), Armed::Readable);
        assert!(client.incoming.bell.drain().expect("a descriptor"), "it has rung and nobody has heard it");
        assert!(!client.incoming.bell.drain().expect("a descriptor"));
    }

    #[test]
    fn the_connecting_end_drives_the_other() {
        let (client, server) = pair(endpoint("s"), endpoint("c")).expect("descriptors");
        let server = Arc::new(server);
        let driven = server.clone();
        assert!(server.drive(Arc::new(move || {
            let mut into = [0; 4];
            if let Ok(Received::Octets(count)) = driven.receive_now(&mut into) {
                driven.send_now(&[IoSlice::new(&into[..count])]).expect("room");
            }
        })));
        client.send(&[IoSlice::new(b"echo")], Instant::now() + Duration::from_secs(10)).expect("room");
        let mut into = [0; 8];
        assert_eq!(
            client.receive(&mut into, Instant::now() + Duration::from_secs(10)).expect("open"),
            Received::Octets(4)
        );
        assert_eq!(&into[..4], b"echo");
    }
}
