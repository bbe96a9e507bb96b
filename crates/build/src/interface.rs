//! `interface`: the reference type that clients call, the trait that servants implement, and what joins them.
//!
//! ```text
//! Account             a method and an `_async` twin per operation, inherited ones too; finds the operation of a request by
//!                     its perfect hash and calls the servant
//! AccountServant      the trait of implementations; one supertrait per base
//! account             the types nested in the interface, and the errors of its operations
//! ```
//!
//! A local interface is a trait and such a module; what can be called on values is such traits too.

mod asynchronous;
mod callable;
mod client;
mod errors;
mod into;
mod local;
mod server;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use zorb_idl::model::{
    Definition, DefinitionId, DefinitionKind, Direction, Feature, Interface, InterfaceFlavor, Parameter, Type,
};

pub(crate) use callable::callable;

use crate::docs::doc;
use crate::generate::Tree;
use crate::names::{Names, ident};
use crate::plan::{CallNames, Part, Plan};
use crate::scope::{Scope, WIDEST_TUPLE, has_order, together};

/// Adds all that an interface becomes to the module that it lies in.
pub(crate) fn interface(plan: &Plan<'_>, of: &Definition, interface: &Interface, tree: &mut Tree) {
    let scope = Scope::of(plan, of.id);
    let place = plan.place_of(of.id);
    let is_local = interface.flavor == InterfaceFlavor::Local;
    if !is_local {
        tree.at(&scope.module).item(client::reference(&scope, of));
    }
    if interface.flavor == InterfaceFlavor::Abstract {
        tree.at(&scope.module).item(crate::value::abstract_interface(&scope, of));
    }
    let inner_name = place.inner.as_deref().unwrap_or_default();
    let inner = scope.inner(inner_name);
    let names = plan.interface(of.id);
    let module = tree.at(&inner.module);
    module.doc = doc(
        "",
        &format!("What belongs to [`{}`]: nested types, and the errors of its operations.", place.name),
        &[],
    );
    if is_local {
        let calls: Vec<Call<'_>> = names.calls.iter().map(|it| Call::new(&scope, of.id, it)).collect();
        tree.at(&scope.module).item(local::interface(&scope, of, &calls));
        let bases = plan.model.ancestors(of.id);
        for face in local::faces(&inner, of.id, &bases, "objects of local interfaces") {
            tree.at(&inner.module).item(face);
        }
    }
    let module = tree.at(&inner.module);
    if !interface.defined {
        return;
    }
    for error in &names.errors {
        module.item(errors::error(&inner, error));
    }
    if is_local {
        return;
    }
    let calls: Vec<Call<'_>> = names.calls.iter().map(|it| Call::new(&scope, of.id, it)).collect();
    tree.at(&scope.module).item(client::methods(&scope, of));
    tree.at(&scope.module).item(server::servant(&scope, of, &calls));
    tree.at(&scope.module).item(server::dispatch(&scope, of));
}

/// What the reply is called that a servant may give later.
const REPLY: &str = "reply";

/// One call of an interface: an operation, or reading or writing an attribute.
pub(crate) struct Call<'m> {
    /// The interface that declares it.
    owner: DefinitionId,
    names: &'m CallNames,
    /// The name on the wire.
    wire: String,
    oneway: bool,
    returns: Option<&'m Type>,
    parameters: Vec<Argument<'m>>,
    /// The IDL's comment.
    comment: &'m str,
    /// What it is in the IDL.
    what: String,
}

/// One parameter of a call.
struct Argument<'m> {
    name: Ident,
    spelt: &'m str,
    direction: Direction,
    ty: &'m Type,
    /// It stands for the properties that this `context` clause names, whatever the type.
    clause: Option<&'m [String]>,
}

