//! Types as they are used, and structs, enums and exceptions. CORBA 3.4 part 1, 7.11.

use std::rc::Rc;

use super::annotation::{On, weight};
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::error;
use crate::limits;
use crate::model::{
    DefinitionId, DefinitionKind, Enum, Enumerator, Exception, InterfaceFlavor, Member, Struct, Type, Union,
};
use crate::source::{FileId, Span};
use crate::syntax::{Body, Constructed, Declarator, Field, Name, ScopedName, TypeSpec};

impl Checker {
    /// The type that is meant; `None` was reported.
    pub(super) fn ty(&mut self, spec: &TypeSpec) -> Option<Type> {
        match spec {
            TypeSpec::Simple(ty, _) => Some(ty.clone()),
            TypeSpec::String { wide, bound, .. } => {
                let bound = Some(self.bound(bound)?);
                Some(if *wide { Type::WString { bound } } else { Type::String { bound } })
            }
            TypeSpec::Sequence { element, bound } => {
                let element = Box::new(self.ty(element)?);
                let bound = match bound {
                    Some(bound) => Some(self.bound(bound)?),
                    None => None,
                };
                Some(Type::Sequence { element, bound })
            }
            TypeSpec::Map { key, value, bound } => {
                let (key, value) = (Box::new(self.ty(key)?), Box::new(self.ty(value)?));
                let bound = match bound {
                    Some(bound) => Some(self.bound(bound)?),
                    None => None,
                };
                Some(Type::Map { key, value, bound })
            }
            TypeSpec::Fixed { parameters: None, span } => {
                let label = "write `fixed<digits, scale>`; only a constant may leave them out";
                self.report(error("`fixed` without digits and scale", *span, label));
                None
            }
            TypeSpec::Fixed { parameters: Some((digits, scale)), .. } => {
                let (most, least) = (self.small(digits, 31)?, self.small(scale, 31)?);
                let problem = if most == 0 {
                    Some((digits.span, "1 to 31 digits"))
                } else {
                    (least > most).then_some((scale.span, "at most as many as there are digits"))
                };
                if let Some((span, label)) = problem {
                    self.report(error("no number has this `fixed` type", span, label));
                    return None;
                }
                Some(Type::Fixed { digits: most, scale: least })
            }
            TypeSpec::Named(name) => self.named_type(name),
            TypeSpec::Constructed(it) => self.constructed(it).map(Type::Named),
        }
    }

    fn named_type(&mut self, name: &ScopedName) -> Option<Type> {
        if self.is_undeclared_type_code(name) {
            return Some(Type::TypeCode);
        }
        if let Some(ty) = self.sized_integer(name) {
            return Some(ty);
        }
        let target = self.resolve(name)?;
        let problem = match target {
            Target::Definition(id) => match &self.model.definition(id).kind {
                DefinitionKind::Exception(_) => "exceptions stand after `raises` only",
                DefinitionKind::Module(_) | DefinitionKind::Constant(_) => "a type is expected here",
                DefinitionKind::Native if self.is_built_in(id) => {
                    let type_code = self.model.definition(id).name == "TypeCode";
                    return Some(if type_code { Type::TypeCode } else { Type::AbstractBase });
                }
                _ if self.facts[id.index()].broken => return None,
                _ => return Some(Type::Named(id)),
            },
            _ => "a type is expected here",
        };
        let message = format!("`{}` is no type but a{}", name.written(), article(self.describe(target)));
        self.report(error(message, name.span, problem));
        None
    }

    /// `int8` to `uint64`, unless the IDL is older and gives the name a meaning of its own. IDL 4.2, 7.4.13.4.4.
    fn sized_integer(&self, name: &ScopedName) -> Option<Type> {
        let [only] = name.parts.as_slice() else { return None };
        let ty = match &*only.text {
            "int8" => Type::Int8,
            "int16" => Type::Short,
            "int32" => Type::Long,
            "int64" => Type::LongLong,
            "uint8" => Type::UInt8,
            "uint16" => Type::UnsignedShort,
            "uint32" => Type::UnsignedLong,
            "uint64" => Type::UnsignedLongLong,
            _ => return None,
        };
        (!name.absolute && self.seen(name).is_none()).then_some(ty)
    }

