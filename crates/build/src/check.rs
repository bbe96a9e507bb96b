//! What the back end cannot turn into Rust yet: reported by name and place, never dropped in silence.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use zorb_idl::model::{
    Definition, DefinitionId, DefinitionKind, Direction, Feature, Interface, InterfaceFlavor, Operation, Type,
};
use zorb_idl::{Diagnostic, Diagnostics, Span};

use crate::idl_text::type_text;
use crate::operations::number;
use crate::plan::Plan;
use crate::scope::WIDEST_TUPLE;

/// Everything in what is to be generated that has no mapping yet.
pub(crate) fn check(plan: &Plan<'_>) -> Diagnostics {
    let mut checker = Checker { plan, found: Vec::new(), seen: HashSet::new() };
    for definition in plan.model.definitions() {
        if plan.is_own(definition.id) {
            checker.definition(definition);
        }
    }
    for import in plan.model.imports() {
        checker.report("`import`", import.span);
    }
    plan.model.diagnose(checker.found)
}

/// What a feature's operations are called on the wire.
fn wires(feature: &Feature) -> Vec<String> {
    match feature {
        Feature::Operation(it) => vec![it.name.clone()],
        Feature::Attribute(it) => vec![format!("_get_{}", it.name), format!("_set_{}", it.name)],
    }
}

/// Two operations that a number does not tell apart: in 64 bits none that anybody has seen.
fn same_number(
    wires: impl Iterator<Item = String>,
    number: impl Fn(&[u8]) -> u64,
) -> Option<(String, String)> {
    let mut known = HashMap::new();
    for wire in wires {
        match known.entry(number(wire.as_bytes())) {
            Entry::Vacant(free) => {
                free.insert(wire);
            }
            Entry::Occupied(taken) if *taken.get() != wire => return Some((taken.remove(), wire)),
            Entry::Occupied(_) => {}
        }
    }
    None
}

struct Checker<'p> {
    plan: &'p Plan<'p>,
    found: Vec<Diagnostic>,
    seen: HashSet<(String, Span)>,
}

