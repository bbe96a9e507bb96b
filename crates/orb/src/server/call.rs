//! A call as its servant sees it, and what is known of the request behind it.

use std::mem::{self, ManuallyDrop};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use zorb_cdr::{Body, CodeSets, Format, Octets, Version};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{ContextId, Ior, ResponseFlags, ServiceContexts, Target};

use super::connection::Connection;
use super::dispatch::train;
use super::head::Head;
use super::known::Known;
use super::local::Local;
use crate::exception::{Minor, SystemException};
use crate::interceptors::Watch;
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::poa::{Active, Poa};
use crate::policy::SyncScope;
use crate::rt::Operations;
use crate::skeleton::Interface;
use crate::transport::Endpoint;

/// What a servant may know of the call that it serves.
pub struct Call {
    pub(super) origin: Origin,
    /// Where in a message's object key the object id stands.
    pub(super) object_id: Position,
}

/// A range of a key, whose octets a message counts in 32 bits. With more a call would no longer be moved in place.
#[derive(Clone, Copy, Default)]
pub(super) struct Position {
    from: u32,
    to: u32,
}

impl Position {
    #[inline]
    pub(super) fn of(range: &Range<usize>) -> Position {
        let octets = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Position { from: octets(range.start), to: octets(range.end) }
    }

    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

#[allow(clippy::large_enum_variant, reason = "a message stays in its memory, and a local call on its stack")]
pub(super) enum Origin {
    /// A message.
    Remote(Remote),
    /// A collocated call.
    Local(Local),
}

/// A request as it came, where from, and what is known of it.
///
/// Its memory serves one request after the other, each of which [begins](Self::begin) and [ends](Self::end) in it.
pub(super) struct Remote {
    /// None while there is no request.
    source: Option<Source>,
    pub(super) head: Head,
    pub(super) body: Body,
    pub(super) version: Version,
    pub(super) id: u32,
    pub(super) response: ResponseFlags,
    /// What few requests have, and so boxed: a call is moved once. Dropped by the request where there is one, which is a test less dear.
    pub(super) aside: ManuallyDrop<Option<Box<Aside>>>,
    pub(super) code_sets: CodeSets,
    /// The caller waits for a reply that has not been given.
    pub(super) owed: bool,
    /// The caller does not wait for its end: it holds a place in the order of requests.
    pub(super) oneway: bool,
    /// Octets that count against the connection's limit.
    pub(super) octets: u32,
    /// Dropped when the reply has been given.
    pub(super) active: Option<Active>,
    /// The operation's name, where the message has a number and the skeleton has found what that stands for.
    pub(super) found: Option<&'static &'static str>,
    /// Numbers will do for the object's operations: its skeleton knows them, and nothing else has to.
    pub(super) by_number: bool,
    /// Something else has to know the operation's name.
    pub(super) needs_name: bool,
    /// A context says how the request is wanted: INVOCATION_POLICIES.
    pub(super) has_policies: bool,
    /// It is in the place of another oneway with its head.
    goes_on: bool,
    /// What its reply is composed in.
    pub(super) memory: Vec<u8>,
}

/// Where a request comes from, and to whom.
pub(super) struct Source {
    pub(super) orb: Orb,
    pub(super) connection: Arc<Connection>,
}

/// What few requests have.
#[derive(Default)]
pub(super) struct Aside {
    /// The object key, where the message named its target by a profile.
    pub(super) key: Option<Octets>,
    /// The object key that the one in the message stands for, where that is a plain one.
    pub(super) meant: Option<Bytes>,
    /// Where interceptors see it.
    pub(super) watch: Option<Box<Watch>>,
}

impl Aside {
    /// Of a target that is named by a profile.
    #[cold]
    pub(super) fn of_profile(target: &Target) -> Option<Box<Aside>> {
        target.object_key().map(|key| Box::new(Aside { key: Some(key), ..Aside::default() }))
    }
}

static NO_CONTEXTS: ServiceContexts = ServiceContexts::new();

impl Call {
    /// A call from within this process.
    #[inline(always)]
    pub(crate) fn local(local: Local) -> Call {
        Call { origin: Origin::Local(local), object_id: Position::default() }
    }

    /// A collocated call once more, for who keeps it after it has returned.
    pub(super) fn again(&self) -> Call {
        let (operation, id) = match &self.origin {
            Origin::Local(local) => (local.operation(), local.id()),
            Origin::Remote(_) => ("", self.object_id),
        };
        Call::local(Local::told(operation, self.orb().clone(), Bytes::copy_from_slice(self.object_key()), id))
    }

