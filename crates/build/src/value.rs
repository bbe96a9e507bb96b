//! Valuetypes and boxed values: a struct of the state each, and how it travels.
//!
//! Operations, attributes and initializers of a valuetype are not mapped, nor what it supports: they do not travel.

use proc_macro2::TokenStream;
use quote::quote;
use zorb_idl::model::{
    Definition, DefinitionId, DefinitionKind, Member, Type, ValueBox, ValueFlavor, ValueType,
};

use crate::docs::doc;
use crate::items::{
    declared_fields, decode_members, definition_doc, encode_members, has_default, has_long_array, of_kind,
};
use crate::names::{Names, ident};
use crate::plan::Plan;
use crate::scope::Scope;

/// `valuetype` with state.
pub(crate) fn value_type(scope: &Scope<'_>, of: &Definition, it: &ValueType) -> TokenStream {
    let rt = scope.rt();
    let mut more = Vec::new();
    if !it.features.is_empty() || !it.factories.is_empty() || !it.supports.is_empty() {
        more.push("This is its state; what can be called on it in IDL is not mapped.".to_owned());
    }
    let doc = doc(&of.doc, &of_kind(scope, of, "valuetype"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    let members = members(it);
    let mut names = Names::default();
    let fields: Vec<_> = members.iter().map(|it| ident(&names.declare(&it.name))).collect();
    let declared = declared_fields(scope, &members, &fields);
    let base = it.bases.first().map(|base| (ident(&names.derive("base".to_owned())), scope.item(*base)));
    let (result, ok, option) = (scope.std("Result"), scope.std("Ok"), scope.std("Option"));
    let (some, default) = (scope.std("Some"), scope.std("Default"));
    let default = has_default_state(scope.plan, of.id).then(|| quote!(, #default));
    let declared_base =
        base.as_ref().map(|(field, ty)| quote!(#[doc = " What it inherits."] pub #field: #ty,));
    let base_info = match &base {
        Some((_, ty)) => quote!(#some(<#ty as #rt::ValueType>::info)),
        None => scope.std("None"),
    };
    let its_base = base
        .as_ref()
        .map(|(field, _)| quote!(fn base(&self) -> #option<&dyn #rt::State> { #some(&self.#field) }));
    let encode_base =
        base.as_ref().map(|(field, _)| quote!(#rt::ValueType::encode_state(&self.#field, to)?;));
    let decode_base = base.as_ref().map(|(field, _)| quote!(#field: #rt::ValueType::decode_state(from)?,));
    let (encode, decode) =
        (encode_members(scope, &members, &fields), decode_members(scope, &members, &fields));
    let unused = (base.is_none() && members.is_empty()).then(|| (quote!(let _ = to;), quote!(let _ = from;)));
    let (to, from) = unused.unzip();
    let (id, truncatable) = (&of.repository_id, it.truncatable);
    let derived = derived(scope.plan, of.id).map(|it| {
        let ty = scope.item(it);
        quote!(<#ty as #rt::ValueType>::info)
    });
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq #default)]
        pub struct #name { #declared_base #declared }

        impl #rt::ValueType for #name {
            fn info() -> &'static #rt::ValueInfo {
                static INFO: #rt::ValueInfo =
                    #rt::ValueInfo::new::<#name>(#id, #base_info, #truncatable, &[#(#derived),*]);
                &INFO
            }

            #its_base

            fn encode_state<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #to
                #encode_base
                #encode
            }

            fn decode_state(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #from
                #ok(Self { #decode_base #decode })
            }
        }
    }
}

/// A boxed value: a value of the type that may be null.
pub(crate) fn value_box(scope: &Scope<'_>, of: &Definition, it: &ValueBox) -> TokenStream {
    let (rt, name) = (scope.rt(), ident(&scope.plan.place_of(of.id).name));
    let doc = definition_doc(scope, of, "valuetype");
    let (ty, id, none) = (scope.ty(&it.ty), &of.repository_id, scope.std("None"));
    let (result, ok) = (scope.std("Result"), scope.std("Ok"));
    let default = has_derived_default(scope.plan, &it.ty).then(|| {
        let default = scope.std("Default");
        quote!(, #default)
    });
    let (encode, decode) = (scope.encode(&it.ty, quote!(&self.0)), scope.decode(&it.ty));
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq #default)]
        pub struct #name(#[doc = " What is in the box."] pub #ty);

        impl #rt::ValueType for #name {
            fn info() -> &'static #rt::ValueInfo {
                static INFO: #rt::ValueInfo = #rt::ValueInfo::new::<#name>(#id, #none, false, &[]);
                &INFO
            }

            fn encode_state<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #encode
            }

            fn decode_state(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #ok(Self(#decode?))
            }
        }
    }
}

fn members(it: &ValueType) -> Vec<Member> {
    let member = |it: &zorb_idl::model::StateMember| Member {
        name: it.name.clone(),
        ty: it.ty.clone(),
        annotations: it.annotations.clone(),
        doc: it.doc.clone(),
        span: it.span,
    };
    it.state.iter().map(member).collect()
}

/// The valuetypes of our own that inherit from it directly: who reads one of it may find one of these.
fn derived<'p>(plan: &'p Plan<'_>, id: DefinitionId) -> impl Iterator<Item = DefinitionId> + 'p {
    plan.model.definitions().iter().filter_map(move |of| match &of.kind {
        DefinitionKind::ValueType(it) if it.flavor == ValueFlavor::Plain && plan.is_own(of.id) => {
            (it.bases.first() == Some(&id)).then_some(of.id)
        }
        _ => None,
    })
}

fn has_derived_default(plan: &Plan<'_>, ty: &Type) -> bool {
    has_default(plan, ty) && !has_long_array(plan, ty)
}

fn has_default_state(plan: &Plan<'_>, id: DefinitionId) -> bool {
    match &plan.model.definition(id).kind {
        DefinitionKind::ValueType(it) => {
            it.state.iter().all(|it| has_derived_default(plan, &it.ty))
                && it.bases.first().is_none_or(|base| has_default_state(plan, *base))
        }
        _ => false,
    }
}
