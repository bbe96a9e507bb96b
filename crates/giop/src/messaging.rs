//! What a messaging protocol is: requests and replies put into octets, and octets read as [`Message`]s.
//!
//! GIOP is one ([`Giop`](crate::Giop)), [`GiopLite`](crate::GiopLite) another; a program may bring its own. All speak of the
//! same requests and replies, so whoever calls or serves need not know which one carries them.
//!
//! ```text
//! RequestHead ── Messaging::begin_request ──► Encoder ◄── arguments       ── finish ──► octets
//! octets ──► ReceiveBuffer ── Parser::next ──► Message::Request, its body where it lies
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt::Debug;

use zorb_cdr::{EncodeError, Encoder, Format, Version};

use crate::{Fragments, Limits, LocateStatus, Message, ProtocolError, ReceiveBuffer, ReplyHead, RequestHead};

/// Octets of a connection that tell its messaging protocol.
pub const TELLING: usize = 4;

/// A messaging protocol.
///
/// Bodies are CDR, aligned as if the message began at a multiple of 8: a head must end such that what follows stands
/// where [`Encoder::align_before_next`] puts it.
pub trait Messaging: Any + Debug + Send + Sync {
    /// What references and settings call it, such as `giop-lite`.
    fn name(&self) -> &'static str;

    /// Whether a connection whose first octets are these speaks it. No two protocols of one ORB may claim the same.
    fn begins(&self, first: [u8; TELLING]) -> bool;

    /// The form of bodies, where the protocol fixes it. `None`: the version of the profile, and the code sets that
    /// service contexts agree on.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The largest message, in octets, where the protocol is one for datagrams alone, which transports cut as it says; `None`:
    /// it is for streams of octets. Transports of datagrams know GIOP and [`Frames`](crate::Frames).
    fn by_datagrams(&self) -> Option<usize> {
        None
    }

    /// Whether messages carry service contexts. An ORB with interceptors, which may add some, speaks no protocol for streams that does not.
    fn carries_contexts(&self) -> bool {
        true
    }

    /// Begins a request in an empty encoder. The arguments follow, then [`finish`](Self::finish).
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    fn begin_request(&self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError>;

    /// Begins a reply in an empty encoder. The result follows, then [`finish`](Self::finish).
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    fn begin_reply(&self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError>;

    /// Begins the answer to a LocateRequest in an empty encoder. Asked only of protocols whose parsers give such requests.
    fn begin_locate_reply(&self, to: &mut Encoder<'_>, id: u32, status: LocateStatus) {
        let _ = (to, id, status);
    }

    /// Completes a message. Nothing is written after it.
    ///
    /// # Errors
    /// The message is larger than the protocol can say.
    fn finish(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Writes a whole message into an empty encoder: nobody waits for the reply to request `id` any more.
    fn cancel_request(&self, to: &mut Encoder<'_>, id: u32);

    /// A whole message: what is not answered was not executed, and nothing more will come.
    fn close_connection(&self, version: Version) -> Vec<u8>;

    /// A whole message: what came last could not be understood, and nothing more will come.
    fn message_error(&self, version: Version) -> Vec<u8>;

    /// A finished message cut into pieces of at most so many octets; `None`: the protocol sends messages whole.
    fn fragments<'m>(&self, message: &'m Encoder<'_>, size: usize) -> Option<Fragments<'m>> {
        let _ = (message, size);
        None
    }

    /// What reads one connection.
    fn parser(&self) -> Box<dyn Parser>;
}

/// Finds the messages in what one connection receives.
pub trait Parser: Send {
    /// Takes the next complete message from the front of `from`; `None`: more octets are needed, of which
    /// [`ReceiveBuffer::expect`] has been told as far as it is known.
    ///
    /// Nothing that a peer says may be trusted before `limits` were looked at.
    ///
    /// # Errors
    /// What the peer did wrong. The connection is then beyond repair, and this is not called again.
    fn next(&mut self, from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError>;

    /// The size of the message that `octets` begin with, as soon as they tell.
    fn size(&self, octets: &[u8]) -> Option<usize>;

    /// Whether a message in fragments has come in part.
    fn is_incomplete(&self) -> bool {
        false
    }

    /// Whether a part of the reply to request `id` was taken, and not all of it.
    fn has_part_of_reply(&self, id: u32) -> bool {
        let _ = id;
        false
    }
}
