//! That docs/mapping.md has an example of each construct, and that each example is compiled.

const PAGE: &str = include_str!("../../../docs/mapping.md");

/// The blocks of the page: what stands behind the opening marks, and the text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut blocks = Vec::new();
    let mut rest = PAGE;
    while let Some(at) = rest.find("\n```") {
        let (info, body) = rest[at + 4..].split_once('\n').expect("a block has lines");
        let end = body.find("\n```").expect("a block ends");
        blocks.push((info, &body[..end]));
        rest = &body[end + 4..];
    }
    blocks
}

/// As words stand in IDL, several of them with single spaces.
const CONSTRUCTS: &[&str] = &[
    "#include",
    "import ::",
    "#pragma prefix ",
    "#pragma ID ",
    "#pragma version ",
    "typeid ",
    "typeprefix ",
    "module ",
    "boolean ",
    "octet ",
    "int8 ",
    "uint8 ",
    "short ",
    "long ",
    "long long ",
    "unsigned long ",
    "unsigned long long ",
    "float ",
    "double ",
    "long double ",
    "char ",
    "wchar ",
    "fixed<",
    "const fixed ",
    "string ",
    "string<",
    "wstring ",
    "wstring<",
    "sequence<",
    "map<",
    "[2][3]",
    "const ",
    "typedef ",
    "struct ",
    " : Base {",
    "struct Tick {}",
    "enum ",
    "union ",
    "default:",
    "bitmask ",
    "bitset ",
    "@annotation ",
    "@key ",
    "@range(",
    "exception ",
    "interface ",
    "interface Account : Base",
    "local interface ",
    "abstract interface ",
    "attribute ",
    "readonly attribute ",
    " raises (",
    " getraises (",
    " setraises (",
    "oneway ",
    "context (",
    "inout ",
    "out ",
    "Object ",
    "any ",
    "CORBA::TypeCode ",
    "valuetype ",
    "truncatable ",
    "valuetype Text string",
    "abstract valuetype ",
    "supports ",
    // Of a valuetype: an attribute, an operation and an initializer.
    "    readonly attribute double across;\n    boolean covers(in Disc other);\n    factory sized(in double radius)",
    "custom valuetype ",
    "ValueBase ",
    "eventtype ",
    "abstract eventtype ",
    "native ",
    "component ",
    "provides ",
    "uses ",
    "emits ",
    "publishes ",
    "consumes ",
    "home ",
    "manages ",
    "primarykey ",
    "factory ",
    "finder ",
    "CORBA::Policy",
];

#[test]
fn each_construct_has_an_example() {
    let idl: Vec<&str> =
        blocks().into_iter().filter(|(info, _)| *info == "idl").map(|(_, text)| text).collect();
    let all = idl.join("\n");
    let missing: Vec<&&str> = CONSTRUCTS.iter().filter(|it| !all.contains(**it)).collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
    println!("{} blocks of IDL with {} constructs", idl.len(), CONSTRUCTS.len());
}

#[test]
fn each_example_is_compiled() {
    let blocks = blocks();
    let mut of_rust = 0;
    for (at, (info, text)) in blocks.iter().enumerate() {
        match *info {
            "rust" | "rust,inside" => of_rust += 1,
            // Compiled, and not run: it would write files.
            "rust,no_run" => assert!(text.contains("zorb_build::Config"), "{text}"),
            "idl" => {
                let next = blocks.get(at + 1).map(|(info, _)| *info);
                assert!(next.is_some_and(|it| it.starts_with("rust")), "no Rust stands beside\n{text}");
            }
            other => panic!("a block marked `{other}` is not compiled:\n{text}"),
        }
    }
    assert!(of_rust >= 28, "only {of_rust} blocks of Rust");
}
