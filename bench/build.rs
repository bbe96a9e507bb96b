//! Generates the stubs and skeletons of what the scenarios call, and interfaces of 1 to 1,000 operations with a servant
//! for all of them.

use std::fmt::Write;
use std::path::PathBuf;

/// How many operations the interfaces have that demultiplexing is measured with.
const OPERATIONS: [usize; 4] = [1, 10, 100, 1000];

fn main() -> std::io::Result<()> {
    // Whether stacks of this program can be followed: `zorb bench rtt --flame` says what to do where they cannot.
    println!("cargo::rustc-check-cfg=cfg(zorb_frame_pointers)");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if flags.contains("force-frame-pointers") {
        println!("cargo::rustc-cfg=zorb_frame_pointers");
    }
    for file in ["echo", "cube", "demux"] {
        zorb_build::compile(format!("idl/{file}.idl"));
    }
    interfaces()
}

/// An interface `OperationsN`, its servant, and for each operation what its request leads to: `METHODS_N`.
fn interfaces() -> std::io::Result<()> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it"));
    let idl = out.join("operations.idl");
    let (mut interfaces, mut servants) = (String::new(), String::new());
    for operations in OPERATIONS {
        let _ = writeln!(interfaces, "interface Operations{operations} {{");
        let _ = writeln!(servants, "impl Operations{operations}Servant for Counting {{");
        let mut methods = String::new();
        for number in 0..operations {
            let _ = writeln!(interfaces, "    void operation_{number:03}();");
            let _ = writeln!(
                servants,
                "    fn operation_{number:03}(&self, _: &Call) -> Result<(), SystemException> {{ self.count() }}"
            );
            let method = format!("Operations{operations}Servant::operation_{number:03}");
            let _ = writeln!(
                methods,
                "    |servant, request| request.serve(|context, ()| {method}(servant, context)),"
            );
        }
        interfaces.push_str("};\n");
        let _ = writeln!(
            servants,
            "}}\nstatic METHODS_{operations}: [Method<Operations{operations}>; {operations}] = [\n{methods}];"
        );
    }
    std::fs::write(&idl, interfaces)?;
    std::fs::write(out.join("operations_servants.rs"), servants)?;
    zorb_build::compile(idl);
    Ok(())
}
