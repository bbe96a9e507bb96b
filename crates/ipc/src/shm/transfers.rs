//! What a channel's users call to send and receive: by the names, and with the errors, of other streams.

use std::io::{IoSlice, IoSliceMut};
use std::time::Instant;

use super::ShmStream;
use super::stream::Taken;
use crate::{ByteStream, Error, Idle, Sent};

impl ShmStream {
    /// Receives what is there, without waiting. 0: the peer has ended its direction (or `into` is empty).
    ///
    /// # Errors
    /// At [`Step::Receive`](crate::Step::Receive): [`Error::is_would_block`]; [`Error::is_connection_reset`] if the peer is gone and has not
    /// taken all that was sent to it; [`Error::is_broken_by_peer`].
    #[inline]
    pub fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.take_now(&mut [IoSliceMut::new(into)], false)
    }

    /// Receives what is there, at least one octet, and waits for it until `deadline`. 0 as in
    /// [`receive_now`](Self::receive_now).
    ///
    /// # Errors
    /// As [`receive_now`](Self::receive_now), with [`Error::is_timeout`] for would-block.
    #[inline]
    pub fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        self.take_by(&mut [IoSliceMut::new(into)], deadline)
    }

    /// Receives what is there into the slices, one after the other, without waiting; any number of slices.
    ///
    /// # Errors
    /// As [`receive_now`](Self::receive_now).
    pub fn receive_slices_now(&self, into: &mut [IoSliceMut<'_>]) -> Result<usize, Error> {
        self.take_now(into, false)
    }

    /// Receives what is there, at least one octet, into the slices, and waits for it until `deadline`; any number of slices.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by).
    pub fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        self.take_by(into, deadline)
    }

    /// Fills `into` to its end by `deadline`, however many pieces it arrives in.
    ///
    /// # Errors
    /// As [`receive_by`](Self::receive_by), and [`Error::is_unexpected_end`] if the peer ends first;
    /// [`Error::transferred`] octets of `into` are then valid.
    #[inline]
    pub fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        let mut filled = 0;
        while filled < into.len() {
            match self.receive_by(&mut into[filled..], deadline) {
                Ok(0) => return Err(self.ended_early(filled)),
                Ok(received) => filled += received,
                Err(error) => return Err(error.with_transferred(filled)),
            }
        }
        Ok(())
    }

    /// Waits until there is something to receive, or an end of it, or `deadline`, which is what false says.
    ///
    /// # Errors
    /// At [`Step::Receive`](crate::Step::Receive): [`Error::is_broken_by_peer`].
    pub fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        loop {
            match self.look() {
                Ok(Taken::Empty(seen)) => {
                    if !self.wait_for_octets(seen, deadline)? {
                        return Ok(false);
                    }
                }
                Err(error) if error.is_broken_by_peer() => return Err(error),
                // Also what the next call fails with.
                _ => return Ok(true),
            }
        }
    }

    /// Copies what is there without taking it, and without waiting. 0: the peer has ended its direction.
    ///
    /// # Errors
    /// As [`receive_now`](Self::receive_now).
    pub fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.take_now(&mut [IoSliceMut::new(into)], true)
    }

    /// Sends as much of the slices as there is room for, without waiting, and says how many octets that was; any number of
    /// slices.
    ///
    /// # Errors
    /// At [`Step::Send`](crate::Step::Send), when nothing was taken: [`Error::is_would_block`], [`Error::is_connection_reset`],
    /// [`Error::is_broken_by_peer`].
    #[inline]
    pub fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        self.put_now(slices).map(Sent::of)
    }

    /// Sends as much of the slices as there is room for, at least one octet, and waits for room until `deadline`.
    ///
    /// # Errors
    /// As [`send_now`](Self::send_now), with [`Error::is_timeout`] for would-block.
    #[inline]
    pub fn send_by(&self, slices: &[IoSlice<'_>], deadline: Instant) -> Result<Sent, Error> {
        self.put_by(slices, deadline).map(Sent::of)
    }

    /// Sends the slices to their end by `deadline`. They are used up as they are sent.
    ///
    /// # Errors
    /// At [`Step::Send`](crate::Step::Send): [`Error::is_timeout`], [`Error::is_connection_reset`], [`Error::is_broken_by_peer`];
    /// [`Error::transferred`] says how many octets had gone, and the slices are what is left.
    #[inline]
    pub fn send_all(&self, mut slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        let mut total = 0;
        loop {
            IoSlice::advance_slices(&mut slices, 0);
            if slices.is_empty() {
                return Ok(());
            }
            match self.put_by(slices, deadline) {
                Ok(sent) => {
                    total += sent;
                    IoSlice::advance_slices(&mut slices, sent);
                }
                Err(error) => return Err(error.with_transferred(total)),
            }
        }
    }
}

impl ByteStream for ShmStream {
    #[inline]
    fn receive_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        ShmStream::receive_now(self, into)
    }

    #[inline]
    fn receive_by(&self, into: &mut [u8], deadline: Instant) -> Result<usize, Error> {
        ShmStream::receive_by(self, into, deadline)
    }

    #[inline]
    fn receive_slices_by(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> Result<usize, Error> {
        ShmStream::receive_slices_by(self, into, deadline)
    }

    #[inline]
    fn receive_exact(&self, into: &mut [u8], deadline: Instant) -> Result<(), Error> {
        ShmStream::receive_exact(self, into, deadline)
    }

    fn wait_readable(&self, deadline: Instant) -> Result<bool, Error> {
        ShmStream::wait_readable(self, deadline)
    }

    fn peek_now(&self, into: &mut [u8]) -> Result<usize, Error> {
        ShmStream::peek_now(self, into)
    }

    fn idle(&self) -> Idle {
        ShmStream::idle(self)
    }

    #[inline]
    fn send_now(&self, slices: &[IoSlice<'_>]) -> Result<Sent, Error> {
        ShmStream::send_now(self, slices)
    }

    #[inline]
    fn send_all(&self, slices: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Error> {
        ShmStream::send_all(self, slices, deadline)
    }

    fn shutdown_send(&self) -> Result<(), Error> {
        ShmStream::shutdown_send(self)
    }

    fn shutdown_both(&self) -> Result<(), Error> {
        ShmStream::shutdown_both(self)
    }
}
