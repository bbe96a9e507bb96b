//! One adapter: its place in the tree, its objects, and its end.
//!
//! An adapter lives in three tables: its parent's children, the ORB's index (for transient keys) and, if it is
//! persistent, the ORB's paths. It leaves them when it was destroyed and nothing of it runs any more:
//!
//! ```text
//! ALIVE ── destroy ──→ ENDING ── no request, no object, no child ──→ ENDED
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Weak};
use std::time::Instant;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use zorb_giop::TaggedProfile;

use super::active_map::{ActiveMap, ActiveObject, Name, Occupied};
use super::adapters::Shared;
use super::error::PoaError;
use super::handle::Poa;
use super::id::ObjectId;
use super::key::{self, SystemId};
use super::manager::{Manager, PoaManager};
use super::near;
use super::policies::{IdUniqueness, ImplicitActivation, PoaPolicies, RequestProcessing, ThreadPolicy};
use super::serial::{Busy, PATIENCE, Serial};
use super::servant_manager::{AdapterActivator, Etherealized, ServantActivator, ServantLocator};
use super::thread_model::Turn;
use super::traffic::{Traffic, Upcall};
use crate::exception::{Minor, SystemException};
use crate::interceptors::{AdapterState, Established, IorInfo};
use crate::orb::Orb;
use crate::server::request::{ServerRequest, panic_exception};
use crate::skeleton::Servant;

/// Requests that wait for the turn of one single-threaded adapter: a few for each of some hundred clients.
pub(crate) const WAITING_LIMIT: usize = 1024;

const ALIVE: u8 = 0;
const ENDING: u8 = 1;
const ENDED: u8 = 2;

/// An adapter.
pub(crate) struct Adapter {
    pub(crate) name: Box<str>,
    path: Box<[u8]>,
    /// What its object keys begin with.
    pub(crate) prefix: Box<[u8]>,
    pub(crate) policies: PoaPolicies,
    index: u32,
    generation: u32,
    pub(crate) shared: Arc<Shared>,
    parent: Weak<Adapter>,
    children: Mutex<BTreeMap<Box<str>, Arc<Adapter>>>,
    pub(crate) manager: Arc<Manager>,
    pub(crate) map: ActiveMap,
    unbound: AtomicU64,
    pub(crate) helpers: RwLock<Helpers>,
    creating: Serial<Box<str>>,
    pub(crate) incarnating: Serial<ObjectId>,
    pub(crate) traffic: Traffic,
    /// Active objects, and deactivated ones whose requests still run.
    objects: AtomicUsize,
    life: AtomicU8,
    /// Objects end because the adapter or its manager does.
    cleanup: AtomicBool,
    /// Objects end without a word to the servant activator.
    silent: AtomicBool,
    pub(crate) turn: Option<Turn<ServerRequest>>,
    /// What interceptors add to its references.
    established: Established,
}

/// The root's name.
const ROOT: &str = "RootPOA";

/// What an adapter is made with: known before it is, so that nobody waits for a lock while interceptors think.
pub(crate) struct Begun {
    manager: Arc<Manager>,
    established: Established,
}

fn begin(
    shared: &Shared,
    manager: Arc<Manager>,
    policies: &PoaPolicies,
    names: impl FnOnce() -> Vec<String>,
) -> Result<Begun, SystemException> {
    let orb = shared.orb();
    let established = match orb.as_ref().and_then(|orb| Some((orb, orb.interceptors()?))) {
        None => Established::default(),
        Some((orb, interceptors)) => Established::of(
            interceptors,
            IorInfo {
                orb,
                names: &names(),
                policies,
                manager: &PoaManager(manager.clone()),
                established: Established::default(),
            },
        )?,
    };
    Ok(Begun { manager, established })
}

/// What the program gave the adapter.
#[derive(Default)]
pub(crate) struct Helpers {
    pub(crate) default_servant: Option<Servant>,
    pub(crate) servant_activator: Option<Arc<dyn ServantActivator>>,
    pub(crate) servant_locator: Option<Arc<dyn ServantLocator>>,
    pub(crate) adapter_activator: Option<Arc<dyn AdapterActivator>>,
}

impl Adapter {
    /// The root of an ORB's adapters.
    pub(crate) fn root(shared: &Arc<Shared>, begun: Begun) -> Result<Arc<Adapter>, PoaError> {
        Adapter::new(shared, ROOT, Box::default(), PoaPolicies::root(), begun, Weak::new())
    }

    /// What is to be known of the root before it is made.
    pub(crate) fn begin_root(shared: &Arc<Shared>) -> Result<Begun, SystemException> {
        begin(shared, Manager::new(shared.run), &PoaPolicies::root(), || vec![ROOT.into()])
    }

