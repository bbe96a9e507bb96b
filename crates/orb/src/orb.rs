//! The ORB: one value that holds everything, made by a builder. Two ORBs in one process share nothing.

mod chosen;

pub use chosen::{Chosen, ChosenTransport};
pub use zorb_cdr::AtBound;

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use zorb_cdr::{Element, KeptMemory, Version};
use zorb_giop::{Messaging, Protocol};

use crate::ami::Deliveries;
use crate::bidirectional::{self, Bidir, Bidirectional, BothWays};
use crate::client::failure::{Failure, Step};
use crate::client::reactor::Reactor;
use crate::client::{self, Client};
use crate::exception::{Minor, SystemException};
use crate::interceptors::{
    ClientRequestInterceptor, Current, Given, Interceptors, IorInterceptor, OrbInitializer,
    ServerRequestInterceptor, SlotId,
};
use crate::known_types::TypesMet;
use crate::loan::Loan;
use crate::messages::MessageMemory;
use crate::object::ObjectRef;
use crate::object::url::{self, Initial};
use crate::poa::{Adapters, Poa};
use crate::policy::{Policies, SMALLEST_FRAGMENT};
use crate::protocols::Protocols;
use crate::server::{self, Server};
use crate::transport::shm::Shm;
use crate::transport::tcp::Tcp;
use crate::transport::unix::Unix;
use crate::transport::{Spinners, Spinning, Transport};
use crate::values::ValueFactories;

/// An object request broker. Cloning is a count.
///
/// It lives as long as handles on it, or references bound to it, do; [`Orb::shutdown`] ends its service before.
/// Nothing of it is process-wide. After `fork` a child must not use the parent's ORBs: their threads are not there.
#[derive(Clone)]
pub struct Orb(pub(crate) Arc<Core>);

/// The parts of an ORB.
pub(crate) struct Core {
    policies: Policies,
    giop_version: Version,
    transports: Vec<Arc<dyn Transport>>,
    messagings: Arc<[Protocol]>,
    client: Client,
    pub(crate) server: Server,
    pub(crate) adapters: Adapters,
    initial: Mutex<HashMap<String, InitialSource>>,
    default_initial: Option<String>,
    schemes: HashMap<String, UrlScheme>,
    pub(crate) kept_memory: Arc<KeptMemory>,
    pub(crate) types_met: TypesMet,
    /// Valuetypes by repository id, for where the declared type does not lead to them.
    pub(crate) value_factories: ValueFactories,
    deliveries: Deliveries,
    interceptors: Option<Box<Interceptors>>,
    both_ways: Option<Arc<BothWays>>,
    ended: AtomicBool,
}

/// Octets of messages that values may keep alive, unless others are chosen: thirty-two images of 16 MiB, far above what is in the calls of most
/// programs at a time, and little beside the memory of a machine that handles such images.
const KEPT_MEMORY: usize = 512 << 20;

/// How long an ORB that is shut down waits for oneways that were gathered to leave, if it may wait that long.
const LAST_ONEWAYS: Duration = Duration::from_secs(1);

/// The longest that a server spins adaptively for a client's next request. A reply surely comes and is waited for longer; a request
/// may never come, and where it comes in time its client is awake: then it takes a few microseconds over loopback.
const NEXT_REQUEST: Duration = Duration::from_micros(20);

/// Resolves the texts of one URL scheme, such as `corbaname`, which takes a service that the ORB does not know.
pub type UrlScheme = Arc<dyn Fn(&Orb, &str) -> Result<Option<ObjectRef>, SystemException> + Send + Sync>;

#[derive(Clone)]
enum InitialSource {
    Text(String),
    Object(ObjectRef),
}

/// Chooses what an ORB is made of.
#[must_use = "a builder does nothing until `build`"]
pub struct OrbBuilder {
    policies: Policies,
    giop_version: Version,
    transports: Vec<Arc<dyn Transport>>,
    preferred: Option<Vec<String>>,
    spinning: Spinning,
    client: client::Settings,
    server: server::Settings,
    message_memory: Option<usize>,
    kept_memory: usize,
    kept_memory_at_bound: AtBound,
    message_buffers: Option<(usize, usize)>,
    initial: HashMap<String, InitialSource>,
    default_initial: Option<String>,
    schemes: HashMap<String, UrlScheme>,
    interceptors: Given,
    initializers: Vec<Arc<dyn OrbInitializer>>,
    bidirectional: Bidirectional,
}

