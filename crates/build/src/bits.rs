//! `bitmask` and `bitset` of IDL 4.2.
//!
//! A bitmask is an integer with a constant for each flag; a bitset is a struct of its fields, which are packed when it is
//! written.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use zorb_idl::model::{Bitfield, Bitmask, Bitset, Definition};

use crate::docs::doc;
use crate::idl_text::type_text;
use crate::items::{definition_doc, in_turn, least_size, of_kind};
use crate::names::{Names, ident};
use crate::scope::Scope;

/// `bitmask`.
pub(crate) fn bitmask(scope: &Scope<'_>, of: &Definition, it: &Bitmask) -> TokenStream {
    let rt = scope.rt();
    let doc = definition_doc(scope, of, "bitmask");
    let name = ident(&scope.plan.place_of(of.id).name);
    let integer = scope.std(match it.bit_bound {
        ..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    });
    let bound = Literal::u8_unsuffixed(it.bit_bound);
    // Methods and constants have their names in one place.
    let mut names = Names::default();
    let flags: Vec<_> = it.flags.iter().map(|flag| ident(&names.declare(&flag.name))).collect();
    let methods =
        ["bits", "from_bits", "contains", "is_empty"].map(|name| ident(&names.derive(name.to_owned())));
    let constants = it.flags.iter().zip(&flags).map(|(flag, name)| {
        let doc = crate::docs::doc(&flag.doc, &format!("`{}`: bit {}.", flag.name, flag.position), &[]);
        let position = Literal::u8_unsuffixed(flag.position);
        quote!(#doc pub const #name: Self = Self(1 << #position);)
    });
    quote! {
        #doc
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct #name(#integer);

        impl #name { #(#constants)* }

        #rt::cdr::bitmask!(#name: #integer, #bound methods { #(#methods),* } flags { #(#flags),* });
    }
}

/// `bitset`.
pub(crate) fn bitset(scope: &Scope<'_>, of: &Definition, it: &Bitset) -> TokenStream {
    let rt = scope.rt();
    let more = ["A value that its bits do not hold is refused where it is sent.".to_owned()];
    let doc = doc(&of.doc, &of_kind(scope, of, "bitset"), &more);
    let name = ident(&scope.plan.place_of(of.id).name);
    let mut names = Names::default();
    let fields: Vec<(&Bitfield, &str, proc_macro2::Ident)> = it
        .fields
        .iter()
        .filter_map(|field| field.name.as_deref().map(|spelt| (field, spelt)))
        .map(|(field, spelt)| (field, spelt, ident(&names.declare(spelt))))
        .collect();
    let declared = fields.iter().map(|(field, spelt, name)| {
        let ty = scope.ty(&field.ty);
        let text = type_text(scope.plan.model, &field.ty);
        let bits = if field.bits == 1 { "1 bit".to_owned() } else { format!("{} bits", field.bits) };
        let doc = crate::docs::doc(&field.doc, &format!("`{spelt}`, {bits}, in IDL `{text}`."), &[]);
        quote!(#doc pub #name: #ty,)
    });
    let place =
        |field: &Bitfield| (Literal::u8_unsuffixed(field.position), Literal::u8_unsuffixed(field.bits));
    let packed = fields.iter().map(|(field, spelt, name)| {
        let ((position, bits), what) = (place(field), format!("{}::{spelt}", of.name));
        quote!(_bits |= #rt::cdr::bits::pack(self.#name, #position, #bits, #what)?;)
    });
    let unpacked = fields.iter().map(|(field, _, name)| {
        let (position, bits) = place(field);
        quote!(#name: #rt::cdr::bits::unpack(_bits, #position, #bits),)
    });
    // A local begins with an underscore, as no constant does. All bits of a bitset may be left free.
    let (binding, read) = match fields.is_empty() {
        true => (quote!(let _bits = 0;), quote!(_)),
        false => (quote!(let mut _bits = 0;), quote!(_bits)),
    };
    let (bound, least, spelt) = (Literal::u8_unsuffixed(it.bits), least_size(scope.plan, of.id), &of.name);
    let (result, usize) = (scope.std("Result"), scope.std("usize"));
    let ok = scope.std("Ok");
    let done = in_turn(scope, std::iter::empty());
    quote! {
        #doc
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct #name { #(#declared)* }

        impl #rt::Encode for #name {
            fn encode<'a>(&'a self, to: &mut #rt::Encoder<'a>) -> #result<(), #rt::EncodeError> {
                #binding
                #(#packed)*
                to.write_bits(_bits, #bound);
                #done
            }
        }

        impl #rt::Decode for #name {
            const MIN_SIZE: #usize = #least;

            fn decode(from: &mut #rt::Decoder<'_>) -> #result<Self, #rt::DecodeError> {
                let #read = from.read_bits(#bound, #spelt)?;
                #ok(Self { #(#unpacked)* })
            }
        }
    }
}
