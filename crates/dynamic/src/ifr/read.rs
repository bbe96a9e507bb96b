//! Reading an interface repository, zorb's or another ORB's.

use std::sync::Arc;

use zorb_cdr::{TCKind, TypeCode};
use zorb_orb::dynamic::{Mode, Signature};
use zorb_orb::{Interface as _, ObjectRef, SystemException};

use super::CORBA::{self, AttributeMode, OperationMode, ParameterMode};
use crate::interface::Interface;

/// The most interfaces that one inherits from and that are read. A repository that goes on for ever, by mistake or not, does
/// not keep its reader for ever.
const MOST_ANCESTORS: usize = 256;

/// The object of a definition, that is named by its repository id or its scoped name; `None` if the repository has none.
///
/// # Errors
/// As any call; an object that is no `CORBA::Repository`.
pub fn lookup(repository: &ObjectRef, name_or_id: &str) -> Result<Option<ObjectRef>, SystemException> {
    let Some(repository) = CORBA::Repository::narrow(repository)? else {
        return Err(SystemException::InvObjref("the object is no CORBA::Repository".to_owned()));
    };
    let found = match repository.lookup_id(name_or_id)? {
        Some(found) => Some(found),
        // A name of one scope has no colons, an id always has.
        None if !name_or_id.replace("::", "").contains(':') => {
            repository.lookup(name_or_id.strip_prefix("::").unwrap_or(name_or_id))?
        }
        None => None,
    };
    Ok(found.map(|found| found.as_object().clone()))
}

/// The valuetype that has this repository id or scoped name in a `CORBA::Repository`; `None` if the repository has no such valuetype.
///
/// # Errors
/// As [`lookup`].
pub fn value_type(repository: &ObjectRef, name_or_id: &str) -> Result<Option<TypeCode>, SystemException> {
    let Some(found) = lookup(repository, name_or_id)? else { return Ok(None) };
    let Some(found) = CORBA::IDLType::narrow(&found)? else { return Ok(None) };
    let ty = found.r#type()?;
    Ok(Some(ty).filter(|ty| matches!(ty.kind(), TCKind::Value | TCKind::ValueBox | TCKind::Event)))
}

/// What a `CORBA::InterfaceDef` describes, with all that it inherits; `None` if the object is none.
///
/// Attributes' exceptions are known where the object is a `CORBA::ExtInterfaceDef`, too.
///
/// # Errors
/// As any call.
pub fn interface(definition: &ObjectRef) -> Result<Option<Interface>, SystemException> {
    let Some(definition) = CORBA::InterfaceDef::narrow(definition)? else { return Ok(None) };
    let name = definition.absolute_name()?;
    let described = own(&definition)?;
    let mut interface = Interface::new(&described.id, name.strip_prefix("::").unwrap_or(&name));
    described.operations.into_iter().for_each(|operation| interface.add(operation));
    interface.bases = described.bases;

    // A description has what is inherited; of repositories that leave it out it is read from where it is declared.
    let mut pending = definition.base_interfaces()?;
    pending.reverse();
    while let Some(base) = pending.pop() {
        let Some(base) = base else { continue };
        let described = own(&base)?;
        if interface.ancestors.contains(&described.id) || interface.ancestors.len() == MOST_ANCESTORS {
            continue;
        }
        described.operations.into_iter().for_each(|operation| interface.add(operation));
        interface.ancestors.push(described.id);
        pending.extend(base.base_interfaces()?.into_iter().rev());
    }
    Ok(Some(interface))
}

struct Own {
    id: String,
    bases: Vec<String>,
    operations: Vec<Arc<Signature>>,
}

fn own(definition: &CORBA::InterfaceDef) -> Result<Own, SystemException> {
    if let Some(extended) = CORBA::ExtInterfaceDef::narrow(definition.as_object())? {
        let it = extended.describe_ext_interface()?;
        let (id, bases) = (it.id, it.base_interfaces);
        return Ok(Own { id, bases, operations: extended_operations(it.operations, it.attributes) });
    }
    let it = definition.describe_interface()?;
    let (id, bases) = (it.id, it.base_interfaces);
    Ok(Own { id, bases, operations: plain_operations(it.operations, it.attributes) })
}

/// What a description tells that does not know the exceptions of attributes.
pub(crate) fn plain_operations(
    operations: Vec<CORBA::OperationDescription>,
    attributes: Vec<CORBA::AttributeDescription>,
) -> Vec<Arc<Signature>> {
    let mut signatures: Vec<_> = operations.into_iter().map(operation).collect();
    for attribute in attributes {
        let (get, set) = (Vec::new(), Vec::new());
        add_attribute(&mut signatures, &attribute.name, attribute.r#type, attribute.mode, get, set);
    }
    signatures
}

/// What one tells that does.
pub(crate) fn extended_operations(
    operations: Vec<CORBA::OperationDescription>,
    attributes: Vec<CORBA::ExtAttributeDescription>,
) -> Vec<Arc<Signature>> {
    let mut signatures: Vec<_> = operations.into_iter().map(operation).collect();
    for attribute in attributes {
        let (get, set) = (attribute.get_exceptions, attribute.put_exceptions);
        add_attribute(&mut signatures, &attribute.name, attribute.r#type, attribute.mode, get, set);
    }
    signatures
}

fn raising(mut signature: Signature, exceptions: Vec<CORBA::ExceptionDescription>) -> Arc<Signature> {
    for exception in exceptions {
        signature = signature.raises(exception.r#type);
    }
    Arc::new(signature)
}

fn operation(it: CORBA::OperationDescription) -> Arc<Signature> {
    let mut signature = Signature::new(it.name).gives(it.result);
    for parameter in it.parameters {
        let mode = match parameter.mode {
            ParameterMode::PARAM_IN => Mode::In,
            ParameterMode::PARAM_OUT => Mode::Out,
            ParameterMode::PARAM_INOUT => Mode::InOut,
        };
        signature = signature.parameter(parameter.name, mode, parameter.r#type);
    }
    for name in it.contexts {
        signature = signature.context(name);
    }
    if it.mode == OperationMode::OP_ONEWAY {
        signature = signature.oneway();
    }
    raising(signature, it.exceptions)
}

fn add_attribute(
    to: &mut Vec<Arc<Signature>>,
    name: &str,
    ty: TypeCode,
    mode: AttributeMode,
    get: Vec<CORBA::ExceptionDescription>,
    set: Vec<CORBA::ExceptionDescription>,
) {
    to.push(raising(Signature::new(format!("_get_{name}")).gives(ty.clone()), get));
    if mode == AttributeMode::ATTR_NORMAL {
        to.push(raising(Signature::new(format!("_set_{name}")).takes("value", ty), set));
    }
}