impl Orb {
    /// Starts a choice: shared memory, Unix sockets and TCP as transports, in this order of preference; listening (when an object is first
    /// published) by TCP, on a port that the system picks.
    pub fn builder() -> OrbBuilder {
        OrbBuilder {
            policies: Policies::new(),
            giop_version: Version::V1_2,
            transports: vec![Arc::new(Shm::new()), Arc::new(Unix::new()), Arc::new(Tcp::new())],
            preferred: None,
            spinning: Spinning::adaptive(),
            client: client::Settings::default(),
            server: server::Settings::default(),
            message_memory: None,
            kept_memory: KEPT_MEMORY,
            kept_memory_at_bound: AtBound::default(),
            message_buffers: None,
            initial: HashMap::new(),
            default_initial: None,
            schemes: HashMap::new(),
            interceptors: Given::default(),
            initializers: Vec::new(),
            bidirectional: Bidirectional::new(),
        }
    }

    /// The root of the object adapters.
    ///
    /// # Errors
    /// The ORB was shut down.
    pub fn root_poa(&self) -> Result<Poa, SystemException> {
        self.0.adapters.root(self)
    }

    /// The reference that a text names: `IOR:…`, `corbaloc:…`, `file:///…`, or a scheme given to the builder. `None` if
    /// that is nil. Resolves no host names and opens no connection, except where a scheme has to ask a service.
    pub fn string_to_object(&self, text: &str) -> Result<Option<ObjectRef>, SystemException> {
        url::resolve(self, text)
    }

    /// The text of a reference; nil has one too.
    pub fn object_to_string(&self, object: Option<&ObjectRef>) -> String {
        match object {
            Some(object) => object.to_string(),
            None => zorb_giop::Ior::nil().to_string(),
        }
    }

    /// The reference known under an initial name such as `NameService` (CORBA 3.4 part 1 §8.5.2).
    pub fn resolve_initial_references(&self, name: &str) -> Result<ObjectRef, SystemException> {
        let object = match self.initial(name)? {
            Initial::Object(object) => Some(object),
            Initial::Text(text) => self.string_to_object(&text)?,
        };
        object.ok_or_else(|| SystemException::InvObjref(format!("initial reference {name:?} is nil")))
    }

    /// Makes `object` known in this ORB under an initial name, in place of what was.
    pub fn register_initial_reference(&self, name: &str, object: &ObjectRef) {
        let mut initial = self.0.initial.lock();
        initial.insert(name.to_owned(), InitialSource::Object(object.clone()));
    }

    /// The initial names that were registered or given to the builder, sorted.
    pub fn list_initial_services(&self) -> Vec<String> {
        let initial = self.0.initial.lock();
        let mut names: Vec<_> = initial.keys().cloned().collect();
        names.sort();
        names
    }

    pub(crate) fn initial(&self, name: &str) -> Result<Initial, SystemException> {
        let initial = self.0.initial.lock();
        match (initial.get(name), &self.0.default_initial) {
            (Some(InitialSource::Object(object)), _) => Ok(Initial::Object(object.clone())),
            (Some(InitialSource::Text(text)), _) => Ok(Initial::Text(text.clone())),
            (None, Some(prefix)) => Ok(Initial::Text(format!("{}/{name}", prefix.trim_end_matches('/')))),
            (None, None) => Err(SystemException::BadParam(format!(
                "no initial reference {name:?}: give the builder its URL, or register it"
            ))
            .minor(Minor::omg(10))),
        }
    }

    /// Policies of every call that chooses no others.
    pub fn policies(&self) -> &Policies {
        &self.0.policies
    }

    /// Listens now rather than when the first object is published.
    ///
    /// # Errors
    /// `INITIALIZE`, naming the endpoint that cannot be listened at and why.
    pub fn listen(&self) -> Result<(), SystemException> {
        self.0.server.start(self)
    }

    /// Where this ORB listens; empty before it does.
    pub fn endpoints(&self) -> Vec<crate::transport::Endpoint> {
        self.0.server.endpoints()
    }

    /// Serves until [`Orb::shutdown`]: blocks the calling thread, which runs the upcalls of main-thread adapters.
    /// Requests to other adapters are served whether or not a thread is in here.
    pub fn run(&self) {
        self.0.adapters.run_main_thread(self);
    }