    /// The object id that the adapter knows this object by.
    pub fn object_id(&self) -> &[u8] {
        let id = match &self.origin {
            Origin::Remote(_) => self.object_id,
            Origin::Local(local) => local.id(),
        };
        self.object_key().get(id.range()).unwrap_or_default()
    }

    /// The adapter that serves the object.
    pub fn adapter(&self) -> Option<Poa> {
        self.orb().adapters().adapter(self.orb(), self.object_key())
    }

    /// The operation's name on the wire. Empty while the message names it by a number of which the skeleton has yet to say
    /// what it stands for.
    #[inline]
    pub fn operation(&self) -> &str {
        match &self.origin {
            Origin::Remote(remote) => remote.operation(),
            Origin::Local(local) => local.operation(),
        }
    }

    /// Who calls; `None` when the caller lives in this process.
    pub fn peer(&self) -> Option<&Endpoint> {
        self.remote().map(|remote| remote.source().connection.peer())
    }

    /// The caller has given the call up (CancelRequest, or its connection is gone).
    #[inline(always)]
    pub fn is_cancelled(&self) -> bool {
        match self.remote() {
            Some(remote) => remote.source().connection.has_cancelled(remote.id),
            None => false,
        }
    }

    /// What came beside the request.
    pub fn contexts(&self) -> &ServiceContexts {
        self.remote().map_or(&NO_CONTEXTS, |remote| remote.head.contexts())
    }

    /// What its caller waits for: the target, the server, or nothing, whatever scope that has there.
    pub(crate) fn response_scope(&self) -> SyncScope {
        match self.remote().map(|remote| remote.response.0 & 3) {
            Some(3) | None => SyncScope::WithTarget,
            Some(1) => SyncScope::WithServer,
            Some(_) => SyncScope::None,
        }
    }

    /// Whether it came by the messaging protocol of that name.
    pub(crate) fn came_by(&self, messaging: &str) -> bool {
        self.remote().is_some_and(|remote| remote.source().connection.messaging().name() == messaging)
    }

    /// The ORB that serves.
    #[inline]
    pub fn orb(&self) -> &Orb {
        match &self.origin {
            Origin::Remote(remote) => &remote.source().orb,
            Origin::Local(local) => local.orb(),
        }
    }

    /// A reference to the object that serves the call, for it to hand out (PortableServer's `Current::get_reference`).
    ///
    /// # Errors
    /// The ORB was shut down, so that the reference would lead nowhere.
    pub fn this<I: Interface>(&self) -> Result<I, SystemException> {
        let profiles = match self.adapter() {
            Some(adapter) => adapter.profiles(self.object_key())?,
            None => self.orb().server().profiles(self.orb(), self.object_key(), None)?,
        };
        let ior = Ior { type_id: I::INFO.id.into(), profiles };
        ObjectRef::new(self.orb(), ior)
            .map(I::from_object)
            .ok_or_else(|| SystemException::ObjAdapter("this ORB publishes no endpoint"))
    }

    #[inline]
    pub(super) fn object_key(&self) -> &[u8] {
        match &self.origin {
            Origin::Remote(remote) => remote.object_key(),
            Origin::Local(local) => local.object_key(),
        }
    }

    #[inline]
    pub(super) fn remote(&self) -> Option<&Remote> {
        match &self.origin {
            Origin::Remote(remote) => Some(remote),
            Origin::Local(_) => None,
        }
    }
}

impl Remote {
    /// Room for a request.
    pub(super) fn vacant() -> Remote {
        Remote {
            source: None,
            head: Head::none(),
            body: Body::empty(),
            version: Version::V1_0,
            id: 0,
            response: ResponseFlags::NONE,
            aside: ManuallyDrop::new(None),
            code_sets: CodeSets::default(),
            owed: false,
            oneway: false,
            octets: 0,
            active: None,
            found: None,
            by_number: false,
            needs_name: false,
            has_policies: false,
            goes_on: false,
            memory: Vec::new(),
        }
    }

    /// Takes a request in, but for its head. Field by field: put together elsewhere it would have to be moved here, which for so much
    /// is a call of the C library's.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        source: Source,
        (version, id, response): (Version, u32, ResponseFlags),
        body: Body,
    ) {
        // With the target's answer comes its return; in all other cases nobody waits for that.
        // Only the lower two bits count: the others are reserved, and TAO sets one.
        let owed = response.0 & 3 == ResponseFlags::WITH_TARGET.0;
        self.octets = u32::try_from(body.len()).unwrap_or(u32::MAX);
        // There was neither, so that nothing is to be dropped.
        mem::forget(self.source.replace(source));
        mem::forget(mem::replace(&mut self.body, body));
        (self.version, self.id, self.response) = (version, id, response);
        (self.owed, self.oneway) = (owed, !owed);
        self.found = None;
        (self.by_number, self.needs_name, self.has_policies) = (false, false, false);
        self.goes_on = false;
    }

