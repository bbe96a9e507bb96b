//! What back ends ask of a model.

use std::collections::HashSet;

use super::*;
use crate::Diagnostic;
use crate::source::Location;

impl Model {
    /// The definition that `id` names.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// Every definition, in source order; position = [`DefinitionId::index`].
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The definitions at file level, in source order. Descend with [`Definition::contents`].
    pub fn top_level(&self) -> &[DefinitionId] {
        &self.top_level
    }

    /// The `import` declarations, in source order.
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// What was odd about the text, though not wrong.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The files that were read; the first is the main file. Includes files that contributed no definition, so
    /// this is what a build depends on. The built-in `orb.idl` is not among them.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.sources.paths()
    }

    /// File, line and column of a span's start.
    pub fn location(&self, span: Span) -> Location<'_> {
        self.sources.location(span)
    }

    /// Findings of a back end, ready to be shown with the lines of source that they are about.
    pub fn diagnose(&self, findings: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics::about(self.sources.clone(), findings)
    }

    /// The names from file level down to and including the definition: `["CosNaming", "NamingContext"]`.
    pub fn path(&self, id: DefinitionId) -> Vec<&str> {
        let mut path: Vec<&str> = self.scopes(id).map(|it| self.definition(it).name.as_str()).collect();
        path.reverse();
        path
    }

    /// The name with all its scopes, as IDL writes it: `CosNaming::NamingContext`.
    pub fn scoped_name(&self, id: DefinitionId) -> String {
        self.path(id).join("::")
    }

    /// The definition, then the one around it, and so on to file level.
    pub fn scopes(&self, id: DefinitionId) -> impl Iterator<Item = DefinitionId> {
        core::iter::successors(Some(id), |id| self.definition(*id).parent)
    }

    /// The definition with a scoped name counted from file level (`A::B` or `::A::B`), or `None`.
    pub fn find(&self, scoped_name: &str) -> Option<DefinitionId> {
        let mut contents = self.top_level();
        let mut found = None;
        for name in scoped_name.trim_start_matches("::").split("::") {
            let id = *contents.iter().find(|id| self.definition(**id).name == name)?;
            contents = &self.definition(id).contents;
            found = Some(id);
        }
        found
    }

    /// The type behind all aliases. An array of an alias stays an array; only the outermost names are followed.
    pub fn resolve_alias<'a>(&'a self, mut ty: &'a Type) -> &'a Type {
        while let Type::Named(id) = ty {
            match &self.definition(*id).kind {
                DefinitionKind::Typedef(alias) => ty = &alias.ty,
                _ => break,
            }
        }
        ty
    }

    /// All that an interface or valuetype inherits from, itself not included: each once, depth first, bases in
    /// source order. `interface D : B, C` where both inherit `A` gives `B, A, C`. Interfaces that a valuetype
    /// supports are not among them. Empty for other definitions.
    pub fn ancestors(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let mut seen = HashSet::from([id]);
        let mut found = Vec::new();
        let mut pending: Vec<DefinitionId> = self.bases(id).iter().rev().copied().collect();
        while let Some(base) = pending.pop() {
            if seen.insert(base) {
                found.push(base);
                pending.extend(self.bases(base).iter().rev());
            }
        }
        found
    }

    /// What an interface or valuetype names after its colon; empty for other definitions.
    pub fn bases(&self, id: DefinitionId) -> &[DefinitionId] {
        match &self.definition(id).kind {
            DefinitionKind::Interface(it) => &it.bases,
            DefinitionKind::ValueType(it) => &it.bases,
            _ => &[],
        }
    }

    /// Its own operations and attributes; empty for definitions that cannot have any.
    pub fn features(&self, id: DefinitionId) -> &[Feature] {
        match &self.definition(id).kind {
            DefinitionKind::Interface(it) => &it.features,
            DefinitionKind::ValueType(it) => &it.features,
            _ => &[],
        }
    }

    /// Own and inherited operations and attributes, each with the definition that declares it: own ones first,
    /// then those of each of the [`ancestors`](Model::ancestors).
    pub fn all_features(&self, id: DefinitionId) -> impl Iterator<Item = (DefinitionId, &Feature)> {
        let owners = core::iter::once(id).chain(self.ancestors(id));
        owners.flat_map(|owner| self.features(owner).iter().map(move |feature| (owner, feature)))
    }

    /// Own and inherited operations, each with the definition that declares it, as in [`Model::all_features`].
    pub fn all_operations(&self, id: DefinitionId) -> impl Iterator<Item = (DefinitionId, &Operation)> {
        self.all_features(id).filter_map(|(owner, feature)| match feature {
            Feature::Operation(it) => Some((owner, it)),
            Feature::Attribute(_) => None,
        })
    }

    /// Own and inherited attributes, each with the definition that declares it, as in [`Model::all_features`].
    pub fn all_attributes(&self, id: DefinitionId) -> impl Iterator<Item = (DefinitionId, &Attribute)> {
        self.all_features(id).filter_map(|(owner, feature)| match feature {
            Feature::Attribute(it) => Some((owner, it)),
            Feature::Operation(_) => None,
        })
    }

    /// A value of this definition can hold another value of it: a struct or union through a sequence, a valuetype
    /// also directly. False for interfaces, whose references do not hold the object.
    pub fn is_recursive(&self, id: DefinitionId) -> bool {
        let mut seen = HashSet::new();
        let mut pending = Vec::new();
        self.each_part(id, &mut |part| pending.push(part));
        while let Some(part) = pending.pop() {
            if part == id {
                return true;
            }
            if seen.insert(part) {
                self.each_part(part, &mut |part| pending.push(part));
            }
        }
        false
    }

    /// Calls `visit` for every definition that the given definition's value directly holds: the types of members,
    /// arms, aliases, boxes and state, through sequences, maps and arrays.
    pub fn each_part(&self, id: DefinitionId, visit: &mut dyn FnMut(DefinitionId)) {
        let mut of = |ty: &Type| {
            let mut pending = vec![ty];
            while let Some(ty) = pending.pop() {
                match ty {
                    Type::Sequence { element, .. } | Type::Array { element, .. } => pending.push(element),
                    Type::Map { key, value, .. } => pending.extend([&**value, &**key]),
                    Type::Named(id) => visit(*id),
                    _ => {}
                }
            }
        };
        match &self.definition(id).kind {
            DefinitionKind::Typedef(it) => of(&it.ty),
            DefinitionKind::Struct(it) => it.members.iter().for_each(|it| of(&it.ty)),
            DefinitionKind::Exception(it) => it.members.iter().for_each(|it| of(&it.ty)),
            DefinitionKind::Union(it) => it.arms.iter().for_each(|it| of(&it.ty)),
            DefinitionKind::ValueBox(it) => of(&it.ty),
            DefinitionKind::ValueType(it) => {
                it.state.iter().for_each(|it| of(&it.ty));
                it.bases.iter().for_each(|it| visit(*it));
            }
            _ => {}
        }
    }

    /// The fewest octets that a value of the type takes in CDR, not counting alignment: what a decoder checks a
    /// sequence's length against. Never zero; saturates at `u32::MAX`.
    pub fn minimum_size(&self, ty: &Type) -> u32 {
        Measure { model: self, known: vec![None; self.definitions.len()] }.minimum(ty).max(1)
    }
}

