//! Compiles the IDL of these tests.

fn main() {
    zorb_build::compile("../interop/idl/every.idl");
    zorb_build::compile("idl/names.idl");
    zorb_build::compile("idl/bank.idl");
    zorb_build::compile("idl/wide.idl");
    zorb_build::compile("idl/decimals.idl");
    zorb_build::compile("idl/newer.idl");
    zorb_build::compile("idl/anys.idl");
    zorb_build::compile("idl/values.idl");
    zorb_build::compile("idl/abstracts.idl");
    zorb_build::compile("idl/paths.idl");
    zorb_build::Config::new()
        .ami()
        .deferred("later::Kitchen")
        .deferred("later::Named::rename")
        .compile(&["idl/later.idl"]);
    zorb_build::Config::new()
        .define("LENGTH_TYPE", "unsigned long")
        .output("split")
        .carry_idl()
        .compile(&["idl/split_b.idl", "idl/split_a.idl"]);
}
