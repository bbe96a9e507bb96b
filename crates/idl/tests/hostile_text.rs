//! Text that nobody would write: each ends in a model or in errors, within the stated limits, on a small stack.

use std::fmt::Write;
use std::thread;

use zorb_idl::model::Type;
use zorb_idl::{Diagnostics, Memory, Model, Options, compile, fuzz};

/// Compiles on a thread with 1 MiB of stack: what recursion there is must be bounded.
fn on_small_stack(text: String) -> Result<Model, Diagnostics> {
    let run = move || compile(&Memory::new([("a.idl", text)]), "a.idl", &Options::default());
    let thread = thread::Builder::new().stack_size(1 << 20).spawn(run).expect("a thread");
    thread.join().expect("no panic")
}

fn fails(text: String, with: &str) {
    let errors = on_small_stack(text).expect_err(with).render(false);
    assert!(errors.contains(with), "expected `{with}` in\n{}", &errors[..errors.len().min(2_000)]);
}

#[test]
fn nesting_is_bounded() {
    const N: usize = 100_000;
    fails(format!("const long x = {}1{};", "(".repeat(N), ")".repeat(N)), "nested more than");
    fails(format!("typedef {}long{} T;", "sequence<".repeat(N), ">".repeat(N)), "nested more than");
    fails("module M { ".repeat(N) + &"};".repeat(N), "nested more than");
    fails("struct S { ".repeat(N) + &"} x;".repeat(N), "nested more than");
    fails(format!("typedef long T{};", "[".repeat(N)), "expected a constant expression");
    fails("{".repeat(N), "expected a definition");
    fails("}".repeat(N), "100 errors");
}

#[test]
fn what_is_inherited_is_not_copied_without_end() {
    let comment = format!("/// {}\n", "x".repeat(1 << 20));
    let many = |kind: &str| (0..1_000).map(|n| format!("{kind} D{n} : B {{}};")).collect::<String>();
    fails(format!("struct B {{\n{comment}long x; }};{}", many("struct")), "too entangled to check");
    fails(format!("bitset B {{\n{comment}bitfield<3> x; }};{}", many("bitset")), "too entangled to check");
}

#[test]
fn annotations_find_what_they_stand_before() {
    // Each looked for among all before it: this many took minutes.
    let features: String =
        (0..60_000).map(|n| format!("@unit(\"m\") readonly attribute double a{n};")).collect();
    let model = on_small_stack(format!("interface I {{ {features} }};")).expect("it is right");
    assert_eq!(model.features(model.find("I").expect("I")).len(), 60_000);
}

#[test]
fn long_expressions_are_not_deep() {
    const N: usize = 100_000;
    let model = on_small_stack(format!("const unsigned long long x = {}1;", "1+".repeat(N))).expect("a sum");
    let it = &model.definition(model.find("x").expect("x")).kind;
    assert!(format!("{it:?}").contains("UnsignedLongLong(100001)"), "{it:?}");
    on_small_stack(format!("const long x = {}1;", "-".repeat(N))).expect("a sign");
    fails(format!("const long x = {};", "9".repeat(N)), "is not a number");
    fails(format!("const double x = {}.0;", "9".repeat(N)), "longer than the 12,000 characters");
    fails(format!("const long double x = {}1.0;", "0e-19999+".repeat(2_000)), "too entangled to check");
    on_small_stack(format!("const long double x = {}1.0;", "1e-9+".repeat(2_000))).expect("a sum");
    fails(format!("const fixed x = {}d;", "9".repeat(N)), "at most 31 digits");
    fails(format!("const long {} = 1;", "x".repeat(N)), "identifier longer than");
    fails(format!("const string s = \"{}\";", "x".repeat(2 << 20)), "string longer than");
}

#[test]
fn chains_of_definitions_are_bounded() {
    let mut structs = String::from("struct S0 { long x; };");
    let mut interfaces = String::from("interface I0 {};");
    for i in 1..2_000 {
        let before = i - 1;
        write!(structs, "struct S{i} {{ S{before} a, b; }};").expect("strings can be written to");
        write!(interfaces, "interface I{i} : I{before} {{}};").expect("strings can be written to");
    }
    fails(structs, "types within types");
    fails(interfaces, "more than 256 ancestors");

    // Two members of each: 2^60 octets, found without visiting each.
    let mut doubling = String::from("struct S0 { long x; };");
    for i in 1..60 {
        write!(doubling, "struct S{i} {{ S{} a, b; }};", i - 1).expect("strings can be written to");
    }
    let model = on_small_stack(doubling).expect("deep, but not too deep");
    assert_eq!(model.minimum_size(&Type::Named(model.find("S59").expect("S59"))), u32::MAX);
}

