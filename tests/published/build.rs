//! Compiles what public packages install as it is: the IDL of the OMG's services and that of the ORB which brings it (omniORB's packages), and that
//! in a jar on which JacORB depends, as far as it is right (`crates/idl/tests/published.rs`). What is not installed is left out, and the tests say
//! so. And compiles the corners of the language, a module for each file.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use zorb_build::{Config, Disk};
use zorb_idl::model::{DefinitionKind, Origin};
use zorb_idl::{Loader, Memory, Options, compile};

/// What becomes one Rust file: its name, the folder whose IDL files it is made of, and where their includes are looked for.
///
/// The services take the ORB's own names (`orb.idl`) from the ORB that compiles them, which is zorb. omniORB's files bring theirs.
const SETS: &[(&str, &str)] =
    &[("services", "/usr/share/idl/omniORB/COS"), ("omniorb", "/usr/share/idl/omniORB")];

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-env-changed=ZORB_INTEROP_OUT");
    let mut counts = String::new();
    let unpacked = std::env::var("ZORB_INTEROP_OUT").unwrap_or_else(|_| "../../target/interop".to_owned());
    let giop = format!("{unpacked}/published/idl/org/jboss/com/sun/corba/se/GiopIDL");
    for (name, folder) in SETS.iter().copied().chain([("giop", giop.as_str())]) {
        println!("cargo:rustc-check-cfg=cfg({name})");
        println!("cargo:rerun-if-changed={folder}");
        let files = idl_files(Path::new(folder));
        if files.is_empty() {
            continue;
        }
        println!("cargo:rustc-cfg={name}");
        // What is odd about others' IDL is nothing that one who builds zorb could change: it is counted.
        let generated = match Config::new().include(folder).generate(&files) {
            Ok(generated) => generated,
            Err(error) => {
                eprint!("{}", error.render(false));
                std::process::exit(1);
            }
        };
        fs::write(out.join(name).with_extension("rs"), &generated.text).expect("the folder is there");
        let (idl, interfaces, definitions) = contents(folder, &files);
        let row = (name, files.len(), idl, interfaces, definitions, generated.text.lines().count());
        writeln!(counts, "{row:?},").expect("strings can be written to");
    }
    fs::write(out.join("counts.rs"), format!("&[{counts}]")).expect("the folder is there");
    fs::write(out.join("corners.rs"), corners()).expect("the folder is there");
}

/// The corners of the language. The library of the component model, which many of them need, is there once.
fn corners() -> String {
    let mut text = String::new();
    let mut add = |name: &str, config: Config, loader: &dyn Loader, file: &str| match config
        .generate_from(loader, &[file])
    {
        Ok(generated) => writeln!(text, "/// `{name}`.\npub mod {name} {{\n{}}}", generated.text)
            .expect("strings can be written to"),
        Err(error) => panic!("{error}"),
    };
    let library = Memory::new([("library.idl", "#include <Components.idl>\n")]);
    add("library", Config::new(), &library, "library.idl");
    println!("cargo:rerun-if-changed={CORNERS}");
    for file in idl_files(Path::new(CORNERS)) {
        let name = file.file_stem().expect("it has a name").to_string_lossy();
        let config = Config::new().extern_module("Components", "crate::corners::library::Components");
        add(&name, config, &Disk::new([]), &file.to_string_lossy());
    }
    text
}

const CORNERS: &str = "../../crates/idl/tests/corners";

/// The IDL files of a folder, without those below it.
fn idl_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "idl"));
    files.sort();
    files
}

/// Lines of IDL, interfaces, and definitions of all kinds, each where it is defined.
fn contents(folder: &str, files: &[PathBuf]) -> (usize, usize, usize) {
    let disk = Disk::new([PathBuf::from(folder)]);
    let (mut lines, mut interfaces, mut definitions) = (0, 0, 0);
    for file in files {
        lines += fs::read(file).expect("it was just read").iter().filter(|it| **it == b'\n').count();
        let model =
            compile(&disk, &file.to_string_lossy(), &Options::default()).expect("it was just compiled");
        for own in model.definitions().iter().filter(|it| !it.included) {
            definitions += 1;
            let interface = matches!(&own.kind, DefinitionKind::Interface(it) if matches!(it.origin, Origin::Interface) && it.defined);
            interfaces += usize::from(interface);
        }
    }
    (lines, interfaces, definitions)
}
