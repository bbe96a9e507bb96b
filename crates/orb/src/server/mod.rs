//! The server's side: listening, connections, threads, requests.
//!
//! | what | where |
//! |---|---|
//! | where it listens, what references say of it | here |
//! | which thread serves, and how it waits | `dispatch` |
//! | whose turn it is to read a connection | `turn` |
//! | octets to requests, and a connection's end | `connection` |
//! | requests behind oneways | `order` |
//! | limits | [`ServerLimits`] |
//! | a request in a skeleton's hands | [`request`] |
//! | what the servant sees | `call`, of a collocated call `local` |
//! | replies that a typed servant gives later | [`DeferredReply`] |
//! | requests and replies that are not decoded | [`undecoded`] |
//! | replies composed, and sent | `reply`, `writing` |

mod call;
mod cancel;
pub(crate) mod connection;
pub(crate) mod deferred;
mod dispatch;
mod flight;
mod head;
mod implicit;
mod known;
pub(crate) mod local;
mod memory;
mod order;
mod reply;
pub mod request;
mod settings;
#[cfg(test)]
mod tests;
mod turn;
pub mod undecoded;
mod watched;
mod writing;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_cdr::Encoder;
use zorb_giop::code_sets::CodeSetComponent;
use zorb_giop::{
    ComponentTag, Giop, ListenPoint, MessagingComponent, OrbType, TaggedComponent, TaggedProfile,
    most_listen_points,
};

pub use deferred::DeferredReply;
pub(crate) use settings::{Messagings, Settings};
pub use settings::{ServerLimits, ThreadModel};

use crate::bidirectional;
use crate::client::reactor::Reactor;
use crate::client::shared::Shared;
use crate::exception::{Kind, Minor, SystemException};
use crate::orb::Orb;
use crate::protocols::Protocols;
use crate::transport::reference::Publication;
use crate::transport::{Acceptor, Channel, Endpoint};
use dispatch::{Engine, Handler, ToAdapters};

/// All that an ORB serves with. It does nothing until [`Server::start`].
pub(crate) struct Server {
    settings: Settings,
    listening: OnceLock<Listening>,
    /// Held while listening begins, so that it begins once.
    starting: Mutex<Stopped>,
}

/// Whether the server was shut down, and so will not listen again.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Stopped(bool);

struct Listening {
    engine: Arc<Engine>,
    endpoints: Vec<Endpoint>,
    /// What references say of it.
    publication: Publication,
    /// What those of adapters with lists of protocols say, by list; adapters' lists are few.
    under: Mutex<Vec<(Protocols, Arc<Publication>)>>,
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Server {
        Server { settings, listening: OnceLock::new(), starting: Mutex::default() }
    }

    /// Listens, if that has not happened yet.
    ///
    /// # Errors
    /// `INITIALIZE`, naming the endpoint that cannot be listened at and why; `BAD_INV_ORDER` after shutdown.
    pub(crate) fn start(&self, orb: &Orb) -> Result<(), SystemException> {
        self.started(orb, || Box::new(ToAdapters)).map(|_| ())
    }

    fn started(
        &self,
        orb: &Orb,
        handler: impl FnOnce() -> Box<dyn Handler>,
    ) -> Result<&Listening, SystemException> {
        if let Some(listening) = self.listening.get() {
            return Ok(listening);
        }
        let stopped = self.starting.lock();
        if stopped.0 {
            return Err(SystemException::BadInvOrder("the ORB was shut down").minor(Minor::omg(4)));
        }
        if self.listening.get().is_none() {
            let listening = Listening::begin(&self.settings, orb, handler())?;
            let _ = self.listening.set(listening);
        }
        drop(stopped);
        self.listening.get().ok_or_else(|| SystemException::Internal("the server did not start"))
    }

