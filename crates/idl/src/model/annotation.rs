//! Annotations: what was said about a definition, and the kinds of annotation that IDL defines. IDL 4.2, 7.4.15 and 8.

use super::{Type, Value};
use crate::DefinitionId;
use crate::source::Span;

/// One annotation as it was applied, such as `@range(min = 1, max = 9)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Annotation {
    /// Its name as written, without the `@`: `range`, `Module::unit`.
    pub name: String,
    /// Its `@annotation` definition; `None` for the standard ones of IDL 4.2 and for unknown ones.
    pub definition: Option<DefinitionId>,
    /// It is neither a standard one nor defined: its arguments were not checked against anything.
    pub unknown: bool,
    /// The arguments. Of a known annotation one for each parameter, in the order in which it declares them, those that
    /// were left out with their defaults; of an unknown one as written.
    pub arguments: Vec<Argument>,
    /// Where it stands, from the `@` to its end.
    pub span: Span,
}

impl Annotation {
    /// The value of a parameter.
    pub fn argument(&self, name: &str) -> Option<&ArgumentValue> {
        self.arguments.iter().find(|it| it.name == name).map(|it| &it.value)
    }
}

/// One argument of an annotation.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// The parameter. Of an unknown annotation, empty if the argument was written without a name.
    pub name: String,
    /// What was given, or the default.
    pub value: ArgumentValue,
}

/// The value of an annotation's argument.
#[derive(Clone, PartialEq, Debug)]
pub enum ArgumentValue {
    /// A value: of the parameter's type; where that is `any`, of the type of what is annotated (`@default`, `@min`, `@max`,
    /// `@range`), or else of the type that the expression has by itself.
    Value(Value),
    /// One of the words that a standard annotation knows, such as `APPENDABLE`; of an unknown annotation, a name.
    Word(String),
}

/// A kind of annotation that the IDL defines by `@annotation`. The name of its definition starts with `@`, so that it
/// never meets that of a type.
#[derive(Clone, Debug, Default)]
pub struct AnnotationType {
    /// Its parameters in source order.
    pub parameters: Vec<AnnotationParameter>,
}

/// A parameter of an [`AnnotationType`].
#[derive(Clone, Debug)]
pub struct AnnotationParameter {
    /// Its identifier.
    pub name: String,
    /// Its type: one that a constant can have, or `any`.
    pub ty: Type,
    /// What it is where an application leaves it out; `None` if it must be given.
    pub default: Option<Value>,
    /// Where its identifier stands.
    pub span: Span,
}
