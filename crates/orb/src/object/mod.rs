//! Object references.
//!
//! An [`ObjectRef`] is a counted handle: the reference as it came (its [`Ior`] byte for byte), the ORB that
//! carries calls on it, its policies, and what was learnt since (a forward, the place where it lives).

pub mod abstract_interface;
mod any;
pub mod asynchronous;
pub mod considered;
pub mod here;
pub mod in_phase;
mod intercepted;
pub mod into;
pub mod invoke;
pub(crate) mod journey;
mod landed;
pub mod local;
pub(crate) mod route;
pub mod undecoded;
pub(crate) mod url;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use zorb_cdr::{Decode, DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder};
use zorb_giop::{IiopProfile, Ior};

use crate::exception::{Kind, SystemException};
use crate::orb::Orb;
use crate::policy::{Buffering, CallLimits, Policies, Standing};
use crate::protocols::Protocols;
use crate::skeleton::{Interface, InterfaceInfo, OBJECT_ID, Operation};
use route::{Candidate, Destination, Home, RouteCache};

/// A reference to an object, here or anywhere. Cloning is a count. Nil is `Option::None`.
#[derive(Clone)]
pub struct ObjectRef(pub(crate) Arc<Reference>);

#[cold]
fn not_sent(deadline: Instant) -> SystemException {
    match Instant::now() >= deadline {
        true => SystemException::Timeout(
            "oneways that were gathered have not all left by the end of the call's time",
        ),
        false => SystemException::CommFailure(
            "a connection has ended; what was gathered there and had not left is lost",
        ),
    }
}

/// What a reference knows.
pub(crate) struct Reference {
    orb: Orb,
    ior: Ior,
    policies: Standing,
    pub(crate) route: RouteCache,
}

impl ObjectRef {
    /// Binds a reference to the ORB that is to carry its calls. A nil `ior` gives `None`.
    pub fn new(orb: &Orb, ior: Ior) -> Option<ObjectRef> {
        (!ior.is_nil()).then(|| ObjectRef::bound(orb.clone(), ior, Policies::new()))
    }

    pub(crate) fn bound(orb: Orb, ior: Ior, policies: Policies) -> ObjectRef {
        let policies = Standing::new(policies, orb.policies().clone(), || orb.client().next_owner());
        ObjectRef(Arc::new(Reference { orb, ior, policies, route: RouteCache::default() }))
    }

    /// The reference's parts, as they came.
    pub fn ior(&self) -> &Ior {
        &self.0.ior
    }

    /// The repository id that the reference names; empty when it names none (a `corbaloc`).
    pub fn type_id(&self) -> &str {
        &self.0.ior.type_id
    }

    /// The ORB that carries its calls.
    pub fn orb(&self) -> &Orb {
        &self.0.orb
    }

    /// Its own policies, without those of the thread and the ORB.
    pub fn policies(&self) -> &Policies {
        self.0.policies.reference()
    }

    /// The same object with `policies` before those it has. Calls of the two keep no order among each other.
    pub fn with_policies(&self, policies: Policies) -> ObjectRef {
        ObjectRef::bound(self.0.orb.clone(), self.0.ior.clone(), policies.or(self.policies()))
    }

    /// Whether the reference leads to its own ORB: it names an endpoint where that listens, and a key of one of its adapters,
    /// under which an object may or may not be active.
    pub fn leads_here(&self) -> bool {
        self.route().0.local.is_some()
    }

    /// Whether the object has the interface `id` (`_is_a`): by the reference's type id where that tells, else by asking.
    pub fn is_a(&self, id: &str) -> Result<bool, SystemException> {
        static IS_A: Operation = Operation::new("_is_a");
        if id == OBJECT_ID || (id == self.type_id() && !id.is_empty()) {
            return Ok(true);
        }
        invoke::call(self, &IS_A, |to| to.write_string(id), bool::decode)
    }

