//! Generates the stubs and skeletons of the demo and the soak.

fn main() {
    zorb_build::compile("idl/archive.idl");
    zorb_build::compile("idl/soak.idl");
}
