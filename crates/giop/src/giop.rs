//! GIOP as a messaging protocol among others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use zorb_cdr::{EncodeError, Encoder, Version};

use crate::inbound::GiopParser;
use crate::messaging::{Messaging, Parser, TELLING};
use crate::{
    Fragments, LocateStatus, ReplyHead, RequestHead, begin_locate_reply, begin_reply, begin_request,
    close_connection, finish, fragments, message_error, write_cancel_request,
};

/// GIOP 1.0, 1.1 and 1.2 (CORBA 3.4 part 2, §9): what every ORB speaks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Giop;

impl Giop {
    /// What settings call it.
    pub const NAME: &'static str = "giop";
}

impl Messaging for Giop {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begins(&self, first: [u8; TELLING]) -> bool {
        first == *b"GIOP"
    }

    #[inline]
    fn begin_request(&self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        begin_request(to, head)
    }

    #[inline]
    fn begin_reply(&self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
        begin_reply(to, head)
    }

    fn begin_locate_reply(&self, to: &mut Encoder<'_>, id: u32, status: LocateStatus) {
        begin_locate_reply(to, id, status);
    }

    #[inline]
    fn finish(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        finish(to)
    }

    fn cancel_request(&self, to: &mut Encoder<'_>, id: u32) {
        write_cancel_request(to, id);
    }

    fn close_connection(&self, version: Version) -> Vec<u8> {
        close_connection(version).into()
    }

    fn message_error(&self, version: Version) -> Vec<u8> {
        message_error(version).into()
    }

    fn fragments<'m>(&self, message: &'m Encoder<'_>, size: usize) -> Option<Fragments<'m>> {
        Some(fragments(message, size))
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<GiopParser>::default()
    }
}
