//! Values as text: [`Notation`] reads and writes them by their TypeCode, as JSON or as literals.
//!
//! | kind | JSON | literal, where it differs |
//! |---|---|---|
//! | integers, octet | number, or a string of digits | also `0xff` |
//! | float, double | number, `"NaN"`, `"Infinity"`, `"-Infinity"` | `NaN`, `Infinity`, `-Infinity` |
//! | long double | the same; what no double is, as a string | number |
//! | boolean | `true`, `false` | |
//! | char, wchar | a string of one character; half of a surrogate pair as its number | |
//! | string, wstring | string | |
//! | enum | its enumerator's name as a string | `RED` |
//! | int8, uint8 | number; a sequence of them is a list of numbers | |
//! | bitmask | the bits that are set, `["read", "write"]`; one without a name by its position; also read as the integer that it travels as | `[read, write]` |
//! | bitset | `{"kind": 1, "last": true}`; also read as the integer | `{kind: 1, last: true}` |
//! | map | `{"a": 1}` where the keys are strings, unless one begins with `$` or comes twice; otherwise, and read always, `[{"key": 1, "value": 2}]` | `{a: 1}` |
//! | struct, exception | `{"x": 1, "name": "a"}` | `{x: 1, name: "a"}` |
//! | union | `{"member": value}`, with `"$case": label` where the member has several labels or is the default; `{"$case": label}` where no member is chosen | `{member: value}` |
//! | sequence, array | `[1, 2]` | |
//! | the same of octets | `{"base64": "…"}`, `{"text": "…"}`, `{"file": "path"}` or numbers | is written as text where it is text |
//! | fixed | `"12.50"`; numbers are read too | `12.50` |
//! | any | `{"type": "IDL type", "value": …}`; empty: `null` | |
//! | TypeCode | the type's name in IDL, as a string: `sequence<M::Point>`, `map<string,long>` | a word if it has no spaces or brackets |
//! | references | any reference's text, or `null` | `IOR:…`, `corbaloc:…` |
//! | valuetype | as a struct, with the members of its bases first, or `null`; of another type than is declared with `"$type": "name"` | `{$type: M::Derived, x: 1}` |
//! | value that is shared | `{"$id": 1, …}` where it is first, `{"$ref": 1}` where it is again, and within it | `{$id: 1, next: {$ref: 1}}` |
//! | boxed value | what it holds, or `null`; `{"$value": …}` beside another key, and where that is null | |
//! | abstract interface | a reference, or a value with its `"$type"` | |
//! | custom value, and one of an unknown type in chunks | `{"$rest": [{"at": 4, "little": "base64"}]}` behind what is known: octets in that byte order, the first of which lies there modulo 8, and values between them; `"$bases"` of an unknown type | |
//! | codebase of a value | `"$codebase": "URL"` | |
//!
//! Of int8, uint8, bitmask and bitset a TypeCode has only the octet or integer that they travel as. They are written as above where the
//! repository has the IDL: as parameters ([`Interface::parameter_form`](crate::Interface::parameter_form)), in whatever has a name, and under
//! a name of their own, in anys too. Where only a TypeCode tells, as in what came from an interface repository, and for an int8 or uint8 without
//! a name in an any, they are the octet or integer: -3 is 253. `{type: int8, value: -3}` is read, and shown as `{type: octet, value: 253}`.
//!
//! Literals are a superset of JSON: members' names and simple strings need no quotes, and commas may end a list. Literals
//! nest at most 64 deep, JSON at most 128.

mod bits;
mod compose;
mod compose_value;
mod graph;
mod literal;
mod map;
mod print;
mod show;
mod show_value;
mod tree;

use std::fmt;

use serde_json::Value as Json;
use zorb_cdr::{Any, DecodeContext as _, TCKind, TypeCode};
use zorb_orb::Orb;

use crate::form::Form;
use crate::repository::{Definition, Repository};
pub(crate) use compose::write_label;
pub(crate) use map::pair;
use tree::Tree;

/// Why a text is no value of its type, or a value cannot be written: where in it, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenError {
    /// Where: `points[3].x`; empty for the value itself.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

impl WrittenError {
    pub(crate) fn new(problem: impl Into<String>) -> WrittenError {
        WrittenError { path: String::new(), problem: problem.into() }
    }

