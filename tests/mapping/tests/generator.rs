//! The generator itself: the text that users get, what it refuses, and the hash that it shares with the runtime.

use std::num::NonZeroU64;

use zorb::rt::operations;
use zorb_build::operations::{self as generated, Table};
use zorb_build::{Config, Error};
use zorb_idl::Memory;

fn generate(text: &str) -> Result<String, Error> {
    let files = Memory::new([("test.idl", text)]);
    Config::new().generate_from(&files, &["test.idl"]).map(|it| it.text)
}

/// What small IDL files become. After a change that is meant, write them anew with `UPDATE_GOLDEN=1` and read the difference.
#[test]
fn the_text_is_as_reviewed() {
    let config = |name| match name {
        "later" => Config::new().ami().deferred("later::Kitchen").deferred("later::Named::rename"),
        _ => Config::new(),
    };
    for name in ["bank", "decimals", "newer", "anys", "values", "abstracts", "later"] {
        let golden = format!("{}/golden/{name}.rs.txt", env!("CARGO_MANIFEST_DIR"));
        let idl = format!("{}/idl/{name}.idl", env!("CARGO_MANIFEST_DIR"));
        let text = config(name).generate(&[idl]).expect("it is correct").text;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &text).expect("the golden file can be written");
        }
        let expected = std::fs::read_to_string(&golden).expect("the golden file is there");
        assert!(text == expected, "the text differs from {golden}: see the documentation of this test");
    }
}

#[test]
fn only_what_is_there_can_be_deferred() {
    let files = Memory::new([("test.idl", "module a { interface I { void x(); }; typedef long L; };")]);
    let with = |name: &str| Config::new().deferred(name).generate_from(&files, &["test.idl"]);
    for name in ["a::I", "::a::I", "a::I::x"] {
        assert!(with(name).expect(name).text.contains("DeferredReply"), "{name}");
    }
    for name in ["", "a", "a::L", "I", "a::I::y", "a::I::"] {
        let Err(Error::Config(text)) = with(name) else { panic!("{name} must be refused") };
        assert!(text.contains(&format!("`{name}`")), "{text}");
    }
}

#[test]
fn the_same_text_comes_out_each_time() {
    let idl = concat!(env!("CARGO_MANIFEST_DIR"), "/../interop/idl/every.idl");
    let text = || Config::new().generate(&[idl]).expect("it is correct").text;
    assert!(text() == text());
}

#[test]
fn a_native_type_without_a_rust_type_is_named_with_its_place() {
    let text = "
        native Pointer;
        typedef Pointer Anything;
        local interface Account {
          void run(in long x, in Anything which) raises (Pointer);
          attribute Pointer root;
        };
        native Unused;
        valuetype Node { Pointer run(); factory of(in Pointer what); };
    ";
    let error = generate(text).unwrap_err().render(false);
    let missing = "no Rust type is named for the native type `Pointer`";
    let at = [
        "test.idl:3:25",
        "test.idl:5:43",
        "test.idl:5:16",
        "test.idl:6:29",
        "test.idl:9:34",
        "test.idl:9:63",
    ];
    let expected: Vec<String> = at.iter().map(|at| format!("{at}: {missing}")).collect();
    let mut found = places(&error);
    found.sort();
    let mut sorted = expected;
    sorted.sort();
    assert_eq!(found, sorted, "{error}");
    assert!(error.contains("Config::native(\"Pointer\", \"::my::Type\")"), "{error}");
}

/// The crate that an included file's text is generated in names its types.
#[test]
fn native_types_of_other_crates_are_referred_to_there() {
    let other = "module other {
        native Pointer; typedef Pointer Anything; local interface Shape { Pointer make(); };
    };";
    let text = "
        #include \"other.idl\"
        local interface Round : other::Shape { void take(in other::Anything it); };
    ";
    let files = Memory::new([("test.idl", text), ("other.idl", other)]);
    let config = Config::new().extern_module("other", "::other");
    let text = config.generate_from(&files, &["test.idl"]).unwrap().text;
    assert!(text.contains("it: &::other::Anything"), "{text}");
    let error = Config::new().generate_from(&files, &["test.idl"]).unwrap_err().render(false);
    assert!(places(&error).iter().all(|it| it.contains("`other::Pointer`")), "{error}");
}

/// Where each error is, and what it says.
fn places(errors: &str) -> Vec<String> {
    let said = errors.lines().filter_map(|line| line.strip_prefix("error: "));
    let at = errors.lines().filter_map(|line| line.trim_start().strip_prefix("--> "));
    at.zip(said).map(|(at, said)| format!("{at}: {said}")).collect()
}

#[test]
fn parameters_give_way_to_constants_beside_them_only() {
    let text = generate(
        "module far { const long amount = 1; };
        module near {
          const long size = 2;
          interface Account { void run(in long amount, in long size, in long result, in long here, in long value); };
        };",
    );
    let text: String = text.unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let parameters = "&self, amount: i32, size_: i32, result: i32, here: i32, value_: i32, )";
    assert!(text.contains(parameters), "{text}");
}

