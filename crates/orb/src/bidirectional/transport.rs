//! Bidirectional connections as a transport among others: what they can use of a reference, and where such references lead.
//!
//! ```text
//! bidir::host:port       a listen point: over the connection of a client that has offered it
//! bidir:tcp:host:port    over a connection by TCP that this ORB opens, with an offer; likewise unix:…, shm:…
//! ```

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_cdr::Version;
use zorb_giop::{IiopProfile, Ior, TaggedProfile};
use zorb_ipc::{ReservedPort, Resolver, ResolverOptions, Wake, host_name, reachable_address};

use super::offers::written;
use super::{Accept, BothWays};
use crate::transport::tcp::{malformed, split};
use crate::transport::{Acceptor, Carries, Channel, Endpoint, Published, Transport, Ways};

/// The transport's name.
pub(crate) const NAME: &str = "bidir";

/// How long the name of a host may take to be looked up that references are to name: as for listening.
const LOOKUP: Duration = Duration::from_secs(10);

/// The transport.
pub(crate) struct Bidir(pub(crate) Arc<BothWays>);

impl BothWays {
    /// The listen point that an endpoint stands for; `None`: it is one to open connections to.
    pub(crate) fn listen_point(endpoint: &Endpoint) -> Option<&str> {
        endpoint.address.strip_prefix(':')
    }

    /// A channel to an endpoint by the transport that it names.
    pub(super) fn connect(&self, to: &Endpoint, by: Instant) -> io::Result<Arc<dyn Channel>> {
        let (name, address) = to.address.split_once(':').unwrap_or_default();
        let Some(stream) = self.streams.iter().find(|stream| stream.name() == name) else {
            return Err(malformed(&to.address, "the endpoint of a transport that this ORB has"));
        };
        stream.connect(&Endpoint { transport: name.into(), address: address.into() }, by)
    }
}

fn endpoint(address: String) -> Endpoint {
    Endpoint { transport: NAME.into(), address: address.into() }
}

impl Transport for Bidir {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Listens nowhere: keeps an address that references can name.
    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        let (host, port) = match split(address) {
            Some((host, port)) => (host, port.parse().map_err(|_| malformed(address, "host or host:port"))?),
            None => (address, 0),
        };
        let addresses: Vec<IpAddr> = match host {
            // A machine without IPv6 refuses the first.
            "" | "*" => vec![Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()],
            host => match host.parse() {
                Ok(address) => vec![address],
                Err(_) => {
                    let resolver = Resolver::new(ResolverOptions::default());
                    let found = resolver.resolve_by(host, 0, Instant::now() + LOOKUP)?;
                    found.iter().map(SocketAddr::ip).collect()
                }
            },
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in addresses {
            match ReservedPort::bind(SocketAddr::new(address, port)) {
                Ok(reserved) => return Ok(Box::new(Reserved { reserved, silent: Wake::new()? })),
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        self.0.connect(to, deadline)
    }

    /// Of profiles of GIOP 1.2: their addresses, which a client may have offered, and what other transports make of them.
    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        let mut found: Option<Ways> = None;
        let mut add = |ways: Ways, endpoints: Vec<Endpoint>| match &mut found {
            Some(found) => found.endpoints.extend(endpoints),
            None if endpoints.is_empty() => {}
            None => found = Some(Ways { endpoints, ..ways }),
        };
        if !matches!(self.0.settings.accepts(), Accept::Nobody)
            && let Ok(iiop) = IiopProfile::decode(profile)
        {
            let points =
                iiop.endpoints().map(|point| endpoint(format!(":{}", written(&point.host, point.port))));
            let points: Vec<_> = points.collect();
            if let Some(ways) = Ways::iiop(iiop, points.clone()) {
                add(ways, points);
            }
        }
        if self.0.settings.offers() {
            for stream in &self.0.streams {
                let Some(ways) = stream.ways(profile, reference) else { continue };
                let opened = ways.endpoints.iter().map(|to| endpoint(to.to_string())).collect();
                add(ways, opened);
            }
        }
        found.filter(|ways| ways.version >= Version::V1_2)
    }
}

/// Whether connections in both directions may be opened by this transport: by streams that any two processes can have.
pub(crate) fn is_fit(transport: &dyn Transport) -> bool {
    matches!(transport.name(), "tcp" | "unix" | "shm") && transport.carries() == Carries::Streams
}

/// An address that is kept, and accepts nobody.
struct Reserved {
    reserved: ReservedPort,
    /// A descriptor that tells of nothing.
    silent: Wake,
}

impl Acceptor for Reserved {
    fn accept_now(&self) -> io::Result<Option<Arc<dyn Channel>>> {
        Ok(None)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.silent.as_fd()
    }

    fn local(&self) -> Endpoint {
        endpoint(self.reserved.address().to_string())
    }

    fn published(&self, published_host: Option<&str>) -> Published {
        let local = self.reserved.address();
        let host = match published_host {
            Some(host) => host.to_owned(),
            None => match reachable_address(local.ip(), false) {
                Ok(address) => address.to_string(),
                Err(_) => host_name(),
            },
        };
        let named = written(&host, local.port());
        // By the first an ORB knows its own references.
        let endpoints = vec![
            Endpoint { transport: "tcp".into(), address: named.as_str().into() },
            endpoint(format!(":{named}")),
        ];
        Published { addresses: vec![(host, local.port())], endpoints, ..Published::default() }
    }
}
