//! The server's side: the servant trait, what each operation does with a request, and what finds the right one.

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
    quote! {
        #doc
        pub trait #name: #(#bases +)* 'static { #(#methods)* }
    }
}

/// What a request for one operation leads to.
pub(super) fn skeleton(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let rt = scope.rt();
    let some = scope.std("Some");
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
        pub fn #method(servant: &dyn #servant, request: #rt::ServerRequest) {
            let #some((request, #names_read)) = request.arguments(#read) else { return };
            let result = #servant::#method(servant, request.call() #(, #passed)*);
            request.finish(result, #write);
        }
    }
}

/// Which operation leads to which function, and what makes an implementation a servant of the interface.
pub(super) fn dispatch(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let plan = scope.plan;
    let rt = scope.rt();
    let (some, bool) = (scope.std("Some"), scope.std("bool"));
    let own = plan.interface(of.id);
    let (reference, servant) = (ident(&plan.place_of(of.id).name), ident(&own.servant));
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
        quote!(#some(#at) => #function(servant, request))
    });
    // No IDL name begins with an underscore.
    let of_type = ident(if plan.is_taken(&scope.module, "S") { "_S" } else { "S" });
    let bases: Vec<TokenStream> = plan.model.bases(of.id).iter().map(|base| scope.item(*base)).collect();
    let offer_to_bases = bases.split_last().map(|(last, others)| {
        quote! {
            fn offer_to_bases(
                servant: ::std::sync::Arc<Self::Servant>,
                slot: &mut dyn ::core::any::Any,
            ) -> #bool {
                #(#rt::offer::<#others>(servant.clone(), slot) ||)* #rt::offer::<#last>(servant, slot)
            }
        }
    });
    quote! {
        impl #rt::Served for #reference {
            type Servant = dyn #servant;

            fn dispatch(servant: &Self::Servant, request: #rt::ServerRequest) {
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

            #offer_to_bases
        }

        impl<#of_type: #servant> #rt::ServedBy<#of_type> for #reference {
            fn lend(servant: &#of_type) -> &Self::Servant { servant }

            fn share(servant: ::std::sync::Arc<#of_type>) -> ::std::sync::Arc<Self::Servant> { servant }
        }
    }
}
