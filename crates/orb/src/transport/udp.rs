//! UDP, for oneways: one GIOP message a datagram, or [frames](crate::frames).
//!
//! ```text
//! datagram   GIOP 1.2 │ Request │ response flags 0 │ …      nothing before it, nothing behind it
//! ```
//!
//! Addresses to listen at are TCP's: `host:port`, `host`, `[v6]:port`; an empty host is every interface. References carry
//! the endpoint as a component of zorb's own in the IIOP profile ([`UdpEndpoint`]), so that other ORBs pass it by. A
//! client sends by UDP the oneways of a reference that names such an endpoint, if its ORB was given this transport;
//! calls that wait for something take the reference's other endpoints.
//!
//! The [module of datagrams](super::datagram) says what is guaranteed, which is little, and what is bounded. A message
//! above [`Udp::largest_message`] is refused before anything is sent (`IMP_LIMIT`). Where nobody takes the datagrams
//! and the other host says so, the next oneway learns it, and goes to the next endpoint of the reference or ends in
//! `TRANSIENT`.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_giop::{
    FRAME_HEAD, FRAME_MAGIC, FrameReceiver, FrameRules, IiopProfile, Ior, Oneway, Refused, TaggedProfile,
    UdpEndpoint,
};
use zorb_ipc::{ConnectedUdpSocket, QueueSizes, Resolver, ResolverOptions, SendQueue, UdpSocket};

use super::datagram::{Budget, Counts, DatagramLimits, Dropped, Outgoing, Senders, Wire};
use super::tcp::{malformed, split};
use super::tuning::Tuning;
use super::{Acceptor, Carries, Channel, Endpoint, Published, Transport, Ways};

const NAME: &str = "udp";

/// How long the name of a host to listen on may take to be looked up: as long as a client's connect.
const LISTEN_LOOKUP: Duration = Duration::from_secs(10);

/// The most that a datagram holds by IPv4: 65,535 octets without the headers of IP and UDP.
const LARGEST_DATAGRAM: usize = 65_507;

/// What a part of a frame has, with its head: the payload of an Ethernet frame by IPv6, rounded down.
const FRAME_PART: usize = 1_440;

/// Datagrams taken at one look at the socket: then connections have their turn.
const BATCH: usize = 64;

/// Octets that may wait in the socket, before the server has looked at them. 4 MiB: a thirtieth of a second at a gigabit a
/// second. The system may allow less (`net.core.rmem_max`).
const QUEUE: usize = 4 << 20;

/// Oneways as datagrams, over IPv4 and IPv6.
#[derive(Clone)]
pub struct Udp {
    resolver: Arc<Resolver>,
    name: &'static str,
    /// The same, as endpoints have it.
    transport: Arc<str>,
    largest: usize,
    limits: DatagramLimits,
    frames: FrameRules,
    part: usize,
    queues: Option<usize>,
    tuning: Tuning,
    counts: Arc<Counts>,
}

impl Udp {
    /// Messages up to what a datagram holds.
    pub fn new() -> Udp {
        Udp {
            resolver: Arc::new(Resolver::new(ResolverOptions::default())),
            name: NAME,
            transport: Arc::from(NAME),
            largest: LARGEST_DATAGRAM,
            limits: DatagramLimits::default(),
            frames: FrameRules::default(),
            part: FRAME_PART,
            queues: None,
            tuning: Tuning::default(),
            counts: Arc::default(),
        }
    }

    /// A second transport of this kind, under a name of its own: as [`Tcp::named`](super::tcp::Tcp::named).
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Udp {
        self.name = name;
        self.transport = Arc::from(name);
        self
    }

    /// The largest message sent, in octets with its header; at most 65,507, the default. Above what a network's frame
    /// holds (1,472 octets by Ethernet) the datagram travels in parts, and the loss of one is the loss of all.
    #[must_use]
    pub fn largest_message(mut self, octets: usize) -> Udp {
        self.largest = octets.min(LARGEST_DATAGRAM);
        self
    }

    /// What senders may make a server do and hold.
    #[must_use]
    pub fn limits(mut self, limits: DatagramLimits) -> Udp {
        self.limits = limits;
        self
    }

    /// Which [frames](crate::frames) its acceptors drop.
    #[must_use]
    pub fn frames(mut self, rules: FrameRules) -> Udp {
        self.frames = rules;
        self
    }

