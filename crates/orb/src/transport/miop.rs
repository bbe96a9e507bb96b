//! MIOP: oneways to groups of objects, by multicast (CORBA 3.4 part 2, §11).
//!
//! ```text
//! corbaloc:miop:1.0@1.0-domain-7/239.255.0.1:5000      a group's reference: which group, and where it is reached
//!
//! client ──► 239.255.0.1:5000 ──┬──► an ORB that listens at "miop:"   ──► each object that joined group 7 of "domain"
//!  one request, in one packet   └──► another ORB, zorb's or not       ──► each of its objects
//!  or many (zorb_giop::miop)
//! ```
//!
//! A server listens at `miop:`, beside an endpoint that references to single objects can name, and hears the groups that its objects join
//! ([`Orb::join_group`](crate::Orb::join_group)); `miop:group:port@interface` names a group and the network interface, by
//! name or number, that it is heard on, where the system's routes would choose another. A request names its group by the
//! reference's profile or, as some ORBs do, by the group's component in place of an object key; for each object it is made a
//! request of that object's own. It must be GIOP 1.2, as the specification has it.
//!
//! The [module of datagrams](super::datagram) says what is guaranteed, which is little, and what is bounded; what
//! incomplete messages may hold is in [`MiopLimits`]. Here a sender is a host, since some ORBs send each message from a port
//! of its own. A packet that the network doubles makes no second request.
//!
//! Packets leave as fast as the interface takes them, so a message of many packets may find its receivers' queues full.
//! Large messages want another transport, or few receivers with large queues.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_cdr::Version;
pub use zorb_giop::miop::MiopLimits;
use zorb_giop::miop::{Packet, Packets, Reassembled, Reassembly};
use zorb_giop::{GroupComponent, Ior, Oneway, TaggedProfile, UipmcProfile};
use zorb_ipc::{
    Epoll, Events, Interest, MulticastGroup, MulticastReceiver, MulticastSender, QueueSizes, Trigger,
};

use super::datagram::{Budget, Counts, DatagramLimits, Dropped, Outgoing, Senders, Wire};
use super::{Acceptor, Carries, Channel, Endpoint, Published, Transport, Ways};

const NAME: &str = "miop";

/// Octets of a packet: what a frame of Ethernet holds without the headers of IP and UDP, so that no packet travels in parts.
/// JacORB receives up to 1,500.
const PACKET: usize = 1472;

/// The largest UDP datagram by IPv4.
const LARGEST_PACKET: usize = 65_507;

/// The largest message sent. 64 KiB, 46 packets: what fits into a receiver's queue of the size that systems give by default.
const LARGEST_MESSAGE: usize = 64 << 10;

/// Octets of a message's id: 12 digits that are this channel's, 8 that count. Digits, since a receiver that keeps ids as text
/// (JacORB) would take others for one another.
const ID: usize = 20;

/// How long the packets of a message that has begun to leave may find no room: longer than any queue of an interface takes
/// to empty. Then the message is lost, as if the network had lost it. A blocking call waits by its own deadline.
const MOST_PATIENCE: Duration = Duration::from_millis(100);

/// Datagrams taken at one look at a group: then connections have their turn.
const BATCH: usize = 64;

/// Octets that may wait in a group's socket. 4 MiB, as for UDP. The system may allow less (`net.core.rmem_max`).
const QUEUE: usize = 4 << 20;

/// Groups' addresses that one acceptor listens to. 64: each is a descriptor.
const MOST_GROUPS: usize = 64;

/// Oneways to groups of objects, by multicast.
pub struct Miop {
    name: Arc<str>,
    interface: Option<String>,
    hops: u8,
    loopback: bool,
    packet: usize,
    largest: usize,
    queues: usize,
    limits: DatagramLimits,
    miop_limits: MiopLimits,
    counts: Arc<Counts>,
}

impl Miop {
    /// By the interface that the system's routes choose, not beyond the network that it is on.
    pub fn new() -> Miop {
        Miop {
            name: Arc::from(NAME),
            interface: None,
            hops: 1,
            loopback: true,
            packet: PACKET,
            largest: LARGEST_MESSAGE,
            queues: QUEUE,
            limits: DatagramLimits::default(),
            miop_limits: MiopLimits::default(),
            counts: Arc::default(),
        }
    }

    /// Sends and listens by that network interface, `eth0` or its number.
    #[must_use]
    pub fn interface(mut self, interface: impl Into<String>) -> Miop {
        self.interface = Some(interface.into());
        self
    }

    /// How many networks packets may pass: 0 stays on this host, 1 (the default) on the interface's network.
    #[must_use]
    pub fn hops(mut self, hops: u8) -> Miop {
        self.hops = hops;
        self
    }

