//! Constants, aliases, enums, structs and exceptions.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use zorb_idl::model::{
    Constant, Definition, DefinitionId, DefinitionKind, Enum, Member, Type, Typedef, Value,
};

use crate::docs::doc;
use crate::idl_text::type_text;
use crate::layout::{Layout, Tiling};
use crate::names::{Names, ident};
use crate::plan::Plan;
use crate::scope::Scope;

/// `const`.
pub(crate) fn constant(scope: &Scope<'_>, of: &Definition, constant: &Constant) -> TokenStream {
    let doc = definition_doc(scope, of, "constant");
    let name = ident(&scope.plan.place_of(of.id).name);
    let ty = match constant.value {
        Value::String(_) | Value::WString(_) => {
            let str = scope.std("str");
            quote!(&#str)
        }
        _ => scope.ty(&constant.ty),
    };
    let value = value(scope, &constant.value);
    quote! { #doc pub const #name: #ty = #value; }
}

/// A value as an expression, and where it is a union's label as a pattern.
pub(crate) fn value(scope: &Scope<'_>, value: &Value) -> TokenStream {
    let rt = scope.rt();
    match value {
        Value::Short(it) => integer((*it).into()),
        Value::Long(it) => integer((*it).into()),
        Value::LongLong(it) => integer((*it).into()),
        Value::UnsignedShort(it) => integer((*it).into()),
        Value::UnsignedLong(it) => integer((*it).into()),
        Value::UnsignedLongLong(it) => integer((*it).into()),
        Value::Octet(it) | Value::UInt8(it) => integer((*it).into()),
        Value::Int8(it) => integer((*it).into()),
        Value::Float(it) => {
            let size = Literal::f32_unsuffixed(it.abs());
            if it.is_sign_negative() { quote!(-#size) } else { quote!(#size) }
        }
        Value::Double(it) => {
            let size = Literal::f64_unsuffixed(it.abs());
            if it.is_sign_negative() { quote!(-#size) } else { quote!(#size) }
        }
        Value::LongDouble(it) => {
            let bits: TokenStream = format!("{:#034x}", it.to_bits()).parse().unwrap_or_default();
            quote!(#rt::LongDouble::from_bits(#bits))
        }
        Value::Char(it) => {
            let octet = Literal::byte_character(*it);
            quote!(#rt::Char(#octet))
        }
        Value::WChar(it) => {
            let unit: TokenStream = format!("{it:#06x}").parse().unwrap_or_default();
            quote!(#rt::WChar(#unit))
        }
        Value::Boolean(it) => quote!(#it),
        Value::String(it) | Value::WString(it) => quote!(#it),
        Value::Enumerator { of, index } => {
            let (path, variant) = (scope.item(*of), enumerator(scope.plan, *of, *index));
            quote!(#path::#variant)
        }
        Value::Fixed(it) => {
            let (unscaled, scale) = (integer(it.unscaled), Literal::u16_unsuffixed(it.scale));
            quote!(#rt::fixed(#unscaled, #scale))
        }
        // What has no Rust yet was reported.
        _ => quote!(()),
    }
}

fn integer(value: i128) -> TokenStream {
    let size = Literal::u128_unsuffixed(value.unsigned_abs());
    if value < 0 { quote!(-#size) } else { quote!(#size) }
}

/// One declarator of a `typedef`.
pub(crate) fn alias(scope: &Scope<'_>, of: &Definition, alias: &Typedef) -> TokenStream {
    let text = type_text(scope.plan.model, &alias.ty);
    let more = if bounded(scope, &alias.ty) {
        vec![format!("In IDL `{text}`: the bound is checked where a value is sent or received.")]
    } else {
        vec![format!("In IDL `{text}`.")]
    };
    let doc = doc(&of.doc, &of_kind(scope, of, "type"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    // The alias of an interface is an interface, and only what is declared with it may be nil.
    let ty = match (&alias.ty, scope.is_reference(&alias.ty)) {
        (Type::Named(id), true) => scope.item(*id),
        (_, true) => {
            let rt = scope.rt();
            quote!(#rt::ObjectRef)
        }
        (ty, false) => scope.ty(ty),
    };
    quote! { #doc pub type #name = #ty; }
}

fn bounded(scope: &Scope<'_>, ty: &Type) -> bool {
    match scope.plan.model.resolve_alias(ty) {
        Type::String { bound } | Type::WString { bound } => bound.is_some(),
        Type::Sequence { element, bound } => bound.is_some() || bounded(scope, element),
        Type::Map { key, value, bound } => bound.is_some() || bounded(scope, key) || bounded(scope, value),
        Type::Array { element, .. } => bounded(scope, element),
        _ => false,
    }
}

/// The Rust variant of an enumerator.
pub(crate) fn enumerator(plan: &Plan<'_>, of: DefinitionId, index: u32) -> proc_macro2::Ident {
    match &plan.model.definition(of).kind {
        DefinitionKind::Enum(of) => variants(of).remove(index as usize),
        _ => ident("_"),
    }
}

fn variants(of: &Enum) -> Vec<proc_macro2::Ident> {
    let mut names = Names::default();
    of.enumerators.iter().map(|it| ident(&names.declare(&it.name))).collect()
}

/// `enum`.
pub(crate) fn enumeration(scope: &Scope<'_>, of: &Definition, it: &Enum) -> TokenStream {
    let (rt, name) = (scope.rt(), ident(&scope.plan.place_of(of.id).name));
    let doc = definition_doc(scope, of, "enum");
    let bytemuck = bytemuck(scope);
    let variants = variants(it);
    let docs = it.enumerators.iter().map(|it| crate::docs::doc(&it.doc, &format!("`{}`.", it.name), &[]));
    let default = std::iter::once(quote!(#[default])).chain(std::iter::repeat(TokenStream::new()));
    quote! {
        #doc
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, #rt::bytemuck::NoUninit)]
        #bytemuck
        #[repr(u32)]
        pub enum #name { #(#docs #default #variants,)* }

        #rt::cdr::enumeration!(#name { #(#variants),* });
    }
}

/// Tells the derive macros of `bytemuck` where it is.
fn bytemuck(scope: &Scope<'_>) -> TokenStream {
    let path = scope.plan.runtime.to_string().replace(' ', "") + "::bytemuck";
    quote!(#[bytemuck(crate = #path)])
}

/// `struct`.
pub(crate) fn structure(scope: &Scope<'_>, of: &Definition, members: &[Member]) -> TokenStream {
    match scope.plan.layouts.tiling(of.id) {
        Some(tiling) => tiling_structure(scope, of, members, &tiling),
        None => plain_structure(scope, of, members),
    }
}

fn plain_structure(scope: &Scope<'_>, of: &Definition, members: &[Member]) -> TokenStream {
    let rt = scope.rt();
    let doc = definition_doc(scope, of, "struct");
    let name = ident(&scope.plan.place_of(of.id).name);
    let fields = fields(members);
    let declared = declared_fields(scope, members, &fields);
    let mut traits = vec![quote!(Clone), quote!(Debug), quote!(PartialEq)];
    if members.iter().all(|it| has_total_equality(scope.plan, &it.ty, &mut vec![of.id])) {
        traits.extend([quote!(Eq), quote!(Hash)]);
    }
    let (default, written_default) = default_of(scope, &name, members, &fields, &[]);
    traits.extend(default);
    let (encode, decode) = (encode_members(scope, members, &fields), decode_members(scope, members, &fields));
    // A struct without members leaves them unused.
    let (to, from) = (quote!(let _ = to;), quote!(let _ = from;));
    let (to, from) = if members.is_empty() { (Some(to), Some(from)) } else { (None, None) };
    let (encode_owned, least) = (encode_owned(scope, members, &fields), least_size(scope.plan, of.id));
    let (result, usize, ok) = (scope.std("Result"), scope.std("usize"), scope.std("Ok"));
    let decode = if scope.plan.model.is_recursive(of.id) {
        quote!(from.nested(|from| #ok(Self { #decode })))
    } else {
        quote!(#ok(Self { #decode }))
    };
    quote! {
        #doc
        #[derive(#(#traits),*)]
        pub struct #name { #declared }

        #written_default

        impl #rt::Encode for #name {
            fn encode<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #to
                #encode
            }
            #encode_owned
        }

        impl #rt::Decode for #name {
            const MIN_SIZE: #usize = #least;

            fn decode(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #from
                #decode
            }
        }
    }
}

/// A struct whose sequences travel as they lie in memory, with its padding written out.
fn tiling_structure(scope: &Scope<'_>, of: &Definition, members: &[Member], tiling: &Tiling) -> TokenStream {
    let rt = scope.rt();
    let mut more = Vec::new();
    if tiling.is_padded() {
        more.push(
            "Has hidden padding: end the expression that makes one with `..Default::default()`.".to_owned(),
        );
    }
    let doc = doc(&of.doc, &of_kind(scope, of, "struct"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    let names = fields(members);
    let types: Vec<TokenStream> = members.iter().map(|it| scope.ty(&it.ty)).collect();
    let docs = members.iter().map(|it| member_doc(scope, it));
    let mut declared = TokenStream::new();
    let mut padding = Vec::new();
    let mut pad = |declared: &mut TokenStream, octets: u64| {
        if octets > 0 {
            let field = format_ident!("_padding_{}", padding.len());
            let octets = Literal::u64_unsuffixed(octets);
            declared.extend(quote!(#[doc(hidden)] pub #field: #rt::cdr::Padding<#octets>,));
            padding.push(field);
        }
    };
    for (((doc, field), ty), before) in docs.zip(&names).zip(&types).zip(&tiling.before) {
        pad(&mut declared, *before);
        declared.extend(quote!(#doc pub #field: #ty,));
    }
    pad(&mut declared, tiling.after);
    let (kind, casts) = match tiling.layout {
        Layout { any_bits: true, .. } => (quote!(plain), vec![quote!(Zeroable), quote!(Pod)]),
        Layout { octets: true, .. } => (quote!(checked), vec![quote!(NoUninit)]),
        _ => (quote!(copied), Vec::new()),
    };
    let bytemuck = (!casts.is_empty()).then(|| bytemuck(scope));
    let mut traits = vec![quote!(Clone), quote!(Copy), quote!(PartialEq)];
    if members.iter().all(|it| has_total_equality(scope.plan, &it.ty, &mut vec![of.id])) {
        traits.extend([quote!(Eq), quote!(Hash)]);
    }
    let (default, written_default) = default_of(scope, &name, members, &names, &padding);
    traits.extend(default);
    traits.extend(casts.iter().map(|it| quote!(#rt::bytemuck::#it)));
    quote! {
        #doc
        #[derive(#(#traits),*)]
        #bytemuck
        #[repr(C)]
        pub struct #name { #declared }

        #written_default

        #rt::cdr::tiling_struct!(#kind #name { #(#names: #types),* } padding { #(#padding),* });
    }
}

/// `exception`.
pub(crate) fn exception(scope: &Scope<'_>, of: &Definition, members: &[Member]) -> TokenStream {
    let rt = scope.rt();
    let doc = definition_doc(scope, of, "exception");
    let name = ident(&scope.plan.place_of(of.id).name);
    let fields = fields(members);
    let declared = declared_fields(scope, members, &fields);
    let (encode, decode) = (encode_members(scope, members, &fields), decode_members(scope, members, &fields));
    let (result, str, ok) = (scope.std("Result"), scope.std("str"), scope.std("Ok"));
    let id = &of.repository_id;
    let (default, written_default) = default_of(scope, &name, members, &fields, &[]);
    let default = default.map(|it| quote!(, #it));
    let (to_name, from_name) =
        if members.is_empty() { (quote!(_), quote!(_)) } else { (quote!(to), quote!(from)) };
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq #default)]
        pub struct #name { #declared }

        #written_default

        impl #rt::ExceptionType for #name {
            const ID: &'static #str = #id;
        }

        impl #rt::Encode for #name {
            fn encode<'a>(&'a self, #to_name: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #encode
            }
        }

        impl #rt::Decode for #name {
            fn decode(#from_name: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #ok(Self { #decode })
            }
        }

        impl ::core::fmt::Display for #name {
            fn fmt(&self, to: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #rt::exception_text(self, to)
            }
        }

        impl ::core::error::Error for #name {}

        impl #rt::IntoException for #name {
            fn into_exception(self) -> #rt::Exception { #rt::exception(self) }
        }
    }
}

/// The Rust names of members.
pub(crate) fn fields(members: &[Member]) -> Vec<proc_macro2::Ident> {
    let mut names = Names::default();
    members.iter().map(|it| ident(&names.declare(&it.name))).collect()
}

pub(crate) fn declared_fields(
    scope: &Scope<'_>,
    members: &[Member],
    fields: &[proc_macro2::Ident],
) -> TokenStream {
    let docs = members.iter().map(|it| member_doc(scope, it));
    let types = members.iter().map(|it| scope.ty(&it.ty));
    quote!(#(#docs pub #fields: #types,)*)
}

pub(crate) fn encode_members(
    scope: &Scope<'_>,
    members: &[Member],
    fields: &[proc_macro2::Ident],
) -> TokenStream {
    in_turn(scope, members.iter().zip(fields).map(|(it, field)| scope.encode(&it.ty, quote!(&self.#field))))
}

/// A method that shares large members with a message that outlives the value, where there are any that can be shared.
fn encode_owned(scope: &Scope<'_>, members: &[Member], fields: &[proc_macro2::Ident]) -> TokenStream {
    let shared = |it: &Member| {
        matches!(scope.plan.model.resolve_alias(&it.ty), Type::Sequence { element, .. }
            if scope.plan.layouts.is_element(element))
    };
    if !members.iter().any(shared) {
        return TokenStream::new();
    }
    let (rt, result) = (scope.rt(), scope.std("Result"));
    let body = members.iter().zip(fields).map(|(it, field)| scope.encode_owned(&it.ty, quote!(&self.#field)));
    let body = in_turn(scope, body);
    quote! {
        fn encode_owned(self, to: &mut #rt::Encoder<'static>) -> #result<(), #rt::EncodeError> {
            #body
        }
    }
}

/// Fallible expressions one after another; the last is the result.
pub(crate) fn in_turn(scope: &Scope<'_>, steps: impl Iterator<Item = TokenStream>) -> TokenStream {
    let steps: Vec<TokenStream> = steps.collect();
    match steps.split_last() {
        Some((last, steps)) => quote!(#(#steps?;)* #last),
        None => {
            let ok = scope.std("Ok");
            quote!(#ok(()))
        }
    }
}

pub(crate) fn decode_members(
    scope: &Scope<'_>,
    members: &[Member],
    fields: &[proc_macro2::Ident],
) -> TokenStream {
    let values = members.iter().map(|it| scope.decode_member(&it.ty, &it.name));
    quote!(#(#fields: #values?,)*)
}

/// The fewest octets of a value, for `Decode::MIN_SIZE`.
pub(crate) fn least_size(plan: &Plan<'_>, id: DefinitionId) -> Literal {
    Literal::u32_unsuffixed(plan.model.minimum_size(&Type::Named(id)))
}

pub(crate) fn definition_doc(scope: &Scope<'_>, of: &Definition, kind: &str) -> TokenStream {
    doc(&of.doc, &of_kind(scope, of, kind), &[])
}

/// What to say of a definition without a comment.
pub(crate) fn of_kind(scope: &Scope<'_>, of: &Definition, kind: &str) -> String {
    format!("IDL {kind} `{}`.", scope.plan.model.scoped_name(of.id))
}

pub(crate) fn member_doc(scope: &Scope<'_>, it: &Member) -> TokenStream {
    doc(&it.doc, &format!("`{}`, in IDL `{}`.", it.name, type_text(scope.plan.model, &it.ty)), &[])
}

/// The Rust type implements `Eq` and `Hash`: there is no floating point in it, no reference, any, TypeCode or union.
/// `within` holds the structs on the way, so that recursion ends.
fn has_total_equality(plan: &Plan<'_>, ty: &Type, within: &mut Vec<DefinitionId>) -> bool {
    match plan.model.resolve_alias(ty) {
        Type::Float | Type::Double | Type::Object | Type::Any | Type::TypeCode => false,
        Type::Sequence { element, .. } | Type::Array { element, .. } => {
            has_total_equality(plan, element, within)
        }
        Type::Map { value, .. } => has_total_equality(plan, value, within),
        Type::Named(id) => match &plan.model.definition(*id).kind {
            DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_) | DefinitionKind::Bitset(_) => true,
            DefinitionKind::Struct(_) if within.contains(id) => true,
            DefinitionKind::Struct(it) => {
                within.push(*id);
                it.members.iter().all(|it| has_total_equality(plan, &it.ty, within))
            }
            _ => false,
        },
        _ => true,
    }
}

/// The Rust type has a default, perhaps one that is written out: there is no union in it.
pub(crate) fn has_default(plan: &Plan<'_>, ty: &Type) -> bool {
    match plan.model.resolve_alias(ty) {
        Type::Array { element, .. } => has_default(plan, element),
        Type::Named(id) => match &plan.model.definition(*id).kind {
            DefinitionKind::Enum(_)
            | DefinitionKind::Interface(_)
            | DefinitionKind::ValueType(_)
            | DefinitionKind::ValueBox(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_) => true,
            DefinitionKind::Struct(it) => it.members.iter().all(|it| has_default(plan, &it.ty)),
            _ => false,
        },
        _ => true,
    }
}

/// The standard library has defaults of arrays of up to 32 elements only.
pub(crate) fn has_long_array(plan: &Plan<'_>, ty: &Type) -> bool {
    match plan.model.resolve_alias(ty) {
        Type::Array { element, dimensions } => {
            dimensions.iter().any(|count| *count > 32) || has_long_array(plan, element)
        }
        _ => false,
    }
}

/// How a struct or exception has its default: derived (the first), or written out (the second).
fn default_of(
    scope: &Scope<'_>,
    name: &proc_macro2::Ident,
    members: &[Member],
    fields: &[proc_macro2::Ident],
    padding: &[proc_macro2::Ident],
) -> (Option<TokenStream>, TokenStream) {
    if !members.iter().all(|it| has_default(scope.plan, &it.ty)) {
        return (None, TokenStream::new());
    }
    if !members.iter().any(|it| has_long_array(scope.plan, &it.ty)) {
        return (Some(quote!(Default)), TokenStream::new());
    }
    let (rt, trait_name) = (scope.rt(), scope.std("Default"));
    let values = members.iter().map(|it| default_value(scope, &it.ty));
    let written = quote! {
        impl #trait_name for #name {
            fn default() -> Self {
                Self { #(#fields: #values,)* #(#padding: #rt::cdr::Padding::ZERO,)* }
            }
        }
    };
    (None, written)
}

fn default_value(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    let trait_name = scope.std("Default");
    match scope.plan.model.resolve_alias(ty) {
        Type::Array { element, dimensions } if has_long_array(scope.plan, ty) => dimensions
            .iter()
            .fold(default_value(scope, element), |value, _| quote!(::core::array::from_fn(|_| #value))),
        _ => quote!(#trait_name::default()),
    }
}
