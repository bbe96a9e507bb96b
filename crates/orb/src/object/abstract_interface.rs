//! Abstract interfaces: what stands where one is declared is a reference or a value, as the one who sends it has it (CORBA part 1,
//! §14.4; on the wire part 2, §9.3.7).
//!
//! ```text
//! 01 │ IOR        an object reference
//! 00 │ value      a value of a valuetype that supports the interface; null stands for nil
//! ```

use zorb_cdr::{
    Any, AnyError, DecodeError, Decoder, Encode, EncodeError, EncodeErrorKind, Encoder, TCKind, TypeCode,
    Value, ValueBase, ValueInfo, ValueType, read_value, write_value,
};

use crate::object::ObjectRef;
use crate::orb::Orb;
use crate::rt::wire::{DecodeAs, EncodeAs};
use crate::skeleton::Interface;

/// The codec of what stands for an abstract interface.
pub enum AbstractReference {}

/// The reference type of an abstract interface.
pub trait AbstractInterface: Interface + Send {
    /// What the interface is to the values that support it.
    fn info() -> &'static ValueInfo;
}

/// What an `Option` of stands for a parameter or member that is declared as an abstract interface `A`; nil and null are `None`.
///
/// `AbstractBase`, that all abstract interfaces are derived from, is `Abstract<ObjectRef>`.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract<A> {
    /// A reference to an object elsewhere, or here.
    Object(A),
    /// A value, which is a copy; [`Value::cast`] gives it as one of its valuetype.
    Value(Value<ValueBase>),
}

impl<A: AbstractInterface> Abstract<A> {
    /// A value whose type supports the interface.
    ///
    /// # Errors
    /// The value itself, if its type does not or it is gone.
    pub fn of_value<T: ValueType>(value: &Value<T>) -> Result<Self, Value<T>> {
        let supports = value.get().is_some_and(|held| held.info().is_a(A::info()));
        let cast = value.cast().filter(|_| supports);
        cast.map(Self::Value).ok_or_else(|| value.clone())
    }

    /// The reference, if it is one.
    pub fn object(&self) -> Option<&A> {
        match self {
            Self::Object(object) => Some(object),
            Self::Value(_) => None,
        }
    }

    /// The value as one of type `T`, if it is one.
    pub fn value<T: ValueType>(&self) -> Option<Value<T>> {
        match self {
            Self::Object(_) => None,
            Self::Value(value) => value.cast(),
        }
    }
}

impl AbstractInterface for ObjectRef {
    fn info() -> &'static ValueInfo {
        ValueBase::info()
    }
}

impl<A> From<A> for Abstract<A>
where
    A: Interface,
{
    fn from(object: A) -> Self {
        Self::Object(object)
    }
}

impl<A: AbstractInterface> Abstract<A> {
    /// An any that holds it, or nil, as of the interface `A`.
    ///
    /// # Errors
    /// A value whose type does not support the interface.
    pub fn to_any(reference: &Option<Self>) -> Result<Any, EncodeError> {
        Any::with_type_code(Self::type_code(), &Written(reference))
    }

    /// What an any of the interface `A` holds, a reference bound to the ORB; nil is `None`.
    ///
    /// # Errors
    /// An any that holds something else.
    pub fn from_any(any: &Any, orb: &Orb) -> Result<Option<Self>, AnyError> {
        let asked = Self::type_code();
        if !asked.equivalent(any.type_code()) {
            return Err(AnyError::OtherType { is: any.type_code().clone(), asked });
        }
        Ok(AbstractReference::decode_as(&mut any.decoder().with_context(orb))?)
    }

    /// The TypeCode of the interface.
    fn type_code() -> TypeCode {
        let base = A::info().id() == ValueBase::info().id();
        let id = if base { ABSTRACT_BASE } else { A::INFO.id };
        let name = id.rsplit(['/', ':']).nth(1).unwrap_or_default();
        TypeCode::build(|to| to.named(TCKind::AbstractInterface, id, name)).unwrap_or_default()
    }
}

/// The repository id of what all abstract interfaces are derived from.
pub(crate) const ABSTRACT_BASE: &str = "IDL:omg.org/CORBA/AbstractBase:1.0";

/// One as it is written.
struct Written<'r, A>(&'r Option<Abstract<A>>);

impl<A: AbstractInterface> Encode for Written<'_, A> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        write(self.0, to)
    }
}

fn write<A: AbstractInterface>(value: &Option<Abstract<A>>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match value {
        Some(Abstract::Object(object)) => {
            to.write_bool(true);
            ObjectRef::encode(Some(object.as_object()), to)
        }
        Some(Abstract::Value(value)) => {
            if !value.get().is_some_and(|held| held.info().is_a(A::info())) {
                let why = "the value is gone, or its type does not support the abstract interface";
                return Err(EncodeError::new(EncodeErrorKind::Invalid(why), "abstract interface"));
            }
            to.write_bool(false);
            write_value(Some(value), to)
        }
        None => {
            to.write_bool(false);
            write_value(None, to)
        }
    }
}

impl<A: AbstractInterface> EncodeAs<Option<Abstract<A>>> for AbstractReference {
    fn encode_as<'a>(value: &'a Option<Abstract<A>>, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        write(value, to)
    }

    fn encode_owned_as(value: &Option<Abstract<A>>, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        write(value, to)
    }
}

impl<A: AbstractInterface> DecodeAs<Option<Abstract<A>>> for AbstractReference {
    // The discriminator and a null value.
    const MIN_SIZE: usize = 5;

    fn decode_as(from: &mut Decoder<'_>) -> Result<Option<Abstract<A>>, DecodeError> {
        if from.read_bool()? {
            return Ok(ObjectRef::decode(from)?.map(|object| Abstract::Object(A::from_object(object))));
        }
        Ok(read_value(A::info(), from)?.map(Abstract::Value))
    }
}