    /// Whether members on this host, those of this process included, get what is sent. Default: they do.
    #[must_use]
    pub fn loopback(mut self, yes: bool) -> Miop {
        self.loopback = yes;
        self
    }

    /// Octets of the packets sent, from 64 to 65,507. Default: 1,472, a frame of Ethernet.
    #[must_use]
    pub fn packet_size(mut self, octets: usize) -> Miop {
        self.packet = octets.clamp(64, LARGEST_PACKET);
        self
    }

    /// The largest message sent, in octets with its header. Default: 64 KiB.
    #[must_use]
    pub fn largest_message(mut self, octets: usize) -> Miop {
        self.largest = octets;
        self
    }

    /// Octets of packets that may wait in a group's socket to be looked at (`SO_RCVBUF`). Default: 4 MiB. The system may allow
    /// less (`net.core.rmem_max`).
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Miop {
        self.queues = octets;
        self
    }

    /// What senders may make a server do and hold.
    #[must_use]
    pub fn limits(mut self, limits: DatagramLimits) -> Miop {
        self.limits = limits;
        self
    }

    /// What incomplete messages may hold.
    #[must_use]
    pub fn reassembly_limits(mut self, limits: MiopLimits) -> Miop {
        self.miop_limits = limits;
        self
    }

    /// What its acceptors have dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.counts.so_far()
    }

    /// The group of that text, by this transport's interface if the text names none.
    fn group(&self, address: &str) -> io::Result<MulticastGroup> {
        let malformed = || {
            let text =
                format!("{address:?} is not of the form group:port or group:port@interface, or no multicast");
            io::Error::new(io::ErrorKind::InvalidInput, text)
        };
        let group = address.replacen('@', "%", 1);
        let group: MulticastGroup = group.parse().map_err(|_| malformed())?;
        match (&self.interface, group.interface()) {
            (Some(interface), None) => {
                // The parser knows interfaces by name and number.
                let by = format!("{}%{interface}", group.address());
                let by: MulticastGroup = by.parse().map_err(|_| {
                    io::Error::new(io::ErrorKind::InvalidInput, format!("no network interface {interface:?}"))
                })?;
                Ok(by)
            }
            _ => Ok(group),
        }
    }

    fn interface_number(&self) -> io::Result<Option<NonZeroU32>> {
        // Any group will do.
        Ok(self.group("224.0.0.1:1")?.interface())
    }
}

impl Default for Miop {
    fn default() -> Self {
        Miop::new()
    }
}

impl Transport for Miop {
    fn name(&self) -> &'static str {
        NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let listening = MiopListening {
            endpoint: Endpoint { transport: self.name.clone(), address: address.into() },
            set: Epoll::new()?,
            interface: self.interface_number()?,
            queues: QueueSizes { receive: Some(self.queues), ..QueueSizes::default() },
            senders: Senders::new(self.name.clone(), self.limits, self.counts.clone()),
            counts: self.counts.clone(),
            began: Instant::now(),
            state: Mutex::new(State {
                receivers: Vec::new(),
                members: Vec::new(),
                reassembly: Reassembly::new(self.miop_limits),
                given_up: 0,
                budget: Budget::new(&self.limits),
                buffer: vec![0; 1 << 16].into(),
            }),
        };
        if !address.is_empty() {
            listening.hear(&mut listening.state.lock(), self.group(address)?)?;
        }
        Ok(Box::new(listening))
    }

    fn connect(&self, to: &Endpoint, _: Instant) -> io::Result<Arc<dyn Channel>> {
        let sender = MulticastSender::new(self.group(&to.address)?)?;
        sender.set_hops(self.hops)?;
        sender.set_loopback(self.loopback)?;
        let random = RandomState::new().build_hasher().finish();
        let id = format!("{:012x}", random & 0xffff_ffff_ffff);
        let wire = MiopWire { sender, id, count: AtomicU32::new(0), packet: self.packet };
        Ok(Arc::new(Outgoing::new(wire, to.clone(), self.largest)))
    }

    fn carries(&self) -> Carries {
        Carries::Oneways { largest: self.largest }
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let mut told: Vec<_> =
            self.interface.iter().map(|interface| ("interface", interface.clone())).collect();
        let mut number = |name, number: usize, usual: usize| {
            if number != usual {
                told.push((name, number.to_string()));
            }
        };
        number("hops", self.hops.into(), 1);
        number("packet_size", self.packet, PACKET);
        number("largest_message", self.largest, LARGEST_MESSAGE);
        number("queues", self.queues, QUEUE);
        if !self.loopback {
            told.push(("loopback", "no".to_owned()));
        }
        told.extend(self.limits.properties());
        let (limits, usual) = (&self.miop_limits, MiopLimits::default());
        for (name, limit, usual) in [
            ("max_message", limits.max_message, usual.max_message),
            ("max_packets", limits.max_packets as usize, usual.max_packets as usize),
            ("max_messages", limits.max_messages, usual.max_messages),
            ("max_messages_of_sender", limits.max_messages_of_sender, usual.max_messages_of_sender),
            ("max_octets", limits.max_octets, usual.max_octets),
            ("max_remembered", limits.max_remembered, usual.max_remembered),
        ] {
            if limit != usual {
                told.push((name, limit.to_string()));
            }
        }
        if limits.max_age != usual.max_age {
            told.push(("max_age", format!("{}ns", limits.max_age.as_nanos())));
        }
        told
    }

    fn ways(&self, profile: &TaggedProfile, _: &Ior) -> Option<Ways> {
        let profile = UipmcProfile::decode(profile).ok()?;
        // Without a group nobody would know whom it is for.
        profile.group()?;
        let address = address_of(&profile)?;
        Some(Ways {
            version: Version::V1_2,
            object_key: bytes::Bytes::new(),
            endpoints: vec![Endpoint { transport: self.name.clone(), address: address.to_string().into() }],
            components: profile.components,
        })
    }
}

