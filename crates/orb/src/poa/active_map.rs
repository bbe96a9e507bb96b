//! The active object map: which servant is which object (CORBA 3.4 part 1 §11.2.4).
//!
//! Ids that the adapter assigned name a slot of a table ([`Slots`]); all other ids are found by hash. Both ways
//! take the same time for one object and for a million.
//!
//! Memory, in octets, on a 64-bit machine: an object under a system id takes 32 (slot) + 64 (record); under a user
//! id of *n* octets 64 (record) + 16 + *n* (id) + about 28 (hash table). Adapters with unique ids, implicit
//! activation or a servant activator remember the servants' identities: about 45 more. The skeleton and the
//! implementation are the program's, 32 and what it is.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::adapter::Adapter;
use super::id::ObjectId;
use super::key::SystemId;
use super::slots::Slots;
use crate::skeleton::Servant;

/// Objects under ids that are no slots are spread over so many tables, each with its lock.
const SHARDS: usize = 16;

/// One active object. Who holds it keeps it from being etherealized, and must give it back by
/// [`release`](ActiveObject::release): dropped otherwise as the last, it would count as active for ever.
pub(crate) struct ActiveObject {
    pub(crate) adapter: Arc<Adapter>,
    pub(crate) servant: Servant,
    pub(crate) name: Name,
}

/// How the map knows an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Slot(SystemId),
    Octets(Arc<[u8]>),
}

impl Name {
    /// The id as the program sees it; `run` where the adapter's own ids carry it.
    pub(crate) fn id(&self, run: Option<u64>) -> ObjectId {
        match self {
            Name::Slot(id) => id.octets(run).into(),
            Name::Octets(octets) => octets[..].into(),
        }
    }
}

/// Hashes with a seed: a peer that chooses ids cannot choose where they fall.
#[derive(Clone, Copy)]
pub(crate) struct Seed(pub(crate) u64);

impl BuildHasher for Seed {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

/// The map of one adapter.
pub(crate) struct ActiveMap {
    slots: Slots<ActiveObject>,
    shards: [Shard; SHARDS],
    /// Objects in `shards`: most maps have none there, and then need not look.
    named: AtomicUsize,
    /// Objects that have left the map since it was made.
    left: AtomicU64,
    servants: Option<Mutex<Servants>>,
    /// In ids that name a slot, when they carry it.
    run: Option<u64>,
    system_ids: bool,
}

/// Objects by id.
type Shard = RwLock<HashMap<Arc<[u8]>, Arc<ActiveObject>, Seed>>;

/// Where a servant is active, by its identity.
pub(crate) type Servants = HashMap<usize, Activations>;

pub(crate) struct Activations {
    first: Name,
    count: u32,
}

/// Why an object did not get into the map.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Occupied {
    /// The id is taken.
    Id,
    /// The servant is active under this id.
    Servant(Name),
    /// 2³¹ objects.
    Full,
}

impl ActiveMap {
    /// `run`: what system ids of a persistent adapter carry. `unique`: a servant may have one id. `identities`: servants
    /// are remembered even if they may have many.
    pub(crate) fn new(seed: Seed, system_ids: bool, run: Option<u64>, identities: bool) -> ActiveMap {
        ActiveMap {
            slots: Slots::new(),
            shards: std::array::from_fn(|_| RwLock::new(HashMap::with_hasher(seed))),
            named: AtomicUsize::new(0),
            left: AtomicU64::new(0),
            servants: identities.then(Mutex::default),
            run,
            system_ids,
        }
    }

    /// How many objects have left: as long as that is the same, what was found after it was read is still there.
    #[inline]
    pub(crate) fn left(&self) -> u64 {
        self.left.load(Ordering::Acquire)
    }

    /// The object of an id.
    #[inline(always)]
    pub(crate) fn find(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        if self.system_ids {
            let found = SystemId::parse(id, self.run).and_then(|id| self.slots.get(id.slot, id.generation));
            if found.is_some() || self.named.load(Ordering::Acquire) == 0 {
                return found;
            }
        }
        self.find_named(id)
    }

    #[inline(never)]
    fn find_named(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        self.shard(id).read().get(id).cloned()
    }

