//! Receiving into several slices, which are filled one after the other as if they were one.

use std::io::IoSliceMut;
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::StreamFamily;
use super::stream::{MOST_SLICES, Stream};
use crate::error::ENDED;
use crate::ready::attempt_by;
use crate::{Error, Step, control};

impl<F: StreamFamily> Stream<F> {
    /// Receives what is there into the slices, without waiting. 0: the peer has ended its direction (or the slices are
    /// empty). Of more than 1024 slices the first 1024 are filled at most.
    ///
    /// # Errors
    /// As [`receive_now`](Self::receive_now).
    #[inline]
    pub fn receive_slices_now(&self, into: &mut [IoSliceMut<'_>]) -> Result<usize, Error> {
        self.scattered(into).map_err(|errno| self.failed(Step::Receive, errno))
    }

    /// Receives what is there, at least one octet, into the slices, and waits for it until `deadline`; otherwise as
    /// [`receive_slices_now`](Self::receive_slices_now).
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by).
    #[inline]
    pub fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        match self.scattered(into) {
            Ok(received) => Ok(received),
            Err(Errno::AGAIN) => self.scattered_later(into, deadline),
            Err(errno) => Err(self.failed(Step::Receive, errno)),
        }
    }

    #[cold]
    fn scattered_later(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        let attempt = || self.scattered(into);
        attempt_by(self.as_fd(), Step::Receive, PollFlags::IN, Some(deadline), attempt)
            .map_err(|error| self.naming(error))
    }

    /// Fills any number of slices to their end by `deadline`. They are used up as they are filled: what they refer to
    /// afterwards means nothing.
    ///
    /// # Errors
    /// As [`receive_exact`](Self::receive_exact).
    #[inline]
    pub fn receive_slices_exact(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<(), Error> {
        // Usually all of it is there.
        let room = into.iter().fold(0_usize, |room, slice| room.saturating_add(slice.len()));
        let mut first = match room {
            0 => return Ok(()),
            _ => Some(self.scattered(into)),
        };
        if first == Some(Ok(room)) {
            return Ok(());
        }
        self.scattered_exact(into, &mut first, deadline)
    }

    /// Goes on with what a first attempt has given.
    #[cold]
    #[inline(never)]
    fn scattered_exact(
        &self,
        mut into: &mut [IoSliceMut<'_>],
        first: &mut Option<Result<usize, Errno>>,
        deadline: Instant,
    ) -> Result<(), Error> {
        let mut total = 0;
        loop {
            // Empty ones are passed over: nothing would be waited for.
            IoSliceMut::advance_slices(&mut into, 0);
            if into.is_empty() {
                return Ok(());
            }
            let received = match first.take() {
                Some(Ok(received)) => Ok(received),
                Some(Err(errno)) if errno != Errno::AGAIN => Err(self.failed(Step::Receive, errno)),
                _ => self.receive_slices_by(into, deadline),
            };
            match received {
                Ok(0) => return Err(self.failed(Step::Receive, ENDED).with_transferred(total)),
                Ok(received) => {
                    total += received;
                    IoSliceMut::advance_slices(&mut into, received);
                }
                Err(error) => return Err(error.with_transferred(total)),
            }
        }
    }

    #[inline]
    fn scattered(&self, into: &mut [IoSliceMut<'_>]) -> Result<usize, Errno> {
        let most = into.len().min(MOST_SLICES);
        control::receive_scattered(self.as_fd(), &mut into[..most], RecvFlags::DONTWAIT)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{IoSlice, IoSliceMut};
    use std::time::{Duration, Instant};

    use crate::{AcceptorOptions, UnixAcceptor, UnixAddress, UnixStream};

    #[test]
    fn slices_are_filled_to_the_end_or_it_is_told_how_far() {
        let path = std::env::temp_dir().join(format!("zorb-ipc-scatter-{}", std::process::id()));
        let acceptor = UnixAcceptor::bind(UnixAddress::path(path).unwrap(), &AcceptorOptions::new()).unwrap();
        let soon = Instant::now() + Duration::from_secs(30);
        let sending = UnixStream::connect(acceptor.local().clone(), soon).unwrap();
        let receiving = acceptor.accept_by(soon).unwrap();
        assert_eq!(sending.send(&[IoSlice::new(b"headbody")]).unwrap(), 8);
        let (mut head, mut body) = ([0; 4], [0; 4]);
        let mut slices = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut []), IoSliceMut::new(&mut body)];
        receiving.receive_slices_exact(&mut slices, soon).unwrap();
        assert_eq!((&head, &body), (b"head", b"body"));
        assert_eq!(sending.send(&[IoSlice::new(b"cut off")]).unwrap(), 7);
        drop(sending);
        let mut slices = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut body)];
        let cut = receiving.receive_slices_exact(&mut slices, soon).unwrap_err();
        assert!(cut.is_unexpected_end() && cut.transferred() == 7, "{cut}");
        assert!(receiving.receive_slices_now(&mut [IoSliceMut::new(&mut head)]).unwrap() == 0);
    }

    #[test]
    fn more_slices_than_one_call_takes_are_filled_all() {
        let name = format!("zorb-ipc-scatter-{}", std::process::id());
        let name = UnixAddress::abstract_name(name.as_bytes()).unwrap();
        let acceptor = UnixAcceptor::bind(name, &AcceptorOptions::new()).unwrap();
        let soon = Instant::now() + Duration::from_secs(30);
        let sending = UnixStream::connect(acceptor.local().clone(), soon).unwrap();
        let receiving = acceptor.accept_by(soon).unwrap();
        let octets: Vec<u8> = (0..5000_u32).map(|number| number as u8).collect();
        sending.send_all(&mut [IoSlice::new(&octets)], soon).unwrap();
        let mut into = vec![0; octets.len()];
        let mut slices: Vec<_> = into.chunks_mut(1).map(IoSliceMut::new).collect();
        receiving.receive_slices_exact(&mut slices, soon).unwrap();
        assert!(into == octets);
    }
}
