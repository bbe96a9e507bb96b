//! Many datagrams in one system call.
//!
//! A batch that is cut short is no error: a call says how many datagrams went through, at least one, and what
//! stopped it is told by the next call, which begins with the datagram that it stopped at.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::{
    ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Outgoing, ReceiveBatch, SendBatch, send_after,
    send_until,
};
use crate::{Error, Sent, Step};

const SEND: SendFlags = SendFlags::NOSIGNAL;
const SEND_NOW: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

impl<F: DatagramFamily> DatagramSocket<F> {
    /// Receives as many datagrams as there are and as the batch has room for, in one system call, and waits
    /// for the first one as long as it takes: how many. One that is longer than its room is no error, but
    /// says so itself ([`is_truncated`](crate::BatchedDatagram::is_truncated)).
    ///
    /// # Errors
    /// As [`receive_from`](Self::receive_from), but for truncation; the batch is then empty.
    pub fn receive_many(&self, batch: &mut ReceiveBatch<F>) -> Result<usize, Error> {
        // The system's own wait does not end with a report that a call for sending has passed by.
        let received = batch.receive(self.as_fd(), usize::MAX, !self.is_reporting());
        match received.map_err(|errno| self.receive_failed(errno)) {
            Err(error) => self.go_on_receiving(error, None, || self.receive_many_now(batch)),
            done => done,
        }
    }

