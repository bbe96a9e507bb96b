//! Generated code, compiled with every lint denied: what a user's own crate would demand of it.
#![deny(warnings, missing_docs, unreachable_pub, clippy::all)]

/// Every mapped type, as the interop tests use them.
pub mod every {
    zorb::include_idl!("every");
}

/// Names that Rust would not take as they are, and names that meet.
pub mod names {
    zorb::include_idl!("names");
}

/// A small interface, for the crate that includes it and for the golden text.
pub mod bank {
    zorb::include_idl!("bank");
}

/// One module in two files.
pub mod split {
    zorb::include_idl!("split");
}

/// Operations with very many parameters.
pub mod wide {
    zorb::include_idl!("wide");
}

/// Decimal numbers.
pub mod decimals {
    zorb::include_idl!("decimals");
}

/// What IDL 4.2 added.
pub mod newer {
    zorb::include_idl!("newer");
}

/// Values with their types.
pub mod anys {
    zorb::include_idl!("anys");
}

/// Values of valuetypes.
pub mod values {
    zorb::include_idl!("values");
}

/// Values in values.
pub mod paths {
    zorb::include_idl!("paths");
}

/// Operations that servants answer later.
pub mod later {
    zorb::include_idl!("later");
}

/// Custom and abstract valuetypes, and abstract interfaces.
pub mod abstracts {
    use zorb::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};

    zorb::include_idl!("abstracts");

    use abstracts::{Longer, Track};

    /// The members without the subject; samples as shorts.
    impl zorb::CustomMarshal for Track {
        fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
            to.write_wstring(&self.title)?;
            to.write_length(self.samples.len())?;
            self.samples.iter().for_each(|sample| to.write_i16(*sample as i16));
            self.subject.encode(to)
        }

        fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            let title = from.read_wstring()?;
            let count = from.read_count(2)?;
            let samples =
                (0..count).map(|_| from.read_i16().map(f64::from)).collect::<Result<Vec<_>, _>>()?;
            Ok(Self { title, samples: samples.into(), subject: Decode::decode(from)? })
        }
    }

    impl zorb::CustomMarshal for Longer {
        fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
            self.encode_members(to)?;
            "what readers pass over".encode(to)
        }

        fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            Self::decode_members(from)
        }
    }
}
