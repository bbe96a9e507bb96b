//! Calls and servants of interfaces that are learnt at run time: dynamic invocation (CORBA 3.4 part 1, chapter 11) and dynamic
//! skeletons (chapter 12).
//!
//! ```text
//! Signature ──► Request ── invoke, send_oneway ──────────► Results, or DynamicError
//!                       └─ send_deferred ──► Deferred ───► the same, awaited, polled or waited for
//!
//! DynamicServant::invoke(DynamicRequest) ── arguments(Signature) ──► the arguments, and a DynamicReply to answer by
//! ```
//!
//! Arguments and results are [`Any`]s; on the wire they are what a stub sends and a skeleton answers, so that neither side
//! can tell who is dynamic. A [`Signature`] says what a stub knows: where it comes from (IDL, an interface repository, a
//! program's own knowledge) is no matter of this module.
//!
//! ```
//! use std::sync::Arc;
//! use zorb_orb::Orb;
//! use zorb_orb::dynamic::{
//!     DynamicRequest, DynamicServant, Request, Results, Signature, dynamic_servant,
//! };
//! use zorb_orb::rt::Described;
//! use zorb_cdr::Any;
//!
//! fn add() -> Arc<Signature> {
//!     let long = i32::type_code();
//!     Arc::new(Signature::new("add").takes("a", long.clone()).takes("b", long.clone()).gives(long))
//! }
//!
//! struct Adder;
//!
//! impl DynamicServant for Adder {
//!     fn repository_id(&self) -> &str {
//!         "IDL:Adder:1.0"
//!     }
//!
//!     fn invoke(&self, request: DynamicRequest) {
//!         if request.operation() != "add" {
//!             return request.unknown_operation();
//!         }
//!         let Some((reply, arguments)) = request.arguments(&add()) else { return };
//!         let sum = arguments.iter().map(|it| it.get::<i32>().unwrap_or(0)).sum::<i32>();
//!         reply.results(Results::of(Any::new(&sum).unwrap_or_default()));
//!     }
//! }
//!
//! let orb = Orb::builder().build();
//! let poa = orb.root_poa()?;
//! let adder = poa.activate_servant(dynamic_servant(Arc::new(Adder)), "IDL:Adder:1.0")?;
//! poa.manager().activate()?;
//!
//! let arguments = [Any::new(&3)?, Any::new(&4)?];
//! let results = Request::new(&adder, add())?.invoke(&arguments)?;
//! assert_eq!(results.result.get::<i32>()?, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod names;
mod request;
mod servant;
mod signature;

pub use request::{Deferred, Request};
pub use servant::{DynamicReply, DynamicRequest, DynamicServant, dynamic_servant};
pub use signature::{Mode, Parameter, Signature};

use std::fmt;

use zorb_cdr::Any;

use crate::exception::{Exception, SystemException};

/// What a call gives when no exception was raised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Results {
    /// What the operation returns; empty where it returns nothing.
    pub result: Any,
    /// Its `out` and `inout` parameters, in the order of the signature.
    pub outputs: Vec<Any>,
}

impl Results {
    /// Of an operation without `out` parameters.
    pub fn of(result: Any) -> Results {
        Results { result, outputs: Vec::new() }
    }

    /// Of an operation that returns nothing, and has no `out` parameters.
    pub fn nothing() -> Results {
        Results::of(Any::default())
    }

    /// The same with another `out` or `inout` parameter behind those that it has.
    #[must_use]
    pub fn and(mut self, output: Any) -> Results {
        self.outputs.push(output);
        self
    }
}

/// What a dynamic call ended with when it gave no results.
#[derive(Clone, Debug, PartialEq)]
pub enum DynamicError {
    /// A user exception that the signature names: of kind except, with its members.
    User(Any),
    /// A system exception.
    System(SystemException),
}

impl From<SystemException> for DynamicError {
    fn from(exception: SystemException) -> Self {
        DynamicError::System(exception)
    }
}

/// A user exception becomes `UNKNOWN` with its repository id: as who does not declare it sees it.
impl From<DynamicError> for Exception {
    fn from(error: DynamicError) -> Self {
        match error {
            DynamicError::User(exception) => {
                let id = exception.type_code().id().unwrap_or_default().to_owned();
                Exception::System(signature::undeclared(&id))
            }
            DynamicError::System(exception) => Exception::System(exception),
        }
    }
}

impl fmt::Display for DynamicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DynamicError::User(exception) => {
                write!(f, "user exception {}", exception.type_code().id().unwrap_or("without an id"))
            }
            DynamicError::System(exception) => exception.fmt(f),
        }
    }
}

impl std::error::Error for DynamicError {}
