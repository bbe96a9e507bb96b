//! Peers that mean ill, or are broken: what they can do to a zorb server and to a zorb client, over real sockets.
//!
//! Each ends by a documented limit or deadline (docs/limits.md has them all), others are served meanwhile, and nothing
//! panics. Times are waited for with generous deadlines; none is asserted to be short.

mod client_input;
mod crowds;
mod cycles;
mod heard;
mod in_memory;
mod killed;
mod memory;
mod nesting;
mod rig;
mod server_input;
mod servers;
mod slow;
