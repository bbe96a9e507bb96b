//! [`Interface`]: what can be called at an object, wherever that was learnt.

use std::collections::HashMap;
use std::sync::Arc;

use zorb_cdr::{Described, TypeCode};
use zorb_orb::dynamic::Signature;

const OBJECT_ID: &str = "IDL:omg.org/CORBA/Object:1.0";

/// An interface: its names and what its objects can be asked, inherited operations included.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Interface {
    /// Its repository id.
    pub id: String,
    /// Its name with all scopes.
    pub name: String,
    /// The repository ids of what it inherits from directly.
    pub bases: Vec<String>,
    /// Those of all that it inherits from, nearest first.
    pub ancestors: Vec<String>,
    operations: Vec<Arc<Signature>>,
    by_name: HashMap<String, usize>,
}

impl Interface {
    /// One without operations.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Interface {
        Interface { id: id.into(), name: name.into(), ..Interface::default() }
    }

    /// Adds an operation. Of two of the same name the first stays: an interface that is inherited over two ways is one.
    pub fn add(&mut self, operation: Arc<Signature>) {
        if !self.by_name.contains_key(&operation.operation) {
            self.by_name.insert(operation.operation.clone(), self.operations.len());
            self.operations.push(operation);
        }
    }

    /// Its operations, own ones first; attributes are `_get_x` and, unless they are read-only, `_set_x`.
    pub fn operations(&self) -> &[Arc<Signature>] {
        &self.operations
    }

    /// The operation of this name on the wire; also one that every object has, such as `_is_a`.
    pub fn operation(&self, name: &str) -> Option<Arc<Signature>> {
        match self.by_name.get(name) {
            Some(at) => Some(self.operations[*at].clone()),
            None => implicit(name).map(Arc::new),
        }
    }

    /// Whether its objects have the interface of this repository id.
    pub fn is_a(&self, id: &str) -> bool {
        id == self.id || id == OBJECT_ID || self.ancestors.iter().any(|ancestor| ancestor == id)
    }
}

/// The names of the operations that every object has (CORBA 3.3 part 2, §9.4.2.2).
pub const IMPLICIT: &[&str] = &["_is_a", "_non_existent", "_interface", "_component", "_repository_id"];

/// An operation that every object has.
pub fn implicit(name: &str) -> Option<Signature> {
    let text = || TypeCode::string(0);
    let object = || TypeCode::build(|to| to.interface(OBJECT_ID, "Object")).unwrap_or_default();
    let signature = Signature::new(name);
    Some(match name {
        "_is_a" => signature.takes("logical_type_id", text()).gives(bool::type_code()),
        "_non_existent" => signature.gives(bool::type_code()),
        "_interface" | "_component" => signature.gives(object()),
        "_repository_id" => signature.gives(text()),
        _ => return None,
    })
}
