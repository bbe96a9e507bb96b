//! The sending half of a connection: messages leave whole, in the order in which they are given.
//!
//! A reply is sent by the thread that has it, in one gathered write. What the transport does not take within the
//! sender's patience is copied and waits; the keeper sends it on when there is room. A peer that does not read thus
//! costs memory up to a limit and then its connection, and no thread.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{iter, mem};

use bytes::{Buf, Bytes};
use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::copies::copied;

use crate::transport::Channel;
use crate::transport::gather::send_all;

/// Parts handed to one system call when what waited is sent on: few enough for the stack.
const PARTS: usize = 32;

/// Octets of a message that may wait for others to leave with. 4 KiB: copying it costs less than a tenth of the system call that is saved.
const SMALL: usize = 4 << 10;

/// Octets that wait so, of all messages. 64 KiB: what one system call moves at its best rate.
const HELD: usize = 64 << 10;

/// What waits to be sent on one connection.
#[derive(Default)]
pub(super) struct Writing {
    unsent: Mutex<Unsent>,
    /// Whether something waits, for those who only want to know that.
    blocked: AtomicBool,
    /// When the transport last took something, in the engine's milliseconds; meaningful while blocked.
    progress: AtomicU64,
}

#[derive(Default)]
struct Unsent {
    queue: VecDeque<Bytes>,
    octets: usize,
    ended: bool,
    /// Small messages are kept in `held`, to leave together.
    holds: bool,
    held: Vec<u8>,
    /// A message cannot be sent at once: others wait, small ones are held, or it has ended.
    detours: bool,
}

impl Unsent {
    fn note_detours(&mut self) {
        self.detours = self.ended || self.holds || !self.queue.is_empty();
    }
}

/// What became of a message.
#[derive(Debug)]
pub(super) enum Sent {
    /// The transport has it.
    Whole,
    /// Something waits now that did not before: the transport is to be watched.
    Blocked,
    /// It waits behind others.
    Queued,
    /// Nothing more can be sent.
    Failed(io::Error),
    /// More waits than is allowed.
    Overflow,
}

