//! Bit sets and bit masks. IDL 4.2, 7.4.13.4.3.

use std::collections::HashMap;

use super::annotation::{On, weight};
use super::scope::Target;
use super::{Checker, type_span};
use crate::diagnostics::error;
use crate::model::{Annotation, ArgumentValue, BitFlag, Bitfield, Bitmask, Bitset, DefinitionKind, Type};
use crate::source::Span;
use crate::syntax::{self, Name, ScopedName};

/// The bits of the largest integer type.
const MOST_BITS: u8 = 64;

/// The bits of a bitmask that does not say how many it has.
const BIT_BOUND: u8 = 32;

impl Checker {
    pub(super) fn bitset(&mut self, it: &syntax::Bitset) {
        let (base, fields) = it.base.as_ref().and_then(|base| self.base_bitset(base)).unzip();
        let mut fields: Vec<Bitfield> = fields.unwrap_or_default();
        let inherited = fields.len();
        let id = self.declare(&it.name, &it.doc, DefinitionKind::Bitset(Bitset::default()));
        self.within(id, |it_| {
            for name in fields.iter().filter_map(|it| Some((it.name.as_deref()?, it.span))) {
                it_.declare_name(&Name { text: name.0.into(), span: name.1 }, Target::Member);
            }
            for field in &it.fields {
                it_.bitfield(field, &mut fields);
            }
        });
        let bits = fields.last().map_or(0, |it| it.position + it.bits);
        self.complete(id, 0, None);
        *self.kind_mut(id) = DefinitionKind::Bitset(Bitset { base, fields, inherited, bits });
    }

    fn base_bitset(&mut self, base: &ScopedName) -> Option<(crate::DefinitionId, Vec<Bitfield>)> {
        let target = self.resolve(base)?;
        if let Target::Definition(id) = target
            && let Type::Named(id) = *self.model.resolve_alias(&Type::Named(id))
            && let DefinitionKind::Bitset(it) = &self.model.definition(id).kind
        {
            let weight = it.fields.iter().map(|it| 1 + weight(&it.doc, &it.annotations)).sum();
            self.work(weight, base.span);
            return match &self.model.definition(id).kind {
                DefinitionKind::Bitset(it) if !self.reporter.stopped() => Some((id, it.fields.clone())),
                _ => None,
            };
        }
        let message = format!("cannot inherit from `{}`", base.written());
        self.report(error(message, base.span, "a bitset inherits from a bitset"));
        None
    }

    fn bitfield(&mut self, it: &syntax::Bitfield, fields: &mut Vec<Bitfield>) {
        let Some(bits) = self.small(&it.bits, MOST_BITS.into()).map(|it| it as u8) else { return };
        if bits == 0 {
            return self.report(error("a bitfield of no bits", it.bits.span, "1 to 64"));
        }
        let ty = match &it.ty {
            Some(spec) => match self.ty(spec) {
                Some(ty) if self.holds(&ty, bits, type_span(spec)) => ty,
                _ => return,
            },
            None => match bits {
                1 => Type::Boolean,
                2..=8 => Type::Octet,
                9..=16 => Type::UnsignedShort,
                17..=32 => Type::UnsignedLong,
                _ => Type::UnsignedLongLong,
            },
        };
        let annotations = self.annotations(&it.annotations, On::of("bitfield", &ty));
        let names = it.names.iter().map(Some).chain(it.names.is_empty().then_some(None));
        for name in names {
            let position = fields.last().map_or(0, |it| it.position + it.bits);
            if position + bits > MOST_BITS {
                let span = name.map_or(it.span, |name| name.span);
                let label = "a bitset has at most 64 bits";
                return self.report(error(format!("this makes {} bits", position + bits), span, label));
            }
            if let Some(name) = name {
                self.declare_name(name, Target::Member);
            }
            fields.push(Bitfield {
                name: name.map(|it| it.text.to_string()),
                ty: ty.clone(),
                bits,
                position,
                annotations: annotations.clone(),
                doc: it.doc.clone(),
                span: name.map_or(it.span, |name| name.span),
            });
        }
    }

    /// Whether a bitfield of so many bits can be handed out in a type.
    fn holds(&mut self, ty: &Type, bits: u8, span: Span) -> bool {
        let most = match self.model.resolve_alias(ty) {
            Type::Boolean => 1,
            Type::Octet | Type::Int8 | Type::UInt8 => 8,
            Type::Short | Type::UnsignedShort => 16,
            Type::Long | Type::UnsignedLong => 32,
            Type::LongLong | Type::UnsignedLongLong => 64,
            _ => {
                let label = "`boolean`, `octet` or an integer type";
                self.report(error("a bitfield cannot have this type", span, label));
                return false;
            }
        };
        if bits > most {
            let label = format!("it has {most}");
            self.report(error(format!("this type does not hold {bits} bits"), span, label));
        }
        bits <= most
    }

    pub(super) fn bitmask(&mut self, it: &syntax::Bitmask, annotations: &[syntax::Annotation]) {
        let annotations = self.annotations(annotations, On::other("bitmask"));
        let bit_bound = match number(&annotations, "bit_bound") {
            Some((bound, _)) if (1..=MOST_BITS.into()).contains(&bound) => bound as u8,
            Some((bound, span)) => {
                let message = format!("a bitmask cannot have {bound} bits");
                self.report(error(message, span, "1 to 64"));
                MOST_BITS
            }
            None => BIT_BOUND,
        };
        let empty = Bitmask { bit_bound, flags: Vec::new() };
        let id = self.declare(&it.name, &it.doc, DefinitionKind::Bitmask(empty));
        let mut flags: Vec<BitFlag> = Vec::new();
        let mut taken: HashMap<u8, Span> = HashMap::new();
        self.within(id, |checker| {
            let mut next: u64 = 0;
            for flag in &it.flags {
                let annotations = checker.annotations(&flag.annotations, On::other("flag"));
                let (name, span) = (flag.name.text.to_string(), flag.name.span);
                let place = number(&annotations, "position").map_or(next, |(position, _)| position);
                next = place + 1;
                if place >= bit_bound.into() {
                    let message = format!("`{name}` is bit {place} of {bit_bound}");
                    let label =
                        "bits are counted from 0; `@bit_bound` before the bitmask says how many there are";
                    checker.report(error(message, span, label));
                    break;
                }
                let position = place as u8;
                checker.declare_name(&flag.name, Target::Flag { position });
                if let Some(first) = taken.insert(position, span) {
                    let message = format!("`{name}` is bit {position}, which has a name already");
                    checker.report(error(message, span, "each flag is one bit").see(first, "named here"));
                }
                flags.push(BitFlag { name, position, annotations, doc: flag.doc.clone(), span });
            }
        });
        self.complete(id, 0, None);
        *self.kind_mut(id) = DefinitionKind::Bitmask(Bitmask { bit_bound, flags });
        self.model.definitions[id.index()].annotations = annotations;
    }
}

/// The number that a standard annotation of one parameter gives, and where.
fn number(annotations: &[Annotation], name: &str) -> Option<(u64, Span)> {
    let it = annotations.iter().find(|it| it.name == name && it.definition.is_none())?;
    let Some(ArgumentValue::Value(value)) = it.argument("value") else { return None };
    Some((u64::try_from(value.as_integer()?).ok()?, it.span))
}