#[test]
fn diamonds_are_walked_once() {
    let mut text = String::from("interface L0 { typedef long T; }; interface R0 { };");
    for i in 1..100 {
        let b = i - 1;
        write!(text, "interface L{i} : L{b}, R{b} {{}}; interface R{i} : L{b}, R{b} {{}};")
            .expect("writable");
    }
    text += "interface Last : L99, R99 { void f(in T t_); };";
    let model = on_small_stack(text).expect("no ambiguity");
    assert_eq!(model.ancestors(model.find("Last").expect("Last")).len(), 200);
}

#[test]
fn includes_and_macros_cannot_explode() {
    fails("#include \"a.idl\"\n".repeat(3), "include each other more than 64 deep");
    let mut bomb = String::from("#define M0 1 +\n");
    for i in 1..60 {
        let b = i - 1;
        writeln!(bomb, "#define M{i} M{b} M{b}").expect("writable");
    }
    fails(bomb.clone() + "const long x = M59 1;", "more than 4000000 tokens");
    fails(bomb + "#if M59 1\n#endif\n", "this condition expands to too much");
    let mut deep = String::from("#define M0 1\n");
    for i in 1..1_000 {
        writeln!(deep, "#define M{i} M{}", i - 1).expect("writable");
    }
    fails(deep + "const long x = M999;", "macros within macros");
    let empty: String = (0..2_000).map(|i| format!("#include \"{i}.idl\"\n")).collect();
    fails(empty, "100 errors");
}

#[test]
fn text_is_bounded() {
    fails(" ".repeat((64 << 20) + 1), "more than 64 MiB of text");
    let lines = "typedef long T;\n".repeat(1_000);
    assert_eq!(on_small_stack(lines).expect_err("redefinitions").iter().count(), 100);
}

#[test]
fn quotes_that_are_passed_over_are_looked_at_once() {
    for quotes in ["'\\", "'/**/\\", "\"'", "'"] {
        let text = format!(
            "#if 0\n{}\n/* #endif */ 'tis prose /* with a\n#endif in a comment */\n#endif\nconst long x = 1;",
            quotes.repeat(200_000)
        );
        assert_eq!(on_small_stack(text).expect("all of it is passed over").definitions().len(), 1);
    }
}

#[test]
fn ten_thousand_lines_compile() {
    let mut text = String::from("#pragma prefix \"example.com\"\n");
    for module in 0..100 {
        writeln!(text, "module M{module} {{").expect("writable");
        for i in 0..10 {
            write!(
                text,
                "  struct Point{i} {{\n    long x;\n    double y;\n  }};\n  \
                 typedef sequence<Point{i}> Points{i};\n  \
                 exception Failed{i} {{ string why; }};\n  \
                 interface Shape{i} {{\n    /// Moves it.\n    void move(in Point{i} by) raises (Failed{i});\n    \
                 readonly attribute Points{i} outline;\n  }};\n"
            )
            .expect("writable");
        }
        writeln!(text, "}};").expect("writable");
    }
    assert!(text.lines().count() > 10_000);
    let model = on_small_stack(text).expect("good IDL");
    assert_eq!(model.definitions().len(), 100 * 41);
}

#[test]
fn prefixes_and_mutations_are_survived() {
    let seeds: [&[u8]; 10] = [
        include_bytes!("good/types.idl"),
        include_bytes!("good/constants.idl"),
        include_bytes!("good/scopes.idl"),
        include_bytes!("good/annotations.idl"),
        include_bytes!("good/components.idl"),
        include_bytes!("good/newer.idl"),
        include_bytes!("../src/components.idl"),
        include_bytes!("bad/preprocessor.idl"),
        include_bytes!("bad/values.idl"),
        include_bytes!("../../../idl/CosNaming.idl"),
    ];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        // xorshift: any sequence will do, as long as it is the same each time.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below.max(1) as u64) as usize
    };
    for seed in seeds {
        for end in (0..seed.len()).step_by(17) {
            fuzz::idl(&seed[..end]);
        }
        for _ in 0..150 {
            let mut text = seed.to_vec();
            for _ in 0..=next(4) {
                let (at, other) = (next(text.len()), next(text.len()));
                match next(5) {
                    0 => text[at] = next(256) as u8,
                    1 => text.truncate(at),
                    2 => text.swap(at, other),
                    3 => drop(text.drain(at.min(other)..at.max(other).min(at.min(other) + 40))),
                    _ => {
                        let piece = text[other..(other + 20).min(text.len())].to_vec();
                        text.splice(at..at, piece);
                    }
                }
                if text.is_empty() {
                    break;
                }
            }
            fuzz::idl(&text);
        }
    }
}
