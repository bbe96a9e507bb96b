//! What turns a generated struct or enum into an [`Element`](crate::Element): [`tiling_struct!`](crate::tiling_struct) and
//! [`enumeration!`](crate::enumeration). What stands between its members is [`Padding`](crate::Padding).
//!
//! A struct tiles when, from a start aligned for its widest member, CDR puts each member where `repr(C)` does, and
//! either nothing is left over at its end or its first member is as aligned as its widest:
//!
//! ```text
//! { short s; double d; }           s · · · · · · d           tiles; out of phase a first element is shorter
//! { double d; octet o; }           d o · · · · · · ·          tiles; a last element lacks its tail
//! { octet a; double d; octet o; }  a · … d o · …              does not: CDR starts the next right after o
//! ```

/// Implements `Debug`, [`Encode`](crate::Encode), [`Decode`](crate::Decode) and [`Element`](crate::Element) for a
/// `repr(C)` struct that tiles, and checks its layout when it is compiled.
///
/// It names the members with their types in order, then the padding fields. Before them, the kind:
///
/// * `plain` if any bits are a value of every member: the struct derives `Pod`, and its sequences become views;
/// * `checked` if not: it derives `NoUninit`, and its sequences are read in one pass that checks them;
/// * `copied` if it holds an array of booleans, enums or structs of the other two kinds, for which `NoUninit` cannot be
///   derived: its sequences are written element by element.
///
/// ```
/// use zorb_cdr::{Padding, Sequence, bytemuck, tiling_struct};
///
/// #[derive(Clone, Copy, PartialEq, Default, bytemuck::Zeroable, bytemuck::Pod)]
/// #[bytemuck(crate = "::zorb_cdr::bytemuck")]
/// #[repr(C)]
/// pub struct Sample {
///     pub channel: u16,
///     #[doc(hidden)]
///     pub _padding_0: Padding<6>,
///     pub value: f64,
/// }
/// tiling_struct!(plain Sample { channel: u16, value: f64 } padding { _padding_0 });
///
/// let samples: Sequence<Sample> = vec![Sample { channel: 1, value: 0.5, ..Default::default() }].into();
/// assert_eq!(format!("{samples:?}"), "[Sample { channel: 1, value: 0.5 }]");
/// ```
// Locals begin with an underscore, as no IDL name does: one that a constant in reach is named like would not bind.
#[macro_export]
macro_rules! tiling_struct {
    (@octets copied) => {
        #[inline]
        fn octets(_: &[Self]) -> ::core::option::Option<&[::core::primitive::u8]> {
            ::core::option::Option::None
        }
    };
    (@octets $kind:ident) => {
        #[inline]
        fn octets(_elements: &[Self]) -> ::core::option::Option<&[::core::primitive::u8]> {
            $crate::octets(_elements)
        }
    };
    (@view plain $name:ident) => {
        #[inline]
        fn view(_octets: &[::core::primitive::u8]) -> ::core::option::Option<&[Self]> {
            $crate::view(_octets)
        }

        #[inline]
        fn view_mut(_octets: &mut [::core::primitive::u8]) -> ::core::option::Option<&mut [Self]> {
            $crate::view_mut(_octets)
        }

        #[inline]
        fn octets_mut(_elements: &mut [Self]) -> ::core::option::Option<&mut [::core::primitive::u8]> {
            $crate::octets_mut(_elements)
        }

        #[inline]
        fn are_clean(_elements: &[Self]) -> ::core::primitive::bool {
            $crate::are_clean::<Self, { 4 * ::core::mem::size_of::<$name>() }, { ::core::mem::size_of::<$name>() }>(_elements)
        }
    };
    (@view $kind:ident $name:ident) => {
        #[inline]
        fn view(_: &[::core::primitive::u8]) -> ::core::option::Option<&[Self]> {
            ::core::option::Option::None
        }
    };
    (@load_all $name:ident) => {
        fn load_all(
            _octets: &[::core::primitive::u8],
            _order: $crate::ByteOrder,
            _into: &mut $crate::alloc::vec::Vec<Self>,
        ) -> ::core::primitive::bool {
            $crate::load_sized::<Self, { ::core::mem::size_of::<$name>() }>(_octets, _order, _into)
        }
    };
    ($kind:ident $name:ident { $($member:ident: $type:ty),+ $(,)? } padding { $($padding:ident),* $(,)? }) => {
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, _f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                _f.debug_struct(stringify!($name))$(.field(stringify!($member), &self.$member))+.finish()
            }
        }

        impl $crate::Encode for $name {
            #[inline]
            fn encode<'a>(&'a self, _to: &mut $crate::Encoder<'a>) -> ::core::result::Result<(), $crate::EncodeError> {
                $($crate::Encode::encode(&self.$member, _to)?;)+
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn encode_owned(self, _to: &mut $crate::Encoder<'static>) -> ::core::result::Result<(), $crate::EncodeError> {
                $($crate::Encode::encode_owned(self.$member, _to)?;)+
                ::core::result::Result::Ok(())
            }

            $crate::element_runs!(encode);
        }

        impl $crate::Decode for $name {
            const MIN_SIZE: ::core::primitive::usize = 0 $(+ <$type as $crate::Decode>::MIN_SIZE)+;

            #[inline]
            fn decode(_from: &mut $crate::Decoder<'_>) -> ::core::result::Result<Self, $crate::DecodeError> {
                ::core::result::Result::Ok(Self {
                    $($member: <$type as $crate::Decode>::decode(_from)?,)+
                    $($padding: $crate::Padding::ZERO,)*
                })
            }

            $crate::element_runs!(decode);
        }

        impl $crate::Element for $name {
            const ALIGN: ::core::primitive::usize = <$name>::LAYOUT.align;
            const FIRST: ::core::primitive::usize = <$name>::LAYOUT.first;
            const TAIL: ::core::primitive::usize = <$name>::LAYOUT.tail(::core::mem::size_of::<$name>());
            const PADDED: ::core::primitive::bool = <$name>::LAYOUT.padded(::core::mem::size_of::<$name>());

            #[inline(always)]
            fn load(_octets: &[::core::primitive::u8], _order: $crate::ByteOrder, _valid: &mut ::core::primitive::bool) -> Self {
                Self {
                    $($member: <$type as $crate::Element>::load(
                        _octets.get(::core::mem::offset_of!($name, $member)..).unwrap_or_default(),
                        _order,
                        _valid,
                    ),)+
                    $($padding: $crate::Padding::ZERO,)*
                }
            }

            $crate::tiling_struct!(@octets $kind);
            $crate::tiling_struct!(@view $kind $name);
            $crate::tiling_struct!(@load_all $name);

            #[inline]
            fn is_clean(&self) -> ::core::primitive::bool {
                true $(& self.$padding.is_clean())* $(& $crate::Element::is_clean(&self.$member))+
            }
        }

        impl $name {
            const LAYOUT: $crate::Layout = $crate::Layout::empty()
                $(.member::<$type>(::core::mem::offset_of!($name, $member)))+;
        }

        const _: () = $name::LAYOUT.check(::core::mem::size_of::<$name>(), ::core::mem::align_of::<$name>());
    };
}

