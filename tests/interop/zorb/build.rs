//! Compiles the IDL of the interop tests.

fn main() {
    zorb_build::compile("../idl/every.idl");
    zorb_build::Config::new().deferred("beyond::Later::hold").compile(&["../idl/beyond.idl"]);
    zorb_build::compile("../idl/newer.idl");
    // Apart from what it derives from, so that nobody who reads those types knows these.
    zorb_build::Config::new()
        .extern_module("beyond", "crate::beyond::beyond")
        .compile(&["../idl/hidden.idl"]);
}
