//! The fuzz body: any octets are either IDL or a list of errors, in bounded time and memory.

use crate::{Loaded, Loader, Options, compile};

/// Compiles `data` as a file that may include itself, and walks or renders what comes of it.
pub fn idl(data: &[u8]) {
    match compile(&Itself(data), "fuzz.idl", &Options::default()) {
        Ok(model) => {
            for definition in model.definitions() {
                let id = definition.id;
                assert!(definition.repository_id.contains(':'), "{definition:?}");
                model.is_recursive(id);
                model.ancestors(id);
                model.location(definition.span);
                model.minimum_size(&crate::model::Type::Named(id));
            }
            model.warnings().render(false);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(!errors.render(false).is_empty());
        }
    }
}

/// Every include finds the file itself, except those that are built in.
struct Itself<'a>(&'a [u8]);

impl Loader for Itself<'_> {
    fn main(&self, _path: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.into())
    }

    fn include(&self, name: &str, _from: &str, _quoted: bool) -> Result<Option<Loaded>, String> {
        Ok((!matches!(name, "orb.idl" | "IOP.idl" | "Components.idl"))
            .then(|| Loaded { path: "fuzz.idl".into(), text: self.0.into() }))
    }
}