    /// The same, without waiting.
    ///
    /// # Errors
    /// As [`receive_many`](Self::receive_many), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_many_now(&self, batch: &mut ReceiveBatch<F>) -> Result<usize, Error> {
        let received = batch.receive(self.as_fd(), usize::MAX, false);
        received.map_err(|errno| self.receive_failed(errno))
    }

    /// The same, waiting for the first one until `deadline`.
    ///
    /// # Errors
    /// As [`receive_many`](Self::receive_many), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_many_by(&self, batch: &mut ReceiveBatch<F>, deadline: Instant) -> Result<usize, Error> {
        match self.receive_many_now(batch) {
            Ok(received) => Ok(received),
            Err(error) => self.go_on_receiving(error, Some(deadline), || self.receive_many_now(batch)),
        }
    }

    /// Sends as many of the datagrams, from the first on, as the batch has room for, in one system call, and
    /// waits for room in the queue as long as it takes: how many have gone.
    ///
    /// # Errors
    /// As [`send_to`](Self::send_to), of the first one: none has gone. One of more than 1024 slices is
    /// [too large](Error::is_too_large).
    pub fn send_many(
        &self,
        datagrams: &[Outgoing<'_, F::Address>],
        batch: &mut SendBatch,
    ) -> Result<Sent, Error> {
        match self.send_batch(datagrams, batch, SEND) {
            Err(error) => send_after(error, self.as_fd(), None, || self.send_many_now(datagrams, batch)),
            done => done,
        }
    }

    /// The same, without waiting: as many as there is room for.
    ///
    /// # Errors
    /// As [`send_many`](Self::send_many), and [`Error::is_would_block`].
    pub fn send_many_now(
        &self,
        datagrams: &[Outgoing<'_, F::Address>],
        batch: &mut SendBatch,
    ) -> Result<Sent, Error> {
        self.send_batch(datagrams, batch, SEND_NOW)
    }

    /// The same, waiting for room for the first one until `deadline`.
    ///
    /// # Errors
    /// As [`send_many`](Self::send_many), and [`Error::is_timeout`].
    pub fn send_many_by(
        &self,
        datagrams: &[Outgoing<'_, F::Address>],
        batch: &mut SendBatch,
        deadline: Instant,
    ) -> Result<Sent, Error> {
        let sent = send_until(self.as_fd(), Some(deadline), || self.send_many_now(datagrams, batch));
        sent.map_err(|error| match datagrams {
            [first, ..] => error.or_with(|| F::address(first.to)),
            [] => error,
        })
    }

    fn send_batch(
        &self,
        datagrams: &[Outgoing<'_, F::Address>],
        batch: &mut SendBatch,
        flags: SendFlags,
    ) -> Result<Sent, Error> {
        let [first, ..] = datagrams else { return Ok(Sent::of(0)) };
        let failed = |errno| Error::os(Step::Send, errno).of_slices(first.slices).with(F::address(first.to));
        // An address that has no form for the kernel ends the batch, or is the first one's error.
        let mut bad = None;
        let addressed = datagrams.iter().map_while(|one| match F::to_kernel(one.to) {
            Ok(to) => Some((one.slices, Some(to))),
            Err(errno) => {
                bad = Some(errno);
                None
            }
        });
        match batch.send(self.as_fd(), addressed, flags, self.again()) {
            Ok(0) => Err(failed(bad.unwrap_or(Errno::INVAL))),
            Ok(sent) => Ok(Sent::of(sent)),
            Err(errno) if self.is_reporting() && F::is_loss(errno) => Ok(Sent::of(1)),
            Err(errno) => Err(failed(errno)),
        }
    }
}

impl<F: DatagramFamily> ConnectedDatagramSocket<F> {
    /// Receives as many datagrams as there are and as the batch has room for, in one system call, and waits
    /// for the first one as long as it takes: how many. One that is longer than its room is no error, but
    /// says so itself ([`is_truncated`](crate::BatchedDatagram::is_truncated)).
    ///
    /// # Errors
    /// As [`receive`](Self::receive), but for truncation; the batch is then empty.
    pub fn receive_many(&self, batch: &mut ReceiveBatch<F>) -> Result<usize, Error> {
        match self.receive_batch(batch, true) {
            Err(error) => self.go_on_receiving(error, None, || self.receive_many_now(batch)),
            done => done,
        }
    }

    /// The same, without waiting.
    ///
    /// # Errors
    /// As [`receive_many`](Self::receive_many), and [`Error::is_would_block`].
    #[inline]
    pub fn receive_many_now(&self, batch: &mut ReceiveBatch<F>) -> Result<usize, Error> {
        self.receive_batch(batch, false)
    }

    /// The same, waiting for the first one until `deadline`.
    ///
    /// # Errors
    /// As [`receive_many`](Self::receive_many), and [`Error::is_timeout`].
    #[inline]
    pub fn receive_many_by(&self, batch: &mut ReceiveBatch<F>, deadline: Instant) -> Result<usize, Error> {
        if self.has_earlier() {
            return self.receive_many_later(None, batch, deadline);
        }
        match batch.receive(self.as_fd(), usize::MAX, false) {
            Ok(received) => Ok(received),
            Err(errno) => self.receive_many_later(Some(errno), batch, deadline),
        }
    }

    /// What came of an attempt, if there was one, decides whether to wait for another.
    #[cold]
    #[inline(never)]
    fn receive_many_later(
        &self,
        attempt: Option<Errno>,
        batch: &mut ReceiveBatch<F>,
        deadline: Instant,
    ) -> Result<usize, Error> {
        let first = match attempt {
            Some(errno) => Err(self.failed(Step::Receive, errno)),
            None => self.receive_many_now(batch),
        };
        match first {
            Err(error) => self.go_on_receiving(error, Some(deadline), || self.receive_many_now(batch)),
            done => done,
        }
    }

    #[inline]
    fn receive_batch(&self, batch: &mut ReceiveBatch<F>, waits: bool) -> Result<usize, Error> {
        let failed = |errno| self.failed(Step::Receive, errno);
        if self.has_earlier()
            && let Some(done) = self.receive_past_earlier_into(batch)
        {
            return done;
        }
        batch.receive(self.as_fd(), usize::MAX, waits).map_err(failed)
    }

    /// One by one, as others' may be among them.
    #[cold]
    fn receive_past_earlier_into(&self, batch: &mut ReceiveBatch<F>) -> Option<Result<usize, Error>> {
        batch.clear();
        self.past_earlier(|| {
            batch.receive(self.as_fd(), 1, false).map_err(|errno| self.failed(Step::Receive, errno))
        })
    }

    /// Sends as many of the datagrams, from the first on, as the batch has room for, in one system call, and
    /// waits for room in the queue as long as it takes: how many have gone. Each is given by its slices, at
    /// most 1024.
    ///
    /// # Errors
    /// As [`send`](Self::send), of the first one: none has gone. One of more than 1024 slices is
    /// [too large](Error::is_too_large).
    pub fn send_many(&self, datagrams: &[&[IoSlice<'_>]], batch: &mut SendBatch) -> Result<Sent, Error> {
        match self.send_batch(datagrams, batch, SEND) {
            Err(error) => self.go_on_sending(error, None, || self.send_many_now(datagrams, batch)),
            done => done,
        }
    }

    /// The same, without waiting: as many as there is room for.
    ///
    /// # Errors
    /// As [`send_many`](Self::send_many), and [`Error::is_would_block`].
    pub fn send_many_now(&self, datagrams: &[&[IoSlice<'_>]], batch: &mut SendBatch) -> Result<Sent, Error> {
        self.send_batch(datagrams, batch, SEND_NOW)
    }

    /// The same, waiting for room for the first one until `deadline`.
    ///
    /// # Errors
    /// As [`send_many`](Self::send_many), and [`Error::is_timeout`].
    pub fn send_many_by(
        &self,
        datagrams: &[&[IoSlice<'_>]],
        batch: &mut SendBatch,
        deadline: Instant,
    ) -> Result<Sent, Error> {
        match self.send_many_now(datagrams, batch) {
            Err(error) => self.go_on_sending(error, Some(deadline), || self.send_many_now(datagrams, batch)),
            done => done,
        }
    }

    fn send_batch(
        &self,
        datagrams: &[&[IoSlice<'_>]],
        batch: &mut SendBatch,
        flags: SendFlags,
    ) -> Result<Sent, Error> {
        let [first, ..] = datagrams else { return Ok(Sent::of(0)) };
        let unaddressed = datagrams.iter().map(|&slices| (slices, None));
        match batch.send(self.as_fd(), unaddressed, flags, |errno| errno == Errno::INTR) {
            Ok(sent) => Ok(Sent::of(sent)),
            Err(errno) if F::is_loss(errno) => Ok(Sent::of(1)),
            Err(errno) => Err(self.failed(Step::Send, errno).of_slices(first)),
        }
    }
}
