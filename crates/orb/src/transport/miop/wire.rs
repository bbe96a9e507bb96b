//! A client's way to a group: each message in packets.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use zorb_giop::FRAME_MAGIC;
use zorb_giop::miop::Packets;
use zorb_ipc::MulticastSender;

use super::super::datagram::Wire;

/// Octets of a message's id: 12 digits that are this channel's, 8 that count. Digits, since a receiver that keeps ids as text
/// (JacORB) would take others for one another.
const ID: usize = 20;

/// How long the packets of a message that has begun to leave may find no room: longer than any queue of an interface takes
/// to empty. Then the message is lost, as if the network had lost it. A blocking call waits by its own deadline.
const MOST_PATIENCE: Duration = Duration::from_millis(100);

/// A message is some packets; a frame, some datagrams.
pub(super) struct MiopWire {
    sender: MulticastSender,
    /// The beginning of all its messages' ids.
    id: String,
    count: AtomicU32,
    packet: usize,
}

impl AsFd for MiopWire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.sender.as_fd()
    }
}

impl MiopWire {
    /// `packet`: octets of each.
    pub(super) fn new(sender: MulticastSender, packet: usize) -> MiopWire {
        let random = RandomState::new().build_hasher().finish();
        let id = format!("{:012x}", random & 0xffff_ffff_ffff);
        MiopWire { sender, id, count: AtomicU32::new(0), packet }
    }

    fn send_packet(&self, packet: &[IoSlice<'_>], by: Option<Instant>) -> io::Result<bool> {
        let sent = match by {
            Some(deadline) => self.sender.send_by(packet, deadline),
            None => self.sender.send_now(packet),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.is_would_block() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Wire for MiopWire {
    fn send(&self, message: &[IoSlice<'_>], octets: usize, by: Option<Instant>) -> io::Result<bool> {
        if message.first().is_some_and(|first| first.starts_with(&FRAME_MAGIC)) {
            // A frame's datagrams say themselves what they are part of.
            return self.send_packet(message, by);
        }
        let id = format!("{}{:08x}", self.id, self.count.fetch_add(1, Ordering::Relaxed));
        debug_assert_eq!(id.len(), ID);
        let packets = Packets::new(octets, self.packet, id.as_bytes());
        let packets = packets.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        for (number, (head, range)) in packets.enumerate() {
            let mut packet = vec![IoSlice::new(&head)];
            packet.extend(within(message, range));
            if number == 0 {
                if !self.send_packet(&packet, by)? {
                    return Ok(false);
                }
                continue;
            }
            // It has begun to leave: what is left follows, or the message is lost.
            let patience = by.unwrap_or_else(|| Instant::now() + MOST_PATIENCE);
            match self.send_packet(&packet, Some(patience)) {
                Ok(_) => {}
                Err(error) if by.is_none() && error.kind() == io::ErrorKind::TimedOut => {
                    tracing::debug!(%error, number, "the rest of a message was not sent");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn discard(&self) -> io::Result<bool> {
        match self.sender.receive_from_now(&mut [0; 1]) {
            Ok(_) => Ok(true),
            Err(error) if error.is_truncated() => Ok(true),
            Err(error) if error.is_would_block() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// The parts of `message` that make its octets of that range.
fn within<'m>(
    message: &'m [IoSlice<'_>],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = IoSlice<'m>> {
    let mut before = 0;
    message.iter().filter_map(move |part| {
        let (begin, end) = (before, before + part.len());
        before = end;
        let (from, to) = (range.start.max(begin), range.end.min(end));
        (from < to).then(|| IoSlice::new(&part[from - begin..to - begin]))
    })
}
