//! Bidirectional GIOP: a server calls its client's objects back over the connection that the client opened, so that a client behind a firewall
//! or an address translation can be called at all. CORBA 3.4 part 2, §9.8.
//!
//! | who | says | and so |
//! |---|---|---|
//! | the client's ORB | [`offer`](Bidirectional::offer) | its connections to other ORBs tell where its references lead; they are read all the time, and requests that come on them are served |
//! | the client's adapter | [`PoaPolicies::bidirectional`](crate::poa::PoaPolicies::bidirectional) | its objects may be called that way |
//! | the server's ORB | [`accept`](Bidirectional::accept) | calls to references that lead where a client said so go over that client's connection |
//!
//! Nothing of it is on by default. Such connections are a transport by the name of `bidir`, before all others: lists of
//! [protocols](crate::protocols::Protocols) may name it, put it elsewhere, or leave it out, and [`BidirectionalPolicy`] leaves it out for
//! an ORB's, a thread's or a reference's calls. When the connection is gone a call goes on to the next way that the reference names, if there is one that
//! can be reached, and otherwise ends in `TRANSIENT`.
//!
//! ```
//! use zorb_orb::Orb;
//! use zorb_orb::bidirectional::{Accept, Bidirectional};
//!
//! // The one that is called back; it listens nowhere.
//! let client = Orb::builder().bidirectional(Bidirectional::new().offer()).build();
//! // The one that calls back.
//! let server = Orb::builder()
//!     .bidirectional(Bidirectional::new().accept(Accept::Peers(vec!["10.0.0.0/8".parse()?])))
//!     .build();
//! # drop((client, server));
//! # Ok::<(), zorb_orb::bidirectional::NotANetwork>(())
//! ```
//!
//! **A client that offers listens nowhere** unless it says where. Its references name an address of this machine and a port that it keeps
//! and nobody reaches (the endpoint `bidir:`, or `bidir:host:port`): they lead to it over its own connections alone. Such references are of no use
//! to third parties, and calls to its own objects that go by message (`_async` ones) fail; where either is wanted it listens, too.
//!
//! **Anybody may write anybody's address**, so a server believes by the rules of [`Accept`], and never that its own endpoint is
//! somebody else's, that an endpoint is a client's to which it has a connection of its own, or that one is another's which a client has
//! offered first whose connection still stands. What is not believed it says to operators (`tracing`), and
//! [`ObjectRef::protocols`](crate::ObjectRef::protocols) says of each way why it was not used.
//!
//! A connection in both directions is GIOP 1.2, whatever else the two could speak, over TCP, Unix sockets or shared memory. Whoever reads it
//! reads replies and requests; it is not closed for being idle. [`ThreadModel::Caller`](crate::server::ThreadModel::Caller) has no thread for that,
//! and such an ORB neither offers nor accepts.

mod network;
mod offers;
mod transport;

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use parking_lot::Mutex;
pub use zorb_giop::ListenPoint;
use zorb_giop::{ContextId, ServiceContexts, encode_listen_points};

pub use network::{Network, NotANetwork};
pub(crate) use transport::{Bidir, NAME, is_fit};

use crate::client::reactor::Reactor;
use crate::client::shared::Shared;
use crate::orb::{Core, Orb};
use crate::transport::{Endpoint, Transport};
use offers::Offers;

/// Whether calls go over bidirectional connections (`BiDirPolicy::BidirectionalPolicy`, type 37). It is of use in an ORB that
/// [offers or accepts](Bidirectional) them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum BidirectionalPolicy {
    /// They do not.
    Normal = 0,
    /// They do, where there is one or this ORB offers. The default.
    Both = 1,
}

/// What an ORB does of bidirectional GIOP: nothing, unless it is told to.
#[derive(Clone, Debug, Default)]
#[must_use = "it is given to the builder"]
pub struct Bidirectional {
    offer: bool,
    accept: Accept,
}

/// Whose word a server takes for where its clients' objects are.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Accept {
    /// Nobody's: offers are not looked at.
    #[default]
    Nobody,
    /// Of a listen point that has the very address that the client's connection comes from; of a client on this machine, one of this
    /// machine's addresses or its name. Other names are not looked up, and not believed.
    PeerAddress,
    /// That, and every listen point of clients whose connections come from these networks: for clients behind an address translation, which
    /// know themselves by another address.
    Peers(Vec<Network>),
    /// Everybody's: where only friends can connect at all.
    Any,
    /// By the program's own rule. It is asked on the thread that reads the connection, which it holds up.
    If(Arc<dyn Fn(&Offer<'_>) -> bool + Send + Sync>),
}

/// What a client says, for [`Accept::If`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Offer<'o> {
    /// Where its connection comes from.
    pub peer: &'o Endpoint,
    /// Where it says that its objects are reached.
    pub point: &'o ListenPoint,
}

