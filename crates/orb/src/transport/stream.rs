//! Channels over stream sockets of any family: what TCP and Unix sockets have in common.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zorb_ipc::{Error, Looked, Spinner, Spinners, Stream, StreamFamily};

use super::{Armed, Channel, Endpoint, Idle, Received, Wanted};

/// A connection, its peer's name, and the timeouts that the socket has now.
pub(super) struct StreamChannel<F: StreamFamily> {
    stream: Stream<F>,
    peer: Endpoint,
    receive_timeout: Timeout,
    send_timeout: Timeout,
    /// How receives look before they sleep; while there is none they sleep at once.
    spinner: OnceLock<Spinner>,
    /// What the socket is told before it carries much for the first time.
    bulk: Option<OnBulk<F>>,
    /// What the socket is told if it is to stay.
    stays: Option<ToldToStay<F>>,
    /// As of [`Channel::queues_little`].
    queues_little: bool,
    /// The last send that did not wait left some of what it was given: there is no room.
    is_full: AtomicBool,
}

/// Tells a socket that it is to stay.
type ToldToStay<F> = fn(&Stream<F>) -> io::Result<()>;

type Tell<F> = Box<dyn Fn(&Stream<F>) + Send + Sync>;

/// Told once.
struct OnBulk<F: StreamFamily> {
    told: AtomicBool,
    tell: Tell<F>,
}

/// Octets of what is sent at once that are much.
pub(super) const MUCH: usize = 64 << 10;

/// Octets that seldom find room at once. They wait for it in the send that takes the first of them: one system call instead of two.
const MORE_THAN_ROOM: usize = 512 << 10;

impl<F: StreamFamily> StreamChannel<F> {
    pub(super) fn new(stream: Stream<F>, peer: Endpoint) -> Self {
        let (receive_timeout, send_timeout) = (Timeout::default(), Timeout::default());
        let (spinner, bulk, stays, is_full) = (OnceLock::new(), None, None, AtomicBool::new(false));
        let queues_little = false;
        StreamChannel {
            stream,
            peer,
            receive_timeout,
            send_timeout,
            spinner,
            bulk,
            stays,
            queues_little,
            is_full,
        }
    }

    /// The same; the system holds little of what is [on its way](Channel::queues_little).
    pub(super) fn that_queues_little(self) -> Self {
        StreamChannel { queues_little: true, ..self }
    }

    /// The same; the socket is told something if it is to [stay](Channel::stay).
    pub(super) fn that_may_stay(self, tell: ToldToStay<F>) -> Self {
        StreamChannel { stays: Some(tell), ..self }
    }

    /// The same; the socket is told something before it first carries much: 64 KiB at once.
    pub(super) fn before_bulk(self, tell: impl Fn(&Stream<F>) + Send + Sync + 'static) -> Self {
        StreamChannel { bulk: Some(OnBulk { told: AtomicBool::new(false), tell: Box::new(tell) }), ..self }
    }

