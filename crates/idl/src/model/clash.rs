//! Models beside each other: whether two of them define one name differently.

use std::collections::HashMap;

use super::*;
use crate::{Diagnostic, Diagnostics};

impl Model {
    /// Whether a place in this model and one in another are the same place of the same text, under whatever path each found its file.
    pub fn is_same_place(&self, here: Span, other: &Model, there: Span) -> bool {
        let (is, was) = (self.location(here), other.location(there));
        let same_text = || *self.sources.text(here.file) == *other.sources.text(there.file);
        (is.line, is.column) == (was.line, was.column) && (is.path == was.path || same_text())
    }

    /// What is wrong with models that are to be used together: of each in turn, its definitions that an earlier one defines differently
    /// under the same scoped name. What several of them include is the same; so is what is declared in one and defined in another.
    pub fn clashes(models: &[Model]) -> Vec<Diagnostics> {
        let mut firsts: HashMap<String, (&Model, &Definition)> = HashMap::new();
        let mut faults = Vec::new();
        for model in models {
            let mut found = Vec::new();
            for of in model.definitions().iter().filter(|of| !of.is_declared_only()) {
                // What is nested in one that clashes goes with it.
                let outer = of.parent.map(|id| &model.definition(id).kind);
                if outer.is_some_and(|it| !matches!(it, DefinitionKind::Module(_))) {
                    continue;
                }
                let name = model.scoped_name(of.id);
                match firsts.get(&name) {
                    Some((there, first)) => found.extend(clash(&name, there, first, model, of)),
                    None => {
                        firsts.insert(name, (model, of));
                    }
                }
            }
            if !found.is_empty() {
                faults.push(model.diagnose(found));
            }
        }
        faults
    }
}

impl Definition {
    /// A forward declaration of something that is defined elsewhere.
    fn is_declared_only(&self) -> bool {
        match &self.kind {
            DefinitionKind::Interface(it) => !it.defined,
            DefinitionKind::ValueType(it) => !it.defined,
            _ => false,
        }
    }
}

fn clash(
    name: &str,
    there: &Model,
    first: &Definition,
    here: &Model,
    second: &Definition,
) -> Option<Diagnostic> {
    let is_module = |of: &Definition| matches!(of.kind, DefinitionKind::Module(_));
    if is_module(first) && is_module(second) {
        return None;
    }
    let (old, new) = (&first.repository_id, &second.repository_id);
    let same_place = here.is_same_place(second.span, there, first.span);
    if same_place && old == new {
        return None;
    }
    let (message, label) = if same_place {
        let files = [there, here].map(|it| it.files().next().unwrap_or_default());
        (
            format!("`{name}` gets another repository id in each of two files"),
            format!("`{old}` through {}, `{new}` through {}", files[0], files[1]),
        )
    } else {
        let was = there.location(first.span);
        (format!("`{name}` is defined in two files"), format!("it is also at {was}"))
    };
    Some(Diagnostic::error(message, second.span, label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Options, compile};

    fn clashes(files: &[(&str, &str)]) -> Vec<String> {
        let memory = Memory::new(files.iter().copied());
        let mains = files.iter().filter(|(name, _)| !name.contains("common"));
        let models: Vec<Model> =
            mains.map(|(name, _)| compile(&memory, name, &Options::default()).expect("good IDL")).collect();
        Model::clashes(&models).iter().map(|found| found.render(false)).collect()
    }

    #[test]
    fn two_definitions_of_one_name_are_told() {
        let found = clashes(&[
            ("a.idl", "module m { struct S { long x; }; interface I; };"),
            ("b.idl", "module m { struct S { string x; }; interface I { void f(); }; };"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`m::S` is defined in two files"), "{found:?}");
        assert!(found[0].contains("it is also at a.idl:1:19"), "{found:?}");
    }

    #[test]
    fn what_two_files_include_is_one() {
        let common = ("common.idl", "struct S { long x; };");
        let both = [("a.idl", "#include \"common.idl\"\n"), ("b.idl", "#include \"common.idl\"\n"), common];
        assert_eq!(clashes(&both), [""; 0]);
    }

    #[test]
    fn another_id_of_the_same_text_is_told() {
        let found = clashes(&[
            ("a.idl", "#include \"common.idl\"\n"),
            ("b.idl", "#include \"common.idl\"\ntypeid S \"IDL:other/S:1.0\";"),
            ("common.idl", "struct S { long x; };"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`IDL:S:1.0` through a.idl, `IDL:other/S:1.0` through b.idl"), "{found:?}");
    }
}
