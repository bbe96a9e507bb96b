//! Several files: includes, prefixes, macros, comments, places.

use zorb_idl::model::{DefinitionKind, Feature};
use zorb_idl::{Memory, Model, Options, compile};

fn model(files: &[(&str, &str)]) -> Model {
    compile_all(files).unwrap_or_else(|errors| panic!("{errors}"))
}

fn compile_all(files: &[(&str, &str)]) -> Result<Model, zorb_idl::Diagnostics> {
    let loader = Memory::new(files.iter().map(|(name, text)| (*name, *text)));
    compile(&loader, files[0].0, &Options::default())
}

fn id<'a>(model: &'a Model, name: &str) -> &'a str {
    &model.definition(model.find(name).expect(name)).repository_id
}

#[test]
fn a_prefix_stays_in_its_file_and_scope() {
    let model = model(&[
        (
            "main.idl",
            "#pragma prefix \"main.org\"\ninterface Before {};\n#include \"other.idl\"\ninterface After {};\n\
             module M {\n#pragma prefix \"inner.org\"\ninterface Inner {};\n#include <bare.idl>\ninterface Still {};\n};\n\
             interface Outside {};\n",
        ),
        ("other.idl", "interface Unprefixed {};\n#pragma prefix \"other.org\"\ninterface Other {};\n"),
        ("bare.idl", "interface Bare {};\n"),
    ]);
    for (name, expected) in [
        ("Before", "IDL:main.org/Before:1.0"),
        ("Unprefixed", "IDL:Unprefixed:1.0"),
        ("Other", "IDL:other.org/Other:1.0"),
        ("After", "IDL:main.org/After:1.0"),
        ("M::Inner", "IDL:inner.org/M/Inner:1.0"),
        ("M::Bare", "IDL:M/Bare:1.0"),
        ("M::Still", "IDL:inner.org/M/Still:1.0"),
        ("Outside", "IDL:main.org/Outside:1.0"),
    ] {
        assert_eq!(id(&model, name), expected);
    }
}

/// Every form of `#pragma`, however it is spaced; what no specification knows is passed by with a word, in included files too.
#[test]
fn pragmas_of_every_form_are_taken() {
    let model = model(&[
        (
            "main.idl",
            "#pragma once\n#pragma prefix \"a.org\"\ninterface A { void f(); attribute long x; };\n\
             #  pragma\tversion A 2.7\n#pragma ID A::f  \"IDL:other/f:1.0\"\n#pragma version A::x 3.0\n\
             #pragma pack(4)\n#include \"other.idl\"\n#pragma prefix \"\"\ninterface B {};\n\
             #pragma ID ::B \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\"\nmodule M { interface C {};\n\
             #pragma version C 65535.0\n};\n#pragma ID M \"LOCAL:m\"\n#pragma\n",
        ),
        ("other.idl", "#pragma hh #include <own.h>\n#pragma keylist S a b\nstruct S { long a, b; };\n"),
    ]);
    for (name, expected) in [
        ("A", "IDL:a.org/A:2.7"),
        ("S", "IDL:S:1.0"),
        ("B", "DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1"),
        ("M", "LOCAL:m"),
        ("M::C", "IDL:M/C:65535.0"),
    ] {
        assert_eq!(id(&model, name), expected);
    }
    let features = model.features(model.find("A").expect("A")).iter().map(|it| match it {
        Feature::Operation(it) => it.repository_id.as_str(),
        Feature::Attribute(it) => it.repository_id.as_str(),
    });
    assert_eq!(features.collect::<Vec<_>>(), ["IDL:other/f:1.0", "IDL:a.org/A/x:3.0"]);
    let warnings = model.warnings();
    let found: Vec<String> = warnings
        .iter()
        .map(|it| format!("{} {}", warnings.location(it.at.as_ref().expect("a place").span), it.message))
        .collect();
    assert_eq!(
        found,
        [
            "main.idl:7:2 unknown pragma `pack(4)` ignored",
            "other.idl:1:2 unknown pragma `hh` ignored",
            "other.idl:2:2 unknown pragma `keylist` ignored",
        ]
    );
}

#[test]
fn included_definitions_are_marked() {
    let model = model(&[
        (
            "main.idl",
            "#include \"a.idl\"\n#include \"a.idl\"\nmodule Shared { typedef A::T U; };\ninterface F {};\n",
        ),
        (
            "a.idl",
            "#ifndef A_IDL\n#define A_IDL\nmodule A { typedef long T; };\nmodule Shared { typedef short S; };\n\
             interface F;\n#endif\n",
        ),
    ]);
    let included = |name| model.definition(model.find(name).expect(name)).included;
    assert!(included("A") && included("A::T") && included("Shared::S"));
    assert!(!included("Shared") && !included("Shared::U") && !included("F"));
    assert_eq!(model.files().collect::<Vec<_>>(), ["main.idl", "a.idl"]);
    let DefinitionKind::Module(shared) = &model.definition(model.find("Shared").expect("Shared")).kind else {
        panic!("not a module")
    };
    let openings: Vec<String> = shared.openings.iter().map(|it| model.location(*it).to_string()).collect();
    assert_eq!(openings, ["a.idl:4:8", "main.idl:3:8"]);
}

#[test]
fn orb_idl_is_built_in_unless_the_loader_has_one() {
    let main = ("main.idl", "#include <orb.idl>\nstruct S { CORBA::TypeCode tc; CORBA::StringSeq names; };");
    let built_in = model(&[main]);
    assert_eq!(id(&built_in, "CORBA::StringSeq"), "IDL:omg.org/CORBA/StringSeq:1.0");
    assert_eq!(built_in.files().count(), 1);
    assert!(compile_all(&[main, ("orb.idl", "")]).is_err());
}

