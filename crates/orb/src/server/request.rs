//! A request on its way through a skeleton.
//!
//! A [`ServerRequest`] is owned by whoever is to answer it: the skeleton as a rule, or another thread to which the
//! servant hands it. It knows its connection, so the answer needs nothing else. What a message looks like is
//! `reply`'s part; what the servant sees of it, `call`'s; finding the servant is the object adapter's.

use std::any::Any;
use std::mem::{self, ManuallyDrop};
use std::num::NonZeroU64;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use zorb_cdr::{Body, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Version};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{ReplyStatus, Request, ResponseFlags, Target, request_end};

pub use super::call::Call;
use super::call::{Aside, Origin, Position, Remote, Source};
use super::connection::Connection;
use super::dispatch::train;
use super::head::OwnHead;
use super::implicit::Implicit;
use super::known::Known;
use super::memory;
use super::order::Ordered;
use super::reply;
use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::interceptors::{Outcome, Watch};
use crate::marshal::{decode_exception, encode_exception};
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::poa::{Active, ActiveObject, Remembered};
use crate::policy::invocation::has_passed;
use crate::probes::{Point, passed};
use crate::raised::{OperationError, Raised};
use crate::rt::Operations;
use crate::skeleton::Skeleton;

/// A request in a skeleton's hands: owned, so that it may be answered later and from any thread.
///
/// Dropped unanswered it answers by itself with `NO_RESPONSE`, so that no caller waits in vain; dropped by a panic,
/// with `UNKNOWN`.
///
/// It stays in one place from its first step to its last; what is handed on is a pointer.
pub struct ServerRequest(Option<Box<Call>>);

/// What reads arguments, with their names in its errors.
#[inline]
pub fn named_arguments<A>(
    names: &'static [&'static str],
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<A, DecodeError>,
) -> impl FnOnce(&mut Decoder<'_>) -> Result<A, DecodeError> {
    move |from| decode(from).map_err(|error| error.with_parts(names))
}

impl ServerRequest {
    /// Takes a message in. The connection counts it before anything else is done with it.
    #[inline]
    pub(super) fn new(connection: Arc<Connection>, request: Request, orb: Orb) -> ServerRequest {
        let aside = match &request.target {
            Target::ObjectKey(_) => None,
            target => Aside::of_profile(target),
        };
        let Request { version, id, response, target, contexts, body, operation, number } = request;
        Self::begin(Source { orb, connection }, (version, id, response), body, |remote| {
            remote.head.begin_own(OwnHead { target, operation, number, contexts });
            remote.aside = ManuallyDrop::new(aside);
        })
    }

    /// The same for a message whose head is known.
    #[inline(always)]
    pub(super) fn known(
        connection: Arc<Connection>,
        known: Arc<Known>,
        (id, body): (u32, Body),
        orb: Orb,
    ) -> ServerRequest {
        let response = known.head().response();
        Self::begin(Source { orb, connection }, (Version::V1_2, id, response), body, |remote| {
            remote.head.begin_known(known);
        })
    }

    #[inline(always)]
    fn begin(
        source: Source,
        ids: (Version, u32, ResponseFlags),
        body: Body,
        head: impl FnOnce(&mut Remote),
    ) -> ServerRequest {
        let mut call = memory::room();
        call.object_id = Position::default();
        if let Origin::Remote(remote) = &mut call.origin {
            remote.begin(source, ids, body);
            head(remote);
        }
        ServerRequest(Some(call))
    }

    /// A oneway that has ended, for the next message with its head to take [its place](Self::go_on). Otherwise it is dropped, and has ended.
    pub(super) fn in_its_place(call: Box<Call>) -> ServerRequest {
        ServerRequest(Some(call))
    }

    /// Puts another message with its head in the place of one that has ended, if `next` [gives one](Remote::go_on); how many octets of arguments it has.
    #[inline]
    pub(super) fn go_on(&mut self, next: impl FnOnce(&Known, &mut Body) -> Option<u32>) -> Option<usize> {
        self.remote_mut()?.go_on(next)
    }

