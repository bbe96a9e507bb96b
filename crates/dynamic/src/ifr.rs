//! The interface repository (CORBA 3.3 part 1, chapter 14): descriptions as objects, served and read.
//!
//! ```text
//! Repository ── serve ──► objects CORBA::Repository, ModuleDef, InterfaceDef, …      (any ORB's tools read them)
//! Interface ◄── read ──── a CORBA::InterfaceDef of any ORB's repository
//! ```
//!
//! Served is the side that reads: lookups, contents, descriptions, and the objects of types, anonymous ones too. What would
//! change a repository (`create_…`, `destroy`, `move`, setting attributes) is answered with `NO_PERMISSION`: IDL files are
//! what is to be changed. Components and homes are served as the interfaces that stand for them, event types as values,
//! bit sets and bit masks as aliases; a map's pair, which has no name, has no object. The repository's own objects are described, too, to
//! who asks them for their interface; what it contains is what it was given.

mod describe;
mod own;
mod read;
mod serve;
mod subject;

pub(crate) use read::{extended_operations, plain_operations};
pub use read::{interface, lookup, value_type};
pub use serve::{NAME, serve};
pub(crate) use subject::check_object_id;

mod generated {
    include!(concat!(env!("OUT_DIR"), "/InterfaceRepository.rs"));
}
/// The stubs and types of `idl/InterfaceRepository.idl`.
pub use generated::CORBA;
