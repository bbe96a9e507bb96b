//! Datagrams in, whole frames out: in order, once each, and not too late. It is told the time.
//!
//! **Late.** No clock is synchronised. For each flow the receiver keeps the shortest way that a frame has had, from its timestamp
//! to its arrival: a number without a meaning, as the clocks differ, but a frame whose number is larger by a second has
//! come a second later than the fastest. That base rises by 122 millionths of the time that passes, more than two quartz clocks
//! drift apart. If 32 frames in a row are late, the way has become longer or the sender's clock was set: the base
//! is taken anew from the next one.
//!
//! **Order.** Nothing waits for what is missing: a frame that comes behind a later one of its flow is dropped.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::{FRAME_HEAD, Head, LATE_AT, LOST_AT, Parts};
use crate::Limits;

/// Late frames in a row after which the base is taken anew: about a second of video.
const RESYNC: u32 = 32;

/// The base rises by the time that passes, shifted so far: 122 millionths.
const DRIFT: u32 = 13;

/// Octets of every part but a frame's last, at least: what a part costs beside its octets is then little.
const SMALLEST_PART: usize = 256;

/// Frames in parts at a time of one flow: neighbours that the network has mixed.
const MOST_INCOMPLETE: usize = 4;

/// Sequence numbers below the last one of which it is known whether they came.
const WINDOW: u32 = 64;

/// What a receiver drops, and what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRules {
    /// How much later than the fastest frame of its flow a frame may come. 200 ms: beyond that people notice in conversation.
    /// `None`: however late.
    pub max_lateness: Option<Duration>,
    /// How long the parts of a frame are kept for the others. 500 ms.
    pub max_incomplete: Duration,
    /// Flows at a time; of more the longest silent makes room. 256.
    pub flows: usize,
    /// Octets of parts of one flow. 2 MiB: two of the largest frames.
    pub octets_of_flow: usize,
    /// Octets of parts of all flows. 16 MiB.
    pub octets: usize,
}

impl Default for FrameRules {
    fn default() -> Self {
        Self {
            max_lateness: Some(Duration::from_millis(200)),
            max_incomplete: Duration::from_millis(500),
            flows: 256,
            octets_of_flow: 2 << 20,
            octets: 16 << 20,
        }
    }
}

/// Why nothing of a datagram is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// It is no part of a frame, or contradicts another part.
    Malformed(&'static str),
    /// The frame came later than the rules allow, or behind a later one.
    Late,
    /// It has come before.
    Duplicate,
    /// Too many parts wait for others.
    Full,
}

/// The receiving side of all flows. `S` tells senders apart.
#[derive(Debug)]
pub struct FrameReceiver<S> {
    rules: FrameRules,
    flows: BTreeMap<(S, u32), Flow>,
    octets: usize,
    incomplete: u64,
}

#[derive(Debug, Default)]
struct Flow {
    last: Option<u32>,
    /// Bit n: the frame n + 1 before the last one has come.
    seen: u64,
    lost: u32,
    late: u32,
    base: Option<Base>,
    late_in_a_row: u32,
    heard: Duration,
    parts: BTreeMap<u32, Incomplete>,
}

/// The shortest way, in nanoseconds from timestamp to arrival, and when that was said.
#[derive(Clone, Copy, Debug)]
struct Base {
    way: i128,
    at: Duration,
}

#[derive(Debug)]
struct Incomplete {
    head: Head,
    since: Duration,
    octets: usize,
    /// By offset.
    parts: BTreeMap<usize, Vec<u8>>,
}

impl<S: Ord + Copy> FrameReceiver<S> {
    /// Without flows.
    #[must_use]
    pub const fn new(rules: FrameRules) -> Self {
        Self { rules, flows: BTreeMap::new(), octets: 0, incomplete: 0 }
    }

