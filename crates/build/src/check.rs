//! What cannot be turned into Rust: reported by name and place, never dropped in silence.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use zorb_idl::model::{Definition, DefinitionKind, Feature, Interface, Type};
use zorb_idl::{Diagnostic, Diagnostics, Span};

use crate::operations::number;
use crate::plan::Plan;

/// Everything in what is to be generated that has no Rust.
pub(crate) fn check(plan: &Plan<'_>) -> Diagnostics {
    let mut checker = Checker { plan, found: Vec::new(), seen: HashSet::new() };
    for definition in plan.model.definitions() {
        if plan.is_own(definition.id) {
            checker.definition(definition);
        }
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
            let message = format!("{what} has no mapping to Rust");
            self.found.push(Diagnostic::error(message, span, "not generated"));
        }
    }

    fn definition(&mut self, of: &Definition) {
        match &of.kind {
            DefinitionKind::Typedef(it) => self.ty(&it.ty, of.span),
            DefinitionKind::Interface(it) => self.interface(of, it),
            DefinitionKind::ValueType(it) => {
                self.features(&it.features);
                for factory in &it.factories {
                    factory.parameters.iter().for_each(|it| self.ty(&it.ty, it.span));
                    factory.raises.iter().for_each(|id| self.ty(&Type::Named(*id), factory.span));
                }
            }
            // Nothing else can have a native type in it.
            _ => {}
        }
    }

    fn features(&mut self, features: &[Feature]) {
        for feature in features {
            match feature {
                Feature::Operation(it) => {
                    it.returns.iter().for_each(|ty| self.ty(ty, it.span));
                    it.parameters.iter().for_each(|it| self.ty(&it.ty, it.span));
                    it.raises.iter().for_each(|id| self.ty(&Type::Named(*id), it.span));
                }
                Feature::Attribute(it) => {
                    self.ty(&it.ty, it.span);
                    let raises = it.get_raises.iter().chain(&it.set_raises);
                    raises.for_each(|id| self.ty(&Type::Named(*id), it.span));
                }
            }
        }
    }

    fn interface(&mut self, of: &Definition, interface: &Interface) {
        self.features(&interface.features);
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
    }

    /// A native type has a Rust type only if the build script names one.
    fn ty(&mut self, ty: &Type, span: Span) {
        let Type::Named(id) = self.plan.model.resolve_alias(ty) else { return };
        let is_native = matches!(self.plan.model.definition(*id).kind, DefinitionKind::Native);
        if is_native && self.plan.is_own(*id) && self.plan.native(*id).is_none() {
            let name = self.plan.model.scoped_name(*id);
            if self.seen.insert((name.clone(), span)) {
                let message = format!("no Rust type is named for the native type `{name}`");
                let label =
                    format!("name one in the build script: `Config::native(\"{name}\", \"::my::Type\")`");
                self.found.push(Diagnostic::error(message, span, label));
            }
        }
    }
}

/// An attribute makes two calls, and the numbers of a perfect hash have 16 bits.
const MOST_FEATURES: usize = 32_767;

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
