//! Names: declaring them, finding them, and what may not share one. CORBA 3.4 part 1, 7.19 and 7.20.
//!
//! Identifiers that differ only in case are the same name, which must always be spelled as declared; so tables
//! are keyed by the lower case. A name that is used in a scope without being declared there is *introduced* into
//! that scope, and cannot then be declared there as something else.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Checker;
use crate::diagnostics::{error, warning};
use crate::limits;
use crate::model::{Definition, DefinitionId, DefinitionKind};
use crate::similar::nearest;
use crate::source::Span;
use crate::syntax::{Name, ScopedName};
use crate::token::{KEYWORDS, LATER_KEYWORDS};

/// The names of one scope, by lower case.
#[derive(Default)]
pub(super) struct Scope {
    names: HashMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    /// The name as spelled.
    name: Rc<str>,
    span: Span,
    target: Target,
    /// Used here, declared elsewhere.
    introduced: bool,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Definition(DefinitionId),
    Enumerator {
        of: DefinitionId,
        index: u32,
    },
    /// An operation, attribute, state member or factory.
    Feature {
        of: DefinitionId,
        what: &'static str,
    },
    /// A bit of a bitmask.
    Flag {
        position: u8,
    },
    /// A member of a struct, union, exception, bitset or annotation.
    Member,
}

/// A name found in a scope or in what the scope inherits from.
struct Found {
    entry: Entry,
    inherited: bool,
}

impl Checker {
    fn scope(&self, of: Option<DefinitionId>) -> &Scope {
        &self.scopes[of.map_or(0, |id| id.index() + 1)]
    }

    fn scope_mut(&mut self, of: Option<DefinitionId>) -> &mut Scope {
        &mut self.scopes[of.map_or(0, |id| id.index() + 1)]
    }

    /// The definition that the present scope itself declares by this name, spelled the same.
    pub(super) fn declared_here(&self, name: &str) -> Option<DefinitionId> {
        let entry = self.scope(self.current).names.get(&name.to_ascii_lowercase())?;
        match entry.target {
            Target::Definition(id) if *entry.name == *name && !entry.introduced => Some(id),
            _ => None,
        }
    }

    /// What a name means that was declared in the present scope, spelled the same; for an operation, attribute, state
    /// member or factory, also the definition that it is part of.
    pub(super) fn declared_target(&self, name: &Name) -> Option<(Target, Option<DefinitionId>)> {
        let entry = self.scope(self.current).names.get(&name.text.to_ascii_lowercase())?;
        let of = match entry.target {
            Target::Feature { of, .. } => Some(of),
            _ => None,
        };
        (entry.name == name.text && !entry.introduced).then_some((entry.target, of))
    }

    /// Gives a name in the present scope a meaning, unless it has one already, which is reported.
    pub(super) fn declare_name(&mut self, name: &Name, target: Target) {
        let key = name.text.to_ascii_lowercase();
        if let Some(scope) = self.current {
            let outer = self.model.definition(scope);
            if outer.name.eq_ignore_ascii_case(&name.text) {
                let (what, span) = (describe_kind(outer), outer.span);
                let message = format!("`{}` is the name of the {what} around it", name.text);
                let label = "nothing in it may have its name, however spelled";
                if target != Target::Member {
                    return self.report(error(message, name.span, label).see(span, ""));
                }
                // The IDL of standard services has such members.
                self.report(warning(message, name.span, label).see(span, ""));
            }
            if let Some(inherited) = self.inherited_feature(scope, &key, target, name.span) {
                let what = self.describe(inherited.target);
                let message = format!("`{}` is an inherited {what}", name.text);
                let label = "an inherited operation or attribute cannot be declared again";
                return self
                    .report(error(message, name.span, label).see(inherited.span, "inherited from here"));
            }
        }
        if let Some(known) = self.scope(self.current).names.get(&key) {
            let what = self.describe(known.target);
            let same = known.name == name.text;
            let (message, label) = if known.introduced {
                let message =
                    format!("`{}` already means the {what} `{}` in this scope", name.text, known.name);
                (message, "a name that was used in a scope cannot be declared there")
            } else if !same {
                let message =
                    format!("`{}` differs from the {what} `{}` only in case", name.text, known.name);
                (message, "names that differ only in case collide")
            } else if matches!((known.target, target), (Target::Feature { .. }, Target::Feature { .. })) {
                (
                    format!("the {what} `{}` is declared twice", name.text),
                    "IDL has no overloading: choose another name",
                )
            } else {
                (format!("`{}` is defined twice", name.text), "choose another name")
            };
            let see = if known.introduced { "used here" } else { "first declared here" };
            let diagnostic = error(message, name.span, label).see(known.span, see);
            if let Target::Definition(id) = known.target {
                // That it is never defined follows.
                self.facts[id.index()].broken |= !self.facts[id.index()].complete;
            }
            return self.report(diagnostic);
        }
        let entry = Entry { name: name.text.clone(), span: name.span, target, introduced: false };
        self.scope_mut(self.current).names.insert(key, entry);
    }

