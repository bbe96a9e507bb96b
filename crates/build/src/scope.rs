//! How generated code names things, seen from the module that it stands in.
//!
//! The text is included at a place that the generator does not know, so paths within it are relative; the runtime
//! and other crates have absolute ones. Names of Rust's prelude are written plainly, except in a module where the
//! IDL has given that name to something else.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use zorb_idl::model::{DefinitionId, DefinitionKind, InterfaceFlavor, Model, Type};

use crate::names::ident;
use crate::plan::{Home, Plan};

/// A Rust module of the generated text.
pub(crate) struct Scope<'p> {
    pub(crate) plan: &'p Plan<'p>,
    pub(crate) module: Vec<String>,
}

impl<'p> Scope<'p> {
    /// The module that a definition of our own lies in.
    pub(crate) fn of(plan: &'p Plan<'p>, id: DefinitionId) -> Scope<'p> {
        Scope { plan, module: plan.place_of(id).home.path.clone() }
    }

    /// A module within this one.
    pub(crate) fn inner(&self, name: &str) -> Scope<'p> {
        let mut module = self.module.clone();
        module.push(name.to_owned());
        Scope { plan: self.plan, module }
    }

    /// The runtime module.
    pub(crate) fn rt(&self) -> TokenStream {
        // At file level there is no `use`: the user's own module begins there.
        if self.module.is_empty() || self.plan.is_taken(&self.module, "rt") {
            self.plan.runtime.clone()
        } else {
            quote!(rt)
        }
    }

    /// A name of the standard prelude, or a primitive type.
    pub(crate) fn std(&self, name: &str) -> TokenStream {
        let plain = ident(name);
        if !self.plan.is_taken(&self.module, name) {
            return quote!(#plain);
        }
        match name {
            "Option" => quote!(::core::option::Option),
            "Some" | "None" => quote!(::core::option::Option::#plain),
            "Result" => quote!(::core::result::Result),
            "Ok" | "Err" => quote!(::core::result::Result::#plain),
            "String" => quote!(::std::string::String),
            "Vec" => quote!(::std::vec::Vec),
            "From" => quote!(::core::convert::From),
            "Send" | "Sync" | "Sized" => quote!(::core::marker::#plain),
            "Default" => quote!(::core::default::Default),
            _ => quote!(::core::primitive::#plain),
        }
    }

    /// The item that a definition becomes: a type or a constant.
    pub(crate) fn item(&self, id: DefinitionId) -> TokenStream {
        let place = self.plan.place_of(id);
        self.path(&place.home, &[&place.name])
    }

    /// Something that lies beside the definition's item.
    pub(crate) fn beside(&self, id: DefinitionId, name: &str) -> TokenStream {
        self.path(&self.plan.place_of(id).home, &[name])
    }

    /// Something in the definition's inner module.
    pub(crate) fn within(&self, id: DefinitionId, path: &[&str]) -> TokenStream {
        let place = self.plan.place_of(id);
        let inner = place.inner.as_deref().unwrap_or(&place.name);
        let path: Vec<&str> = std::iter::once(inner).chain(path.iter().copied()).collect();
        self.path(&place.home, &path)
    }

    fn path(&self, home: &Home, rest: &[&str]) -> TokenStream {
        let rest = rest.iter().copied();
        if let Some(external) = &home.external {
            let start: TokenStream = external.parse().unwrap_or_default();
            let path = home.path.iter().map(String::as_str).chain(rest).map(ident);
            return quote!(#start #(::#path)*);
        }
        let common = self.module.iter().zip(&home.path).take_while(|(ours, theirs)| ours == theirs).count();
        let ups = self.module[common..].iter().map(|_| quote!(super));
        let downs =
            home.path[common..].iter().map(String::as_str).chain(rest).map(ident).map(|it| quote!(#it));
        let path = ups.chain(downs);
        quote!(#(#path)::*)
    }

    /// The Rust type that holds a value of the IDL type.
    pub(crate) fn ty(&self, ty: &Type) -> TokenStream {
        let rt = self.rt();
        match ty {
            Type::Short => self.std("i16"),
            Type::Long => self.std("i32"),
            Type::LongLong => self.std("i64"),
            Type::UnsignedShort => self.std("u16"),
            Type::UnsignedLong => self.std("u32"),
            Type::UnsignedLongLong => self.std("u64"),
            Type::Float => self.std("f32"),
            Type::Double => self.std("f64"),
            Type::Boolean => self.std("bool"),
            Type::Octet | Type::UInt8 => self.std("u8"),
            Type::Int8 => self.std("i8"),
            Type::LongDouble => quote!(#rt::LongDouble),
            Type::Char => quote!(#rt::Char),
            Type::WChar => quote!(#rt::WChar),
            Type::Fixed { .. } => quote!(#rt::Fixed),
            Type::Any => quote!(#rt::Any),
            Type::TypeCode => quote!(#rt::TypeCode),
            Type::String { .. } | Type::WString { .. } => self.std("String"),
            Type::Sequence { element, .. } => {
                let of = self.ty(element);
                if self.plan.layouts.is_element(element) {
                    quote!(#rt::Sequence<#of>)
                } else {
                    let vec = self.std("Vec");
                    quote!(#vec<#of>)
                }
            }
            Type::Array { element, dimensions } => {
                let of = self.ty(element);
                dimensions.iter().rev().fold(of, |of, count| {
                    let count = Literal::u32_unsuffixed(*count);
                    quote!([#of; #count])
                })
            }
            Type::Map { key, value, .. } => {
                let (key, value) = (self.ty(key), self.ty(value));
                quote!(::std::collections::BTreeMap<#key, #value>)
            }
            Type::Object => {
                let option = self.std("Option");
                quote!(#option<#rt::ObjectRef>)
            }
            Type::ValueBase => {
                let option = self.std("Option");
                quote!(#option<#rt::Value<#rt::ValueBase>>)
            }
            Type::AbstractBase => {
                let option = self.std("Option");
                quote!(#option<#rt::Abstract<#rt::ObjectRef>>)
            }
            Type::Named(id) if self.is_reference(ty) => {
                let (option, item) = (self.std("Option"), self.item(*id));
                quote!(#option<#item>)
            }
            Type::Named(id) if is_local(self.plan.model, *id) => {
                let (option, item) = (self.std("Option"), self.item(*id));
                quote!(#option<#rt::Local<dyn #item>>)
            }
            Type::Named(id) if is_abstract(self.plan.model, *id) => {
                let (option, item) = (self.std("Option"), self.item(*id));
                quote!(#option<#rt::Abstract<#item>>)
            }
            Type::Named(id) if self.is_value(*id) => {
                let (option, item) = (self.std("Option"), self.item(*id));
                quote!(#option<#rt::Value<#item>>)
            }
            Type::Named(id) => self.item(*id),
            // What has no Rust yet was reported, and nothing is generated then.
            _ => quote!(()),
        }
    }

    /// An object reference, under whatever name.
    pub(crate) fn is_reference(&self, ty: &Type) -> bool {
        match self.plan.model.resolve_alias(ty) {
            Type::Object => true,
            Type::Named(id) => {
                let model = self.plan.model;
                matches!(&model.definition(*id).kind,
                    DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Plain)
            }
            _ => false,
        }
    }

    /// What stands for an abstract interface, under whatever name: a reference or a value.
    fn is_abstract_reference(&self, ty: &Type) -> bool {
        match self.plan.model.resolve_alias(ty) {
            Type::AbstractBase => true,
            Type::Named(id) => is_abstract(self.plan.model, *id),
            _ => false,
        }
    }

    /// What stands for a local interface, under whatever name.
    fn is_local_object(&self, ty: &Type) -> bool {
        match self.plan.model.resolve_alias(ty) {
            Type::Named(id) => is_local(self.plan.model, *id),
            _ => false,
        }
    }

    /// A valuetype or a boxed value, whose Rust type is its state.
    fn is_value(&self, id: DefinitionId) -> bool {
        let kind = &self.plan.model.definition(id).kind;
        matches!(kind, DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_))
    }

    /// How a value travels, where its Rust type alone does not say: bounds, digits, wide text, references.
    pub(crate) fn codec(&self, ty: &Type) -> Option<TokenStream> {
        let rt = self.rt();
        let model = self.plan.model;
        match model.resolve_alias(ty) {
            Type::String { bound: Some(bound) } => {
                let bound = Literal::u32_unsuffixed(*bound);
                Some(quote!(#rt::wire::Text<#bound>))
            }
            Type::WString { bound: None } => Some(quote!(#rt::wire::WideText)),
            Type::WString { bound: Some(bound) } => {
                let bound = Literal::u32_unsuffixed(*bound);
                Some(quote!(#rt::wire::WideText<#bound>))
            }
            Type::Sequence { element, bound } => {
                let codec = self.codec(element);
                let bound = bound.map(Literal::u32_unsuffixed);
                match (self.plan.layouts.is_element(element), codec, bound) {
                    (_, None, None) => None,
                    (true, _, Some(bound)) => Some(quote!(#rt::wire::Elements<#bound>)),
                    (_, codec, None) => Some(quote!(#rt::wire::List<#codec>)),
                    (false, None, Some(bound)) => Some(quote!(#rt::wire::List<#rt::wire::Plain, #bound>)),
                    (false, codec, Some(bound)) => Some(quote!(#rt::wire::List<#codec, #bound>)),
                }
            }
            Type::Array { element, dimensions } => self
                .codec(element)
                .map(|codec| dimensions.iter().fold(codec, |codec, _| quote!(#rt::wire::Array<#codec>))),
            Type::Map { key, value, bound } => {
                let part = |ty| self.codec(ty).unwrap_or_else(|| quote!(#rt::wire::Plain));
                let (key, value) = (part(key), part(value));
                match bound.map(Literal::u32_unsuffixed) {
                    None => Some(quote!(#rt::wire::Map<#key, #value>)),
                    Some(bound) => Some(quote!(#rt::wire::Map<#key, #value, #bound>)),
                }
            }
            Type::Fixed { digits, scale } => {
                let (digits, scale) = (Literal::u16_unsuffixed(*digits), Literal::u16_unsuffixed(*scale));
                Some(quote!(#rt::wire::Decimal<#digits, #scale>))
            }
            Type::Object => Some(quote!(#rt::wire::Reference)),
            _ if self.is_reference(ty) => Some(quote!(#rt::wire::Reference)),
            _ if self.is_local_object(ty) => Some(quote!(#rt::LocalOnly)),
            _ if self.is_abstract_reference(ty) => Some(quote!(#rt::AbstractReference)),
            _ => None,
        }
    }

    /// An expression that writes what `value`, a reference, refers to.
    pub(crate) fn encode(&self, ty: &Type, value: TokenStream) -> TokenStream {
        let function = self.encoder(ty);
        quote!(#function(#value, to))
    }

    /// The same for a message that outlives the value.
    pub(crate) fn encode_owned(&self, ty: &Type, value: TokenStream) -> TokenStream {
        let rt = self.rt();
        match self.codec(ty) {
            None => quote!(#rt::encode_owned(#value, to)),
            Some(codec) => quote!(#rt::encode_owned_as::<#codec, _>(#value, to)),
        }
    }

    /// A function that writes what it is given a reference to.
    pub(crate) fn encoder(&self, ty: &Type) -> TokenStream {
        let rt = self.rt();
        match self.codec(ty) {
            None => quote!(#rt::encode),
            Some(codec) => quote!(#rt::encode_as::<#codec, _>),
        }
    }

    /// A function that reads a value; `typed` says of which type.
    pub(crate) fn decoder(&self, ty: &Type, typed: bool) -> TokenStream {
        let (rt, of) = (self.rt(), self.ty(ty));
        match (self.codec(ty), typed) {
            (None, false) => quote!(#rt::decode),
            (None, true) => quote!(#rt::decode::<#of>),
            (Some(codec), false) => quote!(#rt::decode_as::<#codec, _>),
            (Some(codec), true) => quote!(#rt::decode_as::<#codec, #of>),
        }
    }

    /// An expression that reads a value whose Rust type is known from where it stands.
    pub(crate) fn decode(&self, ty: &Type) -> TokenStream {
        let function = self.decoder(ty, false);
        quote!(#function(from))
    }

    /// An expression that reads a member of this name: an error tells it.
    pub(crate) fn decode_member(&self, ty: &Type, name: &str) -> TokenStream {
        let rt = self.rt();
        match self.codec(ty) {
            None => quote!(#rt::member(from, #name)),
            Some(codec) => quote!(#rt::member_as::<#codec, _>(from, #name)),
        }
    }

    /// An expression that reads a value and says of which type.
    pub(crate) fn decode_typed(&self, ty: &Type) -> TokenStream {
        let function = self.decoder(ty, true);
        quote!(#function(from))
    }

    /// How the values of a tuple travel, where not all do as their types say; of a single value likewise.
    pub(crate) fn tuple_codec(&self, types: &[&Type]) -> Option<TokenStream> {
        self.together_codec(types.iter().map(|ty| self.codec(ty)).collect())
    }

    /// The same of the codecs of single values.
    pub(crate) fn together_codec(&self, codecs: Vec<Option<TokenStream>>) -> Option<TokenStream> {
        let rt = self.rt();
        if let [one] = codecs.as_slice() {
            return one.clone();
        }
        if codecs.iter().all(Option::is_none) {
            return None;
        }
        let codecs = codecs.into_iter().map(|codec| codec.unwrap_or_else(|| quote!(#rt::wire::Plain)));
        Some(together(codecs.collect()))
    }
}

/// Whether it is an abstract interface.
pub(crate) fn is_abstract(model: &Model, id: DefinitionId) -> bool {
    matches!(&model.definition(id).kind, DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Abstract)
}

/// Whether it is a local interface.
pub(crate) fn is_local(model: &Model, id: DefinitionId) -> bool {
    matches!(&model.definition(id).kind, DefinitionKind::Interface(it) if it.flavor == InterfaceFlavor::Local)
}

/// As many values as a tuple may have that is written or read: `zorb_cdr` and the runtime's codecs end there.
pub(crate) const WIDEST_TUPLE: usize = 24;

/// What stands for several values one after another: a tuple, of tuples where it would be too wide; the one itself if
/// it is alone. It travels the same way whichever it is.
pub(crate) fn together(parts: Vec<TokenStream>) -> TokenStream {
    match parts.as_slice() {
        [one] => one.clone(),
        few if few.len() <= WIDEST_TUPLE => quote!((#(#few),*)),
        many => together(many.chunks(WIDEST_TUPLE).map(|some| together(some.to_vec())).collect()),
    }
}
