//! `local interface`: a trait, whose objects never leave the program.
//!
//! A local interface may inherit from others. What it so gets from an interface that is not local are the operations, as those of the local
//! one: a trait of them stands in the inner module of the first local interface of the file that inherits from it. Values that support an
//! interface have the same traits.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use zorb_idl::model::{Definition, DefinitionId};

use super::Call;
use crate::docs::doc;
use crate::items::of_kind;
use crate::names::ident;
use crate::scope::{Scope, is_local};

/// The trait. Where the interface stands in IDL, an `Option` of a counted object of the trait does in Rust.
pub(super) fn interface(scope: &Scope<'_>, of: &Definition, calls: &[Call<'_>]) -> TokenStream {
    let more = ["Its objects are called directly, and are never sent.".to_owned()];
    let doc = doc(&of.doc, &of_kind(scope, of, "local interface"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    traits(scope, &doc, &name, &supertraits(scope, of.id, scope.plan.model.bases(of.id)), calls)
}

/// The traits of interfaces among `bases` that are not local, as far as they stand in the inner module of `local`, a local interface or a
/// valuetype; `who` offers what is in them.
pub(super) fn faces(
    inner: &Scope<'_>,
    local: DefinitionId,
    bases: &[DefinitionId],
    who: &str,
) -> Vec<TokenStream> {
    let plan = inner.plan;
    let mut faces = Vec::new();
    for base in bases.iter().copied().filter(|base| !is_local(plan.model, *base)) {
        let (owner, name) = plan.face(local, base);
        if owner == local {
            let text = format!("What {who} offer of IDL interface `{}`.", plan.model.scoped_name(base));
            let calls: Vec<Call<'_>> =
                plan.interface(base).calls.iter().map(|it| Call::new(inner, base, it)).collect();
            let above = supertraits(inner, local, plan.model.bases(base));
            faces.push(traits(inner, &doc("", &text, &[]), &ident(name), &above, &calls));
        }
    }
    faces
}

/// The traits that stand for interfaces, as a local interface or a valuetype has them for bases.
pub(super) fn supertraits(
    scope: &Scope<'_>,
    local: DefinitionId,
    bases: &[DefinitionId],
) -> Vec<TokenStream> {
    let plan = scope.plan;
    let base = |base: &DefinitionId| {
        if is_local(plan.model, *base) {
            return scope.item(*base);
        }
        let (owner, name) = plan.face(local, *base);
        scope.within(owner, &[name])
    };
    bases.iter().map(base).collect()
}

pub(super) fn traits(
    scope: &Scope<'_>,
    doc: &TokenStream,
    name: &Ident,
    bases: &[TokenStream],
    calls: &[Call<'_>],
) -> TokenStream {
    let (result, send, sync) = (scope.std("Result"), scope.std("Send"), scope.std("Sync"));
    let methods = calls.iter().map(|call| {
        let (doc, method, output, error) = (call.doc(), call.method(), call.output(scope), call.error(scope));
        let arguments = call.sent().map(|it| &it.name);
        let types = call.sent().map(|it| it.servant_type(scope));
        quote! {
            #doc
            fn #method(&self #(, #arguments: #types)*) -> #result<#output, #error>;
        }
    });
    quote! {
        #doc
        pub trait #name: #(#bases +)* #send + #sync + 'static { #(#methods)* }
    }
}
