//! Values as octets by themselves: what service contexts and tagged components hold (`IOP::Codec`).

use std::fmt;

use bytes::Bytes;
use zorb_cdr::{Any, ByteOrder, CodeSets, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use zorb_cdr::{Format, TypeCode, Version};

/// Makes encapsulations of CDR, and reads them: with the TypeCode before the value, or without. It stands for the `Codec` and the
/// `CodecFactory` of the specification, whose one encoding is `ENCODING_CDR_ENCAPS`.
///
/// ```
/// use zorb_orb::interceptors::Codec;
/// # use zorb_cdr::{Any, Version};
/// let codec = Codec::new(Version::V1_2)?;
/// let octets = codec.encode_value(&Any::new("who calls")?)?;
/// let read = codec.decode_value(&octets, Any::new("")?.type_code().clone())?;
/// assert_eq!(read.get::<String>()?, "who calls");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Codec {
    format: Format,
}

/// Why a value cannot be encoded or decoded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CodecError {
    /// There is no encapsulation of this GIOP version (`UnknownEncoding`).
    UnknownEncoding(Version),
    /// The value cannot be written so (`InvalidTypeForEncoding`).
    InvalidTypeForEncoding(EncodeError),
    /// The octets are no encapsulation of a value with its TypeCode (`FormatMismatch`).
    FormatMismatch(DecodeError),
    /// The octets hold no value of the type (`TypeMismatch`).
    TypeMismatch(DecodeError),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecError::UnknownEncoding(version) => write!(f, "no encapsulation of GIOP {version} is known"),
            CodecError::InvalidTypeForEncoding(error) => write!(f, "encode an encapsulation: {error}"),
            CodecError::FormatMismatch(error) => write!(f, "decode an encapsulation of an any: {error}"),
            CodecError::TypeMismatch(error) => write!(f, "decode an encapsulation of a value: {error}"),
        }
    }
}

impl std::error::Error for CodecError {}

impl Codec {
    /// Of encapsulations of GIOP 1.0, 1.1 or 1.2, in which wide characters differ; text is UTF-8, and wide text UTF-16, if no other
    /// [code sets](Self::with_code_sets) are chosen.
    ///
    /// # Errors
    /// [`CodecError::UnknownEncoding`].
    pub fn new(version: Version) -> Result<Codec, CodecError> {
        match version {
            Version::V1_0 | Version::V1_1 | Version::V1_2 => {
                Ok(Codec { format: Format { version, ..Format::ENCAPSULATION } })
            }
            other => Err(CodecError::UnknownEncoding(other)),
        }
    }

    /// The same with other code sets (`create_codec_with_codesets`).
    pub fn with_code_sets(self, code_sets: CodeSets) -> Codec {
        Codec { format: Format { code_sets, ..self.format } }
    }

    /// The any: its TypeCode, then its value.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode(&self, value: &Any) -> Result<Bytes, CodecError> {
        self.encapsulate(|to| value.encode(to))
    }

    /// The value alone.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode_value(&self, value: &Any) -> Result<Bytes, CodecError> {
        self.encapsulate(|to| value.encode_value(to))
    }

    /// What [`encode`](Self::encode) made, here or elsewhere.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`].
    pub fn decode(&self, octets: &Bytes) -> Result<Any, CodecError> {
        let decode = || Any::decode(&mut self.decoder(octets)?);
        decode().map_err(CodecError::FormatMismatch)
    }

    /// What [`encode_value`](Self::encode_value) made of a value of this type.
    ///
    /// # Errors
    /// [`CodecError::TypeMismatch`].
    pub fn decode_value(&self, octets: &Bytes, ty: TypeCode) -> Result<Any, CodecError> {
        let decode = || Any::decode_value(ty, &mut self.decoder(octets)?);
        decode().map_err(CodecError::TypeMismatch)
    }

    fn encapsulate<'a>(
        &self,
        write: impl FnOnce(&mut Encoder<'a>) -> Result<(), EncodeError>,
    ) -> Result<Bytes, CodecError> {
        let mut to = Encoder::new(self.format);
        to.write_u8(ByteOrder::NATIVE.flag());
        write(&mut to).map_err(CodecError::InvalidTypeForEncoding)?;
        Ok(to.to_bytes())
    }

    fn decoder<'o>(&self, octets: &'o Bytes) -> Result<Decoder<'o>, DecodeError> {
        let order = Decoder::from_encapsulation(octets)?.order();
        let mut from = Decoder::new(octets, order, self.format);
        from.read_u8()?;
        Ok(from)
    }
}