    /// Whether the object is known to be gone (`_non_existent`). When that cannot be learnt, the exception says why.
    pub fn non_existent(&self) -> Result<bool, SystemException> {
        static NON_EXISTENT: Operation = Operation::new("_non_existent");
        let answer: Result<bool, SystemException> =
            invoke::call(self, &NON_EXISTENT, |_| Ok(()), bool::decode);
        match answer {
            Err(exception) if exception.kind == Kind::ObjectNotExist => Ok(true),
            answer => answer,
        }
    }

    /// What describes the object's interface (`_get_interface`): a `CORBA::InterfaceDef` of its server's interface repository;
    /// nil where that does not know it.
    ///
    /// # Errors
    /// `INTF_REPOS`: the server has no repository.
    pub fn get_interface(&self) -> Result<Option<ObjectRef>, SystemException> {
        static INTERFACE: Operation = Operation::new("_interface");
        invoke::call(self, &INTERFACE, |_| Ok(()), ObjectRef::decode)
    }

    /// Whether both surely denote the same object (`_is_equivalent`): a *no* may be wrong (CORBA 3.4 part 1 §8.3.7).
    pub fn is_equivalent(&self, other: &ObjectRef) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.0.ior == other.0.ior
            || matches!((self.identity(), other.identity()), (Some(mine), Some(theirs)) if mine == theirs)
    }

    /// A number from 0 to `maximum`, equal for equivalent references (`_hash`).
    pub fn hash(&self, maximum: u32) -> u32 {
        let mut hasher = DefaultHasher::new();
        match self.identity() {
            Some(identity) => identity.hash(&mut hasher),
            None => self.0.ior.to_string().hash(&mut hasher),
        }
        let range = u64::from(maximum) + 1;
        u32::try_from(hasher.finish() % range).unwrap_or(maximum)
    }

    /// Host, port and key of the first IIOP profile: what tells objects apart on the wire.
    fn identity(&self) -> Option<(String, u16, Bytes)> {
        let profile = self.0.ior.profiles.iter().find_map(|profile| IiopProfile::decode(profile).ok())?;
        Some((profile.host.to_ascii_lowercase(), profile.port, profile.object_key))
    }

    /// Writes a reference or nil (CORBA 3.4 part 2 §9.6.2). Nothing stays borrowed.
    pub fn encode(reference: Option<&ObjectRef>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        static NIL: Ior = Ior::nil();
        let ior = reference.map_or(&NIL, |reference| &reference.0.ior);
        to.write_string(&ior.type_id)?;
        to.write_length(ior.profiles.len())?;
        for profile in &ior.profiles {
            to.write_u32(profile.tag.0);
            to.write_length(profile.data.len())?;
            to.write_octets(&profile.data);
        }
        Ok(())
    }

    /// Reads a reference or nil. The decoder's context must be the [`Orb`] that shall carry its calls.
    pub fn decode(from: &mut Decoder<'_>) -> Result<Option<ObjectRef>, DecodeError> {
        let ior = Ior::decode(from)?;
        let Some(orb) = from.context::<Orb>() else {
            let kind = DecodeErrorKind::Invalid("no ORB was given to bind it to");
            return Err(from.error(kind, "object reference"));
        };
        Ok(ObjectRef::new(orb, ior))
    }

    /// The policies in force for a call made now by this thread.
    #[inline]
    pub(crate) fn limits(&self) -> CallLimits {
        self.0.policies.limits()
    }

    /// The policies of the reference and the ORB, and whether it is bound.
    pub(crate) fn standing(&self) -> &Standing {
        &self.0.policies
    }

    /// Binds the reference anew, if it may not be by the way ([`Rebind::NoRebind`](crate::policy::Rebind::NoRebind)), and asks the
    /// object whether it is there (`_validate_connection`): false if not. For other references it only asks.
    ///
    /// # Errors
    /// As any call.
    pub fn validate_connection(&self) -> Result<bool, SystemException> {
        self.0.policies.set_bound(false);
        Ok(!self.non_existent()?)
    }

    /// Whether, and until when, a oneway made now by this thread is gathered with others.
    pub(crate) fn buffering(&self) -> Option<Buffering> {
        self.0.policies.buffering()
    }

    /// Sends the oneways that were gathered ([`Buffering`]) on the connections of this reference, also those of others that share
    /// them, and returns when the transport has them, at the latest at the end of the call's time.
    ///
    /// # Errors
    /// `TIMEOUT`: not all have left by then. `COMM_FAILURE`: a connection has ended, and what it had not sent is lost.
    pub fn send_buffered(&self) -> Result<(), SystemException> {
        let Ok(reactor) = self.orb().reactor() else { return Ok(()) };
        let deadline = Instant::now() + self.limits().call_timeout;
        let released = |candidate: &Candidate| candidate.pool.release(deadline, reactor);
        match self.route().0.candidates.iter().filter(|candidate| !released(candidate)).count() {
            0 => Ok(()),
            _ => Err(not_sent(deadline)),
        }
    }

    /// Where calls go now on threads that choose no protocols, and whether by a forward.
    #[inline]
    pub(crate) fn route(&self) -> (Arc<Destination>, bool) {
        let reference = &*self.0;
        reference.route.with_current(&reference.orb, &reference.ior, &reference.policies, |to, by_forward| {
            (to.clone(), by_forward)
        })
    }

    /// The identity of the candidate that a oneway goes to, where that is simply the best one, and whether its server knows operations
    /// by number.
    #[inline]
    pub(crate) fn best_candidate(&self) -> Option<(u64, bool)> {
        self.with_best_candidate(|candidate| (candidate.identity, candidate.knows_numbers()))
    }

    /// Looks at that candidate, shortly.
    #[inline(always)]
    pub(crate) fn with_best_candidate<R>(&self, look: impl FnOnce(&Candidate) -> R) -> Option<R> {
        let reference = &*self.0;
        reference.route.with_current(&reference.orb, &reference.ior, &reference.policies, |to, _| {
            to.best(false).map(look)
        })
    }

    /// The same under a list of protocols, if there is one.
    #[cold]
    pub(crate) fn route_under(&self, protocols: Option<&Protocols>) -> (Arc<Destination>, bool) {
        let (standing, by_forward) = self.route();
        let under = protocols.map(|list| standing.under(&self.0.orb, self.0.policies.owner, list));
        (under.unwrap_or(standing), by_forward)
    }

    /// What this thread puts in the place of the protocols that hold otherwise.
    #[cold]
    pub(crate) fn protocols_of_thread(&self) -> Option<Protocols> {
        self.0.policies.protocols_of_thread()
    }

    /// Calls go elsewhere from now on.
    pub(crate) fn forward(&self, to: &Ior, permanent: bool) {
        self.0.route.forward(&self.0.orb, to, &self.0.policies, permanent);
    }

    /// Whether calls surely go to another ORB.
    #[inline]
    pub(crate) fn leads_elsewhere(&self) -> bool {
        self.0.route.leads_elsewhere()
    }

    /// Looks at the object, if calls may go to it directly: it is of this ORB. `look` must be short.
    #[inline(always)]
    pub(crate) fn with_home<R>(&self, look: impl FnOnce(Option<&Home>) -> R) -> R {
        let reference = &*self.0;
        reference.route.with_current(&reference.orb, &reference.ior, &reference.policies, |to, _| {
            look(to.here(&reference.orb))
        })
    }
}

impl Interface for ObjectRef {
    const INFO: &'static InterfaceInfo = &InterfaceInfo { id: OBJECT_ID, ancestors: &[] };

    fn from_object(object: ObjectRef) -> Self {
        object
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }
}

/// By [`ObjectRef::is_equivalent`].
impl PartialEq for ObjectRef {
    fn eq(&self, other: &ObjectRef) -> bool {
        self.is_equivalent(other)
    }
}

/// The stringified reference, `IOR:` and hexadecimal digits.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.ior.fmt(f)
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ObjectRef");
        shown.field("type_id", &self.type_id());
        if let Some((host, port, key)) = self.identity() {
            shown.field("endpoint", &format_args!("{host}:{port}")).field("key", &key);
        }
        shown.finish_non_exhaustive()
    }
}
