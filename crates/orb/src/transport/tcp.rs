//! TCP, the transport of IIOP.
//!
//! Addresses to listen at: `host:port`, `host:first-last` (the first free port of a range), `host` or `host:0` (a port
//! that the system picks), `[v6]:port`; an empty host or `*` is every interface. Sockets are `zorb_ipc`'s; what is
//! added here is the reading of addresses and the bookkeeping of receive timeouts.

use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zorb_giop::{IiopProfile, TaggedProfile};
use zorb_ipc::{
    AcceptorOptions, QueueSizes, Resolver, ResolverOptions, TcpAcceptor, TcpConnector, TcpStream,
};

use super::{Acceptor, Armed, Channel, Endpoint, Idle, Received, Transport};

const NAME: &str = "tcp";

/// How long the name of a host to listen on may take to be looked up: as long as a client's connect.
const LISTEN_LOOKUP: Duration = Duration::from_secs(10);

/// TCP over IPv4 and IPv6.
pub struct Tcp {
    resolver: Resolver,
    name: Arc<str>,
    queues: QueueSizes,
}

impl Tcp {
    /// With the host's own name lookup.
    pub fn new() -> Tcp {
        Tcp::with_resolver(Resolver::new(ResolverOptions::default()))
    }

    /// With another way to turn names into addresses.
    pub fn with_resolver(resolver: Resolver) -> Tcp {
        Tcp { resolver, name: Arc::from(NAME), queues: QueueSizes::default() }
    }

