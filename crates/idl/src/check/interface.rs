//! Interfaces, operations and attributes. CORBA 3.4 part 1, 7.8 and 7.13 to 7.15.

use std::collections::{HashMap, HashSet};

use super::annotation::On;
use super::constructed::article;
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::error;
use crate::limits;
use crate::model::{
    Attribute, DefinitionId, DefinitionKind, Direction, Feature, Interface, InterfaceFlavor, Operation,
    Origin, Parameter, Type,
};
use crate::source::Span;
use crate::syntax::{self, Name, ScopedName, TypeSpec};

/// The steps that comparing one inherited name with the others counts for: it copies and hashes the name.
const COMPARISON: usize = 8;

impl Checker {
    pub(super) fn interface(&mut self, it: &syntax::Interface) {
        let id = self.begin_interface(it);
        let Some(items) = &it.items else { return };
        let mut bases = Vec::new();
        for name in &it.bases {
            if matches!(name.parts.as_slice(), [only] if only.text == it.name.text) {
                let label = "an interface cannot inherit from itself";
                self.report(error(format!("`{}` is not defined yet", it.name.text), name.span, label));
                continue;
            }
            let Some(base) = self.interface_named(name, "inherit from") else { continue };
            if bases.contains(&base) {
                let label = "an interface inherits directly from another once";
                self.report(error(format!("`{}` is named twice", name.written()), name.span, label));
                continue;
            }
            let flavor = self.flavor(base);
            let problem = match (it.flavor, flavor) {
                (InterfaceFlavor::Abstract, InterfaceFlavor::Plain | InterfaceFlavor::Local) => {
                    Some("an abstract interface inherits from abstract interfaces only")
                }
                (InterfaceFlavor::Plain, InterfaceFlavor::Local) => {
                    Some("only a local interface inherits from a local one")
                }
                _ => None,
            };
            if let Some(label) = problem {
                let what = if flavor == InterfaceFlavor::Local { "local" } else { "not abstract" };
                let message = format!("`{}` is {what}", name.written());
                self.report(error(message, name.span, label));
                continue;
            }
            bases.push(base);
        }
        self.inherit(id, &bases, it.name.span);
        *self.kind_mut(id) = DefinitionKind::Interface(Interface {
            flavor: it.flavor,
            bases,
            features: Vec::new(),
            defined: true,
            origin: Origin::Interface,
        });
        self.within(id, |it| it.items(items));
    }

    /// Declares an interface, or takes up its forward declaration.
    fn begin_interface(&mut self, it: &syntax::Interface) -> DefinitionId {
        let known = self.declared_here(&it.name.text);
        let known = known.and_then(|id| match &self.model.definition(id).kind {
            DefinitionKind::Interface(known) if it.items.is_none() || !known.defined => {
                Some((id, known.flavor))
            }
            _ => None,
        });
        let Some((id, flavor)) = known else {
            let kind = Interface { flavor: it.flavor, ..Interface::default() };
            let id = self.declare(&it.name, &it.doc, DefinitionKind::Interface(kind));
            self.facts[id.index()].complete = true;
            return id;
        };
        if flavor != it.flavor {
            let declared = self.model.definition(id).span;
            let label = "write `abstract` and `local` in each declaration or in none";
            let message = format!("`{}` was declared as another kind of interface", it.name.text);
            self.report(error(message, it.name.span, label).see(declared, "declared here"));
        }
        if it.items.is_some() {
            self.define(id, &it.name.text, it.name.span, &it.doc);
        }
        id
    }

    fn flavor(&self, id: DefinitionId) -> InterfaceFlavor {
        match &self.model.definition(id).kind {
            DefinitionKind::Interface(it) => it.flavor,
            _ => InterfaceFlavor::Plain,
        }
    }

    /// The defined interface that a name stands for, `purpose` saying what it is needed for.
    pub(super) fn interface_named(&mut self, name: &ScopedName, purpose: &str) -> Option<DefinitionId> {
        let target = self.resolve(name)?;
        let mut found = None;
        if let Target::Definition(id) = target {
            // An alias of an interface serves as well.
            let ty = Type::Named(id);
            if let Type::Named(id) = *self.model.resolve_alias(&ty)
                && let DefinitionKind::Interface(it) = &self.model.definition(id).kind
            {
                found = Some((id, it.defined));
            }
        }
        match found {
            Some((id, true)) => Some(id),
            Some((id, false)) => {
                let declared = self.model.definition(id).span;
                let message = format!("cannot {purpose} `{}`, which is not defined yet", name.written());
                self.report(error(message, name.span, "define it before").see(declared, "declared here"));
                None
            }
            None => {
                let what = article(self.describe(target));
                let message = format!("cannot {purpose} `{}`, which is a{what}", name.written());
                self.report(error(message, name.span, "an interface is expected here"));
                None
            }
        }
    }

