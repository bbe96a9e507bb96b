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

/// What had no mapping for longest.
pub mod rest {
    zorb::include_idl!("rest");
}

/// What stands for native types of [`rest`].
pub mod native {
    use zorb::rt;

    /// An opaque handle.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Cookie(pub std::sync::Arc<String>);

    /// What is raised without being an exception of the IDL.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Refused(pub String);

    impl std::fmt::Display for Refused {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(&self.0)
        }
    }

    impl std::error::Error for Refused {}

    impl rt::ExceptionType for Refused {
        const ID: &'static str = "IDL:zorb.test/rest/Refused:1.0";
    }

    impl rt::Encode for Refused {
        fn encode<'a>(&'a self, to: &mut rt::Encoder<'a>) -> Result<(), rt::EncodeError> {
            self.0.encode(to)
        }
    }

    impl rt::Decode for Refused {
        fn decode(from: &mut rt::Decoder<'_>) -> Result<Self, rt::DecodeError> {
            rt::Decode::decode(from).map(Self)
        }
    }
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

    use abstracts::circle::{ScaledError, SetAcrossError, SizedError};
    use abstracts::{
        Ball, BallOperations, Circle, CircleFactory, CircleOperations, Longer, NamedOperations,
        TitledOperations, TooLarge, Track, ball, circle,
    };
    use zorb::{Sequence, SystemException, Value};

    impl circle::Shape for Circle {
        fn area(&self) -> Result<f64, SystemException> {
            Ok(self.radius * self.radius * 3.0)
        }
    }

    impl CircleOperations for Circle {
        fn across(&self) -> Result<f64, SystemException> {
            Ok(self.radius * 2.0)
        }

        fn set_across(&self, across: f64) -> Result<(), SetAcrossError> {
            Err(TooLarge { by: across })?
        }

        fn scaled(&self, by: f64, why: &str) -> Result<(Option<Value<Circle>>, String), ScaledError> {
            Ok((Some(Value::new(Circle { radius: self.radius * by })), format!("{why}, then")))
        }
    }

    impl CircleFactory for Circle {
        fn unit() -> Result<Value<Circle>, SystemException> {
            Ok(Value::new(Circle { radius: 1.0 }))
        }

        fn sized(radius: f64, unit: Sequence<u8>) -> Result<Value<Circle>, SizedError> {
            if unit.is_empty() {
                Err(TooLarge { by: radius })?
            }
            Ok(Value::new(Circle { radius }))
        }
    }

    impl circle::Shape for Ball {
        fn area(&self) -> Result<f64, SystemException> {
            Ok(self.base.area()? * 4.0)
        }
    }

    impl ball::Solid for Ball {
        fn volume(&self) -> Result<f64, SystemException> {
            Ok(self.base.radius)
        }
    }

    impl CircleOperations for Ball {
        fn across(&self) -> Result<f64, SystemException> {
            self.base.across()
        }

        fn set_across(&self, across: f64) -> Result<(), SetAcrossError> {
            self.base.set_across(across)
        }

        fn scaled(&self, by: f64, why: &str) -> Result<(Option<Value<Circle>>, String), ScaledError> {
            self.base.scaled(by, why)
        }
    }

    impl NamedOperations for Ball {
        fn name(&self) -> Result<String, SystemException> {
            Ok(self.label.clone())
        }
    }

    impl TitledOperations for Ball {}

    impl BallOperations for Ball {}

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