impl Argument<'_> {
    /// The type that holds it.
    fn owned_type(&self, scope: &Scope<'_>) -> TokenStream {
        match self.clause {
            Some(_) => properties_type(scope),
            None => scope.ty(self.ty),
        }
    }

    /// As a stub takes it.
    fn stub_type(&self, scope: &Scope<'_>) -> TokenStream {
        match self.clause {
            Some(_) => {
                let of = properties_type(scope);
                quote!(&#of)
            }
            None => stub_type(scope, self.ty),
        }
    }

    /// As a servant's method takes it.
    fn servant_type(&self, scope: &Scope<'_>) -> TokenStream {
        match self.clause {
            Some(_) => properties_type(scope),
            None => servant_type(scope, self.ty),
        }
    }

    /// How it travels, if that is not as its type says.
    fn codec(&self, scope: &Scope<'_>) -> Option<TokenStream> {
        if self.clause.is_some() { None } else { scope.codec(self.ty) }
    }

    /// What a stub passes on of the properties that it was given.
    fn properties(&self, scope: &Scope<'_>) -> Option<TokenStream> {
        let (rt, name, clause) = (scope.rt(), &self.name, self.clause?);
        Some(quote!(#rt::properties(#name, &[#(#clause),*])))
    }
}

fn properties_type(scope: &Scope<'_>) -> TokenStream {
    let rt = scope.rt();
    quote!(#rt::Properties)
}

impl<'m> Call<'m> {
    /// The call as it is generated in a scope: that of its interface, or of one that inherits it.
    fn new(scope: &Scope<'m>, owner: DefinitionId, names: &'m CallNames) -> Call<'m> {
        let plan = scope.plan;
        let mut parameter_names = plan.beside_parameters(&scope.module);
        if names.deferred {
            parameter_names.avoid(REPLY);
        }
        let feature = &plan.model.features(owner)[names.feature];
        let scoped = format!("{}::{}", plan.model.scoped_name(owner), feature.name());
        match (feature, names.part) {
            (Feature::Operation(it), _) => Call {
                owner,
                names,
                wire: it.name.clone(),
                oneway: it.oneway,
                returns: it.returns.as_ref(),
                parameters: arguments(parameter_names, &it.parameters, &it.context),
                comment: &it.doc,
                what: format!("IDL operation `{scoped}`."),
            },
            (Feature::Attribute(it), Part::Set) => Call {
                owner,
                names,
                wire: format!("_set_{}", it.name),
                oneway: false,
                returns: None,
                parameters: vec![Argument {
                    name: ident(&parameter_names.declare(&it.name)),
                    spelt: &it.name,
                    direction: Direction::In,
                    ty: &it.ty,
                    clause: None,
                }],
                comment: &it.doc,
                what: format!("Sets the IDL attribute `{scoped}`."),
            },
            (Feature::Attribute(it), _) => Call {
                owner,
                names,
                wire: format!("_get_{}", it.name),
                oneway: false,
                returns: Some(&it.ty),
                parameters: Vec::new(),
                comment: &it.doc,
                what: format!("Gets the IDL attribute `{scoped}`."),
            },
        }
    }

    /// What goes to the object.
    fn sent(&self) -> impl Iterator<Item = &Argument<'m>> {
        self.parameters.iter().filter(|it| it.direction != Direction::Out)
    }

    /// What comes back, in IDL order: the result, then `out` and `inout`. With the name of each.
    fn received(&self) -> Vec<(&'m str, &'m Type)> {
        let back = self.parameters.iter().filter(|it| it.direction != Direction::In);
        self.returns.map(|ty| ("result", ty)).into_iter().chain(back.map(|it| (it.spelt, it.ty))).collect()
    }

    fn received_types(&self) -> Vec<&'m Type> {
        self.received().into_iter().map(|(_, ty)| ty).collect()
    }

    /// The type of what comes back.
    fn output(&self, scope: &Scope<'_>) -> TokenStream {
        together(self.received().iter().map(|(_, ty)| scope.ty(ty)).collect())
    }

    /// The type of what else may come of it.
    fn error(&self, scope: &Scope<'_>) -> TokenStream {
        match &self.names.error {
            Some(name) => scope.within(self.owner, &[name]),
            None => {
                let rt = scope.rt();
                quote!(#rt::SystemException)
            }
        }
    }

    fn method(&self) -> Ident {
        ident(&self.names.method)
    }

    /// Whether servants may answer it later.
    fn is_deferred(&self) -> bool {
        self.names.deferred
    }

    /// The IDL's comment, and which values a tuple holds.
    fn doc(&self) -> TokenStream {
        let received = self.received();
        let mut more = Vec::new();
        if received.len() > 1 {
            let names: Vec<&str> = received.iter().map(|(name, _)| *name).collect();
            let tuple = |names: &[&str]| match names {
                [one] => (*one).to_owned(),
                _ => format!("({})", names.join(", ")),
            };
            let given = match names.as_slice() {
                few if few.len() <= WIDEST_TUPLE => tuple(few),
                many => format!("({})", many.chunks(WIDEST_TUPLE).map(tuple).collect::<Vec<_>>().join(", ")),
            };
            more.push(format!("Gives `{given}`."));
        }
        if self.oneway {
            more.push("Oneway: returns when the scope that the policy asks for is reached.".to_owned());
        }
        doc(self.comment, &self.what, &more)
    }
}

fn arguments<'m>(mut names: Names, parameters: &'m [Parameter], clause: &'m [String]) -> Vec<Argument<'m>> {
    let mut argument = |it: &'m Parameter| Argument {
        name: ident(&names.declare(&it.name)),
        spelt: &it.name,
        direction: it.direction,
        ty: &it.ty,
        clause: None,
    };
    let mut arguments: Vec<Argument<'m>> = parameters.iter().map(&mut argument).collect();
    if !clause.is_empty() {
        arguments.push(Argument {
            name: ident(&names.derive("properties".to_owned())),
            spelt: "context",
            direction: Direction::In,
            ty: &Type::Any,
            clause: Some(clause),
        });
    }
    arguments
}