#[test]
fn macros_stand_for_what_they_were_defined_as() {
    let mut options = Options::default();
    options.defines = vec![("FROM_OUTSIDE".into(), "7".into()), ("FLAG".into(), String::new())];
    let text = "#define TWICE(x) x x\n#define TYPE unsigned\\\n long\n#define SELF SELF_\n#define EMPTY\n\
                #if defined(FLAG) && FROM_OUTSIDE == 7 // a comment\nconst TYPE a EMPTY = FROM_OUTSIDE;\n#else\n\
                this is 'not IDL /* nor is this\n*/ #endif\n#elif 1\n#if 1\nneither\n#endif\n#endif\n\
                #undef TYPE\ntypedef long TYPE;\n# define LAST 3\nconst TYPE SELF = LAST;\n";
    let loader = Memory::new([("main.idl", text)]);
    let errors = compile(&loader, "main.idl", &options).expect_err("`#elif` after `#else`").render(false);
    assert!(errors.contains("`#elif` after `#else`") && errors.matches("error").count() == 1, "{errors}");
    let loader = Memory::new([("main.idl", text.replace("#elif 1\n#if 1\nneither\n#endif\n", ""))]);
    let model = compile(&loader, "main.idl", &options).unwrap_or_else(|errors| panic!("{errors}"));
    let DefinitionKind::Constant(a) = &model.definition(model.find("a").expect("a")).kind else { panic!() };
    assert_eq!(a.value.as_integer(), Some(7));
    assert!(model.find("SELF_").is_some() && model.find("TYPE").is_some());
}

#[test]
fn macros_name_files_by_way_of_others() {
    let shared = ("shared.idl", "typedef long Shared;");
    let model = model(&[
        (
            "main.idl",
            "#define FILE \"shared.idl\"\n#define WHICH FILE\n#define IT WHICH\n#include IT\ntypedef Shared T;",
        ),
        shared,
    ]);
    assert!(model.find("Shared").is_some());
    for wrong in ["#define A B\n#define B A\n#include A\n", "#define A 3\n#include A\n", "#include A\n"] {
        let errors = compile_all(&[("main.idl", wrong), shared]).expect_err("no file is named").render(false);
        assert!(errors.contains("expected the name of a file"), "{errors}");
    }
}

#[test]
fn comments_document_what_they_touch() {
    let model = model(&[(
        "main.idl",
        "// A licence.\n\n// About S.\n// More about S.\nstruct S {\n  long a; // about a\n  long b;\n  \
         /// about c\n  long c;\n  long d; long e; /* about e */\n};\n\n/*------\n * A block.\n *\n *   Indented.\n \
         ------*/\ninterface I {\n  void f(); // about f\n\n  // Of nothing.\n\n  void g();\n};\n",
    )]);
    let s = model.definition(model.find("S").expect("S"));
    assert_eq!(s.doc, "About S.\nMore about S.");
    let DefinitionKind::Struct(it) = &s.kind else { panic!() };
    let docs: Vec<&str> = it.members.iter().map(|it| it.doc.as_str()).collect();
    assert_eq!(docs, ["about a", "", "about c", "", "about e"]);
    let i = model.find("I").expect("I");
    assert_eq!(model.definition(i).doc, "A block.\n\n  Indented.");
    let docs: Vec<&str> = model.all_operations(i).map(|(_, it)| it.doc.as_str()).collect();
    assert_eq!(docs, ["about f", ""]);
}

#[test]
fn places_follow_line_directives() {
    let text = "#line 100 \"generator.x\"\ntypedef Nothing T;\n# 7\ntypedef Nothing U;\n";
    let errors = compile_all(&[("main.idl", text)]).expect_err("no such types");
    let places: Vec<String> = errors
        .iter()
        .filter_map(|it| it.at.as_ref())
        .map(|at| errors.location(at.span).to_string())
        .collect();
    assert_eq!(places, ["generator.x:100:9", "main.idl:7:9"]);
}

#[test]
fn old_encodings_and_line_ends_are_read() {
    let text = b"\xef\xbb\xbfconst string s = \"caf\xc3\xa9\";\r\n#define X 1\r\nconst long x = X;\r\n\x1a";
    let loader =
        Memory::new([("utf8.idl", &text[..]), ("latin1.idl", b"// caf\xe9\nconst string s = \"caf\xe9\";")]);
    for file in ["utf8.idl", "latin1.idl"] {
        let model = compile(&loader, file, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let DefinitionKind::Constant(s) = &model.definition(model.find("s").expect("s")).kind else {
            panic!()
        };
        assert_eq!(s.value, zorb_idl::model::Value::String("café".into()));
    }
}

#[test]
fn a_missing_main_file_is_an_error_without_a_place() {
    let errors = compile(&Memory::default(), "none.idl", &Options::default()).expect_err("no file");
    assert_eq!(errors.render(false), "error: cannot read `none.idl`: no such file\n");
}

#[test]
fn colour_is_optional() {
    let errors = compile_all(&[("main.idl", "typedef Nothing T;")]).expect_err("no such type");
    assert!(!errors.render(false).contains('\x1b') && errors.render(true).contains('\x1b'));
}

#[test]
fn idl_older_than_a_keyword_is_warned_about() {
    let model = model(&[("main.idl", "interface Factory {};\nstruct Uses { Factory f_; long home; };\n")]);
    let warnings = model.warnings().render(false);
    assert!(warnings.contains("`Factory` differs from the keyword `factory`"), "{warnings}");
    assert!(warnings.contains("`home` is a keyword of the component model"), "{warnings}");
    assert!(!warnings.contains("error"), "{warnings}");
}
