//! The methods that receive a bulk result into memory of the caller's: `read_into` beside `read`.
//!
//! They are there for calls whose results have a sequence of elements among them: the first such sequence goes into the slice, and the method
//! gives the number of its elements in its place.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use zorb_idl::model::{DefinitionId, DefinitionKind, Type};

use super::client::{Passed, passed};
use super::server::bound_of;
use super::{Call, Passing, element_type, passing};
use crate::names::{Names, ident};
use crate::scope::{Scope, WIDEST_TUPLE};

/// One for each call that has a bulk result. `names` are those of the methods and their twins, in order.
pub(super) fn methods(
    scope: &Scope<'_>,
    interface: DefinitionId,
    calls: &[Call<'_>],
    names: &[(String, String)],
    taken: &mut Names,
) -> Vec<TokenStream> {
    let calls = calls.iter().zip(names);
    calls.filter_map(|(call, (method, _))| own(scope, interface, call, method, taken)).collect()
}

fn own(
    scope: &Scope<'_>,
    interface: DefinitionId,
    call: &Call<'_>,
    method: &str,
    taken: &mut Names,
) -> Option<TokenStream> {
    let received = call.received();
    if received.len() > WIDEST_TUPLE {
        return None;
    }
    let at = received.iter().position(|(_, ty)| passing(scope, ty) == Passing::Run)?;
    let (spelt, bulk) = received[at];
    let rt = scope.rt();
    let (result, usize) = (scope.std("Result"), scope.std("usize"));
    let name = ident(&taken.derive(format!("{method}_into")));
    let into = ident(&{
        let mut names = scope.plan.beside_parameters(&scope.module);
        call.sent().for_each(|it| names.avoid(&it.name.to_string()));
        names.derive("into".to_owned())
    });
    let types: Vec<&Type> = received.iter().map(|(_, ty)| *ty).collect();
    let (before, after) = (&types[..at], &types[at + 1..]);
    let element = element_type(scope, bulk);
    let bound = bound_of(scope, bulk);
    let values: Vec<Ident> =
        (0..types.len()).map(|at| Ident::new(&format!("_{at}"), Span::call_site())).collect();
    let (values_before, values_after) = (&values[..at], &values[at + 1..]);
    let all = together(values.iter().map(|value| quote!(#value)).collect());
    let output = call.output(scope);
    let first = together(values_before.iter().map(|value| quote!(#value)).collect());
    let last = together(values_after.iter().map(|value| quote!(#value)).collect());
    let sequence = &values[at];
    let counts =
        (0..types.len()).map(|index| if index == at { usize.clone() } else { scope.ty(types[index]) });
    let counts = together(counts.collect());
    let (read_before, read_after) = (reader(scope, before), reader(scope, after));
    let Passed { operation, direct, lent, .. } = passed(scope, call);
    let names: Vec<_> = call.sent().map(|it| &it.name).collect();
    let borrowed = call.sent().map(|it| it.stub_type(scope));
    let error = call.error(scope);
    let object = if call.owner == interface {
        quote!(self)
    } else {
        let base = scope.item(call.owner);
        quote!(&#rt::upcast::<_, #base>(self))
    };
    let received = match (types.len(), &bound) {
        (1, None) => quote!(#rt::receive_into(#object, #operation, #direct, #lent, #into)),
        _ => {
            let bound = bound.map_or_else(|| quote!(#rt::wire::UNBOUNDED), |bound| quote!(#bound));
            // One before it and one behind it are in order as they are.
            let is_in_order = (before.len(), after.len()) == (1, 1);
            let in_order = (!is_in_order).then(|| quote!(.map(|(#first, #sequence, #last)| #all)));
            quote! {
                #rt::invoke_into(
                    #object,
                    #operation,
                    #direct,
                    #lent,
                    #into,
                    &#rt::parts(#read_before, #read_after, #bound),
                    |#all: #output| (#first, #sequence, #last),
                )#in_order
            }
        }
    };
    let of_what = if types.len() == 1 { String::new() } else { format!("`{spelt}` ") };
    let docs = format!(" [`{method}`](Self::{method}), {of_what}received into `{into}`: how many elements.");
    Some(quote! {
        #[doc = #docs]
        pub fn #name(&self #(, #names: #borrowed)*, #into: &mut [#element]) -> #result<#counts, #error> { #received }
    })
}

/// How a result is read that has structs among it which tile, and where they are: the first bulk of it is a sequence of structs.
pub(super) fn in_phase(scope: &Scope<'_>, call: &Call<'_>) -> Option<(TokenStream, TokenStream)> {
    let (rt, types) = (scope.rt(), call.received_types());
    let at = types.iter().position(|ty| passing(scope, ty) == Passing::Run)?;
    let model = scope.plan.model;
    let Type::Sequence { element, .. } = model.resolve_alias(types[at]) else { return None };
    let Type::Named(id) = model.resolve_alias(element) else { return None };
    if !matches!(model.definition(*id).kind, DefinitionKind::Struct(_)) || types.len() > WIDEST_TUPLE {
        return None;
    }
    let (element, before) = (scope.ty(element), pass(scope, &types[..at]));
    Some((reader(scope, &types), quote!(#rt::in_phase::<#element>(#before))))
}

/// What reads values of these types for what stands behind them.
fn pass(scope: &Scope<'_>, types: &[&Type]) -> TokenStream {
    let rt = scope.rt();
    let held = together(types.iter().map(|ty| scope.ty(ty)).collect());
    match scope.tuple_codec(types) {
        None => quote!(#rt::pass::<#held>),
        Some(codec) => quote!(#rt::pass_as::<#codec, #held>),
    }
}

/// What reads values of these types.
fn reader(scope: &Scope<'_>, types: &[&Type]) -> TokenStream {
    let rt = scope.rt();
    let held = together(types.iter().map(|ty| scope.ty(ty)).collect());
    match scope.tuple_codec(types) {
        None => quote!(#rt::decode::<#held>),
        Some(codec) => quote!(#rt::decode_as::<#codec, #held>),
    }
}

/// One of them alone, or a tuple.
fn together(parts: Vec<TokenStream>) -> TokenStream {
    match parts.as_slice() {
        [one] => one.clone(),
        _ => quote!((#(#parts),*)),
    }
}
