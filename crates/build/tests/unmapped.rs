//! What the generator maps, and what it cannot: that is named with its place.

use zorb_build::{Config, Error};
use zorb_idl::Memory;

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

/// What an operation passes of a native type, whose Rust type only the program knows.
#[test]
fn a_native_type_needs_a_rust_type() {
    let text = "native Handle; local interface L { void f(in Handle h); }; native Unused;";
    let says = "no Rust type is named for the native type `Handle`";
    assert_eq!(unmapped(text), [says]);
    let raised = "module m { native Gone; }; local interface L { void f() raises (m::Gone); };";
    assert_eq!(unmapped(raised), ["no Rust type is named for the native type `m::Gone`"]);
    let of_value = "native Handle; valuetype V { void f(in Handle it); };";
    assert_eq!(unmapped(of_value), [says]);
    let files = Memory::new([("a.idl", text)]);
    let with = |name: &str, ty: &str| Config::new().native(name, ty).generate_from(&files, &["a.idl"]);
    let named = with("::Handle", "::std::sync::Arc<dyn ::my::Handle>").expect("a type is named").text;
    assert!(named.contains("pub type Handle = ::std::sync::Arc<dyn ::my::Handle>;"), "{named}");
    for (name, ty, says) in [
        ("Handel", "::my::Handle", "no native type is called `Handel`"),
        ("L", "::my::Handle", "no native type is called `L`"),
        ("Handle", "not a type", "`not a type`, for `Handle`, is no Rust type"),
    ] {
        let Err(Error::Config(text)) = with(name, ty) else { panic!("{name} {ty} must be refused") };
        assert!(text.contains(says), "{text}");
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
        "local interface L; local interface M { void run(in L it); }; local interface L : M {}; struct S { L a; };",
        "const fixed RATE = 1.5d; struct S { fixed<5, 2> a; };",
        "struct Sized { int16 a; uint16 b; int32 c; uint32 d; int64 e; uint64 f; };",
        "union U switch (octet) { case 1: long a; default: string b; };",
        "#include <orb.idl>\nconst CORBA::PolicyType MINE = 5;",
        "#include <IOP.idl>\nstruct S { IOP::TaggedComponent c; };",
        "struct S { map<double, long> m; }; struct K { long a; }; typedef map<K, map<any, S>, 5> M;",
        "#include <orb.idl>\nstruct S { CORBA::Policy p; }; interface I : CORBA::Current {};",
        "interface I { void f(); }; local interface L : I {}; abstract interface A {}; local interface M : A, L {};",
        "struct E {}; typedef sequence<E> Es; typedef sequence<E, 3> Three; typedef map<E, E> M;",
        "#include <Components.idl>\neventtype V { public long x; }; abstract eventtype W {}; eventtype X : V {};",
        "module m { struct S { long a; }; }; import ::m; struct T { m::S s; };",
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
