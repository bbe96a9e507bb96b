//! What to compile and how: the interface of build scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use zorb_idl::model::Model;
use zorb_idl::{Diagnostics, Loader, Options};

use crate::carried::Recording;
use crate::choices::Choices;
use crate::disk::Disk;
use crate::generate::generate;

/// How to turn IDL into Rust. Made with [`Config::new`], ended with [`Config::compile`] in a build script, or with
/// [`Config::generate`] elsewhere.
///
/// ```no_run
/// zorb_build::Config::new()
///     .include("../idl")
///     .define("WITH_AUDIT", "1")
///     .extern_module("CosNaming", "::zorb_naming::CosNaming")
///     .compile(&["bank.idl"]);
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `compile` or `generate`"]
pub struct Config {
    folders: Vec<PathBuf>,
    options: Options,
    runtime: String,
    externals: BTreeMap<String, String>,
    choices: Choices,
    carries_idl: bool,
    output: Option<String>,
}

/// What [`Config::generate`] made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Generated {
    /// The Rust source of one file, formatted.
    pub text: String,
    /// All files that were read. The text depends on these and on nothing else.
    pub files: Vec<PathBuf>,
    /// What was odd about the IDL, a list for each main file that had anything odd.
    pub warnings: Vec<Diagnostics>,
}

/// Why nothing was made.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The IDL is wrong, or says what has no mapping to Rust: a list for each main file.
    Idl(Vec<Diagnostics>),
    /// An option is wrong; the text says which and why.
    Config(String),
    /// A file cannot be written; the text says which and why.
    Output(String),
}

impl Error {
    /// The error as text for people, with source lines; `colour` adds terminal escapes.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Error::Idl(lists) => lists.iter().map(|list| list.render(colour)).collect(),
            Error::Config(text) | Error::Output(text) => format!("error: {text}\n"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl std::error::Error for Error {}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

impl Config {
    /// The defaults: no folders besides each file's own, no macros, runtime `::zorb::rt`.
    pub fn new() -> Config {
        Config {
            folders: Vec::new(),
            options: Options::default(),
            runtime: "::zorb::rt".to_owned(),
            externals: BTreeMap::new(),
            choices: Choices::default(),
            carries_idl: false,
            output: None,
        }
    }

    /// Adds a folder in which included files are looked for, after those added before.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Config {
        self.folders.push(folder.into());
        self
    }

    /// Defines a macro, as `#define name value` would.
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Config {
        self.options.defines.push((name.into(), value.into()));
        self
    }

    /// The path of the module that generated code calls. Crates that use `zorb_orb` without the facade say
    /// `::zorb_orb::rt`.
    pub fn runtime_path(mut self, path: impl Into<String>) -> Config {
        self.runtime = path.into();
        self
    }

    /// Says that what included files define in the IDL module `module` (such as `CosNaming`, or `A::B`) is generated
    /// in another crate, in the Rust module `path`. It is referred to there and not generated again.
    ///
    /// An empty `module` stands for file level. Definitions of the main files are always generated.
    pub fn extern_module(mut self, module: impl Into<String>, path: impl Into<String>) -> Config {
        self.externals.insert(module.into().trim_start_matches("::").to_owned(), path.into());
        self
    }

    /// Says which Rust type stands for an IDL `native` type: `native("Store::Cookie", "::my::Cookie")`. Its values are handed on within the
    /// program, in operations of local interfaces; a native type that an operation passes and that has no Rust type is an error.
    ///
    /// `ty` is seen from another module, so that a path in it is absolute (`::std::sync::Arc<dyn ::my::Handle>`, `crate::Cookie`). It has
    /// to be `Clone`; one that an operation raises has to be an exception as generated ones are.
    pub fn native(mut self, name: impl Into<String>, ty: impl Into<String>) -> Config {
        self.choices.native(&name.into(), ty.into());
        self
    }

    /// Has servants answer an operation later, from any thread, if they like: its method in the servants' trait is given the reply
    /// that it owes, a `DeferredReply`, in place of the call's context, and returns nothing.
    ///
    /// `name` is an operation or an attribute, `bank::Account::withdraw`, or an interface, `bank::Account`, for all that it declares
    /// itself. A name that no file has is an error. Stubs stay as they are.
    pub fn deferred(mut self, name: impl Into<String>) -> Config {
        self.choices.defer(&name.into());
        self
    }

    /// Gives every interface the stubs of asynchronous calls that CORBA names (CORBA 3.3 part 1, 17): `sendc_x`, whose reply goes
    /// to a reply handler, an object of the implied interface `AMI_AccountHandler`; and `sendp_x`, which gives a poller.
    ///
    /// Without it there are the `_async` twins, whose futures do all that within one program. Code for interfaces that
    /// others inherit from has to be generated with it too.
    pub fn ami(mut self) -> Config {
        self.options.reply_handlers = true;
        self
    }

    /// Has the generated file carry the IDL along, as a `static` of the name `CARRIED_IDL`: what `zorb_dynamic` makes an interface
    /// repository of, so that a server describes its own interfaces to who asks an object for its interface.
    ///
    /// A program that does not use it does not have it.
    pub fn carry_idl(mut self) -> Config {
        self.carries_idl = true;
        self
    }

    /// The name of the file that [`compile`](Config::compile) writes into `OUT_DIR`, without `.rs`; by default that of
    /// the first IDL file.
    pub fn output(mut self, name: impl Into<String>) -> Config {
        self.output = Some(name.into());
        self
    }

    /// For build scripts: compiles the files into one Rust file in `OUT_DIR`, named after the first, and tells cargo
    /// which files it depends on, but for those that the script has written into `OUT_DIR` itself. Include it with `zorb::include_idl!("bank")`, or with
    /// `include!(concat!(env!("OUT_DIR"), "/bank.rs"));`.
    ///
    /// What is wrong is shown on the error output, and the build script ends with exit code 1.
    pub fn compile(&self, files: &[impl AsRef<Path>]) {
        if let Err(error) = self.try_compile(files) {
            // Cargo shows the error output of a build script that failed, as it is.
            eprint!("{}", error.render(std::io::stderr().is_terminal()));
            std::process::exit(1);
        }
    }

    /// As [`compile`](Config::compile), for build scripts that handle errors themselves. Prints the lines that cargo
    /// reads in either case.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn try_compile(&self, files: &[impl AsRef<Path>]) -> Result<(), Error> {
        let folder = std::env::var_os("OUT_DIR")
            .ok_or_else(|| Error::Config("OUT_DIR is not set: this is for build scripts".to_owned()))?;
        // What the script itself has written there is newer than its run: for that cargo would run it anew each time.
        let depends_on = |file: &Path| {
            if !file.starts_with(&folder) {
                println!("cargo:rerun-if-changed={}", file.display());
            }
        };
        files.iter().for_each(|file| depends_on(file.as_ref()));
        let generated = self.generate(files)?;
        generated.files.iter().for_each(|file| depends_on(file));
        // What several files include is odd in each of them, and said once.
        let warnings: BTreeSet<String> = generated.warnings.iter().flat_map(lines).collect();
        for warning in warnings {
            println!("cargo:warning={warning}");
        }
        let first = files.first().and_then(|file| file.as_ref().file_stem()).unwrap_or_default();
        let name = self.output.clone().unwrap_or_else(|| first.to_string_lossy().into_owned());
        let path = Path::new(&folder).join(name + ".rs");
        fs::write(&path, generated.text)
            .map_err(|error| Error::Output(format!("cannot write {}: {error}", path.display())))
    }

