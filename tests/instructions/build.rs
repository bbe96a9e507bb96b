//! Compiles `calls.idl`, and makes an interface of one operation and one of a thousand, the same one among them, with
//! servants of both.

use std::fmt::Write;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names it"));
    let idl = out.join("sizes.idl");
    let (mut interfaces, mut servants) = (String::new(), String::new());
    for (name, operations) in [("Small", 500..501), ("Large", 0..1000)] {
        let _ = writeln!(interfaces, "interface {name} {{");
        let _ = writeln!(servants, "impl {name}Servant for Silent {{");
        for number in operations {
            let _ = writeln!(interfaces, "    void operation_{number:03}();");
            let _ = writeln!(
                servants,
                "    fn operation_{number:03}(&self, _: &Call) -> Result<(), SystemException> {{ Ok(()) }}"
            );
        }
        interfaces.push_str("};\n");
        servants.push_str("}\n");
    }
    std::fs::write(&idl, interfaces)?;
    std::fs::write(out.join("servants.rs"), servants)?;
    zorb_build::compile(idl);
    zorb_build::compile("calls.idl");
    Ok(())
}
