//! The caller's side: what its interceptors are, and what they see of a request.

use std::borrow::Cow;

use bytes::Bytes;
use zorb_cdr::Any;
use zorb_giop::{ComponentTag, ContextId, ResponseFlags, ServiceContexts};

use super::current::{InvalidSlot, SlotId, Slots};
use super::outcome::{Intervention, ObservedException, Outcome, ReplyStatus};
use crate::exception::{Minor, SystemException};
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::policy::SyncScope;

/// Sees the requests that an ORB makes, on the thread that makes them.
///
/// Whatever the call is made by: a stub, a future, a oneway, dynamic invocation, a bridge. Calls that an interceptor itself makes through
/// the same ORB are seen too; a slot of the thread's [`Current`](super::Current) tells them apart, lest they have no end. A panic ends the request
/// in `UNKNOWN`.
pub trait ClientRequestInterceptor: Send + Sync {
    /// What it is called in events.
    fn name(&self) -> &str {
        "anonymous"
    }

    /// Before the request is written. Service contexts that are added here go with it.
    ///
    /// # Errors
    /// What happens in place of sending it; completion is to be *no*.
    fn send_request(&self, info: &mut ClientRequestInfo) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }

    /// A [`Poller`](crate::rt::Poller) asks for the outcome of the request, which is under way: each time that it is asked, before it looks. Runs first to
    /// last.
    ///
    /// # Errors
    /// What the request ends in: those whose starting point was passed are told so, and the call is given up.
    fn send_poll(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// A result has come; it is decoded afterwards, so that a call may still end in `MARSHAL`.
    ///
    /// # Errors
    /// What the caller gets in its place; completion is to be *yes*.
    fn receive_reply(&self, info: &ClientRequestInfo) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// The call ends in an exception, whether the server raised it or the request could not be made.
    ///
    /// # Errors
    /// What happens in its place.
    fn receive_exception(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }

    /// The request ended otherwise: it is forwarded, to be made again, or a oneway that has been sent; see
    /// [`ClientRequestInfo::reply_status`].
    ///
    /// # Errors
    /// What happens in place of that.
    fn receive_other(&self, info: &ClientRequestInfo) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }
}

/// A request as the caller's interceptors see it: one attempt. A forward makes another, with an id of its own.
pub struct ClientRequestInfo {
    pub(super) id: u32,
    pub(super) operation: Cow<'static, str>,
    pub(super) target: ObjectRef,
    /// Where it goes, if that is not the target itself.
    pub(super) elsewhere: Option<ObjectRef>,
    pub(super) response: ResponseFlags,
    pub(super) contexts: ServiceContexts,
    pub(super) reply_contexts: ServiceContexts,
    pub(super) slots: Slots,
    pub(super) outcome: Option<Outcome>,
}

impl ClientRequestInfo {
    /// Tells the request from others of this ORB that are under way. It is not the id in its message.
    pub fn request_id(&self) -> u32 {
        self.id
    }

    /// The operation's name on the wire: attributes are `_get_x` and `_set_x`.
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// The ORB.
    pub fn orb(&self) -> &Orb {
        self.target.orb()
    }

    /// The reference that was called. Its policies are those of the call (`get_request_policy`).
    pub fn target(&self) -> &ObjectRef {
        &self.target
    }

    /// Where the request goes: the target, or what it was forwarded to.
    pub fn effective_target(&self) -> &ObjectRef {
        self.elsewhere.as_ref().unwrap_or(&self.target)
    }

    /// The data of the first component with this tag in the effective target's profiles (`get_effective_component`).
    pub fn effective_component(&self, tag: ComponentTag) -> Option<Bytes> {
        super::ior::component(self.effective_target().ior(), tag)
    }

    /// Whether the caller waits for a result (`response_expected`): not for oneways.
    pub fn response_expected(&self) -> bool {
        self.response == ResponseFlags::WITH_TARGET
    }

    /// How far a oneway is waited for; of other requests [`SyncScope::WithTarget`].
    pub fn sync_scope(&self) -> SyncScope {
        match self.response {
            ResponseFlags::WITH_TARGET => SyncScope::WithTarget,
            response if response.expects_reply() => SyncScope::WithServer,
            _ => self.target.limits().sync_scope,
        }
    }

    /// How it ended; `None` until it has.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.outcome.as_ref().map(Outcome::status)
    }

    /// Where it is forwarded to, if that is how it ended (`forward_reference`).
    pub fn forward_reference(&self) -> Option<&ObjectRef> {
        self.outcome.as_ref().and_then(Outcome::forward)
    }

    /// The exception that it ended in (`received_exception`).
    pub fn received_exception(&self) -> Option<ObservedException<'_>> {
        self.outcome.as_ref().and_then(Outcome::exception)
    }

    /// The service context `id` among those that were added (`get_request_service_context`); the code sets are announced by the
    /// connection, and not among them.
    pub fn request_service_context(&self, id: ContextId) -> Option<&Bytes> {
        self.contexts.find(id)
    }

    /// The service context `id` that came with the reply (`get_reply_service_context`).
    pub fn reply_service_context(&self, id: ContextId) -> Option<&Bytes> {
        self.reply_contexts.find(id)
    }

    /// Adds a service context to the request. `data` is an encapsulation as a rule, such as a [`Codec`](super::Codec) makes.
    /// Messages of every GIOP version carry it; those by GIOPlite alone, and frames, carry none.
    ///
    /// # Errors
    /// `BAD_INV_ORDER` (OMG 15): there is one of this id, and it is not to be replaced. `BAD_PARAM`: the code sets, which the ORB itself
    /// announces.
    pub fn add_request_service_context(
        &mut self,
        id: ContextId,
        data: impl Into<Bytes>,
        replace: bool,
    ) -> Result<(), SystemException> {
        add_context(&mut self.contexts, id, data.into(), replace)
    }

    /// What the calling thread had in the slot when the call was made (`get_slot`).
    ///
    /// # Errors
    /// The ORB's builder did not allocate the slot.
    pub fn slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        self.slots.get(self.orb(), slot)
    }
}

pub(super) fn add_context(
    contexts: &mut ServiceContexts,
    id: ContextId,
    data: Bytes,
    replace: bool,
) -> Result<(), SystemException> {
    if id == ContextId::CODE_SETS {
        return Err(SystemException::BadParam("the code sets are announced by the ORB itself"));
    }
    if contexts.find(id).is_some() {
        if !replace {
            let text = format!("service context {id} was added before");
            return Err(SystemException::BadInvOrder(text).minor(Minor::omg(15)));
        }
        *contexts = contexts.iter().filter(|context| context.id != id).cloned().collect();
    }
    contexts.push(id, data);
    Ok(())
}
