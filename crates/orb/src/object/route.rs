//! Where a reference leads: here, elsewhere by a list of endpoints, or nowhere.
//!
//! A [`Destination`] is made once from a reference and kept with it: its profiles read, each endpoint's connections
//! found, code sets chosen. A call then only picks a candidate.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use zorb_cdr::{CodeSets, Version};
use zorb_giop::code_sets::{CodeSetComponent, encode_context};
use zorb_giop::{
    AddressingDisposition, ComponentTag, ContextId, Ior, ServiceContexts, TaggedComponent, Target,
};

use crate::client::pool::Pool;
use crate::exception::{Minor, SystemException};
use crate::orb::Orb;
use crate::upcall;

/// Ways to one object that are kept; a reference may name more, which are left aside. 64: replicated objects name a handful,
/// each host a few addresses, and every one that is tried takes its share of the connect timeout.
const MOST_CANDIDATES: usize = 64;

/// One way to an object: an endpoint, and how to speak there.
pub(crate) struct Candidate {
    pub(crate) pool: Arc<Pool>,
    /// The GIOP version of requests: the profile's, at most this ORB's.
    pub(crate) version: Version,
    /// The object key.
    pub(crate) target: Target,
    /// Which profile of the reference it comes from.
    profile: u32,
    pub(crate) code_sets: Option<Offer>,
}

/// What the first request on a connection announces.
pub(crate) struct Offer {
    pub(crate) code_sets: CodeSets,
    pub(crate) contexts: ServiceContexts,
}

/// All ways to an object, best first.
pub(crate) struct Destination {
    ior: Ior,
    pub(crate) candidates: Vec<Candidate>,
    /// Where it could be reached by transports that this ORB's clients do not use.
    left_aside: Option<String>,
    /// The object's key, if it lives in this ORB.
    pub(crate) local: Option<Bytes>,
    /// The candidate that worked last, for calls that wait for something to come back.
    preferred: AtomicUsize,
    /// The same for others, which more candidates may carry.
    preferred_oneway: AtomicUsize,
    /// Some candidates carry oneways alone.
    is_mixed: bool,
}

impl Destination {
    fn new(orb: &Orb, ior: &Ior) -> Destination {
        let mut local = None;
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut named = 0;
        for (index, profile) in ior.profiles.iter().enumerate() {
            for transport in orb.transports() {
                let Some(ways) = transport.ways(profile, ior) else { continue };
                for endpoint in ways.endpoints {
                    if orb.adapters().owns(&ways.object_key) && orb.server().is_mine(&endpoint) {
                        local = Some(ways.object_key.clone());
                    }
                    if named == MOST_CANDIDATES {
                        continue;
                    }
                    named += 1;
                    let code_sets = offer(&ways.components);
                    let agreed = code_sets.as_ref().map(|offer| offer.code_sets);
                    let pool = orb.client().pool(&endpoint, transport, agreed);
                    let target = match pool.largest_oneway() {
                        // Groups of objects have no key: their profile names them.
                        Some(_) if ways.object_key.is_empty() => Target::Profile(Box::new(profile.clone())),
                        _ => Target::ObjectKey(ways.object_key[..].into()),
                    };
                    // What two profiles say of the same endpoint is one way.
                    let is_known = candidates
                        .iter()
                        .any(|known| Arc::ptr_eq(&known.pool, &pool) && known.target == target);
                    if is_known {
                        continue;
                    }
                    candidates.push(Candidate {
                        pool,
                        version: ways.version.min(orb.giop_version()),
                        target,
                        profile: u32::try_from(index).unwrap_or(u32::MAX),
                        code_sets,
                    });
                }
            }
        }
        let left_aside = keep_preferred(orb, &mut candidates);
        let is_mixed = candidates.iter().any(|candidate| candidate.pool.largest_oneway().is_some());
        let (preferred, preferred_oneway) = Default::default();
        Destination { ior: ior.clone(), candidates, left_aside, local, preferred, preferred_oneway, is_mixed }
    }

