//! Compiles the IDL of the interop tests.

fn main() {
    zorb_build::compile("../idl/every.idl");
}
