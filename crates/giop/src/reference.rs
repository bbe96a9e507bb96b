//! Object references: what they hold ([`ior`]), how they are written for people ([`url`]), and what each part of one
//! means ([`describe`](mod@describe)). CORBA 3.4 part 2, §7.6.

pub mod describe;
mod error;
mod iiop;
mod ior;
mod messaging;
mod udp;
mod uipmc;
mod unix;
pub(crate) mod url;

pub use error::{ReferenceError, UrlError};
pub use iiop::{DEFAULT_PORT, Endpoint, IiopProfile};
pub use ior::{Ior, TaggedComponent, TaggedProfile};
pub use messaging::MessagingComponent;
pub use udp::UdpEndpoint;
pub use uipmc::{GroupComponent, UipmcProfile};
pub use unix::{UiopProfile, UnixEndpoint};
pub use url::{Corbaloc, CorbalocAddress, Corbaname, ObjectUrl};