    fn new(
        shared: &Arc<Shared>,
        name: &str,
        path: Box<[u8]>,
        policies: PoaPolicies,
        Begun { manager, established }: Begun,
        parent: Weak<Adapter>,
    ) -> Result<Arc<Adapter>, PoaError> {
        let persistent = policies.is_persistent();
        let named =
            if persistent { Some(key::persistent_prefix(&path).ok_or(PoaError::NameTooLong)?) } else { None };
        let identities = policies.id_uniqueness == IdUniqueness::Unique
            || policies.implicit_activation == ImplicitActivation::Yes
            || policies.request_processing == RequestProcessing::ServantManager;
        let adapter = shared.index.insert(|index, generation| {
            let map = ActiveMap::new(
                shared.seed,
                policies.assigns_ids(),
                persistent.then_some(shared.run),
                identities,
            );
            Arc::new(Adapter {
                name: name.into(),
                path,
                prefix: named.unwrap_or_else(|| key::transient_prefix(shared.run, index, generation)),
                turn: (policies.thread == ThreadPolicy::SingleThread).then(|| Turn::new(WAITING_LIMIT)),
                policies,
                index,
                generation,
                shared: shared.clone(),
                parent,
                children: Mutex::default(),
                manager: manager.clone(),
                map,
                unbound: AtomicU64::new(0),
                helpers: RwLock::default(),
                creating: Serial::new(),
                incarnating: Serial::new(),
                traffic: Traffic::default(),
                objects: AtomicUsize::new(0),
                life: AtomicU8::new(ALIVE),
                cleanup: AtomicBool::new(false),
                silent: AtomicBool::new(false),
                established,
            })
        });
        let adapter = adapter.ok_or_else(|| SystemException::ImpLimit("an ORB has at most 2³¹ adapters"))?;
        manager.join(&adapter);
        Ok(adapter)
    }

    // The tree.

    pub(crate) fn create_child(
        self: &Arc<Self>,
        name: &str,
        policies: PoaPolicies,
        manager: Option<Arc<Manager>>,
    ) -> Result<Arc<Adapter>, PoaError> {
        policies.check()?;
        let path = key::child_path(&self.path, name).ok_or(PoaError::NameTooLong)?;
        let manager = manager.unwrap_or_else(|| Manager::new(self.shared.run));
        let names = || [self.path_names(), vec![name.into()]].concat();
        let begun = begin(&self.shared, manager, &policies, names)?;
        let mut children = self.children.lock();
        if !self.is_alive() {
            return Err(PoaError::Destroyed);
        }
        if children.contains_key(name) {
            return Err(PoaError::AdapterAlreadyExists { name: name.into() });
        }
        let child = Adapter::new(&self.shared, name, path, policies, begun, Arc::downgrade(self))?;
        children.insert(name.into(), child.clone());
        drop(children);
        // What an adapter activator makes is found by requests when the activator has returned.
        if !self.creating.is_busy(&name.into()) {
            child.publish();
        }
        Ok(child)
    }

    /// Its names and those of the adapters that it is in, the root's first.
    pub(crate) fn path_names(&self) -> Vec<String> {
        let mut names = self.parent().map_or_else(Vec::new, |parent| parent.path_names());
        names.push(self.name.to_string());
        names
    }

    /// The profiles of a reference to the object of `key`, as the ORB's endpoints and interceptors want them.
    pub(crate) fn profiles(&self, orb: &Orb, key: &[u8]) -> Result<Vec<TaggedProfile>, SystemException> {
        let mut profiles = orb.server().profiles(orb, key, self.policies.protocols.as_ref())?;
        self.established.add_to(&mut profiles)?;
        Ok(profiles)
    }

    /// Lets requests find a persistent adapter.
    fn publish(self: &Arc<Self>) {
        if self.policies.is_persistent() && self.is_alive() {
            let mut paths = self.shared.paths.write();
            paths.insert(self.path.clone(), self.clone());
        }
    }

    pub(crate) fn child(&self, name: &str) -> Option<Arc<Adapter>> {
        self.children.lock().get(name).cloned()
    }

    pub(crate) fn children(&self) -> Vec<Arc<Adapter>> {
        self.children.lock().values().cloned().collect()
    }

    pub(crate) fn parent(&self) -> Option<Arc<Adapter>> {
        self.parent.upgrade()
    }

    pub(crate) fn adapter_activator(&self) -> Option<Arc<dyn AdapterActivator>> {
        self.helpers.read().adapter_activator.clone()
    }

