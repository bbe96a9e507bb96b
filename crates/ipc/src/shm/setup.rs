//! Setting a channel up over a Unix stream: one message, from the initiator to the responder.
//!
//! ```text
//! offset           16 octets, and with the first of them the memory: one descriptor, and a second one if there are slabs
//!      0  magic    "zrbS"
//!      4  version  1
//!      8  octets of each ring
//!     12  0, or octets of a slab plus how many slabs each direction has
//! ```
//!
//! There is no answer: the initiator may send into the rings at once. Who does not agree closes the socket, which the
//! initiator meets as a connection that was reset.
//!
//! The responder believes nothing of it. The size must be one that rings can have, and no larger than its own limit; the
//! descriptor must be memory of exactly the octets that follow from it, sealed against shrinking, growing and further
//! seals, and say the same in its first words. Only then is it mapped. So it is with the memory of slabs, but that it has
//! no such words, and may have holes (`slabs.rs`).

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::fs::{SealFlags, fcntl_add_seals, fcntl_get_seals};

use super::{RingSize, ShmOptions, Slabs, layout};
use crate::memory::SizedMemfd;
use crate::{Error, Memfd, Segment, SegmentOptions, Step, UnixStream};

/// All memory of a channel.
pub(super) struct Memory {
    pub(super) segment: Segment,
    pub(super) ring: RingSize,
    pub(super) slabs: Option<(Segment, Slabs)>,
}

pub(super) const HELLO: usize = 16;

const STRANGE: &str = "what set the channel up was no such message";
const TOO_LARGE: &str = "its rings are larger than what is accepted here";
const TOO_MANY: &str = "its slabs are more than what is accepted here";
const UNLIKE: &str = "the memory is not what its message says";

/// Makes the memory, and passes it on.
pub(super) fn initiate(
    socket: &UnixStream,
    options: &ShmOptions,
    deadline: Instant,
) -> Result<Memory, Error> {
    let ring = options.ring;
    let octets = layout::octets(ring)
        .ok_or_else(|| Error::out_of_range("rings that do not fit the addresses of a process"))?;
    let memory = Memfd::create("zorb-channel", octets as u64)?.fix_size()?;
    fcntl_add_seals(&memory, SealFlags::SEAL).map_err(|errno| Error::os(Step::Configure, errno))?;
    let segment = memory.map(&layout::mapped())?;
    layout::inscribe(&segment, ring);
    let slabs = match options.slabs {
        Some(slabs) => {
            let memory = Memfd::create("zorb-slabs", 2 * slabs.total() as u64)?.fix_size_with_holes()?;
            Some((memory.map(&SegmentOptions::new())?, slabs))
        }
        None => None,
    };
    let hello = hello(ring, options.slabs);
    match &slabs {
        Some((bulk, _)) => {
            let both = [segment.memory().as_fd(), bulk.memory().as_fd()];
            socket.send_passing(&hello, &both, deadline)?;
        }
        None => {
            socket.send_passing(&hello, &[segment.memory().as_fd()], deadline)?;
        }
    }
    Ok(Memory { segment, ring, slabs })
}

fn hello(ring: RingSize, slabs: Option<Slabs>) -> [u8; HELLO] {
    let mut hello = [0; HELLO];
    hello[..4].copy_from_slice(&layout::MAGIC.to_ne_bytes());
    hello[4..8].copy_from_slice(&layout::VERSION.to_ne_bytes());
    hello[8..12].copy_from_slice(&(ring.octets() as u32).to_ne_bytes());
    hello[12..].copy_from_slice(&slabs.map_or(0, Slabs::to_word).to_ne_bytes());
    hello
}

/// What has come of the message so far.
#[derive(Debug, Default)]
pub(super) struct Hello {
    octets: [u8; HELLO],
    filled: usize,
    memory: Option<OwnedFd>,
    slabs: Option<OwnedFd>,
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
                let place = if self.memory.is_none() { &mut self.memory } else { &mut self.slabs };
                if place.replace(descriptor).is_some() {
                    return Err(socket.naming(Error::broken(Step::Receive, STRANGE)));
                }
            }
        }
        Ok(())
    }

    /// The memory, if all about it is right.
    pub(super) fn memory(&mut self, options: &ShmOptions) -> Result<Memory, Error> {
        let broken = |rule| Error::broken(Step::Receive, rule);
        let (words, _) = self.octets.as_chunks::<4>();
        let word = |at: usize| words.get(at).map(|word| u32::from_ne_bytes(*word));
        if word(0) != Some(layout::MAGIC) || word(1) != Some(layout::VERSION) {
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
        // All that is known without looking into the memory comes before any of it is mapped.
        let slabs = match (word(3), self.slabs.take()) {
            (Some(0), None) => None,
            (Some(said), Some(memory)) => {
                let slabs = Slabs::from_word(said).map_err(|_| broken(STRANGE))?;
                if slabs.total() > options.most_slabs.0 {
                    return Err(broken(TOO_MANY));
                }
                if !is_final(memory.as_fd()) {
                    return Err(broken(UNLIKE));
                }
                Some((SizedMemfd::adopt_with_holes(memory, 2 * slabs.total())?, slabs))
            }
            _ => return Err(broken(STRANGE)),
        };
        let segment = Segment::adopt(memory, octets..=octets, &layout::mapped())?;
        if !layout::is_inscribed(&segment, ring) {
            return Err(broken(UNLIKE));
        }
        let slabs = match slabs {
            Some((memory, slabs)) => Some((memory.map(&SegmentOptions::new())?, slabs)),
            None => None,
        };
        Ok(Memory { segment, ring, slabs })
    }
}

/// Whether no seal can be added; which there are is looked at when it is adopted.
fn is_final(memory: BorrowedFd<'_>) -> bool {
    fcntl_get_seals(memory).is_ok_and(|seals| seals.contains(SealFlags::SEAL))
}
