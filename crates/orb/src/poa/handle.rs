//! [`Poa`]: an adapter as the program holds it. Here: its place in the tree, its policies and helpers, its end;
//! its objects are in [`objects`](super::objects).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_giop::TaggedProfile;

use super::adapter::{Adapter, Helpers};
use super::error::PoaError;
use super::manager::PoaManager;
use super::policies::{PoaPolicies, RequestProcessing, ServantRetention};
use super::servant_manager::{AdapterActivator, ServantActivator, ServantLocator};
use super::traffic::Upcall;
use crate::exception::SystemException;
use crate::orb::Orb;
use crate::skeleton::{Interface, IntoServant, Servant};

/// A portable object adapter: gives objects their ids, finds their servants, decides when and where requests run.
/// Cloning is a count.
///
/// The root adapter comes from [`Orb::root_poa`]; its manager holds all requests until
/// `poa.manager().activate()` lets them through.
///
/// A servant that keeps a `Poa` keeps the ORB; [`Orb::shutdown`], or [`destroy`](Self::destroy), undoes that.
#[derive(Clone)]
pub struct Poa {
    pub(super) adapter: Arc<Adapter>,
    pub(super) orb: Orb,
}

impl Poa {
    pub(crate) fn new(adapter: Arc<Adapter>, orb: Orb) -> Poa {
        Poa { adapter, orb }
    }

    /// The name that it was created with (`the_name`); the root's is `RootPOA`.
    pub fn name(&self) -> &str {
        &self.adapter.name
    }

    /// The adapter that it was created in (`the_parent`); the root has none.
    pub fn parent(&self) -> Option<Poa> {
        self.adapter.parent().map(|parent| self.other(parent))
    }

    /// The adapters created in it (`the_children`), by name.
    pub fn children(&self) -> Vec<Poa> {
        self.adapter.children().into_iter().map(|child| self.other(child)).collect()
    }

    /// The manager that decides whether its requests come through (`the_POAManager`).
    pub fn manager(&self) -> PoaManager {
        PoaManager(self.adapter.manager.clone())
    }

    /// What it was created with.
    pub fn policies(&self) -> &PoaPolicies {
        &self.adapter.policies
    }

    /// The ORB that it belongs to.
    pub fn orb(&self) -> &Orb {
        &self.orb
    }

    /// What all its object keys begin with, and no other adapter's (`id`).
    pub fn id(&self) -> &[u8] {
        &self.adapter.prefix
    }

    /// Its names and those of the adapters that it is in, the root's first.
    pub(crate) fn path_names(&self) -> Vec<String> {
        self.adapter.path_names()
    }

    pub(crate) fn profiles(&self, key: &[u8]) -> Result<Vec<TaggedProfile>, SystemException> {
        self.adapter.profiles(&self.orb, key)
    }

    fn other(&self, adapter: Arc<Adapter>) -> Poa {
        Poa::new(adapter, self.orb.clone())
    }

    /// Creates an adapter in this one, with a manager of its own, which holds requests until it is activated.
    ///
    /// # Errors
    /// [`PoaError::AdapterAlreadyExists`], [`PoaError::InvalidPolicy`], [`PoaError::Destroyed`],
    /// [`PoaError::NameTooLong`].
    pub fn create_child(&self, name: &str, policies: PoaPolicies) -> Result<Poa, PoaError> {
        self.adapter.create_child(name, policies, None).map(|child| self.other(child))
    }

    /// Creates an adapter in this one that shares a manager, often this one's: `&poa.manager()`.
    ///
    /// # Errors
    /// As for [`create_child`](Self::create_child).
    pub fn create_child_with(
        &self,
        name: &str,
        policies: PoaPolicies,
        manager: &PoaManager,
    ) -> Result<Poa, PoaError> {
        self.adapter.create_child(name, policies, Some(manager.0.clone())).map(|child| self.other(child))
    }

    /// The child of that name (`find_POA`). With `activate`, the adapter activator is asked to make one that is not there.
    ///
    /// # Errors
    /// [`PoaError::AdapterNonExistent`]; [`PoaError::System`] when the activator failed.
    pub fn find_child(&self, name: &str, activate: bool) -> Result<Poa, PoaError> {
        let child = if activate { self.adapter.child_or_activate(name)? } else { self.adapter.child(name) };
        child.map(|child| self.other(child)).ok_or_else(|| PoaError::AdapterNonExistent { name: name.into() })
    }

    /// Sets what makes missing children when their objects are called (`the_activator`); `None` takes it away.
    pub fn set_adapter_activator(&self, activator: Option<Arc<dyn AdapterActivator>>) {
        self.helpers(|helpers| helpers.adapter_activator = activator);
    }

