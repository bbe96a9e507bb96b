//! A server's ear for groups: packets to messages, and of a message to a group one for each object that joined.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_giop::miop::{MiopLimits, Packet, Reassembled, Reassembly};
use zorb_giop::{
    FRAME_MAGIC, FrameReceiver, FrameRules, GroupComponent, GroupFrame, Oneway, TaggedProfile, UipmcProfile,
};
use zorb_ipc::{Epoll, Events, Interest, MulticastGroup, MulticastReceiver, QueueSizes, Trigger};

use super::super::datagram::{Budget, Counts, DatagramLimits, Senders};
use super::super::{Acceptor, Channel, Endpoint, Published};
use super::address_of;

/// Datagrams taken at one look at a group: then connections have their turn.
const BATCH: usize = 64;

/// Groups' addresses that one acceptor listens to. 64: each is a descriptor.
const MOST_GROUPS: usize = 64;

pub(super) struct MiopListening {
    endpoint: Endpoint,
    /// Readable when any of the groups is.
    set: Epoll,
    heard: Heard,
    senders: Arc<Senders>,
    /// From here times are counted.
    began: Instant,
    state: Mutex<State>,
}

/// How groups are heard.
pub(super) struct Heard {
    pub(super) interface: Option<NonZeroU32>,
    pub(super) queues: QueueSizes,
    pub(super) counts: Arc<Counts>,
}

struct State {
    /// One for each group's address, by its number in the set.
    receivers: Vec<(MulticastGroup, MulticastReceiver)>,
    members: Vec<Member>,
    reassembly: Reassembly<SocketAddr>,
    frames: FrameReceiver<SocketAddr>,
    /// By both of them, as counted so far.
    given_up: u64,
    budget: Budget,
    /// A datagram of any size.
    buffer: Box<[u8]>,
}

/// An object in a group.
struct Member {
    group: GroupComponent,
    key: Box<[u8]>,
}

impl MiopListening {
    /// Hears no group yet.
    pub(super) fn new(
        endpoint: Endpoint,
        heard: Heard,
        limits: DatagramLimits,
        miop_limits: MiopLimits,
        frames: FrameRules,
    ) -> io::Result<MiopListening> {
        Ok(MiopListening {
            set: Epoll::new()?,
            senders: Senders::new(endpoint.transport.clone(), limits, heard.counts.clone()),
            endpoint,
            heard,
            began: Instant::now(),
            state: Mutex::new(State {
                receivers: Vec::new(),
                members: Vec::new(),
                reassembly: Reassembly::new(miop_limits),
                frames: FrameReceiver::new(frames),
                given_up: 0,
                budget: Budget::new(&limits),
                buffer: vec![0; 1 << 16].into(),
            }),
        })
    }

    /// Listens to a group's address, once.
    pub(super) fn hear(&self, group: MulticastGroup) -> io::Result<()> {
        let state = &mut *self.state.lock();
        if state.receivers.iter().any(|(heard, _)| heard.address() == group.address()) {
            return Ok(());
        }
        if state.receivers.len() >= MOST_GROUPS {
            let text = format!("{MOST_GROUPS} multicast addresses are listened to already (limit)");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
        }
        let receiver = MulticastReceiver::with_queue_sizes(group, self.heard.queues)?;
        self.set.add(&receiver, state.receivers.len() as u64, Interest::RECEIVE, Trigger::Level)?;
        state.receivers.push((group, receiver));
        Ok(())
    }

    /// Takes what one group has got. `Some`: a sender is a new one.
    fn take(&self, state: &mut State, index: usize, now: Instant) -> io::Result<Option<Arc<dyn Channel>>> {
        let State { receivers, members, reassembly, frames, budget, buffer, .. } = state;
        let Some((group, receiver)) = receivers.get(index) else { return Ok(None) };
        for _ in 0..BATCH {
            let received = match receiver.receive_from_now(buffer) {
                Ok(received) => received,
                Err(error) if error.is_would_block() => break,
                Err(error) => {
                    tracing::debug!(%group, %error, "a datagram could not be received");
                    continue;
                }
            };
            if !budget.take(now) {
                Counts::add(&self.heard.counts.rate);
                continue;
            }
            let (Some(from), datagram) = (received.from(), &buffer[..received.octets]) else { continue };
            let (from, time) = (from.address(), now.saturating_duration_since(self.began));
            let fresh = if datagram.starts_with(&FRAME_MAGIC) {
                match frames.take(from, datagram, time) {
                    Ok(Some(frame)) => self.hand_on_frame(members, from, &frame, now)?,
                    Ok(None) => None,
                    Err(refused) => {
                        self.heard.counts.refused(refused);
                        None
                    }
                }
            } else if let Ok(packet) = Packet::decode(datagram) {
                match reassembly.add(&from, &packet, time) {
                    Reassembled::Message(message) => self.hand_on(members, from, &message, now)?,
                    _ => None,
                }
            } else {
                Counts::add(&self.heard.counts.malformed);
                None
            };
            if fresh.is_some() {
                return Ok(fresh);
            }
        }
        Ok(None)
    }

