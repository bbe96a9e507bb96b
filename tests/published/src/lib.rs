//! What zorb makes of published IDL and of the corners of the language, compiled.
#![deny(warnings)]

/// The services of the OMG.
#[cfg(services)]
pub mod services {
    zorb::include_idl!("services");
}

/// What omniORB declares for itself, module CORBA included.
#[cfg(omniorb)]
pub mod omniorb {
    zorb::include_idl!("omniorb");
}

/// GIOP and what it includes, as Java's RMI over IIOP declares it.
#[cfg(giop)]
pub mod giop {
    zorb::include_idl!("giop");
}

/// The corners of the language, a module for each file.
pub mod corners {
    use zorb::cdr::{DecodeError, Decoder, EncodeError, Encoder};

    include!(concat!(env!("OUT_DIR"), "/corners.rs"));

    macro_rules! as_declared {
        ($($value:ty),*) => {$(
            impl zorb::CustomMarshal for $value {
                fn marshal<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
                    self.encode_members(to)
                }

                fn unmarshal(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                    Self::decode_members(from)
                }
            }
        )*};
    }
    as_declared!(value_header::V, event_header::A);
}

/// Of each of the sets of files above: its name, how many files it is made of, lines of IDL, interfaces, definitions, and lines of Rust.
pub const COUNTS: &[(&str, usize, usize, usize, usize, usize)] =
    include!(concat!(env!("OUT_DIR"), "/counts.rs"));