    /// Its head, if the next oneway with that may [take its place](super::dispatch::train): nobody waits for anything, and nothing was
    /// found out for it alone.
    #[inline]
    pub(super) fn may_be_of_train(&self) -> Option<&Arc<Known>> {
        let remote = self.remote()?;
        let is_plain = remote.oneway && !remote.response.expects_reply() && remote.aside.is_none();
        remote.head.known().filter(|_| is_plain)
    }

    /// Whether its object is the one that was found for an earlier request with its head, and is there still. Otherwise it counts no
    /// more as that object's.
    #[inline]
    pub(crate) fn finds_again(&mut self, object: &ActiveObject) -> bool {
        let finds = self.remembered().is_some_and(|remembered| remembered.holds(object));
        if !finds && let Some(remote) = self.remote_mut() {
            remote.active = None;
        }
        finds
    }

    /// What the connection keeps count of: the message's version, its octets of arguments, its id.
    #[inline]
    pub(super) fn particulars(&self) -> (Version, usize, u32) {
        let head = |remote: &Remote| (remote.version, remote.octets as usize, remote.id);
        self.remote().map_or((Version::V1_0, 0, 0), head)
    }

    /// Settles the code sets of the request and its reply: those in force, or those that it announces.
    #[inline(always)]
    pub(super) fn settle(&mut self, in_force: &mut ServerCodeSets) -> Result<(), SystemException> {
        let Some(remote) = self.remote_mut() else { return Ok(()) };
        if !remote.head.contexts().is_empty() {
            return remote.settle_by_contexts(in_force);
        }
        remote.code_sets = in_force.in_force();
        Ok(())
    }

    /// Whether it came over a connection that this ORB opened.
    pub(crate) fn is_on_opened_here(&self) -> bool {
        self.remote().is_some_and(|remote| remote.source().connection.is_opened_here())
    }

    /// Whether the message names its object by a key, or by a profile that has one.
    #[inline]
    pub(super) fn names_its_object(&self) -> bool {
        let names = |remote: &Remote| remote.head.key().is_some() || remote.has_key_aside();
        self.remote().is_some_and(names)
    }

    /// The operation's name on the wire.
    #[inline]
    pub fn operation(&self) -> &str {
        self.call().operation()
    }

    /// Its octets, as they came. Empty where the message has a number in their place.
    #[inline]
    pub fn operation_bytes(&self) -> &[u8] {
        self.remote().map_or(&[], |remote| remote.head.operation())
    }

    /// The place of its operation among those of an interface, by the name or the number that it has.
    #[inline(always)]
    pub fn find(&mut self, operations: &'static Operations) -> Option<usize> {
        let remote = self.remote_mut()?;
        let place = match remote.head.known() {
            Some(known) => known.place(operations),
            None if remote.head.number().is_some() => return remote.find_number(operations),
            None => operations.find(remote.head.operation()),
        };
        remote.by_number = !remote.needs_name;
        place
    }

    /// The object that a request with its head has found before.
    #[inline]
    pub(crate) fn remembered(&self) -> Option<&Remembered> {
        self.remote()?.head.known()?.object()
    }

    /// Whether it repeats the head of requests before it, which are to find its object again.
    #[inline]
    pub(crate) fn has_known_head(&self) -> bool {
        self.remote().is_some_and(|remote| remote.head.known().is_some())
    }

    /// What it asks for, if that is what every object answers.
    #[inline(always)]
    fn implicit(&self) -> Option<Implicit> {
        match self.operation_bytes() {
            [b'_', ..] => Implicit::named(self.operation()),
            [] => self.number().and_then(Implicit::numbered),
            _ => None,
        }
    }

    /// What its object is to be found by again.
    pub(crate) fn remember(&self, object: Remembered) {
        if let Some(known) = self.remote().and_then(|remote| remote.head.known()) {
            known.note_object(object);
        }
    }

    /// The operation's number, where the message has that in place of its name and nobody has said yet what it stands for.
    #[inline]
    pub(crate) fn number(&self) -> Option<NonZeroU64> {
        let remote = self.remote()?;
        remote.head.number().filter(|_| remote.found.is_none())
    }