    /// `CORBA::TypeCode` and `CORBA::AbstractBase`, whoever's orb.idl declares them.
    fn is_built_in(&self, id: DefinitionId) -> bool {
        matches!(self.model.path(id).as_slice(), ["CORBA", "TypeCode" | "AbstractBase"])
    }

    /// `CORBA::TypeCode` where no orb.idl declares it: it is known without, as it is to other ORBs' compilers.
    fn is_undeclared_type_code(&self, name: &ScopedName) -> bool {
        let mut parts: Vec<&str> = name.parts.iter().map(|part| &*part.text).collect();
        let around = self.current.and_then(|id| self.model.scopes(id).last());
        if !name.absolute
            && around.is_some_and(|id| self.model.definition(id).name == "CORBA")
            && parts.len() == 1
        {
            parts.insert(0, "CORBA");
        }
        parts == ["CORBA", "TypeCode"] && self.model.find("CORBA::TypeCode").is_none()
    }

    /// The type of a declarator: an array if it has dimensions.
    pub(super) fn declared_type(&mut self, base: Type, declarator: &Declarator) -> Option<Type> {
        if declarator.dimensions.is_empty() {
            return Some(base);
        }
        let mut dimensions = Vec::new();
        for dimension in &declarator.dimensions {
            dimensions.push(self.bound(dimension)?);
        }
        let elements = dimensions.iter().try_fold(1u32, |all, it| all.checked_mul(*it));
        if elements.is_none_or(|it| it > i32::MAX as u32) {
            let label = "more than 2^31 - 1 elements fit no message";
            self.report(error("array too large", declarator.name.span, label));
            return None;
        }
        Some(Type::Array { element: Box::new(base), dimensions })
    }

    /// Reports a struct or union, used directly, whose body has not ended yet.
    pub(super) fn require_complete(&mut self, ty: &Type, span: Span) {
        let mut ty = ty;
        loop {
            ty = match ty {
                Type::Array { element, .. } => element,
                Type::Named(id) => match &self.model.definition(*id).kind {
                    DefinitionKind::Typedef(alias) => &alias.ty,
                    DefinitionKind::Struct(_) | DefinitionKind::Union(_)
                        if !self.facts[id.index()].complete =>
                    {
                        let (name, declared) =
                            (&self.model.definition(*id).name, self.model.definition(*id).span);
                        let around = self.current.is_some_and(|it| self.model.scopes(it).any(|it| it == *id));
                        let label = format!("`sequence<{name}>` is possible");
                        let diagnostic = if around {
                            error(format!("`{name}` cannot contain itself"), span, label)
                        } else {
                            let message = format!("`{name}` is declared, but not defined yet");
                            error(message, span, label).see(declared, "declared here")
                        };
                        return self.report(diagnostic);
                    }
                    _ => return,
                },
                _ => return,
            };
        }
    }

