//! Compiles the schema, with the `capnp` program.

fn main() {
    capnpc::CompilerCommand::new().file("bench.capnp").run().expect("the schema compiles");
}
