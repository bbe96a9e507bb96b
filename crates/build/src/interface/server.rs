//! The server's side: the servant trait, and what finds the method that a request is for.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};
use zorb_idl::model::{Definition, Type};

use super::{Argument, Call, Passing, element_type, passing};
use crate::docs::doc;
use crate::names::{Names, ident};
use crate::operations::{Table, number};
use crate::scope::{Scope, together};

/// The trait that implementations provide.
pub(super) fn servant(scope: &Scope<'_>, of: &Definition, calls: &[Call<'_>]) -> TokenStream {
    let plan = scope.plan;
    let rt = scope.rt();
    let (result, send, sync) = (scope.std("Result"), scope.std("Send"), scope.std("Sync"));
    let name = ident(&plan.interface(of.id).servant);
    let reference = &plan.place_of(of.id).name;
    let doc = doc("", &format!("What an implementation of [`{reference}`] provides."), &[]);
    let bases =
        plan.model.bases(of.id).iter().map(|base| scope.beside(*base, &plan.interface(*base).servant));
    let methods = calls.iter().map(|call| {
        let (doc, method, output, error) = (call.doc(), call.method(), call.output(scope), call.error(scope));
        let arguments = call.sent().map(|it| &it.name);
        let types = call.sent().map(|it| it.servant_type(scope));
        if call.is_deferred() {
            return quote! {
                #doc
                ///
                /// Answered by `reply`, now or later, from any thread.
                fn #method(&self, reply: #rt::DeferredReply<#output, #error> #(, #arguments: #types)*);
            };
        }
        quote! {
            #doc
            fn #method(&self, context: &#rt::Call #(, #arguments: #types)*) -> #result<#output, #error>;
        }
    });
    let memory_for = has_bulk(scope, calls).then(|| {
        let (option, method) = (scope.std("Option"), memory_for(calls));
        quote! {
            /// Memory that a bulk argument is to be received into; `None`: the ORB's.
            fn #method(&self, _bulk: &#rt::Bulk<'_>) -> #option<#rt::Deposit> { _bulk.leave_to_orb() }
        }
    });
    quote! {
        #doc
        pub trait #name: #(#bases +)* #send + #sync + 'static { #(#methods)* #memory_for }
    }
}

/// What the method is called that offers memory: it gives way to those of the IDL.
fn memory_for(calls: &[Call<'_>]) -> Ident {
    let mut names = Names::default();
    calls.iter().for_each(|call| names.avoid(&call.names.method));
    ident(&names.derive("memory_for".to_owned()))
}

/// Whether any argument is a sequence of elements.
fn has_bulk(scope: &Scope<'_>, calls: &[Call<'_>]) -> bool {
    calls.iter().any(|call| call.sent().any(|it| is_bulk(scope, it)))
}

fn is_bulk(scope: &Scope<'_>, it: &Argument<'_>) -> bool {
    it.clause.is_none() && passing(scope, it.ty) == Passing::Run
}