    /// Not only the skeleton has to know the operation's name.
    pub(crate) fn set_needs_name(&mut self) {
        if let Some(remote) = self.remote_mut() {
            remote.needs_name = true;
        }
    }

    /// The context to hand to the servant.
    #[inline]
    pub fn call(&self) -> &Call {
        match &self.0 {
            Some(call) => call,
            None => unreachable!("a request has a call until it is dropped"),
        }
    }

    /// Whether the caller waits for an answer.
    #[inline]
    pub fn expects_reply(&self) -> bool {
        self.remote().is_some_and(|remote| remote.owed)
    }

    /// What names the object.
    #[inline]
    pub(crate) fn object_key(&self) -> &[u8] {
        self.call().object_key()
    }

    /// What the adapter found: where in the key the object id stands, and its count of the request, which is dropped
    /// after the reply.
    #[inline]
    pub(crate) fn set_object(&mut self, object_id: Range<usize>, active: Active) {
        let call = self.call_mut();
        call.object_id = Position::of(&object_id);
        if let Origin::Remote(remote) = &mut call.origin {
            remote.active = Some(active);
        }
    }

    /// From now on the object is known by `key`: what a key of a URL stands for.
    pub(crate) fn set_object_key(&mut self, key: Bytes) {
        if let Some(remote) = self.remote_mut() {
            remote.aside.get_or_insert_default().meant = Some(key);
        }
    }

    /// Reads the arguments; on bad bytes the request has been answered with `MARSHAL` and `None` comes back.
    #[inline]
    pub fn arguments<R>(
        mut self,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
    ) -> Option<(ServerRequest, R)> {
        match self.decoded(decode)? {
            Ok(arguments) => {
                // Who answers later, or elsewhere, keeps nothing of it.
                self.let_message_go();
                Some((self, arguments))
            }
            Err(error) => {
                self.refuse_arguments(&error);
                None
            }
        }
    }

    /// The arguments; `None`: there is no message that they could be read from.
    #[inline(always)]
    fn decoded<R>(
        &mut self,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
    ) -> Option<Result<R, DecodeError>> {
        let remote = self.remote_mut()?;
        let format = remote.format();
        let decoded = decode(&mut Decoder::over_in(&remote.body, format, &remote.source().orb));
        remote.end_arguments();
        if decoded.is_ok() {
            passed(Point::Called);
        }
        Some(decoded)
    }

    /// Keeps no memory of its message any more, whose arguments have been read.
    fn let_message_go(&mut self) {
        if let Some(remote) = self.remote_mut() {
            remote.body = Body::empty();
        }
    }

    #[cold]
    fn refuse_arguments(self, error: &DecodeError) {
        let context = format!("arguments of {}", self.operation());
        self.system_exception(decode_exception(error, Completion::No).context(context));
    }

    /// Has `execute` work on the arguments and answers with what it returns, the result or the exception.
    #[inline]
    pub fn serve<A: Decode, R: Encode, E: OperationError>(
        self,
        execute: impl FnOnce(&Call, A) -> Result<R, E>,
    ) {
        self.serve_by(A::decode, R::encode, execute);
    }

