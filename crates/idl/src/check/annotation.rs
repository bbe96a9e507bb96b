//! Annotations: which one is meant, what its arguments are, and whether it may stand there. IDL 4.2, 7.4.15 and 8.

mod standard;

use std::collections::HashMap;

use super::constructed::article;
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::{error, warning};
use crate::model::{
    Annotation, AnnotationParameter, AnnotationType, Argument, ArgumentValue, DefinitionId, DefinitionKind,
    Enumerator, Feature, Type, Value,
};
use crate::similar::nearest;
use crate::source::Span;
use crate::syntax::{self, Expression, Item, Name, ScopedName, Step};
use standard::{Default, Kind, Standard};

/// What annotations are applied to.
pub(super) struct On<'a> {
    /// As [`Checker::describe`] calls it.
    what: &'static str,
    /// The type that its values have, if it has any.
    ty: Option<&'a Type>,
}

impl<'a> On<'a> {
    pub(super) fn of(what: &'static str, ty: &'a Type) -> Self {
        On { what, ty: Some(ty) }
    }

    pub(super) fn other(what: &'static str) -> Self {
        On { what, ty: None }
    }
}

/// One parameter of a known annotation.
struct Parameter {
    name: String,
    kind: Kind,
    default: Option<ArgumentValue>,
}

impl Checker {
    /// An item with annotations before it.
    pub(super) fn annotated(&mut self, annotations: &[syntax::Annotation], it: &Item) {
        if let Item::Bitmask(it) = it {
            return self.bitmask(it, annotations);
        }
        self.item(it);
        for name in names(it) {
            let Some((target, of)) = self.declared_target(name) else { continue };
            let (what, ty) = (self.describe(target), self.type_of(target, &name.text));
            let kept = self.annotations(annotations, On { what, ty: ty.as_ref() });
            if let Item::Operation(it) = it {
                for oneway in kept.iter().filter(|it| it.name == "oneway" && it.definition.is_none()) {
                    let value = oneway.argument("value");
                    let value = matches!(value, Some(ArgumentValue::Value(Value::Boolean(true))));
                    self.annotated_oneway(it, value, oneway.span);
                }
            }
            self.attach(target, of, &name.text, kept);
        }
    }