    /// Memory for so many elements that is written in place, and then sent without a copy: over [shared
    /// memory](crate::transport::shm::Shm::loans), to processes of this machine. Over any other transport the same code does what it would with a
    /// `Vec`, and so do loans of elements that not any bits are a value of, such as `boolean`s and enums.
    ///
    /// A connection's first message is copied all the same, since the other end has not said yet what it maps; so are parts of less than 16 KiB.
    /// Who receives by GIOPlite, or in fragments, copies what it could read in place.
    ///
    /// What is in it is for the caller to write: all of it, since it may hold what an earlier loan did. It becomes a
    /// [`Sequence`](zorb_cdr::Sequence) by `into`; when the last handle on that was dropped, here and where it was sent to, the memory is lent again.
    ///
    /// # Errors
    /// `NO_MEMORY`: the system has not so much, or more is out than the transport's bound.
    pub fn loan<T: Element>(&self, count: usize) -> Result<Loan<T>, SystemException> {
        Loan::of(self, count)
    }

    /// Octets of messages' memory that values which were read in place keep alive now: [`OrbBuilder::kept_memory`] bounds it.
    pub fn kept_memory(&self) -> usize {
        self.0.kept_memory.held()
    }

    /// Has requests to a group of objects go to `object` too, which lives in this ORB: requests to a group reach every object
    /// that joined it, in every ORB (CORBA 3.4 part 2 §11.6, `GOA::associate_reference_with_id`). `group` is a reference
    /// such as `corbaloc:miop:1.0@1.0-domain-7/239.255.0.1:5000`. Joining twice is joining once.
    ///
    /// # Errors
    /// `BAD_PARAM`: the object lives elsewhere, or the reference names no group that this ORB listens for, as it does for
    /// multicast with the transport [`Miop`](crate::transport::miop::Miop) and the endpoint `miop:`. `INITIALIZE`: the
    /// group cannot be listened to.
    pub fn join_group(&self, group: &ObjectRef, object: &ObjectRef) -> Result<(), SystemException> {
        let key = self.own_key(object)?;
        for profile in &group.ior().profiles {
            match self.0.server.join(profile, &key) {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => {
                    return Err(SystemException::Initialize(format!("join a group: {error}")));
                }
                None => {}
            }
        }
        Err(SystemException::BadParam(
            "the reference names no group that this ORB listens for; with the transport Miop it does at \"miop:\"",
        ))
    }

    /// Requests to the group no longer go to `object`; those that have arrived still do. False: it was not in the group.
    ///
    /// # Errors
    /// `BAD_PARAM`: the object lives elsewhere.
    pub fn leave_group(&self, group: &ObjectRef, object: &ObjectRef) -> Result<bool, SystemException> {
        let key = self.own_key(object)?;
        Ok(group.ior().profiles.iter().any(|profile| self.0.server.leave(profile, &key)))
    }

    fn own_key(&self, object: &ObjectRef) -> Result<bytes::Bytes, SystemException> {
        let key = object.route().0.local.as_ref().map(|home| home.key.clone());
        key.ok_or_else(|| SystemException::BadParam("the object does not live in this ORB"))
    }

    /// Closes, in order, every incoming connection that was used and on which nothing is under way, and says how many.
    /// Clients notice when they call next, and open another without an error: a way to move them to another server, or to
    /// free descriptors.
    pub fn close_idle_connections(&self) -> usize {
        self.0.server.close_idle()
    }

    /// Ends service: no new connection, no new request. With `wait` it returns when the running requests have been
    /// answered and the connections closed in order, at the latest after `within`; without, at once.
    ///
    /// Called from within an upcall it does not wait for that upcall's own connection. Calls made through this ORB
    /// afterwards end in `BAD_INV_ORDER` with the OMG's minor code 4.
    pub fn shutdown(&self, wait: bool, within: Duration) {
        self.0.adapters.turn_away_held();
        self.0.server.shutdown(wait, within);
        self.0.adapters.shutdown(wait, within);
        self.0.ended.store(true, Ordering::Release);
        let patience = if wait { within.min(LAST_ONEWAYS) } else { Duration::ZERO };
        self.0.client.release(Instant::now() + patience);
        self.0.client.shutdown();
    }

