//! The server against messages made by hand, over its real transports.

mod closing;
mod limits;
mod order;
mod requests;
mod rig;
mod threads;
mod trains;
