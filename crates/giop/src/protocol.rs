//! A messaging protocol in use: GIOP, whose code is then found without a table and inlined, or any other.
//!
//! A call writes two heads and completes two messages. By a pointer to some [`Messaging`] each of these steps is a call
//! that nothing can be inlined into, some hundred instructions in three thousand, and most calls are GIOP's.

use alloc::sync::Arc;
use core::any::Any;
use core::ops::Deref;

use zorb_cdr::{EncodeError, Encoder};

use crate::{Giop, Messaging, ReplyHead, RequestHead, begin_reply, begin_request, finish};

/// A messaging protocol; derefs to the trait, for what is rare. Its clone is a count at most.
#[derive(Clone, Debug, Default)]
pub enum Protocol {
    /// GIOP itself.
    #[default]
    Giop,
    /// Another.
    Other(Arc<dyn Messaging>),
}

impl From<Arc<dyn Messaging>> for Protocol {
    fn from(messaging: Arc<dyn Messaging>) -> Self {
        match (&*messaging as &dyn Any).is::<Giop>() {
            true => Self::Giop,
            false => Self::Other(messaging),
        }
    }
}

impl Deref for Protocol {
    type Target = dyn Messaging;

    fn deref(&self) -> &(dyn Messaging + 'static) {
        match self {
            Self::Giop => &Giop,
            Self::Other(messaging) => &**messaging,
        }
    }
}

impl Protocol {
    /// To write messages by.
    #[inline(always)]
    pub fn writer(&self) -> Writer<'_> {
        match self {
            Self::Giop => Writer(None),
            Self::Other(messaging) => Writer(Some(&**messaging)),
        }
    }
}

/// Writes messages by a protocol that was looked at once.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'p>(Option<&'p dyn Messaging>);

impl Writer<'_> {
    /// Whether it writes GIOP.
    #[inline(always)]
    pub fn is_giop(self) -> bool {
        self.0.is_none()
    }

    /// [`Messaging::begin_request`].
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    #[inline(always)]
    pub fn begin_request(self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        match self.0 {
            None => begin_request(to, head),
            Some(messaging) => messaging.begin_request(to, head),
        }
    }

    /// [`Messaging::begin_reply`].
    ///
    /// # Errors
    /// A head that the protocol cannot carry.
    #[inline(always)]
    pub fn begin_reply(self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
        match self.0 {
            None => begin_reply(to, head),
            Some(messaging) => messaging.begin_reply(to, head),
        }
    }

    /// [`Messaging::finish`].
    ///
    /// # Errors
    /// The message is larger than the protocol can say.
    #[inline(always)]
    pub fn finish(self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self.0 {
            None => finish(to),
            Some(messaging) => messaging.finish(to),
        }
    }
}
