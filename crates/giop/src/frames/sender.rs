//! Numbers frames as they leave, and cuts them into datagrams.

use alloc::collections::BTreeMap;

use super::{FLOW_AT, FRAME_HEAD, FRAME_MAGIC, OFFSET_AT, SEQUENCE_AT, SIZE_AT};
use crate::operation_number;

/// Flows of one channel. 256: more objects than one party sends media to; of more all begin anew.
const MOST_FLOWS: usize = 256;

/// The flows of one client's channel: one for each object that is called by it.
#[derive(Debug)]
pub struct FlowNumbers {
    next_flow: u32,
    /// By a hash of the object key: the flow, and its next sequence number.
    flows: BTreeMap<u64, (u32, u32)>,
}

impl FlowNumbers {
    /// `seed`: what strangers cannot guess, so that they cannot send frames in this sender's name.
    #[must_use]
    pub const fn new(seed: u32) -> Self {
        Self { next_flow: seed, flows: BTreeMap::new() }
    }

    /// The size of the frame that `octets` begin with, which this machine has written; `None`: they are no frame, or too few.
    #[must_use]
    pub fn size(octets: &[u8]) -> Option<usize> {
        let size = octets.starts_with(&FRAME_MAGIC).then(|| octets.get(SIZE_AT..)?.first_chunk())??;
        usize::try_from(u32::from_ne_bytes(*size)).ok()
    }

    /// Gives a whole frame its flow and its number.
    pub fn number(&mut self, frame: &mut [u8]) {
        let length = frame.get(FRAME_HEAD..).and_then(|rest| rest.first_chunk());
        let length = length.map_or(0, |length| u32::from_ne_bytes(*length) as usize);
        let key = frame.get(FRAME_HEAD + 4..).and_then(|rest| rest.get(..length)).unwrap_or_default();
        let key = operation_number(key);
        if !self.flows.contains_key(&key) && self.flows.len() >= MOST_FLOWS {
            self.flows.clear();
        }
        let (flow, sequence) = self.flows.entry(key).or_insert_with(|| {
            self.next_flow = self.next_flow.wrapping_add(1);
            (self.next_flow, 0)
        });
        if let Some(at) = frame.get_mut(FLOW_AT..SEQUENCE_AT + 4) {
            at[..4].copy_from_slice(&flow.to_ne_bytes());
            at[4..].copy_from_slice(&sequence.to_ne_bytes());
        }
        *sequence = sequence.wrapping_add(1);
    }

    /// The head of the datagram that has a numbered frame's octets from `offset` behind its head on.
    #[must_use]
    pub fn head(frame: &[u8], offset: usize) -> [u8; FRAME_HEAD] {
        let mut head = frame.first_chunk().copied().unwrap_or([0; FRAME_HEAD]);
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        head[OFFSET_AT..OFFSET_AT + 4].copy_from_slice(&offset.to_ne_bytes());
        head
    }
}