    /// Octets of the datagrams that larger frames are cut into; from 512 to 65,507. 1,440, so that an Ethernet frame holds one.
    #[must_use]
    pub fn frame_part(mut self, octets: usize) -> Udp {
        self.part = octets.clamp(512, LARGEST_DATAGRAM);
        self
    }

    /// Octets of datagrams that may wait in a socket, to be sent or to be looked at (`SO_SNDBUF`, `SO_RCVBUF`). Default: 4 MiB of those
    /// that have arrived, the system's choice of the others. The system may allow less (`net.core.rmem_max`, `wmem_max`).
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Udp {
        self.queues = Some(octets);
        self
    }

    /// How long a receive that finds nothing asks the network card again and again (`SO_BUSY_POLL`), as of
    /// [TCP](super::tcp::Tcp::busy_poll). What is refused ends the listening, and names option and value.
    #[must_use]
    pub fn busy_poll(mut self, time: Duration) -> Udp {
        self.tuning.busy_poll = Some(time);
        self
    }

    /// Which datagrams leave this machine first (`SO_PRIORITY`): 0, the default, to 6, the most urgent; above 6 it takes a
    /// privilege. What is refused ends the connect, and names option and value.
    #[must_use]
    pub fn priority(mut self, priority: u32) -> Udp {
        self.tuning.priority = Some(priority);
        self
    }

    /// What its acceptors have dropped so far.
    pub fn dropped(&self) -> Dropped {
        self.counts.so_far()
    }

    fn endpoint(&self, host: &str, port: u16) -> Endpoint {
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        Endpoint { transport: self.transport.clone(), address: address.into() }
    }
}

impl Default for Udp {
    fn default() -> Self {
        Udp::new()
    }
}

