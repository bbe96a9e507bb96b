//! What the build script chooses of single operations and types.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use zorb_idl::model::{DefinitionId, DefinitionKind, Model};

/// What was chosen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choices {
    /// Interfaces and their features whose servants may answer later, by scoped name.
    deferred: BTreeSet<String>,
    /// The Rust types of native types, by scoped name.
    natives: BTreeMap<String, String>,
}

impl Choices {
    pub(crate) fn defer(&mut self, name: &str) {
        self.deferred.insert(name.trim_start_matches("::").to_owned());
    }

    /// Whether servants of this interface may answer its own feature `name` later.
    pub(crate) fn is_deferred(&self, model: &Model, interface: DefinitionId, name: &str) -> bool {
        if self.deferred.is_empty() {
            return false;
        }
        let interface = model.scoped_name(interface);
        self.deferred.contains(&format!("{interface}::{name}")) || self.deferred.contains(&interface)
    }

    pub(crate) fn native(&mut self, name: &str, ty: String) {
        self.natives.insert(name.trim_start_matches("::").to_owned(), ty);
    }

    /// The Rust type that stands for a native one.
    pub(crate) fn rust_of(&self, model: &Model, native: DefinitionId) -> Option<TokenStream> {
        // `check` has parsed it.
        self.natives.get(&model.scoped_name(native))?.parse().ok()
    }

    /// Refuses names that nothing has, and what is no Rust type: the text says which.
    pub(crate) fn check(&self, models: &[Model]) -> Result<(), String> {
        for (name, ty) in &self.natives {
            let is_native = |model: &Model, id| matches!(model.definition(id).kind, DefinitionKind::Native);
            if !models.iter().any(|model| model.find(name).is_some_and(|id| is_native(model, id))) {
                return Err(format!("native: no native type is called `{name}`"));
            }
            if syn::parse_str::<syn::Type>(ty).is_err() {
                return Err(format!("native: `{ty}`, for `{name}`, is no Rust type such as `::my::Cookie`"));
            }
        }
        match self.deferred.iter().find(|name| !models.iter().any(|model| has(model, name))) {
            None => Ok(()),
            Some(name) => Err(format!("deferred: no interface, operation or attribute is called `{name}`")),
        }
    }
}

/// Whether a model has an interface of that name, or one with such a feature.
fn has(model: &Model, name: &str) -> bool {
    model.definitions().iter().any(|definition| {
        let DefinitionKind::Interface(interface) = &definition.kind else { return false };
        let scoped = model.scoped_name(definition.id);
        let feature = name.strip_prefix(scoped.as_str()).and_then(|rest| rest.strip_prefix("::"));
        name == scoped || interface.features.iter().any(|it| Some(it.name()) == feature)
    })
}