    /// Lets the system hold so many octets for a connection in each direction (`SO_SNDBUF`, `SO_RCVBUF`), where it would
    /// otherwise adapt them to the traffic, which is right for nearly everyone.
    #[must_use]
    pub fn queues(mut self, octets: usize) -> Tcp {
        self.queues = QueueSizes { send: Some(octets), receive: Some(octets) };
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
        NAME
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
            let options = AcceptorOptions::new().queue_sizes(self.queues);
            match TcpAcceptor::bind_in(host, ports.clone(), &options) {
                Ok(acceptor) => {
                    return Ok(Box::new(TcpListening { acceptor, name: self.name.clone() }));
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
        let connector = TcpConnector::new().queue_sizes(self.queues);
        let stream = match host.parse::<IpAddr>() {
            Ok(ip) => connector.connect(SocketAddr::new(ip, port), deadline)?,
            Err(_) => {
                let addresses = self.resolver.resolve_by(host, port, deadline)?;
                connector.connect_any(&addresses, deadline)?
            }
        };
        Ok(Arc::new(TcpChannel::new(stream, to.clone())))
    }

    fn endpoints(&self, profile: &TaggedProfile) -> Vec<Endpoint> {
        let Ok(profile) = IiopProfile::decode(profile) else { return Vec::new() };
        profile
            .endpoints()
            .map(|endpoint| Endpoint {
                transport: self.name.clone(),
                address: join(&endpoint.host, endpoint.port).into(),
            })
            .collect()
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
fn split(address: &str) -> Option<(&str, &str)> {
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

fn join(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn malformed(address: &str, wanted: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{address:?} is not of the form {wanted}"))
}

struct TcpListening {
    acceptor: TcpAcceptor,
    name: Arc<str>,
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
                Ok(Some(Arc::new(TcpChannel::new(stream, peer))))
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

    fn published(&self, published_host: Option<&str>) -> Vec<(String, u16)> {
        let local = self.acceptor.local_address();
        let host = match published_host {
            Some(host) => host.to_owned(),
            None => match self.acceptor.reachable_address() {
                Ok(address) => address.ip().to_string(),
                // Without knowing the interfaces the machine's name is the best that can be said of a wildcard.
                Err(_) => zorb_ipc::host_name(),
            },
        };
        vec![(host, local.port())]
    }
}

/// A connection, its peer's name, and the receive timeout that the socket has now.
struct TcpChannel {
    stream: TcpStream,
    peer: Endpoint,
    /// Milliseconds; 0: none was set yet.
    timeout: AtomicU64,
}

impl TcpChannel {
    fn new(stream: TcpStream, peer: Endpoint) -> TcpChannel {
        TcpChannel { stream, peer, timeout: AtomicU64::new(0) }
    }

    /// Sees to it that a receive returns within `time`.
    ///
    /// The socket's timeout is a power of two at or below the time asked for: calls with the same deadline policy, each
    /// a little different in what is left of it, then find it as they need it, and a receive stays one system call.
    /// That it may end early is in [`Channel::receive`]'s contract.
    #[inline]
    fn limit(&self, time: Duration) -> io::Result<()> {
        let wanted = power_below(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        if self.timeout.load(Ordering::Relaxed) != wanted {
            self.stream.set_receive_timeout(Some(Duration::from_millis(wanted)))?;
            self.timeout.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The largest power of two that is at most `milliseconds`; 1 to 2^20 (17 minutes).
#[inline]
fn power_below(milliseconds: u64) -> u64 {
    1 << milliseconds.max(1).ilog2().min(20)
}

impl Channel for TcpChannel {
    #[inline]
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        match deadline.checked_duration_since(Instant::now()) {
            Some(left) => self.receive_within(into, left),
            None => self.receive_now(into),
        }
    }

    #[inline]
    fn receive_within(&self, into: &mut [u8], time: Duration) -> io::Result<Received> {
        self.limit(time)?;
        match self.stream.receive(into) {
            Ok(0) => Ok(Received::Closed),
            Ok(count) => Ok(Received::Octets(count)),
            Err(error) if error.is_timeout() => Ok(Received::Empty),
            Err(error) => Err(error.into()),
        }
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        match self.stream.receive_now(into) {
            Ok(0) => Ok(Received::Closed),
            Ok(count) => Ok(Received::Octets(count)),
            Err(error) if error.is_would_block() => Ok(Received::Empty),
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        match self.stream.send_now(parts) {
            Ok(count) => Ok(count),
            Err(error) if error.is_would_block() => self.send_when_possible(parts, deadline),
            Err(error) => Err(error.into()),
        }
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.stream.send_now(parts) {
            Ok(count) => Ok(count),
            Err(error) if error.is_would_block() => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn arm(&self) -> Armed<'_> {
        Armed::Descriptor(self.stream.as_fd())
    }

    fn shutdown_send(&self) {
        // It fails where the connection is gone, and then nothing is left to be said.
        let _ = self.stream.shutdown_send();
    }

    fn close(&self) {
        let _ = self.stream.shutdown_both();
    }

    fn state(&self) -> Idle {
        match self.stream.idle() {
            zorb_ipc::Idle::Quiet => Idle::Quiet,
            zorb_ipc::Idle::Readable => Idle::Unread,
            zorb_ipc::Idle::Closed => Idle::Closed,
        }
    }

    fn peer(&self) -> &Endpoint {
        &self.peer
    }
}

impl TcpChannel {
    #[cold]
    fn send_when_possible(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        let mut parts = parts.to_vec();
        let whole: usize = parts.iter().map(|part| part.len()).sum();
        match self.stream.send_all(&mut parts, deadline) {
            Ok(()) => Ok(whole),
            Err(error) if error.is_timeout() && error.transferred() > 0 => Ok(error.transferred()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn timeouts_are_powers_of_two_at_or_below_the_time_left() {
        for (left, timeout) in [(0, 1), (1, 1), (3, 2), (128, 128), (59_990, 32_768), (u64::MAX, 1 << 20)] {
            assert_eq!(power_below(left), timeout);
        }
    }

    #[test]
    fn a_wildcard_is_never_published() {
        for address in ["", "0.0.0.0:0", "[::]:0"] {
            let Ok(acceptor) = Tcp::new().listen(address) else { continue };
            let published = acceptor.published(None);
            let ip: IpAddr = published[0].0.parse().expect("an address");
            assert!(!ip.is_unspecified(), "{ip}");
            assert_ne!(published[0].1, 0);
            assert_eq!(acceptor.published(Some("archive.example"))[0].0, "archive.example");
        }
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
