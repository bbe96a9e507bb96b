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
    /// A definition: alias, struct, union, enum, interface, valuetype, value box or native.
    Named(DefinitionId),
}

impl Type {
    /// It is one of the six integer types or `octet` (not looking through aliases).
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
            Type::Octet => (0, u8::MAX.into()),
            _ => return None,
        })
    }

    /// It is `float`, `double` or `long double`.
    pub fn is_floating(&self) -> bool {
        matches!(self, Type::Float | Type::Double | Type::LongDouble)
    }
}
