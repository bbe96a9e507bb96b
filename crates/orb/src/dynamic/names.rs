//! Operations named at run time. All that travels names its operation by what lasts as long as the program, so that a call
//! of a stub carries a pointer; names that come at run time are therefore kept, once each, for good.

use std::collections::HashMap;
use std::sync::LazyLock;

use parking_lot::RwLock;

use super::signature::Signature;
use crate::exception::{Minor, SystemException};
use crate::skeleton::Operation;

/// Octets of all names together. An interface repository of 10,000 operations has a tenth; whoever calls by names that a
/// stranger makes up meets the limit and not the end of memory.
const MOST_OCTETS: usize = 4 << 20;

/// What an entry takes besides its names.
const OF_AN_ENTRY: usize = 96;

#[derive(Default)]
struct Names {
    octets: usize,
    /// By the operation's name; those that differ in their parameters' names behind one another.
    known: HashMap<&'static str, Vec<&'static Operation>>,
}

static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(RwLock::default);

impl Names {
    fn find(&self, signature: &Signature) -> Option<&'static Operation> {
        let of_name = self.known.get(&*signature.operation)?;
        let given = || signature.given().map(|parameter| &*parameter.name);
        of_name.iter().copied().find(|operation| given().eq(operation.parameters.iter().copied()))
    }
}

/// The operation of a signature, as calls name it.
///
/// # Errors
/// `IMP_LIMIT`: more names than are kept.
pub(super) fn operation(signature: &Signature) -> Result<&'static Operation, SystemException> {
    if let Some(known) = NAMES.read().find(signature) {
        return Ok(known);
    }
    let mut names = NAMES.write();
    if let Some(known) = names.find(signature) {
        return Ok(known);
    }
    let parameters = || signature.given().map(|parameter| &*parameter.name);
    let octets = signature.operation.len() + parameters().map(str::len).sum::<usize>() + OF_AN_ENTRY;
    if names.octets.saturating_add(octets) > MOST_OCTETS {
        let text = format!("names of dynamic operations: {MOST_OCTETS} octets are kept, and no more");
        return Err(SystemException::ImpLimit(text).minor(Minor::NONE));
    }
    names.octets += octets;
    let kept = |name: &str| -> &'static str { Box::leak(name.into()) };
    let parameters: Vec<&'static str> = parameters().map(kept).collect();
    let mut operation = Operation::new(kept(&signature.operation));
    operation.parameters = parameters.leak();
    let operation: &'static Operation = Box::leak(Box::new(operation));
    names.known.entry(operation.name).or_default().push(operation);
    Ok(operation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_cdr::TypeCode;

    #[test]
    fn an_operation_is_kept_once() {
        let of = |parameter: &str| Signature::new("names_test").takes(parameter, TypeCode::string(0));
        let first = operation(&of("a")).expect("kept");
        assert!(std::ptr::eq(first, operation(&of("a")).expect("kept")));
        let second = operation(&of("b")).expect("kept");
        assert!(!std::ptr::eq(first, second));
        assert_eq!((second.name, second.parameters), ("names_test", &["b"][..]));
        assert_eq!(first.number, second.number);
    }
}
