//! Sending a whole message: the gather list in as few system calls as the transport allows.

use std::io::{self, IoSlice};
use std::time::Instant;

use super::Channel;

/// The longest gather list handed to one system call: what Linux takes (UIO_MAXIOV).
const MOST_PARTS: usize = 1024;

/// Parts that need no list of their own: a head, what is sent from where it lies, what is behind it, and the same once more.
const FEW: usize = 6;

/// A send that ended early.
#[derive(Debug)]
pub(crate) struct Unsent {
    /// Octets that had left before.
    pub(crate) sent: usize,
    /// What ended it.
    pub(crate) error: io::Error,
}

/// Sends all of `parts` by the deadline, which is looked at again after every partial transfer.
pub(crate) fn send_all<'p>(
    channel: &dyn Channel,
    parts: impl Iterator<Item = &'p [u8]>,
    deadline: Instant,
) -> Result<(), Unsent> {
    let mut parts = parts.map(IoSlice::new);
    let (mut few, mut count) = ([IoSlice::new(&[]); FEW], 0);
    for (place, part) in few.iter_mut().zip(&mut parts) {
        *place = part;
        count += 1;
    }
    match parts.next() {
        None if count == 0 => Ok(()),
        None => drain(channel, &mut few[..count], deadline),
        Some(next) => {
            let mut all: Vec<_> = few.into_iter().chain([next]).chain(parts).collect();
            drain(channel, &mut all, deadline)
        }
    }
}

/// The same for a message of few parts, which most are: of one, or of three where a large value lies elsewhere. Some may be empty.
#[inline]
pub(crate) fn send_parts<const N: usize>(
    channel: &dyn Channel,
    parts: [&[u8]; N],
    deadline: Instant,
) -> Result<(), Unsent> {
    let octets = parts.iter().map(|part| part.len()).sum();
    let mut parts = parts.map(IoSlice::new);
    match channel.send(&parts, deadline) {
        Ok(sent) if sent == octets && sent > 0 => Ok(()),
        sent => go_on(channel, &mut parts, sent, deadline),
    }
}

fn drain(channel: &dyn Channel, parts: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Unsent> {
    let first = channel.send(&parts[..parts.len().min(MOST_PARTS)], deadline);
    go_on(channel, parts, first, deadline)
}

/// After the first transfer.
fn go_on(
    channel: &dyn Channel,
    mut parts: &mut [IoSlice<'_>],
    mut transfer: io::Result<usize>,
    deadline: Instant,
) -> Result<(), Unsent> {
    let mut sent = 0;
    loop {
        match transfer {
            Ok(0) => return Err(Unsent { sent, error: io::ErrorKind::WriteZero.into() }),
            Ok(count) => {
                sent += count;
                IoSlice::advance_slices(&mut parts, count);
            }
            Err(error) => return Err(Unsent { sent, error }),
        }
        if parts.is_empty() {
            return Ok(());
        }
        if Instant::now() >= deadline {
            return Err(Unsent { sent, error: io::ErrorKind::TimedOut.into() });
        }
        transfer = channel.send(&parts[..parts.len().min(MOST_PARTS)], deadline);
    }
}
