//! [`Poa`]'s objects: activating and deactivating them, and the ways from servant to id to reference and back
//! (CORBA 3.4 part 1 §11.3.8.11 to §11.3.8.26).

use zorb_giop::{IiopProfile, Ior};

use super::active_map::ActiveObject;
use super::error::PoaError;
use super::handle::Poa;
use super::id::ObjectId;
use super::key::SystemId;
use super::policies::{IdAssignment, IdUniqueness, ImplicitActivation, RequestProcessing, ServantRetention};
use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::skeleton::{Interface, IntoServant, Servant};

impl Poa {
    /// Makes `servant` an object of interface `I` under a new id, and gives a reference to it.
    ///
    /// ```ignore
    /// let account = poa.activate::<Account>(Arc::new(MyAccount::default()))?;
    /// ```
    ///
    /// The first reference made in an ORB makes it listen.
    ///
    /// # Errors
    /// [`PoaError::ServantAlreadyActive`] where ids are unique, [`PoaError::WrongPolicy`], [`PoaError::Destroyed`];
    /// [`PoaError::System`] if this ORB cannot listen: the object is not active then.
    pub fn activate<I: Interface>(&self, servant: impl IntoServant<I>) -> Result<I, PoaError> {
        self.activate_servant(servant.into_servant(), I::INFO.id).map(I::from_object)
    }

    /// The same for a servant that is a skeleton already; `type_id` is the repository id that the reference names.
    ///
    /// # Errors
    /// As for [`activate`](Self::activate).
    pub fn activate_servant(&self, servant: Servant, type_id: &str) -> Result<ObjectRef, PoaError> {
        self.require_retain("activate", IdAssignment::System)?;
        let id = self.adapter.add(None, servant)?;
        self.active_reference(&id, type_id)
    }

    /// Makes `servant` the object `id` of interface `I`, and gives a reference to it.
    ///
    /// In an adapter that assigns ids itself, `id` has to be one of its own: from
    /// [`create_reference`](Self::create_reference), or of an object that was active.
    ///
    /// # Errors
    /// [`PoaError::ObjectAlreadyActive`], [`PoaError::ForeignId`]; otherwise as for [`activate`](Self::activate).
    pub fn activate_with_id<I: Interface>(
        &self,
        id: impl AsRef<[u8]>,
        servant: impl IntoServant<I>,
    ) -> Result<I, PoaError> {
        self.activate_servant_with_id(id, servant.into_servant(), I::INFO.id).map(I::from_object)
    }

    /// The same for a servant that is a skeleton already.
    ///
    /// # Errors
    /// As for [`activate_with_id`](Self::activate_with_id).
    pub fn activate_servant_with_id(
        &self,
        id: impl AsRef<[u8]>,
        servant: Servant,
        type_id: &str,
    ) -> Result<ObjectRef, PoaError> {
        let id = id.as_ref();
        self.require_retain("activate_with_id", self.policies().id_assignment)?;
        self.check_id(id)?;
        if self.adapter.incarnating.is_busy(&id.into()) {
            return Err(PoaError::ObjectAlreadyActive { id: id.into() });
        }
        let id = self.adapter.add(Some(id), servant)?;
        self.active_reference(&id, type_id)
    }

    /// The object is gone: later requests meet `OBJECT_NOT_EXIST`, or the servant manager. Requests that are running
    /// end undisturbed; then a servant activator gets the servant back. Does not wait for that.
    ///
    /// `poa.deactivate(cx.object_id())` is how an object ends itself. The id can be activated again at once, with a
    /// servant activator once the servant was given back.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`].
    pub fn deactivate(&self, id: impl AsRef<[u8]>) -> Result<(), PoaError> {
        self.require_retain("deactivate", self.policies().id_assignment)?;
        self.adapter.deactivate(id.as_ref())
    }

    /// A reference to an object of interface `I` under a new id that nothing is active under (yet): a servant manager,
    /// a default servant or [`activate_with_id`](Self::activate_with_id) will give it life.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`], [`PoaError::System`].
    pub fn create_reference<I: Interface>(&self) -> Result<I, PoaError> {
        if self.policies().id_assignment != IdAssignment::System {
            return Err(PoaError::WrongPolicy {
                operation: "create_reference",
                needs: "IdAssignment::System (otherwise: create_reference_with_id)",
            });
        }
        Ok(I::from_object(self.reference(&self.adapter.unbound_id(), I::INFO.id)?))
    }

    /// A reference to the object `id`, active or not.
    ///
    /// # Errors
    /// [`PoaError::ForeignId`], [`PoaError::System`].
    pub fn create_reference_with_id<I: Interface>(&self, id: impl AsRef<[u8]>) -> Result<I, PoaError> {
        self.check_id(id.as_ref())?;
        Ok(I::from_object(self.reference(&id.as_ref().into(), I::INFO.id)?))
    }

    /// The same where the interface is known at run time only, by its repository id.
    ///
    /// # Errors
    /// As for [`create_reference_with_id`](Self::create_reference_with_id).
    pub fn create_reference_of(&self, id: impl AsRef<[u8]>, type_id: &str) -> Result<ObjectRef, PoaError> {
        self.check_id(id.as_ref())?;
        Ok(self.reference(&id.as_ref().into(), type_id)?)
    }

