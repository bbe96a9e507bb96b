//! The objects that scenarios call beside `Echo`: each has a name, by which `Echo::service` finds it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use zorb::giop::{ComponentTag, IiopProfile, Ior, UnixEndpoint};
use zorb::poa::Poa;
use zorb::{Interface, IntoServant, ObjectRef, SystemException};

use super::cube::{Cube, Cubing};
use super::demux::{Demux, Opening};
use super::failed;
use super::idl::bench::Echo;
use crate::BenchError;
use crate::meter::{Far, Meter};

/// The server's objects, by name.
#[derive(Clone)]
pub(super) struct Services {
    objects: Vec<(&'static str, ObjectRef)>,
    poa: Poa,
}

/// The service whose objects are made anew for each who asks.
const SHAPE: &str = "shape";

impl Services {
    /// Activates all.
    pub(super) fn new(poa: &Poa) -> Result<Services, BenchError> {
        let cube = poa.activate::<Cube>(Arc::new(Cubing)).map_err(failed)?;
        let demux = poa.activate::<Demux>(Arc::new(Opening::new(poa))).map_err(failed)?;
        let objects = vec![(Cube::NAME, cube.into()), (Demux::NAME, demux.into())];
        Ok(Services { objects, poa: poa.clone() })
    }

    pub(super) fn named(&self, name: &str) -> Result<Option<ObjectRef>, SystemException> {
        if name == SHAPE {
            return activated::<Cube, _>(&self.poa, Cubing).map(Some);
        }
        Ok(self.objects.iter().find(|(known, _)| *known == name).map(|(_, object)| object.clone()))
    }
}

/// A new object.
pub(super) fn activated<I: Interface + Into<ObjectRef>, S>(
    poa: &Poa,
    servant: S,
) -> Result<ObjectRef, SystemException>
where
    Arc<S>: IntoServant<I>,
{
    let activated = poa.activate::<I>(Arc::new(servant));
    activated.map(Into::into).map_err(|error| SystemException::Internal(error.to_string()))
}

/// An interface that a scenario calls.
pub(super) trait Service: Interface {
    /// The name of its object.
    const NAME: &'static str;
}

impl Service for Cube {
    const NAME: &'static str = "cube";
}

impl Service for Demux {
    const NAME: &'static str = "demux";
}

/// The object of an interface, on the server of `echo`.
pub(super) fn of<S: Service>(echo: &Echo) -> Result<S, BenchError> {
    let object = echo.service(S::NAME).map_err(failed)?;
    let object = object.ok_or_else(|| failed(format!("the server has no service {:?}", S::NAME)))?;
    Ok(S::from_object(beside(echo, &object)?))
}

/// A reference that the server of `echo` gave, leading the same way as `echo`'s own does: past the meter, if that one
/// does.
pub(super) fn beside(echo: &Echo, object: &ObjectRef) -> Result<ObjectRef, BenchError> {
    let Some(address) = address(echo.as_object().ior()) else { return Ok(object.clone()) };
    let mut reference = object.ior().clone();
    redirect(&mut reference, address)?;
    ObjectRef::new(object.orb(), reference).ok_or_else(|| failed("the reference is nil"))
}

/// A meter before the server that a reference leads to, and the reference that leads through it.
pub(super) fn metered(reference: &str) -> Result<(Meter, String), BenchError> {
    let mut reference: Ior = reference.parse().map_err(failed)?;
    let server = address(&reference).map(Far::Tcp).or_else(|| socket(&reference).map(Far::Unix));
    let server =
        server.ok_or_else(|| failed("the reference has neither a numeric address nor a Unix socket"))?;
    let meter = Meter::start(server)?;
    redirect(&mut reference, meter.address())?;
    Ok((meter, reference.to_string()))
}

/// Where a reference leads, if that is numeric.
fn address(reference: &Ior) -> Option<SocketAddr> {
    let profile = IiopProfile::decode(reference.profiles.first()?).ok()?;
    (profile.port != 0).then_some(SocketAddr::new(profile.host.parse().ok()?, profile.port))
}

/// The Unix socket that a reference leads to.
fn socket(reference: &Ior) -> Option<PathBuf> {
    let profile = IiopProfile::decode(reference.profiles.first()?).ok()?;
    let named =
        |tag| profile.components.iter().find_map(|component| UnixEndpoint::decode_as(tag, component).ok());
    named(ComponentTag::OMNIORB_UNIX).map(|unix| unix.path.into())
}

/// Lets a reference lead to the same object over another address and no other way.
fn redirect(reference: &mut Ior, address: SocketAddr) -> Result<(), BenchError> {
    let first = reference.profiles.first().ok_or_else(|| failed("the reference is nil"))?;
    let mut profile = IiopProfile::decode(first).map_err(failed)?;
    profile.host = address.ip().to_string();
    profile.port = address.port();
    let others = [ComponentTag::ALTERNATE_IIOP_ADDRESS, ComponentTag::OMNIORB_UNIX, ComponentTag::ZORB_SHM];
    profile.components.retain(|component| !others.contains(&component.tag));
    reference.profiles = vec![profile.encode().map_err(failed)?];
    Ok(())
}
