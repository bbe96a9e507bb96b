//! Generates the stubs of the naming service.

fn main() {
    zorb_build::Config::new().runtime_path("::zorb_orb::rt").compile(&["../../idl/CosNaming.idl"]);
}