    /// The id under which an implementation is active. With implicit activation it becomes active: where ids are unique
    /// if it is not, and otherwise always, under a new id.
    ///
    /// The id of the request that a default servant serves is in [`Call::object_id`](crate::Call::object_id).
    ///
    /// # Errors
    /// [`PoaError::ServantNotActive`], [`PoaError::WrongPolicy`].
    pub fn servant_to_id<I: Interface>(&self, servant: impl IntoServant<I>) -> Result<ObjectId, PoaError> {
        let policies = self.policies();
        let unique = policies.id_uniqueness == IdUniqueness::Unique;
        let implicit = policies.implicit_activation == ImplicitActivation::Yes;
        if !policies.retains() || !(unique || implicit) {
            return Err(PoaError::WrongPolicy {
                operation: "servant_to_id",
                needs: "ServantRetention::Retain and either IdUniqueness::Unique or ImplicitActivation::Yes",
            });
        }
        let servant = servant.into_servant();
        if unique && let Some(name) = self.adapter.map.name_of(&servant) {
            return Ok(name.id(self.adapter.id_run()));
        }
        if !implicit {
            return Err(PoaError::ServantNotActive);
        }
        match self.adapter.add(None, servant) {
            // Another thread has activated it since.
            Err(PoaError::ServantAlreadyActive { id }) => Ok(id),
            added => added,
        }
    }

    /// A reference to the object that an implementation is; activates it as [`servant_to_id`](Self::servant_to_id) does.
    ///
    /// # Errors
    /// As for [`servant_to_id`](Self::servant_to_id); [`PoaError::System`].
    pub fn servant_to_reference<I: Interface>(&self, servant: impl IntoServant<I>) -> Result<I, PoaError> {
        let id = self.servant_to_id(servant)?;
        Ok(I::from_object(self.reference(&id, I::INFO.id)?))
    }

    /// The id of an object of this adapter.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`].
    pub fn reference_to_id(&self, reference: &impl Interface) -> Result<ObjectId, PoaError> {
        let prefix = &self.adapter.prefix;
        let keys = reference
            .as_object()
            .ior()
            .profiles
            .iter()
            .filter_map(|profile| IiopProfile::decode(profile).ok());
        keys.filter_map(|profile| {
            profile.object_key.starts_with(prefix).then(|| ObjectId(profile.object_key.slice(prefix.len()..)))
        })
        .next()
        .ok_or(PoaError::WrongAdapter)
    }

    /// The servant of an object of this adapter: the active one, or the default servant.
    ///
    /// # Errors
    /// [`PoaError::WrongAdapter`], [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`].
    pub fn reference_to_servant(&self, reference: &impl Interface) -> Result<Servant, PoaError> {
        self.id_to_servant(self.reference_to_id(reference)?)
    }

    /// The servant of the object `id`: the active one, or the default servant.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`].
    pub fn id_to_servant(&self, id: impl AsRef<[u8]>) -> Result<Servant, PoaError> {
        let policies = self.policies();
        let default = policies.request_processing == RequestProcessing::DefaultServant;
        if !policies.retains() && !default {
            return Err(PoaError::WrongPolicy {
                operation: "id_to_servant",
                needs: "ServantRetention::Retain or RequestProcessing::DefaultServant",
            });
        }
        let id = id.as_ref();
        if let Some(object) = self.adapter.map.find(id) {
            let servant = object.servant.clone();
            object.release();
            return Ok(servant);
        }
        let default = if default { self.default_servant().ok() } else { None };
        default.ok_or_else(|| PoaError::ObjectNotActive { id: id.into() })
    }

    /// A reference to the active object `id`, of its servant's most derived interface.
    ///
    /// # Errors
    /// [`PoaError::ObjectNotActive`], [`PoaError::WrongPolicy`], [`PoaError::System`].
    pub fn id_to_reference(&self, id: impl AsRef<[u8]>) -> Result<ObjectRef, PoaError> {
        self.require_retain("id_to_reference", self.policies().id_assignment)?;
        let id = id.as_ref();
        let object = self.adapter.map.find(id).ok_or_else(|| PoaError::ObjectNotActive { id: id.into() })?;
        let type_id = object.servant.repository_id().into_owned();
        object.release();
        Ok(self.reference(&id.into(), &type_id)?)
    }

    fn require_retain(&self, operation: &'static str, ids: IdAssignment) -> Result<(), PoaError> {
        let policies = self.policies();
        if policies.servant_retention != ServantRetention::Retain {
            Err(PoaError::WrongPolicy { operation, needs: "ServantRetention::Retain" })
        } else if policies.id_assignment != ids {
            Err(PoaError::WrongPolicy {
                operation,
                needs: "IdAssignment::System (otherwise: activate_with_id)",
            })
        } else {
            Ok(())
        }
    }

    /// In an adapter that assigns ids, an id has to have the form of its own.
    fn check_id(&self, id: &[u8]) -> Result<(), PoaError> {
        if self.policies().assigns_ids() && !SystemId::has_form(id, self.policies().is_persistent()) {
            return Err(PoaError::ForeignId { id: id.into() });
        }
        Ok(())
    }

    /// A reference to an object that was just activated; if none can be made, the object is deactivated again.
    fn active_reference(&self, id: &ObjectId, type_id: &str) -> Result<ObjectRef, PoaError> {
        self.reference(id, type_id).map_err(|exception| {
            if let Some(object) = self.adapter.take(id.as_bytes()) {
                ActiveObject::release(object);
            }
            exception.into()
        })
    }

    fn reference(&self, id: &ObjectId, type_id: &str) -> Result<ObjectRef, SystemException> {
        let key = self.adapter.key(id.as_bytes());
        let profiles = self.adapter.profiles(&self.orb, &key)?;
        ObjectRef::new(&self.orb, Ior { type_id: type_id.to_owned(), profiles }).ok_or_else(|| {
            SystemException::Initialize("this ORB listens nowhere: references to it would be nil")
        })
    }
}
