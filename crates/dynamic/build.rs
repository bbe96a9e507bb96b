//! Generates the types and stubs of the interface repository.

fn main() {
    zorb_build::Config::new().runtime_path("::zorb_orb::rt").compile(&["../../idl/InterfaceRepository.idl"]);
}
