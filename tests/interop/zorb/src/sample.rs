//! Samples of IDL types and their canonical text, as `../cases.md` defines both.
//!
//! [`Sample`] is implemented by types whose samples follow from the type alone. Where IDL says more than the Rust type
//! does (a bound, or that a text is wide), a [`Shape`] says it: [`Text<8>`](Text), [`Wide`], [`List<Wide>`](List).

use std::fmt::Write;
use std::marker::PhantomData;

use zorb::rt::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use zorb::{Char, Fixed, LongDouble, Sequence, WChar, rt};

/// A type whose samples follow from the type alone.
pub trait Sample: Sized {
    /// The sample number `k`.
    fn sample(k: u32) -> Self;
    /// Appends its canonical text.
    fn show(&self, out: &mut String);
}

/// An IDL type, where it is more than a Rust type.
pub trait Shape {
    /// What carries its values.
    type Value: Clone;
    /// The sample number `k`.
    fn sample(k: u32) -> Self::Value;
    /// Appends the canonical text of `value`.
    fn show(value: &Self::Value, out: &mut String);
    /// Writes `value` into a message.
    fn encode(value: Self::Value, to: &mut Encoder<'static>) -> Result<(), EncodeError>;
    /// Reads a value from a message.
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Value, DecodeError>;
}

/// The canonical text of a value of shape `S`.
pub fn text<S: Shape>(value: &S::Value) -> String {
    let mut out = String::new();
    S::show(value, &mut out);
    out
}

/// The shape of a type that needs no more than itself.
pub struct Own<T>(PhantomData<T>);

/// A type with samples that travels.
pub trait Travels: Sample + Clone + Encode + Decode {}
impl<T: Sample + Clone + Encode + Decode> Travels for T {}

impl<T: Travels> Shape for Own<T> {
    type Value = T;
    fn sample(k: u32) -> T {
        T::sample(k)
    }
    fn show(value: &T, out: &mut String) {
        value.show(out);
    }
    fn encode(value: T, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        value.encode_owned(to)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<T, DecodeError> {
        T::decode(from)
    }
}

/// The entry of `table` for sample `k`.
pub fn pick<T: Clone>(table: &[T], k: u32) -> T {
    table[k as usize % table.len()].clone()
}

// ------------------------------------------------------------------- scalars

macro_rules! scalar {
    ($type:ty, $format:literal, |$value:ident| $shown:expr, [$($sample:expr),+ $(,)?]) => {
        impl Sample for $type {
            fn sample(k: u32) -> Self {
                pick(&[$($sample),+], k)
            }
            fn show(&self, out: &mut String) {
                let $value = *self;
                let _ = write!(out, $format, $shown);
            }
        }
    };
}

scalar!(i16, "{}", |x| x, [0, 1, -1, 32767, -32768, 258]);
scalar!(u16, "{}", |x| x, [0, 1, 65535, 32768, 258]);
scalar!(i32, "{}", |x| x, [0, 1, -1, i32::MAX, i32::MIN, 0x0102_0304]);
scalar!(u32, "{}", |x| x, [0, 1, u32::MAX, 1 << 31, 0x0102_0304]);
scalar!(i64, "{}", |x| x, [0, 1, -1, i64::MAX, i64::MIN, 0x0102_0304_0506_0708]);
scalar!(u64, "{}", |x| x, [0, 1, u64::MAX, 1 << 63, 0x0102_0304_0506_0708]);
scalar!(u8, "{}", |x| x, [0, 1, 255, 128, 127]);
scalar!(bool, "{}", |x| if x { "TRUE" } else { "FALSE" }, [false, true]);
scalar!(Char, "c{:02x}", |x| x.0, [Char(b'A'), Char(0), Char(0x7f), Char(b' '), Char(b'0')]);
scalar!(
    WChar,
    "w{:04x}",
    |x| x.0,
    [
        WChar(0x61),
        WChar(1),
        WChar(0xff),
        WChar(0x100),
        WChar(0x20ac),
        WChar(0xd7ff),
        WChar(0xe000),
        WChar(0xfffd),
    ]
);
scalar!(
    LongDouble,
    "{:#034x}",
    |x| x.to_bits(),
    [
        LongDouble::from(0.0),
        LongDouble::from(1.0),
        LongDouble::from(-1.0),
        LongDouble::from(0.5),
        LongDouble::from(-0.0),
        LongDouble::from(1e300),
        LongDouble::from(f64::INFINITY),
        LongDouble::from(f64::NEG_INFINITY),
        LongDouble::from_bits(LongDouble::from(1.0).to_bits() | 1 << (112 - 63)),
    ]
);
scalar!(
    f32,
    "{:#010x}",
    |x| x.to_bits(),
    [
        f32::from_bits(0),
        f32::from_bits(0x8000_0000),
        f32::from_bits(0x3f80_0000),
        f32::from_bits(0xc049_0fdb),
        f32::from_bits(0x7f7f_ffff),
        f32::from_bits(0x0080_0000),
        f32::from_bits(1),
        f32::from_bits(0x807f_ffff),
        f32::from_bits(0x7f80_0000),
        f32::from_bits(0xff80_0000),
        f32::from_bits(0x7fc0_0000),
    ]
);
scalar!(
    f64,
    "{:#018x}",
    |x| x.to_bits(),
    [
        f64::from_bits(0),
        f64::from_bits(0x8000_0000_0000_0000),
        f64::from_bits(0x3ff0_0000_0000_0000),
        f64::from_bits(0xc009_21fb_5444_2d18),
        f64::from_bits(0x7fef_ffff_ffff_ffff),
        f64::from_bits(0x0010_0000_0000_0000),
        f64::from_bits(1),
        f64::from_bits(0x800f_ffff_ffff_ffff),
        f64::from_bits(0x7ff0_0000_0000_0000),
        f64::from_bits(0xfff0_0000_0000_0000),
        f64::from_bits(0x7ff8_0000_0000_0000),
    ]
);

// --------------------------------------------------------------------- texts

/// A string of at most `BOUND` characters.
pub struct Text<const BOUND: usize = { usize::MAX }>;

/// A wide string of at most `BOUND` characters.
pub struct Wide<const BOUND: usize = { usize::MAX }>;

impl<const BOUND: usize> Shape for Text<BOUND> {
    type Value = String;
    fn sample(k: u32) -> String {
        let table = [
            "",
            "a",
            "zorb",
            "hello, world",
            "!\"#%&'()*+,-./:;<=>?@[\\]^_{|}~",
            "\t\r\n\x01\x7f",
            &"x".repeat(300),
        ];
        pick(&table, k).chars().take(BOUND).collect()
    }
    fn show(value: &String, out: &mut String) {
        out.push('"');
        escape(value, out);
        out.push('"');
    }
    fn encode(value: String, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_string(&value)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<String, DecodeError> {
        from.read_string()
    }
}

impl<const BOUND: usize> Shape for Wide<BOUND> {
    type Value = String;
    fn sample(k: u32) -> String {
        let table = ["", "a", "Grüße", "日本語", "\u{1}\u{ff}\u{100}\u{fffd}", &"ж".repeat(300)];
        pick(&table, k).chars().take(BOUND).collect()
    }
    fn show(value: &String, out: &mut String) {
        out.push_str("L\"");
        escape(value, out);
        out.push('"');
    }
    fn encode(value: String, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_wstring(&value)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<String, DecodeError> {
        from.read_wstring()
    }
}

fn escape(value: &str, out: &mut String) {
    for character in value.chars() {
        match character {
            ' '..='~' if character != '"' && character != '\\' => out.push(character),
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
        }
    }
}

impl Sample for String {
    fn sample(k: u32) -> Self {
        <Text>::sample(k)
    }
    fn show(&self, out: &mut String) {
        <Text>::show(self, out);
    }
}

// ------------------------------------------------------------ decimal numbers

/// A decimal number of `DIGITS` digits, `SCALE` of them behind the point.
pub struct Decimal<const DIGITS: u8, const SCALE: u8>;

impl<const DIGITS: u8, const SCALE: u8> Shape for Decimal<DIGITS, SCALE> {
    type Value = Fixed;
    fn sample(k: u32) -> Fixed {
        let most = 10_i128.pow(DIGITS.into()) - 1;
        let counting = 1_234_567_890_123_456_789_012_345_678_901 / 10_i128.pow(31 - u32::from(DIGITS));
        rt::fixed(pick(&[0, 1, -1, most, -most, counting], k), SCALE)
    }
    fn show(value: &Fixed, out: &mut String) {
        let _ = write!(out, "{value}");
    }
    fn encode(value: Fixed, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_fixed(value, DIGITS, SCALE)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Fixed, DecodeError> {
        from.read_fixed(DIGITS, SCALE)
    }
}

// ------------------------------------------------------- sequences and arrays

/// A sequence of at most `BOUND` elements of shape `S`, as a list.
pub struct List<S, const BOUND: usize = { usize::MAX }>(PhantomData<S>);

/// A sequence of at most `BOUND` elements of fixed layout.
pub struct Run<T, const BOUND: usize>(PhantomData<T>);

/// An array of `N` elements of shape `S`.
pub struct Array<S, const N: usize>(PhantomData<S>);

/// The numbers of the elements of a sequence's sample `k`.
fn numbers(k: u32, bound: usize) -> impl Iterator<Item = u32> {
    (k..).take(pick(&[0, 1, 2, 3, 5, 8, 17], k).min(bound))
}

fn show_all<'v, S: Shape>(values: impl Iterator<Item = &'v S::Value>, out: &mut String)
where
    S::Value: 'v,
{
    out.push('[');
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        S::show(value, out);
    }
    out.push(']');
}

impl<S: Shape, const BOUND: usize> Shape for List<S, BOUND> {
    type Value = Vec<S::Value>;
    fn sample(k: u32) -> Self::Value {
        numbers(k, BOUND).map(S::sample).collect()
    }
    fn show(value: &Self::Value, out: &mut String) {
        show_all::<S>(value.iter(), out);
    }
    fn encode(value: Self::Value, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        to.write_length(value.len())?;
        value.into_iter().try_for_each(|element| S::encode(element, to))
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Value, DecodeError> {
        // Every element that has a shape of its own begins with a length word, or is a decimal number of more digits.
        let count = from.read_count(4)?;
        (0..count).map(|_| S::decode(from)).collect()
    }
}

impl<T: Travels + rt::Element, const BOUND: usize> Shape for Run<T, BOUND> {
    type Value = Sequence<T>;
    fn sample(k: u32) -> Self::Value {
        numbers(k, BOUND).map(T::sample).collect()
    }
    fn show(value: &Self::Value, out: &mut String) {
        show_all::<Own<T>>(value.iter(), out);
    }
    fn encode(value: Self::Value, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        value.encode_owned(to)
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Value, DecodeError> {
        Decode::decode(from)
    }
}

impl<S: Shape, const N: usize> Shape for Array<S, N> {
    type Value = [S::Value; N];
    fn sample(k: u32) -> Self::Value {
        let mut number = k..;
        std::array::from_fn(|_| S::sample(number.next().unwrap_or_default()))
    }
    fn show(value: &Self::Value, out: &mut String) {
        show_all::<S>(value.iter(), out);
    }
    fn encode(value: Self::Value, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        value.into_iter().try_for_each(|element| S::encode(element, to))
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Value, DecodeError> {
        let elements: Result<Vec<_>, _> = (0..N).map(|_| S::decode(from)).collect();
        elements.map(|elements| elements.try_into().unwrap_or_else(|_| unreachable!("N elements were read")))
    }
}

macro_rules! by_shape {
    ($([$($bounds:tt)*] $type:ty => $shape:ty;)*) => {$(
        impl<$($bounds)*> Sample for $type {
            fn sample(k: u32) -> Self {
                <$shape>::sample(k)
            }
            fn show(&self, out: &mut String) {
                <$shape>::show(self, out);
            }
        }
    )*};
}
by_shape! {
    [T: Travels] Vec<T> => List<Own<T>>;
    [T: Travels + rt::Element] Sequence<T> => Run<T, { usize::MAX }>;
    [T: Travels, const N: usize] [T; N] => Array<Own<T>, N>;
}

// ---------------------------------------------- enums, structs and unions

/// Implements [`Sample`] for enums, whose samples are their members in order.
#[macro_export]
macro_rules! sample_enums {
    ($($name:ident { $($member:ident),+ })*) => {$(
        impl $crate::sample::Sample for $name {
            fn sample(k: u32) -> Self {
                $crate::sample::pick(&[$(Self::$member),+], k)
            }
            fn show(&self, out: &mut String) {
                out.push_str(match self { $(Self::$member => stringify!($member),)+ });
            }
        }
    )*};
}

/// What a struct has beside its members, where its layout has gaps.
pub fn padding<T: Default>() -> T {
    T::default()
}

/// Implements [`Sample`] for structs and exceptions, given by their members with their shapes.
#[macro_export]
macro_rules! sample_structs {
    ($($name:ident $(with $padding:ident)? { $($member:ident: $shape:ty),* $(,)? })*) => {$(
        impl $crate::sample::Sample for $name {
            fn sample(k: u32) -> Self {
                let mut number = k..;
                let mut next = || number.next().unwrap_or_default();
                Self {
                    $($member: <$shape as $crate::sample::Shape>::sample(next()),)*
                    $(..$crate::sample::$padding())?
                }
            }
            fn show(&self, out: &mut String) {
                let mut separator = "{";
                $(
                    out.push_str(std::mem::replace(&mut separator, ", "));
                    <$shape as $crate::sample::Shape>::show(&self.$member, out);
                )*
                out.push('}');
            }
        }
    )*};
}

/// Implements [`Sample`] for unions, given by the labels of their samples in order.
///
/// `label => arm(Shape)`: the arm has this label only; `label => arm(label, Shape)`: it carries its label;
/// `label => Default(label)`: no arm.
#[macro_export]
macro_rules! sample_unions {
    ($($name:ident by $by:ty { $($label:expr => $arm:ident $parts:tt),+ $(,)? })*) => {$(
        impl $crate::sample::Sample for $name {
            fn sample(k: u32) -> Self {
                let samples: &[fn(u32) -> Self] = &[$(|k| $crate::sample_unions!(@make $arm $parts $label, k)),+];
                $crate::sample::pick(samples, k)(k)
            }
            fn show(&self, out: &mut String) {
                $($crate::sample_unions!(@show self out $by, $arm $parts $label);)+
            }
        }
    )*};
    (@make $arm:ident (label) $label:expr, $k:ident) => {{
        let _ = $k;
        Self::$arm($label)
    }};
    (@make $arm:ident (label, $shape:ty) $label:expr, $k:ident) => {
        Self::$arm($label, <$shape as $crate::sample::Shape>::sample($k))
    };
    (@make $arm:ident ($shape:ty) $label:expr, $k:ident) => {
        Self::$arm(<$shape as $crate::sample::Shape>::sample($k))
    };
    (@show $self:ident $out:ident $by:ty, $arm:ident (label) $label:expr) => {
        if let Self::$arm(label) = $self {
            <$by as $crate::sample::Sample>::show(label, $out);
            return $out.push_str(": -");
        }
    };
    (@show $self:ident $out:ident $by:ty, $arm:ident (label, $shape:ty) $label:expr) => {
        if let Self::$arm(label, value) = $self {
            <$by as $crate::sample::Sample>::show(label, $out);
            $out.push_str(": ");
            return <$shape as $crate::sample::Shape>::show(value, $out);
        }
    };
    (@show $self:ident $out:ident $by:ty, $arm:ident ($shape:ty) $label:expr) => {
        if let Self::$arm(value) = $self {
            let label: $by = $label;
            <$by as $crate::sample::Sample>::show(&label, $out);
            $out.push_str(": ");
            return <$shape as $crate::sample::Shape>::show(value, $out);
        }
    };
}
