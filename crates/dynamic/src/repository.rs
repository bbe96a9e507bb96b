//! [`Repository`]: what IDL declares, as data: every type with its TypeCode, every operation with its signature.
//!
//! ```text
//! zorb_idl::Model ── Repository::add ──► Definition { id, name, scoped name, parent, contents, content }
//!                                                                                             │
//!                       Module, Constant, Type, Value, Interface, Operation, Attribute ◄──────┘
//! ```
//!
//! Operations and attributes are definitions of their own here, as in CORBA's interface repository (CORBA 3.3 part 1, chapter
//! 14), which is served from this.

mod carried;
mod constant;
mod import;
mod learn;
mod types;

pub use carried::CarriedError;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use zorb_cdr::{Any, TCKind, TypeCode, TypeCodeError};
use zorb_orb::dynamic::Signature;

use crate::form::Form;
use crate::interface::Interface;

/// Names one [`Definition`] of one [`Repository`]. Of another repository it is meaningless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(usize);

impl Place {
    /// Its position in [`Repository::definitions`].
    pub fn index(self) -> usize {
        self.0
    }
}

/// What IDL files declare.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    definitions: Vec<Definition>,
    top_level: Vec<Place>,
    by_id: HashMap<String, Place>,
    by_name: HashMap<String, Place>,
    /// What TypeCodes do not tell: of the parts of types, and of an operation's result and parameters, by repository id.
    forms: HashMap<String, Arc<[Form]>>,
}

/// One named thing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// Its repository id.
    pub id: String,
    /// Its identifier.
    pub name: String,
    /// Its name with all scopes, `Bank::Account`.
    pub scoped_name: String,
    /// Its version, which is the last part of an id that begins with `IDL:`; otherwise `1.0`.
    pub version: String,
    /// What it is declared in; `None` at file level.
    pub parent: Option<Place>,
    /// What is declared in it: operations and attributes in source order, then types and constants in source order.
    pub contents: Vec<Place>,
    /// What it is.
    pub content: Content,
}

/// What a [`Definition`] is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Content {
    /// A `module`.
    Module,
    /// A `const`.
    Constant {
        /// Of its type, which may be an alias.
        value: Any,
    },
    /// A `typedef`, `struct`, `union`, `enum`, `exception`, boxed value or `native`, all of which its TypeCode tells; what
    /// CORBA has no kind for (`bitset`, `bitmask`) as an alias of the integer that it travels as.
    Type(TypeCode),
    /// A `valuetype` or `eventtype`.
    Value(ValueContent),
    /// An `interface`.
    Interface(InterfaceContent),
    /// An operation of an interface or a valuetype.
    Operation(OperationContent),
    /// An attribute of an interface or a valuetype.
    Attribute(AttributeContent),
}

/// A valuetype.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ValueContent {
    /// Its TypeCode: state, base and modifier.
    pub ty: TypeCode,
    /// The repository id of the value that it inherits state from.
    pub base: Option<String>,
    /// Those of the abstract values that it inherits from.
    pub abstract_bases: Vec<String>,
    /// Those of the interfaces that it supports.
    pub supports: Vec<String>,
    /// Its initializers, as operations that return nothing.
    pub initializers: Vec<Arc<Signature>>,
    /// Whether it is more than a forward declaration.
    pub defined: bool,
}

/// An interface.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InterfaceContent {
    /// Its TypeCode, whose kind tells plain, abstract and local ones apart.
    pub ty: TypeCode,
    /// The repository ids that it names after the colon.
    pub bases: Vec<String>,
    /// Whether it is more than a forward declaration.
    pub defined: bool,
}

/// An operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationContent {
    /// What a caller needs.
    pub signature: Arc<Signature>,
}

/// An attribute.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AttributeContent {
    /// The operation `_get_x`, whose result is of the attribute's type.
    pub get: Arc<Signature>,
    /// The operation `_set_x`, unless it is read-only.
    pub set: Option<Arc<Signature>>,
}

/// Why a model cannot be described.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DescriptionError {
    /// The scoped name of what cannot be described.
    pub of: String,
    /// Why it has no TypeCode.
    pub why: TypeCodeError,
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no TypeCode: {}", self.of, self.why)
    }
}

impl std::error::Error for DescriptionError {}

impl Definition {
    /// The TypeCode of what is a type.
    pub fn type_code(&self) -> Option<&TypeCode> {
        match &self.content {
            Content::Type(ty) => Some(ty),
            Content::Value(value) => Some(&value.ty),
            Content::Interface(interface) => Some(&interface.ty),
            _ => None,
        }
    }
}

impl Repository {
    /// One that is empty.
    pub fn new() -> Repository {
        Repository::default()
    }

    /// What a model declares.
    ///
    /// # Errors
    /// A type that no TypeCode can describe.
    pub fn of_model(model: &zorb_idl::Model) -> Result<Repository, DescriptionError> {
        let mut repository = Repository::new();
        repository.add(model)?;
        Ok(repository)
    }

    /// All definitions, each behind the one that contains it; position = [`Place::index`].
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The definitions at file level, in the order in which they came.
    pub fn top_level(&self) -> &[Place] {
        &self.top_level
    }

