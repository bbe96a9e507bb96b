//! Decimal numbers: what the specification has in the interface `DynFixed`.

use super::{Content, DynAny, DynAnyError, Result};
use crate::{Fixed, FixedError, TypeCode};
use alloc::boxed::Box;

/// How many digits a `fixed` has, and how many of them behind the point.
pub(super) fn parameters(ty: &TypeCode) -> (u8, u8) {
    let ty = ty.unaliased();
    (ty.fixed_digits().unwrap_or(0) as u8, ty.fixed_scale().unwrap_or(0) as u8)
}

/// Decimal numbers.
impl DynAny {
    /// The number. As text it is what the specification gives.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no `fixed`.
    pub fn fixed(&self) -> Result<Fixed> {
        match &self.content {
            Content::Fixed(number) => Ok(**number),
            _ => Err(self.without("a fixed")),
        }
    }

    /// Sets the number from text such as `-12.5`, with or without the `d` of a literal. What the scale of the type does not hold is
    /// cut off, and `false` given.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no `fixed` or the text no number; [`DynAnyError::InvalidValue`] if there are more
    /// digits before the point than the type has. The number is then what it was.
    pub fn set_fixed(&mut self, text: &str) -> Result<bool> {
        self.fixed()?;
        let text = text.trim();
        let text = text.strip_suffix(['d', 'D']).unwrap_or(text);
        let (digits, scale) = parameters(&self.ty);
        let number: Fixed = match text.parse() {
            Ok(number) => number,
            Err(FixedError::TooManyDigits) => {
                return Err(DynAnyError::invalid("a number of more than 31 digits"));
            }
            Err(_) => return Err(DynAnyError::mismatch(&self.ty, "of the form of that text")),
        };
        let kept = number.truncate(scale);
        if Fixed::unscaled(kept.truncate(0)).unsigned_abs()
            >= 10u128.pow(u32::from(digits.saturating_sub(scale)))
        {
            let why = alloc::format!("{number} in a fixed<{digits}, {scale}>");
            return Err(DynAnyError::InvalidValue(why.into()));
        }
        self.content = Content::Fixed(Box::new(kept));
        Ok(kept == number)
    }
}
