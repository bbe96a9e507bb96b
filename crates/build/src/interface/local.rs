//! `local interface`: a trait, whose objects never leave the program.

use proc_macro2::TokenStream;
use quote::quote;
use zorb_idl::model::Definition;

use super::{Call, servant_type};
use crate::docs::doc;
use crate::items::of_kind;
use crate::names::ident;
use crate::scope::Scope;

/// The trait. Where the interface stands in IDL, an `Option` of a counted object of the trait does in Rust.
pub(super) fn interface(scope: &Scope<'_>, of: &Definition, calls: &[Call<'_>]) -> TokenStream {
    let plan = scope.plan;
    let (result, send, sync) = (scope.std("Result"), scope.std("Send"), scope.std("Sync"));
    let name = ident(&plan.place_of(of.id).name);
    let more = ["Its objects are called directly, and are never sent.".to_owned()];
    let doc = doc(&of.doc, &of_kind(scope, of, "local interface"), &more);
    let bases = plan.model.bases(of.id).iter().map(|base| scope.item(*base));
    let methods = calls.iter().map(|call| {
        let (doc, method, output, error) = (call.doc(), call.method(), call.output(scope), call.error(scope));
        let arguments = call.sent().map(|it| &it.name);
        let types = call.sent().map(|it| servant_type(scope, it.ty));
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
