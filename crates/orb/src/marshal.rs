//! What cannot be written or read, as CORBA's exceptions: the one place that maps them, for both sides.

use std::fmt;

use zorb_cdr::{DecodeError, DecodeErrorKind, EncodeError, EncodeErrorKind};
use zorb_giop::SystemExceptionBody;

use crate::exception::{Completion, Kind, Minor, SystemException};

/// Of a value that cannot be written. The caller's or the servant's fault: BAD_PARAM; DATA_CONVERSION for text
/// that the code set in force cannot carry.
pub(crate) fn encode_exception(error: &EncodeError, completed: Completion) -> SystemException {
    let (kind, minor) = match error.kind {
        EncodeErrorKind::Unrepresentable { .. } => (Kind::DataConversion, Minor::omg(1)),
        EncodeErrorKind::UnsupportedCodeSet(_) => (Kind::CodesetIncompatible, Minor::omg(1)),
        // "wchar code set not negotiated", CORBA 3.4 part 2 §7.10.2.6.
        EncodeErrorKind::NoWideCodeSet => (Kind::InvObjref, Minor::omg(2)),
        EncodeErrorKind::WideInGiop1_0 => (Kind::Marshal, Minor::omg(5)),
        // "Attempt to marshal Local object", CORBA 3.4 part 1, annex A.
        EncodeErrorKind::LocalObject => (Kind::Marshal, Minor::omg(4)),
        _ => (Kind::BadParam, Minor::NONE),
    };
    SystemException::new(kind, minor, completed, error.to_string())
}

/// Of bytes that make no such value: MARSHAL, the sender's fault.
pub(crate) fn decode_exception(error: &DecodeError, completed: Completion) -> SystemException {
    let (kind, minor) = match error.kind {
        DecodeErrorKind::InvalidText(_) => (Kind::DataConversion, Minor::omg(1)),
        DecodeErrorKind::UnsupportedCodeSet(_) => (Kind::CodesetIncompatible, Minor::omg(1)),
        DecodeErrorKind::KeptMemory { .. } => (Kind::ImpLimit, Minor::NONE),
        // The sender used wchar without having announced how it writes it.
        DecodeErrorKind::NoWideCodeSet => (Kind::BadParam, Minor::omg(23)),
        DecodeErrorKind::WideInGiop1_0 => (Kind::Marshal, Minor::omg(5)),
        // "Unable to locate value factory", CORBA 3.4 part 1, annex A.
        DecodeErrorKind::UnknownValueType => (Kind::Marshal, Minor::omg(1)),
        _ => (Kind::Marshal, Minor::NONE),
    };
    SystemException::new(kind, minor, completed, error.to_string())
}

/// What a server raised; `whence` names operation and endpoint.
pub(crate) fn received_exception(body: &SystemExceptionBody, whence: impl fmt::Display) -> SystemException {
    let completed = match body.completed {
        0 => Completion::Yes,
        1 => Completion::No,
        _ => Completion::Maybe,
    };
    let known = Kind::from_repository_id(&body.repository_id);
    let text = match known {
        Some(_) => format!("{whence}: raised by the server"),
        None => format!("{whence}: raised {:?}", body.repository_id),
    };
    SystemException::new(known.unwrap_or(Kind::Unknown), Minor(body.minor), completed, text)
}