/// Implements [`Encode`](crate::Encode), [`Decode`](crate::Decode) and [`Element`](crate::Element) for a `repr(u32)` enum
/// that names its enumerators in order, from 0.
///
/// ```
/// use zorb_cdr::{bytemuck, enumeration};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, bytemuck::NoUninit)]
/// #[bytemuck(crate = "::zorb_cdr::bytemuck")]
/// #[repr(u32)]
/// pub enum Colour {
///     #[default]
///     Red,
///     Green,
/// }
/// enumeration!(Colour { Red, Green });
/// ```
#[macro_export]
macro_rules! enumeration {
    ($name:ident { $($enumerator:ident),+ $(,)? }) => {
        impl $name {
            const ENUMERATORS: &'static [Self] = &[$(Self::$enumerator),+];
        }

        impl $crate::Encode for $name {
            #[inline]
            fn encode<'a>(&'a self, _to: &mut $crate::Encoder<'a>) -> ::core::result::Result<(), $crate::EncodeError> {
                _to.write_u32(*self as ::core::primitive::u32);
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn encode_owned(self, _to: &mut $crate::Encoder<'static>) -> ::core::result::Result<(), $crate::EncodeError> {
                _to.write_u32(self as ::core::primitive::u32);
                ::core::result::Result::Ok(())
            }

            $crate::element_runs!(encode);
        }

        impl $crate::Decode for $name {
            const MIN_SIZE: ::core::primitive::usize = 4;

            #[inline]
            fn decode(_from: &mut $crate::Decoder<'_>) -> ::core::result::Result<Self, $crate::DecodeError> {
                _from.read_enumerator(Self::ENUMERATORS, stringify!($name))
            }

            $crate::element_runs!(decode);
        }

        impl $crate::Element for $name {
            const ALIGN: ::core::primitive::usize = 4;

            #[inline(always)]
            fn load(_octets: &[::core::primitive::u8], _order: $crate::ByteOrder, _valid: &mut ::core::primitive::bool) -> Self {
                let _number = <::core::primitive::u32 as $crate::Element>::load(_octets, _order, _valid);
                match Self::ENUMERATORS.get(_number as ::core::primitive::usize) {
                    ::core::option::Option::Some(&_enumerator) => _enumerator,
                    ::core::option::Option::None => {
                        *_valid = false;
                        Self::ENUMERATORS[0]
                    }
                }
            }

            $crate::tiling_struct!(@octets enumeration);
            $crate::tiling_struct!(@view enumeration $name);
            $crate::tiling_struct!(@load_all $name);
        }

        const _: () = {
            let mut _number = 0;
            while _number < $name::ENUMERATORS.len() {
                assert!($name::ENUMERATORS[_number] as ::core::primitive::usize == _number, "enumerators are numbered in order from 0");
                _number += 1;
            }
        };
    };
}

