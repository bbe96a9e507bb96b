//! Values put in and taken out whole: "Accessing a value of some basic type in a DynAny object" of the specification.
//!
//! What has components gives and takes a value of its own type, or one of its current component's.

use super::read::{bound, run_element};
use super::valuetype::is_value;
use super::{Content, DynAny, DynAnyError, Result};
use crate::any::name_of;
use crate::{Any, Decode, Described, Encode, TCKind, TypeCode};
use alloc::borrow::Cow;
use alloc::string::String;

/// Values of types that are known when the program is compiled.
impl DynAny {
    /// Puts a value in: numbers, characters, an any, a TypeCode, a sequence or struct of these, whatever has a type. It becomes the
    /// value of this `DynAny` if it is of a type equivalent to its own, and of the current component if of one equivalent to
    /// that.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where it is of neither; [`DynAnyError::InvalidValue`] where no component is current, and for what
    /// cannot be sent.
    pub fn insert<T: Encode + Described + ?Sized>(&mut self, value: &T) -> Result<()> {
        let asked = T::type_code();
        let target = self.target(|ty| ty.equivalent(&asked), || name_of(&asked).into())?;
        target.assign_any(&Any::new(value)?)
    }

    /// The value of this `DynAny`, or of the current component, whichever is of a type equivalent to `T`'s.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn get<T: Decode + Described>(&self) -> Result<T> {
        Ok(self.source_of::<T>()?.to_any()?.get()?)
    }

    /// [`get`](Self::get) with what the decoding of object references needs.
    ///
    /// # Errors
    /// As there.
    pub fn get_with<T: Decode + Described>(&self, context: &dyn crate::DecodeContext) -> Result<T> {
        Ok(self.source_of::<T>()?.to_any()?.get_with(context)?)
    }

    fn source_of<T: Described>(&self) -> Result<Cow<'_, DynAny>> {
        let asked = T::type_code();
        self.source(|ty| ty.equivalent(&asked), || name_of(&asked).into())
    }

    /// Puts text in where a `string` is due, bounded or not: here or in the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where none is due; [`DynAnyError::InvalidValue`] for text beyond the bound, for a NUL in it, and
    /// where no component is current.
    pub fn insert_string(&mut self, text: &str) -> Result<()> {
        self.insert_text(TCKind::String, text)
    }

    /// Puts text in where a `wstring` is due, as [`insert_string`](Self::insert_string) does.
    ///
    /// # Errors
    /// As there.
    pub fn insert_wstring(&mut self, text: &str) -> Result<()> {
        self.insert_text(TCKind::WString, text)
    }

    /// The text of a `string`: of this `DynAny` or of the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where neither is one; [`DynAnyError::InvalidValue`] where no component is current.
    pub fn string(&self) -> Result<String> {
        self.text_of(TCKind::String)
    }

    /// The text of a `wstring`: of this `DynAny` or of the current component.
    ///
    /// # Errors
    /// As [`string`](Self::string).
    pub fn wstring(&self) -> Result<String> {
        self.text_of(TCKind::WString)
    }

    fn insert_text(&mut self, kind: TCKind, text: &str) -> Result<()> {
        let target = self.target(|ty| ty.resolved_kind() == kind, || text_name(kind))?;
        let bound = bound(&target.ty);
        if bound != 0 && text.chars().nth(bound as usize).is_some() {
            let why = alloc::format!("text of more than {bound} characters in a bounded {kind}");
            return Err(DynAnyError::InvalidValue(why.into()));
        }
        if text.contains('\0') {
            return Err(DynAnyError::invalid("text holds a NUL character"));
        }
        target.content = Content::Text(text.into());
        Ok(())
    }

    fn text_of(&self, kind: TCKind) -> Result<String> {
        let source = self.source(|ty| ty.resolved_kind() == kind, || text_name(kind))?;
        match &source.content {
            Content::Text(text) => Ok(text.clone()),
            _ => Err(source.without("text")),
        }
    }

    /// Puts an object reference in, which an any holds: of whatever interface, since one may stand for those that it inherits from.
    /// An ORB makes such anys of references.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where the any holds no reference or none is due; [`DynAnyError::InvalidValue`] where no component
    /// is current.
    pub fn insert_reference(&mut self, reference: &Any) -> Result<()> {
        let given = reference.type_code();
        if !is_reference(given) {
            return Err(DynAnyError::mismatch(given, "an object reference"));
        }
        let target = self.target(is_reference, || given_name(given))?;
        let moved = Any::decode_value(target.ty.clone(), &mut reference.decoder())?;
        target.content = Content::Whole(moved.into());
        Ok(())
    }

    /// The object reference that stands here or in the current component, as an any for an ORB to bind.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] where neither is one; [`DynAnyError::InvalidValue`] where no component is current.
    pub fn reference(&self) -> Result<Any> {
        self.source(is_reference, || "an object reference".into())?.to_any()
    }

    /// What a value of such a type goes into.
    fn target(
        &mut self,
        fits: impl Fn(&TypeCode) -> bool,
        asked: impl FnOnce() -> Cow<'static, str>,
    ) -> Result<&mut Self> {
        if fits(&self.ty) {
            return Ok(self);
        }
        let at = match self.current() {
            Err(DynAnyError::TypeMismatch { is, .. }) => {
                return Err(DynAnyError::TypeMismatch { is, asked: asked() });
            }
            at => at?,
        };
        let component = self.index(at)?;
        if fits(&component.ty) {
            return Ok(component);
        }
        Err(DynAnyError::TypeMismatch { is: component.ty.clone(), asked: asked() })
    }

    /// What a value of such a type is taken from.
    fn source(
        &self,
        fits: impl Fn(&TypeCode) -> bool,
        asked: impl FnOnce() -> Cow<'static, str>,
    ) -> Result<Cow<'_, Self>> {
        if fits(&self.ty) {
            return Ok(Cow::Borrowed(self));
        }
        let at = match self.current() {
            Err(DynAnyError::TypeMismatch { is, .. }) => {
                return Err(DynAnyError::TypeMismatch { is, asked: asked() });
            }
            at => at?,
        };
        let component = match &self.content {
            Content::Parts(parts) => parts.get(at).map(Cow::Borrowed),
            Content::Union(arms) => arms.part(&self.ty, at)?,
            Content::Whole(_) if is_value(self.kind()) => {
                let mut apart = self.clone();
                let parts = apart.parts()?;
                (at < parts.len()).then(|| Cow::Owned(parts.swap_remove(at)))
            }
            Content::Whole(run) => Some(Cow::Owned(run_element(&self.ty, run, at)?)),
            _ => None,
        };
        match component {
            Some(component) if fits(&component.ty) => Ok(component),
            Some(component) => Err(DynAnyError::TypeMismatch { is: component.ty.clone(), asked: asked() }),
            None => Err(DynAnyError::invalid("there is no current component")),
        }
    }
}

fn is_reference(ty: &TypeCode) -> bool {
    matches!(ty.resolved_kind(), TCKind::ObjRef | TCKind::Component | TCKind::Home)
}

fn text_name(kind: TCKind) -> Cow<'static, str> {
    if kind == TCKind::String { "string".into() } else { "wstring".into() }
}

fn given_name(ty: &TypeCode) -> Cow<'static, str> {
    name_of(ty).into()
}
