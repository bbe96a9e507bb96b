//! IDL that generated code carries along.

/// The files that a piece of code was generated of, and how they include each other: what `zorb_dynamic` makes a repository of. The build
/// script's `carry_idl` asks for it.
#[derive(Clone, Copy, Debug)]
pub struct CarriedIdl {
    /// A name that no other has, and the text.
    pub files: &'static [(&'static str, &'static [u8])],
    /// Those that were compiled, by their place in `files`.
    pub mains: &'static [usize],
    /// In which file which name, in quotation marks or not, means which file.
    pub includes: &'static [(usize, &'static str, bool, usize)],
    /// Macros defined before the first line.
    pub defines: &'static [(&'static str, &'static str)],
}
