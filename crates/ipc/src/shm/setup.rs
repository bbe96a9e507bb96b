//! Setting a channel up over a Unix stream: one message, from the initiator to the responder.
//!
//! ```text
//! offset           16 octets, and with the first of them one descriptor: the memory
//!      0  magic    "zrbS"
//!      4  version  1
//!      8  octets of each ring
//!     12  0
//! ```
//!
//! There is no answer: the initiator may send into the rings at once. Who does not agree closes the socket, which the
//! initiator meets as a connection that was reset.
//!
//! The responder believes nothing of it. The size must be one that rings can have, and no larger than its own limit; the
//! descriptor must be memory of exactly the octets that follow from it, sealed against shrinking, growing and further
//! seals, and say the same in its first words. Only then is it mapped.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::fs::{SealFlags, fcntl_add_seals, fcntl_get_seals};

use super::{RingSize, ShmOptions, layout};
use crate::{Error, Memfd, Segment, Step, UnixStream};

pub(super) const HELLO: usize = 16;

const STRANGE: &str = "what set the channel up was no such message";
const TOO_LARGE: &str = "its rings are larger than what is accepted here";
const UNLIKE: &str = "the memory is not what its message says";

/// Makes the memory, and passes it on.
pub(super) fn initiate(
    socket: &UnixStream,
    options: &ShmOptions,
    deadline: Instant,
) -> Result<Segment, Error> {
    let ring = options.ring;
    let octets = layout::octets(ring)
        .ok_or_else(|| Error::out_of_range("rings that do not fit the addresses of a process"))?;
    let memory = Memfd::create("zorb-channel", octets as u64)?.fix_size()?;
    fcntl_add_seals(&memory, SealFlags::SEAL).map_err(|errno| Error::os(Step::Configure, errno))?;
    let segment = memory.map(&layout::mapped())?;
    layout::inscribe(&segment, ring);
    socket.send_passing(&hello(ring), &[segment.memory().as_fd()], deadline)?;
    Ok(segment)
}

fn hello(ring: RingSize) -> [u8; HELLO] {
    let mut hello = [0; HELLO];
    hello[..4].copy_from_slice(&layout::MAGIC.to_ne_bytes());
    hello[4..8].copy_from_slice(&layout::VERSION.to_ne_bytes());
    hello[8..12].copy_from_slice(&(ring.octets() as u32).to_ne_bytes());
    hello
}

/// What has come of the message so far.
#[derive(Debug, Default)]
pub(super) struct Hello {
    octets: [u8; HELLO],
    filled: usize,
    memory: Option<OwnedFd>,
}

impl Hello {
    /// Receives what is missing, by the deadline. What came stays if that is not all.
    pub(super) fn receive(&mut self, socket: &UnixStream, deadline: Instant) -> Result<(), Error> {
        while self.filled < HELLO {
            let passed = socket.receive_passed(&mut self.octets[self.filled..], deadline)?;
            if passed.octets == 0 {
                return Err(socket.failed(Step::Receive, crate::error::ENDED));
            }
            self.filled += passed.octets;
            for descriptor in passed.descriptors {
                if self.memory.replace(descriptor).is_some() {
                    return Err(socket.naming(Error::broken(Step::Receive, STRANGE)));
                }
            }
        }
        Ok(())
    }

    /// The memory, if all about it is right.
    pub(super) fn memory(&mut self, options: &ShmOptions) -> Result<(Segment, RingSize), Error> {
        let broken = |rule| Error::broken(Step::Receive, rule);
        let (words, _) = self.octets.as_chunks::<4>();
        let word = |at: usize| words.get(at).map(|word| u32::from_ne_bytes(*word));
        if word(0) != Some(layout::MAGIC) || word(1) != Some(layout::VERSION) || word(3) != Some(0) {
            return Err(broken(STRANGE));
        }
        let ring = word(2).and_then(|octets| RingSize::new(octets as usize).ok());
        let ring = ring.ok_or_else(|| broken(STRANGE))?;
        if ring > options.most.0 {
            return Err(broken(TOO_LARGE));
        }
        let memory = self.memory.take().ok_or_else(|| broken(STRANGE))?;
        if !is_final(memory.as_fd()) {
            return Err(broken(UNLIKE));
        }
        let octets = layout::octets(ring).ok_or_else(|| broken(TOO_LARGE))?;
        let segment = Segment::adopt(memory, octets..=octets, &layout::mapped())?;
        if !layout::is_inscribed(&segment, ring) {
            return Err(broken(UNLIKE));
        }
        Ok((segment, ring))
    }
}

/// Whether no seal can be added; which there are is looked at when it is adopted.
fn is_final(memory: BorrowedFd<'_>) -> bool {
    fcntl_get_seals(memory).is_ok_and(|seals| seals.contains(SealFlags::SEAL))
}
