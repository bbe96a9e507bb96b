//! Packets carried in user space, each held for as long as the link delays: for kernels that have no netem.
//!
//! ```text
//!   client ── [zorbPID] ══ read, due after the delay ══ held, in order ══ written when due ══▶ [zorb0] ── server
//!                       ◀═════════════ the same, the other way ═════════════
//! ```
//!
//! Both interfaces are TUN devices of one process, which runs beyond the link, holds its namespace, and ends with its
//! parent's end of its pipe; the kernel then takes both away. It is no thread of the measuring process, whose processor time
//! is measured.
//!
//! Packets keep the form in which the kernel passes them between namespaces (`virtio_net_hdr`): large ones are
//! not cut and checksums not computed for the carrier's sake, so that a link differs from one with netem only in who holds
//! the packets. It sleeps until a packet is there or due, and does not spin: on few processors it would take time from those
//! who are measured.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::BenchError;
use crate::pin;

/// The interfaces as they are made, in the carrier's namespace; its parent takes the near one to its own.
pub(super) const NEAR: &str = "zorb1";
pub(super) const FAR: &str = "zorb0";

/// What a carrier says when both are there.
const CARRYING: &str = "carrying";

/// The largest packet with its head, and room to spare.
const LARGEST: usize = 66_000;

/// Octets held each way, beyond which packets are dropped: what 10 Gbit/s bring in 200 ms, and more than the queues of
/// many sockets.
const HELD: usize = 256 << 20;

/// Packets that the kernel keeps until they are read: as many small ones as fill a fast socket's queue.
const UNREAD: u32 = 4096;

/// Packets read at once before it is looked whether others are due.
const BATCH: usize = 16;

/// Makes both interfaces, says so on standard output, and carries until standard input is closed. `delay` is from when a
/// packet is read until it is written.
///
/// # Errors
///
/// [`BenchError::Io`] if an interface cannot be made or is taken away.
pub fn carry(delay: Duration) -> Result<(), BenchError> {
    let device = |name: &str| interface(name).map_err(BenchError::io(format!("make the interface {name}")));
    let (near, far) = (device(NEAR)?, device(FAR)?);
    pin::keep_off_measured()?;
    be_punctual();
    writeln!(io::stdout(), "{CARRYING}").map_err(BenchError::io("say that packets are carried"))?;
    let mut there = Way { from: &near, to: &far, held: Held::new(delay) };
    let mut back = Way { from: &far, to: &near, held: Held::new(delay) };
    let mut packet = vec![0; LARGEST];
    loop {
        let due = [&there, &back].into_iter().filter_map(|way| way.held.next()).min();
        let Some(readable) = wait(&near, &far, due)? else { return Ok(()) };
        for (way, readable) in [&mut there, &mut back].into_iter().zip(readable) {
            if readable {
                way.read(&mut packet).map_err(BenchError::io("read a packet"))?;
            }
            way.write();
        }
    }
}

/// Wakes to the nanosecond as far as the machine can, and before any usual process, as the kernel's own delays do. Where that
/// is not allowed packets are carried too, less punctually.
fn be_punctual() {
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let this = std::process::id().to_string();
    let _ = Command::new("chrt").args(["--fifo", "--pid", "1", &this]).stdin(Stdio::null()).output();
}

/// A TUN device that is not up, and gone when it is dropped.
fn interface(name: &str) -> io::Result<SyncDevice> {
    let kept_whole =
        |builder: DeviceBuilder| builder.with(|builder| _ = builder.offload(true).tx_queue_len(UNREAD));
    let device = kept_whole(DeviceBuilder::new().name(name).enable(false)).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// Sleeps until a packet is due or can be read. Gives from which side one can; `None`: whoever started this has gone.
fn wait(near: &SyncDevice, far: &SyncDevice, due: Option<Instant>) -> Result<Option<[bool; 2]>, BenchError> {
    let input = io::stdin();
    let mut awaited =
        [input.as_fd(), near.as_fd(), far.as_fd()].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let left = due.map(|due| due.saturating_duration_since(Instant::now()));
    // A link's delay always fits.
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut awaited, left.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(Some([false; 2])),
        Err(errno) => return Err(BenchError::io("wait for packets")(errno.into())),
    }
    let [input, near, far] = awaited.map(|fd| !fd.revents().is_empty());
    // Nothing is ever said on the input.
    Ok((!input).then_some([near, far]))
}

/// One direction.
struct Way<'a> {
    from: &'a SyncDevice,
    to: &'a SyncDevice,
    held: Held,
}

impl Way<'_> {
    /// Takes what has come, up to so much that the rest can wait.
    fn read(&mut self, packet: &mut [u8]) -> io::Result<()> {
        for _ in 0..BATCH {
            match self.from.recv(packet) {
                Ok(octets) => self.held.hold(Instant::now(), &packet[..octets]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes what is due. What the other side does not take, because its interface is down or there is no memory, is lost as
    /// on any link.
    fn write(&mut self) {
        while let Some(packet) = self.held.due(Instant::now()) {
            let _ = self.to.send(&packet);
        }
    }
}

/// Packets on their way, in order. Time is an argument.
struct Held {
    delay: Duration,
    packets: VecDeque<(Instant, Box<[u8]>)>,
    octets: usize,
}

impl Held {
    fn new(delay: Duration) -> Held {
        Held { delay, packets: VecDeque::new(), octets: 0 }
    }

    /// Holds a packet that has come `now`, or drops it if there is no room.
    fn hold(&mut self, now: Instant, packet: &[u8]) {
        if self.octets + packet.len() <= HELD {
            self.octets += packet.len();
            self.packets.push_back((now + self.delay, packet.into()));
        }
    }

    /// The next packet, if it is due.
    fn due(&mut self, now: Instant) -> Option<Box<[u8]>> {
        let (_, packet) = self.packets.pop_front_if(|(due, _)| *due <= now)?;
        self.octets -= packet.len();
        Some(packet)
    }

    /// When the next packet is due.
    fn next(&self) -> Option<Instant> {
        self.packets.front().map(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(5);

    #[test]
    fn packets_leave_in_order_and_never_early() {
        let start = Instant::now();
        let after = |microseconds| start + Duration::from_micros(microseconds);
        let mut held = Held::new(DELAY);
        assert_eq!((held.due(after(9_000)), held.next()), (None, None));
        held.hold(after(0), b"one");
        held.hold(after(10), b"two");
        held.hold(after(10), b"three");
        assert_eq!(held.next(), Some(after(5_000)));
        assert_eq!(held.due(after(4_999)), None);
        assert_eq!(held.due(after(5_009)).as_deref(), Some(&b"one"[..]));
        assert_eq!((held.due(after(5_009)), held.next()), (None, Some(after(5_010))));
        assert_eq!(held.due(after(9_000)).as_deref(), Some(&b"two"[..]));
        assert_eq!(held.due(after(9_000)).as_deref(), Some(&b"three"[..]));
        assert_eq!((held.due(after(9_000)), held.octets), (None, 0));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_room_comes_back() {
        let start = Instant::now();
        let mut held = Held::new(DELAY);
        let packet = vec![0; HELD / 4];
        for _ in 0..6 {
            held.hold(start, &packet);
        }
        assert_eq!((held.packets.len(), held.octets), (4, HELD));
        assert!(held.due(start + DELAY).is_some());
        held.hold(start, b"fits");
        assert_eq!(held.packets.len(), 4);
    }
}
