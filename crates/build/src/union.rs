//! `union`: an enum whose variant is the discriminator.
//!
//! A variant that only one discriminator value selects holds the member alone; where several do (an arm with several
//! labels, the default arm, the state without a member) the variant holds the value that was sent as well, so that
//! what is received and sent on leaves as it came.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use zorb_idl::model::{Arm, Definition, DefinitionKind, Type, Union, Value};

use crate::docs::doc;
use crate::idl_text::type_text;
use crate::items::{least_size, of_kind, value};
use crate::names::{Names, ident};
use crate::scope::Scope;

pub(crate) fn union(scope: &Scope<'_>, of: &Definition, union: &Union) -> TokenStream {
    let rt = scope.rt();
    let (result, ok, usize) = (scope.std("Result"), scope.std("Ok"), scope.std("usize"));
    let name = ident(&scope.plan.place_of(of.id).name);
    let doc = doc(&of.doc, &of_kind(scope, of, "union"), &[]);
    let mut names = Names::default();
    let variants: Vec<Ident> = union.arms.iter().map(|arm| ident(&names.declare(&arm.name))).collect();
    let unset = union.implicit_default().map(|_| ident(&names.derive("Default".to_owned())));
    let label_type = scope.ty(&union.discriminator);

    let declared = union.arms.iter().zip(&variants).map(|(arm, variant)| {
        let (doc, ty) = (arm_doc(scope, arm), scope.ty(&arm.ty));
        if selected_by_one(arm) {
            quote!(#doc #variant(#ty))
        } else {
            quote!(#doc #variant(#label_type, #ty))
        }
    });
    let declared_unset = unset.iter().map(|variant| {
        quote!(#[doc = " No member: the discriminator has a value that no label names."] #variant(#label_type))
    });

    let encoded = union.arms.iter().zip(&variants).map(|(arm, variant)| {
        let member = scope.encode(&arm.ty, quote!(value));
        if selected_by_one(arm) {
            let label = value(scope, &arm.labels[0]);
            // With the type: a bare literal would be an `i32`.
            return quote!(Self::#variant(value) => { #rt::encode::<#label_type>(&#label, to)?; #member });
        }
        let check = check(scope, union, arm, &format!("{}::{variant}", of.name));
        let label = scope.encode(&union.discriminator, quote!(label));
        quote!(Self::#variant(label, value) => { #check #label?; #member })
    });
    let encoded_unset = unset.iter().map(|variant| {
        let check = label_check(scope, &all_labels(union), true, &format!("{}::{variant}", of.name));
        let label = scope.encode(&union.discriminator, quote!(label));
        quote!(Self::#variant(label) => { #check #label })
    });

    // The default arm is read last, since its pattern takes all that is left.
    let (defaults, labelled): (Vec<_>, Vec<_>) =
        union.arms.iter().zip(&variants).partition(|(arm, _)| arm.is_default);
    let decoded = labelled.into_iter().map(|(arm, variant)| {
        let labels = arm.labels.iter().map(|label| value(scope, label));
        let member = scope.decode_member(&arm.ty, &arm.name);
        if selected_by_one(arm) {
            quote!(#(#labels)|* => Self::#variant(#member?))
        } else {
            quote!(label @ (#(#labels)|*) => Self::#variant(label, #member?))
        }
    });
    let decoded_default = defaults.into_iter().map(|(arm, variant)| {
        let member = scope.decode_member(&arm.ty, &arm.name);
        quote!(label => Self::#variant(label, #member?))
    });
    let decoded_unset = unset.iter().map(|variant| quote!(label => Self::#variant(label)));
    let label = scope.decode_typed(&union.discriminator);
    let decode = quote! {
        #ok(match #label? {
            #(#decoded,)*
            #(#decoded_default,)*
            #(#decoded_unset,)*
        })
    };
    let decode =
        if scope.plan.model.is_recursive(of.id) { quote!(from.nested(|from| #decode)) } else { decode };
    let least = least_size(scope.plan, of.id);

    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq)]
        pub enum #name { #(#declared,)* #(#declared_unset,)* }

        impl #rt::Encode for #name {
            fn encode<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                match self { #(#encoded,)* #(#encoded_unset,)* }
            }
        }

        impl #rt::Decode for #name {
            const MIN_SIZE: #usize = #least;

            fn decode(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                #decode
            }
        }
    }
}

/// Only one value of the discriminator selects the arm.
fn selected_by_one(arm: &Arm) -> bool {
    !arm.is_default && arm.labels.len() == 1
}

fn all_labels(union: &Union) -> Vec<&Value> {
    union.arms.iter().flat_map(|arm| &arm.labels).collect()
}

/// A statement that refuses a label that does not select the arm; nothing where every value does.
fn check(scope: &Scope<'_>, union: &Union, arm: &Arm, what: &str) -> TokenStream {
    if arm.is_default {
        let others = union.arms.iter().filter(|it| !it.is_default).flat_map(|it| &it.labels);
        return label_check(scope, &others.collect::<Vec<_>>(), true, what);
    }
    let values = match scope.plan.model.resolve_alias(&union.discriminator) {
        Type::Boolean => 2,
        Type::Named(id) => match &scope.plan.model.definition(*id).kind {
            DefinitionKind::Enum(it) => it.enumerators.len(),
            _ => 0,
        },
        Type::Char | Type::Octet | Type::Int8 | Type::UInt8 => 256,
        _ => 0,
    };
    if arm.labels.len() == values {
        return TokenStream::new();
    }
    label_check(scope, &arm.labels.iter().collect::<Vec<_>>(), false, what)
}

fn label_check(scope: &Scope<'_>, labels: &[&Value], but: bool, what: &str) -> TokenStream {
    if labels.is_empty() {
        return TokenStream::new();
    }
    let rt = scope.rt();
    if let [Value::Boolean(value)] = labels {
        let not = (*value == but).then(|| quote!(!));
        return quote!(#rt::check_label(#not *label, #what)?;);
    }
    let labels = labels.iter().map(|label| value(scope, label));
    let not = but.then(|| quote!(!));
    quote!(#rt::check_label(#not matches!(label, #(#labels)|*), #what)?;)
}

fn arm_doc(scope: &Scope<'_>, arm: &Arm) -> TokenStream {
    let text = type_text(scope.plan.model, &arm.ty);
    doc(&arm.doc, &format!("`{}`, in IDL `{text}`.", arm.name), &[])
}
