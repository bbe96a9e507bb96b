//! Several main files in one Rust file: what more than one of them includes is generated once, and two definitions that
//! would have one Rust path are reported.

use std::collections::HashMap;

use zorb_idl::model::{Definition, DefinitionId, DefinitionKind};
use zorb_idl::{Diagnostic, Diagnostics};

use crate::plan::Plan;

/// The definitions to generate, of each plan in turn.
pub(crate) fn merge(plans: &[Plan<'_>]) -> Result<Vec<Vec<DefinitionId>>, Vec<Diagnostics>> {
    let mut firsts = HashMap::new();
    let mut faults = Vec::new();
    let mut merged = Vec::new();
    for plan in plans {
        let (mut own, mut clashes) = (Vec::new(), Vec::new());
        for of in plan.model.definitions().iter().filter(|it| plan.is_own(it.id)) {
            match &of.kind {
                DefinitionKind::Module(_) => own.push(of.id),
                DefinitionKind::Interface(it) if !it.defined && is_defined_elsewhere(plans, plan, of) => {}
                _ => {
                    let place = plan.place_of(of.id);
                    match firsts.get(&(&place.home.path, &place.name)) {
                        None => {
                            firsts.insert((&place.home.path, &place.name), (plan, of));
                            own.push(of.id);
                        }
                        Some((there, first)) => clashes.extend(clash(there, first, plan, of)),
                    }
                }
            }
        }
        if !clashes.is_empty() {
            faults.push(plan.model.diagnose(clashes));
        }
        merged.push(own);
    }
    if faults.is_empty() { Ok(merged) } else { Err(faults) }
}

/// Whether what is only declared here has its definition in another file.
fn is_defined_elsewhere(plans: &[Plan<'_>], plan: &Plan<'_>, of: &Definition) -> bool {
    let scoped = plan.model.scoped_name(of.id);
    plans.iter().any(|it| it.model.find(&scoped).is_some_and(|id| is_defined(it.model.definition(id))))
}

fn is_defined(of: &Definition) -> bool {
    !matches!(&of.kind, DefinitionKind::Interface(it) if !it.defined)
}

/// What is wrong with a definition that has the path of an earlier one: nothing, if it is the same text or declares the
/// same thing again.
fn clash(there: &Plan<'_>, first: &Definition, here: &Plan<'_>, second: &Definition) -> Option<Diagnostic> {
    let was = there.model.location(first.span);
    let same_place = here.model.is_same_place(second.span, there.model, first.span);
    let (old, new) = (&first.repository_id, &second.repository_id);
    let declared = !is_defined(first) && !is_defined(second);
    // What is nested in one that clashes goes with it.
    let outer = second.parent.map(|id| &here.model.definition(id).kind);
    let nested = outer.is_some_and(|it| !matches!(it, DefinitionKind::Module(_)));
    if declared || nested || (same_place && old == new) {
        return None;
    }
    let name = here.model.scoped_name(second.id);
    let (message, label) = if same_place {
        let files = [there, here].map(|it| it.model.files().next().unwrap_or_default());
        (
            format!("`{name}` gets another repository id in each of two files that become one Rust file"),
            format!("`{old}` through {}, `{new}` through {}", files[0], files[1]),
        )
    } else {
        (
            format!("`{name}` is defined in two files that become one Rust file"),
            format!(
                "it is also at {}:{}:{}; define it in one that both include",
                was.path, was.line, was.column
            ),
        )
    };
    Some(Diagnostic::error(message, second.span, label))
}
