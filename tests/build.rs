//! Generates what the tests call.

fn main() {
    zorb_build::compile("idl/probe.idl");
    zorb_build::Config::new().carry_idl().compile(&["idl/exchange.idl"]);
    zorb_build::compile("idl/bulk.idl");
    zorb_build::compile("idl/deposit.idl");
    zorb_build::compile("idl/bell.idl");
    zorb_build::Config::new().ami().deferred("kitchen::Counter").compile(&["idl/kitchen.idl"]);
}