    /// Sends all oneways that were gathered ([`Buffering`](crate::policy::Buffering)), and returns when the transports have them or `within` has
    /// passed. False: not all have left, or a connection has ended, and what it had not sent is lost.
    pub fn send_buffered(&self, within: Duration) -> bool {
        self.0.client.release(Instant::now() + within)
    }

    /// How many connections clients have to this ORB now.
    pub fn connections(&self) -> usize {
        self.0.server.connections()
    }

    /// Says no once the ORB was shut down.
    pub(crate) fn check_alive(&self) -> Result<(), SystemException> {
        if !self.0.ended.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(SystemException::BadInvOrder("this ORB was shut down").minor(Minor::omg(4)))
    }

    /// The highest GIOP version that it speaks as a client and names in its references.
    pub(crate) fn giop_version(&self) -> Version {
        self.0.giop_version
    }

    /// The messaging protocols that it speaks, best first.
    pub(crate) fn messagings(&self) -> &[Protocol] {
        &self.0.messagings
    }

    pub(crate) fn transports(&self) -> &[Arc<dyn Transport>] {
        &self.0.transports
    }

    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn deliveries(&self) -> &Deliveries {
        &self.0.deliveries
    }

    pub(crate) fn server(&self) -> &Server {
        &self.0.server
    }

    pub(crate) fn adapters(&self) -> &Adapters {
        &self.0.adapters
    }

    pub(crate) fn reactor(&self) -> Result<&Reactor, Failure> {
        self.0.client.reactor().map_err(|cause| Failure::NotConnected { step: Step::StartReactor, cause })
    }

    /// Its bidirectional connections, if it has such.
    pub(crate) fn both_ways(&self) -> Option<&Arc<BothWays>> {
        self.0.both_ways.as_ref()
    }

    /// The slots by which this thread tells interceptors what they need to know (`PICurrent`).
    pub fn current(&self) -> Current {
        Current::new(self.clone())
    }

    /// Its interceptors, if there are any.
    #[inline]
    pub(crate) fn interceptors(&self) -> Option<&Interceptors> {
        self.0.interceptors.as_deref()
    }

    pub(crate) fn url_scheme(&self, scheme: &str) -> Option<UrlScheme> {
        self.0.schemes.get(scheme).cloned()
    }
}

impl fmt::Debug for Orb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Orb").field("endpoints", &self.endpoints()).finish_non_exhaustive()
    }
}

impl OrbBuilder {
    /// Policies of every call that chooses no others.
    pub fn policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// The highest GIOP version to speak as a client and to name in references: 1.0, 1.1 or 1.2, the default. Lower ones
    /// are for peers that mishandle 1.2; 1.0 has no wide characters and no code sets. Requests of every version are served
    /// in any case.
    pub fn giop_version(mut self, version: Version) -> Self {
        self.giop_version = version.clamp(Version::V1_0, Version::V1_2);
        self
    }

