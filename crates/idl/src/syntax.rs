//! The syntax tree: declarations as written, names not yet resolved.

use std::rc::Rc;

use crate::model::{Direction, FixedValue, InterfaceFlavor, PortKind, Type, ValueFlavor};
use crate::source::Span;
use crate::token::Pragma;

/// An identifier where it is declared or used.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
}

/// `A::B` or `::A::B`; at least one part.
#[derive(Clone, Debug)]
pub(crate) struct ScopedName {
    pub(crate) absolute: bool,
    pub(crate) parts: Vec<Name>,
    pub(crate) span: Span,
}

impl ScopedName {
    pub(crate) fn written(&self) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|part| &*part.text).collect();
        format!("{}{}", if self.absolute { "::" } else { "" }, parts.join("::"))
    }
}

/// What stands in a file, module, interface or valuetype, in order.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Module { name: Name, doc: String, items: Vec<Item> },
    Constant { name: Name, doc: String, ty: TypeSpec, value: Expression },
    Typedef(Field),
    Native { name: Name, doc: String },
    Constructed(Constructed),
    Interface(Interface),
    Value(Value),
    ValueBox { name: Name, doc: String, ty: TypeSpec },
    Operation(Operation),
    Attribute(Attribute),
    State { public: bool, field: Field },
    Component(Component),
    Home(Home),
    Port(Port),
    Finder { name: Name, doc: String, parameters: Vec<Parameter>, raises: Vec<ScopedName> },
    Factory { name: Name, doc: String, parameters: Vec<Parameter>, raises: Vec<ScopedName> },
    TypeId { name: ScopedName, id: String, span: Span },
    TypePrefix { name: Option<ScopedName>, prefix: String, span: Span },
    Import(Imported),
    Pragma(Rc<Pragma>),
    Annotated(Vec<Annotation>, Box<Item>),
    AnnotationType(AnnotationType),
    Bitset(Bitset),
    Bitmask(Bitmask),
    EnterFile,
    LeaveFile,
}

/// What an `import` names.
#[derive(Clone, Debug)]
pub(crate) enum Imported {
    Scope(ScopedName),
    /// By its repository id.
    Id(String, Span),
}

/// A struct, union, enum or exception.
#[derive(Clone, Debug)]
pub(crate) struct Constructed {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    ForwardStruct,
    ForwardUnion,
    Struct { base: Option<ScopedName>, fields: Vec<Field> },
    Union { annotations: Vec<Annotation>, discriminator: TypeSpec, arms: Vec<Arm> },
    Enum(Vec<Enumerator>),
    Exception(Vec<Field>),
}

/// One value of an enum, or one bit of a bitmask.
#[derive(Clone, Debug)]
pub(crate) struct Enumerator {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) name: Name,
    pub(crate) doc: String,
}

/// `@name(value)` or `@name(parameter = value, ...)`.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) name: ScopedName,
    pub(crate) arguments: Vec<(Option<Name>, Expression)>,
    pub(crate) span: Span,
}

/// `@annotation name { ... };`
#[derive(Clone, Debug)]
pub(crate) struct AnnotationType {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) parameters: Vec<AnnotationParameter>,
    /// Types and constants that it brings with it.
    pub(crate) items: Vec<Item>,
}

/// `type name default value;`
#[derive(Clone, Debug)]
pub(crate) struct AnnotationParameter {
    pub(crate) ty: TypeSpec,
    pub(crate) name: Name,
    pub(crate) default: Option<Expression>,
}

#[derive(Clone, Debug)]
pub(crate) struct Bitset {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) base: Option<ScopedName>,
    pub(crate) fields: Vec<Bitfield>,
}

/// `bitfield<bits, type> a, b;`
#[derive(Clone, Debug)]
pub(crate) struct Bitfield {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) bits: Expression,
    pub(crate) ty: Option<TypeSpec>,
    /// None for bits that are left free.
    pub(crate) names: Vec<Name>,
    pub(crate) doc: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Bitmask {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) flags: Vec<Enumerator>,
}

/// `type a, b[3];`
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) ty: TypeSpec,
    pub(crate) declarators: Vec<Declarator>,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Declarator {
    pub(crate) name: Name,
    pub(crate) dimensions: Vec<Expression>,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) labels: Vec<CaseLabel>,
    pub(crate) ty: TypeSpec,
    pub(crate) declarator: Declarator,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) enum CaseLabel {
    Default(Span),
    Case(Expression),
}

#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) flavor: InterfaceFlavor,
    pub(crate) bases: Vec<ScopedName>,
    /// `None` is a forward declaration.
    pub(crate) items: Option<Vec<Item>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: Name,
    pub(crate) doc: String,
    /// It is an `eventtype`.
    pub(crate) event: bool,
    pub(crate) flavor: ValueFlavor,
    pub(crate) truncatable: Option<Span>,
    pub(crate) bases: Vec<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    /// `None` is a forward declaration.
    pub(crate) items: Option<Vec<Item>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) base: Option<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    /// Ports and attributes; `None` is a forward declaration.
    pub(crate) items: Option<Vec<Item>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) kind: PortKind,
    pub(crate) ty: TypeSpec,
    pub(crate) name: Name,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Home {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) base: Option<ScopedName>,
    pub(crate) supports: Vec<ScopedName>,
    pub(crate) manages: ScopedName,
    pub(crate) key: Option<ScopedName>,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) name: Name,
    pub(crate) doc: String,
    pub(crate) oneway: Option<Span>,
    pub(crate) returns: Option<TypeSpec>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) raises: Vec<ScopedName>,
    pub(crate) context: Vec<(String, Span)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) direction: Direction,
    pub(crate) ty: TypeSpec,
    pub(crate) name: Name,
}

#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) readonly: bool,
    pub(crate) ty: TypeSpec,
    pub(crate) names: Vec<Name>,
    pub(crate) get_raises: Vec<ScopedName>,
    pub(crate) set_raises: Vec<ScopedName>,
    pub(crate) doc: String,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeSpec {
    Simple(Type, Span),
    String {
        wide: bool,
        bound: Expression,
        span: Span,
    },
    Sequence {
        element: Box<TypeSpec>,
        bound: Option<Expression>,
    },
    Map {
        key: Box<TypeSpec>,
        value: Box<TypeSpec>,
        bound: Option<Expression>,
    },
    /// `fixed<digits, scale>`; a constant's type has neither.
    Fixed {
        parameters: Option<(Expression, Expression)>,
        span: Span,
    },
    Named(ScopedName),
    Constructed(Box<Constructed>),
}

/// A constant expression in postfix order: evaluating or dropping it needs no recursion, however long it is.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    pub(crate) steps: Vec<(Step, Span)>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Integer(u64),
    /// As written.
    Float(Rc<str>),
    Fixed(FixedValue),
    Char(u8),
    WChar(u16),
    String(Rc<str>),
    WString(Rc<str>),
    Boolean(bool),
    Name(ScopedName),
    Unary(&'static str),
    Binary(&'static str),
}
