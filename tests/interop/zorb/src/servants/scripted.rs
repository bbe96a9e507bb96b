//! A `Scripted` that is served without its skeleton.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use zorb::cdr::Described;
use zorb::dynamic::{DynamicError, DynamicRequest, DynamicServant, Mode, Results, Signature};
use zorb::{Any, Interface, ObjectRef, SystemException, TCKind, TypeCode};

use crate::beyond::beyond::*;
use crate::graphs::Link;

/// The signature of an operation of `Dynamic`, by its name on the wire.
pub fn signature(operation: &str) -> Option<Arc<Signature>> {
    let named = Signature::new(operation);
    let object =
        || TypeCode::build(|to| to.named(TCKind::ObjRef, Dynamic::INFO.id, "Dynamic")).unwrap_or_default();
    Some(Arc::new(match operation {
        "change" => named
            .gives(Pair::type_code())
            .parameter("a", Mode::In, Pair::type_code())
            .parameter("t", Mode::In, String::type_code())
            .parameter("b", Mode::Out, String::type_code())
            .parameter("c", Mode::InOut, i32::type_code())
            .raises(Oops::type_code()),
        "keep" => named.gives(<Any as Described>::type_code()).takes("a", <Any as Described>::type_code()),
        "link" => named.gives(Link::<Node>::type_code()).takes("a", Link::<Node>::type_code()),
        "poke" => named.takes("n", i32::type_code()).oneway(),
        "_set_level" => named.takes("level", i32::type_code()),
        "_get_level" => named.gives(i32::type_code()),
        "itself" => named.gives(object()),
        _ => return None,
    }))
}

/// What serves it.
#[derive(Default)]
pub struct Script {
    level: AtomicI32,
}

impl Script {
    fn outcome(
        &self,
        operation: &str,
        arguments: &[Any],
        itself: Option<ObjectRef>,
    ) -> Result<Results, DynamicError> {
        let wrong =
            |error: &dyn std::fmt::Display| DynamicError::from(SystemException::Internal(error.to_string()));
        let any = |made: Result<Any, zorb::cdr::EncodeError>| made.map_err(|error| wrong(&error));
        match (operation, arguments) {
            ("change", [a, t, c]) => {
                let a: Pair = a.get().map_err(|error| wrong(&error))?;
                let t: String = t.get().map_err(|error| wrong(&error))?;
                let c: i32 = c.get().map_err(|error| wrong(&error))?;
                if c < 0 {
                    return Err(DynamicError::User(any(Any::new(&Oops { why: t, code: c }))?));
                }
                let swapped = any(Any::new(&Pair { left: a.right, right: a.left }))?;
                Ok(Results::of(swapped).and(any(Any::new(&t.repeat(2)))?).and(any(Any::new(&(c + 1)))?))
            }
            ("keep" | "link", [a]) => Ok(Results::of(a.clone())),
            ("poke" | "_set_level", [n]) => {
                self.level.store(n.get().map_err(|error| wrong(&error))?, Ordering::SeqCst);
                Ok(Results::nothing())
            }
            ("_get_level", []) => Ok(Results::of(any(Any::new(&self.level.load(Ordering::SeqCst)))?)),
            ("itself", []) => {
                let ty = signature(operation).map(|it| it.result.clone()).unwrap_or_default();
                Ok(Results::of(any(ObjectRef::to_any_of(itself.as_ref(), ty))?))
            }
            _ => Err(SystemException::BadOperation("no such operation").into()),
        }
    }
}

impl DynamicServant for Script {
    fn repository_id(&self) -> &str {
        Scripted::INFO.id
    }

    fn is_a(&self, id: &str) -> bool {
        id == Scripted::INFO.id || id == Dynamic::INFO.id
    }

    fn invoke(&self, request: DynamicRequest) {
        let operation = request.operation().to_owned();
        let Some(signature) = signature(&operation) else { return request.unknown_operation() };
        let itself = request.call().this::<Scripted>().map(|it| it.as_object().clone());
        if let Some((reply, arguments)) = request.arguments(&signature) {
            reply.finish(self.outcome(&operation, &arguments, itself.ok()));
        }
    }
}
