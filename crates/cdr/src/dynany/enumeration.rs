//! Values of enums: what the specification has in the interface `DynEnum`.

use super::{Content, DynAny, DynAnyError, Result};

/// Enums.
impl DynAny {
    /// The name of the enumerator.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no enum.
    pub fn enumerator(&self) -> Result<&str> {
        let ordinal = self.ordinal()? as usize;
        let member = self.ty.resolved().and_then(|node| node.members.get(ordinal));
        member.map(|member| &*member.name).ok_or(DynAnyError::invalid("the enum has no enumerators"))
    }

    /// Sets the enumerator by its name.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no enum, [`DynAnyError::InvalidValue`] if it has no such enumerator.
    pub fn set_enumerator(&mut self, name: &str) -> Result<()> {
        self.ordinal()?;
        let members = self.ty.resolved().map_or(&[][..], |node| &node.members);
        let Some(ordinal) = members.iter().position(|member| &*member.name == name) else {
            return Err(DynAnyError::InvalidValue(
                alloc::format!("the enum has no enumerator {name:?}").into(),
            ));
        };
        self.set_ordinal(ordinal as u32)
    }

    /// The number of the enumerator, in the order of the IDL from 0.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no enum.
    pub fn ordinal(&self) -> Result<u32> {
        match self.content {
            Content::Enumerator(ordinal) => Ok(ordinal),
            _ => Err(self.without("an enum")),
        }
    }

    /// Sets the enumerator by its number.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no enum, [`DynAnyError::InvalidValue`] if it has not as many enumerators.
    pub fn set_ordinal(&mut self, ordinal: u32) -> Result<()> {
        self.ordinal()?;
        let count = self.ty.resolved().map_or(0, |node| node.members.len());
        if ordinal as usize >= count {
            let why = alloc::format!("the enum has no enumerator {ordinal} of {count}");
            return Err(DynAnyError::InvalidValue(why.into()));
        }
        self.content = Content::Enumerator(ordinal);
        Ok(())
    }
}
