//! What an operation that raises may end with: an enum of its exceptions and any system exception.

use proc_macro2::TokenStream;
use quote::quote;

use crate::docs::doc;
use crate::names::{Names, ident};
use crate::plan::ErrorNames;
use crate::scope::{Scope, together};

/// The enum, its conversions, and the names after the other operations that raise the same; or, where an interface beside
/// this one has the enum, only names.
pub(super) fn error(scope: &Scope<'_>, of: &ErrorNames) -> TokenStream {
    let rt = scope.rt();
    let model = scope.plan.model;
    let from = scope.std("From");
    let name = ident(&of.name);
    let aliases = of.aliases.iter().map(|alias| {
        let (doc, alias) = (format!(" The same exceptions as [`{}`].", of.name), ident(alias));
        quote!(#[doc = #doc] pub type #alias = #name;)
    });
    if let Some((interface, first)) = &of.same_as {
        let same = scope.within(*interface, &[first]);
        let doc = doc("", &format!("What `{}` may raise.", of.method), &[]);
        return quote!(#doc pub type #name = #same; #(#aliases)*);
    }
    let doc = doc("", &format!("What `{}` may raise.", of.method), &[]);
    let mut names = Names::default();
    let variants = of.exceptions.iter().map(|it| names.declare(&model.definition(*it).name));
    let variants: Vec<_> = variants.collect::<Vec<_>>().iter().map(|it| ident(it)).collect();
    let system = ident(&names.derive("System".to_owned()));
    let types: Vec<TokenStream> = of.exceptions.iter().map(|it| scope.item(*it)).collect();
    let raises = together(types.clone());
    let docs = of.exceptions.iter().map(|it| format!(" IDL exception `{}`.", model.scoped_name(*it)));
    quote! {
        #doc
        #[derive(Clone)]
        pub enum #name {
            #(#[doc = #docs] #variants(#types),)*
            /// Raised by an ORB.
            #system(#rt::SystemException),
        }

        impl #rt::OperationError for #name {
            type Raises = #raises;

            fn raised(&self) -> #rt::Raised<'_> {
                match self {
                    #(Self::#variants(value) => #rt::Raised::User(value),)*
                    Self::#system(value) => #rt::Raised::System(value),
                }
            }
        }

        #rt::operation_error!(#name);

        #(impl #from<#types> for #name {
            fn from(value: #types) -> Self { Self::#variants(value) }
        })*

        impl #from<#rt::SystemException> for #name {
            fn from(value: #rt::SystemException) -> Self { Self::#system(value) }
        }

        #(#aliases)*
    }
}
