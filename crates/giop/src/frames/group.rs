//! Frames to a group of objects: of one frame, one for each member. A group's key is the data of its component
//! ([`GroupComponent`]), as some ORBs have it in GIOP.

use alloc::vec::Vec;

use bytes::Bytes;

use super::{FRAME_HEAD, Head, LARGEST_FRAME, Parts, SIZE_AT};
use crate::{GroupComponent, Limits};

/// A whole frame, as a [`FrameReceiver`](super::FrameReceiver) gives it.
#[derive(Clone, Copy)]
pub struct GroupFrame<'f> {
    octets: &'f [u8],
    head: Head,
    key: &'f [u8],
    operation: &'f [u8],
    /// Behind the operation, without padding.
    arguments: &'f [u8],
}

impl<'f> GroupFrame<'f> {
    /// Finds its parts. `None`: it is no whole frame.
    #[must_use]
    pub fn read(octets: &'f [u8]) -> Option<Self> {
        let head = Head::read(octets).ok().filter(|head| head.size == octets.len())?;
        let parts = Parts::find(octets, head.order, &Limits::default()).ok()?;
        let arguments = octets.get(parts.operation.end.next_multiple_of(8)..).unwrap_or_default();
        Some(Self {
            octets,
            head,
            key: octets.get(parts.key)?,
            operation: octets.get(parts.operation)?,
            arguments,
        })
    }

    /// The group that it is for, if it is for one.
    #[must_use]
    pub fn group(&self) -> Option<GroupComponent> {
        GroupComponent::from_encapsulation(&Bytes::copy_from_slice(self.key)).ok()
    }

    /// The same frame for the object of that key; `None`: it would be larger than frames may be.
    #[must_use]
    pub fn redirected(&self, key: &[u8]) -> Option<Vec<u8>> {
        let most = FRAME_HEAD + key.len() + self.operation.len() + self.arguments.len() + 24;
        let mut frame = Vec::with_capacity(most);
        frame.extend_from_slice(self.octets.get(..FRAME_HEAD)?);
        for run in [key, self.operation] {
            frame.resize(frame.len().next_multiple_of(4), 0);
            frame.extend_from_slice(&self.head.in_order(u32::try_from(run.len()).ok()?));
            frame.extend_from_slice(run);
        }
        if !self.arguments.is_empty() {
            frame.resize(frame.len().next_multiple_of(8), 0);
            frame.extend_from_slice(self.arguments);
        }
        if frame.len() > LARGEST_FRAME {
            return None;
        }
        let size = self.head.in_order(u32::try_from(frame.len()).ok()?);
        frame.get_mut(SIZE_AT..SIZE_AT + 4)?.copy_from_slice(&size);
        Some(frame)
    }
}
