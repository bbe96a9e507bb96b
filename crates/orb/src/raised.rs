//! What operations end with when they do not give a result: user exceptions, and the error type of each operation.
//!
//! Generated error types are an enum and what tells its variants apart ([`OperationError`]); how they travel, print and
//! become an [`Exception`] is the same for all and written here.

use std::any::Any;
use std::fmt;

use zorb_cdr::{Decode, DecodeError, Decoder, Encode};

use crate::exception::{Exception, IntoException, SystemException, UserException};

/// A generated exception type.
pub trait ExceptionType:
    std::error::Error + Encode + Decode + Clone + PartialEq + Send + Sync + 'static
{
    /// Its repository id, which goes before its members.
    const ID: &'static str;
}

/// An exception of any type that the IDL declares.
pub trait Declared: std::error::Error + Encode + Any {
    /// Its repository id, which goes before its members.
    fn repository_id(&self) -> &'static str;

    /// Whether the other is of the same type and has the same members.
    fn is(&self, other: &dyn Declared) -> bool;

    /// The same behind the type that all operations share.
    fn to_exception(&self) -> Exception;
}

impl<X: ExceptionType> Declared for X {
    fn repository_id(&self) -> &'static str {
        X::ID
    }

    fn is(&self, other: &dyn Declared) -> bool {
        (other as &dyn Any).downcast_ref::<X>() == Some(self)
    }

    fn to_exception(&self) -> Exception {
        exception(self.clone())
    }
}

/// What a servant's method ended with when it did not return a result.
pub enum Raised<'e> {
    /// An exception that the IDL declares.
    User(&'e dyn Declared),
    /// A system exception.
    System(&'e SystemException),
}

impl fmt::Debug for Raised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raised::User(exception) => fmt::Debug::fmt(exception, f),
            Raised::System(exception) => fmt::Debug::fmt(exception, f),
        }
    }
}

impl fmt::Display for Raised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raised::User(exception) => fmt::Display::fmt(exception, f),
            Raised::System(exception) => fmt::Display::fmt(exception, f),
        }
    }
}

impl PartialEq for Raised<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Raised::User(this), Raised::User(other)) => this.is(*other),
            (Raised::System(this), Raised::System(other)) => this == other,
            _ => false,
        }
    }
}

/// The error type of an operation: the user exceptions of its `raises`, and any system exception.
pub trait OperationError: From<SystemException> + Send + 'static {
    /// The user exceptions: `()`, one, or a tuple.
    type Raises: Raises<Self>;

    /// Which it is.
    fn raised(&self) -> Raised<'_>;
}

impl OperationError for SystemException {
    type Raises = ();

    fn raised(&self) -> Raised<'_> {
        Raised::System(self)
    }
}

impl<E: OperationError> IntoException for E {
    fn into_exception(self) -> Exception {
        match self.raised() {
            Raised::User(exception) => exception.to_exception(),
            Raised::System(exception) => Exception::System(exception.clone()),
        }
    }
}

/// User exceptions that an error type is made of.
pub trait Raises<E> {
    /// Reads the members of the user exception `id`; `None` if it is none of these.
    fn decode(id: &str, from: &mut Decoder<'_>) -> Option<Result<E, DecodeError>>;
}

impl<E> Raises<E> for () {
    fn decode(_: &str, _: &mut Decoder<'_>) -> Option<Result<E, DecodeError>> {
        None
    }
}

impl<X: ExceptionType, E: From<X>> Raises<E> for X {
    fn decode(id: &str, from: &mut Decoder<'_>) -> Option<Result<E, DecodeError>> {
        (id == X::ID).then(|| <X as Decode>::decode(from).map(E::from))
    }
}

/// Of as many as are named, of one less, and so on.
macro_rules! tuples {
    () => {};
    ($first:ident $($other:ident)*) => {
        impl<E, $first: Raises<E>, $($other: Raises<E>),*> Raises<E> for ($first, $($other,)*) {
            fn decode(id: &str, from: &mut Decoder<'_>) -> Option<Result<E, DecodeError>> {
                $first::decode(id, from)$(.or_else(|| $other::decode(id, from)))*
            }
        }
        tuples!($($other)*);
    };
}

tuples!(X0 X1 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15 X16 X17 X18 X19 X20 X21 X22 X23);

/// An exception of any operation.
pub fn exception<X: ExceptionType>(exception: X) -> Exception {
    UserException::new(X::ID, exception).into()
}

/// How exceptions print: the repository id, then the members.
pub fn exception_text<X: ExceptionType>(exception: &X, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}: {exception:?}", X::ID)
}

/// What the errors of operations have in common: they print as the exception that they are, and are equal when that is.
#[macro_export]
#[doc(hidden)]
macro_rules! operation_error {
    ($name:ident) => {
        impl ::core::cmp::PartialEq for $name {
            fn eq(&self, _other: &Self) -> ::core::primitive::bool {
                $crate::rt::OperationError::raised(self) == $crate::rt::OperationError::raised(_other)
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, _f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&$crate::rt::OperationError::raised(self), _f)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, _f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&$crate::rt::OperationError::raised(self), _f)
            }
        }

        impl ::core::error::Error for $name {}
    };
}