    #[inline]
    fn note_bulk(&self, parts: &[IoSlice<'_>]) {
        let Some(bulk) = &self.bulk else { return };
        if octets_of(parts) >= MUCH && !bulk.told.load(Ordering::Relaxed) {
            bulk.tell_once(&self.stream);
        }
    }

    /// Receives in one system call, which waits.
    #[inline]
    fn sleep(&self, into: &mut [u8], time: Duration) -> io::Result<Received> {
        // That it may end early is in `Channel::receive`'s contract.
        self.receive_timeout.limit(time, |timeout| self.stream.set_receive_timeout(timeout))?;
        match self.stream.receive(into) {
            Ok(0) => Ok(Received::Closed),
            Ok(count) => Ok(Received::Octets(count)),
            Err(error) if error.is_timeout() => Ok(Received::Empty),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives what is there; `None`: nothing.
    #[inline]
    fn look(&self, into: &mut [u8]) -> Option<io::Result<Received>> {
        match self.stream.receive_if_there(into) {
            Ok(None) => None,
            Ok(Some(0)) => Some(Ok(Received::Closed)),
            Ok(Some(count)) => Some(Ok(Received::Octets(count))),
            Err(error) => Some(Err(error.into())),
        }
    }

    /// Waits for room in the send itself, as who has no deadline would.
    #[cold]
    fn send_when_possible(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        self.is_full.store(false, Ordering::Relaxed);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.send_timeout.limit(left, |timeout| self.stream.set_send_timeout(timeout))?;
            match self.stream.send(parts) {
                Ok(sent) => return Ok(sent.count()),
                Err(error) if error.is_timeout() && Instant::now() < deadline => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// A timeout of a socket's, in milliseconds; 0: none was set yet.
#[derive(Default)]
struct Timeout(AtomicU64);

impl Timeout {
    /// Sees to it that a wait ends within `time`, or a little later where less than a millisecond is left.
    ///
    /// The socket's timeout is a power of two at or below the time asked for: calls with the same deadline policy, each
    /// a little different in what is left of it, then find it as they need it, and a wait stays one system call. So it may end
    /// early.
    #[inline]
    fn limit(
        &self,
        time: Duration,
        set: impl FnOnce(Option<Duration>) -> Result<(), Error>,
    ) -> io::Result<()> {
        let wanted = power_below(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        if self.0.load(Ordering::Relaxed) != wanted {
            set(Some(Duration::from_millis(wanted)))?;
            self.0.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<F: StreamFamily> OnBulk<F> {
    #[cold]
    fn tell_once(&self, stream: &Stream<F>) {
        if !self.told.swap(true, Ordering::Relaxed) {
            (self.tell)(stream);
        }
    }
}

fn scattered(received: Result<usize, Error>) -> io::Result<Received> {
    match received {
        Ok(0) => Ok(Received::Closed),
        Ok(count) => Ok(Received::Octets(count)),
        Err(error) if error.is_timeout() || error.is_would_block() => Ok(Received::Empty),
        Err(error) => Err(error.into()),
    }
}

#[inline]
fn octets_of(parts: &[IoSlice<'_>]) -> usize {
    // Most messages are one part.
    match parts {
        [one] => one.len(),
        parts => parts.iter().map(|part| part.len()).sum(),
    }
}

/// The largest power of two that is at most `milliseconds`; 1 to 2^20 (17 minutes).
#[inline]
fn power_below(milliseconds: u64) -> u64 {
    1 << milliseconds.max(1).ilog2().min(20)
}

impl<F: StreamFamily> Channel for StreamChannel<F> {
    #[inline]
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        match deadline.checked_duration_since(Instant::now()) {
            Some(left) => self.receive_within(into, left),
            None => self.receive_now(into),
        }
    }

    #[inline]
    fn receive_within(&self, into: &mut [u8], time: Duration) -> io::Result<Received> {
        let Some(spinner) = self.spinner.get() else { return self.sleep(into, time) };
        match spinner.look(|| time, || self.look(into)) {
            Looked::Came(received) => received,
            Looked::InVain(asleep) => {
                // A usual spin is far shorter than what the socket's timer tells apart.
                let spent = asleep.spent();
                let left = if spent < Duration::from_millis(1) { time } else { time.saturating_sub(spent) };
                let received = self.sleep(into, left);
                spinner.slept(asleep);
                received
            }
        }
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        self.look(into).unwrap_or(Ok(Received::Empty))
    }

    fn receive_slices(&self, into: &mut [IoSliceMut<'_>], deadline: Instant) -> io::Result<Received> {
        match into {
            // The usual way looks before it sleeps.
            [one] => self.receive(one, deadline),
            _ => scattered(self.stream.receive_slices_by(into, deadline)),
        }
    }

    fn receive_slices_now(&self, into: &mut [IoSliceMut<'_>]) -> io::Result<Received> {
        scattered(self.stream.receive_slices_now(into))
    }

    fn queues_little(&self) -> bool {
        self.queues_little
    }

    #[inline]
    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        self.note_bulk(parts);
        if self.is_full.load(Ordering::Relaxed) || octets_of(parts) >= MORE_THAN_ROOM {
            return self.send_when_possible(parts, deadline);
        }
        match self.stream.send_now(parts) {
            Ok(sent) => {
                let sent = sent.count();
                if sent < octets_of(parts) {
                    self.is_full.store(true, Ordering::Relaxed);
                }
                Ok(sent)
            }
            Err(error) if error.is_would_block() => self.send_when_possible(parts, deadline),
            Err(error) => Err(error.into()),
        }
    }

    /// One system call for each message, however full the queue is: what does not find room waits for it there.
    #[inline]
    fn send_within(&self, parts: &[IoSlice<'_>], left: Duration, deadline: Instant) -> io::Result<usize> {
        self.note_bulk(parts);
        self.send_timeout.limit(left, |timeout| self.stream.set_send_timeout(timeout))?;
        match self.stream.send(parts) {
            Ok(sent) => Ok(sent.count()),
            Err(error) if error.is_timeout() => self.send_when_possible(parts, deadline),
            Err(error) => Err(error.into()),
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.note_bulk(parts);
        match self.stream.send_now(parts) {
            Ok(sent) => Ok(sent.count()),
            Err(error) if error.is_would_block() => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn spin(&self, spinners: &Spinners) {
        self.spinner.get_or_init(|| spinners.spinner());
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        match wanted {
            Wanted::Input => Armed::Readable,
            Wanted::Room => Armed::Writable,
        }
    }

    fn stay(&self) {
        if let Some(tell) = self.stays
            && let Err(error) = tell(&self.stream)
        {
            // It works as it is.
            tracing::debug!(%error, peer = %self.peer, "a peer is not asked whether it is there");
        }
    }

    fn shutdown_send(&self) {
        // It fails where the connection is gone, and then nothing is left to be said.
        let _ = self.stream.shutdown_send();
    }

    fn close(&self) {
        let _ = self.stream.shutdown_both();
    }

    fn state(&self) -> Idle {
        match self.stream.idle() {
            zorb_ipc::Idle::Quiet => Idle::Quiet,
            zorb_ipc::Idle::Readable => Idle::Unread,
            zorb_ipc::Idle::Closed => Idle::Closed,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_powers_of_two_at_or_below_the_time_left() {
        for (left, timeout) in [(0, 1), (1, 1), (3, 2), (128, 128), (59_990, 32_768), (u64::MAX, 1 << 20)] {
            assert_eq!(power_below(left), timeout);
        }
    }
}
