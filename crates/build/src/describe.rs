//! What a generated type says of itself: its TypeCode.
//!
//! The description is a table of names and functions, so that it is data for the most part and what uses no `any` hardly
//! takes longer to compile. An alias is no type in Rust and is described wherever it is used.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use zorb_idl::model::{
    Definition, DefinitionKind, InterfaceFlavor, Member, Type, Union, Value, ValueFlavor, ValueType,
};

use crate::names::ident;
use crate::scope::Scope;
use crate::value::concrete_base;

/// The `impl` of `Described` for a definition that becomes a type; nothing for others.
pub(crate) fn described(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let rt = scope.rt();
    let (id, spelt) = (&of.repository_id, &of.name);
    let description = match &of.kind {
        DefinitionKind::Struct(it) => {
            let members = members(scope, &it.members);
            quote!(#rt::describe::structure(to, #id, #spelt, #members))
        }
        DefinitionKind::Exception(it) => {
            let members = members(scope, &it.members);
            quote!(#rt::describe::exception(to, #id, #spelt, #members))
        }
        DefinitionKind::Enum(it) => {
            let names = it.enumerators.iter().map(|it| &it.name);
            quote!(to.enumeration(#id, #spelt, &[#(#names),*]))
        }
        DefinitionKind::Union(it) => union(scope, of, it),
        DefinitionKind::ValueType(it) => value(scope, of, it),
        DefinitionKind::ValueBox(it) => {
            let part = part(scope, &it.ty);
            quote!(#rt::describe::value_box(to, #id, #spelt, #part))
        }
        DefinitionKind::Bitmask(it) => bits(scope, of, it.bit_bound),
        DefinitionKind::Bitset(it) => bits(scope, of, it.bits),
        _ => return TokenStream::new(),
    };
    let name = ident(&scope.plan.place_of(of.id).name);
    quote!(#rt::described!(#name, to => #description);)
}

/// Its modifier and the visibility of its members are the numbers of CORBA 3.4 part 1, §14.7.1.
fn value(scope: &Scope<'_>, of: &Definition, it: &ValueType) -> TokenStream {
    let (rt, id, spelt) = (scope.rt(), &of.repository_id, &of.name);
    let modifier = Literal::i16_unsuffixed(match it.flavor {
        ValueFlavor::Custom => 1,
        ValueFlavor::Abstract => 2,
        ValueFlavor::Plain if it.truncatable => 3,
        ValueFlavor::Plain => 0,
    });
    let base = concrete_base(scope.plan.model, it).map(|base| part(scope, &Type::Named(base)));
    let base = match base {
        Some(base) => {
            let some = scope.std("Some");
            quote!(#some(#base))
        }
        None => scope.std("None"),
    };
    let members = it.state.iter().map(|it| {
        let (name, part, access) = (&it.name, part(scope, &it.ty), Literal::i16_unsuffixed(it.public.into()));
        quote!((#name, #part, #access))
    });
    let kind = if it.event { quote!(event) } else { quote!(value) };
    quote!(#rt::describe::#kind(to, #id, #spelt, #modifier, #base, &[#(#members),*]))
}

fn members(scope: &Scope<'_>, members: &[Member]) -> TokenStream {
    let members = members.iter().map(|it| {
        let (name, part) = (&it.name, part(scope, &it.ty));
        quote!((#name, #part))
    });
    quote!(&[#(#members),*])
}

/// CORBA has no kinds for bits: they are described as the integer that they travel as, under their own name.
fn bits(scope: &Scope<'_>, of: &Definition, count: u8) -> TokenStream {
    let (rt, id, spelt) = (scope.rt(), &of.repository_id, &of.name);
    let integer = scope.std(match count {
        ..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    });
    quote!(#rt::describe::alias(to, #id, #spelt, #rt::describe::of::<#integer>))
}

/// A member for each label; the default member stands last.
fn union(scope: &Scope<'_>, of: &Definition, union: &Union) -> TokenStream {
    let (rt, id, spelt) = (scope.rt(), &of.repository_id, &of.name);
    let (mut labelled, mut default) = (Vec::new(), None);
    for arm in &union.arms {
        let (name, part) = (&arm.name, part(scope, &arm.ty));
        for label in &arm.labels {
            let number = Literal::i64_unsuffixed(number(label));
            labelled.push(quote!((#number, #name, #part)));
        }
        if arm.is_default {
            default = Some(quote!((0, #name, #part)));
        }
    }
    let has_default = default.is_some();
    labelled.extend(default);
    let discriminator = part(scope, &union.discriminator);
    quote!(#rt::describe::union(to, #id, #spelt, #discriminator, #has_default, &[#(#labelled),*]))
}

fn number(label: &Value) -> i64 {
    match label {
        Value::Short(it) => (*it).into(),
        Value::Long(it) => (*it).into(),
        Value::LongLong(it) => *it,
        Value::UnsignedShort(it) => (*it).into(),
        Value::UnsignedLong(it) => (*it).into(),
        Value::UnsignedLongLong(it) => *it as i64,
        Value::Octet(it) | Value::UInt8(it) | Value::Char(it) => (*it).into(),
        // It is described as an octet.
        Value::Int8(it) => (*it as u8).into(),
        Value::WChar(it) => (*it).into(),
        Value::Boolean(it) => (*it).into(),
        Value::Enumerator { index, .. } => (*index).into(),
        _ => 0,
    }
}

/// A function that describes a type: of one parameter, the describer.
fn part(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    let rt = scope.rt();
    let number = |it: Option<u32>| Literal::u32_unsuffixed(it.unwrap_or(0));
    match ty {
        Type::String { bound: None } => quote!(#rt::describe::text),
        Type::String { bound } => {
            let bound = number(*bound);
            quote!(|to| to.string(#bound))
        }
        Type::WString { bound } => {
            let bound = number(*bound);
            quote!(|to| to.wstring(#bound))
        }
        Type::Fixed { digits, scale } => {
            let (digits, scale) = (Literal::u16_unsuffixed(*digits), Literal::u16_unsuffixed(*scale));
            quote!(|to| to.fixed(#digits, #scale))
        }
        Type::Sequence { element, bound } => {
            let (element, bound) = (part(scope, element), number(*bound));
            quote!(|to| #rt::describe::sequence(to, #element, #bound))
        }
        Type::Array { element, dimensions } => {
            dimensions.iter().rev().fold(part(scope, element), |element, length| {
                let length = Literal::u32_unsuffixed(*length);
                quote!(|to| #rt::describe::array(to, #element, #length))
            })
        }
        Type::Map { key, value, bound } => {
            let (key, value, bound) = (part(scope, key), part(scope, value), number(*bound));
            quote!(|to| #rt::describe::map(to, #key, #value, #bound))
        }
        Type::Object => quote!(#rt::describe::object),
        Type::AbstractBase => quote!(#rt::describe::abstract_base),
        Type::Named(id) => {
            let of = scope.plan.model.definition(*id);
            let (id, spelt) = (&of.repository_id, &of.name);
            match &of.kind {
                DefinitionKind::Typedef(it) => {
                    let inner = part(scope, &it.ty);
                    quote!(|to| #rt::describe::alias(to, #id, #spelt, #inner))
                }
                DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Abstract => {
                    quote!(|to| #rt::describe::abstract_interface(to, #id, #spelt))
                }
                DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Local => {
                    quote!(|to| #rt::describe::local_interface(to, #id, #spelt))
                }
                DefinitionKind::Interface(_) => quote!(|to| to.interface(#id, #spelt)),
                _ => {
                    let ty = scope.ty(ty);
                    quote!(#rt::describe::of::<#ty>)
                }
            }
        }
        _ => {
            let ty = scope.ty(ty);
            quote!(#rt::describe::of::<#ty>)
        }
    }
}
