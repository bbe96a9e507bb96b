//! The naming service's client side: [`CosNaming`]'s interfaces, stringified [`name`]s, and `corbaname:` URLs.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use zorb_orb::Orb;
//!
//! let orb = zorb_naming::install(Orb::builder()).build();
//! let account = orb.string_to_object("corbaname::names.example:2809#bank/main.account")?;
//! # Ok(()) }
//! ```
//!
//! It knows the ORB through its own generated stubs only. The specification is OMG Naming Service 1.3
//! (formal/2004-10-03); `corbaname` is its §2.5.3.
//!
//! Dependencies: `zorb-giop` parses the URL; `zorb-build` generates the stubs at build time.
#![forbid(unsafe_code)]

mod corbaname;
pub mod name;

pub use corbaname::install;

mod generated {
    include!(concat!(env!("OUT_DIR"), "/CosNaming.rs"));
}
pub use generated::CosNaming;
