//! A client's channel: octets to whole messages, each sent by itself.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use zorb_giop::{FRAME_HEAD, FlowNumbers, HEADER_SIZE, Header};

use super::super::{Armed, Channel, Endpoint, Idle, Received, Wanted};
use super::invalid;

/// Datagrams that came unasked and are thrown away at one look: then others have their turn.
const MOST_DISCARDED: usize = 16;

/// How one message leaves.
pub(in crate::transport) trait Wire: AsFd + Send + Sync {
    /// Sends it, and waits for room until `by`, or not at all. False: there is no room now, and nothing was sent.
    fn send(&self, message: &[IoSlice<'_>], octets: usize, by: Option<Instant>) -> io::Result<bool>;
    /// Takes one datagram that came unasked, if there is one; or tells what came back of an earlier one of ours.
    fn discard(&self) -> io::Result<bool>;
}

/// A frame on its way out.
struct Leaving {
    numbers: FlowNumbers,
    /// As it was composed, its parts in order; empty: none.
    composed: Vec<u8>,
    /// The same with its number.
    numbered: Vec<u8>,
    /// Octets behind the head that have left.
    left: usize,
    /// Octets behind the head that a datagram has.
    part: usize,
}

/// Puts messages together out of what is given to be sent. Nothing is ever received.
pub(in crate::transport) struct Outgoing<W> {
    wire: W,
    peer: Endpoint,
    largest: usize,
    /// The beginning of a message.
    begun: Mutex<Vec<u8>>,
    frames: Mutex<Leaving>,
    /// Something came back of an earlier message: nobody takes them.
    refused: AtomicBool,
}

impl<W: Wire> Outgoing<W> {
    /// `largest`: the most octets of one message.
    pub(in crate::transport) fn new(wire: W, peer: Endpoint, largest: usize) -> Self {
        // Its keys are the system's random numbers.
        let seed = RandomState::new().build_hasher().finish() as u32;
        let leaving = Leaving {
            numbers: FlowNumbers::new(seed),
            composed: Vec::new(),
            numbered: Vec::new(),
            left: 0,
            part: largest,
        };
        Outgoing {
            wire,
            peer,
            largest,
            begun: Mutex::default(),
            frames: Mutex::new(leaving),
            refused: AtomicBool::new(false),
        }
    }

    /// Octets behind the head in each datagram that a larger frame is cut into.
    pub(in crate::transport) fn frame_part(mut self, octets: usize) -> Self {
        self.frames.get_mut().part = octets;
        self
    }

    /// Takes octets up to the end of one message; returns how many.
    fn take(&self, parts: &[IoSlice<'_>], by: Option<Instant>) -> io::Result<usize> {
        if self.refused.swap(false, Ordering::AcqRel) {
            return Err(refused());
        }
        let mut begun = self.begun.lock();
        let given: usize = parts.iter().map(|part| part.len()).sum();
        let octets = begun.iter().chain(parts.iter().flat_map(|part| part.iter()));
        let mut head = [0; HEADER_SIZE];
        let mut known = 0;
        for (to, octet) in head.iter_mut().zip(octets) {
            *to = *octet;
            known += 1;
        }
        if known == HEADER_SIZE
            && let Some(size) = FlowNumbers::size(&head)
        {
            let missing = size.saturating_sub(begun.len());
            if missing <= given {
                let octets = begun.iter().chain(parts.iter().flat_map(|part| part.iter()));
                let frame = octets.take(size).copied().collect();
                let sent = self.frames.lock().send(&self.wire, frame, by);
                if !matches!(sent, Ok(false)) {
                    begun.clear();
                }
                return sent.map(|sent| if sent { missing } else { 0 });
            }
        } else if known == HEADER_SIZE {
            let whole = Header::parse(&head).map_err(|error| invalid(error.to_string()))?.total();
            if whole > self.largest {
                begun.clear();
                let largest = self.largest;
                return Err(invalid(format!("a message of {whole} octets, of {largest} at most at once")));
            }
            let missing = whole.saturating_sub(begun.len());
            if missing <= given {
                let mut message = Vec::with_capacity(parts.len() + 1);
                message.push(IoSlice::new(&begun));
                let mut left = missing;
                for part in parts {
                    message.push(IoSlice::new(&part[..left.min(part.len())]));
                    left -= left.min(part.len());
                }
                message.retain(|part| !part.is_empty());
                let sent = self.wire.send(&message, whole, by);
                drop(message);
                return match sent {
                    Ok(false) => Ok(0),
                    Ok(true) => {
                        begun.clear();
                        Ok(missing)
                    }
                    Err(error) => {
                        begun.clear();
                        Err(error)
                    }
                };
            }
        }
        parts.iter().for_each(|part| begun.extend_from_slice(part));
        Ok(given)
    }
}

impl Leaving {
    /// Sends what has not left of a frame. False: there is no room for the next part; asked again with the same frame it goes on.
    fn send(&mut self, wire: &impl Wire, frame: Vec<u8>, by: Option<Instant>) -> io::Result<bool> {
        if self.composed != frame {
            self.numbered.clone_from(&frame);
            self.numbers.number(&mut self.numbered);
            (self.composed, self.left) = (frame, 0);
        }
        let sent = self.send_parts(wire, by);
        if !matches!(sent, Ok(false)) {
            self.composed.clear();
        }
        sent
    }

    fn send_parts(&mut self, wire: &impl Wire, by: Option<Instant>) -> io::Result<bool> {
        let rest = self.numbered.get(FRAME_HEAD..).unwrap_or_default();
        loop {
            let part = &rest[self.left..rest.len().min(self.left + self.part)];
            let head = FlowNumbers::head(&self.numbered, self.left);
            if !wire.send(&[IoSlice::new(&head), IoSlice::new(part)], FRAME_HEAD + part.len(), by)? {
                return Ok(false);
            }
            self.left += part.len();
            if self.left >= rest.len() {
                return Ok(true);
            }
        }
    }
}

fn refused() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionRefused,
        "an earlier datagram was refused: nobody takes them there",
    )
}

impl<W: Wire> Channel for Outgoing<W> {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        zorb_ipc::wait_readable(self.wire.as_fd(), deadline)?;
        self.receive_now(into)
    }

