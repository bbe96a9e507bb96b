//! Members by name: what the specification has in the interfaces `DynStruct` and `DynValue`.

use super::valuetype::{is_value, members, parts};
use super::{Content, DynAny, DynAnyError, Result, read};
use crate::type_code::Member;
use crate::{Any, TCKind};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Structs, exceptions and values.
impl DynAny {
    /// The member of this name: of a struct, exception or value, or the active one of a union.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is of another kind; [`DynAnyError::InvalidValue`] if it has no such member, or a union's
    /// active member is another.
    pub fn member(&mut self, name: &str) -> Result<&mut DynAny> {
        if self.kind() == TCKind::Union {
            let active = self.active_member_name()?;
            if active != name {
                let why = alloc::format!("the union's active member is {active:?}, not {name:?}");
                return Err(DynAnyError::InvalidValue(why.into()));
            }
            return self.active_member();
        }
        let Some(index) = self.fields()?.position(|member| &*member.name == name) else {
            return Err(DynAnyError::InvalidValue(alloc::format!("there is no member {name:?}").into()));
        };
        self.index(index)
    }

    fn fields(&self) -> Result<impl Iterator<Item = &Member>> {
        match self.kind() {
            TCKind::Struct | TCKind::Except | TCKind::Value | TCKind::Event => Ok(members(&self.ty)),
            _ => Err(self.without("a struct, exception or value")),
        }
    }

    /// The names of the members, in the order of the IDL; empty ones where the sender left them out.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no struct, exception or value.
    pub fn member_names(&self) -> Result<impl Iterator<Item = &str>> {
        Ok(self.fields()?.map(|member| &*member.name))
    }

    /// The name of the member that is the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no struct, exception or value; [`DynAnyError::InvalidValue`] where no member is current.
    pub fn current_member_name(&self) -> Result<&str> {
        Ok(&self.current_field()?.name)
    }

    fn current_field(&self) -> Result<&Member> {
        let mut fields = self.fields()?;
        fields.nth(self.current()?).ok_or(DynAnyError::invalid("there is no current member"))
    }

    /// The kind of the member that is the current component; [`TCKind::Alias`] if its type is one.
    ///
    /// # Errors
    /// As [`current_member_name`](Self::current_member_name).
    pub fn current_member_kind(&self) -> Result<TCKind> {
        Ok(self.ty.part(self.current_field()?.ty).kind())
    }

    /// The members with their names, in the order of the IDL; of a value those of its bases first.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no struct, exception or value; [`DynAnyError::InvalidValue`] for what cannot be sent, and for
    /// null.
    pub fn members(&self) -> Result<Vec<(String, Any)>> {
        let fields = self.fields()?;
        let mut apart = Cow::Borrowed(self);
        if matches!(self.content, Content::Whole(_)) {
            apart.to_mut().parts()?;
        }
        let Content::Parts(parts) = &apart.content else { return Err(self.without("a struct or exception")) };
        fields.zip(parts).map(|(member, part)| Ok(((*member.name).into(), part.to_any()?))).collect()
    }

    /// Sets all members; a null value is one then. The current position is then the first, if there is one.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no struct, exception or value, or a member has another type or name (no name at all is taken
    /// for the right one); [`DynAnyError::InvalidValue`] if there are not as many;
    /// [`DynAnyError::InconsistentTypeCode`] for a custom or abstract value. The value is then what it was.
    pub fn set_members<'n>(
        &mut self,
        members: impl IntoIterator<Item = (&'n str, &'n Any), IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let names: Vec<&Member> = self.fields()?.collect();
        if is_value(self.kind()) {
            parts(&self.ty)?;
        }
        let members = members.into_iter();
        if members.len() != names.len() {
            let why = alloc::format!("{} members for {}", members.len(), names.len());
            return Err(DynAnyError::InvalidValue(why.into()));
        }
        let mut parts = Vec::with_capacity(names.len());
        for ((name, value), member) in members.zip(names) {
            if !name.is_empty() && !member.name.is_empty() && *name != *member.name {
                let asked = alloc::format!("one with a member {name:?} where it has {:?}", member.name);
                return Err(DynAnyError::TypeMismatch { is: self.ty.clone(), asked: asked.into() });
            }
            let ty = self.ty.part(member.ty);
            if !ty.equivalent(value.type_code()) {
                return Err(DynAnyError::other_type(value.type_code(), &ty));
            }
            parts.push(read::taken_apart(&ty, value, self.depth + 1)?);
        }
        self.content = Content::Parts(parts);
        self.rewind();
        Ok(())
    }
}
