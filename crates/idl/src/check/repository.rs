//! Repository ids: `#pragma prefix`, `ID` and `version`, `typeid` and `typeprefix`. CORBA 3.4 part 1, 7.18 and 14.7.
//!
//! A prefix holds from where it is set to the end of the scope or file; an included file starts without one.
//! Ids are put together at the end, since a pragma or `typeprefix` may follow what it names.

use std::collections::HashMap;
use std::rc::Rc;

use super::Checker;
use super::scope::Target;
use crate::diagnostics::{error, warning};
use crate::model::{DefinitionId, Feature};
use crate::source::Span;
use crate::syntax::{Name, ScopedName};
use crate::token::Pragma;

/// What was said about the repository id of one definition, operation or attribute.
#[derive(Clone, Default)]
pub(super) struct Naming {
    /// The pragma prefix in force where it was declared.
    pub(super) prefix: Rc<str>,
    /// The whole id.
    id: Option<(String, Span)>,
    version: Option<(String, Span)>,
    /// `typeprefix`, for this and all in it.
    type_prefix: Option<(Rc<str>, Span)>,
}

impl Naming {
    /// Of what is declared where a pragma prefix is in force.
    pub(super) fn under(prefix: Rc<str>) -> Self {
        Naming { prefix, ..Naming::default() }
    }
}

impl Checker {
    pub(super) fn pragma(&mut self, pragma: &Pragma) {
        match pragma {
            Pragma::Prefix { prefix, span } => {
                self.check_prefix(prefix, *span);
                self.prefix = prefix.as_str().into();
            }
            Pragma::Id { name, id, span } => {
                if let Some(target) = self.lookup(&written_name(name, *span), false) {
                    self.set_id(target, name, id, *span);
                }
            }
            Pragma::Version { name, version, span } => {
                let Some(target) = self.lookup(&written_name(name, *span), false) else { return };
                let Some(naming) = self.naming(target, name, *span) else { return };
                let before =
                    naming.id.as_ref().or(naming.version.as_ref().filter(|(known, _)| known != version));
                let before = before.map(|(known, span)| (known.clone(), *span));
                naming.version = Some((version.clone(), *span));
                if let Some((known, there)) =
                    before.filter(|(known, _)| !known.ends_with(&format!(":{version}")))
                {
                    let message = format!("`{name}` already has the version or id `{known}`");
                    self.report(error(message, *span, "remove one").see(there, "given here"));
                }
            }
        }
    }

    pub(super) fn type_id(&mut self, name: &ScopedName, id: &str, span: Span) {
        if let Some(target) = self.resolve(name) {
            self.set_id(target, &name.written(), id, span);
        }
    }

    pub(super) fn type_prefix(&mut self, name: Option<&ScopedName>, prefix: &str, span: Span) {
        self.check_prefix(prefix, span);
        let Some(name) = name else {
            self.prefix = prefix.into();
            return;
        };
        let Some(target) = self.resolve(name) else { return };
        let Target::Definition(id) = target else {
            let message = format!("`{}` is no scope", name.written());
            self.report(error(message, name.span, "a prefix is that of a module, interface or valuetype"));
            return;
        };
        if let Some((known, there)) = self.facts[id.index()].naming.type_prefix.clone() {
            if *known != *prefix {
                let message = format!("`{}` already has the prefix \"{known}\"", name.written());
                self.report(error(message, span, "remove one").see(there, "given here"));
            }
            return;
        }
        let pragma = self.facts[id.index()].naming.prefix.clone();
        if !pragma.is_empty() && *pragma != *prefix {
            let message = format!("this overrides `#pragma prefix \"{pragma}\"` for `{}`", name.written());
            self.report(warning(message, span, ""));
        }
        self.facts[id.index()].naming.type_prefix = Some((prefix.into(), span));
    }

    fn check_prefix(&mut self, prefix: &str, span: Span) {
        let clean = |next: char| next.is_ascii_alphanumeric() || matches!(next, '.' | '_' | '-' | '/');
        if !prefix.chars().all(clean) || prefix.starts_with(['_', '-', '.', '/']) || prefix.ends_with('/') {
            let label = "letters, digits, `.`, `_`, `-` and `/`; neither first nor last `/`";
            self.report(error(format!("`{prefix}` cannot be a prefix"), span, label));
        }
    }

