//! The current position, and components by their number: "Traversing DynAny objects" of the specification.

use super::{Content, DynAny, DynAnyError, Result, read, valuetype};
use crate::TCKind;
use alloc::vec::Vec;

/// Components, one after another or by their number.
impl DynAny {
    /// How many components there are: members, elements, of a union one or two, of a box one, of null and all else none.
    pub fn component_count(&self) -> usize {
        match &self.content {
            Content::Parts(parts) => parts.len(),
            Content::Union(arms) => arms.count(&self.ty),
            Content::Whole(value) if valuetype::is_value(self.kind()) => valuetype::count(&self.ty, value),
            Content::Whole(run) if self.is_taken_apart() => read::run_length(&self.ty, run),
            _ => 0,
        }
    }

    /// The number of the current component; `None` where the specification has −1.
    pub fn position(&self) -> Option<usize> {
        // A union's second component goes where its discriminator says so.
        self.position.map(|at| at as usize).filter(|at| *at < self.component_count())
    }

    /// Makes the component of this number the current one. Where there is none, no component is current, and `false` is given.
    pub fn seek(&mut self, index: usize) -> bool {
        self.position = u32::try_from(index).ok().filter(|_| index < self.component_count());
        self.position.is_some()
    }

    /// Makes the first component the current one; `false` if there is none.
    pub fn rewind(&mut self) -> bool {
        self.seek(0)
    }

    /// Makes the component behind the current one the current one. Behind the last there is none, and `false` is given; so it is
    /// where none was current.
    #[expect(
        clippy::should_implement_trait,
        reason = "the name that the specification gives it; no iterator"
    )]
    pub fn next(&mut self) -> bool {
        match self.position() {
            Some(at) => self.seek(at + 1),
            None => false,
        }
    }

    /// The current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a kind that has no components; [`DynAnyError::InvalidValue`] where none is current.
    pub fn current_component(&mut self) -> Result<&mut DynAny> {
        let at = self.current()?;
        self.index(at)
    }

    /// The number of the current component.
    pub(super) fn current(&self) -> Result<usize> {
        if !self.is_taken_apart() {
            return Err(self.without("something with components"));
        }
        self.position().ok_or(DynAnyError::invalid("there is no current component"))
    }

    /// The component of this number, from 0: a member in the order of the IDL, an element; of a union first the discriminator,
    /// then the member.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a kind that has no components; [`DynAnyError::InvalidValue`] where there are not as many.
    pub fn index(&mut self, index: usize) -> Result<&mut DynAny> {
        let parts = self.parts()?;
        let count = parts.len();
        let beyond =
            || DynAnyError::InvalidValue(alloc::format!("there is no component {index} of {count}").into());
        parts.get_mut(index).ok_or_else(beyond)
    }

    /// The components in their order.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a kind that has none; [`DynAnyError::InvalidValue`] where they are numbers, and too many to be had
    /// one by one.
    pub fn components(&mut self) -> Result<impl ExactSizeIterator<Item = &mut DynAny> + DoubleEndedIterator> {
        Ok(self.parts()?.iter_mut())
    }

    /// Whether its kind has components.
    fn is_taken_apart(&self) -> bool {
        matches!(
            self.kind(),
            TCKind::Struct | TCKind::Except | TCKind::Sequence | TCKind::Array | TCKind::Union
        ) || valuetype::is_value(self.kind())
    }

    /// The components, each on its own. A union's member follows its discriminator.
    pub(super) fn parts(&mut self) -> Result<&mut Vec<DynAny>> {
        if !self.is_taken_apart() {
            return Err(self.without("something with components"));
        }
        if let Content::Whole(whole) = &self.content {
            let parts = match valuetype::is_value(self.kind()) {
                true => valuetype::taken_apart(&self.ty, whole, self.depth)?,
                false => read::run_elements(&self.ty, whole, self.depth)?,
            };
            self.content = Content::Parts(parts);
        }
        match &mut self.content {
            Content::Parts(parts) => Ok(parts),
            Content::Union(arms) => arms.settled(&self.ty, self.depth),
            // Its kind says otherwise.
            _ => Err(DynAnyError::mismatch(&self.ty, "something with components")),
        }
    }

    #[cold]
    pub(super) fn without(&self, asked: &'static str) -> DynAnyError {
        DynAnyError::mismatch(&self.ty, asked)
    }
}
