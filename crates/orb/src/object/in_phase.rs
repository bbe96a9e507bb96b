//! A call whose result is a sequence of structs that tile: received where they are in phase, so that they are viewed and not copied.
//!
//! In a message the first of them has a layout of its own, unless it happens to stand in phase (`crates/cdr/src/element.rs`). Where the reply begins to
//! come on a connection of the call's own, the rest of them is received into memory that has room for the first before it. A server earns that memory by
//! having sent as much before, beyond the first grant; until then, and elsewhere, the elements are copied once.

use std::cell::RefCell;

use zorb_cdr::{DecodeError, Decoder, ElementType, EncodeError, Encoder, Format, Piece, Run};
use zorb_giop::{Begun, Inbound, Message, Reply, ReplyStatus};

use super::ObjectRef;
use super::invoke::{no_reply, result};
use super::journey::Journey;
use super::landed::travel_into;
use crate::client::private::ResultLanding;
use crate::landing::{BULK, Landing, Place, count_of};
use crate::orb::Orb;
use crate::raised::OperationError;
use crate::skeleton::Operation;

/// Where in a result the structs are: what their type is, and what reads the values before them.
#[derive(Clone, Copy)]
pub struct InPhase {
    /// Of the structs.
    pub element: fn() -> Option<ElementType>,
    /// Reads what stands before.
    pub before: fn(&mut Decoder<'_>) -> Result<(), DecodeError>,
}

struct Structs<'o> {
    orb: &'o Orb,
    what: InPhase,
    format: Format,
    earned: usize,
    announced: usize,
    place: Option<Place>,
}

impl Landing for Structs<'_> {
    fn begin(&mut self, begun: &Begun, inbound: &mut Inbound) -> Result<Option<Run>, DecodeError> {
        let Message::Reply(reply) = &begun.message else { return Ok(None) };
        let (ReplyStatus::NO_EXCEPTION, Some(element)) = (reply.status, (self.what.element)()) else {
            return Ok(None);
        };
        let format = Format { version: reply.version, ..self.format };
        let mut from = Decoder::over(&reply.body, format).with_context(self.orb);
        let count = count_of(&mut from, self.what.before)?;
        if !element.may_be_out_of_phase() || count.saturating_mul(element.size()) < BULK {
            return Ok(None);
        }
        let run = Run::begin(element, count, &mut from)?;
        self.announced = run.size();
        self.place = Place::own(inbound, run.size(), self.earned);
        Ok(self.place.is_some().then_some(run))
    }

    fn memory(&mut self) -> &mut [u8] {
        self.place.as_mut().map(Place::memory).unwrap_or_default()
    }
}

impl ResultLanding for Structs<'_> {
    fn await_reply(&mut self, format: Format, earned: usize) {
        (self.format, self.earned, self.announced, self.place) = (format, earned, 0, None);
    }

    fn end(&mut self, run: &Run, received: usize, inbound: &mut Inbound) -> Option<Piece> {
        Some(self.place.take()?.end(run, received, inbound))
    }

    fn may_join(&self) -> bool {
        true
    }

    fn announced(&self) -> usize {
        self.announced
    }
}

/// As [`call`](super::invoke::call), of an operation whose result has such structs.
pub fn call_in_phase<'a, R, E: OperationError>(
    target: &ObjectRef,
    operation: &'static Operation,
    encode: impl Fn(&mut Encoder<'a>) -> Result<(), EncodeError>,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
    what: InPhase,
) -> Result<R, E> {
    let mut decode = Some(decode);
    let mut outcome = None;
    let mut read = |journey: &Journey, reply: &Reply, format| {
        outcome = decode.take().map(|decode| result(journey, target, reply, format, decode));
    };
    let orb = target.orb();
    let structs = Structs { orb, what, format: Format::default(), earned: 0, announced: 0, place: None };
    let structs = RefCell::new(structs);
    let landing: &RefCell<dyn ResultLanding + '_> = &structs;
    travel_into(target, operation, &mut |to| encode(to), &mut read, None, landing)?;
    outcome.unwrap_or_else(|| Err(no_reply(operation).into()))
}
