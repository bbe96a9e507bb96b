//! OMG IDL: text to a checked model, with diagnostics.
//!
//! [`compile`] reads a main file through a [`Loader`], includes what it includes, and gives a [`Model`] in
//! which every name is resolved and every rule of the language checked, or [`Diagnostics`] that list what
//! is wrong, where, and what would be right. The crate knows neither the disk nor the language that a back
//! end writes.
//!
//! ```
//! use zorb_idl::{compile, Memory, Options};
//!
//! let files = Memory::new([("bank.idl", "interface Account { void deposit(in long amount); };")]);
//! let model = compile(&files, "bank.idl", &Options::default()).unwrap();
//! assert_eq!(model.definition(model.find("Account").unwrap()).repository_id, "IDL:Account:1.0");
//!
//! let files = Memory::new([("bank.idl", "interface Account { void deposit(in lnog amount) };")]);
//! let errors = compile(&files, "bank.idl", &Options::default()).unwrap_err();
//! assert!(errors.render(false).contains("did you mean `long`?"));
//! ```
//!
//! # Steps
//!
//! | step | module | gives |
//! |---|---|---|
//! | files | `loader`, `source` | text, and places in it |
//! | tokens | `lexer`, `preprocessor` | the tokens of all files in order, without directives |
//! | syntax | `parser` | one declaration after another, recovering from errors |
//! | meaning | `check` | the model: scopes, types, constants, repository ids |
//!
//! # Dependencies
//!
//! `annotate-snippets` draws source lines with carets. It is the renderer of the Rust compiler, made for this
//! and nothing else; tabs, wide characters and labels that overlap are its trade, not ours. `rustc_apfloat` computes
//! constants of type `long double`, in the 128-bit format that no stable type of Rust has: it is what the Rust compiler
//! evaluates its own constants with.
#![forbid(unsafe_code)]

mod check;
mod comments;
mod diagnostics;
pub mod fuzz;
mod lexer;
mod limits;
mod loader;
pub mod model;
mod parser;
mod preprocessor;
mod similar;
mod source;
mod syntax;
mod token;

pub use diagnostics::{Diagnostic, Diagnostics, Label, Severity};
pub use loader::{Loaded, Loader, Memory};
pub use model::{DefinitionId, Model};
pub use source::{FileId, Location, Span};

/// How to compile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Macros defined before the first line, as `-DNAME=VALUE` does: name and value.
    pub defines: Vec<(String, String)>,
    /// Whether interfaces get reply handlers, the implied IDL of asynchronous calls (CORBA 3.3 part 1, 17): beside `Account`,
    /// `AMI_AccountHandler`. `Messaging.idl` is included then, before the first line.
    pub reply_handlers: bool,
}

/// Compiles the IDL file `path` and all that it includes.
///
/// # Errors
///
/// All that is wrong with the text, up to a hundred errors, and the warnings beside them. Without errors, the
/// warnings are in [`Model::warnings`].
pub fn compile(loader: &dyn Loader, path: &str, options: &Options) -> Result<Model, Diagnostics> {
    let text = match loader.main(path) {
        Ok(text) => text,
        Err(reason) => return Err(diagnostics::Reporter::default().unreadable(path, &reason)),
    };
    let mut tokens = preprocessor::Preprocessor::new(loader, path, &text, &options.defines);
    if options.reply_handlers {
        tokens.include_first("Messaging.idl");
    }
    let (items, tokens) = parser::Parser::new(tokens).parse();
    check::check(items, tokens.reporter, options.reply_handlers)
}
