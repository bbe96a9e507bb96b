//! Sending a whole message: the gather list in as few system calls as the transport allows.

use std::io::{self, IoSlice};
use std::time::{Duration, Instant};

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

/// By when a message is to have left.
#[derive(Clone, Copy)]
pub(crate) struct By {
    pub(crate) deadline: Instant,
    /// How long that was from now when the message was begun, where nobody has waited since.
    pub(crate) left: Option<Duration>,
}

impl From<Instant> for By {
    fn from(deadline: Instant) -> By {
        By { deadline, left: None }
    }
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

/// The same for a message of few parts, which most are: of one, or of two or three where a large value lies elsewhere. Some may be empty.
#[inline]
pub(crate) fn send_few<const N: usize>(
    channel: &dyn Channel,
    parts: [&[u8]; N],
    by: By,
) -> Result<(), Unsent> {
    let octets = parts.iter().map(|part| part.len()).sum();
    let mut parts = parts.map(IoSlice::new);
    let sent = match by.left {
        Some(left) => channel.send_within(&parts, left, by.deadline),
        None => channel.send(&parts, by.deadline),
    };
    match sent {
        Ok(sent) if sent == octets => Ok(()),
        sent => go_on(channel, &mut parts, sent, by.deadline),
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::super::scripted::Scripted;
    use super::*;

    const PARTS: [&[u8]; 5] = [b"", b"ab", b"", b"cdefg", b""];

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    /// By then, with a clock to be read and without.
    fn both_ways(deadline: Instant) -> [By; 2] {
        let left = Some(deadline.saturating_duration_since(Instant::now()));
        [deadline.into(), By { deadline, left }]
    }

    #[test]
    fn all_leaves_in_order_however_little_is_taken_at_once() {
        for most in 1..=8 {
            let channel = Scripted::new(|_, octets| Ok(octets.min(most)));
            for by in both_ways(soon()) {
                send_few(&channel, PARTS, by).unwrap();
                send_few(&channel, [b"h".as_slice()], by).unwrap();
            }
            send_all(&channel, PARTS.into_iter(), soon()).unwrap();
            assert_eq!(channel.taken(), b"abcdefghabcdefghabcdefg");
        }
        let channel = Scripted::new(|_, octets| Ok(octets));
        send_few(&channel, [b"".as_slice()], soon().into()).unwrap();
        send_all(&channel, std::iter::empty(), soon()).unwrap();
        assert_eq!(channel.taken(), b"");
    }

    #[test]
    fn more_parts_than_one_system_call_takes_leave_by_several() {
        let octets: Vec<u8> = (0..3 * MOST_PARTS).map(|at| at as u8).collect();
        for most in [usize::MAX, MOST_PARTS, MOST_PARTS - 1, 7] {
            let channel = Scripted::new(|_, octets: usize| {
                assert!(octets <= MOST_PARTS, "one octet each");
                Ok(octets.min(most))
            });
            send_all(&channel, octets.chunks(1), soon()).unwrap();
            assert_eq!(channel.taken(), octets);
        }
    }

    #[test]
    fn what_ends_a_send_early_is_told_with_what_had_left() {
        for before in [0, 1, 3, 6] {
            let left = AtomicUsize::new(before);
            let some = |octets: usize| {
                let count = octets.min(1).min(left.load(Ordering::Relaxed));
                left.fetch_sub(count, Ordering::Relaxed);
                count
            };
            let ends = |unsent: Result<(), Unsent>| {
                left.store(before, Ordering::Relaxed);
                let unsent = unsent.unwrap_err();
                assert_eq!(unsent.sent, before);
                unsent.error.kind()
            };
            let full = Scripted::new(|_, octets| Ok(some(octets)));
            for by in both_ways(soon()) {
                assert_eq!(ends(send_few(&full, PARTS, by)), io::ErrorKind::WriteZero);
            }
            assert_eq!(ends(send_all(&full, PARTS.into_iter(), soon())), io::ErrorKind::WriteZero);
            let broken = Scripted::new(|_, octets| match some(octets) {
                0 => Err(io::ErrorKind::BrokenPipe.into()),
                count => Ok(count),
            });
            for by in both_ways(soon()) {
                assert_eq!(ends(send_few(&broken, PARTS, by)), io::ErrorKind::BrokenPipe);
            }
            assert_eq!(ends(send_all(&broken, PARTS.into_iter(), soon())), io::ErrorKind::BrokenPipe);
        }
        let slow = Scripted::new(|_, octets| Ok(octets.min(3)));
        for by in both_ways(Instant::now()) {
            let late = send_few(&slow, PARTS, by).unwrap_err();
            assert_eq!((late.sent, late.error.kind()), (3, io::ErrorKind::TimedOut));
        }
    }
}