#[test]
fn more_results_than_a_tuple_holds_are_tuples_of_tuples() {
    let back = |most: usize| {
        let each: Vec<String> = (0..most).map(|at| format!("out long p{at}")).collect();
        let text = generate(&format!("interface Panel {{ void read({}); }};", each.join(", "))).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(back(24).contains("p22, p23)`"), "{}", back(24));
    assert!(back(25).contains("p22, p23), p24)`"), "{}", back(25));
    assert!(back(26).contains("p22, p23), (p24, p25))`"), "{}", back(26));
}

#[test]
fn wrong_idl_and_wrong_options_are_errors() {
    assert!(matches!(generate("struct {"), Err(Error::Idl(_))));
    let files = Memory::new([("a.idl", "module m {};")]);
    let config = Config::new().runtime_path("not a path");
    assert!(matches!(config.generate_from(&files, &["a.idl"]), Err(Error::Config(_))));
    assert!(matches!(Config::new().generate_from(&files, &["missing.idl"]), Err(Error::Idl(_))));
}

/// What comes of main files that are compiled into one Rust file.
fn together(files: &[(&str, &str)]) -> Result<String, String> {
    let main: Vec<&str> = files.iter().map(|(name, _)| *name).filter(|it| it.starts_with("main")).collect();
    let files = Memory::new(files.iter().copied());
    Config::new().generate_from(&files, &main).map(|it| it.text).map_err(|it| it.render(false))
}

#[test]
fn what_two_main_files_define_alike_is_named_with_both_places() {
    let first = ("main_a.idl", "module m { struct Point { long x; }; };");
    let second =
        "\nmodule m {\n  interface Point { enum Nested { one }; };\n  struct Other { Point p; };\n};";
    let error = together(&[first, ("main_b.idl", second)]).unwrap_err();
    for part in ["`m::Point` is defined in two files", "main_b.idl:3:13", "main_a.idl:1:19"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert_eq!(error.matches("error:").count(), 1, "{error}");
    // A file that both include is one definition, unless one of them makes another type of it.
    let shared = ("shared.idl", "struct Point { long x; };");
    let plain = ("main_a.idl", "#include \"shared.idl\"");
    let other = "#include \"shared.idl\"\nstruct Other { Point p; };";
    assert!(together(&[shared, plain, ("main_b.idl", other)]).is_ok());
    let again = "#include \"shared.idl\"\n#pragma ID Point \"IDL:else/Point:2.0\"";
    let error = together(&[shared, plain, ("main_b.idl", again)]).unwrap_err();
    for part in ["`Point` gets another repository id", "`IDL:else/Point:2.0` through main_b.idl"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[test]
fn what_two_main_files_declare_is_one_interface() {
    let declares = "interface Peer; typedef sequence<Peer> Peers;";
    let text = together(&[
        ("main_a.idl", declares),
        ("main_b.idl", "interface Peer;\nstruct Pair { Peer left; Peer right; };"),
    ]);
    assert_eq!(text.unwrap().matches("pub struct Peer ").count(), 1);
    let text =
        together(&[("main_a.idl", declares), ("main_b.idl", "interface Peer { void call(); };")]).unwrap();
    assert_eq!(
        (text.matches("pub struct Peer ").count(), text.matches("pub fn call").count() > 0),
        (1, true)
    );
}

/// Which enum is another name of which does not hang on what else is generated at once.
#[test]
fn errors_are_shared_within_a_file_only() {
    let common = "#pragma once\nmodule m { exception Gone {}; };";
    let first = "#pragma once\n#include \"common.idl\"\nmodule m { interface A { void go() raises (Gone); };
        interface B { void go() raises (Gone); }; };";
    let second =
        "#pragma once\n#include \"common.idl\"\nmodule m { interface C { void go() raises (Gone); }; };";
    let both = "#include \"main_second.idl\"\n#include \"main_first.idl\"";
    let text = together(&[
        ("common.idl", common),
        ("main_first.idl", first),
        ("main_second.idl", second),
        ("main_both.idl", both),
    ])
    .unwrap();
    assert_eq!(text.matches("pub enum GoError").count(), 2, "{text}");
    assert_eq!(text.matches("pub type GoError = super::a::GoError;").count(), 1, "{text}");
}

#[test]
fn nothing_in_nothing_out() {
    assert_eq!(generate("").unwrap().lines().count(), 2);
    assert!(!generate("module empty {};").unwrap().contains("mod empty"));
}

#[test]
fn generator_and_runtime_hash_alike() {
    let names: Vec<String> = (0..2_000)
        .map(|number| "abcdefghijklmnopqrstuvwxyz_"[..number % 27].to_owned() + &number.to_string())
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).chain([""]).collect();
    for name in &names {
        for seed in [0, 1, u64::MAX] {
            assert_eq!(
                operations::hash(name.as_bytes(), seed),
                generated::hash(name.as_bytes(), seed),
                "{name}"
            );
        }
    }
    let table = Table::of(&names).expect("they are few");
    let operations = operations::Operations {
        seed: table.seed,
        displacements: table.displacements.leak(),
        slots: table.slots.leak(),
        names: names.iter().map(|name| &*name.to_string().leak()).collect::<Vec<&str>>().leak(),
        numbers: names.iter().map(|name| generated::number(name.as_bytes())).collect::<Vec<u64>>().leak(),
    };
    for (number, name) in names.iter().enumerate() {
        assert_eq!(operations.find(name.as_bytes()), Some(number));
        let known = NonZeroU64::new(zorb::giop::operation_number(name.as_bytes())).unwrap();
        assert_eq!(operations.find_number(known), Some(number));
        assert_eq!(operations.find(format!("{name}?").as_bytes()), None);
    }
}