    /// Notes what a definition inherits names from, and reports operations and attributes that it inherits twice.
    pub(super) fn inherit(&mut self, id: DefinitionId, bases: &[DefinitionId], span: Span) {
        let mut seen = HashSet::from([id]);
        let mut lineage = Vec::new();
        for base in bases {
            let inherited = self.facts[base.index()].lineage.clone();
            self.work(inherited.len() + 1, span);
            for it in std::iter::once(base).chain(inherited.iter()) {
                if seen.insert(*it) {
                    lineage.push(*it);
                }
            }
        }
        if lineage.len() > limits::ANCESTORS {
            let message = format!("more than {} ancestors", limits::ANCESTORS);
            self.report(error(message, span, ""));
            lineage.truncate(limits::ANCESTORS);
        }
        if bases.len() > 1 {
            self.check_inherited_features(&lineage, span);
        }
        self.facts[id.index()].lineage = lineage.into();
    }

    fn check_inherited_features(&mut self, lineage: &[DefinitionId], span: Span) {
        let mut known: HashMap<String, Span> = HashMap::new();
        let mut clashes = Vec::new();
        let mut steps = 0;
        for base in lineage {
            for feature in self.model.features(*base) {
                steps += COMPARISON;
                if let Some(other) = known.insert(feature.name().to_ascii_lowercase(), feature.span()) {
                    clashes.push((feature.name().to_string(), other, feature.span()));
                }
            }
        }
        self.work(steps, span);
        for (name, first, second) in clashes {
            let label = "two bases each have one of their own";
            let diagnostic = error(format!("`{name}` is inherited twice"), span, label);
            self.report(diagnostic.see(first, "the first").see(second, "the second"));
        }
    }

    pub(super) fn operation(&mut self, it: &syntax::Operation) {
        let Some(of) = self.current else { return };
        let mut good = true;
        let returns = it.returns.as_ref().map(|ty| self.visible_type(ty));
        good &= !matches!(returns, Some(None));
        // The result's type stands outside the scope that the parameters share.
        self.uses = Some(Vec::new());
        let (parameters, all) = self.parameters(&it.parameters);
        good &= all;
        let raises = self.raises(&it.raises);
        // A type whose name differs from the operation's only in case is used in the interface by now, and so collides with it here.
        self.declare_name(&it.name, Target::Feature { of, what: "operation" });
        self.check_parameter_names(&it.parameters);
        if let Some(oneway) = it.oneway {
            self.check_oneway(it, oneway);
        }
        for (context, span) in &it.context {
            let name = context.strip_suffix('*').unwrap_or(context);
            let word = |next: char| next.is_ascii_alphanumeric() || matches!(next, '.' | '_');
            if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(word) {
                let label = "a letter, then letters, digits, `.` and `_`; perhaps `*` at the end";
                self.report(error(format!("`{context}` is no context name"), *span, label));
            }
        }
        if good {
            let operation = Operation {
                name: it.name.text.to_string(),
                repository_id: String::new(),
                oneway: it.oneway.is_some(),
                returns: returns.flatten(),
                parameters,
                raises,
                context: it.context.iter().map(|(name, _)| name.clone()).collect(),
                annotations: Vec::new(),
                doc: it.doc.clone(),
                span: it.name.span,
            };
            self.add_feature(of, Feature::Operation(operation));
        }
    }

    pub(super) fn attribute(&mut self, it: &syntax::Attribute) {
        let Some(of) = self.current else { return };
        let ty = self.visible_type(&it.ty);
        let (get_raises, set_raises) = (self.raises(&it.get_raises), self.raises(&it.set_raises));
        for name in &it.names {
            self.declare_name(name, Target::Feature { of, what: "attribute" });
            let Some(ty) = ty.clone() else { continue };
            let attribute = Attribute {
                name: name.text.to_string(),
                repository_id: String::new(),
                readonly: it.readonly,
                ty,
                annotations: Vec::new(),
                get_raises: get_raises.clone(),
                set_raises: set_raises.clone(),
                doc: it.doc.clone(),
                span: name.span,
            };
            self.add_feature(of, Feature::Attribute(attribute));
        }
    }

    fn add_feature(&mut self, of: DefinitionId, feature: Feature) {
        match self.kind_mut(of) {
            DefinitionKind::Interface(it) => it.features.push(feature),
            DefinitionKind::ValueType(it) => it.features.push(feature),
            _ => {}
        }
    }

    /// Parameters that are in order, and whether all are.
    pub(super) fn parameters(&mut self, parameters: &[syntax::Parameter]) -> (Vec<Parameter>, bool) {
        let mut kept = Vec::new();
        for it in parameters {
            if let Some(ty) = self.visible_type(&it.ty) {
                let (name, span) = (it.name.text.to_string(), it.name.span);
                let annotations = self.annotations(&it.annotations, On::of("parameter", &ty));
                kept.push(Parameter { name, direction: it.direction, ty, annotations, span });
            }
        }
        let all = kept.len() == parameters.len();
        (kept, all)
    }