    fn receive_now(&self, _: &mut [u8]) -> io::Result<Received> {
        for _ in 0..MOST_DISCARDED {
            match self.wire.discard() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(peer = %self.peer, %error, "a datagram came back");
                    if error.kind() == io::ErrorKind::ConnectionRefused {
                        self.refused.store(true, Ordering::Release);
                    }
                }
            }
        }
        Ok(Received::Empty)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        match self.take(parts, Some(deadline))? {
            0 if parts.iter().any(|part| !part.is_empty()) => Err(io::ErrorKind::TimedOut.into()),
            taken => Ok(taken),
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.take(parts, None)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }

    fn arm(&self, wanted: Wanted) -> Armed {
        match wanted {
            Wanted::Input => Armed::Readable,
            Wanted::Room => Armed::Writable,
        }
    }

    fn shutdown_send(&self) {}

    fn close(&self) {}

    fn state(&self) -> Idle {
        Idle::Quiet
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }

    fn is_one_way(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Keeps what was sent.
    struct Kept(std::os::fd::OwnedFd, Mutex<Vec<Vec<u8>>>, AtomicBool);

    impl AsFd for Kept {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl Wire for Kept {
        fn send(&self, message: &[IoSlice<'_>], octets: usize, _: Option<Instant>) -> io::Result<bool> {
            if self.2.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let whole = message.iter().flat_map(|part| part.to_vec()).collect::<Vec<_>>();
            assert_eq!(whole.len(), octets);
            self.1.lock().push(whole);
            Ok(true)
        }

        fn discard(&self) -> io::Result<bool> {
            Ok(false)
        }
    }

    fn channel() -> Outgoing<Kept> {
        let (reader, _) = io::pipe().unwrap();
        let wire = Kept(reader.into(), Mutex::default(), AtomicBool::new(false));
        Outgoing::new(wire, Endpoint { transport: "udp".into(), address: "there".into() }, 100)
    }

    fn message(body: usize) -> Vec<u8> {
        let mut message = b"GIOP\x01\x02\x01\x00".to_vec();
        message.extend(u32::try_from(body).unwrap().to_le_bytes());
        message.resize(HEADER_SIZE + body, 7);
        message
    }

    #[test]
    fn however_it_is_handed_over_each_message_leaves_whole() {
        let (first, second) = (message(50), message(3));
        let both = [&first[..], &second].concat();
        for step in 1..=both.len() {
            let channel = channel();
            let mut at = 0;
            while at < both.len() {
                let end = both.len().min(at + step);
                let parts = [
                    IoSlice::new(&both[at..at + (end - at) / 2]),
                    IoSlice::new(&both[at + (end - at) / 2..end]),
                ];
                at += channel.send_now(&parts).unwrap();
            }
            assert_eq!(*channel.wire.1.lock(), [&first[..], &second], "in steps of {step}");
        }
    }

    #[test]
    fn what_finds_no_room_is_asked_for_again() {
        let channel = channel();
        let message = message(50);
        assert_eq!(channel.send_now(&[IoSlice::new(&message[..20])]).unwrap(), 20);
        channel.wire.2.store(true, Ordering::Relaxed);
        assert_eq!(channel.send_now(&[IoSlice::new(&message[20..])]).unwrap(), 0);
        let late = channel.send(&[IoSlice::new(&message[20..])], Instant::now() + Duration::from_millis(1));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
        channel.wire.2.store(false, Ordering::Relaxed);
        assert_eq!(channel.send_now(&[IoSlice::new(&message[20..])]).unwrap(), 42);
        assert_eq!(*channel.wire.1.lock(), [message]);
    }

    #[test]
    fn a_message_beyond_the_limit_is_refused_before_anything_is_sent() {
        let channel = channel();
        let error = channel.send_now(&[IoSlice::new(&message(89))]).unwrap_err();
        assert!(error.to_string().contains("101 octets, of 100"), "{error}");
        assert_eq!(channel.send_now(&[IoSlice::new(&message(88))]).unwrap(), 100);
        assert_eq!(channel.wire.1.lock().len(), 1);
    }
}