    /// The same of arguments that have these names in errors.
    #[inline]
    pub fn serve_named<A: Decode, R: Encode, E: OperationError>(
        self,
        names: &'static [&'static str],
        execute: impl FnOnce(&Call, A) -> Result<R, E>,
    ) {
        self.serve_by(named_arguments(names, A::decode), R::encode, execute);
    }

    /// The same, where `decode` reads the arguments and `encode` writes the result.
    ///
    /// Never inlined: an interface has one for each operation, and what finds the right one stays small beside a thousand.
    #[inline(never)]
    pub fn serve_by<A, R, E: OperationError>(
        mut self,
        decode: impl FnOnce(&mut Decoder<'_>) -> Result<A, DecodeError>,
        encode: impl for<'r> FnOnce(&'r R, &mut Encoder<'r>) -> Result<(), EncodeError>,
        execute: impl FnOnce(&Call, A) -> Result<R, E>,
    ) {
        // From where they are read to they are not moved, but to the method.
        match self.decoded(decode) {
            Some(Ok(arguments)) => {
                let result = execute(self.call(), arguments);
                self.finish(result, encode);
            }
            Some(Err(error)) => self.refuse_arguments(&error),
            None => {}
        }
    }

    /// Answers with a result.
    #[inline]
    pub fn reply<'r>(mut self, encode: impl FnOnce(&mut Encoder<'r>) -> Result<(), EncodeError>) {
        self.answer(ReplyStatus::NO_EXCEPTION, encode);
    }

    /// Answers with what the servant returned: the result, written by `encode`, or the exception.
    #[inline]
    pub fn finish<R, E: OperationError>(
        mut self,
        result: Result<R, E>,
        encode: impl for<'r> FnOnce(&'r R, &mut Encoder<'r>) -> Result<(), EncodeError>,
    ) {
        passed(Point::Returned);
        match &result {
            Ok(value) => self.answer(ReplyStatus::NO_EXCEPTION, |to| encode(value, to)),
            Err(error) => match error.raised() {
                Raised::User(exception) => self.answer_user_exception(exception.repository_id(), exception),
                Raised::System(exception) => self.answer_exception(exception),
            },
        }
    }

    /// Answers with an exception that the IDL declares.
    pub fn user_exception(mut self, repository_id: &str, members: &dyn Encode) {
        self.answer_user_exception(repository_id, members);
    }

    /// The same of an exception in an any, which has the id before its members.
    pub(crate) fn user_exception_of(mut self, exception: &zorb_cdr::Any) {
        if self.is_watched() && !self.end_watch_in_any(exception) {
            return;
        }
        self.answer(ReplyStatus::USER_EXCEPTION, |to| exception.encode_value(to));
    }

    /// Answers with a system exception.
    pub fn system_exception(mut self, exception: SystemException) {
        self.answer_exception(&exception);
    }

    /// Answers that there is no such operation (`BAD_OPERATION`, OMG minor 2).
    #[cold]
    pub fn unknown_operation(self) {
        if self.number().is_some() {
            // Perhaps it is known by its name.
            return self.ask_back();
        }
        let detail = format!("no operation {:?}", self.operation());
        self.system_exception(SystemException::BadOperation(detail).minor(Minor::omg(2)));
    }

    /// Sends the caller to another object, for this time or for good (which only GIOP 1.2 can say).
    pub(crate) fn forward(mut self, to: &ObjectRef, permanent: bool) {
        self.answer_forward(to, permanent);
    }

    pub(super) fn answer_forward(&mut self, to: &ObjectRef, permanent: bool) {
        if self.is_watched() && !self.end_watch(|_| Outcome::Forward(to.clone())) {
            return;
        }
        let status = match permanent && self.remote().is_some_and(|remote| remote.version >= Version::V1_2) {
            true => ReplyStatus::LOCATION_FORWARD_PERM,
            false => ReplyStatus::LOCATION_FORWARD,
        };
        self.answer(status, |message| to.ior().encode(message));
    }

    /// Asks for the request once more, with the object key (GIOP 1.2) or the operation's name (GIOPlite) that it lacks.
    pub(crate) fn ask_back(mut self) {
        if !self.expects_reply() {
            tracing::warn!(peer = ?self.call().peer(), "a oneway was dropped: it lacks the name of its operation, or of its object");
        }
        if self.is_watched() && !self.end_watch(|_| Outcome::Retry) {
            return;
        }
        self.answer(ReplyStatus::NEEDS_ADDRESSING_MODE, |to| {
            to.write_u16(zorb_giop::AddressingDisposition::KEY_ADDR.0);
            Ok(())
        });
    }

    /// For a oneway whose caller waits for the server, not for the servant: tells it that the request has arrived.
    pub(super) fn confirm_receipt(&self) {
        if let Some(remote) = self.remote()
            && remote.response.expects_reply()
            && !remote.owed
        {
            let _ = reply::send(remote, Vec::new(), ReplyStatus::NO_EXCEPTION, None, |_| Ok(()));
        }
    }

    /// Ends it without a word: its caller has given it up.
    pub fn discard(mut self) {
        if let Some(remote) = self.remote_mut() {
            remote.owed = false;
        }
    }

    /// Whether its caller waits no more, so that it need not start. Who sent a oneway never waited.
    #[inline(always)]
    pub(super) fn is_given_up(&self) -> bool {
        self.expects_reply() && self.call().is_cancelled()
    }

    /// Why it is not to be started any more, where its contexts say until when it was wanted, or what cannot be read of that.
    #[cold]
    fn overdue(&self) -> Option<SystemException> {
        match request_end(self.call().contexts()) {
            Ok(end) => {
                let operation = self.operation();
                let text = || format!("{operation}: the request was not started by its end time");
                end.is_some_and(has_passed).then(|| SystemException::Timeout(text()))
            }
            Err(error) => {
                Some(decode_exception(&error, Completion::No).context("service context INVOCATION_POLICIES"))
            }
        }
    }

    /// A number that no other living request has.
    pub(super) fn identity(&self) -> usize {
        self.remote().map_or(0, Remote::identity)
    }
}

