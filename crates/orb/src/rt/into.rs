//! What the `_into` methods of stubs call: a bulk result that is received into the caller's slice.

use zorb_cdr::{DecodeError, Decoder, Element, ElementType, Sequence};

use super::arguments::Arguments;
use super::served::Served;
use super::wire::UNBOUNDED;
use crate::object::here::here;
pub use crate::object::in_phase::InPhase;
use crate::object::in_phase::call_in_phase;
pub use crate::object::into::ResultParts;
use crate::object::into::{call_into, too_many};
use crate::raised::OperationError;
use crate::skeleton::Operation;

/// How a result is read, in parts; `bound`: that of its sequence.
pub fn parts<B, A>(
    before: fn(&mut Decoder<'_>) -> Result<B, DecodeError>,
    after: fn(&mut Decoder<'_>) -> Result<A, DecodeError>,
    bound: u32,
) -> ResultParts<B, A> {
    ResultParts { before, after, bound }
}

/// Where structs that tile are in a result; `before` reads the values before them.
pub fn in_phase<T: Element>(before: fn(&mut Decoder<'_>) -> Result<(), DecodeError>) -> InPhase {
    InPhase { element: ElementType::of::<T>, before }
}

/// As [`invoke_by`](super::invoke_by), of an operation whose result has structs that tile, which are received in phase.
pub fn invoke_in_phase<I: Served, M, G: Arguments<I::Servant, M, P, R, E>, P, R, E: OperationError>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: G,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
    what: InPhase,
) -> Result<R, E> {
    let Some(here) = here::<I::Servant>(object.as_object(), operation)? else {
        let target = object.as_object();
        return call_in_phase(
            target,
            operation,
            |to| arguments.write(operation.parameters, to),
            decode,
            what,
        );
    };
    here.run(|servant, context| arguments.give(method, servant, context))
}

/// A two-way call whose only result is bulk and goes into `into`: how many elements it has.
pub fn receive_into<I: Served, M, G, P, T: Element, E: OperationError>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: G,
    into: &mut [T],
) -> Result<usize, E>
where
    G: Arguments<I::Servant, M, P, Sequence<T>, E>,
{
    let nothing: fn(&mut Decoder<'_>) -> Result<(), DecodeError> = |_| Ok(());
    let parts = parts(nothing, nothing, UNBOUNDED);
    let apart = |elements| ((), elements, ());
    invoke_into(object, operation, method, arguments, into, &parts, apart).map(|((), count, ())| count)
}

/// A two-way call whose bulk result goes into `into`: what stands before it, how many elements it has, what stands behind it. Of a servant in this
/// process it is copied; `apart` takes that result to pieces.
pub fn invoke_into<
    I: Served,
    M,
    G: Arguments<I::Servant, M, P, R, E>,
    P,
    R,
    T: Element,
    B,
    A,
    E: OperationError,
>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: G,
    into: &mut [T],
    parts: &ResultParts<B, A>,
    apart: fn(R) -> (B, Sequence<T>, A),
) -> Result<(B, usize, A), E> {
    let Some(here) = here::<I::Servant>(object.as_object(), operation)? else {
        let target = object.as_object();
        return call_into(target, operation, |to| arguments.write(operation.parameters, to), into, parts);
    };
    let (before, elements, after) =
        apart(here.run(|servant, context| arguments.give(method, servant, context))?);
    match into.get_mut(..elements.len()) {
        Some(into) => into.copy_from_slice(&elements),
        None => return Err(too_many(operation, elements.len(), into.len()).into()),
    }
    Ok((before, elements.len(), after))
}
