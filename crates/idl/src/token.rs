//! What the lexer cuts text into.

use std::rc::Rc;

use crate::model::FixedValue;
use crate::source::Span;

/// A token with its place and the comments before it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// Comments since the previous token; the first may stand on that token's line.
    pub(crate) comments: Vec<Span>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TokenKind {
    /// An identifier that is not a keyword, or an escaped one (whose underscore is taken off).
    Identifier(Rc<str>),
    /// A keyword, as in [`KEYWORDS`].
    Keyword(&'static str),
    /// One of the operators and brackets, as written.
    Punctuation(&'static str),
    Integer(u64),
    /// A floating-point literal as written; what it is computed in decides its value.
    Float(Rc<str>),
    Fixed(FixedValue),
    Char(u8),
    WChar(u16),
    String(Rc<str>),
    WString(Rc<str>),
    /// A `#pragma` that means something to the checker; none of these reach the grammar.
    Pragma(Rc<Pragma>),
    /// The text that follows comes from another file, until the matching `LeaveFile`.
    EnterFile,
    LeaveFile,
    /// Text that cannot be a token; it was reported.
    Bad,
    End,
}

/// The pragmas of the specification, CORBA 3.4 part 1, 14.7.5.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Pragma {
    Prefix { prefix: String, span: Span },
    Id { name: String, id: String, span: Span },
    Version { name: String, version: String, span: Span },
}

impl TokenKind {
    /// How an error names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            TokenKind::Identifier(it) => format!("`{it}`"),
            TokenKind::Keyword(it) | TokenKind::Punctuation(it) => format!("`{it}`"),
            TokenKind::Integer(_) => "an integer literal".into(),
            TokenKind::Float(_) => "a floating-point literal".into(),
            TokenKind::Fixed(_) => "a fixed-point literal".into(),
            TokenKind::Char(_) => "a character literal".into(),
            TokenKind::WChar(_) => "a wide character literal".into(),
            TokenKind::String(_) => "a string literal".into(),
            TokenKind::WString(_) => "a wide string literal".into(),
            TokenKind::Pragma(_) => "a pragma".into(),
            TokenKind::EnterFile => "an included file".into(),
            TokenKind::LeaveFile | TokenKind::End => "the end of the file".into(),
            TokenKind::Bad => "text that is no IDL".into(),
        }
    }
}

/// The keywords of CORBA 3.4 part 1, table 7-6, without those of components. Those that IDL 4 adds name things in older
/// IDL; the parser knows them where they can mean nothing else.
pub(crate) const KEYWORDS: &[&str] = &[
    "FALSE",
    "Object",
    "TRUE",
    "ValueBase",
    "abstract",
    "any",
    "attribute",
    "boolean",
    "case",
    "char",
    "const",
    "context",
    "custom",
    "default",
    "double",
    "enum",
    "exception",
    "factory",
    "fixed",
    "float",
    "getraises",
    "import",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "module",
    "native",
    "octet",
    "oneway",
    "out",
    "private",
    "public",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "truncatable",
    "typedef",
    "typeid",
    "typeprefix",
    "union",
    "unsigned",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

/// Keywords that came after CORBA 2.2. The IDL of standard services is older and has names such as `Factory`, so a name
/// that differs from one of these in case is warned about only.
pub(crate) const LATER_KEYWORDS: &[&str] = &[
    "ValueBase",
    "abstract",
    "custom",
    "factory",
    "getraises",
    "import",
    "local",
    "native",
    "private",
    "public",
    "setraises",
    "supports",
    "truncatable",
    "typeid",
    "typeprefix",
    "valuetype",
];

/// The keywords of the component model, which the parser knows where they open something. Older IDL uses some of them as
/// identifiers, which is warned about.
pub(crate) const COMPONENT_KEYWORDS: &[&str] = &[
    "component",
    "consumes",
    "emits",
    "eventtype",
    "finder",
    "home",
    "manages",
    "multiple",
    "primarykey",
    "provides",
    "publishes",
    "uses",
];

/// Operators and brackets, longest first. Those with `!`, `?`, `=` pairs and `&&` serve `#if` only.
pub(crate) const PUNCTUATION: &[&str] = &[
    "::", "<<", ">>", "&&", "||", "==", "!=", "<=", ">=", ";", "{", "}", ":", ",", "=", "+", "-", "(", ")",
    "<", ">", "[", "]", "|", "^", "&", "*", "/", "%", "~", "!", "?", "#", "@",
];