    /// How deep definitions nest in a type.
    pub(super) fn depth(&self, ty: &Type) -> u32 {
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.depth(element) + 1,
            Type::Map { key, value, .. } => self.depth(key).max(self.depth(value)) + 1,
            Type::Named(id) => self.facts[id.index()].depth,
            _ => 0,
        }
    }

    /// The local interface that a type is or holds.
    pub(super) fn local(&self, ty: &Type) -> Option<DefinitionId> {
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.local(element),
            Type::Map { key, value, .. } => self.local(key).or_else(|| self.local(value)),
            Type::Named(id) => match &self.model.definition(*id).kind {
                DefinitionKind::Interface(it) => (it.flavor == InterfaceFlavor::Local).then_some(*id),
                _ => self.facts[id.index()].local,
            },
            _ => None,
        }
    }

    /// The body of a definition has ended; `depth` is that of its deepest part.
    pub(super) fn complete(&mut self, id: DefinitionId, depth: u32, local: Option<DefinitionId>) {
        if depth >= limits::DEPTH {
            let span = self.model.definition(id).span;
            self.report(error(format!("types within types more than {} deep", limits::DEPTH), span, ""));
        }
        let facts = &mut self.facts[id.index()];
        facts.complete = true;
        facts.depth = (depth + 1).min(limits::DEPTH);
        facts.local = local;
    }

    /// Declares a struct, union, enum or exception; `None` was reported.
    pub(super) fn constructed(&mut self, it: &Constructed) -> Option<DefinitionId> {
        match &it.body {
            Body::ForwardStruct => Some(self.begin(it, DefinitionKind::Struct(Struct::default()), true)),
            Body::ForwardUnion => Some(self.begin(it, empty_union(), true)),
            Body::Struct { base, fields } => {
                // Before the struct has a name: it is no base of itself.
                let base = base.as_ref().and_then(|base| self.base_struct(&it.name, base));
                let id = self.begin(it, DefinitionKind::Struct(Struct::default()), false);
                let (base, inherited) = base.unzip();
                let inherited = inherited.unwrap_or_default();
                let count = inherited.len();
                let members = self.members(id, inherited, fields);
                *self.kind_mut(id) = DefinitionKind::Struct(Struct { base, members, inherited: count });
                Some(id)
            }
            Body::Exception(fields) => {
                let id = self.begin(it, DefinitionKind::Exception(Exception::default()), false);
                let members = self.members(id, Vec::new(), fields);
                *self.kind_mut(id) = DefinitionKind::Exception(Exception { members });
                Some(id)
            }
            Body::Union { annotations, discriminator, arms } => {
                let id = self.begin(it, empty_union(), false);
                self.union_body(id, annotations, discriminator, arms);
                Some(id)
            }
            Body::Enum(names) => {
                let mut enumerators = Vec::new();
                for it in names {
                    enumerators.push(Enumerator {
                        name: it.name.text.to_string(),
                        annotations: self.annotations(&it.annotations, On::other("enumerator")),
                        doc: it.doc.clone(),
                        span: it.name.span,
                    });
                }
                self.check_values(&enumerators);
                let kind = DefinitionKind::Enum(Enum { enumerators });
                let id = self.declare(&it.name, &it.doc, kind);
                for (index, it) in (0..).zip(names) {
                    self.declare_name(&it.name, Target::Enumerator { of: id, index });
                }
                self.complete(id, 0, None);
                Some(id)
            }
        }
    }

    /// Declares a struct, union or exception, or takes up its forward declaration.
    fn begin(&mut self, it: &Constructed, kind: DefinitionKind, forward: bool) -> DefinitionId {
        let known = self.declared_here(&it.name.text).filter(|id| {
            let known = &self.model.definition(*id).kind;
            let same = matches!(
                (known, &kind),
                (DefinitionKind::Struct(_), DefinitionKind::Struct(_))
                    | (DefinitionKind::Union(_), DefinitionKind::Union(_))
            );
            same && (forward || !self.facts[id.index()].complete)
        });
        match known {
            Some(id) if forward => id,
            Some(id) => {
                self.define(id, &it.name.text.clone(), it.name.span, &it.doc);
                id
            }
            None => self.declare(&it.name, &it.doc, kind),
        }
    }

    /// The definition of what was declared forward: from here on, it stands where it is defined.
    pub(super) fn define(&mut self, id: DefinitionId, name: &Rc<str>, span: Span, doc: &str) {
        if *self.facts[id.index()].naming.prefix != *self.prefix {
            let message = format!("`{name}` is declared and defined under different prefixes");
            let label = format!("the prefix here is \"{}\"", self.prefix);
            let then = format!("here it was \"{}\"", self.facts[id.index()].naming.prefix);
            let declared = self.model.definition(id).span;
            self.report(error(message, span, label).see(declared, then));
        }
        let definition = &mut self.model.definitions[id.index()];
        definition.span = span;
        definition.included = span.file != FileId(0);
        if !doc.is_empty() {
            definition.doc = doc.into();
        }
    }

    /// The struct that a struct inherits from, and all its members. IDL 4.2, 7.4.13.4.1.
    fn base_struct(&mut self, name: &Name, base: &ScopedName) -> Option<(DefinitionId, Vec<Member>)> {
        let known = matches!(base.parts.as_slice(), [only] if only.text == name.text && !base.absolute);
        if known && self.declared_here(&name.text).is_none_or(|id| !self.facts[id.index()].complete) {
            let label = "a struct cannot inherit from itself";
            self.report(error(format!("`{}` is not defined yet", name.text), base.span, label));
            return None;
        }
        let ty = self.named_type(base)?;
        let found = match self.model.resolve_alias(&ty) {
            Type::Named(id) => match &self.model.definition(*id).kind {
                DefinitionKind::Struct(it) => {
                    Some((*id, it.members.iter().map(|it| 1 + weight(&it.doc, &it.annotations)).sum()))
                }
                _ => None,
            },
            _ => None,
        };
        let Some((id, weight)) = found else {
            let message = format!("`{}` cannot inherit from `{}`", name.text, base.written());
            self.report(error(message, base.span, "a struct inherits from a struct"));
            return None;
        };
        if !self.facts[id.index()].complete {
            let declared = self.model.definition(id).span;
            let message = format!("cannot inherit from `{}`, which is not defined yet", base.written());
            self.report(error(message, base.span, "define it before").see(declared, "declared here"));
            return None;
        }
        self.work(weight, base.span);
        match &self.model.definition(id).kind {
            DefinitionKind::Struct(it) if !self.reporter.stopped() => Some((id, it.members.clone())),
            _ => None,
        }
    }

    fn members(&mut self, id: DefinitionId, inherited: Vec<Member>, fields: &[Field]) -> Vec<Member> {
        let (mut members, mut depth, mut local) = (inherited, 0, None);
        self.within(id, |it| {
            for member in &members {
                let name = Name { text: member.name.as_str().into(), span: member.span };
                it.declare_name(&name, Target::Member);
                depth = depth.max(it.depth(&member.ty));
                local = local.or(it.local(&member.ty));
            }
            for field in fields {
                let base = it.ty(&field.ty);
                for declarator in &field.declarators {
                    it.declare_name(&declarator.name, Target::Member);
                    let Some(ty) = base.clone().and_then(|base| it.declared_type(base, declarator)) else {
                        continue;
                    };
                    it.require_complete(&ty, type_span(&field.ty));
                    it.forbid_native(&ty, type_span(&field.ty));
                    depth = depth.max(it.depth(&ty));
                    local = local.or(it.local(&ty));
                    let (name, span) = (declarator.name.text.to_string(), declarator.name.span);
                    let annotations = it.annotations(&field.annotations, On::of("member", &ty));
                    members.push(Member { name, ty, annotations, doc: field.doc.clone(), span });
                }
            }
        });
        self.complete(id, depth, local);
        members
    }
}

fn empty_union() -> DefinitionKind {
    let (discriminator, discriminator_annotations) = (Type::Long, Vec::new());
    let (arms, uncovered) = (Vec::new(), None);
    DefinitionKind::Union(Union { discriminator, discriminator_annotations, arms, uncovered })
}

/// The word with what follows "a".
pub(super) fn article(word: &str) -> String {
    format!(
        "{} {word}",
        if word.starts_with(['a', 'e', 'i', 'o', 'u']) && !word.starts_with("un") { "n" } else { "" }
    )
}