    /// The type of the values of an annotated thing.
    /// It is among the last that were declared, so that is where it is looked for.
    fn type_of(&self, target: Target, name: &str) -> Option<Type> {
        match target {
            Target::Definition(id) => match &self.model.definition(id).kind {
                DefinitionKind::Typedef(it) => Some(it.ty.clone()),
                DefinitionKind::Constant(it) => Some(it.ty.clone()),
                DefinitionKind::ValueBox(it) => Some(it.ty.clone()),
                _ => None,
            },
            Target::Feature { of, .. } => {
                if let DefinitionKind::ValueType(it) = &self.model.definition(of).kind
                    && let Some(member) = it.state.iter().rev().find(|it| it.name == name)
                {
                    return Some(member.ty.clone());
                }
                self.model.features(of).iter().rev().find_map(|it| match it {
                    Feature::Attribute(it) if it.name == name => Some(it.ty.clone()),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    fn attach(&mut self, target: Target, of: Option<DefinitionId>, name: &str, mut kept: Vec<Annotation>) {
        if let Target::Definition(id) = target {
            return self.model.definitions[id.index()].annotations.append(&mut kept);
        }
        let Some(of) = of else { return };
        let features = match self.kind_mut(of) {
            DefinitionKind::Interface(it) => &mut it.features,
            DefinitionKind::ValueType(it) => {
                if let Some(member) = it.state.iter_mut().rev().find(|it| it.name == name) {
                    return member.annotations.append(&mut kept);
                }
                if let Some(factory) = it.factories.iter_mut().rev().find(|it| it.name == name) {
                    return factory.annotations.append(&mut kept);
                }
                &mut it.features
            }
            _ => return,
        };
        match features.iter_mut().rev().find(|it| it.name() == name) {
            Some(Feature::Operation(it)) => it.annotations.append(&mut kept),
            Some(Feature::Attribute(it)) => it.annotations.append(&mut kept),
            None => {}
        }
    }

    /// Annotations as applied; those that are wrong were reported and are left out.
    pub(super) fn annotations(&mut self, applied: &[syntax::Annotation], on: On<'_>) -> Vec<Annotation> {
        let mut kept: Vec<Annotation> = Vec::new();
        for it in applied {
            let name = it.name.written();
            if let Some(first) = kept.iter().find(|known| known.name == name && name != "verbatim") {
                let first = first.span;
                self.report(error(format!("`@{name}` is given twice"), it.span, "remove one").see(first, ""));
                continue;
            }
            let annotation = match (self.defined_annotation(&it.name), Standard::named(&name)) {
                (Some((id, parameters)), _) => self.known(it, Some(id), parameters, &on),
                (None, Some(standard)) => {
                    if !standard.on.is_empty() && !standard.on.contains(&on.what) {
                        let message = format!("`@{name}` cannot be applied to a{}", article(on.what));
                        let label = format!("it is for: {}", standard.on.join(", "));
                        self.report(error(message, it.span, label));
                        continue;
                    }
                    self.known(it, None, standard.parameters(), &on)
                }
                (None, None) => Some(self.unknown_annotation(it)),
            };
            let Some(annotation) = annotation else { continue };
            self.check_order(&annotation);
            kept.push(annotation);
        }
        kept
    }

    fn defined_annotation(&mut self, name: &ScopedName) -> Option<(DefinitionId, Vec<Parameter>)> {
        let mut parts = name.parts.clone();
        let last = parts.last_mut()?;
        last.text = format!("@{}", last.text).into();
        let name = ScopedName { absolute: name.absolute, parts, span: name.span };
        let Some(Target::Definition(id)) = self.seen(&name) else { return None };
        let DefinitionKind::Annotation(it) = &self.model.definition(id).kind else { return None };
        let parameters = it.parameters.iter().map(|it| Parameter {
            name: it.name.clone(),
            kind: if it.ty == Type::Any { Kind::Any } else { Kind::Of(it.ty.clone()) },
            default: it.default.clone().map(ArgumentValue::Value),
        });
        Some((id, parameters.collect()))
    }

    /// An annotation whose parameters are known.
    fn known(
        &mut self,
        it: &syntax::Annotation,
        definition: Option<DefinitionId>,
        parameters: Vec<Parameter>,
        on: &On<'_>,
    ) -> Option<Annotation> {
        let name = it.name.written();
        let mut given: Vec<Option<ArgumentValue>> = parameters.iter().map(|_| None).collect();
        for (parameter, value) in &it.arguments {
            let at = match parameter {
                Some(wanted) => parameters.iter().position(|it| *it.name == *wanted.text),
                None => (parameters.len() == 1 && it.arguments.len() == 1).then_some(0),
            };
            let Some(at) = at else {
                let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
                let label = match (names.len(), parameter) {
                    (0, _) => format!("write `@{name}` alone"),
                    (_, None) => format!("name the parameter: `@{name}({} = ...)`", names.join(" = ..., ")),
                    (_, Some(wanted)) => match nearest(&wanted.text, names.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("it has `{}`", names.join("`, `")),
                    },
                };
                let message = match (names.len(), parameter) {
                    (0, _) => format!("`@{name}` takes no argument"),
                    (_, Some(wanted)) => format!("`@{name}` has no parameter `{}`", wanted.text),
                    _ => format!("`@{name}` has {} parameters", names.len()),
                };
                let span = parameter.as_ref().map_or(value.span, |it| it.span);
                self.report(error(message, span, label));
                return None;
            };
            if given[at].is_some() {
                let message = format!("`{}` is given twice", parameters[at].name);
                self.report(error(message, value.span, "remove one"));
                return None;
            }
            given[at] = Some(self.argument(&name, &parameters[at].kind, value, on)?);
        }
        let mut arguments = Vec::new();
        for (parameter, given) in parameters.into_iter().zip(given) {
            let Some(value) = given.or(parameter.default) else {
                let label = format!("write `@{name}({} = ...)`", parameter.name);
                let message = format!("`@{name}` needs a value for `{}`", parameter.name);
                self.report(error(message, it.span, label));
                return None;
            };
            arguments.push(Argument { name: parameter.name, value });
        }
        Some(Annotation { name, definition, unknown: false, arguments, span: it.span })
    }

    fn argument(
        &mut self,
        name: &str,
        kind: &Kind,
        value: &Expression,
        on: &On<'_>,
    ) -> Option<ArgumentValue> {
        let ty = match kind {
            Kind::Of(ty) => ty.clone(),
            Kind::Any => return self.natural(value).map(ArgumentValue::Value),
            Kind::Words(words) => {
                let word = match value.steps.as_slice() {
                    [(Step::Name(name), _)] => name.parts.last().map(|it| it.text.clone()),
                    _ => None,
                };
                let known = word.and_then(|word| words.iter().find(|it| ***it == *word));
                if known.is_none() {
                    let label = format!("one of: {}", words.join(", "));
                    self.report(error(format!("`@{name}` has no such value"), value.span, label));
                }
                return known.map(|word| ArgumentValue::Word((*word).to_string()));
            }
            Kind::Annotated { number } => {
                let Some(ty) = on.ty else {
                    let message = format!("`@{name}` says nothing about a{}", article(on.what));
                    let label = "it is for what has a value: members, attributes, typedefs, parameters";
                    self.report(error(message, value.span, label));
                    return None;
                };
                let bits = matches!(self.model.resolve_alias(ty), Type::Named(id)
                    if matches!(self.model.definition(*id).kind, DefinitionKind::Bitmask(_)));
                if bits && !number {
                    return self.natural(value).map(ArgumentValue::Value);
                }
                let resolved = self.model.resolve_alias(ty);
                let fits = if *number {
                    resolved.is_integer() || resolved.is_floating() || matches!(resolved, Type::Fixed { .. })
                } else {
                    self.can_be_constant(ty)
                };
                if !fits {
                    let label = if *number { "it is for numbers" } else { "no constant has this type" };
                    let message =
                        format!("`@{name}` cannot be applied to a{} of this type", article(on.what));
                    self.report(error(message, value.span, label));
                    return None;
                }
                ty.clone()
            }
        };
        let value = self.enumerator_of(&ty, value).or_else(|| self.value_of(&ty, value))?;
        Some(ArgumentValue::Value(value))
    }

    /// An enumerator that is named without the scope of its enum, where the type says which enum is meant.
    fn enumerator_of(&self, ty: &Type, value: &Expression) -> Option<Value> {
        let [(Step::Name(name), _)] = value.steps.as_slice() else { return None };
        let ([only], Type::Named(id)) = (name.parts.as_slice(), self.model.resolve_alias(ty)) else {
            return None;
        };
        let DefinitionKind::Enum(it) = &self.model.definition(*id).kind else { return None };
        let index = it.enumerators.iter().position(|it| it.name == *only.text)?;
        Some(Value::Enumerator { of: *id, index: index as u32 })
    }

    fn unknown_annotation(&mut self, it: &syntax::Annotation) -> Annotation {
        let name = it.name.written();
        let near = nearest(&name, Standard::names());
        let label = near.map_or("kept as written".into(), |near| format!("did you mean `@{near}`?"));
        self.report(warning(format!("unknown annotation `@{name}`"), it.name.span, label));
        let mut arguments = Vec::new();
        for (parameter, value) in &it.arguments {
            let word = match value.steps.as_slice() {
                [(Step::Name(name), _)] if self.seen(name).is_none() => Some(name.written()),
                _ => None,
            };
            let value = match word {
                Some(word) => Some(ArgumentValue::Word(word)),
                None => self.natural(value).map(ArgumentValue::Value),
            };
            let name = parameter.as_ref().map_or(String::new(), |it| it.text.to_string());
            arguments.extend(value.map(|value| Argument { name, value }));
        }
        Annotation { name, definition: None, unknown: true, arguments, span: it.span }
    }

    /// `@range` counts upwards.
    fn check_order(&mut self, it: &Annotation) {
        if it.name != "range" || it.definition.is_some() || it.unknown {
            return;
        }
        let number = |name| match it.argument(name) {
            Some(ArgumentValue::Value(Value::Float(it))) => Some(f64::from(*it)),
            Some(ArgumentValue::Value(Value::Double(it))) => Some(*it),
            Some(ArgumentValue::Value(it)) => it.as_integer().map(|it| it as f64),
            _ => None,
        };
        if let (Some(min), Some(max)) = (number("min"), number("max"))
            && min > max
        {
            let label = "write the smaller number as `min`";
            self.report(error("this range is empty", it.span, label));
        }
    }

    /// `@value` tells the enumerators of one enum apart.
    pub(super) fn check_values(&mut self, enumerators: &[Enumerator]) {
        let mut known: HashMap<i128, Span> = HashMap::new();
        for it in enumerators {
            let own = it.annotations.iter().find(|it| it.name == "value" && it.definition.is_none());
            let Some(annotation) = own else { continue };
            let Some(ArgumentValue::Value(value)) = annotation.argument("value") else { continue };
            let Some(number) = value.as_integer() else { continue };
            if let Some(first) = known.insert(number, annotation.span) {
                let message = format!("two enumerators have the value {number}");
                self.report(error(message, annotation.span, "choose another").see(first, "the first"));
            }
        }
    }

    /// `@annotation`, which declares a kind of annotation.
    pub(super) fn annotation_type(&mut self, it: &syntax::AnnotationType) {
        let name = Name { text: format!("@{}", it.name.text).into(), span: it.name.span };
        let id = self.declare(&name, &it.doc, DefinitionKind::Annotation(AnnotationType::default()));
        self.facts[id.index()].complete = true;
        let mut parameters = Vec::new();
        self.within(id, |checker| {
            checker.items(&it.items);
            for parameter in &it.parameters {
                let ty = checker.ty(&parameter.ty);
                checker.declare_name(&parameter.name, Target::Member);
                let Some(ty) = ty else { continue };
                if ty != Type::Any && !checker.can_be_constant(&ty) {
                    let label = "numbers, characters, strings, booleans, enums and `any` can be parameters";
                    let span = type_span(&parameter.ty);
                    checker.report(error("no annotation has a parameter of this type", span, label));
                    continue;
                }
                let default = match &parameter.default {
                    Some(value) if ty != Type::Any => checker.value_of(&ty, value),
                    _ => None,
                };
                let (name, span) = (parameter.name.text.to_string(), parameter.name.span);
                parameters.push(AnnotationParameter { name, ty, default, span });
            }
        });
        *self.kind_mut(id) = DefinitionKind::Annotation(AnnotationType { parameters });
    }
}

impl Standard {
    fn parameters(&self) -> Vec<Parameter> {
        let parameters = self.parameters.iter().map(|(name, kind, default)| Parameter {
            name: (*name).to_string(),
            kind: kind.clone(),
            default: match default {
                Default::None => None,
                Default::True => Some(ArgumentValue::Value(Value::Boolean(true))),
                Default::Text(text) => Some(ArgumentValue::Value(Value::String((*text).to_string()))),
                Default::Word(word) => Some(ArgumentValue::Word((*word).to_string())),
            },
        });
        parameters.collect()
    }
}

/// The names that an item declares in the scope that it stands in.
fn names(it: &Item) -> Vec<&Name> {
    match it {
        Item::Module { name, .. }
        | Item::Constant { name, .. }
        | Item::Native { name, .. }
        | Item::ValueBox { name, .. }
        | Item::Factory { name, .. } => vec![name],
        Item::Typedef(field) | Item::State { field, .. } => {
            field.declarators.iter().map(|it| &it.name).collect()
        }
        Item::Constructed(it) => vec![&it.name],
        Item::Interface(it) => vec![&it.name],
        Item::Value(it) => vec![&it.name],
        Item::Operation(it) => vec![&it.name],
        Item::Attribute(it) => it.names.iter().collect(),
        Item::Bitset(it) => vec![&it.name],
        Item::Component(it) => vec![&it.name],
        Item::Home(it) => vec![&it.name],
        _ => Vec::new(),
    }
}

/// Steps for copying what is said about a member: by its octets, since a comment may be as long as the file.
pub(super) fn weight(doc: &str, annotations: &[Annotation]) -> usize {
    let octets = |value: &ArgumentValue| match value {
        ArgumentValue::Value(Value::String(text)) => text.len(),
        ArgumentValue::Value(Value::WString(text)) => text.len(),
        ArgumentValue::Word(word) => word.len(),
        ArgumentValue::Value(_) => 1,
    };
    let of = |it: &Annotation| {
        it.name.len() + it.arguments.iter().map(|it| it.name.len() + octets(&it.value)).sum::<usize>()
    };
    (doc.len() + annotations.iter().map(of).sum::<usize>()) / 4
}
