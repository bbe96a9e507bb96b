//! What generated code calls. Not for hand-written programs, and stable only together with `zorb-build`.
//!
//! A stub is [`invoke`]: [`here`] (the object lives in this process: call its [method](arguments)) or [`call`] (write,
//! wait, read). On the server's side an interface ([`Served`]) finds the operation by its perfect hash ([`Operations`]) and works on a
//! [`ServerRequest`]. Values are written by [`encode`] and read by [`decode`], or by their `_as` twins where a codec of
//! [`wire`] says how; functions that end in `_by` are given one of these. The short functions here are all that generated
//! code spells out, so that it stays short.

pub mod arguments;
pub(crate) mod arriving;
mod carried;
mod corba;
pub mod describe;
mod into;
pub mod operations;
mod served;
pub mod wire;

pub use bytes;
pub use zorb_cdr as cdr;
pub use zorb_cdr::bytemuck;
pub use zorb_cdr::{
    Any, Char, CustomMarshal, Decode, DecodeError, Decoder, Described, Describer, Element, Encode,
    EncodeError, Encoder, Fixed, LongDouble, Sequence, State, TypeCode, TypeRef, Value, ValueBase, ValueInfo,
    ValueType, WChar,
};

pub use crate::ami::{ExceptionHolder, Poller, sendc};
pub use crate::deposit::{Bulk, Deposit};
pub use crate::described;
pub use crate::exception::{
    Completion, Exception, IntoException, Kind, Minor, SystemException, UserException,
};
pub use crate::object::ObjectRef;
pub use crate::object::abstract_interface::{Abstract, AbstractInterface, AbstractReference};
pub use crate::object::asynchronous::Pending;
pub use crate::object::here::{Here, here};
pub use crate::object::invoke::{call, call_async, oneway, oneway_async};
pub use crate::object::local::{Local, LocalOnly, NativeOnly};
pub use crate::operation_error;
pub use crate::properties::{Properties, properties};
pub use crate::raised::{ExceptionType, OperationError, Raised, Raises, exception, exception_text};
pub use crate::server::deferred::{DeferredReply, deferred_here};
pub use crate::server::request::{Call, ServerRequest, named_arguments};
pub use crate::skeleton::{Interface, InterfaceInfo, IntoServant, Operation, Servant, Skeleton};
pub use arriving::{Arriving, BulkArgument, bulk, pass, pass_as};
pub use carried::CarriedIdl;
pub use into::{InPhase, ResultParts, in_phase, invoke_in_phase, invoke_into, parts, receive_into};
pub use operations::Operations;
pub use served::{Served, ServedBy, offer};

use std::marker::PhantomData;

use arguments::{Arguments, Many, OwnedArguments};
use wire::{DecodeAs, EncodeAs, Kept, Lent, LentReference, Named};
use zorb_cdr::EncodeErrorKind;

/// What the built-in `orb.idl` declares in IDL module `CORBA`.
#[allow(non_snake_case)]
pub mod CORBA {
    pub use super::corba::*;
}

/// What the built-in `Messaging.idl` declares in IDL module `Messaging`.
#[allow(non_snake_case)]
pub mod Messaging {
    pub use crate::ami::{ExceptionHolder, ReplyHandler, ReplyHandlerServant};
}

/// Writes a value.
#[inline]
pub fn encode<'a, T: Encode + ?Sized>(value: &'a T, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
    value.encode(to)
}

/// Writes a value into a message that outlives it: sequences are shared, the rest is copied.
pub fn encode_owned<T: Encode + Clone>(value: &T, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
    value.clone().encode_owned(to)
}

/// Writes a value as the codec `C` says.
#[inline]
pub fn encode_as<'a, C: EncodeAs<V>, V: ?Sized>(
    value: &'a V,
    to: &mut Encoder<'a>,
) -> Result<(), EncodeError> {
    C::encode_as(value, to)
}

/// Writes a value as the codec `C` says, into a message that outlives it.
pub fn encode_owned_as<C: EncodeAs<V>, V>(value: &V, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
    C::encode_owned_as(value, to)
}

/// Reads a value.
#[inline]
pub fn decode<T: Decode>(from: &mut Decoder<'_>) -> Result<T, DecodeError> {
    T::decode(from)
}

/// Reads a value as the codec `C` says.
#[inline]
pub fn decode_as<C: DecodeAs<V>, V>(from: &mut Decoder<'_>) -> Result<V, DecodeError> {
    C::decode_as(from)
}

/// Reads a member of this name: an error tells it.
#[inline]
pub fn member<T: Decode>(from: &mut Decoder<'_>, name: &'static str) -> Result<T, DecodeError> {
    T::decode(from).map_err(|error| error.in_member(name))
}

