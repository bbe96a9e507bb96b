//! Where a reference leads: here, elsewhere by a list of endpoints, or nowhere.
//!
//! A [`Destination`] is made once from a reference and kept with it: its profiles read, each endpoint's connections
//! found, code sets chosen. A call then only picks a candidate.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::{CodeSets, Format};
use zorb_giop::code_sets::{CodeSetComponent, encode_context};
use zorb_giop::{
    AddressingDisposition, ComponentTag, ContextId, Giop, Ior, MessagingComponent, Protocol, ServiceContexts,
    TaggedComponent, TaggedProfile, Target,
};

use crate::bidirectional;
use crate::client::pool::Pool;
use crate::client::unsettled::Recipient;
use crate::exception::{Minor, SystemException};
use crate::orb::Orb;
use crate::policy::Standing;
use crate::protocols::Protocols;
use crate::transport::{Carries, Endpoint, Transport, Ways};
use crate::upcall;

/// Ways to one object that are kept; a reference may name more, which are left aside. 64: replicated objects name a handful,
/// each host a few addresses, and every one that is tried takes its share of the connect timeout.
const MOST_CANDIDATES: usize = 64;

/// Lists of protocols under which a destination is kept beside its own; threads rarely choose among more than a few.
const MOST_VIEWS: usize = 8;

/// A better candidate that failed is tried again after this at the earliest...
const PAUSE: Duration = Duration::from_secs(1);

/// ...and after so many times what the attempt took: where a host swallows packets, that many calls' time is spent there of
/// all.
const PAUSES: u32 = 16;

/// One way to an object: an endpoint, and how to speak there.
pub(crate) struct Candidate {
    /// No other has it, in all the program's life.
    pub(crate) identity: u64,
    pub(crate) pool: Arc<Pool>,
    /// The form of requests. Its version is what the messaging protocol says, or else the profile's, at most this ORB's; its
    /// code sets hold where none are announced.
    pub(crate) format: Format,
    /// The object key.
    pub(crate) target: Target,
    /// The same for who keeps calls in order.
    pub(crate) recipient: Recipient,
    /// Which profile of the reference it comes from.
    profile: u32,
    pub(crate) code_sets: Option<Offer>,
    /// The last reply said that the object's operations may be called by number.
    by_number: AtomicBool,
    /// The server was found to speak GIOP and not this protocol.
    unspoken: AtomicBool,
}

impl Candidate {
    fn new(
        orb: &Orb,
        pool: Arc<Pool>,
        code_sets: Option<Offer>,
        (index, profile): (usize, &TaggedProfile),
        ways: &Ways,
    ) -> Candidate {
        let version = ways.version.min(orb.giop_version());
        let format = pool.messaging().format();
        let target = match pool.largest_oneway() {
            // Groups of objects have no key: their profile names them, or to messaging that knows keys alone what it says of
            // the group.
            Some(_) if ways.object_key.is_empty() => match ways.group_component() {
                Some(group) if pool.messaging().by_datagrams().is_some() => {
                    Target::ObjectKey(group.data[..].into())
                }
                _ => Target::Profile(Box::new(profile.clone())),
            },
            _ => Target::ObjectKey(ways.object_key[..].into()),
        };
        static MADE: AtomicU64 = AtomicU64::new(1);
        Candidate {
            identity: MADE.fetch_add(1, Ordering::Relaxed),
            pool,
            format: format.unwrap_or(Format { version, code_sets: CodeSets::default() }),
            recipient: Recipient::of(&target),
            target,
            profile: u32::try_from(index).unwrap_or(u32::MAX),
            code_sets,
            by_number: AtomicBool::new(false),
            unspoken: AtomicBool::new(false),
        }
    }

    /// Its protocol is not spoken there, whatever the reference says: nothing is to be tried that may be lost.
    pub(crate) fn note_unspoken(&self) {
        self.unspoken.store(true, Ordering::Relaxed);
    }

    fn is_same_way(&self, other: &Candidate) -> bool {
        Arc::ptr_eq(&self.pool, &other.pool) && self.target == other.target
    }

    /// Whether the server has said that the object's operations may be called by number.
    #[inline]
    pub(crate) fn knows_numbers(&self) -> bool {
        self.by_number.load(Ordering::Relaxed)
    }

