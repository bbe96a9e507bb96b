//! Types as the IDL writes them, for documentation and messages.

use std::fmt::Write;

use zorb_idl::model::{Model, Type};

/// The type in IDL, named types with all their scopes.
pub(crate) fn type_text(model: &Model, ty: &Type) -> String {
    let bounded = |name: &str, bound: &Option<u32>| match bound {
        Some(bound) => format!("{name}<{bound}>"),
        None => name.to_owned(),
    };
    match ty {
        Type::Short => "short".into(),
        Type::Long => "long".into(),
        Type::LongLong => "long long".into(),
        Type::UnsignedShort => "unsigned short".into(),
        Type::UnsignedLong => "unsigned long".into(),
        Type::UnsignedLongLong => "unsigned long long".into(),
        Type::Float => "float".into(),
        Type::Double => "double".into(),
        Type::LongDouble => "long double".into(),
        Type::Char => "char".into(),
        Type::WChar => "wchar".into(),
        Type::Boolean => "boolean".into(),
        Type::Octet => "octet".into(),
        Type::Int8 => "int8".into(),
        Type::UInt8 => "uint8".into(),
        Type::Any => "any".into(),
        Type::Object => "Object".into(),
        Type::TypeCode => "CORBA::TypeCode".into(),
        Type::ValueBase => "ValueBase".into(),
        Type::AbstractBase => "CORBA::AbstractBase".into(),
        Type::String { bound } => bounded("string", bound),
        Type::WString { bound } => bounded("wstring", bound),
        Type::Sequence { element, bound } => match bound {
            Some(bound) => format!("sequence<{}, {bound}>", type_text(model, element)),
            None => format!("sequence<{}>", type_text(model, element)),
        },
        Type::Map { key, value, bound } => {
            let (key, value) = (type_text(model, key), type_text(model, value));
            match bound {
                Some(bound) => format!("map<{key}, {value}, {bound}>"),
                None => format!("map<{key}, {value}>"),
            }
        }
        Type::Array { element, dimensions } => {
            dimensions.iter().fold(type_text(model, element), |mut text, count| {
                let _ = write!(text, "[{count}]");
                text
            })
        }
        Type::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
        Type::Named(id) => model.scoped_name(*id),
        _ => "a type".into(),
    }
}