/// Adds up minimum sizes, each definition once: shared parts would otherwise take exponential time.
struct Measure<'a> {
    model: &'a Model,
    known: Vec<Option<u32>>,
}

impl Measure<'_> {
    fn minimum(&mut self, ty: &Type) -> u32 {
        match ty {
            Type::Char | Type::Boolean | Type::Octet | Type::Int8 | Type::UInt8 => 1,
            // GIOP 1.2 puts the length in an octet before the character; 1.1 sends two octets.
            Type::WChar => 1,
            Type::Short | Type::UnsignedShort => 2,
            Type::Long | Type::UnsignedLong | Type::Float => 4,
            Type::LongLong | Type::UnsignedLongLong | Type::Double => 8,
            Type::LongDouble => 16,
            // Some ORBs send an empty string as length 0 instead of length 1 and a NUL.
            Type::String { .. } | Type::WString { .. } => 4,
            Type::Sequence { .. } | Type::Map { .. } | Type::Any | Type::TypeCode | Type::ValueBase => 4,
            // A flag, then either a reference or a value.
            Type::AbstractBase => 5,
            // The length of the type id and the number of profiles.
            Type::Object => 8,
            Type::Fixed { digits, .. } => u32::from(*digits / 2 + 1),
            Type::Array { element, dimensions } => {
                dimensions.iter().fold(self.minimum(element), |size, count| size.saturating_mul(*count))
            }
            Type::Named(id) => self.minimum_of(*id),
        }
    }

    fn minimum_of(&mut self, id: DefinitionId) -> u32 {
        if let Some(known) = self.known[id.index()] {
            return known;
        }
        let size = match &self.model.definition(id).kind {
            DefinitionKind::Typedef(it) => self.minimum(&it.ty),
            DefinitionKind::Struct(it) => self.sum(&it.members),
            DefinitionKind::Exception(it) => self.sum(&it.members).saturating_add(4),
            DefinitionKind::Union(it) => {
                let smallest = match it.implicit_default() {
                    Some(_) => 0,
                    None => it.arms.iter().map(|arm| self.minimum(&arm.ty)).min().unwrap_or(0),
                };
                self.minimum(&it.discriminator).saturating_add(smallest)
            }
            DefinitionKind::Interface(it) => match it.flavor {
                InterfaceFlavor::Abstract => 5,
                _ => 8,
            },
            DefinitionKind::Enum(_) | DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_) => 4,
            DefinitionKind::Bitset(it) => octets(it.bits),
            DefinitionKind::Bitmask(it) => octets(it.bit_bound),
            DefinitionKind::Native
            | DefinitionKind::Module(_)
            | DefinitionKind::Constant(_)
            | DefinitionKind::Annotation(_) => 0,
        };
        self.known[id.index()] = Some(size);
        size
    }

    fn sum(&mut self, members: &[Member]) -> u32 {
        members.iter().fold(0, |sum, member| sum.saturating_add(self.minimum(&member.ty)))
    }
}