    fn shard(&self, id: &[u8]) -> &Shard {
        // Ids that count up differ in their last octets.
        let sum = id.iter().rev().take(4).fold(0_usize, |sum, &octet| sum * 31 + usize::from(octet));
        &self.shards[sum % SHARDS]
    }

    /// Puts an object in under an id of the map's own.
    pub(crate) fn insert_new(
        &self,
        adapter: &Arc<Adapter>,
        servant: Servant,
        unique: bool,
    ) -> Result<Arc<ActiveObject>, Occupied> {
        let mut servants = self.reserve(&servant, unique)?;
        let identity = servant.identity();
        let object = self.slots.insert(|slot, generation| {
            let name = Name::Slot(SystemId { slot, generation });
            Arc::new(ActiveObject { adapter: adapter.clone(), servant, name })
        });
        let object = object.ok_or(Occupied::Full)?;
        note(servants.as_mut(), identity, &object.name);
        Ok(object)
    }

    /// Puts an object in under a given id.
    pub(crate) fn insert(
        &self,
        adapter: &Arc<Adapter>,
        id: &[u8],
        servant: Servant,
        unique: bool,
    ) -> Result<Arc<ActiveObject>, Occupied> {
        let mut servants = self.reserve(&servant, unique)?;
        let own = SystemId::parse(id, self.run).filter(|_| self.system_ids);
        if own.is_some_and(|id| self.slots.with(id.slot, id.generation, |_| ()).is_some()) {
            return Err(Occupied::Id);
        }
        let mut shard = self.shard(id).write();
        if shard.contains_key(id) {
            return Err(Occupied::Id);
        }
        let (octets, identity) = (Arc::<[u8]>::from(id), servant.identity());
        let object =
            Arc::new(ActiveObject { adapter: adapter.clone(), servant, name: Name::Octets(octets.clone()) });
        shard.insert(octets, object.clone());
        self.named.fetch_add(1, Ordering::Release);
        drop(shard);
        note(servants.as_mut(), identity, &object.name);
        Ok(object)
    }

    /// Locks the identities, if they are remembered, so that id and servant are taken together.
    fn reserve(&self, servant: &Servant, unique: bool) -> Result<Option<MutexGuard<'_, Servants>>, Occupied> {
        let Some(servants) = &self.servants else { return Ok(None) };
        let servants = servants.lock();
        match servants.get(&servant.identity()) {
            Some(activations) if unique => Err(Occupied::Servant(activations.first.clone())),
            _ => Ok(Some(servants)),
        }
    }

    /// Takes an object out. Its servant is free for another id; requests may still be running.
    pub(crate) fn remove(&self, id: &[u8]) -> Option<Arc<ActiveObject>> {
        let mut servants = self.servants.as_ref().map(|servants| servants.lock());
        let own = SystemId::parse(id, self.run).filter(|_| self.system_ids);
        let object = own.and_then(|id| self.slots.remove(id.slot, id.generation)).or_else(|| {
            let removed = self.shard(id).write().remove(id)?;
            self.named.fetch_sub(1, Ordering::Release);
            Some(removed)
        })?;
        self.left.fetch_add(1, Ordering::Release);
        if let Some(servants) = &mut servants {
            let identity = object.servant.identity();
            if let Some(activations) = servants.get_mut(&identity) {
                activations.count -= 1;
                if activations.count == 0 {
                    servants.remove(&identity);
                }
            }
        }
        Some(object)
    }

    /// An id under which a servant is active, and which stays its only one where ids are unique.
    pub(crate) fn name_of(&self, servant: &Servant) -> Option<Name> {
        let servants = self.servants.as_ref()?.lock();
        servants.get(&servant.identity()).map(|activations| activations.first.clone())
    }

    /// The ids of all objects, as they are met.
    pub(crate) fn ids(&self) -> Vec<ObjectId> {
        let mut ids = self.slots.each(|object| object.name.id(self.run));
        for shard in &self.shards {
            let shard = shard.read();
            ids.extend(shard.keys().map(|id| ObjectId::from(&id[..])));
        }
        ids
    }
}

fn note(servants: Option<&mut MutexGuard<'_, Servants>>, identity: usize, name: &Name) {
    if let Some(servants) = servants {
        let activations =
            servants.entry(identity).or_insert_with(|| Activations { first: name.clone(), count: 0 });
        activations.count += 1;
    }
}