/// How a request that begins to come leads to the servant's memory: by the operation's name, as few come to be asked.
fn bulk(
    scope: &Scope<'_>,
    calls: &[Call<'_>],
    inherited: &[Call<'_>],
    bases: &[TokenStream],
) -> Option<TokenStream> {
    let rt = scope.rt();
    let bases = if has_bulk(scope, inherited) { bases } else { &[] };
    if !has_bulk(scope, calls) && bases.is_empty() {
        return None;
    }
    let asked = calls.first().map(|call| {
        let servant = scope.beside(call.owner, &scope.plan.interface(call.owner).servant);
        let (method, arguments) =
            (memory_for(calls), calls.iter().flat_map(|call| bulk_arguments(scope, call)));
        quote!(_arriving.find(&[#(#arguments),*], |_bulk| #servant::#method(_servant, _bulk));)
    });
    let asked = asked.filter(|_| has_bulk(scope, calls));
    Some(quote! {
        fn bulk(_servant: &Self::Servant, _arriving: &mut #rt::Arriving<'_>) {
            #asked
            #(<#bases as #rt::Served>::bulk(_servant, _arriving);)*
        }
    })
}

/// The arguments of a call that may be bulk, with what is read before each.
fn bulk_arguments(scope: &Scope<'_>, call: &Call<'_>) -> Vec<TokenStream> {
    let (rt, wire) = (scope.rt(), &call.wire);
    let sent: Vec<&Argument<'_>> = call.sent().collect();
    let bulk = sent.iter().enumerate().filter(|(_, it)| is_bulk(scope, it)).map(|(at, it)| {
        let (element, spelt, before) = (element_type(scope, it.ty), it.spelt, &sent[..at]);
        let types = together(before.iter().map(|it| it.owned_type(scope)).collect());
        let pass = match scope.together_codec(before.iter().map(|it| it.codec(scope)).collect()) {
            None => quote!(#rt::pass::<#types>),
            Some(codec) => quote!(#rt::pass_as::<#codec, #types>),
        };
        let bounded = bound_of(scope, it.ty).map(|bound| quote!(.bounded(#bound)));
        quote!(#rt::bulk::<#element>(#wire, #spelt, #pass) #bounded)
    });
    bulk.collect()
}

/// The bound of a sequence.
pub(super) fn bound_of(scope: &Scope<'_>, sequence: &Type) -> Option<Literal> {
    match scope.plan.model.resolve_alias(sequence) {
        Type::Sequence { bound, .. } => bound.map(Literal::u32_unsuffixed),
        _ => None,
    }
}

/// What a request for one operation leads to: its arguments are read and given to the servant's method, whose result goes
/// back.
fn serve(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let rt = scope.rt();
    let servant = scope.beside(call.owner, &scope.plan.interface(call.owner).servant);
    let method = call.method();
    let sent: Vec<_> = call.sent().collect();
    let received = call.received_types();
    let names = together(call.sent().map(|it| it.name.to_token_stream()).collect());
    let types = (!sent.is_empty()).then(|| together(sent.iter().map(|it| it.owned_type(scope)).collect()));
    let typed = types.map(|types| quote!(: #types));
    let passed = call.sent().map(|it| {
        let name = &it.name;
        match passing(scope, it.ty) {
            _ if it.clause.is_some() => quote!(#name),
            Passing::Value | Passing::Run | Passing::Reference => quote!(#name),
            Passing::Text | Passing::List | Passing::Borrowed => quote!(&#name),
        }
    });
    let (serve, serve_named, serve_by, given) = match call.is_deferred() {
        true => (quote!(defer), quote!(defer_named), quote!(defer_by), quote!(reply)),
        false => (quote!(serve), quote!(serve_named), quote!(serve_by), quote!(context)),
    };
    let called = call.sent().map(|it| it.spelt);
    let execute = quote!(|#given, #names #typed| #servant::#method(servant, #given #(, #passed)*));
    let read = scope.together_codec(sent.iter().map(|it| it.codec(scope)).collect());
    match (read, scope.tuple_codec(&received)) {
        (None, None) if sent.is_empty() => quote!(request.#serve(#execute)),
        (None, None) => quote!(request.#serve_named(&[#(#called),*], #execute)),
        (read, write) => {
            let read = read.map_or_else(|| quote!(#rt::decode), |codec| quote!(#rt::decode_as::<#codec, _>));
            let write =
                write.map_or_else(|| quote!(#rt::encode), |codec| quote!(#rt::encode_as::<#codec, _>));
            let read = match sent.is_empty() {
                true => read,
                false => quote!(#rt::named_arguments(&[#(#called),*], #read)),
            };
            quote!(request.#serve_by(#read, #write, #execute))
        }
    }
}

/// Which operation leads to which method, and what makes an implementation a servant of the interface.
pub(super) fn dispatch(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let plan = scope.plan;
    let rt = scope.rt();
    let (some, bool) = (scope.std("Some"), scope.std("bool"));
    let own = plan.interface(of.id);
    let (reference, servant) = (ident(&plan.place_of(of.id).name), ident(&own.servant));
    let owners: Vec<_> = std::iter::once(of.id).chain(plan.model.ancestors(of.id)).collect();
    let calls: Vec<Call<'_>> = owners
        .iter()
        .flat_map(|owner| plan.interface(*owner).calls.iter().map(|it| Call::new(scope, *owner, it)))
        .collect();
    let wires: Vec<&str> = calls.iter().map(|call| call.wire.as_str()).collect();
    // More operations than a table can hold were reported, and those that have the same number.
    let table = Table::of(&wires).unwrap_or(Table { seed: 0, displacements: Vec::new(), slots: Vec::new() });
    let seed = Literal::u64_unsuffixed(table.seed);
    let displacements = table.displacements.iter().map(|it| Literal::u16_unsuffixed(*it));
    let slots = table.slots.iter().map(|it| Literal::u16_unsuffixed(*it));
    let numbers: Vec<_> = wires.iter().map(|it| Literal::u64_unsuffixed(number(it.as_bytes()))).collect();
    let mut arms: Vec<TokenStream> = Vec::new();
    for call in &calls[..own.calls.len()] {
        let (at, served) = (Literal::usize_unsuffixed(arms.len()), serve(scope, call));
        arms.push(quote!(#some(#at) => #served));
    }
    // What is inherited is found once more by the interface that declares it: a look-up more for these calls, and no arm
    // for each of them in every derived interface.
    let mut next = own.calls.len();
    for owner in &owners[1..] {
        let first = Literal::usize_unsuffixed(next);
        next += plan.interface(*owner).calls.len();
        let last = Literal::usize_unsuffixed(next.saturating_sub(1));
        let places = match plan.interface(*owner).calls.len() {
            0 => continue,
            1 => quote!(#first),
            _ => quote!(#first..=#last),
        };
        let base = scope.item(*owner);
        arms.push(quote!(#some(#places) => <#base as #rt::Served>::dispatch(servant, request)));
    }
    let dispatch = if arms.is_empty() {
        quote! {
            fn dispatch(_: &Self::Servant, request: #rt::ServerRequest) { request.unknown_operation() }
        }
    } else {
        quote! {
            fn dispatch(servant: &Self::Servant, mut request: #rt::ServerRequest) {
                static OPERATIONS: #rt::Operations = #rt::Operations {
                    seed: #seed,
                    displacements: &[#(#displacements),*],
                    slots: &[#(#slots),*],
                    names: &[#(#wires),*],
                    numbers: &[#(#numbers),*],
                };
                match request.find(&OPERATIONS) {
                    #(#arms,)*
                    _ => request.unknown_operation(),
                }
            }
        }
    };
    // No IDL name begins with an underscore.
    let of_type = ident(if plan.is_taken(&scope.module, "S") { "_S" } else { "S" });
    let bases: Vec<TokenStream> = plan.model.bases(of.id).iter().map(|base| scope.item(*base)).collect();
    let (own_calls, inherited) = calls.split_at(own.calls.len());
    let bulk = bulk(scope, own_calls, inherited, &bases);
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

            #dispatch

            #bulk

            #offer_to_bases
        }

        impl<#of_type: #servant> #rt::ServedBy<#of_type> for #reference {
            fn lend(servant: &#of_type) -> &Self::Servant { servant }

            fn share(servant: ::std::sync::Arc<#of_type>) -> ::std::sync::Arc<Self::Servant> { servant }
        }
    }
}