    /// Where it listens; empty before it does.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        self.listening.get().map(|listening| listening.endpoints.clone()).unwrap_or_default()
    }

    /// How many connections clients have.
    pub(crate) fn connections(&self) -> usize {
        let Some(listening) = self.listening.get() else { return 0 };
        let connections = listening.engine.connections();
        connections.values().filter(|connection| !connection.is_opened_here()).count()
    }

    /// The addresses that references of this server name.
    pub(crate) fn listen_points(&self) -> Vec<ListenPoint> {
        let Some(listening) = self.listening.get() else { return Vec::new() };
        let point = |(host, port): &(String, u16)| ListenPoint { host: host.clone(), port: *port };
        listening.publication.addresses().map(point).take(most_listen_points()).collect()
    }

    /// Serves, too, a connection that this ORB opened, by which `shared` sends.
    pub(crate) fn adopt_opened(
        &self,
        channel: Arc<dyn Channel>,
        shared: &Arc<Shared>,
        reactor: &Reactor,
    ) -> std::io::Result<()> {
        match self.listening.get() {
            Some(listening) => listening.engine.adopt_opened(channel, shared, reactor),
            None => Err(std::io::Error::new(std::io::ErrorKind::NotConnected, "this ORB serves nothing")),
        }
    }

    /// Whether requests that come by message are served while nobody makes a blocking call.
    pub(crate) fn has_threads(&self) -> bool {
        self.settings.threads != ThreadModel::Caller
    }

    /// Whether references of this server name that endpoint.
    pub(crate) fn is_mine(&self, endpoint: &Endpoint) -> bool {
        self.listening.get().is_some_and(|listening| listening.publication.names(endpoint))
    }

    /// The profiles of a reference to the object `key`, by the transports of a list if there is one; starts listening if that has
    /// not happened.
    ///
    /// # Errors
    /// As [`start`](Self::start), `INTERNAL` where a published host cannot be written, and `INV_POLICY` where no endpoint is one of the
    /// list's.
    pub(crate) fn profiles(
        &self,
        orb: &Orb,
        key: &[u8],
        list: Option<&Protocols>,
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let listening = self.started(orb, || Box::new(ToAdapters))?;
        let profiles = match list {
            None => listening.publication.profiles(orb.giop_version(), key),
            Some(list) => listening.under(list)?.profiles(orb.giop_version(), key),
        };
        let profiles = profiles.map_err(unwritable)?;
        if profiles.is_empty() {
            return Err(SystemException::Internal("no endpoint can be published"));
        }
        Ok(profiles)
    }

    /// Has requests to a group of objects, named by a profile of its reference, go to the object `key` too. `None`: no
    /// acceptor takes requests to groups.
    pub(crate) fn join(&self, group: &TaggedProfile, key: &[u8]) -> Option<std::io::Result<()>> {
        let listening = self.listening.get()?;
        listening.engine.acceptors().iter().find_map(|acceptor| acceptor.join(group, key))
    }

    /// The opposite. False: the object was not in the group.
    pub(crate) fn leave(&self, group: &TaggedProfile, key: &[u8]) -> bool {
        let Some(listening) = self.listening.get() else { return false };
        listening.engine.acceptors().iter().any(|acceptor| acceptor.leave(group, key))
    }

    /// Whether there are threads of the server's: it listens.
    pub(crate) fn serves(&self) -> bool {
        self.listening.get().is_some() && !self.starting.lock().0
    }

    /// Runs `job` on a server thread; at once, on this one, if the server has none.
    pub(crate) fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        match self.listening.get() {
            Some(listening) => listening.engine.spawn(job),
            None => job(),
        }
    }

    /// Closes, in order, every connection on which nothing is under way, and says how many.
    pub(crate) fn close_idle(&self) -> usize {
        self.listening.get().map_or(0, |listening| listening.engine.close_idle())
    }

    /// Stops accepting, lets running requests be answered, and closes the connections in order, the latest after `within`.
    /// With `wait` it returns when that is done and the threads have ended; from within an upcall, which would wait for
    /// itself, at once.
    pub(crate) fn shutdown(&self, wait: bool, within: Duration) {
        self.starting.lock().0 = true;
        let Some(listening) = self.listening.get() else { return };
        let by = Instant::now() + within;
        listening.engine.stop(by);
        if wait && !dispatch::on_server_thread() {
            // The deadline ends connections; threads then need a moment to notice.
            let done = listening.engine.join(by + Duration::from_secs(1));
            if !done {
                tracing::warn!(
                    "shutdown: upcalls are still running after {within:?}; their threads are left behind"
                );
            }
        }
    }
}

