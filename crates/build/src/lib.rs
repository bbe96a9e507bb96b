//! OMG IDL to Rust: the generator, and the interface of build scripts.
//!
//! In `build.rs`:
//!
//! ```no_run
//! zorb_build::compile("bank.idl");
//! ```
//!
//! and where the types are wanted: `zorb::include_idl!("bank");`. What becomes of each piece of IDL is written in
//! `docs/mapping.md`. [`Config`] has the options, and [`Config::generate`] gives the text to programs that are not
//! build scripts.
//!
//! The crate knows the IDL model and how Rust looks. Of the ORB it knows the path of its runtime module, and writes
//! calls of what is there: whatever is the same for all interfaces is a function of the runtime, not generated text.
//!
//! | step | module |
//! |---|---|
//! | files → models | `config`, `disk`, `zorb_idl` |
//! | which definitions, under which Rust paths | `plan`, `names` |
//! | what is chosen of single operations and types | `choices` |
//! | what has no mapping | `check` |
//! | several main files in one | `merge` |
//! | values | `items`, `union`, `layout` |
//! | interfaces, what can be called on values | `interface` (`client`, `server`, `errors`, `callable`), [`operations`] |
//! | how code names things from where it stands | `scope` |
//! | the file | `generate` |
//!
//! # Dependencies
//!
//! `quote` and `proc-macro2` write Rust as Rust, `syn` and `prettyplease` lay it out as rustfmt would: generated code is read by
//! people.
#![forbid(unsafe_code)]

mod bits;
mod carried;
mod check;
mod choices;
mod config;
mod describe;
mod disk;
mod docs;
mod generate;
mod idl_text;
mod interface;
mod items;
mod layout;
mod merge;
mod names;
pub mod operations;
mod plan;
mod scope;
mod union;
mod value;

pub use config::{Config, Error, Generated};
pub use disk::Disk;

/// For build scripts: compiles one IDL file into `OUT_DIR`, with the defaults of [`Config`].
///
/// What is wrong is shown on the error output, and the build script ends with exit code 1.
pub fn compile(file: impl AsRef<std::path::Path>) {
    Config::new().compile(&[file]);
}
