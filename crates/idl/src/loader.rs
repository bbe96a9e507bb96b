//! Where files come from: the crate itself never touches a disk.

use std::collections::BTreeMap;

/// Finds and reads files for [`compile`](crate::compile).
pub trait Loader {
    /// Reads the main file: its octets, in UTF-8 or ISO 8859-1.
    ///
    /// # Errors
    ///
    /// The reason in words, such as "no such file".
    fn main(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Finds an included file, and reads it.
    ///
    /// `name` is what stands between the quotes or angle brackets; `from` is the path of the file that includes
    /// it, as this loader gave it. With `quoted`, the folder of `from` comes first in the search.
    ///
    /// `Ok(None)` says that no place of the search path has it.
    ///
    /// # Errors
    ///
    /// The reason in words, when the file is there and cannot be read.
    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String>;
}

/// A file that a loader found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// A name for it that is the same each time the same file is found: diagnostics show it.
    pub path: String,
    /// What is in it: UTF-8, or else it is taken for ISO 8859-1, in which the specification writes IDL.
    pub text: Vec<u8>,
}

/// Files held in memory by name, for tests, tools and fuzzing. Includes are found by their name alone.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// A loader over pairs of name and text.
    pub fn new<N: Into<String>, T: Into<Vec<u8>>>(files: impl IntoIterator<Item = (N, T)>) -> Self {
        Memory { files: files.into_iter().map(|(name, text)| (name.into(), text.into())).collect() }
    }
}

impl Loader for Memory {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".into())
    }

    fn include(&self, name: &str, _from: &str, _quoted: bool) -> Result<Option<Loaded>, String> {
        Ok(self.files.get(name).map(|text| Loaded { path: name.into(), text: text.clone() }))
    }
}
