//! TypeCodes as IDL writes types: `sequence<Bank::Account>`, `string<10>`, `long[3][4]`.
//!
//! Named types are their scoped names where the repository has the very type, and their repository ids otherwise.

use std::fmt;

use zorb_cdr::{TCKind, TypeCode, TypeCodeError};

use crate::repository::Repository;

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
    ("TypeCode", TCKind::TypeCode),
    ("Principal", TCKind::Principal),
    ("long long", TCKind::LongLong),
    ("unsigned long long", TCKind::ULongLong),
    ("long double", TCKind::LongDouble),
    ("wchar", TCKind::WChar),
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
        let kind = ty.kind();
        if let Some((word, _)) = BASIC.iter().find(|(_, of)| *of == kind) {
            return (*word).to_owned();
        }
        let bound = |bound: Option<u32>| bound.filter(|bound| *bound > 0);
        let of = |part: Option<TypeCode>| self.type_name(&part.unwrap_or_default());
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
                let (mut dimensions, mut element) = (String::new(), ty.clone());
                while element.kind() == TCKind::Array {
                    dimensions.push_str(&format!("[{}]", element.length().unwrap_or(0)));
                    element = element.content_type().unwrap_or_default();
                }
                self.type_name(&element) + &dimensions
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

    fn ty(&mut self) -> Result<TypeCode, TypeNameError> {
        if self.depth == NESTING {
            return Err(TypeNameError(format!("a type's name nests at most {NESTING} deep")));
        }
        self.depth += 1;
        let element = self.plain()?;
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
            ty = TypeCode::build(|to| {
                let inner = to.type_code(&inner);
                to.array(inner, length)
            })?;
        }
        Ok(ty)
    }

    fn plain(&mut self) -> Result<TypeCode, TypeNameError> {
        let first = self.word();
        match first {
            "" => Err(self.refused("needs a name here")),
            "string" => Ok(TypeCode::string(self.bound()?)),
            "wstring" => Ok(TypeCode::wstring(self.bound()?)),
            "sequence" => {
                self.expect('<')?;
                let element = self.ty()?;
                let bound = if self.eat(',') { self.number()? } else { 0 };
                self.expect('>')?;
                Ok(TypeCode::build(|to| {
                    let element = to.type_code(&element);
                    to.sequence(element, bound)
                })?)
            }
            "fixed" => {
                self.expect('<')?;
                let digits = self.number()?;
                self.expect(',')?;
                let scale = if self.eat('0') { 0 } else { self.number()? };
                self.expect('>')?;
                let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
                let scale = i16::try_from(scale).unwrap_or(i16::MAX);
                Ok(TypeCode::build(|to| to.fixed(small(digits), scale))?)
            }
            _ => self.words(first),
        }
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
    fn words(&mut self, first: &str) -> Result<TypeCode, TypeNameError> {
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
            return Ok(TypeCode::basic(*kind).unwrap_or_default());
        }
        if let Some((word, id, kind)) = ROOTS.iter().find(|(word, id, _)| *word == words || *id == words) {
            return Ok(TypeCode::build(|to| match kind {
                TCKind::Value => to.value(id, word, 0, |_| (None, Vec::new())),
                kind => to.named(*kind, id, word),
            })?);
        }
        let known = self.repository.named(&words).and_then(|definition| definition.type_code());
        known.cloned().ok_or_else(|| TypeNameError(format!("no type {words} is known")))
    }
}
