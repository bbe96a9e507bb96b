//! Valuetypes. CORBA 3.4 part 1, 7.9.

use super::annotation::On;
use super::constructed::article;
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::error;
use crate::model::{
    DefinitionId, DefinitionKind, Factory, InterfaceFlavor, StateMember, Type, ValueFlavor, ValueType,
};
use crate::syntax::{Field, Name, Parameter, ScopedName, Value};

impl Checker {
    pub(super) fn value(&mut self, it: &Value) {
        let id = self.begin_value(it);
        let Some(items) = &it.items else { return };
        let bases = self.value_bases(it);
        let supports = self.supports(it, &bases);
        if let Some(span) = it.truncatable {
            let concrete = bases.first().is_some_and(|base| self.is_concrete(*base));
            let problem = if it.flavor == ValueFlavor::Custom {
                Some("a custom valuetype cannot be cut down")
            } else if it.flavor == ValueFlavor::Abstract {
                Some("an abstract valuetype has no state to cut down")
            } else {
                (!concrete).then_some("the base that follows must have state")
            };
            if let Some(label) = problem {
                self.report(error("`truncatable` makes no sense here", span, label));
            }
        }
        let lineage: Vec<DefinitionId> = bases.iter().chain(&supports).copied().collect();
        self.inherit(id, &lineage, it.name.span);
        *self.kind_mut(id) = DefinitionKind::ValueType(ValueType {
            flavor: it.flavor,
            truncatable: it.truncatable.is_some(),
            bases,
            supports,
            defined: true,
            ..ValueType::default()
        });
        self.within(id, |it| it.items(items));
    }

    /// Declares a valuetype, or takes up its forward declaration.
    fn begin_value(&mut self, it: &Value) -> DefinitionId {
        let known = self.declared_here(&it.name.text);
        let known = known.and_then(|id| match &self.model.definition(id).kind {
            DefinitionKind::ValueType(known) if it.items.is_none() || !known.defined => {
                Some((id, known.flavor))
            }
            _ => None,
        });
        let Some((id, flavor)) = known else {
            let kind = ValueType { flavor: it.flavor, ..ValueType::default() };
            let id = self.declare(&it.name, &it.doc, DefinitionKind::ValueType(kind));
            self.facts[id.index()].complete = true;
            return id;
        };
        if (flavor == ValueFlavor::Abstract) != (it.flavor == ValueFlavor::Abstract) {
            let declared = self.model.definition(id).span;
            let label = "write `abstract` in each declaration or in none";
            let message = format!("`{}` was declared as another kind of valuetype", it.name.text);
            self.report(error(message, it.name.span, label).see(declared, "declared here"));
        }
        if it.items.is_some() {
            self.define(id, &it.name.text, it.name.span, &it.doc);
        }
        id
    }

    fn is_concrete(&self, id: DefinitionId) -> bool {
        matches!(&self.model.definition(id).kind, DefinitionKind::ValueType(it) if it.flavor != ValueFlavor::Abstract)
    }

    fn value_bases(&mut self, it: &Value) -> Vec<DefinitionId> {
        let mut bases: Vec<DefinitionId> = Vec::new();
        for name in &it.bases {
            let Some(base) = self.value_named(name) else { continue };
            let concrete = self.is_concrete(base);
            let problem = if bases.contains(&base) {
                Some("it is named twice")
            } else if concrete && it.flavor == ValueFlavor::Abstract {
                Some("an abstract valuetype inherits from abstract ones only")
            } else if concrete && !bases.is_empty() {
                Some("a base with state comes first, and there is at most one")
            } else {
                None
            };
            match problem {
                Some(label) => {
                    let message = format!("`{}` cannot inherit from `{}`", it.name.text, name.written());
                    self.report(error(message, name.span, label));
                }
                None => bases.push(base),
            }
        }
        bases
    }

    fn value_named(&mut self, name: &ScopedName) -> Option<DefinitionId> {
        let target = self.resolve(name)?;
        let mut found = None;
        if let Target::Definition(id) = target {
            let ty = Type::Named(id);
            if let Type::Named(id) = *self.model.resolve_alias(&ty)
                && let DefinitionKind::ValueType(it) = &self.model.definition(id).kind
            {
                found = Some((id, it.defined));
            }
        }
        match found {
            Some((id, true)) => Some(id),
            Some((id, false)) => {
                let declared = self.model.definition(id).span;
                let message = format!("cannot inherit from `{}`, which is not defined yet", name.written());
                self.report(error(message, name.span, "define it before").see(declared, "declared here"));
                None
            }
            None => {
                let what = self.describe(target);
                let label = if what == "interface" {
                    "write `supports` before it"
                } else {
                    "a valuetype is expected"
                };
                let message =
                    format!("cannot inherit from `{}`, which is a{}", name.written(), article(what));
                self.report(error(message, name.span, label));
                None
            }
        }
    }