    /// Frames given up so far because a part of them did not come.
    #[must_use]
    pub const fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Octets of parts that wait for others.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.octets
    }

    /// Takes a datagram at `now`, a time since any origin. `Some`: a whole frame, as [`Frames`](super::Frames) reads it.
    ///
    /// # Errors
    /// Why nothing of it is kept.
    pub fn take(&mut self, from: S, datagram: &[u8], now: Duration) -> Result<Option<Vec<u8>>, Refused> {
        let head = Head::read(datagram).map_err(|(what, _)| Refused::Malformed(what))?;
        let (offset, part) = (head.offset as usize, &datagram[FRAME_HEAD..]);
        let whole = head.size - FRAME_HEAD;
        if head.late != 0 || offset > whole || part.len() > whole - offset {
            return Err(Refused::Malformed("offset"));
        }
        if part.len() < SMALLEST_PART && part.len() < whole - offset {
            return Err(Refused::Malformed("part"));
        }
        if part.len() == whole {
            // Looked at before it makes a flow.
            Parts::find(datagram, head.order, &Limits::default())
                .map_err(|(what, _)| Refused::Malformed(what))?;
        } else if part.is_empty() {
            return Err(Refused::Malformed("part"));
        }
        let id = (from, head.flow);
        if !self.flows.contains_key(&id) && self.flows.len() >= self.rules.flows {
            let silent = self.flows.iter().min_by_key(|(_, flow)| flow.heard).map(|(id, _)| *id);
            let silent = silent.and_then(|id| self.flows.remove(&id));
            silent.into_iter().for_each(|mut flow| self.forget(&mut flow, |_| true));
        }
        let mut flow = self.flows.remove(&id).unwrap_or_default();
        flow.heard = now;
        let taken = self.take_of(&mut flow, &head, part, now);
        self.flows.insert(id, flow);
        taken
    }

    fn take_of(
        &mut self,
        flow: &mut Flow,
        head: &Head,
        part: &[u8],
        now: Duration,
    ) -> Result<Option<Vec<u8>>, Refused> {
        flow.is_new(head.sequence)?;
        let max = self.rules.max_incomplete;
        self.forget(flow, |incomplete| now.saturating_sub(incomplete.since) > max);
        let mut frame = Vec::new();
        if part.len() < head.size - FRAME_HEAD {
            match self.join(flow, head, part, now)? {
                None => return Ok(None),
                Some(whole) => {
                    let mut first = [0; FRAME_HEAD];
                    head.write(&mut first);
                    frame.extend_from_slice(&first);
                    whole.iter().for_each(|part| frame.extend_from_slice(part));
                    Parts::find(&frame, head.order, &Limits::default())
                        .map_err(|(what, _)| Refused::Malformed(what))?;
                }
            }
        } else {
            let mut first = [0; FRAME_HEAD];
            head.write(&mut first);
            frame.reserve_exact(head.size);
            frame.extend_from_slice(&first);
            frame.extend_from_slice(part);
        }
        let in_time = flow.is_in_time(head, now, self.rules.max_lateness);
        let before = flow.advance(head.sequence);
        flow.lost = flow.lost.saturating_add(before);
        // Parts of earlier frames have become useless.
        self.forget(flow, |incomplete| !is_later(incomplete.head.sequence, head.sequence));
        if !in_time {
            flow.late = flow.late.saturating_add(1);
            return Err(Refused::Late);
        }
        let told = [(LOST_AT, core::mem::take(&mut flow.lost)), (LATE_AT, core::mem::take(&mut flow.late))];
        for (at, number) in told {
            frame[at..at + 4].copy_from_slice(&head.in_order(number));
        }
        Ok(Some(frame))
    }

    /// Keeps a part; the parts in order when that was the last one missing.
    fn join(
        &mut self,
        flow: &mut Flow,
        head: &Head,
        part: &[u8],
        now: Duration,
    ) -> Result<Option<Vec<Vec<u8>>>, Refused> {
        let kept: usize = flow.parts.values().map(|incomplete| incomplete.octets).sum();
        if self.octets + part.len() > self.rules.octets {
            self.sweep(now);
        }
        if self.octets + part.len() > self.rules.octets || kept + part.len() > self.rules.octets_of_flow {
            return Err(Refused::Full);
        }
        if !flow.parts.contains_key(&head.sequence) && flow.parts.len() >= MOST_INCOMPLETE {
            let oldest = flow.parts.values().map(|incomplete| incomplete.since).min();
            self.forget(flow, |incomplete| Some(incomplete.since) == oldest);
        }
        let incomplete = flow.parts.entry(head.sequence).or_insert_with(|| Incomplete {
            head: *head,
            since: now,
            octets: 0,
            parts: BTreeMap::new(),
        });
        let offset = head.offset as usize;
        let same = Head { offset: incomplete.head.offset, ..*head } == incomplete.head;
        let before = incomplete.parts.range(..=offset).next_back();
        let after = incomplete.parts.range(offset..).next();
        if same && before.is_some_and(|(at, known)| *at == offset && known[..] == *part) {
            return Err(Refused::Duplicate);
        }
        let overlaps = before.is_some_and(|(at, known)| at + known.len() > offset)
            || after.is_some_and(|(at, _)| offset + part.len() > *at);
        if !same || overlaps {
            let sequence = head.sequence;
            self.forget(flow, |incomplete| incomplete.head.sequence == sequence);
            return Err(Refused::Malformed("parts that contradict each other"));
        }
        incomplete.parts.insert(offset, part.to_vec());
        incomplete.octets += part.len();
        self.octets += part.len();
        if incomplete.octets < head.size - FRAME_HEAD {
            return Ok(None);
        }
        let whole = flow.parts.remove(&head.sequence);
        self.octets -= whole.as_ref().map_or(0, |whole| whole.octets);
        Ok(whole.map(|whole| whole.parts.into_values().collect()))
    }

    /// Gives up what is too old in every flow.
    fn sweep(&mut self, now: Duration) {
        let max = self.rules.max_incomplete;
        let mut flows = core::mem::take(&mut self.flows);
        for flow in flows.values_mut() {
            self.forget(flow, |incomplete| now.saturating_sub(incomplete.since) > max);
        }
        self.flows = flows;
    }

    fn forget(&mut self, flow: &mut Flow, which: impl Fn(&Incomplete) -> bool) {
        flow.parts.retain(|_, incomplete| {
            let forgotten = which(incomplete);
            if forgotten {
                self.octets -= incomplete.octets;
                self.incomplete += 1;
            }
            !forgotten
        });
    }
}