    /// The server has said so, or no longer does.
    #[inline]
    pub(crate) fn note_by_number(&self, by_number: bool) {
        if self.knows_numbers() != by_number {
            self.by_number.store(by_number, Ordering::Relaxed);
        }
    }
}

/// What the first request on a connection announces.
pub(crate) struct Offer {
    pub(crate) code_sets: CodeSets,
    pub(crate) contexts: ServiceContexts,
}

/// An object of this ORB.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) key: Bytes,
    /// No other has it, in all the program's life.
    pub(crate) number: u64,
}

impl Home {
    fn new(key: Bytes) -> Home {
        static MADE: AtomicU64 = AtomicU64::new(1);
        Home { key, number: MADE.fetch_add(1, Ordering::Relaxed) }
    }
}

/// All ways to an object, best first.
pub(crate) struct Destination {
    ior: Ior,
    pub(crate) candidates: Vec<Candidate>,
    /// The transports that calls may go by.
    protocols: Option<Protocols>,
    /// Where it could be reached by transports that they may not.
    pub(crate) not_allowed: Vec<Endpoint>,
    /// Where it could be reached by transports that only a list would have used.
    pub(crate) not_named: Vec<Endpoint>,
    /// Where nothing is spoken that this ORB speaks, and what it speaks.
    pub(crate) mute: Vec<(Endpoint, String)>,
    /// The object, if it lives in this ORB.
    pub(crate) local: Option<Home>,
    /// For calls that wait for something to come back.
    leaning: Leaning,
    /// The same for others, which more candidates may carry.
    leaning_oneway: Leaning,
    /// Some candidates carry oneways alone.
    is_mixed: bool,
    /// Its times count from here.
    made: Instant,
    /// The same under the lists of threads, latest last.
    views: Mutex<Vec<Arc<Destination>>>,
}

/// The candidate that worked last, and when better ones are tried again.
#[derive(Default)]
struct Leaning {
    index: AtomicUsize,
    /// Milliseconds since the destination was made.
    again_at: AtomicU64,
}

impl Destination {
    fn new(orb: &Orb, ior: &Ior, owner: Option<u64>, protocols: Option<&Protocols>) -> Destination {
        let mut local = None;
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut named = 0;
        let mut mute = Vec::new();
        let mut not_named = Vec::new();
        for (index, profile) in ior.profiles.iter().enumerate() {
            for transport in orb.transports() {
                let Some(ways) = transport.ways(profile, ior) else { continue };
                let is_named = || protocols.is_some_and(|list| list.names_it(transport.name()));
                let is_left_out = transport.is_by_name_alone() && !is_named();
                for endpoint in &ways.endpoints {
                    if orb.adapters().owns(&ways.object_key) && orb.server().is_mine(endpoint) {
                        local = Some(ways.object_key.clone());
                    }
                    if is_left_out && not_named.len() < MOST_CANDIDATES {
                        not_named.push(endpoint.clone());
                    }
                    if is_left_out || named == MOST_CANDIDATES {
                        continue;
                    }
                    named += 1;
                    let mut is_mute = true;
                    for messaging in spoken(orb, &**transport, &ways.components) {
                        is_mute = false;
                        let code_sets = offer(messaging, &ways.components);
                        let agreed = code_sets.as_ref().map(|offer| offer.code_sets);
                        let pool = orb.client().pool(endpoint, transport, messaging, agreed, owner);
                        let candidate = Candidate::new(orb, pool, code_sets, (index, profile), &ways);
                        // What two profiles say of the same endpoint is one way.
                        if !candidates.iter().any(|known| known.is_same_way(&candidate)) {
                            candidates.push(candidate);
                        }
                    }
                    if is_mute {
                        mute.push((
                            endpoint.clone(),
                            orb.messagings().iter().map(|it| it.name()).collect::<Vec<_>>().join(", "),
                        ));
                    }
                }
            }
        }
        let not_allowed = protocols.map(|list| keep_allowed(list, &mut candidates)).unwrap_or_default();
        let is_mixed = candidates.iter().any(|candidate| candidate.pool.largest_oneway().is_some());
        Destination {
            ior: ior.clone(),
            candidates,
            protocols: protocols.cloned(),
            not_allowed,
            not_named,
            mute,
            local: local.map(Home::new),
            leaning: Leaning::default(),
            leaning_oneway: Leaning::default(),
            is_mixed,
            made: Instant::now(),
            views: Mutex::default(),
        }
    }

