//! Generates the Rust of the IDL.

fn main() {
    zorb_build::compile("../idl/hello.idl");
}