    /// The inherited feature that a declaration in `scope` would hide, which only types may do, and only types.
    fn inherited_feature(
        &mut self,
        scope: DefinitionId,
        key: &str,
        target: Target,
        span: Span,
    ) -> Option<Entry> {
        let lineage = self.facts[scope.index()].lineage.clone();
        self.work(lineage.len(), span);
        let is_feature = |target: Target| matches!(target, Target::Feature { .. });
        lineage.iter().find_map(|base| {
            let entry = self.scope(Some(*base)).names.get(key).filter(|entry| !entry.introduced)?;
            (is_feature(entry.target) || is_feature(target)).then(|| entry.clone())
        })
    }

    /// What a name stands for, as seen from the present scope. `None` was reported. The name is introduced.
    pub(super) fn resolve(&mut self, name: &ScopedName) -> Option<Target> {
        self.lookup(name, true)
    }

    /// What a name stands for, if it is declared at all; nothing is reported, and nothing introduced.
    pub(super) fn seen(&self, name: &ScopedName) -> Option<Target> {
        let key = |part: &Name| part.text.to_ascii_lowercase();
        let first = key(&name.parts[0]);
        let mut scope = if name.absolute { None } else { self.current };
        let mut target = loop {
            match (self.seen_in(scope, &first), scope) {
                (Some(target), _) => break target,
                (None, Some(id)) => scope = self.model.definition(id).parent,
                (None, None) => return None,
            }
        };
        for part in &name.parts[1..] {
            let Target::Definition(id) = target else { return None };
            target = self.seen_in(Some(id), &key(part))?;
        }
        Some(target)
    }

    fn seen_in(&self, scope: Option<DefinitionId>, key: &str) -> Option<Target> {
        let own = self.scope(scope).names.get(key);
        let inherited = || {
            let lineage = &self.facts[scope?.index()].lineage;
            lineage.iter().find_map(|base| self.scope(Some(*base)).names.get(key))
        };
        own.or_else(inherited).map(|entry| entry.target)
    }

    /// [`resolve`](Checker::resolve) for a name in a pragma, which does not introduce it.
    pub(super) fn lookup(&mut self, name: &ScopedName, introduce: bool) -> Option<Target> {
        let first = &name.parts[0];
        let mut scope = if name.absolute { None } else { self.current };
        let found = loop {
            if let Some(found) = self.find_in(scope, first, false)? {
                break Some(found);
            }
            match scope {
                Some(id) => scope = self.model.definition(id).parent,
                None => break None,
            }
        };
        let Some(found) = found else {
            self.unknown(first, name, None, introduce);
            return None;
        };
        if introduce && !self.check_feature_case(first, &found.entry) {
            return None;
        }
        self.check_case(first, &found.entry);
        if introduce && !name.absolute {
            self.introduce(first, scope, &found);
        }
        let mut target = found.entry.target;
        for part in &name.parts[1..] {
            let within = match target {
                Target::Definition(id) if self.is_scope(id) => id,
                _ => {
                    let what = self.describe(target);
                    let message = format!("the {what} before `::{}` is no scope", part.text);
                    self.report(error(message, name.span, "modules, interfaces, valuetypes and structs are"));
                    return None;
                }
            };
            let Some(found) = self.find_in(Some(within), part, true)? else {
                self.unknown(part, name, Some(within), introduce);
                return None;
            };
            self.check_case(part, &found.entry);
            target = found.entry.target;
        }
        Some(target)
    }

