//! [`Form`]: what IDL says of a type and its TypeCode does not.
//!
//! Of what IDL 4.2 added TypeCodes know nothing: an `int8` is an octet to them, a `bitmask` an integer under a name. Who
//! writes and reads text knows more where the type came from IDL: a repository keeps a form for each part of a definition,
//! by repository id, and an interface for each parameter.

use std::sync::Arc;

use zorb_idl::Model;
use zorb_idl::model::{Bitfield, Bitmask, Bitset, DefinitionKind, Member, Type};

/// How values of a type are written as text, where its TypeCode does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// As the TypeCode says: so are all types of CORBA.
    #[default]
    AsDescribed,
    /// `int8`, which is described as an octet.
    Int8,
    /// `uint8`, which is described as an octet.
    UInt8,
    /// Of a sequence or an array: that of its elements.
    Elements(Arc<Form>),
    /// Of a map: those of its keys and its values.
    Map(Arc<(Form, Form)>),
    /// A `bitmask`, which is described as an unsigned integer.
    Bitmask(Arc<Bits>),
    /// A `bitset`, which is described as an unsigned integer.
    Bitset(Arc<Bits>),
}

/// What the bits of an integer mean.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bits {
    /// How many there are, 1 to 64.
    pub bound: u8,
    /// Those that have names.
    pub fields: Vec<Field>,
}

/// Bits with a name: one of a bitmask, or a bitfield.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its identifier.
    pub name: String,
    /// Its least significant bit.
    pub position: u8,
    /// How many bits it has, 1 to 64.
    pub width: u8,
    /// What it is handed out as.
    pub as_type: FieldType,
}

/// What a bitfield is handed out as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// `true` or `false`.
    Boolean,
    /// A number.
    Unsigned,
    /// A number in two's complement.
    Signed,
}

impl Form {
    /// That of a type.
    pub(crate) fn of(ty: &Type) -> Form {
        match ty {
            Type::Int8 => Form::Int8,
            Type::UInt8 => Form::UInt8,
            Type::Sequence { element, .. } => Form::of(element).of_elements(),
            Type::Array { element, dimensions } => {
                dimensions.iter().fold(Form::of(element), |form, _| form.of_elements())
            }
            Type::Map { key, value, .. } => Form::of_map(Form::of(key), Form::of(value)),
            // What has a name has its form under its repository id.
            _ => Form::AsDescribed,
        }
    }

    pub(crate) fn of_elements(self) -> Form {
        if self == Form::AsDescribed { self } else { Form::Elements(Arc::new(self)) }
    }

    pub(crate) fn of_map(key: Form, value: Form) -> Form {
        let plain = key == Form::AsDescribed && value == Form::AsDescribed;
        if plain { Form::AsDescribed } else { Form::Map(Arc::new((key, value))) }
    }

    /// That of the elements of a sequence or an array.
    pub(crate) fn elements(&self) -> Form {
        if let Form::Elements(form) = self { Form::clone(form) } else { Form::AsDescribed }
    }

    /// Those of the keys and the values of a map.
    pub(crate) fn pair(&self) -> (Form, Form) {
        if let Form::Map(forms) = self { (forms.0.clone(), forms.1.clone()) } else { Default::default() }
    }
}

/// The forms of what a definition is made of, in the order of its TypeCode: of a union the discriminator and the members, of
/// what has only one content that.
pub(crate) fn of_parts(model: &Model, kind: &DefinitionKind) -> Vec<Form> {
    let members = |members: &[Member]| members.iter().map(|member| Form::of(&member.ty)).collect();
    match kind {
        DefinitionKind::Typedef(it) => vec![Form::of(&it.ty)],
        DefinitionKind::ValueBox(it) => vec![Form::of(&it.ty)],
        DefinitionKind::Struct(it) => members(&it.members),
        DefinitionKind::Exception(it) => members(&it.members),
        DefinitionKind::ValueType(it) => it.state.iter().map(|member| Form::of(&member.ty)).collect(),
        DefinitionKind::Union(it) => {
            let labelled = it.arms.iter().flat_map(|arm| arm.labels.iter().map(|_| Form::of(&arm.ty)));
            let default = it.default_arm().map(|_| it.arms.iter().filter(|arm| arm.is_default));
            let default = default.into_iter().flatten().map(|arm| Form::of(&arm.ty));
            std::iter::once(Form::of(&it.discriminator)).chain(labelled).chain(default).collect()
        }
        DefinitionKind::Bitmask(it) => vec![Form::Bitmask(Arc::new(flags(it)))],
        DefinitionKind::Bitset(it) => vec![Form::Bitset(Arc::new(fields(model, it)))],
        _ => Vec::new(),
    }
}

fn flags(of: &Bitmask) -> Bits {
    let field = |name: &String, position| Field {
        name: name.clone(),
        position,
        width: 1,
        as_type: FieldType::Boolean,
    };
    let fields = of.flags.iter().map(|flag| field(&flag.name, flag.position));
    Bits { bound: of.bit_bound, fields: fields.collect() }
}

fn fields(model: &Model, of: &Bitset) -> Bits {
    let field = |it: &Bitfield| {
        let as_type = field_type(model, &it.ty);
        it.name.clone().map(|name| Field { name, position: it.position, width: it.bits, as_type })
    };
    Bits { bound: of.bits, fields: of.fields.iter().filter_map(field).collect() }
}

fn field_type(model: &Model, ty: &Type) -> FieldType {
    match ty {
        Type::Boolean => FieldType::Boolean,
        Type::Int8 | Type::Short | Type::Long | Type::LongLong => FieldType::Signed,
        Type::Named(id) => match &model.definition(*id).kind {
            DefinitionKind::Typedef(it) => field_type(model, &it.ty),
            _ => FieldType::Unsigned,
        },
        _ => FieldType::Unsigned,
    }
}
