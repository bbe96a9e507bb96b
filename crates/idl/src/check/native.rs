//! Where `native` types may stand: as parameters, results and exceptions of what is called in the same program only, the operations of
//! local interfaces and of valuetypes. CORBA 3.4 part 1, 7.11.5 and 7.13.3.
//!
//! Interfaces of before there were local ones pass the pseudo-objects of module CORBA, such as `CORBA::Environment`, which the
//! built-in orb.idl has as native types: those may stand there too.

use super::Checker;
use crate::diagnostics::error;
use crate::model::{DefinitionId, DefinitionKind, InterfaceFlavor, Type};
use crate::source::Span;

impl Checker {
    /// The native type that a type is, under whatever name.
    fn native(&self, ty: &Type) -> Option<DefinitionId> {
        match self.model.resolve_alias(ty) {
            Type::Named(id) if matches!(self.model.definition(*id).kind, DefinitionKind::Native) => Some(*id),
            _ => None,
        }
    }

    /// The native type that a type is made of.
    fn native_within(&self, ty: &Type) -> Option<DefinitionId> {
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.native(element).or_else(|| self.native_within(element))
            }
            Type::Map { key, value, .. } => [key, value]
                .into_iter()
                .find_map(|part| self.native(part).or_else(|| self.native_within(part))),
            _ => None,
        }
    }

    /// Reports a native type as a part of another type: a member, an arm, an element, what is in a box.
    pub(super) fn forbid_native(&mut self, ty: &Type, span: Span) {
        if let Some(id) = self.native(ty) {
            self.report_native(id, span, "cannot be a part of another type");
        } else {
            self.forbid_native_within(ty, span);
        }
    }

    /// The same, where the native type itself may stand: a `typedef` is another name of it.
    pub(super) fn forbid_native_within(&mut self, ty: &Type, span: Span) {
        if let Some(id) = self.native_within(ty) {
            self.report_native(id, span, "cannot be a part of another type");
        }
    }

    /// Reports a native type that an operation of an interface which can be called from elsewhere passes or raises.
    pub(super) fn check_passed_native(&mut self, ty: &Type, span: Span) {
        match self.native(ty) {
            Some(id)
                if self.is_called_from_elsewhere()
                    && !self.is_built_in_file(self.model.definition(id).span) =>
            {
                self.report_native(id, span, "cannot travel");
            }
            Some(_) => {}
            None => self.forbid_native_within(ty, span),
        }
    }

    fn is_called_from_elsewhere(&self) -> bool {
        match self.current.map(|id| &self.model.definition(id).kind) {
            Some(DefinitionKind::Interface(it)) => it.flavor != InterfaceFlavor::Local,
            _ => false,
        }
    }

    fn report_native(&mut self, id: DefinitionId, span: Span, what: &str) {
        let label = "operations of local interfaces and valuetypes may pass it, and raise it";
        let message = format!("the native type `{}` {what}", self.model.scoped_name(id));
        let declared = self.model.definition(id).span;
        self.report(error(message, span, label).see(declared, "declared here"));
    }
}
