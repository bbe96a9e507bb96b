//! The object's side: what its interceptors are, and what they see of a request.

use std::borrow::Cow;

use bytes::Bytes;
use zorb_cdr::Any;
use zorb_giop::{ContextId, ServiceContexts};

use super::client::add_context;
use super::current::{Current, InvalidSlot, SlotId};
use super::outcome::{Intervention, ObservedException, Outcome, ReplyStatus};
use super::watch::State;
use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::poa::Poa;
use crate::policy::SyncScope;
use crate::server::request::Call;
use crate::skeleton::Skeleton;
use crate::transport::Endpoint;

/// Sees the requests that an ORB serves: those that reach its object adapters. What is refused before, such as a request beyond the
/// server's limits, is not seen, nor is a LocateRequest.
///
/// A panic ends the request in `UNKNOWN`.
pub trait ServerRequestInterceptor: Send + Sync {
    /// What it is called in events.
    fn name(&self) -> &str {
        "anonymous"
    }

    /// A request has come; no servant was looked for yet, and this thread need not be the one that will run it. The place to read service
    /// contexts and [set slots](ServerRequestInfo::set_slot).
    ///
    /// # Errors
    /// What the caller gets; completion is to be *no*.
    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }

    /// The servant was found and is about to be called, in this thread.
    ///
    /// # Errors
    /// What the caller gets; completion is to be *no*.
    fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }

    /// The servant has given a result, which is not encoded yet. If it cannot be the caller gets an exception, which interceptors do not see.
    ///
    /// # Errors
    /// What the caller gets in its place; completion is to be *yes*.
    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// The request ends in an exception.
    ///
    /// # Errors
    /// What the caller gets in its place.
    fn send_exception(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }

    /// The request ends otherwise: the caller is sent elsewhere, or waits for nothing.
    ///
    /// # Errors
    /// What the caller gets in place of that, if it gets anything.
    fn send_other(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Intervention> {
        let _ = info;
        Ok(())
    }
}

/// A request as the object's interceptors see it.
pub struct ServerRequestInfo<'r> {
    pub(super) call: &'r Call,
    pub(super) state: &'r mut State,
    pub(super) servant: Option<&'r dyn Skeleton>,
}

impl ServerRequestInfo<'_> {
    /// Tells the request from others of this ORB that are under way. It is not the id in its message.
    pub fn request_id(&self) -> u32 {
        self.state.id
    }

    /// The operation's name on the wire: attributes are `_get_x` and `_set_x`.
    pub fn operation(&self) -> &str {
        self.call.operation()
    }

    /// The ORB.
    pub fn orb(&self) -> &Orb {
        self.call.orb()
    }

    /// Who calls, as its transport says.
    pub fn peer(&self) -> Option<&Endpoint> {
        self.call.peer()
    }

    /// Whether the caller waits for a result (`response_expected`).
    pub fn response_expected(&self) -> bool {
        self.sync_scope() == SyncScope::WithTarget
    }

    /// What the caller waits for: the server, the target, or (said as [`SyncScope::None`]) nothing.
    pub fn sync_scope(&self) -> SyncScope {
        self.call.response_scope()
    }

    /// How it ends; `None` before that is known.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.state.outcome.as_ref().map(Outcome::status)
    }

    /// Where the caller is sent, if that is how it ends (`forward_reference`).
    pub fn forward_reference(&self) -> Option<&ObjectRef> {
        self.state.outcome.as_ref().and_then(Outcome::forward)
    }

    /// The exception that it ends in (`sending_exception`).
    pub fn sending_exception(&self) -> Option<ObservedException<'_>> {
        self.state.outcome.as_ref().and_then(Outcome::exception)
    }

    /// What came beside the request.
    pub fn request_service_contexts(&self) -> &ServiceContexts {
        self.call.contexts()
    }

    /// The service context `id` that came with the request (`get_request_service_context`).
    pub fn request_service_context(&self, id: ContextId) -> Option<&Bytes> {
        self.call.contexts().find(id)
    }

    /// The service context `id` among those that were added to the reply (`get_reply_service_context`).
    pub fn reply_service_context(&self, id: ContextId) -> Option<&Bytes> {
        self.state.reply_contexts.find(id)
    }

    /// Adds a service context to the reply, whatever that will be, at any point.
    ///
    /// # Errors
    /// `BAD_INV_ORDER` (OMG 15): there is one of this id, and it is not to be replaced. `BAD_PARAM`: code sets are no affair of replies.
    pub fn add_reply_service_context(
        &mut self,
        id: ContextId,
        data: impl Into<Bytes>,
        replace: bool,
    ) -> Result<(), SystemException> {
        add_context(&mut self.state.reply_contexts, id, data.into(), replace)
    }

    /// The object's id in its adapter; `None` where no servant was found, or not yet.
    pub fn object_id(&self) -> Option<&[u8]> {
        self.state.located.then(|| self.call.object_id())
    }

    /// The object's adapter, whose [`id`](Poa::id) is the `adapter_id`, and whose policies are those of the server
    /// (`get_server_policy`); `None` as for [`object_id`](Self::object_id).
    pub fn adapter(&self) -> Option<Poa> {
        self.state.located.then(|| self.call.adapter()).flatten()
    }

    /// The names of the adapter, from the root's on (`adapter_name`); empty where there is none.
    pub fn adapter_name(&self) -> Vec<String> {
        self.adapter().map_or_else(Vec::new, |adapter| adapter.path_names())
    }

    /// The repository id of the servant's most derived interface; in `receive_request` alone.
    pub fn target_most_derived_interface(&self) -> Option<Cow<'_, str>> {
        self.servant.map(Skeleton::repository_id)
    }

    /// Whether the servant has the interface `id`; in `receive_request` alone.
    pub fn target_is_a(&self, id: &str) -> Option<bool> {
        self.servant.map(|servant| servant.is_a(id))
    }

    /// The request's slot (`get_slot`).
    ///
    /// # Errors
    /// The ORB's builder did not allocate the slot.
    pub fn slot(&self, slot: SlotId) -> Result<Any, InvalidSlot> {
        self.state.slots.get(self.orb(), slot)
    }

    /// Sets the request's slot (`set_slot`): what the servant finds in its thread's [`Current`], and ending points here.
    ///
    /// # Errors
    /// As for [`slot`](Self::slot).
    pub fn set_slot(&mut self, slot: SlotId, value: Any) -> Result<(), InvalidSlot> {
        if self.state.runs_here() {
            Current::new(self.orb().clone()).set_slot(slot, value.clone())?;
        }
        let orb = self.call.orb();
        self.state.slots.set(orb, slot, value)
    }
}
