//! [`TCKind`]: the kinds of types, by their numbers on the wire (CORBA 3.4 part 2, §9.3.5.1).

use core::fmt;

macro_rules! kinds {
    ($($name:ident $number:literal $text:literal,)*) => {
        /// A kind of type: CORBA's `TCKind`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum TCKind {
            $(#[doc = concat!("`tk_", $text, "`")] $name = $number,)*
        }

        impl TCKind {
            /// The kind of this number, if there is one.
            pub const fn of_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for TCKind {
            /// The name in IDL, without `tk_`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$name => $text,)* })
            }
        }
    };
}

kinds! {
    Null 0 "null",
    Void 1 "void",
    Short 2 "short",
    Long 3 "long",
    UShort 4 "ushort",
    ULong 5 "ulong",
    Float 6 "float",
    Double 7 "double",
    Boolean 8 "boolean",
    Char 9 "char",
    Octet 10 "octet",
    Any 11 "any",
    TypeCode 12 "TypeCode",
    Principal 13 "Principal",
    ObjRef 14 "objref",
    Struct 15 "struct",
    Union 16 "union",
    Enum 17 "enum",
    String 18 "string",
    Sequence 19 "sequence",
    Array 20 "array",
    Alias 21 "alias",
    Except 22 "except",
    LongLong 23 "longlong",
    ULongLong 24 "ulonglong",
    LongDouble 25 "longdouble",
    WChar 26 "wchar",
    WString 27 "wstring",
    Fixed 28 "fixed",
    Value 29 "value",
    ValueBox 30 "value_box",
    Native 31 "native",
    AbstractInterface 32 "abstract_interface",
    LocalInterface 33 "local_interface",
    Component 34 "component",
    Home 35 "home",
    Event 36 "event",
}

impl TCKind {
    /// The number on the wire.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// It says all of its type: there are no parameters.
    pub const fn is_basic(self) -> bool {
        (self as u8) < 14 || matches!(self, Self::LongLong | Self::ULongLong | Self::LongDouble | Self::WChar)
    }

    /// Its parameters are an encapsulation.
    pub(crate) const fn has_complex_parameters(self) -> bool {
        !self.is_basic() && !matches!(self, Self::String | Self::WString | Self::Fixed)
    }

    /// Types of this kind have a repository id and a name.
    pub const fn is_named(self) -> bool {
        self.has_complex_parameters() && !matches!(self, Self::Sequence | Self::Array)
    }

    /// Types of this kind have members.
    pub const fn has_members(self) -> bool {
        matches!(self, Self::Struct | Self::Union | Self::Enum | Self::Except | Self::Value | Self::Event)
    }

    /// Types of this kind can contain themselves.
    pub(crate) const fn is_recursive(self) -> bool {
        matches!(self, Self::Struct | Self::Union | Self::Value | Self::Event)
    }

    /// A union can switch on it.
    pub(crate) const fn is_discriminator(self) -> bool {
        matches!(
            self,
            Self::Short
                | Self::Long
                | Self::LongLong
                | Self::UShort
                | Self::ULong
                | Self::ULongLong
                | Self::Boolean
                | Self::Char
                | Self::WChar
                | Self::Octet
                | Self::Enum
        )
    }

    /// How many octets each value takes, aligned to as many: of those of which a run can be passed over at once.
    pub(crate) const fn run_size(self) -> Option<usize> {
        Some(match self {
            Self::Char | Self::Octet => 1,
            Self::Short | Self::UShort => 2,
            Self::Long | Self::ULong | Self::Float => 4,
            Self::LongLong | Self::ULongLong | Self::Double => 8,
            _ => return None,
        })
    }
}
