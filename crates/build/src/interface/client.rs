//! The client's side: the reference type and its methods.
//!
//! A reference of a derived interface holds one of its first base and derefs to it, down to the `ObjectRef`, so that
//! most inherited methods need no text. Methods of further bases are there under their own names.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use zorb_idl::model::{Definition, DefinitionId};

use super::{Argument, Call, Passing, asynchronous, into, passing};
use crate::docs::doc;
use crate::items::of_kind;
use crate::names::{Names, ident};
use crate::operations::number;
use crate::plan::methods as method_names;
use crate::scope::{Scope, WIDEST_TUPLE, together};

/// The reference type and its conversions.
pub(super) fn reference(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let rt = scope.rt();
    let model = scope.plan.model;
    let from = scope.std("From");
    let name = ident(&scope.plan.place_of(of.id).name);
    let doc = doc(
        &of.doc,
        &of_kind(scope, of, "interface"),
        &["A reference to an object; cloning is a count.".to_owned()],
    );
    let id = &of.repository_id;
    let ancestors = model.ancestors(of.id);
    let ancestor_ids = ancestors.iter().map(|it| &model.definition(*it).repository_id);
    let bases = ancestors.iter().map(|it| scope.item(*it));
    let (field, target, from_object, as_object) = match model.bases(of.id).first() {
        None => (quote!(object), quote!(#rt::ObjectRef), quote!(Self { object }), quote!(&self.object)),
        Some(base) => (
            quote!(base),
            scope.item(*base),
            quote!(Self { base: #rt::Interface::from_object(object) }),
            quote!(#rt::Interface::as_object(&self.base)),
        ),
    };
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq)]
        pub struct #name { #field: #target }

        impl #rt::Interface for #name {
            const INFO: &'static #rt::InterfaceInfo =
                &#rt::InterfaceInfo { id: #id, ancestors: &[#(#ancestor_ids),*] };

            fn from_object(object: #rt::ObjectRef) -> Self { #from_object }

            fn as_object(&self) -> &#rt::ObjectRef { #as_object }
        }

        impl ::core::ops::Deref for #name {
            type Target = #target;

            fn deref(&self) -> &Self::Target { &self.#field }
        }

        #(impl #from<#name> for #bases {
            fn from(object: #name) -> Self { #rt::upcast(&object) }
        })*
    }
}

/// The methods of the reference type, but for those that it has by way of its first base.
pub(super) fn methods(scope: &Scope<'_>, of: &Definition) -> TokenStream {
    let plan = scope.plan;
    let by_deref = by_deref(scope, of.id);
    let further = plan.model.ancestors(of.id).into_iter().filter(|it| !by_deref.contains(it));
    let calls: Vec<Call<'_>> = std::iter::once(of.id)
        .chain(further)
        .flat_map(|owner| plan.interface(owner).calls.iter().map(move |it| Call::new(scope, owner, it)))
        .collect();
    if calls.is_empty() {
        return TokenStream::new();
    }
    let spelt: Vec<_> = calls
        .iter()
        .map(|call| (plan.model.features(call.owner)[call.names.feature].name(), call.names.part))
        .collect();
    let mut taken = Names::default();
    let names = method_names(&mut taken, spelt.into_iter());
    let methods = calls.iter().zip(&names).map(|(call, (method, twin))| {
        if call.owner == of.id {
            own(scope, call, method, twin)
        } else {
            further_base(scope, call, method, twin)
        }
    });
    let methods: Vec<TokenStream> = methods.collect();
    let asynchronous = asynchronous::methods(scope, of.id, &calls, &names, &mut taken);
    let into = into::methods(scope, of.id, &calls, &names, &mut taken);
    let name = ident(&plan.place_of(of.id).name);
    quote!(impl #name { #(#methods)* #(#asynchronous)* #(#into)* })
}

/// The interfaces whose methods the first base has.
fn by_deref(scope: &Scope<'_>, id: DefinitionId) -> Vec<DefinitionId> {
    let model = scope.plan.model;
    model.bases(id).first().map(|base| [vec![*base], model.ancestors(*base)].concat()).unwrap_or_default()
}

/// A method of the interface's own, and its twin.
fn own(scope: &Scope<'_>, call: &Call<'_>, method: &str, twin: &str) -> TokenStream {
    let rt = scope.rt();
    let result = scope.std("Result");
    let Signature { doc, twin_doc, output, error, names, borrowed, owned } = signature(scope, call, method);
    let (method, twin) = (ident(method), ident(twin));
    let Passed { operation, direct, lent, kept } = passed(scope, call);
    let decode = scope.tuple_codec(&call.received_types()).map(|codec| quote!(#rt::decode_as::<#codec, _>));
    let in_phase = into::in_phase(scope, call);
    let (body, twin_body) = match (call.oneway, decode) {
        (true, _) => (
            quote!(#rt::send(self, #operation, #direct, #lent)),
            quote!(#rt::send_async(self, #operation, #kept)),
        ),
        (false, None) => (
            quote!(#rt::invoke(self, #operation, #direct, #lent)),
            quote!(#rt::invoke_async(self, #operation, #kept)),
        ),
        (false, Some(decode)) => (
            quote!(#rt::invoke_by(self, #operation, #direct, #lent, #decode)),
            quote!(#rt::invoke_async_by(self, #operation, #kept, #decode)),
        ),
    };
    let body = match in_phase {
        Some((decode, what)) => {
            quote!(#rt::invoke_in_phase(self, #operation, #direct, #lent, #decode, #what))
        }
        None => body,
    };
    quote! {
        #doc
        pub fn #method(&self #(, #names: #borrowed)*) -> #result<#output, #error> { #body }

        #twin_doc
        pub fn #twin(&self #(, #names: #owned)*) -> #rt::Pending<#output, #error> { #twin_body }
    }
}

/// What a method and its twin pass on.
pub(super) struct Passed {
    pub(super) operation: TokenStream,
    /// The servant's method, for an object in this process.
    pub(super) direct: TokenStream,
    pub(super) lent: TokenStream,
    kept: TokenStream,
}

pub(super) fn passed(scope: &Scope<'_>, call: &Call<'_>) -> Passed {
    let rt = scope.rt();
    let wire = &call.wire;
    let number = Literal::u64_unsuffixed(number(wire.as_bytes()));
    let servant = scope.beside(call.owner, &scope.plan.interface(call.owner).servant);
    let method = call.method();
    let lent: Vec<TokenStream> = call.sent().map(|it| lent(scope, it)).collect();
    let kept: Vec<TokenStream> = call.sent().map(|it| kept(scope, it)).collect();
    if lent.len() <= WIDEST_TUPLE {
        let parameters = call.sent().map(|it| it.spelt);
        return Passed {
            operation: quote!(&#rt::Operation { name: #wire, number: #number, parameters: &[#(#parameters),*] }),
            direct: match call.is_deferred() {
                true => deferred_here(scope, call, &servant),
                false => quote!(#servant::#method),
            },
            lent: tuple(lent),
            kept: tuple(kept),
        };
    }
    let (spelt, names): (Vec<&str>, Vec<_>) = call.sent().map(|it| (it.spelt, &it.name)).unzip();
    let named = |values: Vec<TokenStream>| {
        let named = spelt.iter().zip(values).map(|(spelt, value)| quote!(#rt::named(#spelt, #value)));
        let all = together(named.collect());
        quote!(#rt::many(#all))
    };
    // What a stub is given and what a servant takes differ in two cases.
    let given =
        call.sent().zip(names).map(|(it, name)| match (it.properties(scope), passing(scope, it.ty)) {
            (Some(properties), _) => properties,
            (_, Passing::Run) => quote!(#name.into()),
            (_, Passing::Reference) => quote!(#name.cloned()),
            _ => quote!(#name),
        });
    Passed {
        operation: quote!(&#rt::Operation { name: #wire, number: #number, parameters: &[] }),
        direct: match call.is_deferred() {
            true => quote!(|servant: &dyn #servant, context: &#rt::Call| {
                #rt::deferred_here(self, context, |reply| #servant::#method(servant, reply #(, #given)*))
            }),
            false => quote!(|servant: &dyn #servant, context: &#rt::Call| #servant::#method(servant, context #(, #given)*)),
        },
        lent: named(lent),
        kept: named(kept),
    }
}

/// A servant's method that answers later, as one that returns when it has.
fn deferred_here(scope: &Scope<'_>, call: &Call<'_>, servant: &TokenStream) -> TokenStream {
    let (rt, method) = (scope.rt(), call.method());
    let names: Vec<_> = call.sent().map(|it| &it.name).collect();
    let types = call.sent().map(|it| it.servant_type(scope));
    quote!(|servant: &dyn #servant, context: &#rt::Call #(, #names: #types)*| {
        #rt::deferred_here(self, context, |reply| #servant::#method(servant, reply #(, #names)*))
    })
}

/// A tuple, also of one.
fn tuple(parts: Vec<TokenStream>) -> TokenStream {
    match parts.as_slice() {
        [one] => quote!((#one,)),
        _ => quote!((#(#parts),*)),
    }
}

/// A method of a base that is not the first: called on a reference of that base.
fn further_base(scope: &Scope<'_>, call: &Call<'_>, method: &str, twin: &str) -> TokenStream {
    let rt = scope.rt();
    let result = scope.std("Result");
    let Signature { doc, twin_doc, output, error, names, borrowed, owned } = signature(scope, call, method);
    let (method, twin) = (ident(method), ident(twin));
    let (base, own_method, own_twin) = (scope.item(call.owner), call.method(), ident(&call.names.twin));
    quote! {
        #doc
        pub fn #method(&self #(, #names: #borrowed)*) -> #result<#output, #error> {
            #base::#own_method(&#rt::upcast(self) #(, #names)*)
        }

        #twin_doc
        pub fn #twin(&self #(, #names: #owned)*) -> #rt::Pending<#output, #error> {
            #base::#own_twin(&#rt::upcast(self) #(, #names)*)
        }
    }
}

/// What a method and its twin have in common.
struct Signature {
    doc: TokenStream,
    twin_doc: TokenStream,
    output: TokenStream,
    error: TokenStream,
    names: Vec<proc_macro2::Ident>,
    borrowed: Vec<TokenStream>,
    owned: Vec<TokenStream>,
}

fn signature(scope: &Scope<'_>, call: &Call<'_>, method: &str) -> Signature {
    let twin_doc = format!(" [`{method}`](Self::{method}), made now and waited for later.");
    Signature {
        doc: call.doc(),
        twin_doc: quote!(#[doc = #twin_doc]),
        output: call.output(scope),
        error: call.error(scope),
        names: call.sent().map(|it| it.name.clone()).collect(),
        borrowed: call.sent().map(|it| it.stub_type(scope)).collect(),
        owned: call.sent().map(|it| it.owned_type(scope)).collect(),
    }
}

/// A parameter as a call borrows it.
fn lent(scope: &Scope<'_>, it: &Argument<'_>) -> TokenStream {
    let (rt, name) = (scope.rt(), &it.name);
    if let Some(properties) = it.properties(scope) {
        return properties;
    }
    match (passing(scope, it.ty), scope.codec(it.ty)) {
        (Passing::Reference, _) => quote!(#rt::lent_reference(#name)),
        (_, None) => quote!(#name),
        // A value that is passed as one, with a codec: a `fixed`.
        (Passing::Value, Some(codec)) => quote!(#rt::kept::<#codec, _>(#name)),
        (_, Some(codec)) => quote!(#rt::lent::<#codec, _>(#name)),
    }
}

/// A parameter as a call that is waited for later keeps it.
fn kept(scope: &Scope<'_>, it: &Argument<'_>) -> TokenStream {
    let (rt, name) = (scope.rt(), &it.name);
    if let Some(properties) = it.properties(scope) {
        return properties;
    }
    match scope.codec(it.ty) {
        None => quote!(#name),
        Some(codec) => quote!(#rt::kept::<#codec, _>(#name)),
    }
}
