//! What can be called on values: a trait of a valuetype's operations and attributes, and one of its initializers, which programs implement on
//! the state. Nothing of it travels.

use quote::quote;
use zorb_idl::model::{Definition, DefinitionId, ValueType};

use super::errors;
use super::local::{faces, supertraits, traits};
use super::{Call, arguments};
use crate::docs::doc;
use crate::generate::Tree;
use crate::names::ident;
use crate::plan::{CallNames, Plan, supported};
use crate::scope::Scope;

/// Adds the traits of a valuetype that has more than state.
pub(crate) fn callable(plan: &Plan<'_>, of: &Definition, it: &ValueType, tree: &mut Tree) {
    let place = plan.place_of(of.id);
    let (Some(names), Some(inner)) = (&place.value, &place.inner) else { return };
    let scope = Scope::of(plan, of.id);
    let inner = scope.inner(inner);
    for face in faces(&inner, of.id, &supported(plan.model, it), "values that support it") {
        tree.at(&inner.module).item(face);
    }
    for error in &names.errors {
        tree.at(&inner.module).item(errors::error(&inner, error));
    }
    let scoped = plan.model.scoped_name(of.id);
    if let Some(operations) = &names.operations {
        let calls: Vec<Call<'_>> = names.calls.iter().map(|it| Call::new(&scope, of.id, it)).collect();
        let bases = it.bases.iter().filter_map(|base| Some((*base, plan.value_operations(*base)?)));
        let mut above: Vec<_> = bases.map(|(base, name)| scope.beside(base, name)).collect();
        above.extend(supertraits(&scope, of.id, &it.supports));
        let text = format!("What can be called on values of IDL valuetype `{scoped}`.");
        let more = ["To be implemented on the state: it runs where the value is.".to_owned()];
        let item = traits(&scope, &doc("", &text, &more), &ident(operations), &above, &calls);
        tree.at(&scope.module).item(item);
    }
    if let Some(factory) = &names.factory {
        let makers: Vec<Call<'_>> =
            names.factories.iter().map(|names| maker(&scope, of.id, it, names)).collect();
        let (rt, result, value) = (scope.rt(), scope.std("Result"), scope.item(of.id));
        let functions = makers.iter().map(|call| {
            let (doc, method, error) = (call.doc(), call.method(), call.error(&scope));
            let arguments = call.sent().map(|it| &it.name);
            let types = call.sent().map(|it| it.servant_type(&scope));
            quote! {
                #doc
                fn #method(#(#arguments: #types),*) -> #result<#rt::Value<#value>, #error>;
            }
        });
        let text = format!("The initializers of IDL valuetype `{scoped}`.");
        let doc = doc("", &text, &["To be implemented on the state.".to_owned()]);
        let name = ident(factory);
        tree.at(&scope.module).item(quote! {
            #doc
            pub trait #name { #(#functions)* }
        });
    }
}

/// An initializer. What it gives is a value of its type, which its caller knows.
fn maker<'m>(scope: &Scope<'m>, owner: DefinitionId, it: &'m ValueType, names: &'m CallNames) -> Call<'m> {
    let plan = scope.plan;
    let factory = &it.factories[names.feature];
    Call {
        owner,
        names,
        wire: factory.name.clone(),
        oneway: false,
        returns: None,
        parameters: arguments(plan.beside_parameters(&scope.module), &factory.parameters, &[]),
        comment: &factory.doc,
        what: format!("IDL initializer `{}::{}`.", plan.model.scoped_name(owner), factory.name),
    }
}
