//! Generates the demo's stubs and skeletons.

fn main() {
    zorb_build::compile("idl/archive.idl");
}
