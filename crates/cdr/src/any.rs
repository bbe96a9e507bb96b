//! [`Any`]: a value with the description of its type (CORBA 3.4 part 2, §9.3.5.2).

mod values;

use crate::copies::copied;
use crate::walk::{Graph, WalkError, read_exception_id, walk, walk_values};
use crate::{
    ByteOrder, CodeSets, Decode, DecodeContext, DecodeError, Decoder, Described, Encode, EncodeError,
    Encoder, Format, TCKind, TypeCode, Version,
};
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

/// A value of any IDL type, with its [`TypeCode`].
///
/// The value stays encoded: one that was received shares the octets of its message where these can be shared, and is read
/// when [`get`](Self::get) asks for it. Sent on in the form it has, it is copied as it is; in another alignment, byte order
/// or code set it is walked by its TypeCode.
///
/// ```
/// use zorb_cdr::{Any, AnyError};
///
/// let any = Any::new(&String::from("seven"))?;
/// assert_eq!(any.get::<String>()?, "seven");
/// assert!(matches!(any.get::<i32>(), Err(AnyError::OtherType { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Any {
    ty: TypeCode,
    /// The value, from the first octet behind its TypeCode.
    octets: Bytes,
    /// How far the first octet is from the alignment origin, modulo 8.
    phase: u8,
    order: ByteOrder,
    format: Format,
    /// Some if there are values of valuetypes.
    values: Option<values::Held>,
}

/// Why a value cannot be had of an [`Any`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyError {
    /// It is of another type than was asked for.
    OtherType {
        /// What it is.
        is: TypeCode,
        /// What was asked for.
        asked: TypeCode,
    },
    /// Its octets are no value of the type.
    Decode(DecodeError),
}

impl fmt::Display for AnyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherType { is, asked } => {
                write!(f, "the any holds a value of type {}, not {}", name_of(is), name_of(asked))
            }
            Self::Decode(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for AnyError {}

/// What messages call a type: its repository id, or its kind where it has none.
pub(crate) fn name_of(ty: &TypeCode) -> String {
    ty.id().map_or_else(|| alloc::format!("{}", ty.kind()), String::from)
}

impl From<DecodeError> for AnyError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// How a value that was not received is kept.
pub(crate) const KEPT: Format = Format { version: Version::V1_2, code_sets: CodeSets::UNICODE };

/// Octets that most values take at most: a buffer for one begins with so many.
const SMALL: usize = 64;

impl Any {
    /// The any without a value: of kind null.
    pub const EMPTY: Self = Self {
        ty: TypeCode::NULL,
        octets: Bytes::new(),
        phase: 0,
        order: ByteOrder::NATIVE,
        format: KEPT,
        values: None,
    };

    /// An any that holds the value.
    ///
    /// # Errors
    /// What CDR cannot carry, as where the value is sent.
    pub fn new<T: Encode + Described + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        Self::encoded(T::type_code(), value)
    }

    /// An any that holds what `value` encodes, as a value of the type: where the Rust type does not say all, as of a
    /// bounded string, or is not known, as in a gateway. What it encodes is checked against the type.
    ///
    /// # Errors
    /// What CDR cannot carry; octets that are no value of the type.
    pub fn with_type_code<T: Encode + ?Sized>(ty: TypeCode, value: &T) -> Result<Self, EncodeError> {
        let any = Self::encoded(ty, value)?;
        let mut from = any.decoder();
        let invalid = |why| EncodeError::new(crate::EncodeErrorKind::Invalid(why), "any");
        any.walk(&mut from, None)?;
        if from.remaining() > 0 { Err(invalid("it encodes more than a value of its type")) } else { Ok(any) }
    }

    fn encoded<T: Encode + ?Sized>(ty: TypeCode, value: &T) -> Result<Self, EncodeError> {
        let mut to = Encoder::with_buffer(Vec::with_capacity(SMALL), KEPT);
        if ty.kind() == TCKind::Except {
            to.write_raw_string(ty.id().unwrap_or_default().as_bytes())?;
        }
        value.encode(&mut to)?;
        let values = to.take_kept().map(values::Held::from);
        Ok(Self { ty, octets: to.to_bytes(), values, ..Self::EMPTY })
    }

    /// The type of the value.
    pub const fn type_code(&self) -> &TypeCode {
        &self.ty
    }

    /// The value, if it is one of a type equivalent to `T`'s.
    ///
    /// # Errors
    /// [`AnyError::OtherType`]; octets that are no such value.
    pub fn get<T: Decode + Described>(&self) -> Result<T, AnyError> {
        self.get_as(&T::type_code())
    }

    /// The value as one of this type, whose values `T` decodes: the counterpart of [`with_type_code`](Self::with_type_code).
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_as<T: Decode>(&self, ty: &TypeCode) -> Result<T, AnyError> {
        self.read(ty, self.decoder())
    }

    /// [`get`](Self::get) with what the decoding of object references needs.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_with<T: Decode + Described>(&self, context: &dyn DecodeContext) -> Result<T, AnyError> {
        self.read(&T::type_code(), self.decoder().with_context(context))
    }

    fn read<T: Decode>(&self, ty: &TypeCode, mut from: Decoder<'_>) -> Result<T, AnyError> {
        if !ty.equivalent(&self.ty) {
            return Err(AnyError::OtherType { is: self.ty.clone(), asked: ty.clone() });
        }
        if self.ty.kind() == TCKind::Except {
            read_exception_id(self.ty.id().unwrap_or_default(), &mut from)?;
        }
        Ok(T::decode(&mut from)?)
    }

    /// The type of this repository id, if values in the any are of it and the any's own type does not lead to it.
    pub fn described_value(&self, id: &str) -> Option<&TypeCode> {
        self.values.as_ref()?.described.get(id)
    }

    /// Reads the value as it stands.
    pub fn decoder(&self) -> Decoder<'_> {
        let from = Decoder::new(&self.octets, self.order, self.format).with_phase(self.phase.into());
        match &self.values {
            Some(kept) => from.with_context(&**kept),
            None => from,
        }
    }

    /// Whether the octets can stand where the message now ends.
    fn stands(&self, to: &Encoder<'_>) -> bool {
        self.order == ByteOrder::NATIVE
            && self.format == to.format()
            && to.position() & 7 == usize::from(self.phase)
            && !to.is_fragmenting()
            && (self.values.is_none() || !to.in_chunks())
    }

    pub(crate) fn transcode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.walk(&mut self.decoder(), Some(to))
    }

    fn walk(&self, from: &mut Decoder<'_>, to: Option<&mut Encoder<'_>>) -> Result<(), EncodeError> {
        let walked = match &self.values {
            None => walk(&self.ty, from, to),
            Some(held) => walk_values(&self.ty, from, to, &mut Graph::holding(&held.spans, &held.described)),
        };
        walked.map_err(WalkError::writing)
    }

    /// The octets go into a message as they are.
    fn adopted(&self, to: &mut Encoder<'_>) {
        if let Some(held) = &self.values {
            let start = to.len();
            to.values().adopt(held, start);
        }
    }

    /// The value in the one form that is kept of values that were not received.
    pub(crate) fn canonical(&self) -> Result<Bytes, EncodeError> {
        let mut to = Encoder::new(KEPT);
        self.transcode(&mut to)?;
        Ok(to.to_bytes())
    }
}

