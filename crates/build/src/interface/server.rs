//! The server's side: the servant trait, the skeleton functions, and the skeleton that finds the right one.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use zorb_idl::model::Definition;

use super::{Call, Passing, passing, servant_type};
use crate::docs::doc;
use crate::names::ident;
use crate::operations::Table;
use crate::scope::{Scope, together};

/// The trait that implementations provide.
pub(super) fn servant(scope: &Scope<'_>, of: &Definition, calls: &[Call<'_>]) -> TokenStream {
    let plan = scope.plan;
    let rt = scope.rt();
    let result = scope.std("Result");
    let name = ident(&plan.interface(of.id).servant);
    let reference = &plan.place_of(of.id).name;
    let doc = doc("", &format!("What an implementation of [`{reference}`] provides."), &[]);
    let bases =
        plan.model.bases(of.id).iter().map(|base| scope.beside(*base, &plan.interface(*base).servant));
    let methods = calls.iter().map(|call| {
        let (doc, method, output, error) = (call.doc(), call.method(), call.output(scope), call.error(scope));
        let arguments = call.sent().map(|it| &it.name);
        let types = call.sent().map(|it| servant_type(scope, it.ty));
        quote! {
            #doc
            fn #method(&self, context: &#rt::Call #(, #arguments: #types)*) -> #result<#output, #error>;
        }
    });
    let reference = ident(reference);
    quote! {
        impl #rt::Served for #reference { type Servant = dyn #name; }

        #doc
        pub trait #name: #(#bases +)* 'static { #(#methods)* }
    }
}

/// What a request for one operation leads to.
pub(super) fn skeleton(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let rt = scope.rt();
    let (some, sized) = (scope.std("Some"), scope.std("Sized"));
    let servant = scope.beside(call.owner, &scope.plan.interface(call.owner).servant);
    let method = call.method();
    let names_read = together(call.sent().map(|it| it.name.to_token_stream()).collect());
    let read: Vec<_> = call.sent().map(|it| it.ty).collect();
    let read = scope.tuple_decoder(&read, true);
    let passed = call.sent().map(|it| {
        let name = &it.name;
        match passing(scope, it.ty) {
            Passing::Value | Passing::Run | Passing::Reference => quote!(#name),
            Passing::Text | Passing::List | Passing::Borrowed => quote!(&#name),
        }
    });
    let write = scope.tuple_encoder(&call.received_types());
    quote! {
        pub fn #method<S: #servant + ?#sized>(servant: &S, request: #rt::ServerRequest) {
            let #some((request, #names_read)) = request.arguments(#read) else { return };
            let result = #servant::#method(servant, request.call() #(, #passed)*);
            request.finish(result, #write);
        }
    }
}

/// The skeleton: which operation leads to which function.
pub(super) fn dispatch(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let plan = scope.plan;
    let rt = scope.rt();
    let (some, send, sync) = (scope.std("Some"), scope.std("Send"), scope.std("Sync"));
    let own = plan.interface(of.id);
    let (reference, servant, name) =
        (ident(&plan.place_of(of.id).name), ident(&own.servant), ident(&own.skeleton));
    let owners: Vec<_> = std::iter::once(of.id).chain(plan.model.ancestors(of.id)).collect();
    let calls: Vec<Call<'_>> = owners
        .iter()
        .flat_map(|owner| plan.interface(*owner).calls.iter().map(|it| Call::new(plan, *owner, it)))
        .collect();
    let wires: Vec<&str> = calls.iter().map(|call| call.wire.as_str()).collect();
    // More operations than a table can hold were reported.
    let table = Table::of(&wires).unwrap_or(Table { seed: 0, displacements: Vec::new(), slots: Vec::new() });
    let seed = Literal::u64_unsuffixed(table.seed);
    let displacements = table.displacements.iter().map(|it| Literal::u16_unsuffixed(*it));
    let slots = table.slots.iter().map(|it| Literal::u16_unsuffixed(*it));
    let arms = calls.iter().enumerate().map(|(at, call)| {
        let at = Literal::usize_unsuffixed(at);
        let of = plan.interface(call.owner);
        let function = scope.within(call.owner, &[&of.skeleton_module, &call.names.method]);
        quote!(#some(#at) => #function(&*self.servant, request))
    });
    let served = owners.iter().map(|owner| scope.beside(*owner, &plan.interface(*owner).servant));
    let doc = format!(" Serves requests for [`{reference}`] with a servant.");
    quote! {
        #[doc = #doc]
        pub struct #name<S> { servant: ::std::sync::Arc<S> }

        impl<S> #name<S> {
            /// A skeleton for the servant.
            pub fn new(servant: ::std::sync::Arc<S>) -> Self { Self { servant } }
        }

        impl<S: #servant> #rt::Skeleton for #name<S> {
            fn interface(&self) -> &'static #rt::InterfaceInfo { <#reference as #rt::Interface>::INFO }

            fn dispatch(&self, request: #rt::ServerRequest) {
                static OPERATIONS: #rt::Operations = #rt::Operations {
                    seed: #seed,
                    displacements: &[#(#displacements),*],
                    slots: &[#(#slots),*],
                    names: &[#(#wires),*],
                };
                match OPERATIONS.find(request.operation_bytes()) {
                    #(#arms,)*
                    _ => request.unknown_operation(),
                }
            }

            fn offer(&self, slot: &mut dyn ::core::any::Any) {
                let _ = #(#rt::offer::<dyn #served>(slot, || self.servant.clone()))||*;
            }
        }

        impl<S: #servant + #send + #sync> #rt::ServedBy<S> for #reference {
            fn skeleton(servant: ::std::sync::Arc<S>) -> #rt::Servant {
                ::std::sync::Arc::new(#name { servant })
            }
        }
    }
}
