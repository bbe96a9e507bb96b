//! zorb, a CORBA object request broker: the facade that users depend on.
//!
//! Re-exports only. Generated code lives beside the program that uses it (see `zorb_build`) and calls
//! [`rt`]; programs use the names at this level: [`Orb`], [`ObjectRef`], [`Call`], [`Sequence`], and the
//! exceptions.
//!
//! | where | what |
//! |---|---|
//! | [`guide`] | from IDL to a running server and client, and what to know next |
//! | here | the names that most programs need |
//! | [`poa`] | object adapters |
//! | [`ami`] | replies by closures, reply handlers and pollers |
//! | [`bidirectional`] | calls back over the connection that the client opened |
//! | [`dynamic`] | calls and servants of interfaces that are learnt at run time |
//! | [`interceptors`] | hooks in the way of requests, service contexts, components of references |
//! | [`policy`] | how long calls may take |
//! | [`server`] | threading models and limits |
//! | [`transport`] | what messages travel over, and how to add to it |
//! | [`probes`] | where in a call the time goes |
//! | [`naming`] | the naming service's client, `corbaname:` URLs |
//! | `config` | with the feature of that name: settings from the command line, the environment and a file |
//! | [`cdr`], [`giop`] | values and messages as bytes, for tools |
#![forbid(unsafe_code)]

pub use zorb_cdr as cdr;
pub use zorb_cdr::{
    Any, AnyError, AtBound, Char, CustomMarshal, Described, Describer, DynAny, DynAnyError, Fixed,
    FixedError, Held, LongDouble, Sequence, TCKind, TypeCode, TypeCodeError, TypeRef, Value, ValueBase,
    ValueInfo, ValueType, WChar,
};
#[cfg(feature = "config")]
pub use zorb_config as config;
pub use zorb_giop as giop;
pub use zorb_naming as naming;
pub use zorb_orb::{
    Abstract, AbstractInterface, Call, Completion, Exception, Interface, IntoServant, Kind, Loan, Local,
    Minor, ObjectRef, Orb, OrbBuilder, Properties, SystemException, UserException, ami, bidirectional,
    deposit, dynamic, frames, interceptors, messaging, poa, policy, probes, protocols, rt, server, transport,
};

// The text stands in `docs`, where people look for it; here its code is run.
#[doc = include_str!("../../../docs/guide.md")]
pub mod guide {}

/// Includes what `zorb_build` made of an IDL file in the build script: `zorb::include_idl!("bank")` stands where the Rust
/// of `bank.idl` is to be.
#[macro_export]
macro_rules! include_idl {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