impl Default for Any {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl PartialEq for Any {
    /// Whether the types are equal and the values encode alike.
    fn eq(&self, other: &Self) -> bool {
        self.ty == other.ty
            && matches!((self.canonical(), other.canonical()), (Ok(one), Ok(two)) if one == two)
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Any").field("type_code", &self.ty).field("octets", &self.octets.len()).finish()
    }
}

impl Encode for Any {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.ty.encode(to)?;
        self.encode_value(to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        self.ty.clone().encode_owned(to)?;
        self.encode_value_owned(to)
    }
}

/// Values whose type both sides know: no TypeCode goes before them. What dynamic calls are made of.
impl Any {
    /// Writes the value without its TypeCode, as a parameter of this type is written. Of an exception the repository id goes
    /// before the members, as in a reply.
    ///
    /// # Errors
    /// What CDR cannot carry, such as text that the code set in force lacks.
    pub fn encode_value<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        if self.stands(to) {
            self.adopted(to);
            to.write_borrowed(&self.octets);
            return Ok(());
        }
        self.transcode(to)
    }

    /// [`encode_value`](Self::encode_value) into a message that outlives the any.
    ///
    /// # Errors
    /// As there.
    pub fn encode_value_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        if self.stands(to) {
            self.adopted(to);
            to.write_shared(self.octets);
            return Ok(());
        }
        self.transcode(to)
    }

    /// Reads a value of the type, before which no TypeCode goes. It shares the octets of its message where these can be
    /// shared. An exception begins with its repository id.
    ///
    /// # Errors
    /// Octets that are no value of the type.
    #[inline]
    pub fn decode_value(ty: TypeCode, from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Self::decode_part(ty, from, false)
    }

    /// The same, where it `is_part` of an any, of which an error tells. It is written once, into where it is to be.
    fn decode_part(ty: TypeCode, from: &mut Decoder<'_>, is_part: bool) -> Result<Self, DecodeError> {
        let told = |error: DecodeError| if is_part { error.in_member("value") } else { error };
        if matches!(ty.kind(), TCKind::Null | TCKind::Void) {
            return Ok(Self { ty, ..Self::EMPTY });
        }
        let start = from.position();
        let mut ahead = from.of_segment();
        let (phase, order, format) = (ahead.phase() as u8, from.order(), from.format());
        let walked = walk(&ty, &mut ahead, None);
        if let Err(error) = &walked
            && (matches!(error, WalkError::Value) || error.is_end() && from.has_values())
        {
            return values::decode(ty, from).map_err(told);
        }
        // It may go on in the next segment, whose alignment may be another. What is kept of an exception has its id, for
        // peers that need it where this one left it out.
        let anew = match &walked {
            Ok(()) => ty.kind() == TCKind::Except,
            Err(error) => !from.is_last_segment() && error.is_end(),
        };
        if anew {
            let mut to = Encoder::new(KEPT);
            let stand = from.stand();
            match walk(&ty, from, Some(&mut to)) {
                Err(WalkError::Value) => {
                    from.stand_again(stand);
                    return values::decode(ty, from).map_err(told);
                }
                walked => walked.map_err(|error| told(error.reading(from)))?,
            }
            copied(to.len());
            return Ok(Self { ty, octets: to.to_bytes(), ..Self::EMPTY });
        }
        if let Err(error) = walked {
            let error = error.reading(from);
            return Err(told(DecodeError { at: error.at.saturating_add(start), ..error }));
        }
        let octets = from.read_bytes(ahead.position())?;
        Ok(Self { ty, octets, phase, order, format, values: None })
    }
}

impl Decode for Any {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        match TypeCode::decode(from) {
            Ok(ty) => Self::decode_part(ty, from, true),
            Err(error) => Err(error.in_member("type")),
        }
    }
}