impl Transport for Udp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_by_name_alone(&self) -> bool {
        self.name != NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let refused = || malformed(address, "host, host:port or [v6]:port");
        let (host, port) = split(address).unwrap_or((address, "0"));
        let port: u16 = port.parse().map_err(|_| refused())?;
        let hosts: Vec<IpAddr> = match host {
            // IPv4 peers are served by the same socket; a machine without IPv6 refuses it, and then IPv4 remains.
            "" | "*" => vec![Ipv6Addr::UNSPECIFIED.into(), IpAddr::from([0, 0, 0, 0])],
            host => match host.parse() {
                Ok(ip) => vec![ip],
                Err(_) if host.contains(':') => return Err(refused()),
                Err(_) => {
                    let addresses = self.resolver.resolve_by(host, 0, Instant::now() + LISTEN_LOOKUP)?;
                    addresses.iter().map(SocketAddr::ip).collect()
                }
            },
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for host in hosts {
            let receive = Some(self.queues.unwrap_or(QUEUE));
            let sizes = QueueSizes { receive, ..QueueSizes::default() };
            match UdpSocket::bind_with(SocketAddr::new(host, port), sizes) {
                Ok(socket) => {
                    self.tuning.receiver(&socket)?;
                    let Some(local) = socket.local().copied() else { continue };
                    let state = State {
                        budget: Budget::new(&self.limits),
                        buffer: vec![0; 1 << 16].into(),
                        frames: FrameReceiver::new(self.frames),
                        given_up: 0,
                        began: Instant::now(),
                    };
                    return Ok(Box::new(UdpListening {
                        socket,
                        local,
                        endpoint: self.endpoint(&local.ip().to_string(), local.port()),
                        senders: Senders::new(self.transport.clone(), self.limits, self.counts.clone()),
                        counts: self.counts.clone(),
                        state: Mutex::new(state),
                    }));
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let (host, port) = split(&to.address)
            .and_then(|(host, port)| Some((host, port.parse().ok()?)))
            .ok_or_else(|| malformed(&to.address, "host:port"))?;
        let address = match host.parse::<IpAddr>() {
            Ok(ip) => SocketAddr::new(ip, port),
            // Nothing tells which of several is right.
            Err(_) => match self.resolver.resolve_by(host, port, deadline)?.first() {
                Some(address) => *address,
                None => return Err(io::ErrorKind::AddrNotAvailable.into()),
            },
        };
        let socket = ConnectedUdpSocket::connect(address)?;
        if let Some(octets) = self.queues {
            socket.set(SendQueue(octets))?;
        }
        self.tuning.sender(&socket)?;
        let part = self.part.min(self.largest).max(2 * FRAME_HEAD) - FRAME_HEAD;
        Ok(Arc::new(Outgoing::new(UdpWire(socket), to.clone(), self.largest).frame_part(part)))
    }

    fn carries(&self) -> Carries {
        Carries::Oneways { largest: self.largest }
    }

    fn carries_frames(&self) -> bool {
        true
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let largest =
            (self.largest != LARGEST_DATAGRAM).then(|| ("largest_message", self.largest.to_string()));
        let queues = self.queues.map(|octets| ("queues", octets.to_string()));
        let told = largest.into_iter().chain(queues).chain(self.tuning.properties());
        told.chain(self.limits.properties()).collect()
    }

    fn ways(&self, profile: &TaggedProfile, _: &Ior) -> Option<Ways> {
        let profile = IiopProfile::decode(profile).ok()?;
        let udp = profile.components.iter().filter_map(|component| UdpEndpoint::decode(component).ok());
        let endpoints = udp.map(|endpoint| self.endpoint(&endpoint.host, endpoint.port)).collect();
        Ways::iiop(profile, endpoints)
    }
}

/// A message is a datagram.
struct UdpWire(ConnectedUdpSocket);

impl AsFd for UdpWire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wire for UdpWire {
    fn send(&self, message: &[IoSlice<'_>], _: usize, by: Option<Instant>) -> io::Result<bool> {
        let sent = match by {
            Some(deadline) => self.0.send_by(message, deadline),
            None => self.0.send_now(message),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.is_would_block() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn discard(&self) -> io::Result<bool> {
        // With a deadline, though none is left: reports are then asked for also where no call has failed for them.
        match self.0.receive_by(&mut [0; 1], Instant::now()) {
            Ok(_) => Ok(true),
            Err(error) if error.is_truncated() => Ok(true),
            Err(error) if error.is_timeout() || error.is_would_block() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

struct UdpListening {
    socket: UdpSocket,
    local: SocketAddr,
    endpoint: Endpoint,
    senders: Arc<Senders>,
    counts: Arc<Counts>,
    state: Mutex<State>,
}

/// What only the thread that accepts touches.
struct State {
    budget: Budget,
    /// A datagram of any size.
    buffer: Box<[u8]>,
    frames: FrameReceiver<SocketAddr>,
    /// Frames counted as incomplete so far.
    given_up: u64,
    /// Where the receiver's time begins.
    began: Instant,
}

impl Acceptor for UdpListening {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        let mut state = self.state.lock();
        let State { budget, buffer, frames, given_up, began } = &mut *state;
        let now = Instant::now();
        for _ in 0..BATCH {
            let received = match self.socket.receive_from_now(buffer) {
                Ok(received) => received,
                Err(error) if error.is_would_block() => break,
                Err(error) => {
                    tracing::debug!(at = %self.endpoint, %error, "a datagram could not be received");
                    continue;
                }
            };
            if !budget.take(now) {
                Counts::add(&self.counts.rate);
                continue;
            }
            let datagram = &buffer[..received.octets];
            let Some(from) = received.from() else { continue };
            let message = if datagram.starts_with(&FRAME_MAGIC) {
                frames.take(from.address(), datagram, now.saturating_duration_since(*began))
            } else {
                Oneway::read(datagram)
                    .map(|_| Some(datagram.to_vec()))
                    .map_err(|_| Refused::Malformed("GIOP"))
            };
            self.counts.incomplete.fetch_add(frames.incomplete() - *given_up, Ordering::Relaxed);
            *given_up = frames.incomplete();
            match message {
                Ok(None) => {}
                Ok(Some(message)) => {
                    if let Some(channel) = self.senders.deliver(from.address(), message, now)? {
                        return Ok(Some(channel));
                    }
                }
                Err(refused) => self.counts.refused(refused),
            }
        }
        self.counts.report(&self.endpoint, now);
        Ok(None)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn local(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn published(&self, published_host: Option<&str>) -> Published {
        let host = match published_host {
            Some(host) => host.to_owned(),
            None if !self.local.ip().is_unspecified() => self.local.ip().to_string(),
            None => match zorb_ipc::reachable_address(self.local.ip(), false) {
                Ok(address) => address.to_string(),
                // Without knowing the interfaces the machine's name is the best that can be said of a wildcard.
                Err(_) => zorb_ipc::host_name(),
            },
        };
        let port = self.local.port();
        let transport = self.endpoint.transport.clone();
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let endpoint = Endpoint { transport, address: address.into() };
        let component = UdpEndpoint { host, port }.encode();
        Published {
            // A host's name that cannot be written leaves the other endpoints.
            components: component.into_iter().collect(),
            endpoints: vec![self.endpoint.clone(), endpoint],
            ..Published::default()
        }
    }
}
