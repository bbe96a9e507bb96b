//! TypeCodes as IDL writes types: `sequence<Bank::Account>`, `string<10>`, `long[3][4]`.
//!
//! What IDL 4.2 added is described as other types are: a `map` is told by its shape, `int8` and `uint8` where a [`Form`] says so.
//!
//! Named types are their scoped names where the repository has the very type, and their repository ids otherwise.

use std::fmt;

use zorb_cdr::{TCKind, TypeCode, TypeCodeError};

use crate::form::Form;
use crate::repository::Repository;
use crate::written::pair;

/// How deeply a type's name may nest: as deep as a literal.
const NESTING: usize = 64;

/// Why a text names no type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeNameError(String);

impl fmt::Display for TypeNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeNameError {}

impl From<TypeCodeError> for TypeNameError {
    fn from(error: TypeCodeError) -> Self {
        TypeNameError(error.to_string())
    }
}

/// The types that a word, or several, name; in IDL's spelling.
const BASIC: &[(&str, TCKind)] = &[
    ("null", TCKind::Null),
    ("void", TCKind::Void),
    ("short", TCKind::Short),
    ("long", TCKind::Long),
    ("unsigned short", TCKind::UShort),
    ("unsigned long", TCKind::ULong),
    ("float", TCKind::Float),
    ("double", TCKind::Double),
    ("boolean", TCKind::Boolean),
    ("char", TCKind::Char),
    ("octet", TCKind::Octet),
    ("any", TCKind::Any),
    ("CORBA::TypeCode", TCKind::TypeCode),
    ("Principal", TCKind::Principal),
    ("long long", TCKind::LongLong),
    ("unsigned long long", TCKind::ULongLong),
    ("long double", TCKind::LongDouble),
    ("wchar", TCKind::WChar),
];

/// What IDL has more words for; of which TypeCodes do not tell all with the form.
const SYNONYMS: &[(&str, TCKind, Form)] = &[
    ("int8", TCKind::Octet, Form::Int8),
    ("uint8", TCKind::Octet, Form::UInt8),
    ("int16", TCKind::Short, Form::AsDescribed),
    ("int32", TCKind::Long, Form::AsDescribed),
    ("int64", TCKind::LongLong, Form::AsDescribed),
    ("uint16", TCKind::UShort, Form::AsDescribed),
    ("uint32", TCKind::ULong, Form::AsDescribed),
    ("uint64", TCKind::ULongLong, Form::AsDescribed),
    ("TypeCode", TCKind::TypeCode, Form::AsDescribed),
];

/// What IDL has words for and TypeCodes have ids.
const ROOTS: &[(&str, &str, TCKind)] = &[
    ("Object", "IDL:omg.org/CORBA/Object:1.0", TCKind::ObjRef),
    ("ValueBase", "IDL:omg.org/CORBA/ValueBase:1.0", TCKind::Value),
    ("AbstractBase", "IDL:omg.org/CORBA/AbstractBase:1.0", TCKind::AbstractInterface),
];

impl Repository {
    /// The type as IDL writes it.
    pub fn type_name(&self, ty: &TypeCode) -> String {
        self.formed_name(ty, &Form::AsDescribed)
    }

