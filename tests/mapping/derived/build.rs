//! Compiles IDL that includes the IDL of another crate.

fn main() {
    zorb_build::Config::new()
        .include("../idl")
        .extern_module("bank", "::zorb_test_mapping::bank::bank")
        .compile(&["idl/savings.idl"]);
}