    /// The meaning of a name in a scope and what it inherits from, but not around it. `None` was reported. A name after
    /// `::` is looked for among what is declared, not among what was merely used.
    fn find_in(
        &mut self,
        scope: Option<DefinitionId>,
        name: &Name,
        qualified: bool,
    ) -> Option<Option<Found>> {
        let key = name.text.to_ascii_lowercase();
        if let Some(entry) = self.scope(scope).names.get(&key).filter(|it| !(qualified && it.introduced)) {
            return Some(Some(Found { entry: entry.clone(), inherited: false }));
        }
        let Some(id) = scope else { return Some(None) };
        // On each way up, the first declaration hides those above it.
        let mut seen = HashSet::new();
        let mut declaring = Vec::new();
        let mut pending = vec![id];
        while let Some(it) = pending.pop() {
            let declares = it != id && self.declares(it, &key);
            if declares {
                declaring.push(it);
            } else {
                let above = self.direct_bases(it).filter(|base| seen.insert(*base));
                pending.extend(above);
            }
        }
        self.work(seen.len() + 1, name.span);
        declaring.sort_unstable();
        let mut visible = declaring.iter();
        let Some(base) = visible.next() else { return Some(None) };
        let entry = self.scope(Some(*base)).names[&key].clone();
        if let Some(other) = visible.next() {
            let other = self.scope(Some(*other)).names[&key].span;
            let message = format!("`{}` is inherited twice", name.text);
            let label = "say which one is meant, as in `Base::Name`";
            let diagnostic =
                error(message, name.span, label).see(entry.span, "it may be this").see(other, "or this");
            self.report(diagnostic);
            return None;
        }
        Some(Some(Found { entry, inherited: true }))
    }

    fn declares(&self, scope: DefinitionId, key: &str) -> bool {
        self.scope(Some(scope)).names.get(key).is_some_and(|entry| !entry.introduced)
    }

    /// What a definition inherits names from directly: its bases, and the interfaces that a valuetype supports.
    fn direct_bases(&self, id: DefinitionId) -> impl Iterator<Item = DefinitionId> {
        let supports = match &self.model.definition(id).kind {
            DefinitionKind::ValueType(it) => it.supports.as_slice(),
            _ => &[],
        };
        self.model.bases(id).iter().chain(supports).copied()
    }

    /// A name that only differs in case from what is no type hides the type that it means: said once of each operation, attribute or
    /// state member. False where it is so.
    fn check_feature_case(&mut self, name: &Name, entry: &Entry) -> bool {
        let collides = matches!(entry.target, Target::Feature { .. }) && entry.name != name.text;
        if collides && !entry.introduced && self.collided.insert(entry.span) {
            let what = self.describe(entry.target);
            let message = format!("`{}` differs from the {what} `{}` only in case", name.text, entry.name);
            let label = "names that differ only in case collide";
            self.report(error(message, name.span, label).see(entry.span, "declared here"));
        }
        !collides
    }

    fn check_case(&mut self, name: &Name, entry: &Entry) {
        if entry.name != name.text {
            let message = format!("`{}` is spelled `{}` where it is declared", name.text, entry.name);
            let label = format!("write `{}`", entry.name);
            self.report(error(message, name.span, label).see(entry.span, "declared here"));
        }
    }

    /// Makes a name that was found in `found_in` part of the scopes between there and here, as far as the nearest
    /// interface, valuetype or module.
    fn introduce(&mut self, name: &Name, found_in: Option<DefinitionId>, found: &Found) {
        if let Some(uses) = &mut self.uses {
            uses.push(name.clone());
        }
        let mut scope = self.current;
        while let Some(id) = scope {
            if scope == found_in && !found.inherited {
                return;
            }
            let key = name.text.to_ascii_lowercase();
            let entry = Entry { span: name.span, introduced: true, ..found.entry.clone() };
            self.scope_mut(scope).names.entry(key).or_insert(entry);
            let definition = self.model.definition(id);
            let kind = &definition.kind;
            let ends = matches!(
                kind,
                DefinitionKind::Module(_) | DefinitionKind::Interface(_) | DefinitionKind::ValueType(_)
            );
            if ends || scope == found_in {
                return;
            }
            scope = definition.parent;
        }
    }

    /// Reports a name that nothing has. A pragma's, which is not `used`, may be declared further on.
    fn unknown(&mut self, part: &Name, name: &ScopedName, within: Option<DefinitionId>, used: bool) {
        // The lexer has reported a keyword in the wrong case, unless it is a later one.
        let reported = |it: &str| it.eq_ignore_ascii_case(&part.text) && !LATER_KEYWORDS.contains(&it);
        if KEYWORDS.iter().any(|it| reported(it)) {
            return;
        }
        let message = match within {
            Some(id) => format!("`{}` has no `{}`", self.model.scoped_name(id), part.text),
            None => format!("`{}` is not declared", part.text),
        };
        let label = match self.suggestion(part, within, used) {
            Some(near) => format!("did you mean `{near}`?"),
            None if used => String::new(),
            None => "a pragma stands behind what it names".to_owned(),
        };
        let diagnostic = error(message, part.span, label);
        let later = within.is_none() && name.parts.len() == 1 && part.text.as_ref() == "TypeCode";
        self.report(if later {
            diagnostic.help("`#include <orb.idl>` declares `CORBA::TypeCode`")
        } else {
            diagnostic
        });
    }

