//! A request that begins to come, as the skeleton is asked where its bulk argument goes; or one that has come, as it is asked whether its arguments begin with
//! structs that are out of phase.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zorb_cdr::{Decode, DecodeError, Decoder, Element, ElementType, Format, Run};
use zorb_giop::Request;

use super::wire::DecodeAs;
use crate::deposit::{Bulk, Deposit};
use crate::landing::{BULK, count_of};
use crate::orb::Orb;

/// What has come of a request: its head, and some of its arguments or all.
pub struct Arriving<'r> {
    request: &'r Request,
    format: Format,
    orb: &'r Orb,
    /// All of it has come.
    is_whole: bool,
    found: Found,
}

/// What came of asking.
pub(crate) enum Found {
    /// It is received as ever.
    Nothing,
    /// More has to come first, or what has come makes no sense.
    Unclear(DecodeError),
    /// A bulk argument, and memory for it, if any was offered. `is_for_orb`: none ever will be.
    Bulk { run: Run, element: ElementType, memory: Option<Deposit>, is_for_orb: bool },
    /// The arguments begin with a sequence of these, of which only a copy is in phase.
    Structs(ElementType),
}

impl<'r> Arriving<'r> {
    pub(crate) fn new(request: &'r Request, format: Format, orb: &'r Orb) -> Self {
        Arriving { request, format, orb, is_whole: false, found: Found::Nothing }
    }

    /// A request that has come whole: its servant is not asked for memory.
    pub(crate) fn whole(request: &'r Request, format: Format, orb: &'r Orb) -> Self {
        Arriving { is_whole: true, ..Self::new(request, format, orb) }
    }

    pub(crate) fn found(self) -> Found {
        self.found
    }

    /// The operation's name on the wire.
    pub fn operation(&self) -> &'r str {
        self.request.operation()
    }

    /// Looks whether one of these arguments is the operation's first bulk one, and has `memory` asked for it if so. Of a request that has come whole, looks
    /// whether the first of them is structs.
    pub fn find(&mut self, arguments: &[BulkArgument], memory: impl FnOnce(&Bulk<'_>) -> Option<Deposit>) {
        let operation = self.operation();
        let mut bulk = arguments.iter().filter(|argument| argument.operation == operation);
        if self.is_whole {
            // What another interface of the servant's has found stays.
            if let Some(structs) = bulk.next().and_then(|argument| self.structs(argument)) {
                self.found = Found::Structs(structs);
            }
            return;
        }
        for argument in bulk {
            let Some(element) = (argument.element)() else { continue };
            match self.look(argument, element) {
                Ok(None) => {}
                Ok(Some(run)) => return self.ask(argument, element, run, memory),
                Err(error) => {
                    self.found = Found::Unclear(error);
                    return;
                }
            }
        }
    }

    /// The run of an argument, if that is bulk. More elements than its bound allows are refused as ever.
    fn look(&self, argument: &BulkArgument, element: ElementType) -> Result<Option<Run>, DecodeError> {
        let (count, mut from) = self.count(argument)?;
        if count.saturating_mul(element.size()) < BULK || count > argument.bound as usize {
            return Ok(None);
        }
        Run::begin(element, count, &mut from).map(Some)
    }

    /// The elements of an argument, if the body begins with it and they are out of phase there.
    fn structs(&self, argument: &BulkArgument) -> Option<ElementType> {
        let (_, from) = self.count(argument).ok()?;
        (argument.element)().filter(|element| element.is_out_of_phase_behind(from.position()))
    }

    /// How many elements an argument has, and where they begin.
    fn count(&self, argument: &BulkArgument) -> Result<(usize, Decoder<'_>), DecodeError> {
        let mut from = Decoder::over(&self.request.body, self.format).with_context(self.orb);
        let count = count_of(&mut from, argument.before)?;
        Ok((count, from))
    }

    fn ask(
        &mut self,
        argument: &BulkArgument,
        element: ElementType,
        run: Run,
        memory: impl FnOnce(&Bulk<'_>) -> Option<Deposit>,
    ) {
        let (operation, parameter) = (argument.operation, argument.parameter);
        let (elements, octets, alignment) = (run.count(), run.size(), element.alignment());
        let is_for_orb = &Cell::new(false);
        let bulk = Bulk { operation, parameter, elements, octets, alignment, is_for_orb };
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
                alignment,
                "the memory that a servant offers is too small, or not aligned: the argument is received elsewhere"
            );
        }
        let is_for_orb = is_for_orb.get();
        self.found = Found::Bulk { run, element, memory: memory.filter(fits), is_for_orb };
    }
}

/// An argument that may be bulk: what an interface knows of it.
pub struct BulkArgument {
    operation: &'static str,
    parameter: &'static str,
    element: fn() -> Option<ElementType>,
    bound: u32,
    before: fn(&mut Decoder<'_>) -> Result<(), DecodeError>,
}

impl BulkArgument {
    /// The same, of a sequence with this bound.
    pub fn bounded(self, bound: u32) -> Self {
        Self { bound, ..self }
    }
}

/// A sequence of `T`s; `before` reads the arguments before it.
pub fn bulk<T: Element>(
    operation: &'static str,
    parameter: &'static str,
    before: fn(&mut Decoder<'_>) -> Result<(), DecodeError>,
) -> BulkArgument {
    BulkArgument { operation, parameter, element: ElementType::of::<T>, bound: u32::MAX, before }
}

/// Reads a value for what stands behind it.
pub fn pass<T: Decode>(from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    T::decode(from).map(drop)
}

/// The same, as the codec `C` says.
pub fn pass_as<C: DecodeAs<T>, T>(from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    C::decode_as(from).map(drop)
}
