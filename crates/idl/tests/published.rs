//! The interfaces that public packages install, read without a change to them: those of omniORB and, with it, of the OMG's
//! services; and the two files in the jars of JacORB and of what it depends on, one of which is no IDL. That they become Rust,
//! `tests/published` shows.
//!
//! Without them the test says so and passes, unless `ZORB_REQUIRE_PEERS=1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use zorb_idl::model::{DefinitionKind, Feature, Model, Origin};
use zorb_idl::{Loaded, Loader, Options, compile};

/// Where packages install IDL: the folder, and the least number of files.
const FOLDERS: &[(&str, usize)] = &[("/usr/share/idl/omniORB", 60)];

/// Reads from the folder of the including file and from the folders of the package.
struct Disk {
    search: Vec<PathBuf>,
    /// The orb.idl of the package is used, not the built-in one.
    own: bool,
}

impl Loader for Disk {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }

    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String> {
        if name == "orb.idl" && !self.own {
            return Ok(None);
        }
        let beside = Path::new(from).parent().filter(|_| quoted).map(Path::to_path_buf);
        for folder in beside.iter().chain(&self.search) {
            let path = folder.join(name);
            if let Ok(text) = fs::read(&path) {
                return Ok(Some(Loaded { path: path.to_string_lossy().into_owned(), text }));
            }
        }
        Ok(None)
    }
}

fn idl_files(folder: &Path, to: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            idl_files(&path, to);
        } else if path.extension().is_some_and(|it| it == "idl") {
            to.push(path);
        }
    }
}

#[test]
fn published_interfaces_are_read_as_they_are() {
    let required = std::env::var_os("ZORB_REQUIRE_PEERS").is_some_and(|it| it == "1");
    for (folder, least) in FOLDERS {
        let folder = Path::new(folder);
        let mut files = Vec::new();
        idl_files(folder, &mut files);
        if files.is_empty() {
            println!("{} is not installed: left out", folder.display());
            assert!(!required, "{} is missing", folder.display());
            continue;
        }
        files.sort();
        assert!(files.len() >= *least, "{} has only {} files", folder.display(), files.len());
        let (mut failed, mut lines, mut definitions, mut warnings) = (Vec::new(), 0, 0, 0);
        let mut constructs: BTreeMap<&str, usize> = BTreeMap::new();
        for file in &files {
            lines += fs::read(file).expect("readable").iter().filter(|it| **it == b'\n').count();
            // Those of the services take the ORB's names from whatever ORB compiles them.
            let own = file.parent() == Some(folder);
            let disk = Disk { search: vec![folder.join("COS"), folder.to_path_buf()], own };
            match compile(&disk, &file.to_string_lossy(), &Options::default()) {
                Ok(model) => {
                    warnings += model.warnings().iter().count();
                    definitions += count(&model, &mut constructs);
                }
                Err(errors) => {
                    println!("{errors}");
                    failed.push(file);
                }
            }
        }
        println!(
            "{}: {} files, {lines} lines, {definitions} definitions, {warnings} warnings",
            folder.display(),
            files.len()
        );
        for (construct, count) in &constructs {
            println!("{count:>8} {construct}");
        }
        assert!(failed.is_empty(), "{failed:?}");
        for needed in ["struct", "union", "valuetype", "exception", "operation", "local interface"] {
            assert!(constructs.contains_key(needed), "no {needed} in {}", folder.display());
        }
    }
}

/// What the jar of Java's RMI over IIOP has, on which JacORB depends: `tests/interop/install tools` unpacks it.
#[test]
fn what_a_jar_brings_is_read_or_refused() {
    let built = std::env::var_os("ZORB_INTEROP_OUT").map(PathBuf::from);
    let built = built.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/interop"));
    let mut files = Vec::new();
    idl_files(&built.join("published/idl"), &mut files);
    if files.is_empty() {
        println!("no IDL of JacORB's packages in {}: left out", built.display());
        let required = std::env::var_os("ZORB_REQUIRE_PEERS").is_some_and(|it| it == "1");
        assert!(!required, "tests/interop/install tools unpacks it");
        return;
    }
    let read = |name: &str| {
        let file = files.iter().find(|it| it.ends_with(name)).unwrap_or_else(|| panic!("no {name}"));
        // IOP.idl is the built-in one.
        let disk = Disk { search: Vec::new(), own: false };
        compile(&disk, &file.to_string_lossy(), &Options::default())
    };
    let giop = read("GIOP.idl").unwrap_or_else(|errors| panic!("{errors}"));
    assert!(count(&giop, &mut BTreeMap::new()) >= 20);
    // `ServerId serverId`, of which omniidl too counts 26 times that two names differ only in case.
    let errors = read("activation.idl").expect_err("names collide in it");
    let errors: Vec<_> = errors.iter().filter(|it| it.severity == zorb_idl::Severity::Error).collect();
    let collides =
        |text: &str| text.contains("already means the typedef") || text.contains("collides with the name");
    assert!(errors.iter().all(|it| collides(&it.message)), "{errors:?}");
    assert_eq!(errors.len(), 26);
    println!("{} files of JacORB's packages, {} errors in one", files.len(), errors.len());
}

/// Counts what a file defines itself; the number of its definitions.
fn count(model: &Model, constructs: &mut BTreeMap<&str, usize>) -> usize {
    let own: Vec<_> = model.definitions().iter().filter(|it| !it.included).collect();
    for it in &own {
        *constructs.entry(construct(&it.kind)).or_default() += 1;
        for feature in model.features(it.id) {
            let name = match feature {
                Feature::Operation(it) if it.oneway => "oneway operation",
                Feature::Operation(it) if !it.context.is_empty() => "operation with context",
                Feature::Operation(_) => "operation",
                Feature::Attribute(_) => "attribute",
            };
            *constructs.entry(name).or_default() += 1;
        }
    }
    own.len()
}

fn construct(kind: &DefinitionKind) -> &'static str {
    use zorb_idl::model::{InterfaceFlavor as I, ValueFlavor as V};
    match kind {
        DefinitionKind::Module(_) => "module",
        DefinitionKind::Constant(_) => "constant",
        DefinitionKind::Typedef(_) => "typedef",
        DefinitionKind::Struct(_) => "struct",
        DefinitionKind::Union(_) => "union",
        DefinitionKind::Enum(_) => "enum",
        DefinitionKind::Exception(_) => "exception",
        DefinitionKind::Interface(it) => match (&it.origin, it.flavor) {
            (Origin::Component(_), _) => "component",
            (Origin::Home(_), _) => "home",
            (Origin::Interface, I::Plain) => "interface",
            (Origin::Interface, I::Abstract) => "abstract interface",
            (Origin::Interface, I::Local) => "local interface",
            _ => "equivalent interface",
        },
        DefinitionKind::ValueType(it) => match it.flavor {
            _ if it.event => "eventtype",
            V::Plain => "valuetype",
            V::Abstract => "abstract valuetype",
            V::Custom => "custom valuetype",
        },
        DefinitionKind::ValueBox(_) => "boxed valuetype",
        DefinitionKind::Native => "native",
        DefinitionKind::Bitset(_) => "bitset",
        DefinitionKind::Bitmask(_) => "bitmask",
        DefinitionKind::Annotation(_) => "annotation",
        _ => "other definition",
    }
}
