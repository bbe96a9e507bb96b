//! A call whose bulk result is received into memory that the caller gives: what `read_into` of a stub is.
//!
//! ```text
//! image.read_into(offset, &mut pixels)?         the reply:  │ head │ values before │ length │ pixels │ values behind │
//!                                                                                            │
//!                            receive ────────────────────────────────────────────────────────┴─► pixels
//! ```
//!
//! On a connection of its own the call reads the reply's head first, and then the elements straight into the slice. Where that cannot be (a reply
//! over GIOPlite, a shared connection, elements of which not any bits are a value, a reply that is smaller than 16 KiB) they are copied into it once.

use std::cell::RefCell;

use zorb_cdr::{
    DecodeError, DecodeErrorKind, Decoder, Element, ElementType, EncodeError, Encoder, Format, Piece, Run,
};
use zorb_giop::{Begun, Inbound, Message, Reply, ReplyStatus, ResponseFlags};

use super::ObjectRef;
use super::invoke::{Travels, no_reply, result};
use super::journey::Journey;
use crate::client::private::ResultLanding;
use crate::exception::{Completion, SystemException};
use crate::landing::{BULK, Landing, count_of};
use crate::orb::Orb;
use crate::raised::OperationError;
use crate::skeleton::Operation;

/// How a result is read: what stands before its bulk, and what behind it.
pub struct ResultParts<B, A> {
    /// Reads what stands before.
    pub before: fn(&mut Decoder<'_>) -> Result<B, DecodeError>,
    /// Reads what stands behind.
    pub after: fn(&mut Decoder<'_>) -> Result<A, DecodeError>,
    /// The sequence's bound.
    pub bound: u32,
}

/// The caller's memory, and what has come into it.
struct Caller<'s, T, B> {
    orb: &'s Orb,
    into: &'s mut [T],
    before: fn(&mut Decoder<'_>) -> Result<B, DecodeError>,
    bound: u32,
    format: Format,
    /// Elements of the last reply that were received in place, of how many it announced.
    received: Option<(usize, usize)>,
}

impl<T: Element, B> Landing for Caller<'_, T, B> {
    fn begin(&mut self, begun: &Begun, _: &mut Inbound) -> Result<Option<Run>, DecodeError> {
        let Message::Reply(reply) = &begun.message else { return Ok(None) };
        let (ReplyStatus::NO_EXCEPTION, Some(element)) = (reply.status, ElementType::of::<T>()) else {
            return Ok(None);
        };
        let format = Format { version: reply.version, ..self.format };
        let mut from = Decoder::over(&reply.body, format).with_context(self.orb);
        let count = count_of(&mut from, |from| (self.before)(from).map(drop))?;
        if count > self.into.len() || count > self.bound as usize || count * element.size() < BULK {
            return Ok(None);
        }
        Run::begin(element, count, &mut from).map(Some)
    }

    fn memory(&mut self) -> &mut [u8] {
        T::octets_mut(self.into).unwrap_or_default()
    }
}

impl<T: Element, B> ResultLanding for Caller<'_, T, B> {
    fn await_reply(&mut self, format: Format, _: usize) {
        (self.format, self.received) = (format, None);
    }

    fn end(&mut self, run: &Run, received: usize, _: &mut Inbound) -> Option<Piece> {
        self.received = run.settle(self.memory(), received).map(|whole| (whole, run.count()));
        None
    }
}

/// More elements than there is room for.
struct TooMany(usize);

/// What stands before the bulk, how much there is of that, and what stands behind it.
type Parts<B, A> = Result<(B, usize, A), TooMany>;

impl<T: Element, B> Caller<'_, T, B> {
    /// Reads the sequence, most of which may be in place already.
    fn read(&mut self, from: &mut Decoder<'_>) -> Result<Result<usize, TooMany>, DecodeError> {
        if let Some((received, announced)) = self.received.take() {
            from.read_u32()?;
            if received < announced {
                let length = u32::try_from(announced).unwrap_or(u32::MAX);
                let kind = DecodeErrorKind::LengthBeyondEnd { length, left: received * size_of::<T>() };
                return Err(from.error(kind, "sequence"));
            }
            return Ok(Ok(announced));
        }
        let count = from.read_bounded_count(T::MIN_SIZE, self.bound)?;
        match self.into.get_mut(..count) {
            Some(into) => from.read_elements_into(into).map(|()| Ok(count)),
            None => Ok(Err(TooMany(count))),
        }
    }
}

/// A two-way call whose bulk result goes into `into`: what stands before the bulk, how many elements it has, and what stands behind it.
///
/// # Errors
/// BAD_PARAM, completed, where the result has more elements than `into`. After any error `into` may hold a part of a result.
pub fn call_into<'a, T: Element, B, A, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
    into: &mut [T],
    parts: &ResultParts<B, A>,
) -> Result<(B, usize, A), E> {
    let room = into.len();
    let ResultParts { before, after, bound } = *parts;
    let caller = Caller { orb: target.orb(), into, before, bound, format: Format::default(), received: None };
    let caller = RefCell::new(caller);
    let mut outcome: Option<Result<Parts<B, A>, E>> = None;
    let mut read = |journey: &Journey, reply: &Reply, format: Format| {
        outcome = Some(result(journey, target, reply, format, |from| {
            let before = before(from)?;
            let count = match caller.borrow_mut().read(from)? {
                Ok(count) => count,
                Err(too_many) => return Ok(Err(too_many)),
            };
            Ok(Ok((before, count, after(from)?)))
        }));
    };
    let landing: &RefCell<dyn ResultLanding + '_> = &caller;
    travel_into(target, operation, &mut |to| encode(to), &mut read, landing)?;
    match outcome {
        Some(Ok(Ok(outcome))) => Ok(outcome),
        Some(Ok(Err(TooMany(count)))) => Err(too_many(operation, count, room).into()),
        Some(Err(error)) => Err(error),
        None => Err(no_reply(operation).into()),
    }
}

pub(super) fn travel_into<'a, 'l>(
    target: &ObjectRef,
    operation: &'static Operation,
    arguments: &mut crate::client::message::WriteArguments<'_, 'a>,
    read: &mut super::invoke::ReadReply<'_>,
    landing: impl Travels<'l>,
) -> Result<(), SystemException> {
    landing.travel(target, operation, ResponseFlags::WITH_TARGET, arguments, read, None)
}

/// The operation has been executed; what it gave has no room.
#[cold]
pub(crate) fn too_many(operation: &Operation, count: usize, room: usize) -> SystemException {
    let text = format!(
        "{}: the result has {count} elements, and the slice to receive it into has room for {room}",
        operation.name
    );
    SystemException::BadParam(text).completed(Completion::Yes)
}
