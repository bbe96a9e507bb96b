//! Exceptions as reply handlers get them: undecoded, since one operation takes those of all kinds.

use zorb_cdr::{
    ByteOrder, CodeSet, CodeSets, Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, Format,
    Sequence, Value, ValueInfo, ValueType, Version,
};
use zorb_giop::SystemExceptionBody;

use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::marshal::{decode_exception, encode_exception};
use crate::orb::Orb;
use crate::raised::{OperationError, Raised, Raises};
use crate::rt;

/// Text in any language; peers that write ISO 8859-1 differ beyond ASCII only.
const FORMAT: Format = Format {
    version: Version::V1_2,
    code_sets: CodeSets { char: CodeSet::UTF_8, wchar: Some(CodeSet::UTF_16) },
};

/// An exception on its way to a reply handler: its repository id and members, as they would stand in the body of a reply
/// (`Messaging::ExceptionHolder`).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ExceptionHolder {
    /// Whether it is a system exception.
    pub is_system_exception: bool,
    /// The byte order of what follows: true for the least significant octet first.
    pub byte_order: bool,
    /// Repository id and members in CDR, aligned from the first octet.
    pub marshaled_exception: Sequence<u8>,
}

impl ExceptionHolder {
    /// One that holds what a call ended with. If that cannot be written it holds the system exception that says so.
    pub fn of<E: OperationError>(error: &E) -> ExceptionHolder {
        let raised = error.raised();
        ExceptionHolder::holding(&raised).unwrap_or_else(|error| {
            let unwritable =
                encode_exception(&error, Completion::Yes).context("an exception for a reply handler");
            ExceptionHolder::holding(&Raised::System(&unwritable)).unwrap_or_default()
        })
    }

    fn holding(raised: &Raised<'_>) -> Result<ExceptionHolder, EncodeError> {
        let mut to = Encoder::new(FORMAT);
        match raised {
            Raised::User(exception) => {
                to.write_string(exception.repository_id())?;
                exception.encode(&mut to)?;
            }
            Raised::System(exception) => {
                to.write_string(exception.kind.repository_id())?;
                to.write_u32(exception.minor.0);
                to.write_u32(exception.completed as u32);
            }
        }
        Ok(ExceptionHolder {
            is_system_exception: matches!(raised, Raised::System(_)),
            byte_order: ByteOrder::NATIVE == ByteOrder::Little,
            marshaled_exception: to.to_bytes().to_vec().into(),
        })
    }

    /// The exception, as the error type of the operation that was called (`raise_exception`). References in it become references
    /// of `orb`, which a servant has from its call's context.
    ///
    /// What is no such exception, or cannot be read, is the system exception that says so: `UNKNOWN` (OMG minor 1) for a user
    /// exception that the operation does not declare, `MARSHAL` for octets that make no exception.
    pub fn raise_exception<E: OperationError>(&self, orb: &Orb) -> E {
        let order = if self.byte_order { ByteOrder::Little } else { ByteOrder::Big };
        let mut from = Decoder::from_slice(&self.marshaled_exception, order, FORMAT).with_context(orb);
        if self.is_system_exception {
            return match SystemExceptionBody::decode(&mut from) {
                Ok(body) => system_exception(&body).into(),
                Err(error) => unreadable(&error).into(),
            };
        }
        let id = match from.read_string() {
            Ok(id) => id,
            Err(error) => return unreadable(&error).into(),
        };
        match E::Raises::decode(&id, &mut from) {
            Some(Ok(exception)) => exception,
            Some(Err(error)) => unreadable(&error).into(),
            None => {
                let text = format!("a reply handler was given {id:?}, which the operation does not declare");
                SystemException::new(Kind::Unknown, Minor::omg(1), Completion::Yes, text).into()
            }
        }
    }

    /// The exception in what the `…_excep` method of a handler is given; for null it is `BAD_PARAM`.
    pub fn raise<E: OperationError>(holder: &Option<Value<ExceptionHolder>>, orb: &Orb) -> E {
        match holder.as_ref().and_then(Value::get) {
            Some(holder) => holder.raise_exception(orb),
            None => SystemException::BadParam("the exception holder is null").into(),
        }
    }
}

fn system_exception(body: &SystemExceptionBody) -> SystemException {
    let completed = match body.completed {
        0 => Completion::Yes,
        1 => Completion::No,
        _ => Completion::Maybe,
    };
    let kind = Kind::from_repository_id(&body.repository_id);
    let text = match kind {
        Some(_) => "given to a reply handler".to_owned(),
        None => format!("a reply handler was given {:?}", body.repository_id),
    };
    SystemException::new(kind.unwrap_or(Kind::Unknown), Minor(body.minor), completed, text)
}

fn unreadable(error: &DecodeError) -> SystemException {
    decode_exception(error, Completion::Maybe).context("the exception that a reply handler was given")
}

impl ValueType for ExceptionHolder {
    fn info() -> &'static ValueInfo {
        static INFO: ValueInfo =
            ValueInfo::new::<ExceptionHolder>("IDL:omg.org/Messaging/ExceptionHolder:1.0", None, false, &[]);
        &INFO
    }

    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.is_system_exception.encode(to)?;
        self.byte_order.encode(to)?;
        self.marshaled_exception.encode(to)
    }

    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            is_system_exception: bool::decode(from)?,
            byte_order: bool::decode(from)?,
            marshaled_exception: Sequence::decode(from)?,
        })
    }
}

crate::described!(
    ExceptionHolder,
    to => rt::describe::value(
        to,
        "IDL:omg.org/Messaging/ExceptionHolder:1.0",
        "ExceptionHolder",
        0,
        None,
        &[
            ("is_system_exception", rt::describe::of::<bool>, 0),
            ("byte_order", rt::describe::of::<bool>, 0),
            ("marshaled_exception", |to| rt::describe::sequence(to, rt::describe::of::<u8>, 0), 0),
        ],
    )
);
