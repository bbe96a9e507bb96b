//! The TypeCodes of a model's types (CORBA 3.3 part 1, §8.11).
//!
//! What IDL 4.2 added has no kinds of its own and is described as it travels: `int8` and `uint8` as octets, bit sets and bit
//! masks as aliases of an unsigned integer, a map as a sequence of structs of a key and a value. It is what generated code
//! describes its types as, so that the two are equivalent.

use zorb_cdr::{Any, Char, Describer, LongDouble, TCKind, TypeCode, TypeCodeError, TypeRef, WChar};
use zorb_idl::model::{DefinitionKind, InterfaceFlavor, Member, Origin, Type, Union, ValueFlavor, ValueType};
use zorb_idl::{DefinitionId, Model};

use super::constant::label;

/// The TypeCode of a type.
pub(super) fn type_code(model: &Model, ty: &Type) -> Result<TypeCode, TypeCodeError> {
    TypeCode::build(|to| part(model, ty, to))
}

/// Whether it is an abstract valuetype.
pub(super) fn is_abstract(model: &Model, id: DefinitionId) -> bool {
    matches!(&model.definition(id).kind,
        DefinitionKind::ValueType(value) if value.flavor == ValueFlavor::Abstract)
}

fn part(model: &Model, ty: &Type, to: &mut Describer) -> TypeRef {
    match ty {
        Type::Short => to.basic::<i16>(),
        Type::Long => to.basic::<i32>(),
        Type::LongLong => to.basic::<i64>(),
        Type::UnsignedShort => to.basic::<u16>(),
        Type::UnsignedLong => to.basic::<u32>(),
        Type::UnsignedLongLong => to.basic::<u64>(),
        Type::Float => to.basic::<f32>(),
        Type::Double => to.basic::<f64>(),
        Type::LongDouble => to.basic::<LongDouble>(),
        Type::Char => to.basic::<Char>(),
        Type::WChar => to.basic::<WChar>(),
        Type::Boolean => to.basic::<bool>(),
        Type::Octet | Type::Int8 | Type::UInt8 => to.basic::<u8>(),
        Type::Any => to.basic::<Any>(),
        Type::TypeCode => to.basic::<TypeCode>(),
        Type::Object => to.interface("IDL:omg.org/CORBA/Object:1.0", "Object"),
        Type::ValueBase => {
            to.value("IDL:omg.org/CORBA/ValueBase:1.0", "ValueBase", 0, |_| (None, Vec::new()))
        }
        Type::AbstractBase => {
            to.named(TCKind::AbstractInterface, "IDL:omg.org/CORBA/AbstractBase:1.0", "AbstractBase")
        }
        Type::String { bound } => to.string(bound.unwrap_or(0)),
        Type::WString { bound } => to.wstring(bound.unwrap_or(0)),
        Type::Fixed { digits, scale } => to.fixed(*digits, *scale as i16),
        Type::Sequence { element, bound } => {
            let element = part(model, element, to);
            to.sequence(element, bound.unwrap_or(0))
        }
        Type::Map { key, value, bound } => {
            let pair = to.structure("", "", |to| {
                vec![("key", part(model, key, to)), ("value", part(model, value, to))]
            });
            to.sequence(pair, bound.unwrap_or(0))
        }
        Type::Array { element, dimensions } => {
            let element = part(model, element, to);
            dimensions.iter().rev().fold(element, |element, length| to.array(element, *length))
        }
        Type::Named(id) => named(model, *id, to),
        // A type that a later IDL may bring.
        _ => to.basic::<()>(),
    }
}

fn named(model: &Model, of: DefinitionId, to: &mut Describer) -> TypeRef {
    let definition = model.definition(of);
    let (id, name) = (&*definition.repository_id, &*definition.name);
    match &definition.kind {
        DefinitionKind::Typedef(it) => {
            let of = part(model, &it.ty, to);
            to.alias(id, name, of)
        }
        DefinitionKind::Struct(it) => to.structure(id, name, |to| members(model, &it.members, to)),
        DefinitionKind::Exception(it) => to.exception(id, name, |to| members(model, &it.members, to)),
        DefinitionKind::Enum(it) => {
            let names: Vec<&str> = it.enumerators.iter().map(|it| &*it.name).collect();
            to.enumeration(id, name, &names)
        }
        DefinitionKind::Union(it) => union(model, (id, name), it, to),
        DefinitionKind::Interface(it) => {
            let kind = match (&it.flavor, &it.origin) {
                (InterfaceFlavor::Abstract, _) => TCKind::AbstractInterface,
                (InterfaceFlavor::Local, _) => TCKind::LocalInterface,
                (InterfaceFlavor::Plain, Origin::Component(_)) => TCKind::Component,
                (InterfaceFlavor::Plain, Origin::Home(_)) => TCKind::Home,
                _ => TCKind::ObjRef,
            };
            to.named(kind, id, name)
        }
        DefinitionKind::ValueType(it) => value(model, (id, name), it, to),
        DefinitionKind::ValueBox(it) => {
            let of = part(model, &it.ty, to);
            to.value_box(id, name, of)
        }
        DefinitionKind::Bitset(it) => bits(id, name, it.bits, to),
        DefinitionKind::Bitmask(it) => bits(id, name, it.bit_bound, to),
        // Of the others no type can be.
        _ => to.named(TCKind::Native, id, name),
    }
}

fn members<'m>(model: &Model, members: &'m [Member], to: &mut Describer) -> Vec<(&'m str, TypeRef)> {
    members.iter().map(|member| (&*member.name, part(model, &member.ty, to))).collect()
}

fn bits(id: &str, name: &str, count: u8, to: &mut Describer) -> TypeRef {
    let integer = match count {
        ..=8 => to.basic::<u8>(),
        9..=16 => to.basic::<u16>(),
        17..=32 => to.basic::<u32>(),
        _ => to.basic::<u64>(),
    };
    to.alias(id, name, integer)
}

/// A member for each label; the default member stands last.
fn union(model: &Model, (id, name): (&str, &str), it: &Union, to: &mut Describer) -> TypeRef {
    let labels: usize = it.arms.iter().map(|arm| arm.labels.len()).sum();
    let default = it.default_arm().map(|_| labels);
    to.union(id, name, default, |to| {
        let discriminator = part(model, &it.discriminator, to);
        let (mut labelled, mut default) = (Vec::new(), None);
        for arm in &it.arms {
            let ty = part(model, &arm.ty, to);
            labelled.extend(arm.labels.iter().map(|value| (label(value), &*arm.name, ty)));
            if arm.is_default {
                default = Some((0, &*arm.name, ty));
            }
        }
        labelled.extend(default);
        (discriminator, labelled)
    })
}

fn value(model: &Model, (id, name): (&str, &str), it: &ValueType, to: &mut Describer) -> TypeRef {
    let modifier = match it.flavor {
        ValueFlavor::Custom => 1,
        ValueFlavor::Abstract => 2,
        ValueFlavor::Plain if it.truncatable => 3,
        ValueFlavor::Plain => 0,
    };
    let base = it.bases.first().filter(|base| !is_abstract(model, **base));
    let state = |to: &mut Describer| {
        let base = base.map(|base| named(model, *base, to));
        let state = it.state.iter().map(|it| (&*it.name, part(model, &it.ty, to), it.public.into()));
        (base, state.collect())
    };
    if it.event { to.event(id, name, modifier, state) } else { to.value(id, name, modifier, state) }
}