impl Ordered for ServerRequest {
    #[inline]
    fn is_oneway(&self) -> bool {
        self.remote().is_some_and(|remote| remote.oneway)
    }

    /// As the message names it: a place in the order is given back under the key that it was taken by.
    fn key(&self) -> &[u8] {
        self.remote().map_or(&[], Remote::named_key)
    }
}

impl ServerRequest {
    #[inline]
    pub(super) fn remote(&self) -> Option<&Remote> {
        self.call().remote()
    }

    #[inline]
    pub(super) fn remote_mut(&mut self) -> Option<&mut Remote> {
        match &mut self.call_mut().origin {
            Origin::Remote(remote) => Some(remote),
            Origin::Local(_) => None,
        }
    }

    #[inline]
    fn call_mut(&mut self) -> &mut Call {
        match &mut self.0 {
            Some(call) => call,
            None => unreachable!("a request has a call until it is dropped"),
        }
    }

    /// Whether its caller waits, or has waited, for its end.
    pub(super) fn is_two_way(&self) -> bool {
        self.remote().is_some_and(|remote| !remote.oneway)
    }

    /// Gives the answer, once. What cannot be written becomes an exception.
    #[inline]
    fn answer<'r>(
        &mut self,
        status: ReplyStatus,
        body: impl FnOnce(&mut Encoder<'r>) -> Result<(), EncodeError>,
    ) {
        let Some(remote) = self.remote_mut() else { return };
        if remote.watch().is_some() {
            let mut body = Some(body);
            // Asked for at most once.
            return self.answer_watched(status, &mut |to| body.take().map_or(Ok(()), |body| body(to)));
        }
        if !mem::replace(&mut remote.owed, false) {
            return;
        }
        let memory = mem::take(&mut remote.memory);
        match reply::send(remote, memory, status, None, body) {
            Ok(memory) => remote.memory = memory,
            Err(error) => self.answer_unwritable(&error),
        }
    }

    /// The same past interceptors, with their service contexts.
    #[cold]
    fn answer_watched<'r>(
        &mut self,
        status: ReplyStatus,
        body: &mut dyn FnMut(&mut Encoder<'r>) -> Result<(), EncodeError>,
    ) {
        if !self.end_watch_in_result() {
            return;
        }
        let Some(remote) = self.remote_mut() else { return };
        if !mem::replace(&mut remote.owed, false) {
            return;
        }
        let contexts = remote.watch().map(Watch::reply_contexts);
        if let Err(error) = reply::send(remote, Vec::new(), status, contexts, body) {
            self.answer_unwritable(&error);
        }
    }

    #[cold]
    fn answer_unwritable(&mut self, error: &EncodeError) {
        if let Some(remote) = self.remote_mut() {
            remote.owed = true;
        }
        let context = format!("result of {}", self.operation());
        self.answer_exception(&encode_exception(error, Completion::Yes).context(context));
    }

