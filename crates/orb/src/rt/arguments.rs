//! The arguments of a call: a tuple of what the stub was given, and the servant's method that takes them.
//!
//! ```text
//! Account::pay(&self, amounts: &[f64], to: Option<&Account>)
//!               (amounts, rt::lent_reference(to))
//!                 │ elsewhere: write, with the parameters' names for errors
//!                 │ here: give to the method; `&[T]` becomes `Sequence<T>`, `Option<&I>` becomes `Option<I>`
//!                 ▼
//! AccountServant::pay(&self, context: &Call, amounts: Sequence<f64>, to: Option<Account>)
//! ```
//!
//! A stub so is one expression without a closure: closures of its own are half of what it would cost the compiler.

use zorb_cdr::{Decode, Element, Encode, EncodeError, Encoder, Sequence};

use super::wire::{Kept, Lent, LentReference};
use crate::server::request::Call;
use crate::skeleton::Interface;

/// The arguments of a stub, which a method `M` of a servant's trait `T` takes as parameters `P`.
///
/// One trait for both ways that they go: the type of the tuple tells the compiler at once which implementation it is.
pub trait Arguments<T: ?Sized, M, P, R, E> {
    /// Writes them; an error names its parameter.
    fn write<'a>(&'a self, parameters: &[&'static str], to: &mut Encoder<'a>) -> Result<(), EncodeError>;

    /// Calls the method of a servant in this process.
    fn give(self, method: M, servant: &T, context: &Call) -> Result<R, E>;
}

/// The arguments of a call that is waited for later.
pub trait OwnedArguments: Send + 'static {
    /// Writes them into a message that outlives them; an error names its parameter.
    fn write(&self, parameters: &[&'static str], to: &mut Encoder<'static>) -> Result<(), EncodeError>;
}

/// An argument that a method takes as a `P`.
pub trait Given<P> {
    /// Hands it over.
    fn given(self) -> P;
}

impl<V> Given<V> for V {
    #[inline]
    fn given(self) -> V {
        self
    }
}

impl<T: Element> Given<Sequence<T>> for &[T] {
    fn given(self) -> Sequence<T> {
        self.into()
    }
}

impl<'v, C, V: ?Sized> Given<&'v V> for Lent<'v, C, V> {
    fn given(self) -> &'v V {
        self.0
    }
}

impl<C, V> Given<V> for Kept<C, V> {
    fn given(self) -> V {
        self.0
    }
}

impl<C, T: Element> Given<Sequence<T>> for Lent<'_, C, [T]> {
    fn given(self) -> Sequence<T> {
        self.0.into()
    }
}

impl<I: Interface> Given<Option<I>> for LentReference<'_, I> {
    fn given(self) -> Option<I> {
        self.0.cloned()
    }
}

#[cold]
fn named(error: EncodeError, parameters: &[&'static str], at: usize) -> EncodeError {
    parameters.get(at).map_or(error, |parameter| error.in_what(parameter))
}

impl<T: ?Sized, M: FnOnce(&T, &Call) -> Result<R, E>, R, E> Arguments<T, M, (), R, E> for () {
    #[inline]
    fn write<'a>(&'a self, _: &[&'static str], _: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline]
    fn give(self, method: M, servant: &T, context: &Call) -> Result<R, E> {
        method(servant, context)
    }
}

impl OwnedArguments for () {
    fn write(&self, _: &[&'static str], _: &mut Encoder<'static>) -> Result<(), EncodeError> {
        Ok(())
    }
}

/// Of the first that is named, of the first two, and so on.
macro_rules! tuples {
    ([$($before:tt)*]) => {};
    ([$($before:tt)*] $argument:ident $parameter:ident $at:tt, $($others:tt)*) => {
        tuple!($($before)* $argument $parameter $at,);
        tuples!([$($before)* $argument $parameter $at,] $($others)*);
    };
}

macro_rules! tuple {
    ($($argument:ident $parameter:ident $at:tt,)+) => {
        impl<T: ?Sized, M, $($argument: Encode + Given<$parameter>, $parameter,)+ R, E>
            Arguments<T, M, ($($parameter,)+), R, E> for ($($argument,)+)
        where
            M: FnOnce(&T, &Call, $($parameter),+) -> Result<R, E>,
        {
            #[inline]
            fn write<'a>(
                &'a self,
                parameters: &[&'static str],
                to: &mut Encoder<'a>,
            ) -> Result<(), EncodeError> {
                $(self.$at.encode(to).map_err(|error| named(error, parameters, $at))?;)+
                Ok(())
            }

            #[inline]
            fn give(self, method: M, servant: &T, context: &Call) -> Result<R, E> {
                method(servant, context, $(self.$at.given()),+)
            }
        }

        // What can be read is `Send`: with that as the bound, the compiler does not take apart the type of every
        // argument of every operation.
        impl<$($argument: Encode + Decode + Clone),+> OwnedArguments for ($($argument,)+) {
            fn write(
                &self,
                parameters: &[&'static str],
                to: &mut Encoder<'static>,
            ) -> Result<(), EncodeError> {
                $(self.$at.clone().encode_owned(to).map_err(|error| named(error, parameters, $at))?;)+
                Ok(())
            }
        }
    };
}

tuples!([] A0 P0 0, A1 P1 1, A2 P2 2, A3 P3 3, A4 P4 4, A5 P5 5, A6 P6 6, A7 P7 7, A8 P8 8, A9 P9 9, A10 P10 10,
    A11 P11 11, A12 P12 12, A13 P13 13, A14 P14 14, A15 P15 15, A16 P16 16, A17 P17 17, A18 P18 18, A19 P19 19,
    A20 P20 20, A21 P21 21, A22 P22 22, A23 P23 23,);

/// More arguments than a tuple holds here: a tuple of tuples of [named](super::named) ones. The method has them already.
pub struct Many<A>(pub(super) A);

impl<T: ?Sized, M, A: Encode, R, E> Arguments<T, M, (), R, E> for Many<A>
where
    M: FnOnce(&T, &Call) -> Result<R, E>,
{
    fn write<'a>(&'a self, _: &[&'static str], to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.0.encode(to)
    }

    fn give(self, method: M, servant: &T, context: &Call) -> Result<R, E> {
        method(servant, context)
    }
}

impl<A: Encode + Decode + Clone> OwnedArguments for Many<A> {
    fn write(&self, _: &[&'static str], to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        self.0.clone().encode_owned(to)
    }
}
