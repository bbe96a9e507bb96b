//! Sequences and arrays: what the specification has in the interfaces `DynSequence` and `DynArray`.

use super::create::{self, Budget, element_of};
use super::{Content, DynAny, DynAnyError, Result, read};
use crate::{Any, TCKind};
use alloc::vec::Vec;

/// Sequences and arrays.
impl DynAny {
    /// Sets how many elements a sequence has. New ones are as [`new`](Self::new) makes them, and the first of them becomes the
    /// current component if there was none; none is current where the current one goes.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no sequence; [`DynAnyError::InvalidValue`] beyond its bound;
    /// [`DynAnyError::InconsistentTypeCode`] where that makes too many components at once.
    pub fn set_length(&mut self, length: usize) -> Result<()> {
        let bound = self.bound()?;
        if length > bound {
            let why = alloc::format!("{length} elements in a sequence of at most {bound}");
            return Err(DynAnyError::InvalidValue(why.into()));
        }
        let (ty, depth, current) = (self.ty.clone(), self.depth, self.position());
        let parts = self.parts()?;
        let before = parts.len();
        parts.truncate(length);
        if length > before {
            parts.extend(create::elements(&ty, depth, length - before, &mut Budget::new())?);
        }
        match current {
            None if length > before => self.seek(before),
            Some(at) => self.seek(at),
            None => false,
        };
        Ok(())
    }

    /// Adds an element to a sequence, and gives it.
    ///
    /// # Errors
    /// As [`set_length`](Self::set_length).
    pub fn push(&mut self) -> Result<&mut DynAny> {
        let length = match self.kind() {
            TCKind::Sequence => self.component_count(),
            _ => return Err(self.without("a sequence")),
        };
        self.set_length(length.saturating_add(1))?;
        self.index(length)
    }

    /// The most elements of a sequence.
    fn bound(&self) -> Result<usize> {
        if self.kind() != TCKind::Sequence {
            return Err(self.without("a sequence"));
        }
        Ok(self.ty.most_elements())
    }

    /// The elements of a sequence or array.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is neither; [`DynAnyError::InvalidValue`] for what cannot be sent.
    pub fn elements(&self) -> Result<Vec<Any>> {
        match (&self.content, self.kind()) {
            (Content::Parts(parts), TCKind::Sequence | TCKind::Array) => {
                parts.iter().map(Self::to_any).collect()
            }
            (Content::Whole(run), TCKind::Sequence | TCKind::Array) => {
                read::run_elements(&self.ty, run, self.depth)?.iter().map(Self::to_any).collect()
            }
            _ => Err(self.without("a sequence or array")),
        }
    }

    /// Sets all elements of a sequence or array. The current position is then the first, if there is one.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is neither, or an element is of another type; [`DynAnyError::InvalidValue`] for other
    /// than so many in an array, or more than the bound of a sequence. The value is then what it was.
    pub fn set_elements<'e>(
        &mut self,
        elements: impl IntoIterator<Item = &'e Any, IntoIter: ExactSizeIterator>,
    ) -> Result<()> {
        let elements = elements.into_iter();
        let (given, length) = (elements.len(), create::length(&self.ty));
        match self.kind() {
            TCKind::Sequence if given > self.bound()? => {
                let why = alloc::format!("{given} elements in a sequence of at most {length}");
                return Err(DynAnyError::InvalidValue(why.into()));
            }
            TCKind::Array if given != length => {
                let why = alloc::format!("{given} elements in an array of {length}");
                return Err(DynAnyError::InvalidValue(why.into()));
            }
            TCKind::Sequence | TCKind::Array => {}
            _ => return Err(self.without("a sequence or array")),
        }
        let ty = element_of(&self.ty);
        let taken = |element: &Any| {
            if !ty.equivalent(element.type_code()) {
                return Err(DynAnyError::other_type(element.type_code(), &ty));
            }
            read::taken_apart(&ty, element, self.depth + 1)
        };
        self.content = Content::Parts(elements.map(taken).collect::<Result<_>>()?);
        self.rewind();
        Ok(())
    }
}
