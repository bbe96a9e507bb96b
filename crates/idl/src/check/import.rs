//! `import`, which names a scope that an earlier file brought in: by name, or by repository id. CORBA 3.4 part 1, 7.7.

use std::collections::HashMap;

use super::Checker;
use super::scope::Target;
use crate::diagnostics::error;
use crate::model::{Definition, DefinitionId, Import};
use crate::source::Span;
use crate::syntax::Imported;

/// An `import` whose scope may be known at the end only: then the repository ids are put together.
pub(super) struct Pending {
    scope: Wanted,
    span: Span,
}

enum Wanted {
    Scope(DefinitionId),
    /// One of this repository id, among as many definitions as there were before the `import`.
    Id(String, usize),
}

impl Checker {
    pub(super) fn import(&mut self, imported: &Imported) {
        match imported {
            Imported::Scope(name) => match self.resolve(name) {
                Some(Target::Definition(id)) if self.is_scope(id) => {
                    self.imports.push(Pending { scope: Wanted::Scope(id), span: name.span });
                }
                Some(_) => {
                    let message = format!("`{}` is not a module, interface or valuetype", name.written());
                    self.report(error(message, name.span, ""));
                }
                None => {}
            },
            Imported::Id(id, span) => {
                let known = self.model.definitions.len();
                self.imports.push(Pending { scope: Wanted::Id(id.clone(), known), span: *span });
            }
        }
    }

    /// Finds the scopes of all imports. The repository ids are put together.
    pub(super) fn resolve_imports(&mut self) {
        let imports = std::mem::take(&mut self.imports);
        let entry = |it: &Definition| (it.repository_id.clone(), it.id);
        let by_id: HashMap<String, DefinitionId> = if imports.is_empty() {
            HashMap::new()
        } else {
            self.model.definitions.iter().map(entry).collect()
        };
        for Pending { scope, span } in imports {
            let scope = match scope {
                Wanted::Scope(id) => id,
                Wanted::Id(wanted, known) => match by_id.get(&wanted) {
                    Some(id) if id.index() < known && self.is_scope(*id) => *id,
                    Some(id) if id.index() < known => {
                        let message = format!("`{wanted}` is not a module, interface or valuetype");
                        let there = self.model.definition(*id).span;
                        self.report(error(message, span, "").see(there, "it is this"));
                        continue;
                    }
                    _ => {
                        let message = format!("nothing before this has the repository id `{wanted}`");
                        self.report(error(message, span, "include the file that defines it"));
                        continue;
                    }
                },
            };
            self.model.imports.push(Import { scope, span });
        }
    }
}
