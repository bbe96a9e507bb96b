//! What the compiler reads and the generator does not map yet: it is named with its place, in every file, and nothing else
//! ends there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use zorb_build::{Config, Disk, Error};
use zorb_idl::{Loaded, Loader, Memory};

/// What the generator says to a text; empty if it maps all of it.
fn unmapped(text: &str) -> Vec<String> {
    let files = Memory::new([("a.idl", text)]);
    match Config::new().generate_from(&files, &["a.idl"]) {
        Ok(generated) => {
            assert!(!generated.text.contains("compile_error!"), "{}", generated.text);
            Vec::new()
        }
        Err(Error::Idl(lists)) => {
            lists.iter().flat_map(|list| list.iter().map(|it| it.message.clone())).collect()
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_has_no_mapping_is_named() {
    for (text, construct) in [
        ("struct S { map<double, long> m; };", "a `map` whose keys are `double`, which have no order,"),
        ("struct K { long a; }; typedef map<K, long> M;", "a `map` whose keys are `K`, which have no order,"),
        ("#include <orb.idl>\nstruct S { CORBA::Policy p; };", "interface `CORBA::Policy`"),
        (
            "#include <orb.idl>\ninterface I : CORBA::Current {};",
            "inheritance from interface `CORBA::Current`",
        ),
        ("local interface L {};", "local interface `L`"),
        ("struct E {}; typedef sequence<E> Es;", "`sequence of a struct without members`"),
        ("native Handle;", "native type `Handle`"),
        ("#include <Components.idl>\neventtype V { public long x; };", "event type `V`"),
    ] {
        let found = unmapped(text);
        let says = format!("{construct} has no mapping to Rust yet");
        assert!(found.contains(&says), "{text}: expected {says:?} among {found:?}");
    }
}

#[test]
fn what_is_mapped_needs_no_word() {
    for text in [
        "@annotation author { string name; }; @author(name = \"Ada\") struct S { @key long a; };",
        "struct Base { long a; }; struct Derived : Base { string b; };",
        "struct Nothing {}; struct Holds { Nothing none; long a; };",
        "struct Small { int8 a; sequence<uint8> b; }; const int8 LEAST = -128;",
        "union U switch (int8) { case -1: long a; }; union V switch (wchar) { case L'a': long a; };",
        "bitmask M { first }; struct S { M flags; }; bitset B { bitfield<3> a; };",
        "enum E { a }; struct S { map<string, long> m; map<E, sequence<map<long, S>>, 3> n; };",
        "#include <orb.idl>\nstruct S { any a; CORBA::TypeCode t; sequence<any> all; map<string, any> m; };",
        "interface I { any echo(in any a, out any b); };",
        "valuetype V { public V next; }; valuetype W : truncatable V { private sequence<W> all; }; valuetype B string;",
        "valuetype V { long sum(in long a); attribute long b; factory make(in long c); public long d; };",
        "struct S { map<string, ValueBase> m; }; valuetype V { public ValueBase any_value; };",
        "custom valuetype V { public long x; }; valuetype W { public V inner; };",
        "abstract valuetype A {}; abstract valuetype B : A {}; valuetype V : A { public A x; }; valuetype W : V, B {};",
        "abstract interface A { void run(in A it); }; interface I : A {}; valuetype V supports A {}; typedef A B; struct S { B x; };",
        "#include <orb.idl>\nstruct S { sequence<CORBA::AbstractBase> all; };",
        "const fixed RATE = 1.5d; struct S { fixed<5, 2> a; };",
        "struct Sized { int16 a; uint16 b; int32 c; uint32 d; int64 e; uint64 f; };",
        "union U switch (octet) { case 1: long a; default: string b; };",
        "#include <orb.idl>\nconst CORBA::PolicyType MINE = 5;",
        "#include <IOP.idl>\nstruct S { IOP::TaggedComponent c; };",
    ] {
        assert_eq!(unmapped(text), Vec::<String>::new(), "{text}");
    }
}

/// Inherited members come first, and an aggregate is written out of all of them.
#[test]
fn a_derived_struct_has_all_members() {
    let files = Memory::new([("a.idl", "struct Base { long a; }; struct Derived : Base { string b; };")]);
    let text = Config::new().generate_from(&files, &["a.idl"]).expect("mapped").text;
    let from = text.find("pub struct Derived").expect("the struct");
    let body = &text[from..from + text[from..].find('}').expect("its end")];
    assert!(body.find("pub a:").expect("a") < body.find("pub b:").expect("b"), "{body}");
}

/// Services take the ORB's names from whatever ORB compiles them.
struct Services(Disk);

impl Loader for Services {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.main(path)
    }

    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String> {
        if name == "orb.idl" { Ok(None) } else { self.0.include(name, from, quoted) }
    }
}

/// The services that omniORB installs: what the generator maps of them, and what is missing by construct.
#[test]
fn published_services_are_generated_or_explained() {
    let folder = Path::new("/usr/share/idl/omniORB/COS");
    let mut files: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => {
            println!("{} is not installed: left out", folder.display());
            let required = std::env::var_os("ZORB_REQUIRE_PEERS").is_some_and(|it| it == "1");
            assert!(!required, "{} is missing", folder.display());
            return;
        }
    };
    files.retain(|path| path.extension().is_some_and(|it| it == "idl"));
    files.sort();
    let loader = Services(Disk::new([folder.to_path_buf(), PathBuf::from("/usr/share/idl/omniORB")]));
    let (mut mapped, mut missing) = (0, BTreeMap::<String, usize>::new());
    for file in &files {
        match Config::new().generate_from(&loader, &[file.to_string_lossy()]) {
            Ok(generated) => {
                assert!(!generated.text.contains("compile_error!"), "{}", file.display());
                mapped += 1;
            }
            Err(Error::Idl(lists)) => {
                for it in lists.iter().flat_map(|list| list.iter()) {
                    let known =
                        it.message.contains("no mapping to Rust yet") || it.message.contains("of a tuple");
                    assert!(known && it.at.is_some(), "{}: {}", file.display(), it.message);
                    // The construct, without what the IDL calls it.
                    let what = it.message.split(" has no mapping").next().unwrap_or(&it.message);
                    let construct = match what.split_once(" `") {
                        Some((kind, _)) if !kind.is_empty() => kind,
                        _ => what,
                    };
                    *missing.entry(construct.to_owned()).or_default() += 1;
                }
            }
            Err(other) => panic!("{}: {other}", file.display()),
        }
    }
    println!(
        "{}: {mapped} of {} files are mapped to Rust; missing: {missing:#?}",
        folder.display(),
        files.len()
    );
    assert!(mapped >= 12, "only {mapped} files are mapped");
}