impl Writing {
    fn unsent(&self) -> MutexGuard<'_, Unsent> {
        self.unsent.lock()
    }

    /// Sends the parts of one message, `whole` octets together. `patience`: how long to wait for a transport that is full; `most`: octets that
    /// may wait; `now`: the engine's milliseconds.
    #[inline(always)]
    pub(super) fn send(
        &self,
        channel: &dyn Channel,
        parts: &mut [IoSlice<'_>],
        whole: usize,
        patience: impl Fn() -> Duration,
        most: usize,
        now: impl Fn() -> u64,
    ) -> Sent {
        let unsent = self.unsent();
        if unsent.detours {
            return self.send_by_detour(unsent, channel, parts, whole, patience, most, now);
        }
        match channel.send_now(parts) {
            Ok(sent) if sent == whole => Sent::Whole,
            Ok(sent) => self.send_rest(unsent, channel, parts, sent, patience, most, now),
            Err(error) => Sent::Failed(error),
        }
    }

    /// Where others wait, or small messages are held.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "the other half of `send`")]
    fn send_by_detour(
        &self,
        mut unsent: MutexGuard<'_, Unsent>,
        channel: &dyn Channel,
        parts: &mut [IoSlice<'_>],
        whole: usize,
        patience: impl Fn() -> Duration,
        most: usize,
        now: impl Fn() -> u64,
    ) -> Sent {
        if unsent.ended {
            return Sent::Failed(io::ErrorKind::NotConnected.into());
        }
        if !unsent.queue.is_empty() {
            return Self::queue(unsent, parts, most);
        }
        if whole <= SMALL && unsent.held.len() + whole <= HELD {
            parts.iter().for_each(|part| unsent.held.extend_from_slice(part));
            copied(whole);
            return Sent::Whole;
        }
        // What was held leaves with it.
        let held = mem::take(&mut unsent.held);
        let own = parts.iter().map(|part| IoSlice::new(part));
        let mut all: Vec<_> = iter::once(IoSlice::new(&held)).chain(own).collect();
        self.send_all_now(unsent, channel, &mut all, held.len() + whole, patience, most, now)
    }

    #[allow(clippy::too_many_arguments, reason = "as `send`")]
    fn send_all_now(
        &self,
        unsent: MutexGuard<'_, Unsent>,
        channel: &dyn Channel,
        parts: &mut [IoSlice<'_>],
        whole: usize,
        patience: impl Fn() -> Duration,
        most: usize,
        now: impl Fn() -> u64,
    ) -> Sent {
        match channel.send_now(parts) {
            Ok(sent) if sent == whole => Sent::Whole,
            Ok(sent) => self.send_rest(unsent, channel, parts, sent, patience, most, now),
            Err(error) => Sent::Failed(error),
        }
    }

    /// Small messages are held from now on, until they are [released](Self::release).
    pub(super) fn hold(&self) {
        let mut unsent = self.unsent();
        (unsent.holds, unsent.detours) = (true, true);
    }

    /// Sends what was held, in one system call; nothing is held any more.
    pub(super) fn release(
        &self,
        channel: &dyn Channel,
        patience: impl Fn() -> Duration,
        most: usize,
        now: impl Fn() -> u64,
    ) -> Sent {
        let mut unsent = self.unsent();
        unsent.holds = false;
        let mut held = mem::take(&mut unsent.held);
        unsent.note_detours();
        if held.is_empty() || unsent.ended {
            unsent.held = held;
            return Sent::Whole;
        }
        let whole = held.len();
        let sent = match unsent.queue.is_empty() {
            true => {
                self.send_all_now(unsent, channel, &mut [IoSlice::new(&held)], whole, patience, most, now)
            }
            false => Self::queue(unsent, &[IoSlice::new(&held)], most),
        };
        held.clear();
        let mut unsent = self.unsent();
        if unsent.held.capacity() == 0 {
            unsent.held = held;
        }
        sent
    }

    #[cold]
    #[allow(clippy::too_many_arguments, reason = "the cold half of `send`")]
    fn send_rest(
        &self,
        unsent: MutexGuard<'_, Unsent>,
        channel: &dyn Channel,
        mut parts: &mut [IoSlice<'_>],
        sent: usize,
        patience: impl Fn() -> Duration,
        most: usize,
        now: impl Fn() -> u64,
    ) -> Sent {
        IoSlice::advance_slices(&mut parts, sent);
        let patience = patience();
        if !patience.is_zero() {
            let slices = parts.iter().map(|part| &**part);
            match send_all(channel, slices, Instant::now() + patience) {
                Ok(()) => return Sent::Whole,
                Err(cut) if cut.error.kind() == io::ErrorKind::TimedOut => {
                    IoSlice::advance_slices(&mut parts, cut.sent);
                }
                Err(cut) => return Sent::Failed(cut.error),
            }
        }
        self.progress.store(now(), Ordering::Relaxed);
        self.blocked.store(true, Ordering::SeqCst);
        match Self::queue(unsent, parts, most) {
            Sent::Queued => Sent::Blocked,
            overflow => overflow,
        }
    }

    fn queue(mut unsent: MutexGuard<'_, Unsent>, parts: &[IoSlice<'_>], most: usize) -> Sent {
        let octets: usize = parts.iter().map(|part| part.len()).sum();
        if unsent.octets.saturating_add(octets) > most {
            return Sent::Overflow;
        }
        let mut rest = Vec::with_capacity(octets);
        parts.iter().for_each(|part| rest.extend_from_slice(part));
        copied(octets);
        unsent.octets += octets;
        unsent.queue.push_back(rest.into());
        unsent.detours = true;
        Sent::Queued
    }

    /// Sends on what waits. True: nothing is left.
    pub(super) fn flush(&self, channel: &dyn Channel, now: u64) -> io::Result<bool> {
        let mut unsent = self.unsent();
        while !unsent.queue.is_empty() {
            let mut parts = [IoSlice::new(&[]); PARTS];
            let count = unsent.queue.len().min(PARTS);
            for (part, octets) in parts.iter_mut().zip(&unsent.queue) {
                *part = IoSlice::new(octets);
            }
            let mut sent = channel.send_now(&parts[..count])?;
            if sent == 0 {
                return Ok(false);
            }
            self.progress.store(now, Ordering::Relaxed);
            unsent.octets = unsent.octets.saturating_sub(sent);
            while let Some(first) = unsent.queue.front_mut() {
                if sent < first.len() {
                    first.advance(sent);
                    break;
                }
                sent -= first.len();
                unsent.queue.pop_front();
            }
        }
        unsent.note_detours();
        self.blocked.store(false, Ordering::SeqCst);
        Ok(true)
    }

    /// Whether something waits.
    #[inline]
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// For how long the transport has taken nothing, in milliseconds; 0 while nothing waits.
    pub(super) fn stalled_for(&self, now: u64) -> u64 {
        if self.is_blocked() { now.saturating_sub(self.progress.load(Ordering::Relaxed)) } else { 0 }
    }

    /// Nothing more will be sent; what waits is dropped.
    pub(super) fn end(&self) {
        let mut unsent = self.unsent();
        *unsent = Unsent { ended: true, detours: true, ..Unsent::default() };
        self.blocked.store(false, Ordering::SeqCst);
    }
}
