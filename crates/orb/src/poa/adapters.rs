//! All adapters of one ORB, found by object key.
//!
//! | key | found by |
//! |---|---|
//! | transient | index and generation in a table |
//! | persistent | hash of the path; if nothing is there, name by name from the root, asking adapter activators |
//! | plain | hash of the whole key, among those that the program bound |
//!
//! Running the requests is [`serve`](super::serve)'s part.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use zorb_giop::Ior;

use super::active_map::Seed;
use super::adapter::Adapter;
use super::gate::ManagerState;
use super::handle::Poa;
use super::key::{self, Key};
use super::main_thread::MainThread;
use super::manager::Manager;
use super::slots::Slots;
use crate::exception::{Minor, SystemException};
use crate::object::ObjectRef;
use crate::orb::{Core, Orb};
use crate::server::request::ServerRequest;
use crate::skeleton::Interface;

/// All adapters of one ORB.
pub(crate) struct Adapters {
    pub(crate) shared: Arc<Shared>,
    root: Mutex<Option<Arc<Adapter>>>,
    bound: RwLock<HashMap<Box<[u8]>, Bound>>,
    ended: AtomicBool,
}

/// What every adapter knows of its ORB.
pub(crate) struct Shared {
    /// Drawn anew for each ORB.
    pub(crate) run: u64,
    pub(crate) seed: Seed,
    pub(crate) index: Slots<Adapter>,
    pub(crate) paths: RwLock<HashMap<Box<[u8]>, Arc<Adapter>, Seed>>,
    pub(crate) main: MainThread<ServerRequest>,
    home: OnceLock<Weak<Core>>,
}

/// What a plain key stands for.
#[derive(Clone)]
enum Bound {
    /// An object of this ORB, by its key.
    Here(Bytes),
    /// An object elsewhere.
    Elsewhere(Ior),
}

/// What a LocateRequest is answered with.
pub(crate) enum Located {
    /// The object is, or can be made, here.
    Here,
    /// There is none.
    Unknown,
    /// It is elsewhere.
    Forward(Ior, bool),
}

/// Where a key leads.
pub(crate) enum Route {
    Adapter(Arc<Adapter>),
    /// A plain key stands for this key.
    Key(Bytes),
    /// A plain key stands for this reference.
    Elsewhere(ObjectRef),
    /// The adapter's manager holds requests, and with them the making of this one's adapter.
    Behind(Arc<Adapter>),
}

impl Shared {
    pub(crate) fn new() -> Shared {
        let random = || {
            // The standard library's only source of randomness: keys drawn from the system for each of these.
            RandomState::new().hash_one((std::process::id(), Instant::now()))
        };
        let seed = Seed(random());
        Shared {
            run: random(),
            seed,
            index: Slots::new(),
            paths: RwLock::new(HashMap::with_hasher(seed)),
            main: MainThread::new(),
            home: OnceLock::new(),
        }
    }

    /// The ORB, as long as it lives.
    pub(crate) fn orb(&self) -> Option<Orb> {
        self.home.get()?.upgrade().map(Orb)
    }

    /// Looks at the adapter of a key while it cannot leave its table. `look` must be short and run no user code.
    #[inline(always)]
    pub(crate) fn with_adapter<R>(&self, key: &Key<'_>, look: impl FnOnce(&Arc<Adapter>) -> R) -> Option<R> {
        match *key {
            Key::Transient { run, index, generation, .. } if run == self.run => {
                self.index.with(index, generation, look)
            }
            Key::Persistent { path, .. } => self.paths.read().get(path).map(look),
            Key::Transient { .. } | Key::Plain => None,
        }
    }
}

impl Adapters {
    pub(crate) fn new() -> Adapters {
        Adapters {
            shared: Arc::new(Shared::new()),
            root: Mutex::default(),
            bound: RwLock::default(),
            ended: AtomicBool::new(false),
        }
    }

    /// The root adapter, made when first asked for.
    pub(crate) fn root(&self, orb: &Orb) -> Result<Poa, SystemException> {
        let _ = self.shared.home.set(Arc::downgrade(&orb.0));
        let root = self.root.lock().clone();
        let begun = match root {
            Some(_) => None,
            None => Some(Adapter::begin_root(&self.shared)?),
        };
        let mut root = self.root.lock();
        if self.ended.load(Ordering::SeqCst) {
            return Err(SystemException::BadInvOrder("the ORB was shut down").minor(Minor::omg(4)));
        }
        let adapter = match &*root {
            Some(adapter) => adapter.clone(),
            None => {
                let begun = begun.map_or_else(|| Adapter::begin_root(&self.shared), Ok)?;
                root.insert(Adapter::root(&self.shared, begun)?).clone()
            }
        };
        Ok(Poa::new(adapter, orb.clone()))
    }

