//! General Inter-ORB Protocol: messages, references and connection state, without I/O (CORBA 3.4 part 2, §7.6 and §9).
//!
//! Octets go in, messages come out; values go in, octets come out. Nothing here knows a socket, a thread or a clock.
//!
//! # Messages
//!
//! ```text
//!               12 octets               request id and the like         8·n in 1.2
//! Request       GIOP 1.2 flags 0 size │ id flags target operation contexts │ arguments
//! Reply         GIOP 1.2 flags 1 size │ id status contexts                 │ result, exception, reference
//! CancelRequest GIOP 1.2 flags 2 size │ id
//! LocateRequest GIOP 1.2 flags 3 size │ id target
//! LocateReply   GIOP 1.2 flags 4 size │ id status │ reference, exception (unaligned)
//! CloseConnection          flags 5  0
//! MessageError             flags 6  0
//! Fragment      GIOP 1.2 flags 7 size │ id │ continues a message whose flags said so
//! ```
//!
//! | what | where |
//! |---|---|
//! | the twelve octets | `header.rs` |
//! | octets → [`Message`]: framing, memory, fragments, heads | `inbound.rs` and `inbound/` |
//! | messaging protocols: what they have in common, GIOP, GIOPlite | `messaging.rs`, `protocol.rs`, `giop.rs`, `lite.rs` |
//! | what a message says once read | `message.rs`, `context.rs`, `invocation_policies.rs` |
//! | values → messages, fragments | `outbound.rs` and `outbound/` |
//! | code sets chosen, announced, remembered | [`code_sets`] |
//! | request ids | `request_ids.rs` |
//! | references as octets, as `IOR:` | `reference/ior.rs`, `reference/iiop.rs`, `reference/unix.rs`, `reference/udp.rs`, `reference/uipmc.rs`, `reference/messaging.rs` |
//! | `corbaloc:`, `corbaname:`, `file:` | `reference/url.rs`, `reference/url/address.rs` |
//! | a request in a datagram, multicast packets | `oneway.rs`, [`miop`] |
//! | references explained | [`describe`] |
//! | the numbers and their names | `number.rs` |
//! | what a peer may make us hold | `limits.rs` |
//! | fuzz bodies | [`fuzz`] |
//!
//! Dependencies: `zorb-cdr` for values, and for the memory that messages are received into; `bytes` for the octets that
//! references and contexts keep.
//!
//! # A message there and back
//!
//! ```
//! use zorb_cdr::{Decoder, Encoder, Format};
//! use zorb_giop::{Addressing, Inbound, Limits, Message, RequestHead, ResponseFlags, ServiceContexts};
//!
//! let mut to = Encoder::new(Format::default());
//! let head = RequestHead {
//!     id: 1,
//!     response: ResponseFlags::WITH_TARGET,
//!     target: Addressing::ObjectKey(b"account"),
//!     operation: "deposit",
//!     by_number: None,
//!     contexts: &ServiceContexts::new(),
//! };
//! zorb_giop::begin_request(&mut to, &head)?;
//! to.write_u32(100);
//! zorb_giop::finish(&mut to)?;
//!
//! let mut inbound = Inbound::new(Limits::default());
//! for slice in to.slices() {
//!     inbound.space()[..slice.len()].copy_from_slice(slice);
//!     inbound.received(slice.len());
//! }
//! let Some(Message::Request(request)) = inbound.next()? else { panic!() };
//! assert_eq!(request.operation(), "deposit");
//! let mut arguments = Decoder::over(&request.body, Format::new(request.version));
//! assert_eq!(arguments.read_u32()?, 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bidirectional;
pub mod code_sets;
mod context;
mod error;
mod frames;
pub mod fuzz;
mod giop;
mod header;
mod inbound;
mod invocation_policies;
mod limits;
mod lite;
mod message;
mod messaging;
pub mod miop;
mod number;
mod oneway;
mod outbound;
mod protocol;
mod reference;
mod request_ids;
mod system_exception;

pub use bidirectional::{
    ListenPoint, ListenPointsError, decode_listen_points, encode_listen_points, most_listen_points,
};
pub use context::{ServiceContext, ServiceContexts};
pub use error::ProtocolError;
pub use frames::{
    FRAME_HEAD, FRAME_MAGIC, FlowNumbers, Frame, FrameReceiver, FrameRules, Frames, GroupFrame,
    LARGEST_FRAME, Refused,
};
pub use giop::Giop;
pub use header::{HEADER_SIZE, Header};
pub use inbound::{BeginsToCome, Begun, Inbound, KnownHead, ReceiveBuffer, Storage};
pub use invocation_policies::{
    PolicyType, PolicyValue, UtcTime, encode_invocation_policies, encode_request_end, invocation_policies,
    request_end,
};
pub use limits::Limits;
pub use lite::{GiopLite, operation_number};
pub use message::{LocateReply, LocateRequest, Message, Reply, Request, Target};
pub use messaging::{Messaging, Parser, TELLING};
pub use number::{
    AddressingDisposition, ComponentTag, ContextId, LocateStatus, MessageType, MinorCodeVendor, OrbType,
    ProfileTag, ReplyStatus, ResponseFlags,
};
pub use oneway::{NotOneway, Oneway};
pub use outbound::{
    Addressing, Fragments, Piece, ReplyHead, RequestHead, begin_locate_reply, begin_locate_request,
    begin_reply, begin_request, close_connection, finish, finish_behind, fragments, message_error,
    repeat_request_behind, write_cancel_request, write_undecoded_reply, write_undecoded_request,
};
pub use protocol::{Protocol, Writer};
pub use reference::{
    Corbaloc, CorbalocAddress, Corbaname, DEFAULT_PORT, Endpoint, GroupComponent, IiopProfile, Ior,
    MessagingComponent, ObjectUrl, ReferenceError, TaggedComponent, TaggedProfile, UdpEndpoint, UiopProfile,
    UipmcProfile, UnixEndpoint, UrlError, describe,
};
pub use request_ids::RequestIds;
pub use system_exception::SystemExceptionBody;
