//! TCP, the transport of IIOP.
//!
//! Addresses to listen at: `host:port`, `host:first-last` (the first free port of a range), `host` or `host:0` (a port
//! that the system picks), `[v6]:port`; an empty host or `*` is every interface. Sockets are `zorb_ipc`'s; what is
//! added here is the reading of addresses.
//!
//! What sockets are told ([`Tcp::queues`] to [`Tcp::peak_rate`]) holds for connections that clients open and for those that servers
//! accept, each for what its own side sends and receives, and before the first octet. What the kernel refuses, since it has no
//! such congestion control or the process no such privilege, ends the connect or the listening with an error that names option and value.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_giop::{IiopProfile, Ior, TaggedProfile};
use zorb_ipc::{
    KeepAlive, Probes, QueueSizes, ReceiveWindow, Resolver, ResolverOptions, TcpAcceptor, TcpStream,
};

use super::loopback::Loopback;
use super::tuning::Tuning;
use super::{Acceptor, Channel, Endpoint, Published, Transport, Ways};

const NAME: &str = "tcp";

/// When the peer of a connection that is to stay is asked whether it is there: after a minute of silence, and then each 15 s. Address translations forget
/// a connection after some minutes; one that does not answer for a minute is taken to be gone.
const ASKED: Probes = Probes { idle: Duration::from_secs(60), interval: Duration::from_secs(15), count: 4 };

/// How long the name of a host to listen on may take to be looked up: as long as a client's connect.
const LISTEN_LOOKUP: Duration = Duration::from_secs(10);

/// TCP over IPv4 and IPv6.
#[derive(Clone)]
pub struct Tcp {
    resolver: Arc<Resolver>,
    name: &'static str,
    /// The same, as endpoints have it.
    transport: Arc<str>,
    queues: QueueSizes,
    tuning: Tuning,
    loopback: Loopback,
}

impl Tcp {
    /// With the host's own name lookup.
    pub fn new() -> Tcp {
        Tcp::with_resolver(Resolver::new(ResolverOptions::default()))
    }

    /// With another way to turn names into addresses.
    pub fn with_resolver(resolver: Resolver) -> Tcp {
        Tcp {
            resolver: Arc::new(resolver),
            name: NAME,
            transport: Arc::from(NAME),
            queues: QueueSizes::default(),
            tuning: Tuning::default(),
            loopback: Loopback::default(),
        }
    }

