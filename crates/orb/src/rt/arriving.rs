//! A request that begins to come, as the skeleton is asked where its bulk argument goes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zorb_cdr::{DecodeError, Decoder, Element, ElementType, Format, Run};
use zorb_giop::Request;

use crate::deposit::{Bulk, Deposit};
use crate::landing::{BULK, count_of};
use crate::orb::Orb;

/// What has come of a request: its head, and some of its arguments.
pub struct Arriving<'r> {
    request: &'r Request,
    format: Format,
    orb: &'r Orb,
    found: Found,
}

/// What came of asking.
pub(crate) enum Found {
    /// It is received as ever.
    Nothing,
    /// More has to come first, or what has come makes no sense.
    Unclear(DecodeError),
    /// A bulk argument, and memory for it, if any was offered.
    Bulk { run: Run, element: ElementType, memory: Option<Deposit> },
}

impl<'r> Arriving<'r> {
    pub(crate) fn new(request: &'r Request, format: Format, orb: &'r Orb) -> Self {
        Arriving { request, format, orb, found: Found::Nothing }
    }

    pub(crate) fn found(self) -> Found {
        self.found
    }

    /// The operation's name on the wire.
    pub fn operation(&self) -> &'r str {
        self.request.operation()
    }

    /// Looks whether an argument of `T`s is bulk, and has `memory` asked for it if so. `before` reads the arguments before it. False: it is none, and
    /// the next may be.
    pub fn argument<T: Element>(
        &mut self,
        parameter: &'static str,
        bound: u32,
        before: impl FnOnce(&mut Decoder<'_>) -> Result<(), DecodeError>,
        memory: impl FnOnce(&Bulk<'_>) -> Option<Deposit>,
    ) -> bool {
        let Some(element) = ElementType::of::<T>() else { return false };
        let mut from = Decoder::over(&self.request.body, self.format).with_context(self.orb);
        let count = match count_of(&mut from, before) {
            Ok(count) => count,
            Err(error) => {
                self.found = Found::Unclear(error);
                return true;
            }
        };
        let octets = count.saturating_mul(element.size());
        if octets < BULK {
            return false;
        }
        // Too many are refused as ever.
        if count > bound as usize {
            return true;
        }
        let run = match Run::begin(element, count, &mut from) {
            Ok(run) => run,
            Err(error) => {
                self.found = Found::Unclear(error);
                return true;
            }
        };
        let operation = self.operation();
        let bulk = Bulk { operation, parameter, elements: count, octets, alignment: align_of::<T>() };
        let memory = catch_unwind(AssertUnwindSafe(|| memory(&bulk))).unwrap_or_else(|_| {
            tracing::error!(operation, parameter, "a servant panicked when it was asked for memory");
            None
        });
        let fits =
            |memory: &Deposit| memory.octets().get(..octets).is_some_and(|octets| element.fits(octets));
        if memory.as_ref().is_some_and(|memory| !fits(memory)) {
            tracing::warn!(
                operation,
                parameter,
                octets,
                alignment = align_of::<T>(),
                "the memory that a servant offers is too small, or not aligned: the argument is received elsewhere"
            );
        }
        self.found = Found::Bulk { run, element, memory: memory.filter(fits) };
        true
    }
}