    /// The operation is a scope of its own: names that it uses collide with its parameters.
    pub(super) fn check_parameter_names(&mut self, parameters: &[syntax::Parameter]) {
        let uses = self.uses.take().unwrap_or_default();
        let mut known: HashMap<String, (Name, bool)> =
            uses.into_iter().map(|name| (name.text.to_ascii_lowercase(), (name, true))).collect();
        for it in parameters {
            let key = it.name.text.to_ascii_lowercase();
            let Some((other, used)) = known.insert(key, (it.name.clone(), false)) else { continue };
            let (message, label) = if used {
                let message =
                    format!("the parameter `{}` collides with the name `{}`", it.name.text, other.text);
                (message, "a name that an operation uses cannot name a parameter too, however spelled")
            } else {
                (format!("two parameters are named `{}`", it.name.text), "choose another name")
            };
            let see = if used { "used here" } else { "first here" };
            self.report(error(message, it.name.span, label).see(other.span, see));
        }
    }

    /// The type of a parameter, result or attribute.
    fn visible_type(&mut self, spec: &TypeSpec) -> Option<Type> {
        let ty = self.ty(spec)?;
        let span = type_span(spec);
        self.require_complete(&ty, span);
        self.check_passed_native(&ty, span);
        let remote = match self.current.map(|id| &self.model.definition(id).kind) {
            Some(DefinitionKind::Interface(it)) => it.flavor == InterfaceFlavor::Plain,
            _ => false,
        };
        if let Some(local) = self.local(&ty).filter(|_| remote) {
            let label = "only local interfaces may pass it";
            let message = format!("`{}` is local and cannot travel", self.model.scoped_name(local));
            let declared = self.model.definition(local).span;
            self.report(error(message, span, label).see(declared, "declared here"));
        }
        Some(ty)
    }

    /// The exceptions after `raises`: also native types that stand for some, where these may be passed.
    pub(super) fn raises(&mut self, names: &[ScopedName]) -> Vec<DefinitionId> {
        let mut raises = Vec::new();
        for name in names {
            let Some(target) = self.resolve(name) else { continue };
            match target {
                Target::Definition(id)
                    if matches!(
                        self.model.definition(id).kind,
                        DefinitionKind::Exception(_) | DefinitionKind::Native
                    ) =>
                {
                    self.check_passed_native(&Type::Named(id), name.span);
                    if raises.contains(&id) {
                        let message = format!("`{}` is raised twice", name.written());
                        self.report(error(message, name.span, "remove one"));
                    } else {
                        raises.push(id);
                    }
                }
                _ => {
                    let what = article(self.describe(target));
                    let message = format!("`{}` is no exception but a{what}", name.written());
                    self.report(error(message, name.span, "only exceptions can be raised"));
                }
            }
        }
        raises
    }

    /// `@oneway` before an operation, `value` being its argument: as if the word stood there. IDL 4.2, 8.3.6.2.
    pub(super) fn annotated_oneway(&mut self, it: &syntax::Operation, value: bool, annotation: Span) {
        if let Some(oneway) = it.oneway {
            if !value {
                let message = format!("`{}` is declared oneway and not oneway", it.name.text);
                self.report(error(message, annotation, "remove one").see(oneway, "oneway"));
            }
            return;
        }
        let Some(of) = self.current.filter(|_| value) else { return };
        self.check_oneway(it, annotation);
        let features = match self.kind_mut(of) {
            DefinitionKind::Interface(it) => &mut it.features,
            DefinitionKind::ValueType(it) => &mut it.features,
            _ => return,
        };
        if let Some(Feature::Operation(made)) = features.last_mut().filter(|made| made.span() == it.name.span)
        {
            made.oneway = true;
        }
    }

    fn check_oneway(&mut self, it: &syntax::Operation, oneway: Span) {
        let wrong = |what: &str| format!("oneway operation `{}` {what}", it.name.text);
        if it.returns.is_some() {
            let label = "write `void`: nothing comes back";
            self.report(error(wrong("returns a value"), it.name.span, label).see(oneway, ""));
        }
        for parameter in it.parameters.iter().filter(|it| it.direction != Direction::In) {
            let label = "write `in`: nothing comes back";
            self.report(
                error(wrong("has a parameter that is not `in`"), parameter.name.span, label).see(oneway, ""),
            );
        }
        if let Some(first) = it.raises.first() {
            let label = "remove `raises`: nothing comes back";
            self.report(error(wrong("raises exceptions"), first.span, label).see(oneway, ""));
        }
    }
}