    /// The definition at a place of this repository. Panics at one of a larger repository.
    pub fn at(&self, place: Place) -> &Definition {
        &self.definitions[place.0]
    }

    /// Where the definition of a repository id is.
    pub fn place_of(&self, id: &str) -> Option<Place> {
        self.by_id.get(id).copied()
    }

    /// The definition of a repository id.
    pub fn definition(&self, id: &str) -> Option<&Definition> {
        self.place_of(id).map(|place| self.at(place))
    }

    /// Where the definition of a scoped name is, `Bank::Account` or `::Bank::Account`.
    pub fn find(&self, scoped_name: &str) -> Option<Place> {
        self.by_name.get(scoped_name.strip_prefix("::").unwrap_or(scoped_name)).copied()
    }

    /// The definition that a repository id or a scoped name means.
    pub fn named(&self, name_or_id: &str) -> Option<&Definition> {
        self.definition(name_or_id).or_else(|| self.find(name_or_id).map(|place| self.at(place)))
    }

    /// What can be called at objects of an interface, that is named by its repository id or its scoped name; `None` where
    /// that is no interface.
    pub fn interface(&self, name_or_id: &str) -> Option<Interface> {
        let definition = self.named(name_or_id)?;
        let Content::Interface(content) = &definition.content else { return None };
        let ancestors = self.ancestors(&definition.id);
        let owners = std::iter::once(definition).chain(ancestors.iter().filter_map(|id| self.definition(id)));
        let mut interface = Interface::new(&definition.id, &definition.scoped_name);
        for owner in owners {
            for place in &owner.contents {
                match &self.at(*place).content {
                    Content::Operation(operation) => {
                        interface
                            .add_formed(operation.signature.clone(), self.forms.get(&self.at(*place).id));
                    }
                    Content::Attribute(attribute) => {
                        let form = self.part_form(&self.at(*place).id, 0);
                        let of_set =
                            (form != Form::AsDescribed).then(|| [Form::AsDescribed, form.clone()].into());
                        interface.add_formed(attribute.get.clone(), self.forms.get(&self.at(*place).id));
                        attribute
                            .set
                            .iter()
                            .for_each(|set| interface.add_formed(set.clone(), of_set.as_ref()));
                    }
                    _ => {}
                }
            }
        }
        interface.bases.clone_from(&content.bases);
        interface.ancestors = ancestors;
        Some(interface)
    }

    /// What IDL says of a part of a type and the TypeCode does not: of a member, by its position in the TypeCode, of a union behind the
    /// discriminator; of an alias and a boxed value of what they hold.
    pub(crate) fn part_form(&self, id: &str, part: usize) -> Form {
        self.forms.get(id).and_then(|forms| forms.get(part)).cloned().unwrap_or_default()
    }

    /// Remembers those forms of which one says something.
    fn keep_forms(&mut self, id: &str, forms: Vec<Form>) {
        if forms.iter().any(|form| *form != Form::AsDescribed) {
            self.forms.insert(id.to_owned(), forms.into());
        }
    }

    /// A type without the names that it goes by, and what IDL says under those.
    pub(crate) fn unaliased(&self, ty: &TypeCode, form: &Form) -> (TypeCode, Form) {
        if self.forms.is_empty() || ty.kind() != TCKind::Alias {
            return (ty.unaliased(), form.clone());
        }
        let (mut ty, mut form) = (ty.clone(), form.clone());
        while ty.kind() == TCKind::Alias {
            form = self.part_form(ty.id().unwrap_or_default(), 0);
            ty = ty.content_type().unwrap_or_default();
        }
        (ty, form)
    }

    /// The interfaces that have definitions here, in source order.
    pub fn interfaces(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().filter(
            |definition| matches!(&definition.content, Content::Interface(content) if content.defined),
        )
    }

    /// The repository ids of all that an interface or a valuetype inherits from or supports: each once, nearest first. What is not defined
    /// here is named, and not followed.
    pub fn ancestors(&self, id: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut pending: Vec<&String> = self.bases(id);
        pending.reverse();
        while let Some(base) = pending.pop() {
            if base != id && !found.contains(base) {
                found.push(base.clone());
                pending.extend(self.bases(base).into_iter().rev());
            }
        }
        found
    }

    fn bases(&self, id: &str) -> Vec<&String> {
        match self.definition(id).map(|definition| &definition.content) {
            Some(Content::Interface(content)) => content.bases.iter().collect(),
            Some(Content::Value(value)) => {
                value.base.iter().chain(&value.abstract_bases).chain(&value.supports).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether objects or values of `id` are also of `other`.
    pub fn is_a(&self, id: &str, other: &str) -> bool {
        let root = match self.definition(id).and_then(Definition::type_code).map(TypeCode::kind) {
            Some(TCKind::Value | TCKind::Event | TCKind::ValueBox) => "IDL:omg.org/CORBA/ValueBase:1.0",
            Some(TCKind::AbstractInterface) => "IDL:omg.org/CORBA/AbstractBase:1.0",
            _ => "IDL:omg.org/CORBA/Object:1.0",
        };
        id == other || other == root || self.ancestors(id).iter().any(|ancestor| ancestor == other)
    }
}
