//! IDL that goes along with the code that was generated of it, for an interface repository that the program itself serves.
//!
//! It is carried as text: what a repository tells is all that IDL says, and a program that does not ask for it does not have it, since what
//! nobody refers to is not linked.

use std::cell::RefCell;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use zorb_idl::{Loaded, Loader};

/// Loads by another loader, and remembers what came.
pub(crate) struct Recording<'l> {
    loader: &'l dyn Loader,
    record: RefCell<Record>,
}

#[derive(Default)]
struct Record {
    /// Path and text.
    files: Vec<(String, Vec<u8>)>,
    mains: Vec<usize>,
    /// From which file a name, in quotation marks or not, led to which.
    includes: Vec<(usize, String, bool, usize)>,
}

impl Record {
    fn put(&mut self, path: &str, text: &[u8]) -> usize {
        match self.place(path) {
            Some(place) => place,
            None => {
                self.files.push((path.to_owned(), text.to_owned()));
                self.files.len() - 1
            }
        }
    }

    fn place(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|(known, _)| known == path)
    }
}

impl<'l> Recording<'l> {
    pub(crate) fn new(loader: &'l dyn Loader) -> Recording<'l> {
        Recording { loader, record: RefCell::default() }
    }

    /// The item that carries it.
    pub(crate) fn item(&self, runtime: &TokenStream, defines: &[(String, String)]) -> TokenStream {
        let record = self.record.borrow();
        let files = record.files.iter().enumerate().map(|(at, (path, text))| {
            // Where the files lay when this was built concerns nobody who runs it.
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            let (name, text) = (format!("{at}/{name}"), Literal::byte_string(text));
            quote!((#name, #text))
        });
        let mains = record.mains.iter().map(|at| Literal::usize_unsuffixed(*at));
        let includes = record.includes.iter().map(|(from, name, quoted, to)| {
            let (from, to) = (Literal::usize_unsuffixed(*from), Literal::usize_unsuffixed(*to));
            quote!((#from, #name, #quoted, #to))
        });
        let defines = defines.iter().map(|(name, value)| quote!((#name, #value)));
        quote! {
            /// The IDL of which this file was generated: what an interface repository can be made of.
            #[allow(dead_code, unreachable_pub)]
            pub static CARRIED_IDL: #runtime::CarriedIdl = #runtime::CarriedIdl {
                files: &[#(#files),*],
                mains: &[#(#mains),*],
                includes: &[#(#includes),*],
                defines: &[#(#defines),*],
            };
        }
    }
}

impl Loader for Recording<'_> {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        let text = self.loader.main(path)?;
        let mut record = self.record.borrow_mut();
        let at = record.put(path, &text);
        record.mains.push(at);
        Ok(text)
    }

    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String> {
        let loaded = self.loader.include(name, from, quoted)?;
        if let Some(loaded) = &loaded {
            let mut record = self.record.borrow_mut();
            let to = record.put(&loaded.path, &loaded.text);
            // What is built in includes nothing else.
            if let Some(from) = record.place(from) {
                let include = (from, name.to_owned(), quoted, to);
                if !record.includes.contains(&include) {
                    record.includes.push(include);
                }
            }
        }
        Ok(loaded)
    }
}