impl Checker<'_> {
    fn report(&mut self, what: &str, span: Span) {
        if self.seen.insert((what.to_owned(), span)) {
            let message = format!("{what} has no mapping to Rust yet");
            self.found.push(Diagnostic::error(message, span, "not generated"));
        }
    }

    fn definition(&mut self, of: &Definition) {
        if let Some(what) = unmapped(&of.kind) {
            return self.report(&format!("{what} `{}`", of.name), of.span);
        }
        match &of.kind {
            DefinitionKind::Constant(it) => self.ty(&it.ty, of.span),
            DefinitionKind::Typedef(it) => self.ty(&it.ty, of.span),
            DefinitionKind::Struct(it) => it.members.iter().for_each(|it| self.ty(&it.ty, it.span)),
            DefinitionKind::Exception(it) => it.members.iter().for_each(|it| self.ty(&it.ty, it.span)),
            DefinitionKind::Union(it) => {
                self.ty(&it.discriminator, of.span);
                it.arms.iter().for_each(|it| self.ty(&it.ty, it.span));
            }
            DefinitionKind::Interface(it) => self.interface(of, it),
            DefinitionKind::ValueType(it) => {
                it.state.iter().for_each(|it| self.ty(&it.ty, it.span));
                it.bases.iter().for_each(|base| self.ty(&Type::Named(*base), of.span));
            }
            DefinitionKind::ValueBox(it) => self.ty(&it.ty, of.span),
            _ => {}
        }
    }

    /// An interface of a built-in module, which the runtime has not got: of module CORBA it has none, of Messaging the reply handler.
    fn without_runtime(&self, of: &Definition) -> Option<&'static str> {
        let built_in = self.plan.model.location(of.span).path.starts_with('<');
        let interface = matches!(of.kind, DefinitionKind::Interface(_)) && of.name != "ReplyHandler";
        (built_in && interface && !self.plan.is_own(of.id)).then_some("interface")
    }

    /// Its values take no octets, so that no length of a sequence can be checked against those that follow.
    fn is_nothing(&self, ty: &Type, seen: &mut HashSet<DefinitionId>) -> bool {
        match self.plan.model.resolve_alias(ty) {
            Type::Array { element, .. } => self.is_nothing(element, seen),
            Type::Named(id) => match &self.plan.model.definition(*id).kind {
                // One that was seen holds nothing, or the search would have ended there.
                DefinitionKind::Struct(it) => {
                    !seen.insert(*id) || it.members.iter().all(|it| self.is_nothing(&it.ty, seen))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Its Rust type has a total order.
    fn has_order(&self, ty: &Type) -> bool {
        match self.plan.model.resolve_alias(ty) {
            Type::Boolean | Type::Char | Type::WChar | Type::Fixed { .. } => true,
            Type::String { .. } | Type::WString { .. } => true,
            Type::Named(id) => {
                let kind = &self.plan.model.definition(*id).kind;
                matches!(kind, DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_))
            }
            other => other.is_integer(),
        }
    }

    fn interface(&mut self, of: &Definition, interface: &Interface) {
        for feature in &interface.features {
            match feature {
                Feature::Operation(it) => {
                    it.returns.iter().for_each(|ty| self.ty(ty, it.span));
                    it.parameters.iter().for_each(|it| self.ty(&it.ty, it.span));
                    self.results(of, it);
                }
                Feature::Attribute(it) => self.ty(&it.ty, it.span),
            }
        }
        if self.plan.model.all_features(of.id).count() > MOST_FEATURES {
            self.report(
                &format!("an interface with more than {MOST_FEATURES} operations and attributes"),
                of.span,
            );
        }
        let features = self.plan.model.all_features(of.id).map(|(_, feature)| feature);
        if let Some((one, other)) = same_number(features.flat_map(wires), number) {
            let what = format!("an interface whose operations `{one}` and `{other}` have the same number");
            self.report(&what, of.span);
        }
        for base in self.plan.model.ancestors(of.id) {
            let base_of = self.plan.model.definition(base);
            if let Some(what) = unmapped(&base_of.kind).or_else(|| self.without_runtime(base_of)) {
                let name = self.plan.model.scoped_name(base);
                self.report(&format!("inheritance from {what} `{name}`"), of.span);
            }
        }
    }

    fn results(&mut self, of: &Definition, operation: &Operation) {
        let back = operation.parameters.iter().filter(|it| it.direction != Direction::In);
        let count = usize::from(operation.returns.is_some()) + back.count();
        if count > WIDEST_TUPLE {
            let name = format!("{}::{}", self.plan.model.scoped_name(of.id), operation.name);
            let message =
                format!("`{name}` gives back {count} values, more than the {WIDEST_TUPLE} of a tuple");
            let label = "make the result and the `out` and `inout` parameters members of a struct";
            self.found.push(Diagnostic::error(message, operation.span, label));
        }
    }

    fn ty(&mut self, ty: &Type, span: Span) {
        let name = match ty {
            Type::Map { key, value, .. } => {
                if !self.has_order(key) {
                    let key = type_text(self.plan.model, key);
                    self.report(&format!("a `map` whose keys are `{key}`, which have no order,"), span);
                }
                self.ty(key, span);
                return self.ty(value, span);
            }
            Type::Sequence { element, .. } if self.is_nothing(element, &mut HashSet::new()) => {
                "sequence of a struct without members"
            }
            Type::Sequence { element, .. } | Type::Array { element, .. } => return self.ty(element, span),
            Type::Named(id) => {
                let of = self.plan.model.definition(*id);
                if let DefinitionKind::Typedef(alias) = &of.kind
                    && !self.plan.is_own(*id)
                {
                    return self.ty(&alias.ty, span);
                }
                let what = unmapped(&of.kind).or_else(|| self.without_runtime(of));
                if let Some(what) = what {
                    let name = self.plan.model.scoped_name(*id);
                    self.report(&format!("{what} `{name}`"), span);
                }
                return;
            }
            _ => return,
        };
        self.report(&format!("`{name}`"), span);
    }
}

/// An attribute makes two calls, and the numbers of a perfect hash have 16 bits.
const MOST_FEATURES: usize = 32_767;

/// What kind of definition it is, if it has no mapping.
fn unmapped(kind: &DefinitionKind) -> Option<&'static str> {
    match kind {
        DefinitionKind::Interface(it) => match it.flavor {
            InterfaceFlavor::Plain | InterfaceFlavor::Abstract => None,
            InterfaceFlavor::Local => Some("local interface"),
        },
        DefinitionKind::ValueType(it) if it.event => Some("event type"),
        DefinitionKind::ValueType(_) => None,
        DefinitionKind::ValueBox(_) => None,
        DefinitionKind::Native => Some("native type"),
        // A kind of annotation has no values.
        DefinitionKind::Annotation(_) => None,
        DefinitionKind::Module(_)
        | DefinitionKind::Constant(_)
        | DefinitionKind::Typedef(_)
        | DefinitionKind::Struct(_)
        | DefinitionKind::Union(_)
        | DefinitionKind::Enum(_)
        | DefinitionKind::Bitset(_)
        | DefinitionKind::Bitmask(_)
        | DefinitionKind::Exception(_) => None,
        _ => Some("definition"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_one_number_are_named() {
        let names = || ["ping", "note", "ping", "_get_owner"].into_iter().map(str::to_owned);
        assert_eq!(same_number(names(), number), None, "what is inherited twice is one");
        let found = same_number(names(), |name| name.len() as u64);
        assert_eq!(found, Some(("ping".to_owned(), "note".to_owned())));
    }
}