    fn helpers<R>(&self, change: impl FnOnce(&mut Helpers) -> R) -> R {
        change(&mut self.adapter.helpers.write())
    }

    fn require(&self, met: bool, operation: &'static str, needs: &'static str) -> Result<(), PoaError> {
        if met { Ok(()) } else { Err(PoaError::WrongPolicy { operation, needs }) }
    }

    /// Sets what makes and unmakes servants (`set_servant_manager`). It stays for the adapter's life.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`], [`PoaError::ServantManagerSet`].
    pub fn set_servant_activator(&self, activator: Arc<dyn ServantActivator>) -> Result<(), PoaError> {
        let policies = self.policies();
        let met = policies.request_processing == RequestProcessing::ServantManager
            && policies.servant_retention == ServantRetention::Retain;
        self.require(
            met,
            "set_servant_activator",
            "RequestProcessing::ServantManager and ServantRetention::Retain (with NonRetain: set_servant_locator)",
        )?;
        self.helpers(|helpers| match &mut helpers.servant_activator {
            Some(_) => Err(PoaError::ServantManagerSet),
            none => {
                *none = Some(activator);
                Ok(())
            }
        })
    }

    /// Sets what finds a servant for each request (`set_servant_manager`). It stays for the adapter's life.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`], [`PoaError::ServantManagerSet`].
    pub fn set_servant_locator(&self, locator: Arc<dyn ServantLocator>) -> Result<(), PoaError> {
        let policies = self.policies();
        let met = policies.request_processing == RequestProcessing::ServantManager
            && policies.servant_retention == ServantRetention::NonRetain;
        self.require(
            met,
            "set_servant_locator",
            "RequestProcessing::ServantManager and ServantRetention::NonRetain (with Retain: set_servant_activator)",
        )?;
        self.helpers(|helpers| match &mut helpers.servant_locator {
            Some(_) => Err(PoaError::ServantManagerSet),
            none => {
                *none = Some(locator);
                Ok(())
            }
        })
    }

    /// Sets the servant of all objects that the active object map does not know (`set_servant`).
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`].
    pub fn set_default_servant<I: Interface>(&self, servant: impl IntoServant<I>) -> Result<(), PoaError> {
        self.set_default_skeleton(servant.into_servant())
    }

    /// The same for a servant that is a skeleton already.
    ///
    /// # Errors
    /// As for [`set_default_servant`](Self::set_default_servant).
    pub fn set_default_skeleton(&self, servant: Servant) -> Result<(), PoaError> {
        self.require_default_servant("set_default_servant")?;
        self.helpers(|helpers| helpers.default_servant = Some(servant));
        Ok(())
    }

    /// The servant that was set by [`set_default_servant`](Self::set_default_servant) (`get_servant`).
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`], [`PoaError::NoServant`].
    pub fn default_servant(&self) -> Result<Servant, PoaError> {
        self.require_default_servant("default_servant")?;
        self.helpers(|helpers| helpers.default_servant.clone()).ok_or(PoaError::NoServant)
    }

    fn require_default_servant(&self, operation: &'static str) -> Result<(), PoaError> {
        let met = self.policies().request_processing == RequestProcessing::DefaultServant;
        self.require(met, operation, "RequestProcessing::DefaultServant")
    }

    /// Ends this adapter and all created in it: no further request is let through; objects are deactivated and, with
    /// `etherealize`, given back to servant activators when their running requests have ended. With `wait`, returns when
    /// all that has happened, at the latest after that time; without, at once.
    ///
    /// Until all has ended requests get `TRANSIENT` (OMG 4). Then the name is free: transient references give
    /// `OBJECT_NOT_EXIST`, and persistent ones work again when an adapter of that name is created again.
    ///
    /// # Errors
    /// [`PoaError::WouldDeadlock`] with `wait` from within a request (nothing has been ended then);
    /// [`PoaError::StillRunning`].
    pub fn destroy(&self, etherealize: bool, wait: Option<Duration>) -> Result<(), PoaError> {
        if wait.is_some() && Upcall::is_in(self.adapter.shared.run) {
            return Err(PoaError::WouldDeadlock);
        }
        self.adapter.destroy(etherealize);
        let Some(deadline) = wait.map(|wait| Instant::now() + wait) else { return Ok(()) };
        let ended = self.adapter.traffic.wait_until(deadline, || self.adapter.is_ended());
        if ended { Ok(()) } else { Err(PoaError::StillRunning) }
    }
}

impl PartialEq for Poa {
    fn eq(&self, other: &Poa) -> bool {
        Arc::ptr_eq(&self.adapter, &other.adapter)
    }
}

impl fmt::Debug for Poa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("name", &self.name())
            .field("policies", self.policies())
            .finish_non_exhaustive()
    }
}