    /// The object's key, if it may be called directly: it lives in this ORB, and no message of this thread is on its way there,
    /// which the call would overtake. In an upcall it may, and where no thread serves: the message may want this very thread.
    pub(crate) fn here(&self, orb: &Orb) -> Option<Bytes> {
        let key = self.local.as_ref()?;
        let overtakes = self.candidates.iter().any(|candidate| candidate.pool.must_follow(candidate))
            && upcall::current().is_none()
            && orb.server().has_threads();
        (!overtakes).then(|| key.clone())
    }

    fn preferred(&self, waits: bool) -> &AtomicUsize {
        if waits || !self.is_mixed { &self.preferred } else { &self.preferred_oneway }
    }

    /// Whether a candidate can carry a call that waits for something to come back, or one that does not.
    #[inline]
    pub(crate) fn can_use(&self, index: usize, waits: bool) -> bool {
        !(waits && self.is_mixed) || self.candidates[index].pool.largest_oneway().is_none()
    }

    /// The index of the candidate to try first; `None` if there is none.
    #[inline]
    pub(crate) fn first(&self, waits: bool) -> Option<usize> {
        let count = self.candidates.len();
        let first = self.preferred(waits).load(Ordering::Relaxed).min(count.checked_sub(1)?);
        if self.can_use(first, waits) {
            return Some(first);
        }
        (first..count).chain(0..first).find(|&index| self.can_use(index, waits))
    }

    /// This candidate has worked: later calls of the kind begin with it.
    pub(crate) fn prefer(&self, index: usize, waits: bool) {
        let preferred = self.preferred(waits);
        // A store to a line that all callers read costs them a miss: only when it changes something.
        if preferred.load(Ordering::Relaxed) != index {
            preferred.store(index, Ordering::Relaxed);
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
        } else if let Some(left_aside) = &self.left_aside {
            left_aside.clone()
        } else {
            format!("no transport of this ORB can use the reference's profiles ({})", tags.join(", "))
        };
        SystemException::InvObjref(detail).minor(Minor::omg(1))
    }
}

/// Leaves the ways by transports that the ORB's clients use, in their order of preference, and says if that leaves none.
fn keep_preferred(orb: &Orb, candidates: &mut Vec<Candidate>) -> Option<String> {
    let preferred = orb.preferred()?;
    let rank = |candidate: &Candidate| {
        let transport = &*candidate.pool.endpoint().transport;
        preferred.iter().position(|name| name == transport)
    };
    let known: Vec<_> = candidates.iter().map(|candidate| candidate.pool.endpoint().to_string()).collect();
    candidates.retain(|candidate| rank(candidate).is_some());
    candidates.sort_by_key(rank);
    (candidates.is_empty() && !known.is_empty()).then(|| {
        let (used, known) = (preferred.join(", "), known.join(", "));
        format!("the reference leads to {known}, and this ORB's clients use only the transports {used}")
    })
}

/// Code sets by what the server publishes.
fn offer(components: &[TaggedComponent]) -> Option<Offer> {
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

    /// Looks at where calls go now, and whether that is by a forward which may fail. `look` must be short.
    #[inline]
    pub(crate) fn with_current<R>(
        &self,
        orb: &Orb,
        ior: &Ior,
        look: impl FnOnce(&Arc<Destination>, bool) -> R,
    ) -> R {
        if self.forwarded.load(Ordering::Acquire) {
            let forwards = self.forwards();
            if let Some(destination) = forwards.temporary.as_ref().or(forwards.permanent.as_ref()) {
                return look(destination, forwards.temporary.is_some());
            }
        }
        let original = self.original.get();
        look(
            original.unwrap_or_else(|| self.original.get_or_init(|| Arc::new(Destination::new(orb, ior)))),
            false,
        )
    }

    /// The server says that the object is elsewhere. A permanent forward replaces what the reference says.
    pub(crate) fn forward(&self, orb: &Orb, to: &Ior, permanent: bool) {
        let destination = Some(Arc::new(Destination::new(orb, to)));
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
        forwards.temporary.take_if(|temporary| Arc::ptr_eq(temporary, failed));
        let left = forwards.temporary.is_some() || forwards.permanent.is_some();
        self.forwarded.store(left, Ordering::Release);
    }
}