    /// Whether `key` may be one of this ORB's, by its form. A persistent key looks the same at every server that has an
    /// adapter of that path: whether it is ours, its endpoint tells.
    pub(crate) fn owns(&self, key: &[u8]) -> bool {
        match Key::parse(key) {
            Key::Transient { run, .. } => run == self.shared.run,
            Key::Persistent { .. } => true,
            Key::Plain => self.bound.read().contains_key(key),
        }
    }

    /// Lets requests to a well-known key reach `object`: what `corbaloc::host/NameService` asks for.
    pub(crate) fn bind_key(&self, key: &[u8], object: &ObjectRef) {
        // A handle on the ORB in the ORB would keep it for ever: only what makes a reference again is stored.
        let bound = match &object.route().0.local {
            Some(home) => Bound::Here(home.key.clone()),
            None => Bound::Elsewhere(object.ior().clone()),
        };
        self.bound.write().insert(key.into(), bound);
    }

    /// The adapter of a key, if it is there.
    pub(crate) fn adapter(&self, orb: &Orb, key: &[u8]) -> Option<Poa> {
        self.shared.with_adapter(&Key::parse(key), Arc::clone).map(|adapter| Poa::new(adapter, orb.clone()))
    }

    /// Where a key leads. May run adapter activators.
    pub(crate) fn route(&self, key: &[u8]) -> Result<Route, SystemException> {
        let parsed = Key::parse(key);
        if let Some(adapter) = self.shared.with_adapter(&parsed, Arc::clone) {
            return Ok(Route::Adapter(adapter));
        }
        match parsed {
            Key::Transient { .. } => Err(no_adapter("its adapter is gone, or the process that made it")),
            Key::Persistent { path, .. } => self.walk(path),
            Key::Plain => {
                let bound = self.bound.read().get(key).cloned();
                match bound {
                    Some(Bound::Here(key)) => Ok(Route::Key(key)),
                    Some(Bound::Elsewhere(ior)) => self
                        .shared
                        .orb()
                        .and_then(|orb| ObjectRef::new(&orb, ior))
                        .map(Route::Elsewhere)
                        .ok_or_else(|| no_adapter("its ORB is gone")),
                    None => Err(no_adapter("no object is bound to that key")),
                }
            }
        }
    }

    /// Finds a persistent adapter name by name, asking adapter activators for what is missing.
    fn walk(&self, path: &[u8]) -> Result<Route, SystemException> {
        let names = key::names(path).ok_or_else(|| no_adapter("its key names no adapter"))?;
        let root = self.root.lock().clone();
        let mut adapter = root.ok_or_else(|| no_adapter("this ORB has no adapter"))?;
        for name in &names {
            // What a manager does with requests it does with the calls of activators that they cause.
            if adapter.adapter_activator().is_some() && adapter.child(name).is_none() {
                match adapter.manager.gate.state() {
                    ManagerState::Holding => return Ok(Route::Behind(adapter)),
                    state => {
                        if let Some(exception) = Manager::refusal(state) {
                            return Err(exception);
                        }
                    }
                }
            }
            let child = adapter.child_or_activate(name)?;
            adapter =
                child.ok_or_else(|| no_adapter(&format!("there is no adapter {:?}", names.join("/"))))?;
        }
        if adapter.policies.is_persistent() {
            Ok(Route::Adapter(adapter))
        } else {
            Err(no_adapter("its adapter is transient"))
        }
    }

    /// Turns away the requests that managers hold, so that a server that ends need not wait for them.
    pub(crate) fn turn_away_held(&self) {
        self.ended.store(true, Ordering::SeqCst);
        let root = self.root.lock().clone();
        if let Some(root) = root {
            root.end_gates();
        }
    }

    /// Ends all adapters; with `wait`, returns when their requests have ended, at the latest after `within`.
    pub(crate) fn shutdown(&self, wait: bool, within: Duration) {
        self.turn_away_held();
        let root = self.root.lock().take();
        if let Some(root) = root {
            root.destroy(true);
            if wait && !super::traffic::Upcall::is_in(self.shared.run) {
                root.traffic.wait_until(Instant::now() + within, || root.is_ended());
            }
        }
        self.shared.main.stop();
    }
}

impl Orb {
    /// Lets requests to a well-known key reach `object`, in place of what the key stood for: `corbaloc::host:port/Archive`
    /// asks for the key `Archive`. If the object lives elsewhere callers are sent there.
    ///
    /// Persists as long as this ORB. Keys that begin with `ZO1` are the object adapter's.
    pub fn bind_key(&self, key: &str, object: &impl Interface) {
        self.adapters().bind_key(key.as_bytes(), object.as_object());
    }
}

/// Objects and adapters hold each other; an ORB that is dropped without a shutdown undoes that.
impl Drop for Adapters {
    fn drop(&mut self) {
        let root = self.root.lock().take();
        if let Some(root) = root {
            root.destroy(false);
        }
    }
}

/// `OBJECT_NOT_EXIST` with OMG minor code 2: no adapter for the key.
fn no_adapter(why: &str) -> SystemException {
    SystemException::ObjectNotExist(format!("no such object: {why}")).minor(Minor::omg(2))
}
