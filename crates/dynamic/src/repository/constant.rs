//! The values of constants, and labels.

use zorb_cdr::{Any, Char, Encode, EncodeError, Encoder, Fixed, LongDouble, TypeCode, WChar};
use zorb_idl::model::Value;

/// The any of a constant's value. What CDR cannot carry, of which IDL has nothing, gives the empty any.
pub(super) fn value(ty: TypeCode, value: &Value) -> Any {
    let of = Constant { value, ty: &ty.unaliased() };
    Any::with_type_code(ty.clone(), &of).unwrap_or_default()
}

/// A value as it is encoded.
struct Constant<'v> {
    value: &'v Value,
    ty: &'v TypeCode,
}

impl Encode for Constant<'_> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        match self.value {
            Value::Short(it) => to.write_i16(*it),
            Value::Long(it) => to.write_i32(*it),
            Value::LongLong(it) => to.write_i64(*it),
            Value::UnsignedShort(it) => to.write_u16(*it),
            Value::UnsignedLong(it) => to.write_u32(*it),
            Value::UnsignedLongLong(it) => to.write_u64(*it),
            Value::Octet(it) | Value::UInt8(it) => to.write_u8(*it),
            Value::Int8(it) => to.write_i8(*it),
            Value::Float(it) => to.write_f32(*it),
            Value::Double(it) => to.write_f64(*it),
            Value::LongDouble(it) => to.write_long_double(LongDouble::from_bits(it.to_bits())),
            Value::Char(it) => to.write_char(Char(*it)),
            Value::WChar(it) => to.write_wchar(WChar(*it))?,
            Value::Boolean(it) => to.write_bool(*it),
            Value::String(it) => to.write_string(it)?,
            Value::WString(it) => to.write_wstring(it)?,
            Value::Fixed(it) => {
                let value = Fixed::new(it.unscaled, it.scale as u8).unwrap_or_default();
                let digits = self.ty.fixed_digits().unwrap_or(31) as u8;
                to.write_fixed(value, digits, self.ty.fixed_scale().unwrap_or(0) as u8)?;
            }
            Value::Enumerator { index, .. } => to.write_u32(*index),
            _ => {}
        }
        Ok(())
    }
}

/// A union's label as a TypeCode has it: widened to 64 bits as its bits stand.
pub(super) fn label(value: &Value) -> i64 {
    match value {
        Value::UnsignedLongLong(it) => *it as i64,
        // It is described as an octet.
        Value::Int8(it) => (*it as u8).into(),
        Value::Char(it) => (*it).into(),
        Value::WChar(it) => (*it).into(),
        Value::Boolean(it) => (*it).into(),
        Value::Enumerator { index, .. } => (*index).into(),
        // All others fit.
        other => other.as_integer().and_then(|it| i64::try_from(it).ok()).unwrap_or(0),
    }
}