    /// The child `name`, made by the adapter activator if it is not there.
    pub(crate) fn child_or_activate(
        self: &Arc<Self>,
        name: &str,
    ) -> Result<Option<Arc<Adapter>>, SystemException> {
        if !self.creating.is_busy(&name.into())
            && let Some(child) = self.child(name)
        {
            return Ok(Some(child));
        }
        let Some(activator) = self.adapter_activator() else { return Ok(self.child(name)) };
        let _work = match self.creating.begin(name.into(), Instant::now() + PATIENCE) {
            Ok(work) => work,
            Err(Busy::Here) => return Ok(self.child(name)),
            Err(Busy::Elsewhere) => {
                return Err(SystemException::Transient(format!(
                    "the adapter activator did not make {name:?} within {PATIENCE:?}"
                )));
            }
        };
        if let Some(child) = self.child(name) {
            return Ok(Some(child));
        }
        let Some(orb) = self.shared.orb() else { return Ok(None) };
        let parent = Poa::new(self.clone(), orb);
        let answer = catch_unwind(AssertUnwindSafe(|| activator.unknown_adapter(&parent, name)))
            .unwrap_or_else(|panic| Err(panic_exception("unknown_adapter", &*panic)));
        let child = self.child(name);
        if let Some(child) = &child {
            child.publish();
        }
        match answer {
            Ok(true) => Ok(child),
            Ok(false) => Ok(None),
            Err(exception) => Err(SystemException::ObjAdapter(format!(
                "the adapter activator failed to make {name:?}: {exception}"
            ))
            .minor(Minor::omg(1))),
        }
    }

    // Objects.

    pub(crate) fn is_alive(&self) -> bool {
        self.life.load(Ordering::SeqCst) == ALIVE
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.life.load(Ordering::SeqCst) == ENDED
    }

    /// What this adapter's system ids carry beside slot and generation.
    pub(crate) fn id_run(&self) -> Option<u64> {
        self.policies.is_persistent().then_some(self.shared.run)
    }

    /// The key of an object.
    pub(crate) fn key(&self, id: &[u8]) -> Vec<u8> {
        [&self.prefix[..], id].concat()
    }

    /// An id for a reference whose object is not active yet.
    pub(crate) fn unbound_id(&self) -> ObjectId {
        SystemId::unbound(self.unbound.fetch_add(1, Ordering::Relaxed)).octets(self.id_run()).into()
    }

    /// Makes `servant` an object: under `id`, or under one of the adapter's.
    pub(crate) fn add(self: &Arc<Self>, id: Option<&[u8]>, servant: Servant) -> Result<ObjectId, PoaError> {
        let unique = self.policies.id_uniqueness == IdUniqueness::Unique;
        self.objects.fetch_add(1, Ordering::SeqCst);
        let inserted = match id {
            Some(id) => self.map.insert(self, id, servant, unique),
            None => self.map.insert_new(self, servant, unique),
        };
        let object = inserted.map_err(|occupied| {
            self.objects.fetch_sub(1, Ordering::SeqCst);
            self.settle();
            match occupied {
                Occupied::Id => PoaError::ObjectAlreadyActive { id: id.unwrap_or_default().into() },
                Occupied::Servant(name) => PoaError::ServantAlreadyActive { id: name.id(self.id_run()) },
                Occupied::Full => SystemException::ImpLimit("an adapter has at most 2³¹ objects").into(),
            }
        })?;
        let id = object.name.id(self.id_run());
        object.release();
        // `destroy` changes `life` and then empties the map: either it met this object there, or this meets `life`.
        if !self.is_alive() {
            if let Some(object) = self.take(id.as_bytes()) {
                object.release();
            }
            return Err(PoaError::Destroyed);
        }
        Ok(id)
    }

    /// Takes an object out of the map, and from where it is near.
    pub(super) fn take(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let object = self.map.remove(id)?;
        // See `near`: either who brings it near sees that it has left, or this sees who holds it.
        fence(Ordering::SeqCst);
        if Arc::strong_count(&object) > 1 {
            near::revoke(|near| ptr::eq(near, &*object));
        }
        Some(object)
    }

    /// Takes an object out of the map. Its running requests end, then its servant is etherealized.
    pub(crate) fn deactivate(self: &Arc<Self>, id: &[u8]) -> Result<(), PoaError> {
        let gone = || PoaError::ObjectNotActive { id: id.into() };
        let activator = self.helpers.read().servant_activator.is_some();
        let object = if activator {
            if self.map.find(id).map(ActiveObject::release).is_none() {
                return Err(gone());
            }
            let work = self.incarnating.begin(id.into(), Instant::now() + PATIENCE).map_err(|_| gone())?;
            let object = self.take(id).ok_or_else(gone)?;
            // From now on until its servant is etherealized, who wants the object anew waits.
            work.leave_taken();
            object
        } else {
            self.take(id).ok_or_else(gone)?
        };
        object.release();
        Ok(())
    }

