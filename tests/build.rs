//! Generates what the tests call.

fn main() {
    zorb_build::compile("idl/probe.idl");
}
