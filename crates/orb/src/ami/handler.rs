//! Reply handlers: objects that take the replies of asynchronous calls, wherever they are.

use std::ops::Deref;

use zorb_cdr::Value;

use super::ExceptionHolder;
use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::object::asynchronous::Pending;
use crate::raised::OperationError;
use crate::rt::{Served, ServedBy};
use crate::server::request::ServerRequest;
use crate::skeleton::{Interface, InterfaceInfo};

/// What all reply handlers inherit from (`Messaging::ReplyHandler`).
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyHandler {
    object: ObjectRef,
}

/// What an implementation of a reply handler provides: nothing that all handlers have, so any type does.
pub trait ReplyHandlerServant: Send + Sync + 'static {}

impl<S: Send + Sync + 'static> ReplyHandlerServant for S {}

impl Interface for ReplyHandler {
    const INFO: &'static InterfaceInfo =
        &InterfaceInfo { id: "IDL:omg.org/Messaging/ReplyHandler:1.0", ancestors: &[] };

    fn from_object(object: ObjectRef) -> Self {
        Self { object }
    }

    fn as_object(&self) -> &ObjectRef {
        &self.object
    }
}

impl Deref for ReplyHandler {
    type Target = ObjectRef;

    fn deref(&self) -> &ObjectRef {
        &self.object
    }
}

impl Served for ReplyHandler {
    type Servant = dyn ReplyHandlerServant;

    fn dispatch(_: &Self::Servant, request: ServerRequest) {
        request.unknown_operation();
    }
}

impl<S: ReplyHandlerServant> ServedBy<S> for ReplyHandler {
    fn lend(servant: &S) -> &Self::Servant {
        servant
    }

    fn share(servant: std::sync::Arc<S>) -> std::sync::Arc<Self::Servant> {
        servant
    }
}

/// Has the outcome of a call brought to a reply handler: `answer` calls its method with results, `excep` the one that takes an
/// exception. Without a handler the outcome is dropped. What `sendc_` stubs end in.
///
/// # Errors
/// The call could not be begun. What goes wrong between this ORB and the handler is told to operators (`tracing`) alone.
pub fn sendc<H: Interface + Send, R: Send + 'static, E: OperationError>(
    call: Pending<R, E>,
    handler: Option<&H>,
    answer: impl FnOnce(&H, R) -> Result<(), SystemException> + Send + 'static,
    excep: fn(&H, &Option<Value<ExceptionHolder>>) -> Result<(), SystemException>,
) -> Result<(), SystemException> {
    let operation = call.operation();
    let handler = handler.cloned();
    let begun = call.deliver(move |outcome| {
        let Some(handler) = handler else { return };
        let answered = match outcome {
            Ok(results) => answer(&handler, results),
            Err(error) => excep(&handler, &Some(Value::new(ExceptionHolder::of(&error)))),
        };
        if let Err(exception) = answered {
            tracing::warn!(operation, %exception, "a reply handler could not be given a reply");
        }
    });
    begun.map_err(|error| match error.raised() {
        crate::raised::Raised::System(exception) => exception.clone(),
        crate::raised::Raised::User(exception) => {
            SystemException::Internal(format!("{exception}: raised before the call was begun"))
        }
    })
}
