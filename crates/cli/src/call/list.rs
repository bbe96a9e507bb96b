//! `--list`: what an object offers, as IDL in 80 columns, or as JSON.

use std::io::Write;

use serde_json::json;
use zorb::dynamic::{Mode, Signature};
use zorb_dynamic::{Interface, Repository};

use super::form_of;
use super::learn::Learnt;
use crate::failure::Failure;

const COLUMNS: usize = 80;

pub(super) fn print(learnt: &Learnt, as_json: bool) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let Learnt { repository, interface, .. } = learnt;
    if as_json {
        let operations: Vec<_> =
            interface.operations().iter().map(|it| described(repository, interface, it)).collect();
        let shown = json!({
            "id": interface.id, "name": interface.name, "ancestors": interface.ancestors, "operations": operations,
        });
        writeln!(output, "{shown}")?;
        return Ok(());
    }
    writeln!(output, "interface {}", interface.name)?;
    writeln!(output, "  {}", interface.id)?;
    for ancestor in &interface.ancestors {
        writeln!(output, "  inherits {ancestor}")?;
    }
    writeln!(output)?;
    for signature in interface.operations() {
        if let Some(line) = declared(repository, interface, signature) {
            write!(output, "{}", wrapped(&line))?;
        }
    }
    Ok(())
}

fn described(repository: &Repository, interface: &Interface, signature: &Signature) -> serde_json::Value {
    let parameters = signature.parameters.iter().map(|parameter| {
        let ty = repository.formed_name(&parameter.ty, form_of(interface, signature, parameter));
        json!({ "name": parameter.name, "mode": mode(parameter.mode), "type": ty })
    });
    let raises = signature.raises.iter().map(|ty| repository.type_name(ty));
    json!({
        "operation": signature.operation,
        "oneway": signature.oneway,
        "result": repository.formed_name(&signature.result, interface.result_form(&signature.operation)),
        "parameters": parameters.collect::<Vec<_>>(),
        "raises": raises.collect::<Vec<_>>(),
        "contexts": signature.contexts,
    })
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::In => "in",
        Mode::Out => "out",
        Mode::InOut => "inout",
    }
}

/// As IDL declares it; an attribute once, where it is got.
fn declared(repository: &Repository, interface: &Interface, of: &Signature) -> Option<String> {
    let result = repository.formed_name(&of.result, interface.result_form(&of.operation));
    let raises = |clause: &str, of: &Signature| match of.raises.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<String> = of.raises.iter().map(|ty| repository.type_name(ty)).collect();
            format!(" {clause} ({})", names.join(", "))
        }
    };
    if let Some(name) = of.operation.strip_prefix("_get_") {
        let set = interface.operation(&format!("_set_{name}"));
        return Some(match set {
            None => format!("readonly attribute {result} {name}{};", raises("raises", of)),
            Some(set) => {
                let raised = raises("getraises", of) + &raises("setraises", &set);
                format!("attribute {result} {name}{raised};")
            }
        });
    }
    if of.operation.starts_with("_set_") {
        return None;
    }
    let parameters = of.parameters.iter().map(|parameter| {
        let ty = repository.formed_name(&parameter.ty, form_of(interface, of, parameter));
        format!("{} {ty} {}", mode(parameter.mode), parameter.name)
    });
    let parameters: Vec<String> = parameters.collect();
    let oneway = if of.oneway { "oneway " } else { "" };
    let clauses = raises("raises", of) + &contexts(of);
    Some(format!("{oneway}{result} {}({}){clauses};", of.operation, parameters.join(", ")))
}

fn contexts(of: &Signature) -> String {
    if of.contexts.is_empty() {
        return String::new();
    }
    let names: Vec<String> = of.contexts.iter().map(|name| format!("{name:?}")).collect();
    format!(" context ({})", names.join(", "))
}

/// Lines of at most 80 columns, broken at spaces; what has none is left whole.
fn wrapped(line: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > COLUMNS {
            text.push_str("\n    ");
            width = 4;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_declarations_are_broken_at_spaces() {
        assert_eq!(wrapped("void nothing();"), "void nothing();\n");
        let long = format!("void f(in long {}, in long b);", "a".repeat(60));
        assert_eq!(wrapped(&long), format!("void f(in long {}, in\n    long b);\n", "a".repeat(60)));
    }
}
