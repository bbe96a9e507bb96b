//! The checked model: what an IDL file means, ready for a back end.
//!
//! Everything that has a repository id and a place in a scope is a [`Definition`] in one arena and is
//! named by its [`DefinitionId`]; whatever refers to it holds the id. Names are resolved, constants
//! evaluated, forward declarations joined with their definitions and inheritance checked, so a back
//! end reads the model and never the text. Definitions stand in the order of the source.
//!
//! ```text
//! Model ── top_level ──▶ Definition { name, parent, repository_id, doc, span, included, contents, kind }
//!                                                                             │         │
//!                                                          nested definitions ┘         └ Struct, Interface, …
//! ```
//!
//! Struct members, enumerators, operations and attributes are part of their definition's `kind`, since
//! no type can refer to them. What a language does with a definition is the back end's affair.
//!
//! Specification: OMG CORBA 3.4 part 1, chapter 7 (OMG IDL syntax and semantics), and of OMG IDL 4.2 annotations, maps, bit sets,
//! bit masks, explicitly sized integers, struct inheritance and empty structs.

mod annotation;
mod bits;
mod clash;
mod component;
mod query;
mod types;
mod value;
mod valuetype;

pub use annotation::{Annotation, AnnotationParameter, AnnotationType, Argument, ArgumentValue};
pub(crate) use bits::octets;
pub use bits::{BitFlag, Bitfield, Bitmask, Bitset};
pub use component::{Component, Home, Origin, Port, PortKind};
pub use types::Type;
pub use value::{FixedValue, Quadruple, Value};
pub use valuetype::{Factory, StateMember, ValueBox, ValueFlavor, ValueType};

use crate::Diagnostics;
use crate::source::{Sources, Span};

/// Names one [`Definition`] of one [`Model`]. An id is meaningless in another model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DefinitionId(pub(crate) u32);

impl DefinitionId {
    /// The position of the definition in [`Model::definitions`]: dense, so side tables can be vectors.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A checked IDL specification: one main file and all that it includes.
///
/// Queries over it, such as [`Model::ancestors`], [`Model::resolve_alias`] and [`Model::is_recursive`],
/// are in the same type. Ids passed to them must come from this model; an id of a larger model panics.
#[derive(Debug)]
pub struct Model {
    pub(crate) sources: std::sync::Arc<Sources>,
    pub(crate) definitions: Vec<Definition>,
    pub(crate) top_level: Vec<DefinitionId>,
    pub(crate) imports: Vec<Import>,
    pub(crate) warnings: Diagnostics,
}

/// One named thing of the specification.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its own id.
    pub id: DefinitionId,
    /// The identifier as the IDL spells it, without the underscore that escapes a keyword.
    pub name: String,
    /// The definition whose scope it is in; `None` at file level.
    pub parent: Option<DefinitionId>,
    /// The repository id, with prefixes, versions, `typeid` and pragmas applied: `IDL:omg.org/CosNaming/Name:1.0`.
    pub repository_id: String,
    /// The comment that precedes it, without comment marks, lines separated by `\n`; empty if there is none.
    pub doc: String,
    /// Where its identifier stands. For a module: in its first opening.
    pub span: Span,
    /// True when it comes from an included file: it is to be referred to, not generated again. A module is
    /// included only if every one of its openings is.
    pub included: bool,
    /// The definitions nested directly in it, in source order. For a module, those of all its openings.
    pub contents: Vec<DefinitionId>,
    /// The annotations before it, in source order; for a module, those of all its openings.
    pub annotations: Vec<Annotation>,
    /// What it is.
    pub kind: DefinitionKind,
}

/// What a [`Definition`] is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DefinitionKind {
    /// `module`; all its openings are one definition.
    Module(Module),
    /// `const`.
    Constant(Constant),
    /// One declarator of a `typedef`.
    Typedef(Typedef),
    /// `struct`.
    Struct(Struct),
    /// `union`.
    Union(Union),
    /// `enum`.
    Enum(Enum),
    /// `exception`.
    Exception(Exception),
    /// `interface`, also abstract and local, and what is equivalent to a component, a home or an event type's consumer.
    Interface(Interface),
    /// `valuetype` with members, or `eventtype`.
    ValueType(ValueType),
    /// `valuetype Name Type;`, a boxed value.
    ValueBox(ValueBox),
    /// `native`.
    Native,
    /// `bitset`.
    Bitset(Bitset),
    /// `bitmask`.
    Bitmask(Bitmask),
    /// `@annotation`, a kind of annotation; it has no values, and nothing is to be generated for it.
    Annotation(AnnotationType),
}

/// A module and the places where it is opened.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The identifier at each opening, in source order.
    pub openings: Vec<Span>,
}

/// A constant with its evaluated value.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The declared type, perhaps an alias.
    pub ty: Type,
    /// The value, in the variant that [`Constant::ty`] resolves to.
    pub value: Value,
}

/// A new name for a type.
#[derive(Clone, Debug)]
pub struct Typedef {
    /// The type it names, one alias deep.
    pub ty: Type,
}

/// A structure. It may have no members.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// The struct that it inherits from.
    pub base: Option<DefinitionId>,
    /// The members in the order in which they are marshalled, inherited ones first.
    pub members: Vec<Member>,
    /// How many of [`Struct::members`] are inherited.
    pub inherited: usize,
}

/// A member of a struct or an exception.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its identifier.
    pub name: String,
    /// Its type; an array declarator is a [`Type::Array`].
    pub ty: Type,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// A discriminated union.
