//! Components, homes and event consumers: what the interfaces that stand for them were in the IDL. CORBA 3.4 part 3, chapter 6.

use super::{Annotation, Type};
use crate::DefinitionId;
use crate::source::Span;

/// What an [`Interface`](super::Interface) was in the IDL. All but the first are equivalent interfaces: they have the
/// operations that the component model gives them, so that a back end may map them as it maps any interface.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Origin {
    /// `interface`.
    #[default]
    Interface,
    /// `component`: its attributes, and the operations of its ports.
    Component(Component),
    /// `home`, the interface of its own name, which inherits from the two that follow.
    Home(Home),
    /// The `…Explicit` interface of a home: what its body declares.
    HomeExplicit,
    /// The `…Implicit` interface of a home: making and, with a primary key, finding and removing components.
    HomeImplicit,
    /// The `…Consumer` interface of an event type: a port that takes events of the type is of it.
    Consumer,
    /// The `AMI_…Handler` of this interface: it takes the replies of asynchronous calls.
    ReplyHandler(DefinitionId),
}

/// A component type.
#[derive(Clone, Debug, Default)]
pub struct Component {
    /// The component that it inherits from.
    pub base: Option<DefinitionId>,
    /// The interfaces that it supports.
    pub supports: Vec<DefinitionId>,
    /// Its own ports in source order.
    pub ports: Vec<Port>,
}

/// A port of a component.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its identifier, which is part of the names of its operations: `provide_` and this.
    pub name: String,
    /// What kind of port.
    pub kind: PortKind,
    /// The interface or `Object` that is provided or used; the event type that is sent or taken.
    pub ty: Type,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// What kind of port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PortKind {
    /// `provides`, a facet.
    Provides,
    /// `uses`, a receptacle for one connection.
    Uses,
    /// `uses multiple`, a receptacle for several.
    UsesMultiple,
    /// `emits`, an event source for one consumer.
    Emits,
    /// `publishes`, an event source for any number of consumers.
    Publishes,
    /// `consumes`, an event sink.
    Consumes,
}

/// A home type.
#[derive(Clone, Debug)]
pub struct Home {
    /// The home that it inherits from.
    pub base: Option<DefinitionId>,
    /// The interfaces that it supports.
    pub supports: Vec<DefinitionId>,
    /// The component that it manages.
    pub manages: DefinitionId,
    /// The valuetype that identifies its components, if any does.
    pub primary_key: Option<DefinitionId>,
    /// Which of the operations of its `…Explicit` interface are factories.
    pub factories: Vec<String>,
    /// Which of them are finders.
    pub finders: Vec<String>,
}
