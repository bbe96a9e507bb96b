//! Objects of local interfaces, which are called directly and never sent (CORBA part 1, §8.3.14), and values of native types, likewise.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use zorb_cdr::{DecodeError, DecodeErrorKind, Decoder, EncodeError, EncodeErrorKind, Encoder};

use crate::rt::wire::{DecodeAs, EncodeAs};

/// An object of a local interface: `Local<dyn Sink>`, made as `Local(Arc::new(my_sink))`. Cloning is a count, and `==` says whether two are
/// the same object. Where the interface stands in IDL, an `Option` of it does in Rust: nil is `None`.
pub struct Local<T: ?Sized>(pub Arc<T>);

impl<T: ?Sized> Clone for Local<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> PartialEq for Local<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

impl<T: ?Sized> Eq for Local<T> {}

impl<T: ?Sized> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Local({:p})", Arc::as_ptr(&self.0))
    }
}

/// The codec of what does not travel: to write an object is MARSHAL with minor code 4; nil is refused alike.
pub enum LocalOnly {}

impl<T: ?Sized> EncodeAs<Option<Local<T>>> for LocalOnly {
    fn encode_as<'a>(_: &'a Option<Local<T>>, _: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Err(EncodeError::new(EncodeErrorKind::LocalObject, "local object"))
    }

    fn encode_owned_as(_: &Option<Local<T>>, _: &mut Encoder<'static>) -> Result<(), EncodeError> {
        Err(EncodeError::new(EncodeErrorKind::LocalObject, "local object"))
    }
}

impl<T: ?Sized> DecodeAs<Option<Local<T>>> for LocalOnly {
    const MIN_SIZE: usize = 1;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Option<Local<T>>, DecodeError> {
        Err(from
            .error(DecodeErrorKind::Invalid("objects of local interfaces are not received"), "local object"))
    }
}

/// The codec of native types: to write a value of one is MARSHAL with minor code 4 (CORBA part 1, §7.11.5).
pub enum NativeOnly {}

impl<V> EncodeAs<V> for NativeOnly {
    fn encode_as<'a>(_: &'a V, _: &mut Encoder<'a>) -> Result<(), EncodeError> {
        Err(EncodeError::new(EncodeErrorKind::LocalObject, "value of a native type"))
    }

    fn encode_owned_as(_: &V, _: &mut Encoder<'static>) -> Result<(), EncodeError> {
        Err(EncodeError::new(EncodeErrorKind::LocalObject, "value of a native type"))
    }
}

impl<V> DecodeAs<V> for NativeOnly {
    const MIN_SIZE: usize = 1;

    fn decode_as(from: &mut Decoder<'_>) -> Result<V, DecodeError> {
        let what = "value of a native type";
        Err(from.error(DecodeErrorKind::Invalid("values of native types are not received"), what))
    }
}
