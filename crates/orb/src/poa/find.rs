//! The servant of a request that its manager let through: active, incarnated, located, or the default one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::active::{Active, Located};
use super::adapter::Adapter;
use super::error::PoaError;
use super::handle::Poa;
use super::id::ObjectId;
use super::policies::RequestProcessing;
use super::serial::{Busy, PATIENCE};
use super::servant_manager::Declined;
use crate::exception::{Minor, SystemException};
use crate::object::ObjectRef;
use crate::server::request::panic_exception;
use crate::skeleton::Servant;

/// Why a request is not served now and here.
pub(super) enum Refusal {
    /// The manager holds requests.
    Hold,
    Raise(SystemException),
    Forward(ObjectRef, bool),
}

impl From<SystemException> for Refusal {
    fn from(exception: SystemException) -> Self {
        Refusal::Raise(exception)
    }
}

/// The servant for a request that was let through.
pub(super) fn find_servant(
    adapter: &Arc<Adapter>,
    id: &[u8],
    operation: &str,
    active: Active,
) -> Result<(Servant, Active), Refusal> {
    if adapter.policies.retains()
        && let Some(object) = adapter.map.find(id)
    {
        return Ok((object.servant.clone(), active.on_object(object)));
    }
    match adapter.policies.request_processing {
        RequestProcessing::ActiveObjectMapOnly => {
            let gone = format!("no object {} is active in {:?}", ObjectId::from(id), adapter.name);
            Err(SystemException::ObjectNotExist(gone).minor(Minor::omg(1)).into())
        }
        RequestProcessing::DefaultServant => {
            let helpers = adapter.helpers.read();
            match &helpers.default_servant {
                Some(servant) => Ok((servant.clone(), active)),
                None => Err(missing("default servant", 3)),
            }
        }
        RequestProcessing::ServantManager if adapter.policies.retains() => incarnate(adapter, id, active),
        RequestProcessing::ServantManager => preinvoke(adapter, id, operation, active),
    }
}

fn missing(what: &str, minor: u32) -> Refusal {
    SystemException::ObjAdapter(format!("the adapter has no {what} yet")).minor(Minor::omg(minor)).into()
}

fn incarnate(adapter: &Arc<Adapter>, id: &[u8], active: Active) -> Result<(Servant, Active), Refusal> {
    let helpers = adapter.helpers.read();
    let activator = helpers.servant_activator.clone();
    drop(helpers);
    let (Some(activator), Some(orb)) = (activator, adapter.shared.orb()) else {
        return Err(missing("servant activator", 4));
    };
    let id = ObjectId::from(id);
    let _work = match adapter.incarnating.begin(id.clone(), Instant::now() + PATIENCE) {
        Ok(work) => work,
        Err(Busy::Here) => {
            let text = format!("object {id} was called by its own servant activator");
            return Err(SystemException::ObjAdapter(text).minor(Minor::omg(2)).into());
        }
        Err(Busy::Elsewhere) => {
            let text = format!("object {id} was not incarnated or etherealized within {PATIENCE:?}");
            return Err(SystemException::Transient(text).into());
        }
    };
    // Another request may have had it incarnated while this one waited.
    if let Some(object) = adapter.map.find(id.as_bytes()) {
        return Ok((object.servant.clone(), active.on_object(object)));
    }
    let poa = Poa::new(adapter.clone(), orb);
    let servant = declined(catch_unwind(AssertUnwindSafe(|| activator.incarnate(&poa, &id))), "incarnate")?;
    adapter.add(Some(id.as_bytes()), servant).map_err(|error| match error {
        PoaError::Destroyed => SystemException::Transient(error.to_string()).minor(Minor::omg(4)),
        error => SystemException::ObjAdapter(format!("the servant activator's choice: {error}"))
            .minor(Minor::omg(5)),
    })?;
    match adapter.map.find(id.as_bytes()) {
        Some(object) => Ok((object.servant.clone(), active.on_object(object))),
        None => Err(SystemException::Transient("the object was deactivated at once").into()),
    }
}

fn preinvoke(
    adapter: &Arc<Adapter>,
    id: &[u8],
    operation: &str,
    active: Active,
) -> Result<(Servant, Active), Refusal> {
    let helpers = adapter.helpers.read();
    let locator = helpers.servant_locator.clone();
    drop(helpers);
    let (Some(locator), Some(orb)) = (locator, adapter.shared.orb()) else {
        return Err(missing("servant locator", 4));
    };
    let (id, poa) = (ObjectId::from(id), Poa::new(adapter.clone(), orb));
    let found = catch_unwind(AssertUnwindSafe(|| locator.preinvoke(&poa, &id, operation)));
    let (servant, cookie) = declined(found, "preinvoke")?;
    let located = Located { locator, poa, id, operation: operation.into(), cookie, servant: servant.clone() };
    Ok((servant, active.on_located(adapter.clone(), located)))
}

/// What a servant manager's answer means for the request.
fn declined<R>(answer: std::thread::Result<Result<R, Declined>>, step: &str) -> Result<R, Refusal> {
    match answer {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(Declined::Forward { to, permanent })) => Err(Refusal::Forward(to, permanent)),
        Ok(Err(Declined::System(exception))) => Err(exception.into()),
        Err(panic) => Err(panic_exception(step, &*panic).into()),
    }
}
