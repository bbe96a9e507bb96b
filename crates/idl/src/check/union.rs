//! Unions. CORBA 3.4 part 1, 7.11.2.2.

use std::collections::HashMap;

use super::annotation::On;
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::error;
use crate::model::{Arm, DefinitionId, DefinitionKind, Type, Union, Value};
use crate::source::Span;
use crate::syntax::{self, CaseLabel, TypeSpec};

impl Checker {
    pub(super) fn union_body(
        &mut self,
        id: DefinitionId,
        annotations: &[syntax::Annotation],
        discriminator: &TypeSpec,
        arms: &[syntax::Arm],
    ) {
        let (mut kept, mut depth, mut local) = (Vec::new(), 0, None);
        let (mut labels, mut default) = (HashMap::new(), None);
        let mut switch = None;
        self.within(id, |it| {
            switch = it.ty(discriminator).filter(|ty| it.check_discriminator(ty, type_span(discriminator)));
            for arm in arms {
                let name = &arm.declarator.name;
                it.declare_name(name, Target::Member);
                let ty = it.ty(&arm.ty).and_then(|ty| it.declared_type(ty, &arm.declarator));
                let values = it.labels(arm, switch.as_ref(), &mut labels, &mut default);
                let Some(ty) = ty else { continue };
                let annotations = it.annotations(&arm.annotations, On::of("union member", &ty));
                it.require_complete(&ty, type_span(&arm.ty));
                it.forbid_native(&ty, type_span(&arm.ty));
                depth = depth.max(it.depth(&ty));
                local = local.or(it.local(&ty));
                let is_default = arm.labels.iter().any(|label| matches!(label, CaseLabel::Default(_)));
                let (doc, span) = (arm.doc.clone(), name.span);
                let name = name.text.to_string();
                kept.push(Arm { name, ty, labels: values, is_default, annotations, doc, span });
            }
        });
        self.complete(id, depth, local);
        let Some(discriminator) = switch else { return };
        let discriminator_annotations =
            self.annotations(annotations, On::of("discriminator", &discriminator));
        let uncovered = self.uncovered(&discriminator, &labels);
        if let (Some(default), None) = (default, &uncovered) {
            let label = "the `case` labels cover every value: remove it";
            self.report(error("`default` can never be meant", default, label));
        }
        *self.kind_mut(id) =
            DefinitionKind::Union(Union { discriminator, discriminator_annotations, arms: kept, uncovered });
    }

    fn check_discriminator(&mut self, ty: &Type, span: Span) -> bool {
        let problem = match self.model.resolve_alias(ty) {
            // `octet` and `wchar` since IDL 4: 7.4.13.4.2.
            Type::Char | Type::WChar | Type::Boolean => return true,
            ty if ty.is_integer() => return true,
            Type::Named(id) if matches!(self.model.definition(*id).kind, DefinitionKind::Enum(_)) => {
                return true;
            }
            _ => "an integer type, `octet`, `char`, `wchar`, `boolean` or an enum",
        };
        self.report(error("a union cannot switch on this type", span, problem));
        false
    }

    /// The values of an arm's labels, without those that are wrong.
    fn labels(
        &mut self,
        arm: &syntax::Arm,
        discriminator: Option<&Type>,
        known: &mut HashMap<i128, Span>,
        default: &mut Option<Span>,
    ) -> Vec<Value> {
        let mut values = Vec::new();
        for label in &arm.labels {
            match label {
                CaseLabel::Default(span) => {
                    if let Some(first) = default.replace(*span) {
                        self.report(error("a second `default`", *span, "remove one").see(first, "the first"));
                    }
                }
                CaseLabel::Case(expression) => {
                    let Some(value) = discriminator.and_then(|ty| self.value_of(ty, expression)) else {
                        continue;
                    };
                    let Some(number) = number(&value) else { continue };
                    match known.insert(number, expression.span) {
                        None => values.push(value),
                        Some(first) => {
                            let label = "each value leads to one member";
                            self.report(
                                error("this label was there before", expression.span, label)
                                    .see(first, "here"),
                            );
                        }
                    }
                }
            }
        }
        values
    }

    /// The first value that no label names, counted from 0 upwards, then from the smallest.
    fn uncovered(&self, discriminator: &Type, labels: &HashMap<i128, Span>) -> Option<Value> {
        let ty = self.model.resolve_alias(discriminator);
        let count = match ty {
            Type::Boolean => 2,
            Type::Char => 256,
            Type::WChar => 1 << 16,
            Type::Named(id) => match &self.model.definition(*id).kind {
                DefinitionKind::Enum(it) => it.enumerators.len() as i128,
                _ => 0,
            },
            // Labels are fewer than the numbers tried here, or they cover the type.
            _ => ty.integer_range()?.1 + 1,
        };
        let least = ty.integer_range().map_or(0, |(least, _)| least);
        let free = (0..count).chain(least..0).find(|number| !labels.contains_key(number))?;
        Some(match ty {
            Type::Boolean => Value::Boolean(free != 0),
            Type::Char => Value::Char(free as u8),
            Type::WChar => Value::WChar(free as u16),
            Type::Named(id) => Value::Enumerator { of: *id, index: free as u32 },
            _ => super::constant::integer(ty, free)?,
        })
    }
}

/// A number that tells the values of one discriminator type apart.
fn number(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Boolean(it) => (*it).into(),
        Value::Char(it) => (*it).into(),
        Value::WChar(it) => (*it).into(),
        Value::Enumerator { index, .. } => (*index).into(),
        other => return other.as_integer(),
    })
}