/// The multicast address of a profile; names are not looked up.
fn address_of(profile: &UipmcProfile) -> Option<SocketAddr> {
    let ip: IpAddr = profile.address.parse().ok()?;
    (ip.is_multicast() && profile.port != 0).then_some(SocketAddr::new(ip, profile.port))
}

/// A message is some packets.
struct MiopWire {
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

struct MiopListening {
    endpoint: Endpoint,
    /// Readable when any of the groups is.
    set: Epoll,
    interface: Option<NonZeroU32>,
    queues: QueueSizes,
    senders: Arc<Senders>,
    counts: Arc<Counts>,
    /// From here times are counted.
    began: Instant,
    state: Mutex<State>,
}

struct State {
    /// One for each group's address, by its number in the set.
    receivers: Vec<(MulticastGroup, MulticastReceiver)>,
    members: Vec<Member>,
    reassembly: Reassembly<SocketAddr>,
    /// By the reassembly, as counted so far.
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
    /// Listens to a group's address, once.
    fn hear(&self, state: &mut State, group: MulticastGroup) -> io::Result<()> {
        if state.receivers.iter().any(|(heard, _)| heard.address() == group.address()) {
            return Ok(());
        }
        if state.receivers.len() >= MOST_GROUPS {
            let text = format!("{MOST_GROUPS} multicast addresses are listened to already (limit)");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
        }
        let receiver = MulticastReceiver::with_queue_sizes(group, self.queues)?;
        self.set.add(&receiver, state.receivers.len() as u64, Interest::RECEIVE, Trigger::Level)?;
        state.receivers.push((group, receiver));
        Ok(())
    }

    /// Takes what one group has got. `Some`: a sender is a new one.
    fn take(&self, state: &mut State, index: usize, now: Instant) -> io::Result<Option<Arc<dyn Channel>>> {
        let State { receivers, members, reassembly, budget, buffer, .. } = state;
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
                Counts::add(&self.counts.rate);
                continue;
            }
            let (Some(from), Ok(packet)) = (received.from(), Packet::decode(&buffer[..received.octets]))
            else {
                Counts::add(&self.counts.malformed);
                continue;
            };
            let from = from.address();
            let Reassembled::Message(message) =
                reassembly.add(&from, &packet, now.saturating_duration_since(self.began))
            else {
                continue;
            };
            if let Some(channel) = self.hand_on(members, from, &message, now)? {
                return Ok(Some(channel));
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
            Counts::add(&self.counts.malformed);
            return Ok(None);
        };
        let Some(group) = oneway.group() else {
            Counts::add(&self.counts.not_here);
            return Ok(None);
        };
        // Some ORBs send each message from a port of its own.
        let host = SocketAddr::new(from.ip(), 0);
        let mut is_here = false;
        let mut fresh = None;
        for member in members.iter().filter(|member| member.group.is_same_group(group)) {
            if let Some(request) = oneway.redirected(&member.key) {
                is_here = true;
                fresh = self.senders.deliver(host, request, now)?.or(fresh);
            }
        }
        if !is_here {
            Counts::add(&self.counts.not_here);
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
        let given_up = state.reassembly.given_up();
        self.counts.incomplete.fetch_add(given_up - state.given_up, Ordering::Relaxed);
        state.given_up = given_up;
        self.counts.report(&self.endpoint, now);
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
        let group = MulticastGroup::new(address, self.interface).ok()?;
        let mut state = self.state.lock();
        if let Err(error) = self.hear(&mut state, group) {
            return Some(Err(error));
        }
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