/// Whether `one` comes behind `other`, where numbers wrap: less than half of them lie between.
fn is_later(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

impl Flow {
    /// Whether the frame has come before, or a later one has.
    fn is_new(&mut self, sequence: u32) -> Result<(), Refused> {
        let Some(last) = self.last else { return Ok(()) };
        if is_later(sequence, last) {
            return Ok(());
        }
        let behind = last.wrapping_sub(sequence);
        if behind == 0 || behind > WINDOW || self.seen & 1 << (behind - 1) != 0 {
            return Err(Refused::Duplicate);
        }
        self.seen |= 1 << (behind - 1);
        self.late = self.late.saturating_add(1);
        Err(Refused::Late)
    }

    /// Goes on to a later frame; how many are missing before it.
    fn advance(&mut self, sequence: u32) -> u32 {
        let Some(last) = self.last.replace(sequence) else { return 0 };
        let step = sequence.wrapping_sub(last);
        // The last one becomes the bit of that step.
        self.seen = self.seen.checked_shl(step).unwrap_or(0);
        if step <= WINDOW {
            self.seen |= 1 << (step - 1);
        }
        step - 1
    }

    fn is_in_time(&mut self, head: &Head, now: Duration, max: Option<Duration>) -> bool {
        let nanos = |time: Duration| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX);
        let way = nanos(now).saturating_sub(i128::from(head.timestamp));
        let Some(base) = self.base else {
            self.base = Some(Base { way, at: now });
            return true;
        };
        let risen = base.way.saturating_add(nanos(now.saturating_sub(base.at)) >> DRIFT);
        let lateness = way.saturating_sub(risen);
        let late = lateness > 0 && max.is_some_and(|max| lateness > nanos(max));
        self.late_in_a_row = if late { self.late_in_a_row + 1 } else { 0 };
        if lateness <= 0 || self.late_in_a_row > RESYNC {
            self.late_in_a_row = 0;
            self.base = Some(Base { way, at: now });
            return true;
        }
        !late
    }
}

impl Head {
    pub(super) fn in_order(&self, number: u32) -> [u8; 4] {
        match self.order {
            zorb_cdr::ByteOrder::Big => number.to_be_bytes(),
            zorb_cdr::ByteOrder::Little => number.to_le_bytes(),
        }
    }

    /// As a whole frame's, nothing lost and nothing late.
    fn write(&self, to: &mut [u8; FRAME_HEAD]) {
        let (flags, timestamp) = match self.order {
            zorb_cdr::ByteOrder::Big => (0, self.timestamp.to_be_bytes()),
            zorb_cdr::ByteOrder::Little => (super::LITTLE_ENDIAN, self.timestamp.to_le_bytes()),
        };
        to[..4].copy_from_slice(&[super::FRAME_MAGIC[0], super::FRAME_MAGIC[1], super::VERSION, flags]);
        // `Head::read` has seen that it is at most LARGEST_FRAME.
        to[super::SIZE_AT..super::FLOW_AT].copy_from_slice(&self.in_order(self.size as u32));
        to[super::FLOW_AT..super::SEQUENCE_AT].copy_from_slice(&self.in_order(self.flow));
        to[super::SEQUENCE_AT..super::TIMESTAMP_AT].copy_from_slice(&self.in_order(self.sequence));
        to[super::TIMESTAMP_AT..super::OFFSET_AT].copy_from_slice(&timestamp);
    }
}
