//! What is known of an operation that no stub was generated for.

use std::sync::Arc;

use zorb_cdr::{Any, DecodeError, Decoder, TCKind, TypeCode};

use crate::exception::{Completion, Kind, Minor, SystemException};

/// Which way a parameter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// To the object.
    In,
    /// Back to the caller.
    Out,
    /// Both.
    InOut,
}

impl Mode {
    /// Whether the caller gives it.
    pub const fn is_given(self) -> bool {
        matches!(self, Mode::In | Mode::InOut)
    }

    /// Whether the caller gets it.
    pub const fn comes_back(self) -> bool {
        matches!(self, Mode::Out | Mode::InOut)
    }
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As IDL names it: for people, and for errors.
    pub name: String,
    /// Which way it goes.
    pub mode: Mode,
    /// Its type.
    pub ty: TypeCode,
}

impl Parameter {
    /// Its value, which no TypeCode precedes.
    pub(super) fn read(&self, from: &mut Decoder<'_>) -> Result<Any, DecodeError> {
        Any::decode_value(self.ty.clone(), from).map_err(|error| error.in_named(&self.name))
    }
}

/// An operation, as IDL declares it: what a stub is generated from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Signature {
    /// The name on the wire: attributes are `_get_x` and `_set_x`.
    pub operation: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// What it returns; of kind void if nothing.
    pub result: TypeCode,
    /// The user exceptions that it may raise, each of kind except.
    pub raises: Vec<TypeCode>,
    /// Whether it is declared `oneway`: nothing comes back.
    pub oneway: bool,
    /// The names of its `context` clause, `user` or `sys_*`: if there are any, properties go with its arguments.
    pub contexts: Vec<String>,
}

impl Signature {
    /// An operation without parameters, that returns nothing.
    pub fn new(operation: impl Into<String>) -> Signature {
        Signature {
            operation: operation.into(),
            parameters: Vec::new(),
            result: TypeCode::basic(TCKind::Void).unwrap_or_default(),
            raises: Vec::new(),
            oneway: false,
            contexts: Vec::new(),
        }
    }

    /// The same with another parameter.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, mode: Mode, ty: TypeCode) -> Signature {
        self.parameters.push(Parameter { name: name.into(), mode, ty });
        self
    }

    /// The same with another `in` parameter.
    #[must_use]
    pub fn takes(self, name: impl Into<String>, ty: TypeCode) -> Signature {
        self.parameter(name, Mode::In, ty)
    }

    /// The same with a result.
    #[must_use]
    pub fn gives(mut self, ty: TypeCode) -> Signature {
        self.result = ty;
        self
    }

    /// The same with another exception.
    #[must_use]
    pub fn raises(mut self, exception: TypeCode) -> Signature {
        self.raises.push(exception);
        self
    }

    /// The same as a oneway.
    #[must_use]
    pub fn oneway(mut self) -> Signature {
        self.oneway = true;
        self
    }

    /// The same with another name in its `context` clause.
    #[must_use]
    pub fn context(mut self, name: impl Into<String>) -> Signature {
        self.contexts.push(name.into());
        self
    }

    /// The parameters that the caller gives, in order.
    pub fn given(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.is_given())
    }

    /// The parameters that come back, in order.
    pub fn outputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.mode.comes_back())
    }

    /// The exception of this repository id, if it may be raised.
    pub fn exception(&self, id: &str) -> Option<&TypeCode> {
        self.raises.iter().find(|exception| exception.id() == Some(id))
    }

    /// Whether it returns something.
    pub(super) fn has_result(&self) -> bool {
        !matches!(self.result.kind(), TCKind::Void | TCKind::Null)
    }

    /// What it is that is no signature of an operation.
    pub(super) fn check(self: &Arc<Self>) -> Result<(), SystemException> {
        let refused = |what: String| Err(SystemException::BadParam(format!("{}: {what}", self.operation)));
        if let Some(raised) = self.raises.iter().find(|raised| raised.kind() != TCKind::Except) {
            return refused(format!("it raises a {}, which is no exception", raised.kind()));
        }
        if self.oneway && (self.has_result() || self.outputs().next().is_some() || !self.raises.is_empty()) {
            return refused("a oneway has no result, no out parameter and no exception".to_owned());
        }
        Ok(())
    }
}

/// Whether there is a value for each of these parameters, of its type.
pub(super) fn check<'s>(
    operation: &str,
    values: &[Any],
    parameters: impl Iterator<Item = &'s Parameter>,
) -> Result<(), SystemException> {
    let mut left = values.iter();
    let mut count = 0;
    for parameter in parameters {
        count += 1;
        if let Some(value) = left.next() {
            check_type(operation, &parameter.name, value, &parameter.ty)?;
        }
    }
    if count != values.len() {
        let what = format!("{operation}: {} values were given for {count} parameters", values.len());
        return Err(SystemException::BadParam(what));
    }
    Ok(())
}

pub(super) fn check_type(
    operation: &str,
    what: &str,
    value: &Any,
    ty: &TypeCode,
) -> Result<(), SystemException> {
    if value.type_code().equivalent(ty) {
        return Ok(());
    }
    let what =
        format!("{operation}: {what} is a {}, and the value given a {}", named(ty), named(value.type_code()));
    Err(SystemException::BadParam(what))
}

fn named(ty: &TypeCode) -> String {
    match ty.id() {
        Some(id) => format!("{} ({id})", ty.kind()),
        None => ty.kind().to_string(),
    }
}

/// What a caller sees of an exception that the operation does not declare (CORBA 3.4 part 1 §4.12.3.1).
pub(super) fn undeclared(id: &str) -> SystemException {
    let text = format!("the object raised {id}, which the operation does not declare");
    SystemException::new(Kind::Unknown, Minor::omg(1), Completion::Yes, text)
}
