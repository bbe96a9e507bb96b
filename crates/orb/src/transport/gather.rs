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

/// The same for one run of octets, which most messages are.
#[inline]
pub(crate) fn send_run(channel: &dyn Channel, octets: &[u8], deadline: Instant) -> Result<(), Unsent> {
    match channel.send(&[IoSlice::new(octets)], deadline) {
        Ok(sent) if sent == octets.len() => Ok(()),
        Ok(0) => Err(Unsent { sent: 0, error: io::ErrorKind::WriteZero.into() }),
        Ok(sent) => drain(channel, &mut [IoSlice::new(&octets[sent..])], deadline)
            .map_err(|unsent| Unsent { sent: sent + unsent.sent, ..unsent }),
        Err(error) => Err(Unsent { sent: 0, error }),
    }
}

fn drain(channel: &dyn Channel, mut parts: &mut [IoSlice<'_>], deadline: Instant) -> Result<(), Unsent> {
    let mut sent = 0;
    loop {
        let batch = parts.len().min(MOST_PARTS);
        match channel.send(&parts[..batch], deadline) {
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
    }
}