    /// Adds a transport, before those that are there: its profiles and endpoints are preferred. It takes the place of one
    /// with the same name.
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transports.retain(|other| other.name() != transport.name());
        self.transports.insert(0, transport);
        self
    }

    /// The transport that is registered under a name: for who makes a copy of it to change something, and
    /// [puts that in its place](Self::replace_transport).
    pub fn registered_transport(&self, name: &str) -> Option<&Arc<dyn Transport>> {
        self.transports.iter().find(|transport| transport.name() == name)
    }

    /// Puts a transport in the place of the one with the same name, which keeps its rank; where there is none it is added
    /// before the others.
    pub fn replace_transport(mut self, transport: Arc<dyn Transport>) -> Self {
        match self.transports.iter_mut().find(|other| other.name() == transport.name()) {
            Some(other) => *other = transport,
            None => self.transports.insert(0, transport),
        }
        self
    }

    /// The messaging protocols that this ORB speaks, best first, as a client and as a server; default: [`Giop`](zorb_giop::Giop) alone. A client
    /// speaks to each endpoint the first one that its reference names; GIOP is what every reference stands for. A server
    /// tells by a connection's first octets what its client speaks. [`GiopLite`](zorb_giop::GiopLite) is the other one that
    /// comes with zorb; a program may bring its own. An ORB with request interceptors leaves GIOPlite out, which carries no service
    /// contexts, if there is another.
    ///
    /// Without GIOP an ORB serves no other ORB's clients, and reaches no other ORB's objects.
    pub fn messagings<I>(mut self, messagings: I) -> Self
    where
        I: IntoIterator<Item = Arc<dyn Messaging>>,
    {
        self.server.messagings = server::Messagings(messagings.into_iter().map(Protocol::from).collect());
        self
    }

    /// The transports that clients of this ORB use, by name, best first: an endpoint of an earlier one is tried before
    /// those of later ones, whatever the order in the reference, and transports that are not named are not used, unless `*` is
    /// among the names, which stands for them. The same as [`Policies::protocols`], and said there goes before what is said here. Default:
    /// every transport, in the order that references have and, within a profile, that of the registrations. A server
    /// listens by every registered transport all the same.
    ///
    /// Calls whose reference leads only to transports that are not named, or to none that is registered, end in `INV_OBJREF`,
    /// which says so. That holds also for calls to this ORB's own objects where they go by message.
    pub fn prefer<I>(mut self, transports: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.preferred = Some(transports.into_iter().map(Into::into).collect());
        self
    }

    /// Listens at these endpoints, in place of those that were given before.
    pub fn listen_at<I>(mut self, endpoints: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.server.endpoints = endpoints.into_iter().map(Into::into).collect();
        self
    }

    /// Listens at `endpoint`, `tcp:host:port` or what its transport says; may be given several times. Without any:
    /// `tcp::0`, every interface and a port that the system picks; where the ORB [offers to be called back](Self::bidirectional) over its
    /// own connections, nowhere (`bidir:`).
    pub fn listen(mut self, endpoint: impl Into<String>) -> Self {
        self.server.endpoints.push(endpoint.into());
        self
    }

    /// The host that references name, when it is not the one that is listened at.
    pub fn published_host(mut self, host: impl Into<String>) -> Self {
        self.server.published_host = Some(host.into());
        self
    }

    /// Which threads serve. Default: a thread per busy connection.
    pub fn server_threads(mut self, threads: server::ThreadModel) -> Self {
        self.server.threads = threads;
        self
    }

    /// What one client, and all together, may make this server hold.
    pub fn server_limits(mut self, limits: server::ServerLimits) -> Self {
        self.server.limits = limits;
        self
    }

    /// Messages above this many octets leave in GIOP fragments (1.1 and 1.2), both requests and replies. Default: never.
    /// At least 64 octets are taken, so that a fragment is more than a head. Of requests, [`Policies::fragment_size`] of the ORB,
    /// a thread or a reference is asked first.
    pub fn fragment_size(mut self, octets: usize) -> Self {
        self.server.fragment_size = Some(octets.max(SMALLEST_FRAGMENT));
        self
    }

    /// The largest message that is accepted, in octets with its header, as a client and as a server. Default: 64 MiB.
    pub fn largest_message(mut self, octets: usize) -> Self {
        self.client.message_limits.max_message = octets;
        self.server.message_limits.max_message = octets;
        self
    }

    /// The most octets that large messages, those above 16 KiB, may hold at once in this ORB, as a client and as a server together: from the time
    /// that a connection grants memory to one until nothing refers to it, which is after its upcall, or when the caller has dropped what it
    /// read in place. Default: what each connection may hold, and no bound beyond. While a message above 256 KiB grows it holds
    /// these twice. A message that comes in fragments counts until it is whole, and then no more.
    ///
    /// A message for which there is no memory ends its connection with a MessageError, and a client's call in `IMP_LIMIT`.
    pub fn message_memory(mut self, octets: usize) -> Self {
        self.message_memory = Some(octets);
        self
    }

    /// The most octets of messages' memory that values read in place may keep alive, all together. A sequence of 4 KiB and more that was
    /// received is a view of its message's memory, and so is the body of an any; whoever keeps it, as a servant may beyond its call, keeps all of
    /// that memory, which counts once from the first such value until the last is dropped. Default: 512 MiB, thirty-two images of 16 MiB.
    /// What happens beyond says [`kept_memory_at_bound`](Self::kept_memory_at_bound); [`Orb::kept_memory`] says how much it is.
    ///
    /// What is in a call counts too, as long as its values live, and so do results that a client keeps. Not counted are loans that are read in place,
    /// which have a bound of their own ([`Shm::largest_loans`](crate::transport::shm::Shm::largest_loans)).
    pub fn kept_memory(mut self, octets: usize) -> Self {
        self.kept_memory = octets;
        self
    }

    /// What happens to a value that would keep more of messages' memory than [`kept_memory`](Self::kept_memory) allows. Default: [`AtBound::Copy`]: it is
    /// copied, and keeps no more than itself. With [`AtBound::Refuse`] a request ends in `IMP_LIMIT` before its servant is called, and so does a
    /// call whose result is refused.
    pub fn kept_memory_at_bound(mut self, what: AtBound) -> Self {
        self.kept_memory_at_bound = what;
        self
    }

    /// Buffers for large messages that are made when the ORB is built, and used again and again by all connections: messages up to `octets` with their header, as
    /// many at a time as there are buffers, then find their memory allocated and its pages there. Others are allocated, within
    /// [`message_memory`](Self::message_memory), for which these do not count. Default: none.
    pub fn message_buffers(mut self, count: usize, octets: usize) -> Self {
        self.message_buffers = Some((count, octets));
        self
    }

    /// Octets of oneways and `_async` calls that may wait for one shared connection: beyond them they end in `NO_RESOURCES`, not executed,
    /// and blocking senders wait; a larger message waits alone. Default: 64 MiB.
    pub fn waiting_octets(mut self, octets: usize) -> Self {
        self.client.outbox = octets;
        self
    }

    /// Connections to one endpoint that blocking calls have to themselves; further calls share one. Default: 64; 0:
    /// all calls share.
    pub fn private_connections(mut self, most: usize) -> Self {
        self.client.private_connections = most;
        self
    }

    /// Where more blocking calls to one endpoint are under way at a time, short ones share a connection: requests of several threads leave in one
    /// system call, and their replies come in one. Requests above 4 KiB have a connection to themselves all the same, and so has every call while
    /// answers are large (16 KiB) or take long (a millisecond, and 100 µs for each call under way). A server that runs
    /// the requests of one connection one after the other, as TAO's can be told to, is noticed by that. Default: 4; 0: all short calls share; [`usize::MAX`]: none do.
    pub fn joint_beyond(mut self, calls: usize) -> Self {
        self.client.joint_beyond = calls;
        self
    }

    /// How long an unused outgoing connection stays open. Default: two minutes.
    pub fn client_idle(mut self, idle: Duration) -> Self {
        self.client.idle = idle;
        self
    }

    /// The URL of an initial reference, such as `NameService` at `corbaloc::host:2809/NameService`.
    pub fn initial_reference(mut self, name: impl Into<String>, url: impl Into<String>) -> Self {
        self.initial.insert(name.into(), InitialSource::Text(url.into()));
        self
    }

    /// Initial references that were not given: `url`, a slash and the name (`corbaloc::host:2809`).
    pub fn default_initial_reference(mut self, url: impl Into<String>) -> Self {
        self.default_initial = Some(url.into());
        self
    }

    /// Texts that begin with `scheme:` are resolved by `resolver`.
    pub fn url_scheme(mut self, scheme: impl Into<String>, resolver: UrlScheme) -> Self {
        self.schemes.insert(scheme.into().to_ascii_lowercase(), resolver);
        self
    }

    /// How threads that wait for a reply or for the next request look again before they sleep, over every transport with
    /// streams, as a client and as a server. Default: [`Spinning::adaptive`], of which the client spins for at most 50 µs, the
    /// server 20 µs. At most as many of this ORB's threads spin at once as there are processors, less one; the threads of
    /// [`Reactor`](server::ThreadModel::Reactor) servers and the client's reactor, which wait for many connections, never do.
    ///
    /// Shared memory may be told otherwise ([`Shm::spinning`]).
    pub fn spinning(mut self, spinning: Spinning) -> Self {
        self.spinning = spinning;
        self
    }

    /// Whether servers may call back over connections that this ORB opens, and whether it does so itself: see [`bidirectional`].
    /// Default: neither.
    pub fn bidirectional(mut self, choice: Bidirectional) -> Self {
        self.bidirectional = choice;
        self
    }

    /// Adds an interceptor of the requests that the ORB makes, behind those that are there. Its calls to its own objects go by message
    /// then.
    pub fn client_interceptor(mut self, interceptor: Arc<dyn ClientRequestInterceptor>) -> Self {
        self.interceptors.client.push(interceptor);
        self
    }

    /// Adds an interceptor of the requests that the ORB serves, likewise.
    pub fn server_interceptor(mut self, interceptor: Arc<dyn ServerRequestInterceptor>) -> Self {
        self.interceptors.server.push(interceptor);
        self
    }

    /// Adds an interceptor that adds to references when object adapters are made.
    pub fn ior_interceptor(mut self, interceptor: Arc<dyn IorInterceptor>) -> Self {
        self.interceptors.ior.push(interceptor);
        self
    }

    /// A slot of the ORB's [`Current`], for an interceptor and who speaks to it (`allocate_slot_id`).
    pub fn allocate_slot(&mut self) -> SlotId {
        let slot = SlotId(self.interceptors.slots);
        self.interceptors.slots += 1;
        slot
    }

    /// Has an initializer add to this choice when the ORB is built, and see the ORB then (`register_orb_initializer`).
    pub fn initializer(mut self, initializer: Arc<dyn OrbInitializer>) -> Self {
        self.initializers.push(initializer);
        self
    }

    /// The ORB. Nothing is listened at and nothing connected yet.
    pub fn build(mut self) -> Orb {
        let initializers = std::mem::take(&mut self.initializers);
        for initializer in &initializers {
            self = initializer.pre_init(self);
        }
        let orb = self.assemble();
        for initializer in &initializers {
            initializer.post_init(&orb);
        }
        orb
    }

    fn assemble(mut self) -> Orb {
        // What a container may use can be less than the processors it may run on.
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let spinners = Spinners::at_most(self.spinning, processors.saturating_sub(1).max(1));
        self.server.spinners = Some(spinners.adaptive_up_to(NEXT_REQUEST));
        self.client.spinners = Some(spinners);
        if self.message_memory.is_some() || self.message_buffers.is_some() {
            let (count, octets) = self.message_buffers.unwrap_or_default();
            let memory = MessageMemory::new(self.message_memory.unwrap_or(usize::MAX), count, octets);
            let memory = Arc::new(memory);
            self.client.storage = Some(memory.clone());
            self.server.storage = Some(memory);
        }
        let both_ways = self.both_ways();
        let interceptors = self.interceptors.build();
        if interceptors.as_deref().is_some_and(Interceptors::sees_requests) {
            self.server.messagings.keep_those_with_contexts();
        }
        let mut policies = self.policies;
        policies.protocols = policies.protocols.or(self.preferred.map(Protocols::only));
        policies.fragment_size = policies.fragment_size.or(self.server.fragment_size);
        let bidir = both_ways.clone().map(|both_ways| Arc::new(Bidir(both_ways)) as Arc<dyn Transport>);
        let orb = Orb(Arc::new(Core {
            policies,
            giop_version: self.giop_version,
            transports: bidir.into_iter().chain(self.transports).collect(),
            messagings: self.server.messagings.0.clone(),
            client: Client::new(self.client),
            server: Server::new(self.server),
            adapters: Adapters::new(),
            initial: Mutex::new(self.initial),
            default_initial: self.default_initial,
            schemes: self.schemes,
            types_met: TypesMet::default(),
            kept_memory: Arc::new(KeptMemory::new(self.kept_memory, self.kept_memory_at_bound)),
            value_factories: ValueFactories::default(),
            deliveries: Deliveries::default(),
            interceptors,
            both_ways: both_ways.clone(),
            ended: AtomicBool::new(false),
        }));
        if let Some(both_ways) = both_ways {
            both_ways.belongs_to(&orb);
        }
        orb
    }

    /// What was chosen of bidirectional GIOP, where that can be done.
    fn both_ways(&self) -> Option<Arc<BothWays>> {
        if !self.bidirectional.is_on() {
            return None;
        }
        let speaks_giop =
            self.server.messagings.0.iter().any(|messaging| matches!(messaging, Protocol::Giop));
        if self.giop_version < Version::V1_2
            || self.server.threads == server::ThreadModel::Caller
            || !speaks_giop
        {
            tracing::warn!("no bidirectional connections: they take GIOP 1.2, and a thread that reads them");
            return None;
        }
        let fit = self.transports.iter().filter(|transport| bidirectional::is_fit(&***transport));
        Some(BothWays::new(self.bidirectional.clone(), fit.cloned().collect()))
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.server.shutdown(false, Duration::ZERO);
        self.client.release(Instant::now());
        self.client.shutdown();
    }
}
