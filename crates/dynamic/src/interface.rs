//! [`Interface`]: what can be called at an object, wherever that was learnt.

use std::collections::HashMap;
use std::sync::Arc;

use zorb_cdr::{Described, TypeCode};
use zorb_orb::dynamic::Signature;

use crate::form::Form;

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
    /// Of the result and the parameters of those operations whose TypeCodes do not tell all.
    forms: HashMap<String, Arc<[Form]>>,
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

    pub(crate) fn add_formed(&mut self, operation: Arc<Signature>, forms: Option<&Arc<[Form]>>) {
        if let Some(forms) = forms
            && !self.by_name.contains_key(&operation.operation)
        {
            self.forms.insert(operation.operation.clone(), forms.clone());
        }
        self.add(operation);
    }

    /// How the result of the operation of this name on the wire is written as text.
    pub fn result_form(&self, operation: &str) -> &Form {
        self.form(operation, 0)
    }

    /// How a parameter of an operation, by its position among all, is written as text.
    pub fn parameter_form(&self, operation: &str, parameter: usize) -> &Form {
        self.form(operation, parameter.saturating_add(1))
    }

    fn form(&self, operation: &str, at: usize) -> &Form {
        self.forms.get(operation).and_then(|forms| forms.get(at)).unwrap_or(&Form::AsDescribed)
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