    /// The same under another list of protocols.
    pub(crate) fn under(
        self: &Arc<Self>,
        orb: &Orb,
        owner: Option<u64>,
        protocols: &Protocols,
    ) -> Arc<Destination> {
        if self.protocols.as_ref() == Some(protocols) {
            return self.clone();
        }
        let mut views = self.views.lock();
        if let Some(known) = views.iter().find(|view| view.protocols.as_ref() == Some(protocols)) {
            return known.clone();
        }
        if views.len() == MOST_VIEWS {
            views.remove(0);
        }
        let view = Arc::new(Destination::new(orb, &self.ior, owner, Some(protocols)));
        views.push(view.clone());
        view
    }

    /// Whether it is this one, or one made of it.
    fn is_or_has(self: &Arc<Self>, other: &Arc<Destination>) -> bool {
        Arc::ptr_eq(self, other) || self.views.lock().iter().any(|view| Arc::ptr_eq(view, other))
    }

    /// What it was made of.
    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    /// The transports that calls may go by.
    pub(crate) fn protocols(&self) -> Option<&Protocols> {
        self.protocols.as_ref()
    }

    /// The object, if it may be called directly: it lives in this ORB, and no message of this thread is on its way there,
    /// which the call would overtake. In an upcall it may, and where no thread serves: the message may want this very thread.
    #[inline]
    pub(crate) fn here(&self, orb: &Orb) -> Option<&Home> {
        let home = self.local.as_ref()?;
        let overtakes = self.candidates.iter().any(|candidate| candidate.pool.must_follow(candidate))
            && upcall::current().is_none()
            && orb.server().has_threads();
        (!overtakes).then_some(home)
    }

    fn leaning(&self, waits: bool) -> &Leaning {
        if waits || !self.is_mixed { &self.leaning } else { &self.leaning_oneway }
    }

    /// Whether a candidate can carry a call that waits for something to come back, or one that does not.
    #[inline]
    pub(crate) fn can_use(&self, index: usize, waits: bool) -> bool {
        !(waits && self.is_mixed) || self.candidates[index].pool.largest_oneway().is_none()
    }

    /// The index of the candidate to try first; `None` if there is none.
    #[inline]
    pub(crate) fn first(&self, waits: bool) -> Option<usize> {
        let index = self.leaning(waits).index.load(Ordering::Relaxed);
        if index == 0 && !self.candidates.is_empty() && self.can_use(0, waits) {
            return Some(0);
        }
        self.first_after_all(index, waits, true)
    }

    /// The candidate to try first, where that is simply the best one.
    #[inline]
    pub(crate) fn best(&self, waits: bool) -> Option<&Candidate> {
        let is_first = self.leaning(waits).index.load(Ordering::Relaxed) == 0;
        self.candidates.first().filter(|_| is_first && self.can_use(0, waits))
    }