    /// The supported interfaces: any number of abstract ones, and one other, which must inherit from the one that
    /// a base supports.
    fn supports(&mut self, it: &Value, bases: &[DefinitionId]) -> Vec<DefinitionId> {
        let mut supports: Vec<DefinitionId> = Vec::new();
        for name in &it.supports {
            let Some(interface) = self.interface_named(name, "support") else { continue };
            if supports.contains(&interface) {
                self.report(error(format!("`{}` is named twice", name.written()), name.span, "remove one"));
                continue;
            }
            if self.is_abstract_interface(interface) {
                supports.push(interface);
                continue;
            }
            let second = supports.iter().any(|it| !self.is_abstract_interface(*it));
            let supported = bases.iter().find_map(|base| self.supported(*base));
            let stranger = supported
                .filter(|base| *base != interface && !self.facts[interface.index()].lineage.contains(base));
            if second {
                let label = "at most one interface that is not abstract";
                self.report(error(format!("cannot support `{}` too", name.written()), name.span, label));
            } else if let Some(base) = stranger {
                let label =
                    format!("it must inherit from `{}`, which a base supports", self.model.scoped_name(base));
                self.report(error(format!("cannot support `{}`", name.written()), name.span, label));
            } else {
                supports.push(interface);
            }
        }
        supports
    }

    fn is_abstract_interface(&self, id: DefinitionId) -> bool {
        matches!(&self.model.definition(id).kind, DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Abstract)
    }

    /// The interface that is not abstract and that a valuetype or one of its bases supports.
    fn supported(&self, value: DefinitionId) -> Option<DefinitionId> {
        let lineage = self.facts[value.index()].lineage.clone();
        let values = std::iter::once(value).chain(lineage.iter().copied());
        let mut supports = values.filter_map(|id| match &self.model.definition(id).kind {
            DefinitionKind::ValueType(it) => Some(it.supports.clone()),
            _ => None,
        });
        supports.find_map(|supports| supports.into_iter().find(|it| !self.is_abstract_interface(*it)))
    }

    pub(super) fn state(&mut self, public: bool, field: &Field) {
        let Some(of) = self.current else { return };
        let base = self.ty(&field.ty);
        if !self.is_concrete(of) {
            let label = "remove it, or `abstract`";
            let span = field.declarators[0].name.span;
            self.report(error("an abstract valuetype has no state", span, label));
        }
        for declarator in &field.declarators {
            self.declare_name(&declarator.name, Target::Feature { of, what: "state member" });
            let Some(ty) = base.clone().and_then(|base| self.declared_type(base, declarator)) else {
                continue;
            };
            self.require_complete(&ty, type_span(&field.ty));
            self.forbid_native(&ty, type_span(&field.ty));
            let (name, span) = (declarator.name.text.to_string(), declarator.name.span);
            let annotations = self.annotations(&field.annotations, On::of("state member", &ty));
            if let DefinitionKind::ValueType(it) = self.kind_mut(of) {
                it.state.push(StateMember { public, name, ty, annotations, doc: field.doc.clone(), span });
            }
        }
    }

    pub(super) fn factory(
        &mut self,
        name: &Name,
        doc: &str,
        parameters: &[Parameter],
        raises: &[ScopedName],
    ) {
        let Some(of) = self.current else { return };
        if !self.is_concrete(of) {
            self.report(error("an abstract valuetype has no factory", name.span, "remove it, or `abstract`"));
        }
        self.uses = Some(Vec::new());
        let (kept, _) = self.parameters(parameters);
        let raises = self.raises(raises);
        self.declare_name(name, Target::Feature { of, what: "factory" });
        self.check_parameter_names(parameters);
        if let DefinitionKind::ValueType(it) = self.kind_mut(of) {
            let (name, span) = (name.text.to_string(), name.span);
            let annotations = Vec::new();
            it.factories.push(Factory { name, parameters: kept, raises, annotations, doc: doc.into(), span });
        }
    }
}
