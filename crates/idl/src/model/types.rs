//! The types of IDL, as a member, parameter, constant or alias uses them.

use super::DefinitionId;

/// A type. Named ones are ids into the model; the rest stand for themselves.
///
/// Two types are equal when they are the same type *as written*: compare
/// [`Model::resolve_alias`](super::Model::resolve_alias) of both to look through aliases.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Type {
    /// `short`, 16 bits.
    Short,
    /// `long`, 32 bits.
    Long,
    /// `long long`, 64 bits.
    LongLong,
    /// `unsigned short`.
    UnsignedShort,
    /// `unsigned long`.
    UnsignedLong,
    /// `unsigned long long`.
    UnsignedLongLong,
    /// `float`, IEEE single.
    Float,
    /// `double`, IEEE double.
    Double,
    /// `long double`, IEEE quadruple.
    LongDouble,
    /// `char`, 8 bits in the negotiated code set.
    Char,
    /// `wchar`.
    WChar,
    /// `boolean`.
    Boolean,
    /// `octet`, never converted.
    Octet,
    /// `int8`, 8 bits. `int16`, `int32` and `int64` are `short`, `long` and `long long`, and `uint16`, `uint32` and `uint64`
    /// their unsigned twins (IDL 4.2, 7.4.13.4.4).
    Int8,
    /// `uint8`, 8 bits.
    UInt8,
    /// `any`: a TypeCode and a value of it.
    Any,
    /// `Object`: a reference to any object.
    Object,
    /// `CORBA::TypeCode`.
    TypeCode,
    /// `ValueBase`: any valuetype.
    ValueBase,
    /// `CORBA::AbstractBase`: any object or valuetype.
    AbstractBase,
    /// `string` or `string<bound>`; the bound counts characters without the terminator.
    String {
        /// At most so many characters; `None` is unbounded.
        bound: Option<u32>,
    },
    /// `wstring` or `wstring<bound>`.
    WString {
        /// At most so many characters; `None` is unbounded.
        bound: Option<u32>,
    },
    /// `sequence<element>` or `sequence<element, bound>`.
    Sequence {
        /// What it holds.
        element: Box<Type>,
        /// At most so many elements; `None` is unbounded.
        bound: Option<u32>,
    },
    /// `map<key, value>` or `map<key, value, bound>`.
    Map {
        /// The type of the keys.
        key: Box<Type>,
        /// The type of the values.
        value: Box<Type>,
        /// At most so many pairs; `None` is unbounded.
        bound: Option<u32>,
    },
    /// `element name[a][b]`: all dimensions in one.
    Array {
        /// What it holds.
        element: Box<Type>,
        /// The dimensions, outermost first; none is zero.
        dimensions: Vec<u32>,
    },
    /// `fixed<digits, scale>`: a decimal of up to 31 digits, `scale` of them after the point.
    Fixed {
        /// How many digits in all, 1 to 31.
        digits: u16,
        /// How many of them after the point, 0 to `digits`.
        scale: u16,
    },
    /// A definition: alias, struct, union, enum, bitset, bitmask, interface, valuetype, value box or native.
    Named(DefinitionId),
}

impl Type {
    /// It is one of the eight integer types or `octet` (not looking through aliases).
    pub fn is_integer(&self) -> bool {
        self.integer_range().is_some()
    }

    /// The least and the largest value of an integer type or `octet`.
    pub fn integer_range(&self) -> Option<(i128, i128)> {
        Some(match self {
            Type::Short => (i16::MIN.into(), i16::MAX.into()),
            Type::Long => (i32::MIN.into(), i32::MAX.into()),
            Type::LongLong => (i64::MIN.into(), i64::MAX.into()),
            Type::UnsignedShort => (0, u16::MAX.into()),
            Type::UnsignedLong => (0, u32::MAX.into()),
            Type::UnsignedLongLong => (0, u64::MAX.into()),
            Type::Octet | Type::UInt8 => (0, u8::MAX.into()),
            Type::Int8 => (i8::MIN.into(), i8::MAX.into()),
            _ => return None,
        })
    }

    /// It is `float`, `double` or `long double`.
    pub fn is_floating(&self) -> bool {
        matches!(self, Type::Float | Type::Double | Type::LongDouble)
    }
}
