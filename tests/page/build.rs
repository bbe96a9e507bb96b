//! Turns docs/mapping.md into code: each IDL block becomes a module of Rust, and the page a text of doctests in which each Rust block sees the
//! module of the last IDL block before it. One marked `rust,inside` is put into that module.
//!
//! A comment `// Config::deferred("bank::Account")` at the top of an IDL block is an option that the block is compiled with.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use zorb_build::Config;
use zorb_idl::Memory;

const PAGE: &str = "../../docs/mapping.md";

fn main() {
    println!("cargo:rerun-if-changed={PAGE}");
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let (mut modules, mut doctests) = (String::new(), String::new());
    let (mut blocks, mut lines) = (0, page.lines().enumerate());
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            writeln!(doctests, "{line}").expect("strings can be written to");
            continue;
        };
        let block: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        if info == "rust,inside" {
            inside(&mut modules, &block);
            writeln!(doctests, "```text\n{block}\n```").expect("strings can be written to");
        } else if info == "idl" {
            blocks += 1;
            let text = generated(&block, at + 1);
            writeln!(
                modules,
                "/// The IDL at line {} of the page.\npub mod block_{blocks} {{\n{text}}}",
                at + 1
            )
            .expect("strings can be written to");
            writeln!(doctests, "```text\n{block}\n```").expect("strings can be written to");
        } else {
            let (before, after) = match info.starts_with("rust") {
                true => (format!("# {}\n", opening(blocks)), "\n# Ok(()) }"),
                false => (String::new(), ""),
            };
            writeln!(doctests, "```{info}\n{before}{block}{after}\n```").expect("strings can be written to");
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("modules.rs"), modules).expect("the folder is there");
    fs::write(out.join("page.md"), doctests).expect("the folder is there");
}

/// Puts a Rust block into the module of the last IDL block: what implements a trait of the ORB's for a generated type has to be in its crate.
fn inside(modules: &mut String, block: &str) {
    let end = modules.rfind('}').expect("a module is open");
    modules.insert_str(end, &format!("{block}\n"));
}

/// What stands before a Rust block, on a line that is not shown.
fn opening(block: usize) -> String {
    let names = if block == 0 { String::new() } else { format!("use zorb_test_page::block_{block}::*; ") };
    format!("#[allow(unused_imports)] {names}fn main() -> Result<(), Box<dyn std::error::Error>> {{")
}

/// The Rust of an IDL block.
fn generated(idl: &str, line: usize) -> String {
    let mut config = Config::new();
    for option in idl.lines().filter_map(|line| line.strip_prefix("// Config::")) {
        let (name, rest) = option.split_once('(').expect("an option has arguments");
        let arguments: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
        config = match (name, arguments.as_slice()) {
            ("ami", []) => config.ami(),
            ("deferred", [name]) => config.deferred(*name),
            ("native", [name, ty]) => config.native(*name, *ty),
            _ => panic!("line {line}: no option of the page's: {option}"),
        };
    }
    match config.generate_from(&Memory::new([("page.idl", idl)]), &["page.idl"]) {
        Ok(generated) => generated.text,
        Err(error) => {
            eprintln!("docs/mapping.md, the IDL block at line {line}:\n{error}");
            std::process::exit(1);
        }
    }
}
