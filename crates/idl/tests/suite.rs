//! Files of good and bad IDL. What a bad one should say stands beside it in a `.txt`, and what a good one means
//! beside it in a `.model`; `ZORB_BLESS=1 cargo test -p zorb-idl --test suite` writes them anew, to be reviewed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use zorb_idl::model::{Annotation, DefinitionKind, Feature, InterfaceFlavor, Member, Model, Origin};
use zorb_idl::{DefinitionId, Memory, Options, Severity, compile};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is part of the package");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "idl"));
    files.sort();
    assert!(!files.is_empty());
    files
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|it| it.to_str()).expect("names are ASCII")
}

fn agree(path: &Path, found: &str) -> bool {
    if std::env::var_os("ZORB_BLESS").is_some() {
        fs::write(path, found).expect("writable");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if found != expected {
        println!("{}: expected\n{expected}\nfound\n{found}", path.display());
    }
    found == expected
}

#[test]
fn bad_idl_is_explained() {
    let wrong: Vec<PathBuf> = files("bad")
        .into_iter()
        .filter(|path| {
            let files = Memory::new([(name(path), fs::read(path).expect("readable"))]);
            let errors = compile(&files, name(path), &Options::default()).expect_err(name(path));
            !agree(&path.with_extension("txt"), &errors.render(false))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Files of one error each: what is wrong, where, and what would be right.
#[test]
fn each_illegal_file_is_one_error() {
    let illegal = files("bad/one");
    let (mut wrong, mut groups) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for path in &illegal {
        let group = name(path).split('_').next().expect("a first word");
        *groups.entry(group).or_default() += 1;
        let files = Memory::new([(name(path), fs::read(path).expect("readable"))]);
        let found = match compile(&files, name(path), &Options::default()) {
            Ok(_) => {
                wrong.push(format!("{}: accepted", name(path)));
                continue;
            }
            Err(found) => found,
        };
        let errors: Vec<_> = found.iter().filter(|it| it.severity == Severity::Error).collect();
        if errors.len() != 1 || errors[0].at.is_none() {
            wrong.push(format!("{}: {} errors", name(path), errors.len()));
        }
        if !agree(&path.with_extension("txt"), &found.render(false)) {
            wrong.push(name(path).to_string());
        }
    }
    println!("{} illegal files: {groups:?}", illegal.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(illegal.len() >= 150, "only {} illegal files", illegal.len());
}

#[test]
fn good_idl_has_its_model() {
    let wrong: Vec<PathBuf> = files("good")
        .into_iter()
        .filter(|path| {
            let files = Memory::new([(name(path), fs::read(path).expect("readable"))]);
            let model = compile(&files, name(path), &Options::default()).unwrap_or_else(|it| panic!("{it}"));
            let mut text = model.warnings().render(false);
            for id in model.top_level() {
                describe(&model, *id, 0, &mut text);
            }
            for import in model.imports() {
                let name = model.scoped_name(import.scope);
                writeln!(text, "import {name}").expect("strings can be written to");
            }
            !agree(&path.with_extension("model"), &text)
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// One line a definition, its parts below it.
fn describe(model: &Model, id: DefinitionId, depth: usize, to: &mut String) {
    let it = model.definition(id);
    if it.included {
        return;
    }
    let indent = "  ".repeat(depth);
    let recursive = if model.is_recursive(id) { " (recursive)" } else { "" };
    writeln!(to, "{indent}{} {}{recursive}", it.name, it.repository_id).expect("strings can be written to");
    let mut line = |text: String| writeln!(to, "{indent}  - {text}").expect("strings can be written to");
    line_of_annotations(&it.annotations, &mut line);
    match &it.kind {
        DefinitionKind::Constant(it) => line(format!("{:?} = {:?}", it.ty, it.value)),
        DefinitionKind::Typedef(it) => line(format!("{:?}, {} octets", it.ty, model.minimum_size(&it.ty))),
        DefinitionKind::Struct(it) => {
            if let Some(base) = it.base {
                line(format!("{} members of {}", it.inherited, model.scoped_name(base)));
            }
            members(&it.members, &mut line);
        }
        DefinitionKind::Exception(it) => members(&it.members, &mut line),
        DefinitionKind::Enum(it) => {
            for it in &it.enumerators {
                line(it.name.clone());
                line_of_annotations(&it.annotations, &mut line);
            }
        }
        DefinitionKind::Bitset(it) => {
            line(format!("{} bits, {} inherited", it.bits, it.inherited));
            for it in &it.fields {
                line(format!("{:?}: {:?} {} bits at {}", it.name, it.ty, it.bits, it.position));
            }
        }
        DefinitionKind::Bitmask(it) => {
            line(format!("{} bits", it.bit_bound));
            it.flags.iter().for_each(|it| line(format!("{} at {}", it.name, it.position)));
        }
        DefinitionKind::Annotation(it) => {
            for it in &it.parameters {
                line(format!("{}: {:?} default {:?}", it.name, it.ty, it.default));
            }
        }
        DefinitionKind::Union(it) => {
            line(format!("switch {:?}, uncovered {:?}", it.discriminator, it.uncovered));
            line_of_annotations(&it.discriminator_annotations, &mut line);
            for arm in &it.arms {
                line(format!("{}: {:?} {:?} default {}", arm.name, arm.ty, arm.labels, arm.is_default));
                line_of_annotations(&arm.annotations, &mut line);
            }
        }
        DefinitionKind::Interface(it) => {
            if it.flavor != InterfaceFlavor::Plain {
                line(format!("{:?}", it.flavor));
            }
            origin(&it.origin, &mut line);
        }
        DefinitionKind::ValueType(it) => {
            line(format!("{:?} truncatable {} supports {:?}", it.flavor, it.truncatable, it.supports));
            if it.event {
                line("event".into());
            }
            for it in &it.state {
                line(format!("{}: {:?} public {}", it.name, it.ty, it.public));
                line_of_annotations(&it.annotations, &mut line);
            }
            for it in &it.factories {
                line(format!("factory {} {}", it.name, it.parameters.len()));
                line_of_annotations(&it.annotations, &mut line);
            }
        }
        DefinitionKind::ValueBox(it) => line(format!("{:?}", it.ty)),
        _ => {}
    }
    for ancestor in model.ancestors(id) {
        line(format!("is a {}", model.scoped_name(ancestor)));
    }
    for feature in model.features(id) {
        match feature {
            Feature::Operation(it) => {
                let parameters: Vec<String> = it
                    .parameters
                    .iter()
                    .map(|it| format!("{:?} {}: {:?}", it.direction, it.name, it.ty))
                    .collect();
                let oneway = if it.oneway { "oneway " } else { "" };
                let context = &it.context;
                let (returns, raises) = (&it.returns, &it.raises);
                line(format!(
                    "{oneway}{returns:?} {}({}) {raises:?} {context:?}",
                    it.name,
                    parameters.join(", ")
                ));
                line(it.repository_id.clone());
                line_of_annotations(&it.annotations, &mut line);
                it.parameters.iter().for_each(|it| line_of_annotations(&it.annotations, &mut line));
            }
            Feature::Attribute(it) => {
                line(format!(
                    "{} readonly {}: {:?} {:?} {:?}",
                    it.name, it.readonly, it.ty, it.get_raises, it.set_raises
                ));
                line_of_annotations(&it.annotations, &mut line);
            }
        }
    }
    for inner in &it.contents {
        describe(model, *inner, depth + 1, to);
    }
}

fn origin(origin: &Origin, line: &mut dyn FnMut(String)) {
    match origin {
        Origin::Interface => {}
        Origin::Component(it) => {
            line(format!("component of {:?} supports {:?}", it.base, it.supports));
            for it in &it.ports {
                line(format!("{:?} {}: {:?} {:?}", it.kind, it.name, it.ty, it.doc));
                line_of_annotations(&it.annotations, line);
            }
        }
        other => line(format!("{other:?}")),
    }
}

fn members(members: &[Member], line: &mut dyn FnMut(String)) {
    for it in members {
        line(format!("{}: {:?}", it.name, it.ty));
        line_of_annotations(&it.annotations, line);
    }
}

fn line_of_annotations(annotations: &[Annotation], line: &mut dyn FnMut(String)) {
    for it in annotations {
        let arguments: Vec<String> =
            it.arguments.iter().map(|it| format!("{} = {:?}", it.name, it.value)).collect();
        let unknown = if it.unknown { " unknown" } else { "" };
        line(format!("  @{}({}){unknown}", it.name, arguments.join(", ")));
    }
}
