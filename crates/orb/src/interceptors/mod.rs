//! Portable interceptors: hooks in the way of a request, at which services join the ORB (CORBA 3.3 part 1, chapter
//! *Portable Interceptors*).
//!
//! ```text
//! client                                                   server
//! stub ─► send_request ──────── message ────────────────► receive_request_service_contexts
//!         (first to last)                                    adapter, servant
//!                                                          receive_request ─► the method
//! stub ◄─ receive_reply │ receive_exception │ receive_other
//!         (last to first)  ◄──── message ──────────────── send_reply │ send_exception │ send_other
//! ```
//!
//! An interceptor is a value given to the ORB's builder. Those of a kind run in the order in which they were given, at the ending points in
//! reverse (`flow.rs` has the rules). Every interceptor whose starting point returned `Ok` gets exactly one ending point; who
//! raises at its starting point gets none.
//!
//! | what | where |
//! |---|---|
//! | [`ClientRequestInterceptor`], [`ClientRequestInfo`] | the caller's side, on the thread of the call |
//! | [`ServerRequestInterceptor`], [`ServerRequestInfo`] | the object's side |
//! | [`IorInterceptor`], [`IorInfo`] | when an object adapter is made: components of its references |
//! | [`Current`], [`SlotId`] | what a thread hands to the interceptors of its calls |
//! | [`Codec`] | values in service contexts and components |
//! | [`OrbInitializer`] | several of these as one, given to a builder |
//!
//! Where this differs from the specification:
//!
//! - Arguments and results are not shown (`arguments`, `result`, `dynamic_context`): stubs write them straight into the message. Other ORBs
//!   raise `NO_RESOURCES` there.
//! - `send_poll` is met by pollers alone, not by futures and deferred dynamic calls. The ending point of an `_async` call runs when its future becomes
//!   ready, on the thread that polls it; a future that is dropped before ends in `receive_other` with [`ReplyStatus::Unknown`].
//! - A call that is sent again since nothing of it has left, or since the server closed the connection in order, is the same
//!   request: interceptors see nothing of that. A reply that asks for another attempt ends one request and begins the next.
//! - In an ORB with request interceptors calls to its own objects go by message, so that both sides' interceptors run.
//! - Object reference templates are not there.
//!
//! An ORB without interceptors pays a comparison for each request at either side.

mod client;
mod codec;
mod current;
mod flow;
mod initializer;
mod ior;
mod outcome;
mod passage;
mod server;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub use client::{ClientRequestInfo, ClientRequestInterceptor};
pub use codec::{Codec, CodecError};
pub use current::{Current, InvalidSlot, SlotId};
pub use initializer::OrbInitializer;
pub use ior::{AdapterState, IorInfo, IorInterceptor};
pub use outcome::{EncodedException, Intervention, ObservedException, ReplyStatus};
pub use server::{ServerRequestInfo, ServerRequestInterceptor};

pub(crate) use ior::Established;
pub(crate) use outcome::Outcome;
pub(crate) use passage::Passage;
pub(crate) use watch::{Upcall, Watch};

/// The interceptors of one ORB, which has none of these where none were given.
pub(crate) struct Interceptors {
    pub(crate) client: Arc<[Arc<dyn ClientRequestInterceptor>]>,
    pub(crate) server: Arc<[Arc<dyn ServerRequestInterceptor>]>,
    pub(crate) ior: Box<[Arc<dyn IorInterceptor>]>,
    /// How many slots a [`Current`] has.
    pub(crate) slots: u32,
    /// Tells the thread-scoped tables of this ORB from others'.
    pub(crate) identity: u64,
    requests: AtomicU32,
}

/// What a builder was given.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) client: Vec<Arc<dyn ClientRequestInterceptor>>,
    pub(crate) server: Vec<Arc<dyn ServerRequestInterceptor>>,
    pub(crate) ior: Vec<Arc<dyn IorInterceptor>>,
    pub(crate) slots: u32,
}

impl Given {
    pub(crate) fn build(self) -> Option<Box<Interceptors>> {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let any =
            !self.client.is_empty() || !self.server.is_empty() || !self.ior.is_empty() || self.slots > 0;
        any.then(|| {
            Box::new(Interceptors {
                client: self.client.into(),
                server: self.server.into(),
                ior: self.ior.into(),
                slots: self.slots,
                identity: MADE.fetch_add(1, Ordering::Relaxed),
                requests: AtomicU32::new(0),
            })
        })
    }
}

impl Interceptors {
    /// Whether requests are to be seen, at one side or both.
    pub(crate) fn sees_requests(&self) -> bool {
        !self.client.is_empty() || !self.server.is_empty()
    }

    /// Whether requests that the ORB serves are to be seen.
    #[cold]
    pub(crate) fn serve(&self) -> bool {
        !self.server.is_empty()
    }

    /// A number for a request; unique among those that are under way, as there are not 2³² of them.
    fn next_request(&self) -> u32 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}
