//! Frames, for audio and video: oneways by UDP and by multicast with a timestamp and a sequence number. What is lost is told, what is late is dropped.
//!
//! ```text
//! sender    Pacer::pace ── at(timestamp, || call) ── number ── parts ──►  UDP
//! receiver  ──► parts ── order ── age (FrameRules) ──► servant: Call::frame  { sequence, timestamp, lost, late }
//! ```
//!
//! [`messaging()`] is given to [`OrbBuilder::messagings`](crate::OrbBuilder::messagings) of both sides, with a [`Udp`] among the
//! transports. Oneways to a reference that says so then go as frames; calls that wait for something take the reference's
//! other endpoints, and end in `INV_OBJREF` before anything is sent where there are none. To every other server oneways go
//! as GIOP, without numbers.
//!
//! To a group of objects frames go by multicast ([`Miop`](crate::transport::miop::Miop)), one sending for all members:
//! [`group()`] makes a reference that says so.
//!
//! **Flows.** The frames of one client to one object are a flow: numbers count from 0 and wrap after 2³². A reconnect begins a
//! new flow. Of a flow each frame is handed on once, in order, and nothing waits for what is missing: a frame that is
//! overtaken is dropped. Frames above [`Udp::frame_part`] travel in parts; if one is missing when a later frame is whole, or for
//! [`FrameRules::max_incomplete`], the frame is lost. The largest frame has 1 MiB (`IMP_LIMIT`).
//!
//! **Time.** A frame's timestamp is this process's monotonic clock, or what the application says ([`at`]). No clocks are
//! compared: the receiver measures how much later than the flow's fastest frame each one comes, and drops it above
//! [`FrameRules::max_lateness`]. Timestamps must therefore advance as time does.
//!
//! **What is told.** The servant has it for each frame ([`Call::frame`](crate::Call::frame)); [`Udp::dropped`] counts for all.
//!
//! [`Udp`]: crate::transport::udp::Udp
//! [`Udp::dropped`]: crate::transport::udp::Udp::dropped
//! [`Udp::frame_part`]: crate::transport::udp::Udp::frame_part

mod pacer;

pub use pacer::Pacer;
pub use zorb_giop::{Frame, FrameRules, Frames};

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use zorb_giop::{ComponentTag, MessagingComponent, UipmcProfile};

use crate::{Call, ObjectRef, SystemException};

/// The same group of objects under the same policies, oneways to which go as frames where the client's ORB has [`messaging()`]. A group's URL cannot
/// say that.
///
/// # Errors
/// `INV_OBJREF`: the reference names no group.
pub fn group(group: &ObjectRef) -> Result<ObjectRef, SystemException> {
    let refused = |why| SystemException::InvObjref(why);
    let mut ior = group.ior().clone();
    let mut is_one = false;
    for profile in &mut ior.profiles {
        let Ok(mut uipmc) = UipmcProfile::decode(profile) else { continue };
        let mut names = MessagingComponent::find(&uipmc.components);
        names.names.retain(|name| name != Frames::NAME);
        names.names.insert(0, Frames::NAME.to_owned());
        uipmc.components.retain(|component| component.tag != ComponentTag::ZORB_MESSAGING);
        let named = names.encode().and_then(|component| {
            uipmc.components.push(component);
            uipmc.encode()
        });
        *profile = named.map_err(|_| refused("the group's reference cannot be written"))?;
        is_one = true;
    }
    if !is_one {
        return Err(refused("the reference names no group of objects"));
    }
    Ok(ObjectRef::bound(group.orb().clone(), ior, group.policies().clone()))
}

thread_local! {
    static TIMESTAMP: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The messaging protocol, for [`OrbBuilder::messagings`](crate::OrbBuilder::messagings).
pub fn messaging() -> Frames {
    Frames::new(timestamp)
}

/// Runs `body`; the frames that this thread makes in it have this timestamp, a time since any origin of the sender's. Inside one
/// another the inner one holds.
pub fn at<R>(timestamp: Duration, body: impl FnOnce() -> R) -> R {
    /// So that it ends with a panic, too.
    struct Before(Option<u64>);
    impl Drop for Before {
        fn drop(&mut self) {
            TIMESTAMP.set(self.0);
        }
    }
    let nanos = u64::try_from(timestamp.as_nanos()).unwrap_or(u64::MAX);
    let _before = Before(TIMESTAMP.replace(Some(nanos)));
    body()
}

fn timestamp() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    TIMESTAMP.get().unwrap_or_else(|| {
        let began = BEGAN.get_or_init(Instant::now);
        u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    })
}

impl Call {
    /// The frame that made this call: its number, its time, and what is missing before it. `None`: it came by other messaging.
    pub fn frame(&self) -> Option<Frame> {
        // A context of other messaging that looks like it is only what that peer says.
        if self.came_by(Frames::NAME) { Frame::of(self.contexts()) } else { None }
    }
}