/// The same as the codec `C` says.
#[inline]
pub fn member_as<C: DecodeAs<V>, V>(from: &mut Decoder<'_>, name: &'static str) -> Result<V, DecodeError> {
    C::decode_as(from).map_err(|error| error.in_member(name))
}

/// A two-way call: of the servant's method if it is in this process, or else the arguments go out and the result comes back.
pub fn invoke<I: Served, M, A: Arguments<I::Servant, M, P, R, E>, P, R: Decode, E: OperationError>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: A,
) -> Result<R, E> {
    invoke_by(object, operation, method, arguments, R::decode)
}

/// The same, where `decode` reads what comes back.
pub fn invoke_by<I: Served, M, A: Arguments<I::Servant, M, P, R, E>, P, R, E: OperationError>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: A,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError>,
) -> Result<R, E> {
    // What a servant here is found by is large: where there is none, nothing of it is to be moved.
    if !object.as_object().leads_elsewhere()
        && let Some(here) = here::<I::Servant>(object.as_object(), operation)?
    {
        return here.run(|servant, context| arguments.give(method, servant, context));
    }
    call(object.as_object(), operation, |to| arguments.write(operation.parameters, to), decode)
}

/// A two-way call that is made now and waited for later.
pub fn invoke_async<A: OwnedArguments, R: Decode, E: OperationError>(
    object: &ObjectRef,
    operation: &'static Operation,
    arguments: A,
) -> Pending<R, E> {
    invoke_async_by(object, operation, arguments, R::decode)
}

/// The same, where `decode` reads what comes back.
pub fn invoke_async_by<A: OwnedArguments, R: Send + 'static, E: OperationError>(
    object: &ObjectRef,
    operation: &'static Operation,
    arguments: A,
    decode: impl FnOnce(&mut Decoder<'_>) -> Result<R, DecodeError> + Send + 'static,
) -> Pending<R, E> {
    call_async(object, operation, move |to| arguments.write(operation.parameters, to), decode)
}

/// A oneway call, likewise.
pub fn send<I: Served, M, A: Arguments<I::Servant, M, P, (), SystemException>, P>(
    object: &I,
    operation: &'static Operation,
    method: M,
    arguments: A,
) -> Result<(), SystemException> {
    // What a servant here is found by is large: where there is none, nothing of it is to be moved.
    if !object.as_object().leads_elsewhere()
        && let Some(here) = here::<I::Servant>(object.as_object(), operation)?
    {
        return here.run(|servant, context| arguments.give(method, servant, context));
    }
    oneway(object.as_object(), operation, |to| arguments.write(operation.parameters, to))
}

/// A oneway call that never blocks the caller.
pub fn send_async<A: OwnedArguments>(
    object: &ObjectRef,
    operation: &'static Operation,
    arguments: A,
) -> Pending<(), SystemException> {
    oneway_async(object, operation, move |to| arguments.write(operation.parameters, to))
}

/// Arguments that are more than [`Operation::parameters`] tells of: each is [`named`].
#[inline]
pub fn many<A>(arguments: A) -> Many<A> {
    Many(arguments)
}

/// An argument whose name an error is to tell.
#[inline]
pub fn named<V>(parameter: &'static str, value: V) -> Named<V> {
    Named(parameter, value)
}

/// A borrowed argument that travels as the codec `C` says.
#[inline]
pub fn lent<C: EncodeAs<V>, V: ?Sized>(value: &V) -> Lent<'_, C, V> {
    Lent(value, PhantomData)
}

/// An owned argument that travels as the codec `C` says.
#[inline]
pub fn kept<C: EncodeAs<V>, V>(value: V) -> Kept<C, V> {
    Kept(value, PhantomData)
}

/// A borrowed reference as an argument.
#[inline]
pub fn lent_reference<I: Interface>(reference: Option<&I>) -> LentReference<'_, I> {
    LentReference(reference)
}

/// Refuses a union whose label does not select its variant.
#[inline]
pub fn check_label(selects: bool, variant: &'static str) -> Result<(), EncodeError> {
    if selects {
        return Ok(());
    }
    Err(EncodeError::new(EncodeErrorKind::Invalid("its label does not select this arm"), variant))
}

/// A constant of type `fixed`, which the compiler of the IDL has checked.
///
/// # Panics
/// With more than 31 digits; where a constant is made of it, that is an error of the compiler of the Rust.
pub const fn fixed(unscaled: i128, scale: u8) -> Fixed {
    match Fixed::new(unscaled, scale) {
        Ok(value) => value,
        Err(_) => panic!("a fixed of more than 31 digits"),
    }
}

/// The same object as a reference of another interface.
pub fn upcast<D: Interface, B: Interface>(object: &D) -> B {
    B::from_object(object.as_object().clone())
}