    /// The same where the first candidate is not the one: it cannot carry this, or has failed. After a pause one call tries
    /// the best one again.
    #[cold]
    fn first_after_all(&self, index: usize, waits: bool, may_return: bool) -> Option<usize> {
        let usable = || (0..self.candidates.len()).filter(|&index| self.can_use(index, waits));
        let spoken = |&index: &usize| !self.candidates[index].unspoken.load(Ordering::Relaxed);
        let best = usable().find(spoken).or_else(|| usable().next())?;
        let index = index.min(self.candidates.len() - 1);
        if index <= best || !self.can_use(index, waits) {
            return Some(best);
        }
        let again_at = &self.leaning(waits).again_at;
        let (now, due) = (self.milliseconds(Duration::ZERO), again_at.load(Ordering::Relaxed));
        let returns = may_return
            && now >= due
            && again_at
                .compare_exchange(due, self.milliseconds(PAUSE), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        Some(if returns { best } else { index })
    }

    /// The one that a call would try first, without trying.
    pub(crate) fn favourite(&self, waits: bool) -> Option<usize> {
        self.first_after_all(self.leaning(waits).index.load(Ordering::Relaxed), waits, false)
    }

    /// So many milliseconds after the destination was made it is `ahead` from now.
    fn milliseconds(&self, ahead: Duration) -> u64 {
        u64::try_from((self.made.elapsed() + ahead).as_millis()).unwrap_or(u64::MAX)
    }

    /// A candidate was not reached, which took so long: others are used for a while.
    pub(crate) fn avoid(&self, waits: bool, took: Duration) {
        let pause = PAUSE.max(took.saturating_mul(PAUSES));
        self.leaning(waits).again_at.fetch_max(self.milliseconds(pause), Ordering::Relaxed);
    }

    /// This candidate has worked: later calls of the kind begin with it.
    pub(crate) fn prefer(&self, index: usize, waits: bool) {
        let leaning = &self.leaning(waits).index;
        // A store to a line that all callers read costs them a miss: only when it changes something.
        if leaning.load(Ordering::Relaxed) != index {
            leaning.store(index, Ordering::Relaxed);
        }
    }

    /// How the server wants its objects named, when a key is not enough (CORBA 3.4 part 2 §9.4.2.1).
    pub(crate) fn target(&self, candidate: &Candidate, how: AddressingDisposition) -> Option<Target> {
        match how {
            AddressingDisposition::KEY_ADDR => Some(candidate.target.clone()),
            AddressingDisposition::PROFILE_ADDR => self
                .ior
                .profiles
                .get(candidate.profile as usize)
                .cloned()
                .map(|profile| Target::Profile(Box::new(profile))),
            AddressingDisposition::REFERENCE_ADDR => {
                Some(Target::Reference { selected: candidate.profile, ior: Box::new(self.ior.clone()) })
            }
            _ => None,
        }
    }

    /// Why it has no candidate, for calls that wait for something to come back if for no others.
    pub(crate) fn unreachable(&self) -> SystemException {
        if !self.candidates.is_empty() {
            let endpoints: Vec<_> =
                self.candidates.iter().map(|candidate| candidate.pool.endpoint().to_string()).collect();
            let detail = format!(
                "it waits for something to come back, and the reference leads only to where nothing does ({}): only \
                 oneways that wait for no more than their sending can go there",
                endpoints.join(", ")
            );
            return SystemException::InvObjref(detail).minor(Minor::omg(1));
        }
        let tags: Vec<_> = self.ior.profiles.iter().map(|profile| profile.tag.to_string()).collect();
        let detail = if tags.is_empty() {
            "the reference has no profile".into()
        } else if let (Some(protocols), false) = (&self.protocols, self.not_allowed.is_empty()) {
            let known: Vec<_> = self.not_allowed.iter().map(Endpoint::to_string).collect();
            let known = known.join(", ");
            format!(
                "the reference leads to {known}, and this ORB's clients use only the transports {protocols}"
            )
        } else if let [endpoint, ..] = &self.not_named[..] {
            format!(
                "the reference leads to {endpoint}, and that transport is used only where a list of protocols names it"
            )
        } else if let [(endpoint, spoken), ..] = &self.mute[..] {
            format!(
                "the reference leads to {endpoint}, where {spoken} is not spoken, and this ORB speaks nothing else"
            )
        } else {
            format!("no transport of this ORB can use the reference's profiles ({})", tags.join(", "))
        };
        SystemException::InvObjref(detail).minor(Minor::omg(1))
    }
}

/// Leaves the ways by transports that the list allows, in its order, and gives the endpoints of the others.
fn keep_allowed(list: &Protocols, candidates: &mut Vec<Candidate>) -> Vec<Endpoint> {
    let rank = |candidate: &Candidate| list.rank(&candidate.pool.endpoint().transport);
    let others = candidates.extract_if(.., |candidate| rank(candidate).is_none());
    let others = others.map(|candidate| candidate.pool.endpoint().clone()).collect();
    candidates.sort_by_key(rank);
    others
}

/// Those of the ORB's messaging protocols that a server with these components speaks at an endpoint of the transport, in the
/// ORB's order. GIOP is what a profile is about; what else there is it says. By datagrams only frames may be spoken beside it, and
/// they nowhere else.
fn spoken<'o>(
    orb: &'o Orb,
    transport: &dyn Transport,
    components: &[TaggedComponent],
) -> impl Iterator<Item = &'o Protocol> {
    let said = MessagingComponent::find(components);
    // What carries requests both ways is GIOP by its nature.
    let streams = transport.carries() == Carries::Streams && transport.name() != bidirectional::NAME;
    let frames = transport.carries_frames();
    orb.messagings().iter().filter(move |messaging| {
        let fits = if messaging.by_datagrams().is_some() { frames } else { streams };
        messaging.name() == Giop::NAME || fits && said.names(messaging.name())
    })
}