impl Listening {
    fn begin(
        settings: &Settings,
        orb: &Orb,
        handler: Box<dyn Handler>,
    ) -> Result<Listening, SystemException> {
        let engine = Engine::new(settings.clone(), Arc::downgrade(&orb.0), handler)
            .map_err(|error| failed("the server cannot start", &error))?;
        let acceptors = acceptors(settings, orb)?;
        let endpoints = acceptors.iter().map(|acceptor| acceptor.local()).collect();
        let host = settings.published_host.as_deref();
        let publication =
            Publication::of(&acceptors, host, components(&settings.messagings)?).map_err(unwritable)?;
        engine.start(acceptors).map_err(|error| failed("the server cannot start", &error))?;
        Ok(Listening { engine, endpoints, publication, under: Mutex::default() })
    }

    /// What references under a list say.
    fn under(&self, list: &Protocols) -> Result<Arc<Publication>, SystemException> {
        let mut under = self.under.lock();
        if let Some((_, known)) = under.iter().find(|(known, _)| known == list) {
            return Ok(known.clone());
        }
        let Some(made) = self.publication.under(list).map_err(unwritable)? else {
            let endpoints: Vec<_> = self.endpoints.iter().map(Endpoint::to_string).collect();
            let endpoints = endpoints.join(", ");
            return Err(SystemException::InvPolicy(format!(
                "the adapter's references name only the transports {list}, and this ORB listens at {endpoints}"
            )));
        };
        let made = Arc::new(made);
        under.push((list.clone(), made.clone()));
        Ok(made)
    }
}

/// Listens at every endpoint that was chosen; TCP on every interface if none was.
fn acceptors(settings: &Settings, orb: &Orb) -> Result<Vec<Arc<dyn Acceptor>>, SystemException> {
    let default = match orb.both_ways() {
        Some(both_ways) if both_ways.settings().offers() => [format!("{}:", bidirectional::NAME)],
        _ => [String::from("tcp::0")],
    };
    let endpoints = if settings.endpoints.is_empty() { &default[..] } else { &settings.endpoints };
    let mut acceptors: Vec<Arc<dyn Acceptor>> = Vec::new();
    for endpoint in endpoints {
        let (name, address) = endpoint.split_once(':').unwrap_or((endpoint, ""));
        let Some(transport) = orb.transports().iter().find(|transport| transport.name() == name) else {
            let known: Vec<_> = orb.transports().iter().map(|transport| transport.name()).collect();
            let detail =
                format!("cannot listen at {endpoint:?}: this ORB's transports are {}", known.join(", "));
            return Err(SystemException::Initialize(detail));
        };
        let acceptor = transport
            .listen(address)
            .map_err(|error| failed(&format!("cannot listen at {endpoint:?}"), &error))?;
        acceptors.push(acceptor.into());
    }
    Ok(acceptors)
}

fn failed(step: &str, error: &std::io::Error) -> SystemException {
    SystemException::new(
        Kind::Initialize,
        Minor::NONE,
        crate::exception::Completion::No,
        format!("{step}: {error}"),
    )
}

/// What every profile says of this ORB: its code sets (UTF-8, with ISO 8859-1 by conversion, and UTF-16), who made it, and
/// what it speaks beside GIOP.
fn components(messagings: &Messagings) -> Result<Vec<TaggedComponent>, SystemException> {
    let orb_type = Encoder::encapsulated(|to| {
        to.write_u32(OrbType::ZORB.0);
        Ok(())
    });
    let mut components = vec![
        CodeSetComponent::ours().encode().map_err(unwritable)?,
        TaggedComponent { tag: ComponentTag::ORB_TYPE, data: orb_type.map_err(unwritable)? },
    ];
    let others = messagings.0.iter().map(|messaging| messaging.name()).filter(|name| *name != Giop::NAME);
    let names: Vec<String> = others.map(String::from).collect();
    if !names.is_empty() {
        components.push(MessagingComponent { names }.encode().map_err(unwritable)?);
    }
    Ok(components)
}

/// What a reference should say cannot be written, such as a host's name outside ISO 8859-1.
fn unwritable(error: zorb_cdr::EncodeError) -> SystemException {
    SystemException::Internal(error.to_string())
}
