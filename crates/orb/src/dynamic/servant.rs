//! Dynamic skeletons: a servant that answers any interface, or one that it learns.

use std::borrow::Cow;
use std::sync::Arc;

use zorb_cdr::{Any, Decode as _, Decoder};

use super::signature::{check, check_type, undeclared};
use super::{DynamicError, Results, Signature};
use crate::exception::{Completion, SystemException};
use crate::properties::Properties;
use crate::server::request::{Call, ServerRequest};
use crate::skeleton::{InterfaceInfo, OBJECT_ID, Servant, Skeleton};

/// An implementation whose interface is known at run time only.
///
/// The operations that every object has are answered by [`repository_id`](Self::repository_id) and [`is_a`](Self::is_a);
/// all others come to [`invoke`](Self::invoke).
pub trait DynamicServant: Send + Sync + 'static {
    /// The most derived interface of its objects.
    fn repository_id(&self) -> &str;

    /// Whether its objects have the interface `id`. By default they have the one that
    /// [`repository_id`](Self::repository_id) names, and CORBA::Object.
    fn is_a(&self, id: &str) -> bool {
        id == self.repository_id() || id == OBJECT_ID
    }

    /// Reads the arguments and answers, now or later, from any thread. A request that is dropped answers with
    /// `NO_RESPONSE`, in a panic with `UNKNOWN`.
    fn invoke(&self, request: DynamicRequest);
}

/// The servant as an object adapter takes it:
/// [`Poa::activate_servant`](crate::poa::Poa::activate_servant), or
/// [`Poa::set_default_skeleton`](crate::poa::Poa::set_default_skeleton) for many objects.
pub fn dynamic_servant<S: DynamicServant>(servant: Arc<S>) -> Servant {
    Arc::new(DynamicSkeleton(servant))
}

struct DynamicSkeleton<S>(Arc<S>);

impl<S: DynamicServant> Skeleton for DynamicSkeleton<S> {
    fn interface(&self) -> &'static InterfaceInfo {
        static OBJECT: InterfaceInfo = InterfaceInfo { id: OBJECT_ID, ancestors: &[] };
        &OBJECT
    }

    fn repository_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.repository_id())
    }

    fn is_a(&self, id: &str) -> bool {
        self.0.is_a(id)
    }

    fn dispatch(&self, request: ServerRequest) {
        // What a number stands for only those know who know the names.
        match request.number() {
            Some(_) => request.ask_back(),
            None => self.0.invoke(DynamicRequest(request)),
        }
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// A request whose arguments have not been read.
pub struct DynamicRequest(ServerRequest);

impl DynamicRequest {
    /// The operation's name on the wire: attributes are `_get_x` and `_set_x`.
    pub fn operation(&self) -> &str {
        self.0.operation()
    }

    /// What is known of the call: object id, peer, whether it was given up.
    pub fn call(&self) -> &Call {
        self.0.call()
    }

    /// Reads the arguments: values of the `in` and `inout` parameters, in order, and what the request is answered by. On octets
    /// that are no such arguments the caller has been answered with `MARSHAL`, and `None` comes back.
    ///
    /// Large values share the memory that the message was received in, as long as they live.
    pub fn arguments(self, signature: &Arc<Signature>) -> Option<(DynamicReply, Vec<Any>)> {
        let read = |from: &mut Decoder<'_>| {
            let arguments =
                signature.given().map(|parameter| parameter.read(from)).collect::<Result<_, _>>()?;
            let properties = match signature.contexts.is_empty() {
                true => Properties::new(),
                false => Properties::decode(from).map_err(|error| error.in_what("context"))?,
            };
            Ok((arguments, properties))
        };
        let (request, (arguments, properties)) = self.0.arguments(read)?;
        Some((DynamicReply { request, signature: signature.clone(), properties }, arguments))
    }

    /// Answers that there is no such operation (`BAD_OPERATION`, OMG minor 2).
    pub fn unknown_operation(self) {
        self.0.unknown_operation();
    }

    /// Answers with a system exception.
    pub fn system_exception(self, exception: SystemException) {
        self.0.system_exception(exception);
    }

    /// The request behind it: to be read by other means, or passed on undecoded.
    pub fn into_inner(self) -> ServerRequest {
        self.0
    }
}

/// A request whose arguments have been read, and that is to be answered.
#[must_use = "dropped, it answers with NO_RESPONSE"]
pub struct DynamicReply {
    request: ServerRequest,
    signature: Arc<Signature>,
    properties: Properties,
}

impl DynamicReply {
    /// The properties that came by the operation's `context` clause.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// What is known of the call.
    pub fn call(&self) -> &Call {
        self.request.call()
    }

    /// The operation.
    pub fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// Answers with results, or with an exception. What does not fit the signature becomes an exception for the caller:
    /// `BAD_PARAM` for results of other types, `UNKNOWN` for an undeclared user exception.
    pub fn finish(self, outcome: Result<Results, DynamicError>) {
        match outcome {
            Ok(results) => self.results(results),
            Err(DynamicError::User(exception)) => self.user_exception(exception),
            Err(DynamicError::System(exception)) => self.system_exception(exception),
        }
    }

    /// Answers with results.
    pub fn results(self, results: Results) {
        match self.check(&results) {
            Ok(()) => self.request.reply(|to| {
                results.result.encode_value(to).map_err(|error| error.in_what("result"))?;
                results.outputs.iter().try_for_each(|output| output.encode_value(to))
            }),
            Err(exception) => self.system_exception(exception.completed(Completion::Yes)),
        }
    }

    fn check(&self, results: &Results) -> Result<(), SystemException> {
        let Signature { operation, result, .. } = &*self.signature;
        if self.signature.has_result() {
            check_type(operation, "the result", &results.result, result)?;
        }
        check(operation, &results.outputs, self.signature.outputs())
    }

    /// Answers with a user exception, which is to be one that the signature names.
    pub fn user_exception(self, exception: Any) {
        let id = exception.type_code().id().unwrap_or_default();
        match self.signature.exception(id) {
            Some(declared) if exception.type_code().equivalent(declared) => {
                self.request.user_exception_of(&exception);
            }
            _ => {
                let exception = undeclared(id);
                self.request.system_exception(exception);
            }
        }
    }

    /// Answers with a system exception.
    pub fn system_exception(self, exception: SystemException) {
        self.request.system_exception(exception);
    }
}