/// Where CDR puts the members of a struct that starts aligned for the widest, worked out when it is compiled.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub align: usize,
    pub first: usize,
    /// Where the last member ends.
    end: usize,
    /// Octets that are values, not padding.
    filled: usize,
    /// Whether `repr(C)` agreed so far.
    agrees: bool,
}

#[allow(missing_docs)]
impl Layout {
    pub const fn empty() -> Self {
        Self { align: 1, first: 0, end: 0, filled: 0, agrees: true }
    }

    /// Adds a member that `repr(C)` puts at `offset`.
    pub const fn member<T: crate::Element>(self, offset: usize) -> Self {
        let start = self.end.next_multiple_of(T::FIRST);
        Self {
            align: if T::ALIGN > self.align { T::ALIGN } else { self.align },
            first: if self.first == 0 { T::FIRST } else { self.first },
            end: start + size_of::<T>() - T::TAIL,
            filled: self.filled + if T::PADDED { 0 } else { size_of::<T>() },
            // In memory the member is as it is when it starts aligned, so that is where it has to start here too.
            agrees: self.agrees && start == offset && start.is_multiple_of(T::ALIGN),
        }
    }

    pub const fn tail(self, size: usize) -> usize {
        size - self.end
    }

    pub const fn padded(self, size: usize) -> bool {
        self.filled != size
    }

    /// Fails to compile where the struct does not tile.
    pub const fn check(self, size: usize, align: usize) {
        assert!(self.agrees, "CDR puts a member elsewhere than repr(C)");
        assert!(self.align == align, "this machine aligns a member otherwise than CDR");
        assert!(self.end.next_multiple_of(align) == size, "CDR gives the struct another size");
        assert!(
            self.end == size || self.first == align,
            "CDR starts the next element before the end of the padding"
        );
    }
}
