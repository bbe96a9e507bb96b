//! A channel for tests: it takes as much of a send as it is told to.

use std::io::{self, IoSlice};
use std::time::Instant;

use parking_lot::Mutex;

use super::{Armed, Channel, Endpoint, Idle, Received, Wanted};

/// Takes as many octets as its script says of a send: whether that may wait, and how many there are.
pub(crate) struct Scripted<S> {
    script: S,
    taken: Mutex<Vec<u8>>,
    peer: Endpoint,
}

impl<S: Fn(bool, usize) -> io::Result<usize> + Send + Sync> Scripted<S> {
    pub(crate) fn new(script: S) -> Scripted<S> {
        let peer = Endpoint { transport: "scripted".into(), address: "test".into() };
        Scripted { script, taken: Mutex::default(), peer }
    }

    pub(crate) fn taken(&self) -> Vec<u8> {
        self.taken.lock().clone()
    }

    fn take(&self, parts: &[IoSlice<'_>], may_wait: bool) -> io::Result<usize> {
        let octets: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        let count = (self.script)(may_wait, octets.len())?;
        self.taken.lock().extend(&octets[..count]);
        Ok(count)
    }
}

impl<S: Fn(bool, usize) -> io::Result<usize> + Send + Sync> Channel for Scripted<S> {
    fn receive(&self, _: &mut [u8], _: Instant) -> io::Result<Received> {
        Ok(Received::Empty)
    }
    fn receive_now(&self, _: &mut [u8]) -> io::Result<Received> {
        Ok(Received::Empty)
    }
    fn send(&self, parts: &[IoSlice<'_>], _: Instant) -> io::Result<usize> {
        self.take(parts, true)
    }
    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.take(parts, false)
    }
    fn descriptor(&self) -> std::os::fd::BorrowedFd<'_> {
        unreachable!("nobody waits")
    }
    fn arm(&self, _: Wanted) -> Armed {
        Armed::Ready
    }
    fn shutdown_send(&self) {}
    fn close(&self) {}
    fn state(&self) -> Idle {
        Idle::Quiet
    }
    fn peer(&self) -> &Endpoint {
        &self.peer
    }
}