    /// The same of a type of which IDL says this besides.
    pub fn formed_name(&self, ty: &TypeCode, form: &Form) -> String {
        let kind = ty.kind();
        match (kind, form) {
            (TCKind::Octet, Form::Int8) => return "int8".to_owned(),
            (TCKind::Octet, Form::UInt8) => return "uint8".to_owned(),
            _ => {}
        }
        if let Some((word, _)) = BASIC.iter().find(|(_, of)| *of == kind) {
            return (*word).to_owned();
        }
        let bound = |bound: Option<u32>| bound.filter(|bound| *bound > 0);
        let of = |part: Option<TypeCode>| self.formed_name(&part.unwrap_or_default(), &form.elements());
        if let Some((key, value)) = pair(ty) {
            let (key_form, value_form) = form.pair();
            let bound = bound(ty.length()).map_or(String::new(), |bound| format!(",{bound}"));
            let (key, value) = (self.formed_name(&key, &key_form), self.formed_name(&value, &value_form));
            return format!("map<{key},{value}{bound}>");
        }
        match kind {
            TCKind::String | TCKind::WString => match bound(ty.length()) {
                Some(bound) => format!("{kind}<{bound}>"),
                None => kind.to_string(),
            },
            TCKind::Fixed => {
                let (digits, scale) = (ty.fixed_digits().unwrap_or(0), ty.fixed_scale().unwrap_or(0));
                format!("fixed<{digits},{scale}>")
            }
            TCKind::Sequence => match bound(ty.length()) {
                Some(bound) => format!("sequence<{},{bound}>", of(ty.content_type())),
                None => format!("sequence<{}>", of(ty.content_type())),
            },
            TCKind::Array => {
                let (mut dimensions, mut element, mut form) = (String::new(), ty.clone(), form.clone());
                while element.kind() == TCKind::Array {
                    dimensions.push_str(&format!("[{}]", element.length().unwrap_or(0)));
                    element = element.content_type().unwrap_or_default();
                    form = form.elements();
                }
                self.formed_name(&element, &form) + &dimensions
            }
            _ => self.named_type(ty),
        }
    }

    fn named_type(&self, ty: &TypeCode) -> String {
        let id = ty.id().unwrap_or_default();
        if let Some((word, ..)) = ROOTS.iter().find(|(_, root, _)| *root == id) {
            return (*word).to_owned();
        }
        match self.definition(id) {
            Some(definition) if definition.type_code() == Some(ty) => definition.scoped_name.clone(),
            _ if id.is_empty() => format!("{} {}", ty.kind(), ty.name().unwrap_or_default()),
            _ => id.to_owned(),
        }
    }

    /// The type that a text names: in IDL's words, by a scoped name or by a repository id.
    ///
    /// # Errors
    /// A text that is no type's name; a name that is not known here.
    pub fn type_named(&self, text: &str) -> Result<TypeCode, TypeNameError> {
        self.formed_type(text).map(|(ty, _)| ty)
    }

    /// The same, with what the name says and the TypeCode does not.
    ///
    /// # Errors
    /// As [`type_named`](Self::type_named).
    pub fn formed_type(&self, text: &str) -> Result<(TypeCode, Form), TypeNameError> {
        let mut reader = Reader { repository: self, whole: text, rest: text, depth: 0 };
        let ty = reader.ty()?;
        reader.space();
        if reader.rest.is_empty() { Ok(ty) } else { Err(reader.refused("ends behind a type")) }
    }
}