    /// A second transport of this kind, under a name of its own: `listen` takes it as the first word of endpoints, and clients use it where
    /// a list of [protocols](crate::protocols::Protocols) names it. What was chosen of it (queues and the like) so holds for a
    /// thread's calls, those on one reference, or the references of one adapter. References and other ORBs know nothing of the name.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Tcp {
        self.name = name;
        self.transport = Arc::from(name);
        self
    }

    /// Lets the system hold so many octets for a connection in each direction (`SO_SNDBUF`, `SO_RCVBUF`), where it would
    /// otherwise adapt them to the traffic, which is right for nearly everyone but
    /// [within the machine](Self::loopback_window).
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Tcp {
        self.queues = QueueSizes { send: Some(octets), receive: Some(octets) };
        self
    }

    /// Whether a small message leaves at once (`TCP_NODELAY`), as it does by default, or waits for the acknowledgement of the
    /// one before, which makes fewer packets of many oneways and calls slower by far.
    #[must_use]
    pub fn no_delay(mut self, yes: bool) -> Tcp {
        self.tuning.no_delay = Some(yes);
        self
    }

    /// Which of the kernel's algorithms decides how fast to send (`TCP_CONGESTION`), such as `cubic`, `reno` or `bbr`. Default: the
    /// system's, but for [connections within this machine](Self::loopback_congestion_control). Processes without privileges may use those in
    /// `net.ipv4.tcp_allowed_congestion_control`.
    #[must_use]
    pub fn congestion_control(mut self, name: impl Into<String>) -> Tcp {
        self.tuning.congestion_control = Some(name.into());
        self
    }

    /// The algorithm of connections whose both ends are this machine's, where the system's is one that paces what is sent (`bbr`), which
    /// holds bulk back there; `None` leaves the system's. A connection to or from a loopback address is opened with it, and one between other
    /// addresses of this machine is told before the first message of 64 KiB or more. Default: `reno`. One that the kernel has not,
    /// or does not allow, changes nothing. Where [`congestion_control`](Self::congestion_control) names one it holds for all.
    #[must_use]
    pub fn loopback_congestion_control(mut self, name: Option<String>) -> Tcp {
        self.loopback.congestion_control = name.as_deref().map(Arc::from);
        self.tuning.loopback_congestion_control = Some(name.unwrap_or_else(|| "system".to_owned()));
        self
    }

    /// The largest window of a connection to or from a loopback address (`TCP_WINDOW_CLAMP`): how many octets its peer may send before it hears that
    /// there is room for more, so that less is under way than a cache holds; `None` lets the system adapt it. How much may lie in the receiver's
    /// queue is left to the system. Default: 512 KiB. The system may
    /// take it up to the next larger power of two. Where [`queues`](Self::queues) were chosen, they hold.
    #[must_use]
    pub fn loopback_window(mut self, octets: Option<usize>) -> Tcp {
        self.loopback.window = octets;
        self.tuning.loopback_window =
            Some(octets.map_or_else(|| "system".to_owned(), |octets| octets.to_string()));
        self
    }

    /// Octets that are sent at once from which on a connection within this machine is told of
    /// [another algorithm](Self::loopback_congestion_control), if it was not before.
    pub const BULK: usize = super::stream::MUCH;

    /// What a connection within this machine has in place of this algorithm; `None`: the same. So that what is measured beside an ORB can have
    /// the same options.
    pub fn loopback_instead_of(&self, algorithm: &str) -> Option<String> {
        self.loopback().instead_of(algorithm).map(|name| name.to_string())
    }

    /// What connections to and from a loopback address are told of their window, likewise.
    pub fn loopback_receive_window(&self) -> Option<ReceiveWindow> {
        self.loopback().window(self.queues)
    }

    /// What connections within this machine are told: no algorithm, where all were told of one.
    fn loopback(&self) -> Loopback {
        let congestion_control = match self.tuning.congestion_control {
            Some(_) => None,
            None => self.loopback.congestion_control.clone(),
        };
        Loopback { congestion_control, ..self.loopback }
    }

    /// How long a receive that finds nothing asks the network card again and again (`SO_BUSY_POLL`), where the card's driver can
    /// do so. It takes `CAP_NET_ADMIN` unless that is at most `net.core.busy_read`, the default.
    #[must_use]
    pub fn busy_poll(mut self, time: Duration) -> Tcp {
        self.tuning.busy_poll = Some(time);
        self
    }

    /// The most octets a second that leave by a connection, at least 1 (`SO_MAX_PACING_RATE`): so that much data leaves room for others. By
    /// default there is no bound. The first ten segments of a connection are not held back; beyond them a message
    /// waits in the socket, and its sender when that is full, by the call's deadline.
    #[must_use]
    pub fn peak_rate(mut self, octets_a_second: u64) -> Tcp {
        self.tuning.peak_rate = Some(octets_a_second);
        self
    }
}

impl Default for Tcp {
    fn default() -> Self {
        Tcp::new()
    }
}

