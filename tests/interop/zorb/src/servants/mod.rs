//! The servants behind `every.idl`: what the server publishes, and what the client lends it for callbacks.
//!
//! [`EveryServant`] is the object of all the echoes; [`parts`] are the small objects that it refers to, [`beyond`] those of
//! `beyond.idl`.

pub mod beyond;
mod echo;
mod every;
mod newer;
pub mod parts;
pub mod scripted;

pub use every::EveryServant;
