//! Valuetypes and boxed values: a struct of the state each, and how it travels.
//!
//! Its operations, attributes and initializers, which do not travel, are in `interface::callable`.

use proc_macro2::TokenStream;
use quote::quote;
use zorb_idl::model::{
    Definition, DefinitionId, DefinitionKind, Member, Model, Type, ValueBox, ValueFlavor, ValueType,
};

use crate::docs::doc;
use crate::items::{
    declared_fields, decode_members, definition_doc, encode_members, has_default, has_long_array, of_kind,
};
use crate::names::{Names, ident};
use crate::plan::Plan;
use crate::scope::{Scope, is_abstract};

/// `valuetype`.
pub(crate) fn value_type(scope: &Scope<'_>, of: &Definition, it: &ValueType) -> TokenStream {
    match it.flavor {
        ValueFlavor::Abstract => abstract_value(scope, of, it),
        ValueFlavor::Plain | ValueFlavor::Custom => stateful(scope, of, it),
    }
}

/// One with state.
fn stateful(scope: &Scope<'_>, of: &Definition, it: &ValueType) -> TokenStream {
    let rt = scope.rt();
    let is_custom = it.flavor == ValueFlavor::Custom;
    let mut more = Vec::new();
    more.extend(more_than_state(scope, of));
    if is_custom {
        more.push("How it travels is for its `CustomMarshal` to say, which you implement.".to_owned());
    }
    let doc =
        doc(&of.doc, &of_kind(scope, of, if is_custom { "custom valuetype" } else { "valuetype" }), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    let members = members(it);
    let mut names = Names::default();
    let fields: Vec<_> = members.iter().map(|it| ident(&names.declare(&it.name))).collect();
    let declared = declared_fields(scope, &members, &fields);
    let base = concrete_base(scope.plan.model, it)
        .map(|base| (ident(&names.derive("base".to_owned())), scope.item(base)));
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
    let derived = derived(scope, of.id);
    let others = abstract_bases(scope, it);
    let with_others = (!others.is_empty()).then(|| quote!(.with_abstract(&[#(#others),*])));
    let custom = is_custom.then(|| quote!(.custom()));
    let encode = quote!(#to #encode_base #encode);
    let decode = quote!(#from #ok(Self { #decode_base #decode }));
    let (members_of_custom, encode, decode) = if is_custom {
        let methods = quote! {
            impl #name {
                /// Writes what the IDL declares, the base's first: for use by its `CustomMarshal`.
                pub fn encode_members<'a>(
                    &'a self,
                    to: &mut #rt::Encoder<'a>,
                ) -> #result<(), #rt::EncodeError> {
                    #encode
                }

                /// Reads what `encode_members` writes.
                pub fn decode_members(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                    #decode
                }
            }
        };
        let marshal = quote!(<Self as #rt::CustomMarshal>);
        (Some(methods), quote!(#marshal::marshal(self, to)), quote!(#marshal::unmarshal(from)))
    } else {
        (None, encode, decode)
    };
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq #default)]
        pub struct #name { #declared_base #declared }

        #members_of_custom

        impl #rt::ValueType for #name {
            fn info() -> &'static #rt::ValueInfo {
                static INFO: #rt::ValueInfo =
                    #rt::ValueInfo::new::<#name>(#id, #base_info, #truncatable, &[#(#derived),*])
                        #with_others #custom;
                &INFO
            }

            #its_base

            fn encode_state<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #encode
            }

            fn decode_state(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #decode
            }
        }
    }
}

/// Where what can be called on it is.
fn more_than_state(scope: &Scope<'_>, of: &Definition) -> Option<String> {
    let names = scope.plan.place_of(of.id).value.as_ref()?;
    let traits: Vec<String> =
        names.operations.iter().chain(&names.factory).map(|name| format!("[`{name}`]")).collect();
    Some(format!("What can be called on it: {}.", traits.join(" and ")))
}

/// `abstract valuetype`: a type without state, which those derived from it have.
fn abstract_value(scope: &Scope<'_>, of: &Definition, it: &ValueType) -> TokenStream {
    let rt = scope.rt();
    let mut more = vec!["It has no state; `Value::cast` gives a value as what it is.".to_owned()];
    more.extend(more_than_state(scope, of));
    let doc = doc(&of.doc, &of_kind(scope, of, "abstract valuetype"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    let (result, ok, option, some) =
        (scope.std("Result"), scope.std("Ok"), scope.std("Option"), scope.std("Some"));
    let (default, info) = (scope.std("Default"), abstract_info(scope, of, &abstract_bases(scope, it)));
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, #default)]
        pub struct #name {}

        impl #rt::ValueType for #name {
            fn info() -> &'static #rt::ValueInfo { #info }

            fn stateless() -> #option<&'static Self> { #some(&Self {}) }

            fn encode_state<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                let _ = to;
                #ok(())
            }

            fn decode_state(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                let _ = from;
                #ok(Self {})
            }
        }
    }
}

/// What an abstract interface is to values that support it.
pub(crate) fn abstract_interface(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let rt = scope.rt();
    let name = ident(&scope.plan.place_of(of.id).name);
    let bases: Vec<_> = scope.plan.model.bases(of.id).iter().map(|base| info_of(scope, *base)).collect();
    let info = abstract_info(scope, of, &bases);
    quote! {
        impl #rt::AbstractInterface for #name {
            fn info() -> &'static #rt::ValueInfo { #info }
        }
    }
}

fn abstract_info(scope: &Scope<'_>, of: &Definition, bases: &[TokenStream]) -> TokenStream {
    let (rt, id) = (scope.rt(), &of.repository_id);
    let derived = derived(scope, of.id);
    let with_bases = (!bases.is_empty()).then(|| quote!(.with_abstract(&[#(#bases),*])));
    quote! {
        static INFO: #rt::ValueInfo = #rt::ValueInfo::of_abstract(#id, &[#(#derived),*]) #with_bases;
        &INFO
    }
}

/// The function that gives what is known of a valuetype or an abstract interface.
fn info_of(scope: &Scope<'_>, id: DefinitionId) -> TokenStream {
    let (rt, ty) = (scope.rt(), scope.item(id));
    match &scope.plan.model.definition(id).kind {
        DefinitionKind::Interface(_) => quote!(<#ty as #rt::AbstractInterface>::info),
        _ => quote!(<#ty as #rt::ValueType>::info),
    }
}

/// What a value has its first state from.
pub(crate) fn concrete_base(model: &Model, it: &ValueType) -> Option<DefinitionId> {
    let first = *it.bases.first()?;
    match &model.definition(first).kind {
        DefinitionKind::ValueType(base) if base.flavor == ValueFlavor::Abstract => None,
        _ => Some(first),
    }
}

/// The abstract valuetypes that it is derived from, and the abstract interfaces that it supports, as such or as bases of others.
fn abstract_bases(scope: &Scope<'_>, it: &ValueType) -> Vec<TokenStream> {
    let model = scope.plan.model;
    let concrete = concrete_base(model, it);
    let values = it.bases.iter().copied().filter(|base| Some(*base) != concrete);
    values.chain(supported(model, it)).map(|base| info_of(scope, base)).collect()
}

/// The nearest abstract interfaces on each way up from what it supports.
fn supported(model: &Model, it: &ValueType) -> Vec<DefinitionId> {
    let mut found = Vec::new();
    let mut pending = it.supports.clone();
    while let Some(next) = pending.pop() {
        if !is_abstract(model, next) {
            pending.extend(model.bases(next));
        } else if !found.contains(&next) {
            found.push(next);
        }
    }
    found
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

/// Those of our own that inherit from it or support it directly: who reads one of it may find one of these.
fn derived(scope: &Scope<'_>, id: DefinitionId) -> Vec<TokenStream> {
    let plan = scope.plan;
    let is_derived = |of: &&Definition| match &of.kind {
        _ if !plan.is_own(of.id) => false,
        DefinitionKind::ValueType(it) => it.bases.contains(&id) || supported(plan.model, it).contains(&id),
        DefinitionKind::Interface(it) => is_abstract(plan.model, of.id) && it.bases.contains(&id),
        _ => false,
    };
    plan.model.definitions().iter().filter(is_derived).map(|of| info_of(scope, of.id)).collect()
}

fn has_derived_default(plan: &Plan<'_>, ty: &Type) -> bool {
    has_default(plan, ty) && !has_long_array(plan, ty)
}

fn has_default_state(plan: &Plan<'_>, id: DefinitionId) -> bool {
    match &plan.model.definition(id).kind {
        DefinitionKind::ValueType(it) => {
            it.state.iter().all(|it| has_derived_default(plan, &it.ty))
                && concrete_base(plan.model, it).is_none_or(|base| has_default_state(plan, base))
        }
        _ => false,
    }
}
