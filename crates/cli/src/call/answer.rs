//! What a call ended with, for people and as JSON.

use std::io::Write;

use serde_json::{Map, Value as Json, json};
use zorb::dynamic::{Results, Signature};
use zorb::{Any, SystemException, TCKind};
use zorb_dynamic::{Form, Interface, Notation, WrittenError};

use super::form_of;
use super::learn::Learnt;
use crate::failure::Failure;

/// What came back cannot be shown.
fn unshown(error: WrittenError) -> Failure {
    Failure::new(format!("what came back has no text: {error}"))
}

/// The result in a line of its own, then each `out` and `inout` parameter as `name = value`.
pub(super) fn results(
    notation: &Notation,
    interface: &Interface,
    signature: &Signature,
    results: &Results,
    as_json: bool,
) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let outputs = signature.outputs().zip(&results.outputs);
    let outputs =
        outputs.map(|(parameter, value)| (parameter, value, form_of(interface, signature, parameter)));
    let result_form = interface.result_form(&signature.operation);
    if as_json {
        let show = |value: &Any, form: &Form| notation.in_form(form).to_json(value).map_err(unshown);
        let outputs =
            outputs.map(|(parameter, value, form)| Ok((parameter.name.clone(), show(value, form)?)));
        let outputs = outputs.collect::<Result<Map<_, _>, Failure>>()?;
        writeln!(output, "{}", json!({ "result": show(&results.result, result_form)?, "outputs": outputs }))?;
        return Ok(());
    }
    let show = |value: &Any, form: &Form| notation.in_form(form).to_literal(value).map_err(unshown);
    if !matches!(signature.result.kind(), TCKind::Void | TCKind::Null) {
        writeln!(output, "{}", show(&results.result, result_form)?)?;
    }
    for (parameter, value, form) in outputs {
        writeln!(output, "{} = {}", parameter.name, show(value, form)?)?;
    }
    Ok(())
}

fn print(exception: Json) -> Result<(), Failure> {
    Ok(writeln!(std::io::stdout().lock(), "{}", json!({ "exception": exception }))?)
}

pub(super) fn user_exception(
    notation: &Notation,
    learnt: &Learnt,
    exception: &Any,
    as_json: bool,
) -> Result<(), Failure> {
    let ty = exception.type_code();
    if as_json {
        let members = notation.to_json(exception).map_err(unshown)?;
        print(json!({ "id": ty.id(), "name": ty.name(), "members": members }))?;
    }
    let members = notation.to_literal(exception).map_err(unshown)?;
    let name = learnt.repository.type_name(ty);
    Err(Failure::user_exception(format!("user exception {name} {members}")))
}

pub(super) fn system_exception(exception: SystemException) -> Failure {
    Failure::system_exception(format!("system exception {exception}"), exception)
}

pub(super) fn print_system_exception(exception: &SystemException) -> Result<(), Failure> {
    print(json!({
        "id": exception.kind.repository_id(),
        "name": exception.kind.name(),
        "minor": exception.minor.to_string(),
        "completed": exception.completed.to_string(),
        "detail": exception.detail(),
    }))
}
