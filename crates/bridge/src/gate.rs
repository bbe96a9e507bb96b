//! One direction of a bridge: an adapter on one side, whose objects lead to targets on the other.
//!
//! ```text
//!            outward gate: adapter outside ──► targets inside         what was exported, and references that come out
//! outside ◄─┤                                                     ├─► inside
//!            inward gate:  adapter inside ──► targets outside         clients' own objects: callbacks
//! ```
//!
//! A table, filled by exports and by references that pass through, says where requests go: a key that is in none leads
//! nowhere. Exported objects stay; what was made up on the way gives room to others, least recently used first. The key of
//! an exported object is a hash of its target's reference, so that it is the same in the next process. That of another
//! is a hash with a key of this process alone: nobody can know it who was not given it.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use zorb_giop::Ior;
use zorb_orb::poa::{Poa, PoaPolicies};
use zorb_orb::{ObjectRef, Orb, SystemException};

use crate::bridged::Bridged;
use crate::reference::{Terms, only_at};
use crate::{Callbacks, Settings, of_adapter};

/// One part of this many gives way when a table is full, so that looking for the least recently used is worth it.
const PART_THAT_GIVES_WAY: usize = 16;

/// The table, and what is needed to fill it.
pub(crate) struct Gate {
    adapter: Poa,
    pub(crate) far: Orb,
    pub(crate) settings: Settings,
    /// Whose targets it may lead to: anybody's where it leads inside.
    callbacks: Callbacks,
    table: Mutex<Table>,
    secrets: [RandomState; 2],
    /// Counts uses, so that it is known what was used before what.
    uses: AtomicU64,
    /// Itself, for its objects, and the gate of the other direction.
    me: Weak<Gate>,
    other: OnceLock<Weak<Gate>>,
}

type Id = [u8; 16];

#[derive(Default)]
struct Table {
    objects: HashMap<Id, Object>,
    by_target: HashMap<Ior, Id>,
}

struct Object {
    target: Ior,
    reference: ObjectRef,
    /// Stays whatever comes.
    exported: bool,
    standing: Arc<Standing>,
}

/// What is learnt of an object after it was put into the table.
pub(crate) struct Standing {
    /// The number of its interface; `usize::MAX` where it is not known.
    interface: AtomicUsize,
    used: AtomicU64,
}

impl Standing {
    pub(crate) fn interface(&self) -> Option<usize> {
        Some(self.interface.load(Ordering::Relaxed)).filter(|index| *index != usize::MAX)
    }

    /// Takes what is said of an object that was known: what is said by an operation counts.
    fn is_a(&self, interface: Option<usize>) {
        if let Some(interface) = interface {
            self.interface.store(interface, Ordering::Relaxed);
        }
    }
}

impl Gate {
    pub(crate) fn new(
        near: &Orb,
        far: &Orb,
        name: &str,
        callbacks: Callbacks,
        settings: Settings,
    ) -> Result<Arc<Gate>, SystemException> {
        let policies = PoaPolicies::new().persistent().user_ids();
        let root = near.root_poa()?;
        let adapter = root.create_child(name, policies).map_err(of_adapter)?;
        adapter.manager().activate().map_err(of_adapter)?;
        let far = far.clone();
        Ok(Arc::new_cyclic(|me| Gate {
            adapter,
            far,
            settings,
            callbacks,
            table: Mutex::default(),
            secrets: Default::default(),
            uses: AtomicU64::new(0),
            me: me.clone(),
            other: OnceLock::new(),
        }))
    }

    /// Joins the two directions of a bridge.
    pub(crate) fn join(&self, other: &Arc<Gate>) {
        // Once for each, by who has just made them.
        let _ = self.other.set(Arc::downgrade(other));
    }