    /// The same, where the value is one part of another.
    fn within(mut self, part: &str) -> WrittenError {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{part}{dot}{}", self.path);
        self
    }

    fn at(self, index: usize) -> WrittenError {
        self.within(&format!("[{index}]"))
    }
}

impl fmt::Display for WrittenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.problem),
            false => write!(f, "{}: {}", self.path, self.problem),
        }
    }
}

impl std::error::Error for WrittenError {}

/// Values as text, and text as values.
///
/// The ORB reads and writes references, which for a `corbaname` takes a call; the repository gives the types that anys and
/// TypeCodes name.
#[derive(Clone, Copy, Debug)]
pub struct Notation<'n> {
    orb: &'n Orb,
    repository: &'n Repository,
    files: bool,
    form: &'n Form,
}

impl<'n> Notation<'n> {
    /// One that reads no files.
    pub fn new(orb: &'n Orb, repository: &'n Repository) -> Notation<'n> {
        Notation { orb, repository, files: false, form: &Form::AsDescribed }
    }

    /// One that reads the files that `{"file": "path"}` names: for text that the program's own user has written.
    #[must_use]
    pub fn reading_files(self) -> Notation<'n> {
        Notation { files: true, ..self }
    }

    /// One for values of a type of which IDL says this besides: see [`Interface::parameter_form`](crate::Interface::parameter_form).
    #[must_use]
    pub fn in_form(self, form: &'n Form) -> Notation<'n> {
        Notation { form, ..self }
    }

    /// The valuetype of this name or repository id, as the repository has it, or as the ORB is told.
    fn value_type(&self, name_or_id: &str) -> Option<TypeCode> {
        let defined = self.repository.named(name_or_id).and_then(Definition::type_code).cloned();
        defined.or_else(|| self.orb.described_value(name_or_id))
    }

    /// The value that JSON describes.
    ///
    /// # Errors
    /// JSON that is no value of the type.
    pub fn from_json(&self, json: &Json, ty: &TypeCode) -> Result<Any, WrittenError> {
        self.compose(&Tree::of_json(json, 0)?, ty)
    }

    /// The value as JSON.
    ///
    /// # Errors
    /// Octets that are no value of the type; kinds that have no text.
    pub fn to_json(&self, value: &Any) -> Result<Json, WrittenError> {
        Ok(self.show(value)?.into_json())
    }

    /// The value that a literal describes. JSON is a literal, too.
    ///
    /// # Errors
    /// A text that is no literal, or no value of the type.
    pub fn from_literal(&self, text: &str, ty: &TypeCode) -> Result<Any, WrittenError> {
        self.compose(&literal::parse(text)?, ty)
    }

    /// The value as a literal, in one line.
    ///
    /// # Errors
    /// As [`to_json`](Self::to_json).
    pub fn to_literal(&self, value: &Any) -> Result<String, WrittenError> {
        Ok(print::literal(&self.show(value)?))
    }

    /// The value that an argument of a command line describes: JSON, or a literal. For a string, a character, an enumerator, a
    /// type, a fixed or a reference it is taken as it stands, unless it begins with a quotation mark; so is `null` for a string.
    ///
    /// # Errors
    /// As [`from_literal`](Self::from_literal).
    pub fn from_argument(&self, text: &str, ty: &TypeCode) -> Result<Any, WrittenError> {
        let as_it_stands = match ty.unaliased().kind() {
            TCKind::String | TCKind::WString | TCKind::Char | TCKind::WChar => true,
            TCKind::Enum | TCKind::TypeCode | TCKind::Fixed => true,
            TCKind::ObjRef | TCKind::Component | TCKind::Home => !matches!(text, "" | "null"),
            // A value has members.
            TCKind::AbstractInterface => !matches!(text, "" | "null") && !text.trim_start().starts_with('{'),
            _ => false,
        };
        if as_it_stands && !text.starts_with('"') {
            return self.compose(&Tree::Text(text.to_owned()), ty);
        }
        // JSON is a literal, which keeps numbers as they were typed; but JSON may nest deeper.
        match literal::parse(text) {
            Ok(tree) => self.compose(&tree, ty),
            Err(refused) => match serde_json::from_str(text) {
                Ok(json) => self.from_json(&json, ty),
                Err(_) => Err(refused),
            },
        }
    }
}