impl Transport for Tcp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_by_name_alone(&self) -> bool {
        self.name != NAME
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let Listen { host, ports } = Listen::parse(address)?;
        let hosts: Vec<IpAddr> = match host {
            // IPv4 peers are served by the same socket; a machine without IPv6 refuses it, and then IPv4 remains.
            "" | "*" => vec![Ipv6Addr::UNSPECIFIED.into(), IpAddr::from([0, 0, 0, 0])],
            host => match host.parse() {
                Ok(ip) => vec![ip],
                Err(_) => {
                    let addresses = self.resolver.resolve_by(host, 0, Instant::now() + LISTEN_LOOKUP)?;
                    addresses.iter().map(SocketAddr::ip).collect()
                }
            },
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for host in hosts {
            let loopback = self.loopback();
            match loopback.listen(host, ports.clone(), self.queues) {
                Ok(acceptor) => {
                    self.tuning.acceptor(&acceptor)?;
                    let name = self.transport.clone();
                    return Ok(Box::new(TcpListening { acceptor, name, loopback }));
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
        let addresses = match host.parse::<IpAddr>() {
            Ok(ip) => vec![SocketAddr::new(ip, port)],
            Err(_) => self.resolver.resolve_by(host, port, deadline)?,
        };
        let loopback = self.loopback();
        let stream = loopback.connect(&addresses, self.queues, deadline)?;
        self.tuning.stream(&stream)?;
        Ok(Arc::new(loopback.channel(stream, to.clone())))
    }

    fn ways(&self, profile: &TaggedProfile, _: &Ior) -> Option<Ways> {
        let profile = IiopProfile::decode(profile).ok()?;
        let endpoints = profile
            .endpoints()
            .map(|endpoint| named(&self.transport, &endpoint.host, endpoint.port))
            .collect();
        Ways::iiop(profile, endpoints)
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        let queues = self.queues.send.map(|octets| ("queues", octets.to_string()));
        queues.into_iter().chain(self.tuning.properties()).collect()
    }
}

/// An address to listen at, taken apart.
struct Listen<'a> {
    host: &'a str,
    ports: RangeInclusive<u16>,
}

impl<'a> Listen<'a> {
    fn parse(address: &'a str) -> io::Result<Listen<'a>> {
        let refused = || malformed(address, "host, host:port, host:first-last or [v6]:port");
        let (host, ports) = match split(address) {
            Some(parts) => parts,
            None if address.contains(':') && address.parse::<Ipv6Addr>().is_err() => return Err(refused()),
            None => (address, "0"),
        };
        let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
        let first = first.parse().map_err(|_| refused())?;
        let last = last.parse().map_err(|_| refused())?;
        if first > last || (first == 0 && last != 0) {
            return Err(refused());
        }
        Ok(Listen { host, ports: first..=last })
    }
}

/// `host:port` and `[v6]:port` into their parts; `None` where there is no port.
pub(crate) fn split(address: &str) -> Option<(&str, &str)> {
    if let Some(rest) = address.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest {
            "" => Some((host, "0")),
            _ => Some((host, rest.strip_prefix(':')?)),
        };
    }
    let (host, port) = address.rsplit_once(':')?;
    (!host.contains(':')).then_some((host, port))
}

/// The endpoint that a reference names so.
fn named(transport: &Arc<str>, host: &str, port: u16) -> Endpoint {
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    Endpoint { transport: transport.clone(), address: address.into() }
}

pub(crate) fn malformed(address: &str, wanted: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{address:?} is not of the form {wanted}"))
}

/// What a socket is told that is to stay.
pub(super) fn ask_whether_it_is_there(stream: &TcpStream) -> io::Result<()> {
    Ok(stream.set(KeepAlive(Some(ASKED)))?)
}

struct TcpListening {
    acceptor: TcpAcceptor,
    name: Arc<str>,
    loopback: Loopback,
}

impl TcpListening {
    fn endpoint(&self, address: SocketAddr) -> Endpoint {
        Endpoint { transport: self.name.clone(), address: address.to_string().into() }
    }
}

impl Acceptor for TcpListening {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        match self.acceptor.accept_now() {
            Ok(stream) => {
                let peer = self.endpoint(stream.peer_address());
                Ok(Some(Arc::new(self.loopback.channel(stream, peer))))
            }
            Err(error) if error.is_would_block() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.acceptor.as_fd()
    }

    fn local(&self) -> Endpoint {
        self.endpoint(self.acceptor.local_address())
    }

    fn published(&self, published_host: Option<&str>) -> Published {
        let local = self.acceptor.local_address();
        let host = match published_host {
            Some(host) => host.to_owned(),
            None => match self.acceptor.reachable_address() {
                Ok(address) => address.ip().to_string(),
                // Without knowing the interfaces the machine's name is the best that can be said of a wildcard.
                Err(_) => zorb_ipc::host_name(),
            },
        };
        let endpoints = vec![self.local(), named(&self.name, &host, local.port())];
        Published { addresses: vec![(host, local.port())], endpoints, ..Published::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;

    use zorb_ipc::{CongestionControl, LargestWindow, NoDelay, PeakRate, ReceiveQueue};

    use super::super::Received;
    use super::*;

    fn listen(address: &str) -> Option<(String, u16, u16)> {
        let Listen { host, ports } = Listen::parse(address).ok()?;
        Some((host.to_owned(), *ports.start(), *ports.end()))
    }

    #[test]
    fn addresses_to_listen_at() {
        for (address, host, first, last) in [
            ("", "", 0, 0),
            (":0", "", 0, 0),
            ("*:2809", "*", 2809, 2809),
            ("localhost", "localhost", 0, 0),
            ("10.0.0.1:4000-4010", "10.0.0.1", 4000, 4010),
            ("[::1]:99", "::1", 99, 99),
            ("[::]", "::", 0, 0),
            ("::1", "::1", 0, 0),
        ] {
            assert_eq!(listen(address), Some((host.to_owned(), first, last)), "{address}");
        }
        for address in ["host:", "host:x", "host:70000", "host:9-8", "host:0-9", "a:b:c", "[::1", "[::1]x:"] {
            assert_eq!(listen(address), None, "{address}");
        }
    }

    #[test]
    fn a_wildcard_is_never_published() {
        for address in ["", "0.0.0.0:0", "[::]:0"] {
            let Ok(acceptor) = Tcp::new().listen(address) else { continue };
            let (host, port) = acceptor.published(None).addresses.remove(0);
            let ip: IpAddr = host.parse().expect("an address");
            assert!(!ip.is_unspecified(), "{ip}");
            assert_ne!(port, 0);
            assert_eq!(acceptor.published(Some("archive.example")).addresses[0].0, "archive.example");
        }
    }

    #[test]
    fn what_the_kernel_refuses_is_named_on_both_sides() {
        let plain = Tcp::new().listen("127.0.0.1:0").expect("loopback");
        for (tcp, part) in [
            (Tcp::new().congestion_control("nonesuch"), "congestion_control = nonesuch"),
            (Tcp::new().peak_rate(0), "peak_rate = 0"),
            (Tcp::new().busy_poll(Duration::from_secs(1 << 20)), "busy_poll = 1048576000000us"),
        ] {
            let listen = tcp.listen("127.0.0.1:0").err().expect(part).to_string();
            let connect = tcp.connect(&plain.local(), Instant::now() + Duration::from_secs(10));
            let connect = connect.err().expect(part).to_string();
            assert!(listen.contains(part) && connect.contains(part), "{listen}; {connect}");
        }
    }

    #[test]
    fn connections_have_what_was_chosen_on_both_sides() {
        let tcp = Tcp::new().congestion_control("reno").peak_rate(3_000_000).no_delay(false);
        let acceptor = tcp.listen("127.0.0.1:0").expect("loopback");
        let plain = Tcp::new();
        let deadline = Instant::now() + Duration::from_secs(10);
        let (client, other) =
            (tcp.connect(&acceptor.local(), deadline), plain.connect(&acceptor.local(), deadline));
        let (client, other) = (client.expect("a listener is there"), other.expect("a listener is there"));
        let server = loop {
            if let Some(channel) = acceptor.accept_now().expect("accepts") {
                break channel;
            }
        };
        let options = |channel: &Arc<dyn Channel>| {
            let socket = channel.descriptor().try_clone_to_owned().expect("a descriptor is free");
            let socket = TcpStream::adopt(socket).expect("it is a connection");
            (
                socket.option::<PeakRate>().expect("it has one"),
                socket.option::<NoDelay>().expect("it has one"),
            )
        };
        let chosen = (PeakRate(Some(3_000_000)), NoDelay(false));
        assert_eq!((options(&client), options(&server)), (chosen, chosen));
        assert_eq!(options(&other), (PeakRate(None), NoDelay(true)), "as before");
    }

    #[test]
    fn the_peer_of_a_connection_that_is_to_stay_is_asked() {
        let tcp = Tcp::new();
        let acceptor = tcp.listen("127.0.0.1:0").expect("loopback");
        let client =
            tcp.connect(&acceptor.local(), Instant::now() + Duration::from_secs(10)).expect("it listens");
        let socket = client.descriptor().try_clone_to_owned().expect("a descriptor is free");
        let socket = TcpStream::adopt(socket).expect("it is a connection");
        assert_eq!(socket.option::<KeepAlive>(), Ok(KeepAlive(None)));
        client.stay();
        assert_eq!(socket.option::<KeepAlive>(), Ok(KeepAlive(Some(ASKED))));
    }

    /// Both ends of a connection, the one that opened it first.
    fn ends(tcp: &Tcp, at: &str) -> [Arc<dyn Channel>; 2] {
        let acceptor = tcp.listen(at).expect("it may listen there");
        let address = acceptor.local().address.replace("[::]", "127.0.0.1").into();
        let to = Endpoint { address, ..acceptor.local() };
        let client = tcp.connect(&to, Instant::now() + Duration::from_secs(10)).expect("a listener is there");
        let server = loop {
            if let Some(channel) = acceptor.accept_now().expect("accepts") {
                break channel;
            }
        };
        [client, server]
    }

    fn socket_of(channel: &Arc<dyn Channel>) -> TcpStream {
        let socket = channel.descriptor().try_clone_to_owned().expect("a descriptor is free");
        TcpStream::adopt(socket).expect("it is a connection")
    }

    /// The algorithms of both ends, at first and after each has sent much.
    fn algorithms(tcp: &Tcp, at: &str) -> [[String; 2]; 2] {
        let algorithm = |socket: &TcpStream| socket.option::<CongestionControl>().expect("it has one").0;
        ends(tcp, at).each_ref().map(|channel| {
            let socket = socket_of(channel);
            let before = algorithm(&socket);
            channel.send_now(&[IoSlice::new(&[0; 4096])]).expect("there is room");
            assert_eq!(algorithm(&socket), before, "little is not told of");
            channel.send_now(&[IoSlice::new(&[0; 10]), IoSlice::new(&[0; 64 << 10])]).expect("there is room");
            [before.into_owned(), algorithm(&socket).into_owned()]
        })
    }

    #[test]
    fn connections_within_the_machine_are_not_paced_unless_that_is_chosen() {
        let of_system = CongestionControl::of_new_sockets().expect("a descriptor is free").0;
        let system = &*of_system;
        let other = if system.starts_with("bbr") { "reno" } else { system };
        assert_eq!(algorithms(&Tcp::new(), "127.0.0.1:0"), [[other; 2]; 2]);
        // Who listens for all does not know beforehand whose connection it will be.
        assert_eq!(algorithms(&Tcp::new(), ""), [[other; 2], [system, other]]);
        let chosen = Tcp::new().congestion_control(system.to_owned());
        let chosen = chosen.loopback_congestion_control(Some("reno".into()));
        let strange = Tcp::new().loopback_congestion_control(Some("nonesuch".into()));
        for tcp in [Tcp::new().loopback_congestion_control(None), chosen, strange] {
            assert_eq!(algorithms(&tcp, "127.0.0.1:0"), [[system; 2]; 2]);
        }
    }

    #[test]
    fn within_the_machine_a_window_has_a_caches_size_unless_another_or_queues_are_chosen() {
        let largest = |tcp: &Tcp, at| {
            ends(tcp, at).map(|channel| socket_of(&channel).option::<LargestWindow>().expect("it has one").0)
        };
        let [_, systems] = largest(&Tcp::new().loopback_window(None), "127.0.0.1:0");
        assert!(systems > 65_535 << 3, "a system whose queues are small anyway");
        assert_eq!(largest(&Tcp::new(), "127.0.0.1:0"), [65_535 << 3; 2]);
        // Who listens for all does not know beforehand whose connection it will be.
        assert_eq!(largest(&Tcp::new(), ""), [65_535 << 3, systems]);
        assert_eq!(largest(&Tcp::new().loopback_window(Some(100_000)), "127.0.0.1:0"), [65_535 << 1; 2]);
        assert_eq!(Tcp::new().loopback_receive_window(), Some(ReceiveWindow(65_535 << 3)));
        let chosen = Tcp::new().queues(90_000);
        assert_eq!(chosen.loopback_receive_window(), None);
        for channel in ends(&chosen, "127.0.0.1:0") {
            assert_eq!(socket_of(&channel).option(), Ok(ReceiveQueue(90_000)));
        }
    }

    #[test]
    fn what_it_was_told_is_told_to_people() {
        let tcp = Tcp::new().queues(65536).no_delay(false).congestion_control("reno");
        let tcp = tcp.busy_poll(Duration::from_nanos(49_001)).peak_rate(1_000_000);
        let told: Vec<_> = tcp.properties().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let expected =
            ["queues=65536", "no_delay=no", "congestion_control=reno", "busy_poll=50us", "peak_rate=1000000"];
        assert_eq!(told, expected);
        assert_eq!(Tcp::new().properties(), []);
    }

    #[test]
    fn octets_travel_and_waits_end() {
        let tcp = Tcp::new();
        let acceptor = tcp.listen("127.0.0.1:0").expect("loopback");
        let deadline = Instant::now() + Duration::from_secs(10);
        let client = tcp.connect(&acceptor.local(), deadline).expect("a listener is there");
        let server = loop {
            if let Some(channel) = acceptor.accept_now().expect("accepts") {
                break channel;
            }
        };
        let mut into = [0; 8];
        assert_eq!(server.receive_now(&mut into).expect("open"), Received::Empty);
        let soon = Duration::from_millis(2);
        assert_eq!(server.receive_within(&mut into, soon).expect("open"), Received::Empty);
        client.send(&[IoSlice::new(b"ab"), IoSlice::new(b"c")], deadline).expect("room");
        assert_eq!(server.receive(&mut into, deadline).expect("open"), Received::Octets(3));
        client.shutdown_send();
        assert_eq!(server.receive(&mut into, deadline).expect("open"), Received::Closed);
    }
}