    /// Takes in another oneway with the same head, when the one before has ended and all else that it held is there: `next` gives its id, and makes
    /// the body of the one before its own.
    #[inline(always)]
    pub(super) fn go_on(&mut self, next: impl FnOnce(&Known, &mut Body) -> Option<u32>) -> Option<usize> {
        self.id = next(self.head.known()?, &mut self.body)?;
        self.octets = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        self.found = None;
        (self.by_number, self.needs_name, self.goes_on) = (false, false, true);
        Some(self.octets as usize)
    }

    /// The arguments have been read, and keep of the body what they need: the memory of small ones is free for the next message. That of a
    /// train is held for the next of the train, which most likely lies there too.
    #[inline(always)]
    pub(super) fn end_arguments(&mut self) {
        if !self.goes_on {
            self.body = Body::empty();
        }
    }

    /// Whether it is a oneway that this thread runs in a train, and nothing was found out for it alone.
    #[inline(always)]
    pub(super) fn runs_in_train(&self) -> bool {
        self.oneway && train::runs(self.identity()) && self.aside.is_none()
    }

    /// Settles its code sets by its service contexts, which may have more to say.
    #[inline(never)]
    pub(super) fn settle_by_contexts(
        &mut self,
        in_force: &mut ServerCodeSets,
    ) -> Result<(), SystemException> {
        let contexts = self.head.contexts();
        if let Err(error) = in_force.for_request(contexts) {
            return Err(SystemException::CodesetIncompatible(error.to_string()).minor(Minor::omg(1)));
        }
        let Source { orb, connection } = self.source();
        if let Some(data) = contexts.find(ContextId::BI_DIR_IIOP) {
            connection.hear_offer(orb, data)?;
        }
        connection.note_code_sets(in_force);
        self.has_policies = contexts.find(ContextId::INVOCATION_POLICIES).is_some();
        self.code_sets = in_force.in_force();
        Ok(())
    }

    /// The request has ended; nothing of it is kept.
    #[inline(always)]
    pub(super) fn end(&mut self) {
        self.source = None;
        self.head.end();
        self.body = Body::empty();
    }

    /// Where it comes from.
    #[inline(always)]
    pub(super) fn source(&self) -> &Source {
        match &self.source {
            Some(source) => source,
            None => unreachable!("room for a request is in nobody's hands"),
        }
    }

    /// What interceptors keep of it.
    #[inline(always)]
    pub(super) fn watch(&self) -> Option<&Watch> {
        self.aside.as_ref()?.watch.as_deref()
    }

    pub(super) fn take_watch(&mut self) -> Option<Box<Watch>> {
        self.aside.as_mut()?.watch.take()
    }

    pub(super) fn put_watch(&mut self, watch: Box<Watch>) {
        self.aside.get_or_insert_default().watch = Some(watch);
    }

    #[inline]
    pub(super) fn format(&self) -> Format {
        Format { version: self.version, code_sets: self.code_sets }
    }

    #[inline]
    fn operation(&self) -> &str {
        let named = || str::from_utf8(self.head.operation()).unwrap_or("\u{fffd}");
        self.found.copied().unwrap_or_else(named)
    }

    #[inline(never)]
    pub(super) fn find_number(&mut self, operations: &'static Operations) -> Option<usize> {
        let place = match self.found {
            Some(name) => operations.find(name.as_bytes())?,
            None => operations.find_number(self.head.number()?)?,
        };
        self.found = operations.names.get(place);
        self.by_number = !self.needs_name;
        Some(place)
    }

    #[inline]
    pub(super) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    #[inline]
    fn object_key(&self) -> &[u8] {
        let meant = self.aside.as_ref().and_then(|aside| aside.meant.as_deref());
        meant.unwrap_or_else(|| self.named_key())
    }

    /// Whether the message named its object by a profile that has a key.
    pub(super) fn has_key_aside(&self) -> bool {
        self.aside.as_ref().is_some_and(|aside| aside.key.is_some())
    }

    /// The key by which the message named its object.
    #[inline]
    pub(super) fn named_key(&self) -> &[u8] {
        let aside = || self.aside.as_ref().and_then(|aside| aside.key.as_deref());
        self.head.key().or_else(aside).unwrap_or_default()
    }
}
