//! Generates the Rust of every example's IDL; the programs include it by `zorb::include_idl!`.

fn main() {
    for name in ["hello", "bank", "callback", "work", "documents", "video", "photos"] {
        zorb_build::compile(format!("idl/{name}.idl"));
    }
}