    /// Makes of a request to a group one for each of its objects here.
    fn hand_on(
        &self,
        members: &[Member],
        from: SocketAddr,
        message: &[u8],
        now: Instant,
    ) -> io::Result<Option<Arc<dyn Channel>>> {
        let Ok(oneway) = Oneway::read(message) else {
            Counts::add(&self.heard.counts.malformed);
            return Ok(None);
        };
        let Some(group) = oneway.group() else {
            Counts::add(&self.heard.counts.not_here);
            return Ok(None);
        };
        // Some ORBs send each message from a port of its own.
        let host = SocketAddr::new(from.ip(), 0);
        self.to_each(members, group, host, now, |key| oneway.redirected(key))
    }

    /// The same of a frame. Its sender is the socket that it came from: what that speaks does not change.
    fn hand_on_frame(
        &self,
        members: &[Member],
        from: SocketAddr,
        frame: &[u8],
        now: Instant,
    ) -> io::Result<Option<Arc<dyn Channel>>> {
        let Some((frame, group)) = GroupFrame::read(frame).and_then(|frame| Some((frame, frame.group()?)))
        else {
            Counts::add(&self.heard.counts.not_here);
            return Ok(None);
        };
        self.to_each(members, &group, from, now, |key| frame.redirected(key))
    }

    fn to_each(
        &self,
        members: &[Member],
        group: &GroupComponent,
        from: SocketAddr,
        now: Instant,
        redirected: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<Option<Arc<dyn Channel>>> {
        let mut is_here = false;
        let mut fresh = None;
        for member in members.iter().filter(|member| member.group.is_same_group(group)) {
            if let Some(request) = redirected(&member.key) {
                is_here = true;
                fresh = self.senders.deliver(from, request, now)?.or(fresh);
            }
        }
        if !is_here {
            Counts::add(&self.heard.counts.not_here);
        }
        Ok(fresh)
    }
}

impl Acceptor for MiopListening {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        let mut state = self.state.lock();
        let now = Instant::now();
        let mut events = Events::with_capacity(MOST_GROUPS);
        self.set.wait(&mut events, Some(Duration::ZERO))?;
        let mut fresh = None;
        for event in events.iter() {
            fresh = self.take(&mut state, usize::try_from(event.token).unwrap_or(usize::MAX), now)?;
            // What is left is told of again.
            if fresh.is_some() {
                break;
            }
        }
        let given_up = state.reassembly.given_up() + state.frames.incomplete();
        self.heard.counts.incomplete.fetch_add(given_up - state.given_up, Ordering::Relaxed);
        state.given_up = given_up;
        self.heard.counts.report(&self.endpoint, now);
        Ok(fresh)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }

    fn local(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// References to single objects say nothing of groups.
    fn published(&self, _: Option<&str>) -> Published {
        Published::default()
    }

    fn join(&self, group: &TaggedProfile, object_key: &[u8]) -> Option<io::Result<()>> {
        let profile = UipmcProfile::decode(group).ok()?;
        let (component, address) = (profile.group()?, address_of(&profile)?);
        let group = MulticastGroup::new(address, self.heard.interface).ok()?;
        if let Err(error) = self.hear(group) {
            return Some(Err(error));
        }
        let mut state = self.state.lock();
        let is_member =
            |member: &Member| member.group.is_same_group(&component) && *member.key == *object_key;
        if !state.members.iter().any(is_member) {
            state.members.push(Member { group: component, key: object_key.into() });
        }
        Some(Ok(()))
    }

    fn leave(&self, group: &TaggedProfile, object_key: &[u8]) -> bool {
        let Some(group) = UipmcProfile::decode(group).ok().and_then(|profile| profile.group()) else {
            return false;
        };
        let mut state = self.state.lock();
        let before = state.members.len();
        state.members.retain(|member| !(member.group.is_same_group(&group) && *member.key == *object_key));
        state.members.len() < before
    }
}
