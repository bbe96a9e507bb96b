//! Valuetypes, event types and boxed values. CORBA 3.4 part 1, 7.9.

use super::{Annotation, Attribute, Feature, Operation, Parameter, Type, attributes, operations};
use crate::DefinitionId;
use crate::source::Span;

/// A valuetype: state that is copied, with operations that run where the copy is.
#[derive(Clone, Debug, Default)]
pub struct ValueType {
    /// Plain, custom or abstract.
    pub flavor: ValueFlavor,
    /// A receiver that does not know the type may cut the value down to its concrete base.
    pub truncatable: bool,
    /// The values it inherits from; if one is concrete, it is the first.
    pub bases: Vec<DefinitionId>,
    /// The interfaces it supports.
    pub supports: Vec<DefinitionId>,
    /// Its own state, in the order in which it is marshalled, after that of its concrete base.
    pub state: Vec<StateMember>,
    /// Its initializers.
    pub factories: Vec<Factory>,
    /// Its own operations and attributes in source order.
    pub features: Vec<Feature>,
    /// False when there is a forward declaration only.
    pub defined: bool,
    /// It is an `eventtype`: [`Origin::Consumer`](super::Origin::Consumer) interfaces take values of it.
    pub event: bool,
}

impl ValueType {
    /// Its own operations in source order.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        operations(&self.features)
    }

    /// Its own attributes in source order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        attributes(&self.features)
    }
}

/// Which kind of valuetype.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ValueFlavor {
    /// State that the ORB marshals.
    #[default]
    Plain,
    /// `custom`: the user's code marshals it.
    Custom,
    /// `abstract`: no state.
    Abstract,
}

/// A state member of a valuetype.
#[derive(Clone, Debug)]
pub struct StateMember {
    /// `public`, otherwise `private`.
    pub public: bool,
    /// Its identifier.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// An initializer of a valuetype.
#[derive(Clone, Debug)]
pub struct Factory {
    /// Its identifier.
    pub name: String,
    /// Its parameters, all `in`.
    pub parameters: Vec<Parameter>,
    /// What it may raise.
    pub raises: Vec<DefinitionId>,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// A valuetype that holds one value of another type.
#[derive(Clone, Debug)]
pub struct ValueBox {
    /// The boxed type; never itself a valuetype.
    pub ty: Type,
}