/// Code sets by what the server publishes, where the messaging protocol does not fix them.
fn offer(messaging: &Protocol, components: &[TaggedComponent]) -> Option<Offer> {
    if messaging.format().is_some() {
        return None;
    }
    let published = components.iter().find(|component| component.tag == ComponentTag::CODE_SETS)?;
    let code_sets = CodeSetComponent::decode(published).ok()?.choose();
    let mut contexts = ServiceContexts::new();
    contexts.push(ContextId::CODE_SETS, encode_context(code_sets));
    Some(Offer { code_sets, contexts })
}

/// What was learnt about a reference since it came.
#[derive(Default)]
pub(crate) struct RouteCache {
    original: OnceLock<Arc<Destination>>,
    /// `forwards` has one; while there is none, which is nearly always, calls need not look.
    forwarded: AtomicBool,
    forwards: Mutex<Forwards>,
}

#[derive(Default)]
struct Forwards {
    /// In place of what the reference says.
    permanent: Option<Arc<Destination>>,
    /// Until it fails.
    temporary: Option<Arc<Destination>>,
}

impl RouteCache {
    fn forwards(&self) -> MutexGuard<'_, Forwards> {
        self.forwards.lock()
    }

    /// Whether calls go to another ORB, as most do: found out once, and no forward has come since.
    #[inline]
    pub(crate) fn leads_elsewhere(&self) -> bool {
        !self.forwarded.load(Ordering::Acquire)
            && self.original.get().is_some_and(|original| original.local.is_none())
    }

    /// Looks at where calls go now, and whether that is by a forward which may fail. `look` must be short.
    #[inline(always)]
    pub(crate) fn with_current<R>(
        &self,
        orb: &Orb,
        ior: &Ior,
        policies: &Standing,
        look: impl FnOnce(&Arc<Destination>, bool) -> R,
    ) -> R {
        if self.forwarded.load(Ordering::Acquire) {
            let forwards = self.forwards();
            if let Some(destination) = forwards.temporary.as_ref().or(forwards.permanent.as_ref()) {
                return look(destination, forwards.temporary.is_some());
            }
        }
        let original = self.original.get();
        look(original.unwrap_or_else(|| self.original.get_or_init(|| destination(orb, ior, policies))), false)
    }

    /// The server says that the object is elsewhere. A permanent forward replaces what the reference says.
    pub(crate) fn forward(&self, orb: &Orb, to: &Ior, policies: &Standing, permanent: bool) {
        let destination = Some(destination(orb, to, policies));
        let mut forwards = self.forwards();
        *forwards = match permanent {
            true => Forwards { permanent: destination, temporary: None },
            false => Forwards { permanent: forwards.permanent.take(), temporary: destination },
        };
        self.forwarded.store(true, Ordering::Release);
    }

    /// The place that calls were forwarded to does not answer: back to what the reference says.
    pub(crate) fn unforward(&self, failed: &Arc<Destination>) {
        let mut forwards = self.forwards();
        forwards.temporary.take_if(|temporary| temporary.is_or_has(failed));
        let left = forwards.temporary.is_some() || forwards.permanent.is_some();
        self.forwarded.store(left, Ordering::Release);
    }
}

/// Where a reference leads under its own policies and the ORB's.
fn destination(orb: &Orb, ior: &Ior, policies: &Standing) -> Arc<Destination> {
    Arc::new(Destination::new(orb, ior, policies.owner, policies.protocols()))
}
