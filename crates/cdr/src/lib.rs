//! Common Data Representation: values to bytes and back (CORBA 3.4 part 2, §9.3).
//!
//! CDR writes each primitive at a multiple of its own size, counted from the start of the message or
//! encapsulation it stands in, in the byte order of the sender. A `long` after an `octet`:
//!
//! ```text
//!  0    1    2    3    4    5    6    7
//! ┌────┬────┬────┬────┬────┬────┬────┬────┐
//! │ 2a │ padding (00) │ 01   00   00   00 │   octet 42, long 1, little-endian
//! └────┴────┴────┴────┴────┴────┴────┴────┘
//! ```
//!
//! * [`Encoder`] appends values in the machine's own byte order and gathers large runs instead of copying them;
//! * [`Decoder`] reads either byte order from one or many [`Segment`]s and never past their end;
//! * [`Encode`] and [`Decode`] are what a value of an IDL type implements;
//! * [`Element`] and [`Sequence`] are the types whose layout in memory is their layout on the wire, and the
//!   sequences of them, sent and received without a copy.
//! * [`Value`] is a value of a valuetype, shared as the message shares it.
//! * [`TypeCode`] describes a type, and [`Any`] is a value with its description, encoded until it is asked for;
//!   [`DynAny`] is such a value taken apart.
//!
//! What it leaves to others: messages and references (`zorb_giop`), sockets, threads, clocks. It never does I/O and
//! holds no `unsafe` code.
//!
//! ```
//! use zorb_cdr::{ByteOrder, Decoder, Encode, Decode, Encoder, Format};
//!
//! let value = (7u8, String::from("seven"));
//! let mut to = Encoder::new(Format::default());
//! value.0.encode(&mut to)?;
//! value.1.encode(&mut to)?;
//! let octets = to.to_bytes();
//!
//! let mut from = Decoder::new(&octets, ByteOrder::NATIVE, Format::default());
//! assert_eq!(u8::decode(&mut from)?, 7);
//! assert_eq!(String::decode(&mut from)?, "seven");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Dependencies: `bytes` for counted buffers, so that a view can outlive the message it came in; `bytemuck` for
//! layout checks at compile time, so that views are safe code.
#![no_std]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub extern crate alloc;

mod any;
pub mod bits;
mod body;
mod context;
pub mod copies;
mod decoder;
mod dynany;
mod element;
mod encoder;
mod error;
mod fixed;
mod format;
pub mod fuzz;
mod gather;
mod kept;
mod memory;
mod padding;
mod path;
mod phase;
mod run;
mod scalar;
mod sequence;
mod text;
mod tiling;
mod tuple;
mod type_code;
mod value;
mod valuetype;
mod view;
mod walk;

pub use any::{Any, AnyError};
pub use body::{Body, Piece, Segment};
pub use context::{DecodeContext, KnownTypes};
pub use decoder::{Decoder, Limits};
pub use dynany::{DynAny, DynAnyError};
pub use element::Element;
pub use encoder::{BORROW_FROM, Encoder, FRAGMENT_HEADER, Mark};
pub use error::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind, check_bound};
pub use fixed::{Fixed, FixedError};
pub use format::{ByteOrder, CodeSet, CodeSets, Format, Version};
pub use gather::Slices;
pub use kept::{AtBound, KeptMemory};
pub use memory::{Home, Memory, Octets};
pub use padding::Padding;
pub use path::ValuePath;
pub use run::{ElementType, Run};
pub use scalar::{Char, LongDouble, WChar};
pub use sequence::{Sequence, VIEW_FROM};
pub use type_code::{Described, Describer, MOST_NOTHINGS, TCKind, TypeCode, TypeCodeError, TypeRef};
pub use value::{Bounded, Decode, Encode};
pub use valuetype::{
    BegunValue, CustomMarshal, Held, Value, ValueBase, ValueInfo, ValuePiece, ValueStart, ValueType,
    WrittenValue,
};
#[doc(hidden)]
pub use valuetype::{State, read_value, write_value};

pub use text::{check_string_bound, check_wstring_bound};

#[doc(hidden)]
pub use element::{are_clean, load_sized, octets, octets_mut, view, view_mut};
#[doc(hidden)]
pub use tiling::Layout;

/// For generated code, which may not have a dependency of its own on it.
#[doc(hidden)]
pub use bytemuck;