    fn answer_user_exception(&mut self, repository_id: &str, members: &dyn Encode) {
        if self.is_watched() && !self.end_watch_in_user_exception(repository_id, members) {
            return;
        }
        self.answer(ReplyStatus::USER_EXCEPTION, |to| {
            to.write_string(repository_id)?;
            members.encode(to)
        });
    }

    pub(super) fn answer_exception(&mut self, exception: &SystemException) {
        if self.is_watched() && !self.end_watch(|_| Outcome::System(exception.clone())) {
            return;
        }
        tracing::debug!(operation = self.operation(), peer = ?self.call().peer(), %exception, "exception raised");
        self.answer(ReplyStatus::SYSTEM_EXCEPTION, |to| {
            to.write_string(exception.kind.repository_id())?;
            to.write_u32(exception.minor.0);
            to.write_u32(exception.completed as u32);
            Ok(())
        });
    }

    #[cold]
    fn answer_for_the_silent(&mut self) {
        if !self.expects_reply() && !std::thread::panicking() {
            self.end_watch(|request| match request.is_two_way() {
                true => Outcome::Unknown,
                false => Outcome::Sent,
            });
            return;
        }
        let (kind, detail) = match std::thread::panicking() {
            true => (Kind::Unknown, "the servant panicked"),
            false => (Kind::NoResponse, "the servant dropped the request unanswered"),
        };
        self.answer_exception(&SystemException::new(kind, Minor::NONE, Completion::Maybe, detail));
    }
}

impl Drop for ServerRequest {
    #[inline]
    fn drop(&mut self) {
        if let Some(call) = self.0.take_if(|call| call.remote().is_some_and(Remote::runs_in_train)) {
            return train::ended(call);
        }
        self.end();
    }
}

impl ServerRequest {
    #[inline(always)]
    fn end(&mut self) {
        if self.remote().is_some_and(|remote| remote.owed || remote.aside.is_some()) {
            self.answer_for_the_silent();
        }
        let Some(mut call) = self.0.take() else { return };
        if let Origin::Remote(remote) = &mut call.origin {
            if let Some(active) = remote.active.take() {
                active.end();
            }
            let ordered = remote.oneway.then(|| remote.named_key());
            remote.source().connection.finished(remote.octets as usize, ordered, remote.identity());
            if remote.aside.is_some() {
                drop(remote.aside.take());
            }
            remote.end();
        }
        memory::keep(call);
    }
}

/// Runs a request on its servant, past interceptors if they see it.
pub(crate) fn invoke(servant: &dyn Skeleton, request: ServerRequest) {
    if request.is_watched() {
        return invoke_watched(servant, request);
    }
    run(servant, request);
}

#[cold]
#[inline(never)]
fn invoke_watched(servant: &dyn Skeleton, request: ServerRequest) {
    let (_upcall, request) = request.receive_watched(servant);
    if let Some(request) = request {
        run(servant, request);
    }
}

/// Runs a request that none sees, or all have seen: the implicit operations here, all others by the skeleton.
#[inline(always)]
pub(crate) fn run(servant: &dyn Skeleton, request: ServerRequest) {
    // Heads of what every object answers are never known.
    let implicit = if request.has_known_head() { None } else { request.implicit() };
    if request.remote().is_some_and(|remote| remote.has_policies)
        && let Some(late) = request.overdue()
    {
        return request.system_exception(late);
    }
    if let Some(implicit) = implicit
        && !servant.serves_implicit_operations()
    {
        return implicit.answer(servant, request);
    }
    // A servant that panics has broken itself at most: the request was owned by the call, and answered in unwinding.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| servant.dispatch(request))) {
        report_panic(servant, &*panic);
    }
}

#[cold]
fn report_panic(servant: &dyn Skeleton, panic: &(dyn Any + Send)) {
    let interface = servant.repository_id();
    tracing::error!("{}; its caller got the same without the text", panic_exception(&interface, panic));
}

/// What a caller learns of a servant's panic.
pub(crate) fn panic_exception(operation: &str, panic: &(dyn Any + Send)) -> SystemException {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    SystemException::Unknown(format!("{operation}: the servant panicked: {text}"))
        .completed(Completion::Maybe)
}