    /// Deactivates all objects because the adapter or its manager ends.
    pub(crate) fn clear(self: &Arc<Self>, etherealize: bool) {
        self.cleanup.store(true, Ordering::SeqCst);
        self.silent.store(!etherealize, Ordering::SeqCst);
        for id in self.map.ids() {
            let _ = self.deactivate(id.as_bytes());
        }
    }

    /// Etherealizes all objects, if there is a servant activator to do so, because the manager ends.
    pub(crate) fn clear_if_activated(self: &Arc<Self>) {
        let activator = self.helpers.read().servant_activator.is_some();
        if activator {
            self.clear(true);
        }
    }

    /// The last one that held a deactivated object has let it go.
    fn retire(self: Arc<Self>, name: Name, servant: Servant) {
        let activator = self.helpers.read().servant_activator.clone();
        if let Some(activator) = activator {
            let id = name.id(self.id_run());
            if !self.silent.load(Ordering::SeqCst)
                && let Some(orb) = self.shared.orb()
            {
                let circumstances = Etherealized {
                    cleanup_in_progress: self.cleanup.load(Ordering::SeqCst),
                    remaining_activations: self.map.name_of(&servant).is_some(),
                };
                let poa = Poa::new(self.clone(), orb);
                let etherealize = || activator.etherealize(&poa, &id, servant, circumstances);
                if let Err(panic) = catch_unwind(AssertUnwindSafe(etherealize)) {
                    tracing::error!(adapter = &*self.name, %id, exception = %panic_exception("etherealize", &*panic));
                }
            }
            self.incarnating.end(&id);
        }
        self.objects.fetch_sub(1, Ordering::SeqCst);
        self.traffic.notify();
        self.settle();
    }

    // The end.

    /// Turns away what the managers of this adapter and of all below it hold.
    pub(crate) fn end_gates(&self) {
        self.manager.turn_away();
        for child in self.children() {
            child.end_gates();
        }
    }

    /// Begins the end of this adapter and of all below it. [`is_ended`](Self::is_ended) when all has ended.
    pub(crate) fn destroy(self: &Arc<Self>, etherealize: bool) {
        {
            // Under the lock of the children, so that none is made that would not be met below.
            let _children = self.children.lock();
            let begun = self.life.compare_exchange(ALIVE, ENDING, Ordering::SeqCst, Ordering::SeqCst);
            if begun.is_err() {
                return;
            }
        }
        near::revoke(|near| Arc::ptr_eq(&near.adapter, self));
        for child in self.children() {
            child.destroy(etherealize);
        }
        self.tell_of_the_end();
        self.clear(etherealize);
        self.settle();
    }

    /// Tells interceptors that it is being destroyed.
    fn tell_of_the_end(&self) {
        let Some(orb) = self.shared.orb() else { return };
        for interceptor in orb.interceptors().into_iter().flat_map(|all| &all.ior) {
            interceptor.adapter_state_changed(&self.path_names(), AdapterState::NonExistent);
        }
    }

    /// Leaves the tables if all has ended. To be called when a request, an object or a child of it has.
    pub(crate) fn settle(self: &Arc<Self>) {
        if self.life.load(Ordering::SeqCst) != ENDING
            || !self.traffic.is_idle()
            || self.objects.load(Ordering::SeqCst) != 0
            || !self.children.lock().is_empty()
            || self.life.compare_exchange(ENDING, ENDED, Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            return;
        }
        if self.policies.is_persistent() {
            let mut paths = self.shared.paths.write();
            if paths.get(&self.path).is_some_and(|there| Arc::ptr_eq(there, self)) {
                paths.remove(&self.path);
            }
        }
        self.shared.index.remove(self.index, self.generation);
        *self.helpers.write() = Helpers::default();
        if let Some(parent) = self.parent() {
            parent.children.lock().remove(&self.name);
            parent.traffic.notify();
            parent.settle();
        }
        self.traffic.notify();
    }
}

impl ActiveObject {
    /// This thread is in an upcall of it, until what is returned is dropped.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Upcall {
        Upcall::enter(self.adapter.shared.run)
    }

    /// The ORB, the object's key, and where in it the id stands; `None`: the ORB is gone.
    pub(crate) fn whose(&self) -> Option<(Orb, Bytes, Range<usize>)> {
        let adapter = &self.adapter;
        let key = adapter.key(self.name.id(adapter.id_run()).as_bytes());
        let id = adapter.prefix.len()..key.len();
        Some((adapter.shared.orb()?, key.into(), id))
    }

    /// Gives the object back. The last to do so, once it is deactivated, etherealizes it.
    pub(crate) fn release(self: Arc<Self>) {
        if let Some(last) = Arc::into_inner(self) {
            last.adapter.retire(last.name, last.servant);
        }
    }
}
