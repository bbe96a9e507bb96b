//! Repositories of what a program carries along itself.

use std::fmt;

use zorb_idl::{Loaded, Loader, Options, compile};
use zorb_orb::rt::CarriedIdl;

use super::{DescriptionError, Repository};

/// Why what a program carries is no repository.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CarriedError {
    /// It is no IDL: the diagnostics. That of the generator always is.
    Idl(String),
    /// It declares what cannot be described.
    Description(DescriptionError),
}

impl fmt::Display for CarriedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CarriedError::Idl(diagnostics) => f.write_str(diagnostics.trim_end()),
            CarriedError::Description(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CarriedError {}

impl Repository {
    /// What the IDL declares that generated code carries: a program describes its own interfaces, without a file beside it.
    ///
    /// With `zorb_build::Config::new().carry_idl()` in the build script the generated file has a `CARRIED_IDL`. Served by
    /// [`ifr::serve`](crate::ifr::serve), `Repository::of_carried(&[&CARRIED_IDL])` answers `_get_interface` of the ORB's objects.
    ///
    /// # Errors
    /// A type that no TypeCode can describe; text that is no IDL, as the generator's never is.
    pub fn of_carried(carried: &[&CarriedIdl]) -> Result<Repository, CarriedError> {
        let mut repository = Repository::new();
        for carried in carried {
            let own = |text: &&str| (*text).to_owned();
            let defines = carried.defines.iter().map(|(name, value)| (own(name), own(value)));
            let mut options = Options::default();
            options.defines = defines.collect();
            for main in carried.mains {
                let name = carried.files.get(*main).map_or("", |(name, _)| name);
                let model = compile(&Carried(carried), name, &options);
                let model = model.map_err(|found| CarriedError::Idl(found.render(false)))?;
                repository.add(&model).map_err(CarriedError::Description)?;
            }
        }
        Ok(repository)
    }
}

struct Carried<'c>(&'c CarriedIdl);

impl Carried<'_> {
    fn place(&self, path: &str) -> Option<usize> {
        self.0.files.iter().position(|(name, _)| *name == path)
    }

    fn text(&self, place: usize) -> Option<Loaded> {
        let (name, text) = self.0.files.get(place)?;
        Some(Loaded { path: (*name).to_owned(), text: (*text).to_owned() })
    }
}

impl Loader for Carried<'_> {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.place(path).and_then(|place| self.text(place));
        found.map(|loaded| loaded.text).ok_or_else(|| "no such file".to_owned())
    }

    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String> {
        let from = self.place(from);
        let mut includes = self.0.includes.iter();
        let found =
            includes.find(|(at, known, marks, _)| Some(*at) == from && *known == name && *marks == quoted);
        Ok(found.and_then(|(.., to)| self.text(*to)))
    }
}