struct Reader<'t> {
    repository: &'t Repository,
    whole: &'t str,
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn refused(&self, expected: &str) -> TypeNameError {
        let found = match self.rest.is_empty() {
            true => "its end".to_owned(),
            false => format!("{:?}", self.rest),
        };
        TypeNameError(format!("{:?} names no type: it {expected}, and there is {found}", self.whole))
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, mark: char) -> bool {
        self.space();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: char) -> Result<(), TypeNameError> {
        if self.eat(mark) { Ok(()) } else { Err(self.refused(&format!("needs {mark:?} here"))) }
    }

    fn number(&mut self) -> Result<u32, TypeNameError> {
        self.space();
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| self.refused("needs a number above 0 here"))?;
        self.rest = rest;
        Ok(number)
    }

    fn word(&mut self) -> &'t str {
        self.space();
        let end = self.rest.find(|it: char| it.is_whitespace() || "<>[],".contains(it));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn ty(&mut self) -> Result<(TypeCode, Form), TypeNameError> {
        if self.depth == NESTING {
            return Err(TypeNameError(format!("a type's name nests at most {NESTING} deep")));
        }
        self.depth += 1;
        let (element, mut form) = self.plain()?;
        self.depth -= 1;
        let mut dimensions = Vec::new();
        while self.eat('[') {
            dimensions.push(self.number()?);
            self.expect(']')?;
            if dimensions.len() > NESTING {
                return Err(TypeNameError(format!("an array has at most {NESTING} dimensions here")));
            }
        }
        let mut ty = element;
        for length in dimensions.into_iter().rev() {
            let inner = ty;
            form = form.of_elements();
            ty = TypeCode::build(|to| {
                let inner = to.type_code(&inner);
                to.array(inner, length)
            })?;
        }
        Ok((ty, form))
    }

    fn plain(&mut self) -> Result<(TypeCode, Form), TypeNameError> {
        let first = self.word();
        let ty = match first {
            "" => return Err(self.refused("needs a name here")),
            "string" => TypeCode::string(self.bound()?),
            "wstring" => TypeCode::wstring(self.bound()?),
            "map" => return self.map(),
            "sequence" => {
                self.expect('<')?;
                let (element, form) = self.ty()?;
                let bound = if self.eat(',') { self.number()? } else { 0 };
                self.expect('>')?;
                let ty = TypeCode::build(|to| {
                    let element = to.type_code(&element);
                    to.sequence(element, bound)
                })?;
                return Ok((ty, form.of_elements()));
            }
            "fixed" => {
                self.expect('<')?;
                let digits = self.number()?;
                self.expect(',')?;
                let scale = if self.eat('0') { 0 } else { self.number()? };
                self.expect('>')?;
                let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
                let scale = i16::try_from(scale).unwrap_or(i16::MAX);
                TypeCode::build(|to| to.fixed(small(digits), scale))?
            }
            _ => return self.words(first),
        };
        Ok((ty, Form::AsDescribed))
    }

    /// A map, as it is described: a sequence of pairs.
    fn map(&mut self) -> Result<(TypeCode, Form), TypeNameError> {
        self.expect('<')?;
        let (key, key_form) = self.ty()?;
        self.expect(',')?;
        let (value, value_form) = self.ty()?;
        let bound = if self.eat(',') { self.number()? } else { 0 };
        self.expect('>')?;
        let ty = TypeCode::build(|to| {
            let pair = to.structure("", "", |to| {
                let (key, value) = (to.type_code(&key), to.type_code(&value));
                vec![("key", key), ("value", value)]
            });
            to.sequence(pair, bound)
        })?;
        Ok((ty, Form::of_map(key_form, value_form)))
    }

    fn bound(&mut self) -> Result<u32, TypeNameError> {
        if !self.eat('<') {
            return Ok(0);
        }
        let bound = self.number()?;
        self.expect('>')?;
        Ok(bound)
    }

    /// What is one word or several, or a definition's name.
    fn words(&mut self, first: &str) -> Result<(TypeCode, Form), TypeNameError> {
        let mut words = first.to_owned();
        if matches!(first, "unsigned" | "long") {
            loop {
                let before = self.rest;
                let next = self.word();
                if !matches!(next, "short" | "long" | "double") {
                    self.rest = before;
                    break;
                }
                words = format!("{words} {next}");
            }
        }
        if let Some((_, kind)) = BASIC.iter().find(|(spelt, _)| *spelt == words) {
            return Ok((TypeCode::basic(*kind).unwrap_or_default(), Form::AsDescribed));
        }
        if let Some((_, kind, form)) = SYNONYMS.iter().find(|(spelt, ..)| *spelt == words) {
            return Ok((TypeCode::basic(*kind).unwrap_or_default(), form.clone()));
        }
        let bare = words.strip_prefix("CORBA::").unwrap_or(&words);
        if let Some((word, id, kind)) = ROOTS.iter().find(|(word, id, _)| *word == bare || *id == words) {
            let ty = TypeCode::build(|to| match kind {
                TCKind::Value => to.value(id, word, 0, |_| (None, Vec::new())),
                kind => to.named(*kind, id, word),
            })?;
            return Ok((ty, Form::AsDescribed));
        }
        let known = self.repository.named(&words).and_then(|definition| definition.type_code());
        let known = known.cloned().map(|ty| (ty, Form::AsDescribed));
        known.ok_or_else(|| TypeNameError(format!("no type {words} is known")))
    }
}