    /// Compiles the files into the text of one Rust file, and writes nothing.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn generate(&self, files: &[impl AsRef<Path>]) -> Result<Generated, Error> {
        let names: Vec<String> = files.iter().map(|it| it.as_ref().to_string_lossy().into_owned()).collect();
        self.generate_from(&Disk::new(self.folders.iter().cloned()), &names)
    }

    /// As [`generate`](Config::generate), with files from anywhere.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn generate_from(&self, loader: &dyn Loader, files: &[impl AsRef<str>]) -> Result<Generated, Error> {
        let runtime = path_of("runtime_path", &self.runtime)?;
        for path in self.externals.values() {
            path_of("extern_module", path)?;
        }
        let (mut models, mut faults): (Vec<Model>, Vec<Diagnostics>) = (Vec::new(), Vec::new());
        let recording = Recording::new(loader);
        let loader: &dyn Loader = if self.carries_idl { &recording } else { loader };
        for file in files {
            match zorb_idl::compile(loader, file.as_ref(), &self.options) {
                Ok(model) => models.push(model),
                Err(found) => faults.push(found),
            }
        }
        if !faults.is_empty() {
            return Err(Error::Idl(faults));
        }
        self.choices.check(&models).map_err(Error::Config)?;
        let carried = self.carries_idl.then(|| recording.item(&runtime, &self.options.defines));
        let text =
            generate(&models, &runtime, &self.externals, &self.choices, carried).map_err(Error::Idl)?;
        let mut read: Vec<PathBuf> = models
            .iter()
            .flat_map(Model::files)
            .filter(|it| !it.starts_with('<'))
            .map(PathBuf::from)
            .collect();
        read.sort();
        read.dedup();
        let warnings = models.iter().map(Model::warnings).filter(|it| !it.is_empty()).cloned().collect();
        Ok(Generated { text, files: read, warnings })
    }
}

/// Each diagnostic on a line, with its place.
fn lines(list: &Diagnostics) -> impl Iterator<Item = String> + '_ {
    list.iter().map(|it| match &it.at {
        Some(at) => {
            let place = list.location(at.span);
            format!("{}:{}:{}: {}", place.path, place.line, place.column, it.message)
        }
        None => it.message.clone(),
    })
}

/// The tokens of a Rust path.
fn path_of(option: &str, path: &str) -> Result<TokenStream, Error> {
    match syn::parse_str::<syn::Path>(path) {
        Ok(parsed) => Ok(quote::quote!(#parsed)),
        Err(_) => Err(Error::Config(format!("{option}: `{path}` is not a path such as `::zorb::rt`"))),
    }
}