/// How a parameter is passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// Scalars, enums, bitmasks and bitsets.
    Value,
    /// `&str`.
    Text,
    /// `sequence` of elements: `&[T]` to a stub, `Sequence<T>` to a servant.
    Run,
    /// Any other `sequence`, and what stands for a map whose keys have no order: `&[T]`.
    List,
    /// Object references: `Option<&Account>` to a stub, `Option<Account>` to a servant.
    Reference,
    /// Structs, unions, arrays, maps, anys, TypeCodes, values, native types, and what stands for abstract interfaces: `&T`.
    Borrowed,
}

fn passing(scope: &Scope<'_>, ty: &Type) -> Passing {
    match scope.plan.model.resolve_alias(ty) {
        Type::String { .. } | Type::WString { .. } => Passing::Text,
        Type::Sequence { element, .. } if scope.plan.layouts.is_element(element) => Passing::Run,
        Type::Sequence { .. } => Passing::List,
        Type::Map { key, .. } if !has_order(scope.plan.model, key) => Passing::List,
        Type::Array { .. } | Type::Map { .. } | Type::Any | Type::TypeCode => Passing::Borrowed,
        Type::ValueBase | Type::AbstractBase => Passing::Borrowed,
        _ if scope.is_reference(ty) => Passing::Reference,
        Type::Named(id) => match scope.plan.model.definition(*id).kind {
            DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_) | DefinitionKind::Bitset(_) => {
                Passing::Value
            }
            _ => Passing::Borrowed,
        },
        _ => Passing::Value,
    }
}

/// The type of a parameter of a stub.
fn stub_type(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    let owned = scope.ty(ty);
    match passing(scope, ty) {
        Passing::Value => owned,
        Passing::Text => {
            let str = scope.std("str");
            quote!(&#str)
        }
        Passing::Run | Passing::List => {
            let element = element_type(scope, ty);
            quote!(&[#element])
        }
        Passing::Reference => {
            let (option, of) = (scope.std("Option"), reference_type(scope, ty));
            quote!(#option<&#of>)
        }
        Passing::Borrowed => quote!(&#owned),
    }
}

/// The type of a parameter of a servant's method.
fn servant_type(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    match passing(scope, ty) {
        Passing::Run | Passing::Reference => scope.ty(ty),
        _ => stub_type(scope, ty),
    }
}

fn element_type(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    match scope.plan.model.resolve_alias(ty) {
        Type::Sequence { element, .. } => scope.ty(element),
        Type::Map { key, value, .. } => scope.pair(key, value),
        _ => scope.ty(ty),
    }
}

/// The type of a reference that is not nil.
fn reference_type(scope: &Scope<'_>, ty: &Type) -> TokenStream {
    match ty {
        Type::Named(id) => scope.item(*id),
        _ => {
            let rt = scope.rt();
            quote!(#rt::ObjectRef)
        }
    }
}