    fn set_id(&mut self, target: Target, name: &str, id: &str, span: Span) {
        let parts: Vec<&str> = id.split(':').collect();
        let well_formed = match parts.as_slice() {
            ["IDL", path, version] => !path.is_empty() && crate::preprocessor::is_version(version),
            [format, rest @ ..] => !format.is_empty() && !rest.is_empty(),
            [] => false,
        };
        if !well_formed {
            let label = "an id looks like `IDL:example.com/Bank/Account:1.0`";
            self.report(error(format!("`{id}` is no repository id"), span, label));
            return;
        }
        let Some(naming) = self.naming(target, name, span) else { return };
        let before = naming.id.as_ref().filter(|(known, _)| known != id);
        let version = naming.version.as_ref().filter(|(version, _)| !id.ends_with(&format!(":{version}")));
        let before = before.or(version).map(|(known, there)| (known.clone(), *there));
        naming.id = Some((id.into(), span));
        if let Some((known, there)) = before {
            let message = format!("`{name}` already has the id or version `{known}`");
            self.report(error(message, span, "remove one").see(there, "given here"));
        }
    }

    fn naming(&mut self, target: Target, name: &str, span: Span) -> Option<&mut Naming> {
        match target {
            Target::Definition(id) => Some(&mut self.facts[id.index()].naming),
            Target::Feature { of, what: "operation" | "attribute" } => {
                let feature = name.rsplit("::").next().unwrap_or(name).to_string();
                Some(self.feature_ids.entry((of, feature)).or_default())
            }
            _ => {
                let what = self.describe(target);
                let label = "definitions, operations and attributes have one";
                self.report(error(format!("no {what} has a repository id"), span, label));
                None
            }
        }
    }

    /// Puts together the ids of all definitions, operations and attributes.
    pub(super) fn assign_repository_ids(&mut self) {
        let mut ids: HashMap<String, DefinitionId> = HashMap::new();
        for index in 0..self.model.definitions.len() {
            let id = DefinitionId(index as u32);
            let span = self.model.definitions[index].span;
            let path = self.model.path(id).join("/");
            self.work(path.len() / 16 + 1, span);
            if self.reporter.stopped() {
                return;
            }
            let prefixed =
                self.model.scopes(id).find_map(|it| self.facts[it.index()].naming.type_prefix.clone());
            let naming = &self.facts[index].naming;
            let prefix = prefixed.map_or(naming.prefix.clone(), |(prefix, _)| prefix);
            let repository_id = compose(&prefix, &path, naming);
            if let Some(other) = ids.insert(repository_id.clone(), id).filter(|_| !self.reporter.has_errors())
            {
                let name = self.model.scoped_name(other);
                let there = self.model.definition(other).span;
                let message = format!("`{repository_id}` is the repository id of `{name}` too");
                self.report(error(message, span, "ids tell types apart").see(there, "the other"));
            }
            self.model.definitions[index].repository_id = repository_id;
            self.assign_feature_ids(id, &prefix, &path);
        }
    }

    fn assign_feature_ids(&mut self, of: DefinitionId, prefix: &str, path: &str) {
        let mut ids = Vec::new();
        for feature in self.model.features(of) {
            let own = self.feature_ids.get(&(of, feature.name().to_string()));
            ids.push(compose(
                prefix,
                &format!("{path}/{}", feature.name()),
                own.unwrap_or(&Naming::default()),
            ));
        }
        let features = match self.kind_mut(of) {
            crate::model::DefinitionKind::Interface(it) => &mut it.features,
            crate::model::DefinitionKind::ValueType(it) => &mut it.features,
            _ => return,
        };
        for (feature, id) in features.iter_mut().zip(ids) {
            match feature {
                Feature::Operation(it) => it.repository_id = id,
                Feature::Attribute(it) => it.repository_id = id,
            }
        }
    }
}

fn compose(prefix: &str, path: &str, naming: &Naming) -> String {
    if let Some((id, _)) = &naming.id {
        return id.clone();
    }
    let version = naming.version.as_ref().map_or("1.0", |(version, _)| version);
    let slash = if prefix.is_empty() { "" } else { "/" };
    format!("IDL:{prefix}{slash}{path}:{version}")
}

/// The name that a pragma writes, as a name in the grammar.
fn written_name(name: &str, span: Span) -> ScopedName {
    let absolute = name.starts_with("::");
    let parts = name.trim_start_matches("::").split("::");
    let parts = parts.map(|part| Name { text: part.strip_prefix('_').unwrap_or(part).into(), span });
    ScopedName { absolute, parts: parts.collect(), span }
}
