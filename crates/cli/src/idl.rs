//! `zorb idl`: check IDL, or compile it to Rust.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;

/// Compile an IDL file to Rust, or only check it.
///
/// The Rust goes to standard output unless --out names a file. Errors and warnings show the line and say
/// what would be right; all of them are shown, not only the first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  zorb idl bank.idl --out src/bank.rs
  zorb idl bank.idl --ami --deferred bank::Account::withdraw
  zorb idl --check -I /usr/share/idl/omniORB -D DEBUG=1 bank.idl

In a build script, zorb_build::compile(\"bank.idl\") does the same.")]
pub(crate) struct Arguments {
    /// The IDL file.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Only check that it is correct IDL: generate nothing. What has no mapping to Rust passes.
    #[arg(long, conflicts_with = "out")]
    check: bool,

    /// Search this directory for included files; may be repeated.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<PathBuf>,

    /// Define a macro, as if by #define; may be repeated.
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]", value_parser = definition)]
    define: Vec<(String, String)>,

    /// The module that the generated code calls.
    #[arg(long, value_name = "PATH", default_value = "::zorb::rt")]
    runtime: String,

    /// Take what included files define in this IDL module from a Rust module of another crate; may be repeated.
    #[arg(long, value_name = "MODULE=PATH", value_parser = external)]
    r#extern: Vec<(String, String)>,

    /// The Rust type that stands for an IDL native type; may be repeated.
    #[arg(long, value_name = "NAME=TYPE", value_parser = native)]
    native: Vec<(String, String)>,

    /// Let the Rust carry its IDL, so that a program can serve it as an interface repository and answer _get_interface.
    #[arg(long, conflicts_with = "check")]
    carry_idl: bool,

    /// Add the stubs of CORBA's asynchronous calls, sendc_x with reply handlers and sendp_x with pollers.
    #[arg(long, conflicts_with = "check")]
    ami: bool,

    /// Have servants answer this operation later, from any thread; an interface stands for all that it declares; may be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    deferred: Vec<String>,

    /// Write the Rust to this file.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.check { check(arguments) } else { compile(arguments) }
}

fn check(arguments: &Arguments) -> Result<(), Failure> {
    let mut options = zorb_idl::Options::default();
    options.defines.clone_from(&arguments.define);
    let files = zorb_build::Disk::new(arguments.include.iter().cloned());
    match zorb_idl::compile(&files, &arguments.file.to_string_lossy(), &options) {
        Ok(model) => {
            show(&model.warnings().render(in_colour()));
            Ok(())
        }
        Err(found) => {
            show(&found.render(in_colour()));
            Err(failed(arguments))
        }
    }
}

fn compile(arguments: &Arguments) -> Result<(), Failure> {
    let mut config = zorb_build::Config::new().runtime_path(&arguments.runtime);
    for folder in &arguments.include {
        config = config.include(folder);
    }
    for (name, value) in &arguments.define {
        config = config.define(name, value);
    }
    for (module, path) in &arguments.r#extern {
        config = config.extern_module(module, path);
    }
    for (name, ty) in &arguments.native {
        config = config.native(name, ty);
    }
    if arguments.carry_idl {
        config = config.carry_idl();
    }
    if arguments.ami {
        config = config.ami();
    }
    for name in &arguments.deferred {
        config = config.deferred(name);
    }
    let generated = config.generate(&[&arguments.file]).map_err(|error| {
        show(&error.render(in_colour()));
        failed(arguments)
    })?;
    for warnings in &generated.warnings {
        show(&warnings.render(in_colour()));
    }
    match &arguments.out {
        Some(path) => {
            std::fs::write(path, &generated.text).map_err(|cause| Failure::file("write", path, cause))
        }
        None => Ok(std::io::stdout().write_all(generated.text.as_bytes())?),
    }
}

/// The model of an IDL file that another subcommand needs. What is wrong with it is shown.
pub(crate) fn load(
    path: &Path,
    include: &[PathBuf],
    define: &[(String, String)],
) -> Result<zorb_idl::Model, Failure> {
    let mut options = zorb_idl::Options::default();
    options.defines = define.to_vec();
    let files = zorb_build::Disk::new(include.iter().cloned());
    zorb_idl::compile(&files, &path.to_string_lossy(), &options).map_err(|found| {
        show(&found.render(in_colour()));
        Failure::new(format!("{} is not correct IDL, for the reasons above", path.display()))
    })
}

/// Shows what several models define differently under one name.
pub(crate) fn check_together(models: &[zorb_idl::Model]) -> Result<(), Failure> {
    let clashes = zorb_idl::Model::clashes(models);
    clashes.iter().for_each(|found| show(&found.render(in_colour())));
    if clashes.is_empty() {
        return Ok(());
    }
    Err(Failure::new("the IDL files cannot be used together, for the reasons above"))
}

/// Shows diagnostics, which have several lines each, source and carets included.
fn show(diagnostics: &str) {
    eprint!("{diagnostics}");
}

fn in_colour() -> bool {
    std::io::stderr().is_terminal()
}

fn failed(arguments: &Arguments) -> Failure {
    Failure::new(format!("{} is not compiled, for the reasons above", arguments.file.display()))
}

/// An IDL module and the Rust module that stands for it.
fn external(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((module, path)) if !path.is_empty() => Ok((module.to_owned(), path.to_owned())),
        _ => Err("expected MODULE=PATH, such as CosNaming=::zorb_naming::CosNaming".to_owned()),
    }
}

/// A native type and the Rust type that stands for it.
fn native(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, ty)) if !name.is_empty() && !ty.is_empty() => Ok((name.to_owned(), ty.to_owned())),
        _ => Err("expected NAME=TYPE, such as Store::Cookie=::my::Cookie".to_owned()),
    }
}

/// A macro's name and value; the value of a bare name is 1, as with C compilers.
pub(crate) fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let mut letters = name.chars();
    let is_name = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_name { Ok((name.to_owned(), value.to_owned())) } else { Err(format!("{name:?} is no macro name")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(definition("DEBUG"), pair("DEBUG", "1"));
        assert_eq!(definition("A_1=x=y"), pair("A_1", "x=y"));
        assert_eq!(definition("EMPTY="), pair("EMPTY", ""));
        assert!(definition("1A").is_err() && definition("=x").is_err() && definition("").is_err());
    }
}