impl fmt::Debug for Accept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accept::Nobody => f.write_str("Nobody"),
            Accept::PeerAddress => f.write_str("PeerAddress"),
            Accept::Peers(networks) => f.debug_tuple("Peers").field(networks).finish(),
            Accept::Any => f.write_str("Any"),
            Accept::If(_) => f.write_str("If(..)"),
        }
    }
}

impl Bidirectional {
    /// Neither offers nor accepts.
    pub fn new() -> Bidirectional {
        Bidirectional::default()
    }

    /// Lets servers call back over the connections that this ORB opens.
    pub fn offer(mut self) -> Bidirectional {
        self.offer = true;
        self
    }

    /// Calls clients back over the connections that they have opened, if they may say where they are.
    pub fn accept(mut self, accept: Accept) -> Bidirectional {
        self.accept = accept;
        self
    }

    /// Whether it offers.
    pub fn offers(&self) -> bool {
        self.offer
    }

    /// Whose word it takes.
    pub fn accepts(&self) -> &Accept {
        &self.accept
    }

    pub(crate) fn is_on(&self) -> bool {
        self.offer || !matches!(self.accept, Accept::Nobody)
    }
}

/// The ORB's bidirectional connections: how they are opened, and who has offered what.
pub(crate) struct BothWays {
    settings: Bidirectional,
    /// What connections with an offer are opened by, best first.
    streams: Vec<Arc<dyn Transport>>,
    orb: OnceLock<Weak<Core>>,
    offers: Mutex<Offers>,
}

impl BothWays {
    pub(crate) fn new(settings: Bidirectional, streams: Vec<Arc<dyn Transport>>) -> Arc<BothWays> {
        Arc::new(BothWays { settings, streams, orb: OnceLock::new(), offers: Mutex::default() })
    }

    /// The ORB that it is a part of has been made.
    pub(crate) fn belongs_to(&self, orb: &Orb) {
        let _ = self.orb.set(Arc::downgrade(&orb.0));
    }

    pub(crate) fn settings(&self) -> &Bidirectional {
        &self.settings
    }

    /// Whether offers are looked at.
    pub(crate) fn believes_anybody(&self) -> bool {
        !matches!(self.settings.accept, Accept::Nobody)
    }

    fn orb(&self) -> io::Result<Orb> {
        let orb = self.orb.get().and_then(Weak::upgrade).map(Orb);
        orb.ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, "the ORB is gone"))
    }
}

/// What a pool knows of connections that carry requests both ways. Not the ORB that they are of: what compilers find out of a type, such as
/// whether threads may share it, they find out of all that it leads to.
pub(crate) trait CarriesBothWays: Send + Sync {
    /// The connection whose client has offered this listen point, if it stands and is believed.
    fn offered(&self, point: &str) -> Option<Arc<Shared>>;

    /// What this ORB's connections tell, as a service context: where its references lead. It listens from now on, if that means anything.
    fn offer(&self) -> io::Result<ServiceContexts>;

    /// Opens the connection of `shared` to an endpoint of this transport, with the offer. By `by`.
    fn open(&self, to: &Endpoint, shared: &Arc<Shared>, by: Instant, reactor: &Reactor) -> io::Result<()>;
}

impl CarriesBothWays for BothWays {
    fn offered(&self, point: &str) -> Option<Arc<Shared>> {
        self.connection_of(point)
    }

    fn offer(&self) -> io::Result<ServiceContexts> {
        let orb = self.orb()?;
        orb.server().start(&orb).map_err(|exception| io::Error::other(exception.to_string()))?;
        let points = orb.server().listen_points();
        let mut contexts = ServiceContexts::new();
        if points.is_empty() {
            tracing::warn!("nothing is offered: this ORB's references name no address");
        } else {
            let data = encode_listen_points(&points).map_err(|error| io::Error::other(error.to_string()))?;
            contexts.push(ContextId::BI_DIR_IIOP, data);
        }
        Ok(contexts)
    }

    fn open(&self, to: &Endpoint, shared: &Arc<Shared>, by: Instant, reactor: &Reactor) -> io::Result<()> {
        let orb = self.orb()?;
        let channel = self.connect(to, by)?;
        orb.server().adopt_opened(channel, shared, reactor)
    }
}
