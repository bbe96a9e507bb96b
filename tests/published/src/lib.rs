//! What zorb makes of published IDL, compiled.
#![deny(warnings)]

/// The services of the OMG.
#[cfg(installed)]
pub mod services {
    zorb::include_idl!("services");
}

/// What omniORB declares for itself, module CORBA included.
#[cfg(installed)]
pub mod omniorb {
    zorb::include_idl!("omniorb");
}

/// Of each of these: its name, how many files it is made of, lines of IDL, interfaces, definitions, and lines of Rust.
pub const COUNTS: &[(&str, usize, usize, usize, usize, usize)] =
    include!(concat!(env!("OUT_DIR"), "/counts.rs"));
