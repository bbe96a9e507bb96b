//! Messaging protocols: how requests and replies become octets, apart from how octets travel.
//!
//! ```text
//! messaging (GIOP, GIOPlite, yours)  ×  transport (TCP, Unix sockets, shared memory, yours)  =  protocol
//! ```
//!
//! [`OrbBuilder::messagings`](crate::OrbBuilder::messagings) says which ones an ORB speaks. A reference names, in a component of
//! its profiles, what its server speaks beside GIOP; a client takes the first of its own that the server has. A server tells
//! by the first four octets of a connection what its client speaks. By datagrams GIOP is spoken and, over UDP,
//! [frames](crate::frames); frames are spoken by datagrams alone.
//!
//! | protocol | head of a null request, for a key of 20 octets | operations | service contexts |
//! |---|---|---|---|
//! | [`Giop`] 1.2 | 60 octets and the operation's name | by name | yes |
//! | [`GiopLite`] | 44 octets | by number, once the object has answered | none: UTF-8 and UTF-16 are fixed |
//!
//! A protocol of one's own implements [`Messaging`] and [`Parser`]. Where both ends know it and the server comes to speak GIOP
//! alone, as after a restart with another program, clients go over to GIOP. So that no oneway is lost there, its receipt is confirmed
//! until the server has answered on the connection in the protocol: the first oneways on a new connection take a round trip.
//!
//! [`ServerRequest::undecoded`](crate::rt::ServerRequest::undecoded) and what sends such requests on know GIOP alone.

pub use zorb_giop::{Frames, Giop, GiopLite, Messaging, Parser, ReceiveBuffer, ReplyHead, RequestHead};
