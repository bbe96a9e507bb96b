//! Generates the types and stubs of the interface repository.

fn main() {
    let config = zorb_build::Config::new().runtime_path("::zorb_orb::rt").carry_idl();
    config.compile(&["../../idl/InterfaceRepository.idl"]);
}