    fn other(&self) -> Option<Arc<Gate>> {
        self.other.get().and_then(Weak::upgrade)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn objects(&self) -> usize {
        self.table().objects.len()
    }

    pub(crate) fn next_use(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// The target of a reference to one of its objects: `Err` of one that it does not lead to (any more), `None` of anybody
    /// else's.
    fn unwrapped(&self, reference: &Ior) -> Option<Result<Ior, SystemException>> {
        let id = self.id_of(reference)?;
        let target = self.table().objects.get(&*id).map(|object| object.target.clone());
        Some(target.ok_or_else(|| {
            let detail = "a reference that passes leads to an object that the bridge has no more";
            SystemException::InvObjref(detail)
        }))
    }

    fn id_of(&self, reference: &Ior) -> Option<Vec<u8>> {
        let mine = ObjectRef::new(self.adapter.orb(), reference.clone())?;
        let id = mine.leads_here().then(|| self.adapter.reference_to_id(&mine).ok())??;
        Some(id.as_ref().to_vec())
    }

    /// For an argument of a request through this gate: the reference that the target is to have. `caller` is who sent it.
    pub(crate) fn onwards(
        &self,
        reference: &Ior,
        declared: Option<usize>,
        caller: Option<IpAddr>,
    ) -> Result<Ior, SystemException> {
        if let Some(target) = self.unwrapped(reference) {
            return target;
        }
        match self.other() {
            Some(other) => {
                other.wrapped(reference, declared, caller).map(|reference| reference.ior().clone())
            }
            None => Err(SystemException::NoPermission(
                "the message holds a reference that does not lead through the bridge, and the bridge leads to none of its \
                 callers' objects",
            )),
        }
    }

    /// For a result of a request through this gate: the reference that the caller is to have. `target` is who sent it.
    pub(crate) fn back(
        &self,
        reference: &Ior,
        declared: Option<usize>,
        target: Option<IpAddr>,
    ) -> Result<Ior, SystemException> {
        if let Some(mine) = self.other().and_then(|other| other.unwrapped(reference)) {
            return mine;
        }
        self.wrapped(reference, declared, target).map(|reference| reference.ior().clone())
    }

    /// The reference to an object of this gate that leads to `target`, which came from `from`.
    fn wrapped(
        &self,
        target: &Ior,
        declared: Option<usize>,
        from: Option<IpAddr>,
    ) -> Result<ObjectRef, SystemException> {
        let interface = self.settings.interfaces.of(&target.type_id, declared);
        if self.id_of(target).is_some() {
            return self.lead_to(target, interface, false);
        }
        match self.callbacks {
            Callbacks::Any => self.lead_to(target, interface, false),
            Callbacks::Caller => {
                match from.map(|from| only_at(target, from)).transpose().map_err(unwritable)? {
                    Some(Some(target)) => self.lead_to(&target, interface, false),
                    _ => Err(SystemException::NoPermission(
                        "the message holds a reference that does not name its sender's address, and the bridge leads to no other",
                    )),
                }
            }
            Callbacks::Refuse => {
                Err(SystemException::NoPermission("the bridge leads to none of its callers' objects"))
            }
        }
    }

    /// The reference to be used on this side for what is a target on the other, and stays.
    pub(crate) fn export(&self, target: &Ior) -> Result<ObjectRef, SystemException> {
        self.lead_to(target, self.settings.interfaces.of(&target.type_id, None), true)
    }

    fn lead_to(
        &self,
        target: &Ior,
        interface: Option<usize>,
        exported: bool,
    ) -> Result<ObjectRef, SystemException> {
        let Some(bound) = ObjectRef::new(&self.far, target.clone()) else {
            return Err(SystemException::InvObjref("a nil reference leads nowhere"));
        };
        // Sent to itself a request would never end.
        if self.id_of(target).is_some() {
            return Ok(ObjectRef::new(self.adapter.orb(), target.clone()).unwrap_or(bound));
        }
        let mut table = self.table();
        let known = table.by_target.get(target).and_then(|id| table.objects.get(id));
        if let Some(object) = known.filter(|object| object.exported || !exported) {
            object.standing.is_a(interface);
            object.standing.used.store(self.next_use(), Ordering::Relaxed);
            return Ok(object.reference.clone());
        }
        let mut id = if exported { hash(target) } else { self.secret_hash(target) };
        while table.objects.contains_key(&id) {
            // Another target of the same hash.
            id = (u128::from_be_bytes(id).wrapping_add(1)).to_be_bytes();
        }
        self.make_room(&mut table)?;
        let (interface, used) = (interface.unwrap_or(usize::MAX), self.next_use());
        let standing = Arc::new(Standing { interface: interface.into(), used: used.into() });
        let servant = Arc::new(Bridged::new(self.me.clone(), target.clone(), standing.clone()));
        let mine = self.adapter.activate_servant_with_id(id, servant, bound.type_id()).map_err(of_adapter)?;
        let published = match Terms::of(target) {
            Some(terms) => terms.put_into(mine.ior()).map_err(unwritable)?,
            None => mine.ior().clone(),
        };
        let reference = ObjectRef::new(self.adapter.orb(), published).unwrap_or(mine);
        let object = Object { target: target.clone(), reference: reference.clone(), exported, standing };
        table.objects.insert(id, object);
        table.by_target.insert(target.clone(), id);
        Ok(reference)
    }

    fn make_room(&self, table: &mut Table) -> Result<(), SystemException> {
        let most = self.settings.most_objects;
        if table.objects.len() < most {
            return Ok(());
        }
        let passing = table.objects.iter().filter(|(_, object)| !object.exported);
        let mut passing: Vec<(u64, Id)> =
            passing.map(|(id, object)| (object.standing.used.load(Ordering::Relaxed), *id)).collect();
        if passing.is_empty() {
            let detail = format!("the bridge leads to {most} exported objects already (limit)");
            return Err(SystemException::ImpLimit(detail));
        }
        passing.sort_unstable();
        for (_, id) in &passing[..(passing.len() / PART_THAT_GIVES_WAY).max(1)] {
            if let Some(object) = table.objects.remove(id) {
                // Unless it has been exported since.
                if table.by_target.get(&object.target) == Some(id) {
                    table.by_target.remove(&object.target);
                }
                // It is active, since it was in the table.
                let _ = self.adapter.deactivate(id);
            }
        }
        Ok(())
    }

    fn secret_hash(&self, ior: &Ior) -> Id {
        let [high, low] = [0, 1].map(|half: usize| u128::from(self.secrets[half].hash_one(ior)));
        (high << 64 | low).to_be_bytes()
    }
}

impl Standing {
    pub(crate) fn used(&self, now: u64) {
        self.used.store(now, Ordering::Relaxed);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.adapter.destroy(false, None);
    }
}

pub(crate) fn unwritable(error: zorb_cdr::EncodeError) -> SystemException {
    SystemException::InvObjref(format!("the target's reference: {error}"))
}

/// FNV-1a of 128 bits: the same in every process. Who finds two references of one hash gains nothing: the table tells them
/// apart.
fn hash(ior: &Ior) -> Id {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let start: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let profiles = ior.profiles.iter().flat_map(|profile| {
        let head = [profile.tag.0.to_be_bytes(), (profile.data.len() as u32).to_be_bytes()];
        head.into_iter().flatten().chain(profile.data.iter().copied())
    });
    let octets = ior.type_id.bytes().chain([0]).chain(profiles);
    octets.fold(start, |hash, octet| (hash ^ u128::from(octet)).wrapping_mul(PRIME)).to_be_bytes()
}