    fn suggestion(&self, part: &Name, within: Option<DefinitionId>, used: bool) -> Option<String> {
        let foreign = match &*part.text {
            "int" | "int32" | "int32_t" => "long",
            "int16" | "int16_t" => "short",
            "int64" | "int64_t" => "long long",
            "uint" | "uint32" | "uint32_t" => "unsigned long",
            "uint16" | "uint16_t" => "unsigned short",
            "uint64" | "uint64_t" => "unsigned long long",
            "byte" | "uint8" | "uint8_t" => "octet",
            "bool" => "boolean",
            "String" | "str" => "string",
            "float64" => "double",
            "float32" => "float",
            _ => "",
        };
        if !foreign.is_empty() && within.is_none() && used {
            return Some(foreign.into());
        }
        let mut scopes = Vec::new();
        let mut scope = within.or(self.current);
        loop {
            scopes.push(scope);
            let Some(id) = scope else { break };
            scopes.extend(self.facts[id.index()].lineage.iter().map(|base| Some(*base)));
            if within.is_some() {
                break;
            }
            scope = self.model.definition(id).parent;
        }
        let tables = scopes.iter().map(|scope| &self.scope(*scope).names);
        let few = tables.clone().map(HashMap::len).sum::<usize>() <= limits::SUGGESTIONS;
        let mut candidates: Vec<&str> =
            tables.filter(|_| few).flat_map(HashMap::values).map(|entry| &*entry.name).collect();
        // Tables have no order; the answer must.
        candidates.sort_unstable();
        if within.is_none() && self.model.definitions.len() <= limits::SUGGESTIONS {
            let exact = self.model.definitions.iter().find(|it| it.name == *part.text);
            if let Some(exact) = exact {
                return Some(self.model.scoped_name(exact.id));
            }
            let enumerator = self.model.definitions.iter().find(|it| match &it.kind {
                DefinitionKind::Enum(it) => it.enumerators.iter().any(|it| it.name == *part.text),
                _ => false,
            });
            if let Some(scope) = enumerator.and_then(|it| it.parent) {
                return Some(format!("{}::{}", self.model.scoped_name(scope), part.text));
            }
        }
        if within.is_none() && used {
            candidates.extend(KEYWORDS);
        }
        nearest(&part.text, candidates).map(str::to_string)
    }

    pub(super) fn is_scope(&self, id: DefinitionId) -> bool {
        matches!(
            self.model.definition(id).kind,
            DefinitionKind::Module(_)
                | DefinitionKind::Interface(_)
                | DefinitionKind::ValueType(_)
                | DefinitionKind::Struct(_)
                | DefinitionKind::Union(_)
                | DefinitionKind::Exception(_)
                | DefinitionKind::Bitmask(_)
        )
    }

    /// What an error calls it: "interface", "operation".
    pub(super) fn describe(&self, target: Target) -> &'static str {
        match target {
            Target::Definition(id) => describe_kind(self.model.definition(id)),
            Target::Enumerator { .. } => "enumerator",
            Target::Feature { what, .. } => what,
            Target::Flag { .. } => "flag",
            Target::Member => "member",
        }
    }
}

fn describe_kind(definition: &Definition) -> &'static str {
    match definition.kind {
        DefinitionKind::Module(_) => "module",
        DefinitionKind::Constant(_) => "constant",
        DefinitionKind::Typedef(_) => "typedef",
        DefinitionKind::Struct(_) => "struct",
        DefinitionKind::Union(_) => "union",
        DefinitionKind::Enum(_) => "enum",
        DefinitionKind::Exception(_) => "exception",
        DefinitionKind::Interface(_) => "interface",
        DefinitionKind::ValueType(_) => "valuetype",
        DefinitionKind::ValueBox(_) => "boxed value",
        DefinitionKind::Native => "native type",
        DefinitionKind::Bitset(_) => "bitset",
        DefinitionKind::Bitmask(_) => "bitmask",
        DefinitionKind::Annotation(_) => "annotation",
    }
}
