//! The stubs of asynchronous calls that CORBA names, where they are asked for: `sendc_` and `sendp_` (CORBA 3.3 part 1, 17).
//!
//! Both are the `_async` twin with something behind it. The reply handler itself is an interface as any other, which the
//! front end makes.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use zorb_idl::model::{DefinitionId, Feature};

use super::{Call, Passing, passing};
use crate::names::{Names, ident};
use crate::plan::{CallNames, Part};
use crate::scope::{Scope, together};

/// The stubs of all calls that are answered, where the interface has a reply handler. `names` are those of the methods and
/// their twins, in order.
pub(super) fn methods(
    scope: &Scope<'_>,
    interface: DefinitionId,
    calls: &[Call<'_>],
    names: &[(String, String)],
    taken: &mut Names,
) -> Vec<TokenStream> {
    if scope.plan.handler(interface).is_none() {
        return Vec::new();
    }
    let answered = calls.iter().zip(names).filter(|(call, _)| !call.oneway);
    answered.filter_map(|(call, names)| stubs(scope, call, names, taken)).collect()
}

/// `sendc_` or `sendp_` and the name; where the interface has that, with `ami_` between them.
fn sending(prefix: &str, name: &str, taken: &mut Names) -> Ident {
    let mut stem = name.to_owned();
    while taken.contains(&format!("{prefix}{stem}")) {
        stem.insert_str(0, "ami_");
    }
    ident(&taken.derive(format!("{prefix}{stem}")))
}

fn stubs(
    scope: &Scope<'_>,
    call: &Call<'_>,
    (method, twin): &(String, String),
    taken: &mut Names,
) -> Option<TokenStream> {
    let (plan, rt) = (scope.plan, scope.rt());
    let (option, result) = (scope.std("Option"), scope.std("Result"));
    let handler = plan.handler(call.owner)?;
    let feature = plan.model.features(call.owner)[call.names.feature].name();
    let name = match call.names.part {
        Part::Operation | Part::Make => feature.to_owned(),
        Part::Get => format!("get_{feature}"),
        Part::Set => format!("set_{feature}"),
    };
    let (answer, excep) = answers(scope, call, handler)?;
    let (sendc, sendp) = (sending("sendc_", &name, taken), sending("sendp_", &name, taken));
    let twin = ident(twin);
    let (output, error) = (call.output(scope), call.error(scope));
    let arguments: Vec<&Ident> = call.sent().map(|it| &it.name).collect();
    let types: Vec<TokenStream> = call.sent().map(|it| it.owned_type(scope)).collect();
    let handler = scope.item(handler);
    let values: Vec<Ident> = (0..call.received().len())
        .map(|at| Ident::new(&format!("result_{at}"), proc_macro2::Span::call_site()))
        .collect();
    let given = call.received_types().into_iter().zip(&values).map(|(ty, value)| match passing(scope, ty) {
        Passing::Value => quote!(#value),
        Passing::Reference => quote!(#value.as_ref()),
        _ => quote!(&#value),
    });
    let pattern = together(values.iter().map(|it| quote!(#it)).collect());
    let handed = ident(&{
        let mut names = Names::default();
        arguments.iter().for_each(|it| names.avoid(&it.to_string()));
        names.derive("ami_handler".to_owned())
    });
    let of_handler =
        format!(" [`{method}`](Self::{method}), whose reply goes to a handler; without one it is dropped.");
    let of_poller = format!(" [`{method}`](Self::{method}), made now and asked for later.");
    Some(quote! {
        #[doc = #of_handler]
        pub fn #sendc(&self, #handed: #option<&#handler> #(, #arguments: #types)*) -> #result<(), #rt::SystemException> {
            #rt::sendc(
                self.#twin(#(#arguments),*),
                #handed,
                |handler, #pattern| handler.#answer(#(#given),*),
                #handler::#excep,
            )
        }

        #[doc = #of_poller]
        pub fn #sendp(&self #(, #arguments: #types)*) -> #rt::Poller<#output, #error> {
            self.#twin(#(#arguments),*).poller()
        }
    })
}

/// The handler's methods for the results, and for an exception: it has two for each call that is answered, in order.
fn answers(scope: &Scope<'_>, call: &Call<'_>, handler: DefinitionId) -> Option<(Ident, Ident)> {
    let features = scope.plan.model.features(call.owner);
    let is_answered =
        |it: &&CallNames| !matches!(&features[it.feature], Feature::Operation(operation) if operation.oneway);
    let mut answered = scope.plan.interface(call.owner).calls.iter().filter(is_answered);
    let place = answered.position(|it| (it.feature, it.part) == (call.names.feature, call.names.part))?;
    match scope.plan.interface(handler).calls.get(2 * place..)? {
        [answer, excep, ..] => Some((ident(&answer.method), ident(&excep.method))),
        _ => None,
    }
}
