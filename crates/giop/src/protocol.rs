//! A messaging protocol in use: GIOP or GIOPlite, whose code is then found without a table and inlined, or any other.
//!
//! A call writes two heads and completes two messages. By a pointer to some [`Messaging`] each of these steps is a call
//! that nothing can be inlined into, and some hundred instructions in three thousand: more than GIOPlite's short head saves.

use alloc::sync::Arc;
use core::any::Any;
use core::ops::Deref;

use zorb_cdr::{EncodeError, Encoder, Format, Version};

use crate::header::HEADER_SIZE;
use crate::outbound::BODY_ALIGNMENT;
use crate::{Giop, GiopLite, Messaging, ReplyHead, RequestHead, begin_reply, begin_request, finish, lite};

/// A messaging protocol; derefs to the trait, for what is rare. Its clone is a count at most.
#[derive(Clone, Debug, Default)]
pub enum Protocol {
    /// GIOP itself.
    #[default]
    Giop,
    /// GIOPlite itself.
    Lite,
    /// Another.
    Other(Arc<dyn Messaging>),
}

impl From<Arc<dyn Messaging>> for Protocol {
    fn from(messaging: Arc<dyn Messaging>) -> Self {
        let it = &*messaging as &dyn Any;
        if it.is::<Giop>() {
            Self::Giop
        } else if it.is::<GiopLite>() {
            Self::Lite
        } else {
            Self::Other(messaging)
        }
    }
}

impl Deref for Protocol {
    type Target = dyn Messaging;

    fn deref(&self) -> &(dyn Messaging + 'static) {
        match self {
            Self::Giop => &Giop,
            Self::Lite => &GiopLite,
            Self::Other(messaging) => &**messaging,
        }
    }
}

impl Protocol {
    /// To write messages by.
    #[inline(always)]
    pub fn writer(&self) -> Writer<'_> {
        match self {
            Self::Giop => Writer(By::Giop),
            Self::Lite => Writer(By::Lite),
            Self::Other(messaging) => Writer(By::Other(&**messaging)),
        }
    }
}

/// Writes messages by a protocol that was looked at once.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'p>(By<'p>);

#[derive(Clone, Copy, Debug)]
enum By<'p> {
    Giop,
    Lite,
    Other(&'p dyn Messaging),
}

impl Writer<'_> {
    /// Whether it writes GIOP, in which operations have no numbers.
    #[inline(always)]
    pub fn is_giop(self) -> bool {
        matches!(self.0, By::Giop)
    }

    /// [`Messaging::begin_request`].
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    #[inline(always)]
    pub fn begin_request(self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        match self.0 {
            By::Giop => begin_request(to, head),
            By::Lite => lite::begin_request(to, head),
            By::Other(messaging) => messaging.begin_request(to, head),
        }
    }

    /// Where a request that it has begun in this format has its id, if nothing else need tell its head from the next one's: the
    /// same operation of the same object, wanted in the same way and without service contexts.
    #[inline(always)]
    pub fn id_at(self, format: Format) -> Option<usize> {
        match self.0 {
            By::Giop => (format.version >= Version::V1_2).then_some(HEADER_SIZE),
            By::Lite => Some(lite::ID_AT),
            By::Other(_) => None,
        }
    }

    /// Begins a request in an encoder that [continues](Encoder::continuing) the head of one before, which had its id
    /// [there](Self::id_at). Nothing else of the head is written.
    #[inline(always)]
    pub fn repeat_request(self, to: &mut Encoder<'_>, id_at: usize, id: u32) {
        to.set_u32(id_at, id);
        to.align_before_next(BODY_ALIGNMENT);
    }

    /// [`Messaging::begin_reply`].
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    #[inline(always)]
    pub fn begin_reply(self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
        match self.0 {
            By::Giop => begin_reply(to, head),
            By::Lite => {
                lite::begin_reply(to, head);
                Ok(())
            }
            By::Other(messaging) => messaging.begin_reply(to, head),
        }
    }

    /// [`Messaging::finish`].
    ///
    /// # Errors
    /// The message is larger than the protocol can say.
    #[inline(always)]
    pub fn finish(self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self.0 {
            By::Giop => finish(to),
            By::Lite => lite::finish(to),
            By::Other(messaging) => messaging.finish(to),
        }
    }
}