#[derive(Clone, Debug)]
pub struct Union {
    /// The discriminator's type as declared: an integer type, `octet`, `char`, `wchar`, `boolean` or an enum, perhaps
    /// through an alias.
    pub discriminator: Type,
    /// The annotations before the discriminator's type.
    pub discriminator_annotations: Vec<Annotation>,
    /// The arms in source order.
    pub arms: Vec<Arm>,
    /// The first discriminator value that no label names, or `None` when the labels cover the type. With a
    /// default arm it is the value to send for it; without, see [`Union::implicit_default`].
    pub uncovered: Option<Value>,
}

impl Union {
    /// The arm with the `default:` label.
    pub fn default_arm(&self) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.is_default)
    }

    /// The discriminator value of the state with no member, if the union has such a state: no arm is the
    /// default and some discriminator values have no label.
    pub fn implicit_default(&self) -> Option<&Value> {
        if self.default_arm().is_some() { None } else { self.uncovered.as_ref() }
    }
}

/// One arm of a union.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The member's identifier.
    pub name: String,
    /// The member's type.
    pub ty: Type,
    /// The values of its `case` labels in source order; empty if `default:` is its only label.
    pub labels: Vec<Value>,
    /// It has the label `default:`, perhaps besides others.
    pub is_default: bool,
    /// The annotations before its type, or before its first label.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// An enumeration.
#[derive(Clone, Debug, Default)]
pub struct Enum {
    /// The enumerators; on the wire each is its index. Their names live in the scope around the enum.
    pub enumerators: Vec<Enumerator>,
}

/// One value of an enumeration.
#[derive(Clone, Debug)]
pub struct Enumerator {
    /// Its identifier.
    pub name: String,
    /// The annotations before it. `@value` is kept here and changes nothing: on the wire of GIOP an enumerator is its index.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where it stands.
    pub span: Span,
}

/// A user exception; it may have no members.
#[derive(Clone, Debug, Default)]
pub struct Exception {
    /// The members in the order in which they are marshalled.
    pub members: Vec<Member>,
}

/// An interface.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// Plain, abstract or local.
    pub flavor: InterfaceFlavor,
    /// The interfaces it names after the colon, in source order. All that it inherits: [`Model::ancestors`].
    pub bases: Vec<DefinitionId>,
    /// Its own operations and attributes in source order. Inherited ones too: [`Model::all_operations`].
    pub features: Vec<Feature>,
    /// False when there is a forward declaration only: references to it can be passed on, not called.
    pub defined: bool,
    /// Whether it was an interface in the IDL, or stands for a component, a home or the consumers of events.
    pub origin: Origin,
}

impl Interface {
    /// Its own operations in source order.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        operations(&self.features)
    }

    /// Its own attributes in source order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        attributes(&self.features)
    }
}

/// Which kind of interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InterfaceFlavor {
    /// Objects that can be called from other processes.
    #[default]
    Plain,
    /// `abstract interface`: an object reference or a valuetype, as the value at run time decides.
    Abstract,
    /// `local interface`: never leaves the process.
    Local,
}

/// An operation or an attribute of an interface or a valuetype.
#[derive(Clone, Debug)]
pub enum Feature {
    /// An operation.
    Operation(Operation),
    /// One declarator of an attribute.
    Attribute(Attribute),
}

impl Feature {
    /// Its identifier.
    pub fn name(&self) -> &str {
        match self {
            Feature::Operation(it) => &it.name,
            Feature::Attribute(it) => &it.name,
        }
    }

    /// Where its identifier stands.
    pub fn span(&self) -> Span {
        match self {
            Feature::Operation(it) => it.span,
            Feature::Attribute(it) => it.span,
        }
    }
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its identifier, which is also its name on the wire.
    pub name: String,
    /// Its repository id.
    pub repository_id: String,
    /// The caller does not wait for a reply. Then there is no result, no `out` and no `raises`.
    pub oneway: bool,
    /// The type of the result; `None` is `void`.
    pub returns: Option<Type>,
    /// The parameters in source order.
    pub parameters: Vec<Parameter>,
    /// The user exceptions it may raise, in source order; of a local interface or a valuetype also native types that stand for some.
    pub raises: Vec<DefinitionId>,
    /// The context names it passes (`context("a", "b*")`).
    pub context: Vec<String>,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// A parameter of an operation or a factory.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its identifier.
    pub name: String,
    /// Which way it travels.
    pub direction: Direction,
    /// Its type.
    pub ty: Type,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Where its identifier stands.
    pub span: Span,
}

/// Which way a parameter travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To the object.
    In,
    /// Back to the caller.
    Out,
    /// Both ways.
    InOut,
}

/// An attribute: `_get_x` and, unless it is read-only, `_set_x` on the wire.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its identifier.
    pub name: String,
    /// Its repository id.
    pub repository_id: String,
    /// It cannot be set.
    pub readonly: bool,
    /// Its type.
    pub ty: Type,
    /// What reading it may raise: `getraises`, or `raises` of a read-only attribute.
    pub get_raises: Vec<DefinitionId>,
    /// What setting it may raise: `setraises`.
    pub set_raises: Vec<DefinitionId>,
    /// The annotations before it.
    pub annotations: Vec<Annotation>,
    /// Its comment.
    pub doc: String,
    /// Where its identifier stands.
    pub span: Span,
}

/// An `import` declaration, which names a scope that an earlier file brought in.
#[derive(Clone, Debug)]
pub struct Import {
    /// The scope it names.
    pub scope: DefinitionId,
    /// Where it stands.
    pub span: Span,
}

fn operations(features: &[Feature]) -> impl Iterator<Item = &Operation> {
    features.iter().filter_map(|feature| match feature {
        Feature::Operation(it) => Some(it),
        Feature::Attribute(_) => None,
    })
}

fn attributes(features: &[Feature]) -> impl Iterator<Item = &Attribute> {
    features.iter().filter_map(|feature| match feature {
        Feature::Attribute(it) => Some(it),
        Feature::Operation(_) => None,
    })
}
