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
//! [Frames](crate::frames) go to a group whose reference says so ([`frames::group`](crate::frames::group)), each of its datagrams without
//! the head of a packet: it has one of its own. Each member has the gaps and the lateness that its host has met.
//!
//! Packets leave as fast as the interface takes them, so a message of many packets may find its receivers' queues full.
//! Large messages want another transport, or few receivers with large queues.

mod listening;
mod wire;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

use zorb_cdr::Version;
pub use zorb_giop::miop::MiopLimits;
use zorb_giop::{FRAME_HEAD, FrameRules, Ior, TaggedProfile, UipmcProfile};
use zorb_ipc::{MulticastGroup, MulticastSender, QueueSizes};

use super::datagram::{Counts, DatagramLimits, Dropped, Outgoing};
use super::{Acceptor, Carries, Channel, Endpoint, Transport, Ways};
use listening::{Heard, MiopListening};
use wire::MiopWire;

const NAME: &str = "miop";

/// Octets of a packet: what a frame of Ethernet holds without the headers of IP and UDP, so that no packet travels in parts.
/// JacORB receives up to 1,500.
const PACKET: usize = 1472;

/// The largest UDP datagram by IPv4.
const LARGEST_PACKET: usize = 65_507;

/// Octets of a frame in a datagram, at least: smaller parts receivers do not take.
const SMALLEST_PART: usize = 256;

/// The largest message sent. 64 KiB, 46 packets: what fits into a receiver's queue of the size that systems give by default.
const LARGEST_MESSAGE: usize = 64 << 10;

/// Octets that may wait in a group's socket. 4 MiB, as for UDP. The system may allow less (`net.core.rmem_max`).
const QUEUE: usize = 4 << 20;

/// Oneways to groups of objects, by multicast.
#[derive(Clone)]
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
    frames: FrameRules,
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
            frames: FrameRules::default(),
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

    /// Which [frames](crate::frames) its acceptors drop.
    #[must_use]
    pub fn frames(mut self, rules: FrameRules) -> Miop {
        self.frames = rules;
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
        let group = if address.is_empty() { None } else { Some(self.group(address)?) };
        let endpoint = Endpoint { transport: self.name.clone(), address: address.into() };
        let queues = QueueSizes { receive: Some(self.queues), ..QueueSizes::default() };
        let heard = Heard { interface: self.interface_number()?, queues, counts: self.counts.clone() };
        let listening = MiopListening::new(endpoint, heard, self.limits, self.miop_limits, self.frames)?;
        if let Some(group) = group {
            listening.hear(group)?;
        }
        Ok(Box::new(listening))
    }

    fn connect(&self, to: &Endpoint, _: Instant) -> io::Result<Arc<dyn Channel>> {
        let sender = MulticastSender::new(self.group(&to.address)?)?;
        sender.set_hops(self.hops)?;
        sender.set_loopback(self.loopback)?;
        let part = self.packet.saturating_sub(FRAME_HEAD).max(SMALLEST_PART);
        let wire = MiopWire::new(sender, self.packet);
        Ok(Arc::new(Outgoing::new(wire, to.clone(), self.largest).frame_part(part)))
    }

    fn carries(&self) -> Carries {
        Carries::Oneways { largest: self.largest }
    }

    fn carries_frames(&self) -> bool {
        true
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
