//! Which objects can be reached through a bridge: a table, filled by exports and by forwards, and limited.
//!
//! The key of an object is made of its target's reference by a hash, so that it is the same in the next process. The
//! table, not the key, says where a request goes: a key that was not exported leads nowhere.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zorb_cdr::CodeSets;
use zorb_giop::Ior;
use zorb_orb::poa::{Poa, PoaPolicies};
use zorb_orb::server::request::ServerRequest;
use zorb_orb::skeleton::{InterfaceInfo, OBJECT_ID, Skeleton};
use zorb_orb::{Minor, ObjectRef, Orb, SystemException};

use crate::errand::Errand;
use crate::reference::{Terms, with_code_sets};
use crate::{Settings, of_adapter};

/// The table, and what is needed to fill it.
pub(crate) struct Gate {
    adapter: Poa,
    inside: Orb,
    pub(crate) settings: Settings,
    exported: Mutex<HashMap<Id, Exported>>,
    /// Itself, for its objects.
    me: std::sync::Weak<Gate>,
}

type Id = [u8; 16];

struct Exported {
    target: Ior,
    reference: ObjectRef,
}

impl Gate {
    pub(crate) fn new(outside: &Orb, inside: &Orb, settings: Settings) -> Result<Arc<Gate>, SystemException> {
        let policies = PoaPolicies::new().persistent().user_ids();
        let root = outside.root_poa()?;
        let adapter = root.create_child(&settings.adapter, policies).map_err(of_adapter)?;
        adapter.manager().activate().map_err(of_adapter)?;
        let (inside, exported) = (inside.clone(), Mutex::default());
        Ok(Arc::new_cyclic(|me| Gate { adapter, inside, settings, exported, me: me.clone() }))
    }

    fn exported(&self) -> MutexGuard<'_, HashMap<Id, Exported>> {
        self.exported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn objects(&self) -> usize {
        self.exported().len()
    }

    /// The reference to be used outside for what is a target inside.
    pub(crate) fn export(&self, target: &Ior) -> Result<ObjectRef, SystemException> {
        let Some(bound) = ObjectRef::new(&self.inside, target.clone()) else {
            return Err(SystemException::InvObjref("a nil reference leads nowhere"));
        };
        // Sent to itself a request would never end.
        if let Some(mine) = ObjectRef::new(self.adapter.orb(), target.clone())
            && mine.leads_here()
            && self.adapter.reference_to_id(&mine).is_ok()
        {
            return Ok(mine);
        }
        let mut exported = self.exported();
        let mut id = hash(target);
        while let Some(other) = exported.get(&id) {
            if other.target == *target {
                return Ok(other.reference.clone());
            }
            // Another target of the same hash.
            id = (u128::from_be_bytes(id).wrapping_add(1)).to_be_bytes();
        }
        if exported.len() >= self.settings.most_objects {
            let most = self.settings.most_objects;
            return Err(SystemException::ImpLimit(format!(
                "the bridge leads to {most} objects already (limit)"
            )));
        }
        let servant = Arc::new(Bridged {
            gate: self.me.clone(),
            target: target.clone(),
            by_code_sets: Mutex::default(),
        });
        let mine = self.adapter.activate_servant_with_id(id, servant, bound.type_id()).map_err(of_adapter)?;
        let published = match Terms::of(target) {
            Some(terms) => terms.put_into(mine.ior()).map_err(unwritable)?,
            None => mine.ior().clone(),
        };
        let reference = ObjectRef::new(self.adapter.orb(), published).unwrap_or(mine);
        exported.insert(id, Exported { target: target.clone(), reference: reference.clone() });
        Ok(reference)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = self.adapter.destroy(false, None);
    }
}

fn unwritable(error: zorb_cdr::EncodeError) -> SystemException {
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

/// One object of the bridge.
struct Bridged {
    gate: std::sync::Weak<Gate>,
    target: Ior,
    /// The target, bound once for each choice of code sets that clients make: connections are shared by those that agree. Three
    /// sets of characters and as many of wide ones can be announced.
    by_code_sets: Mutex<Vec<(CodeSets, ObjectRef)>>,
}

impl Bridged {
    fn target(&self, inside: &Orb, code_sets: CodeSets) -> Result<ObjectRef, SystemException> {
        let mut bound = self.by_code_sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, target)) = bound.iter().find(|(known, _)| *known == code_sets) {
            return Ok(target.clone());
        }
        let ior = with_code_sets(&self.target, code_sets).map_err(unwritable)?;
        let target = ObjectRef::new(inside, ior)
            .ok_or_else(|| SystemException::InvObjref("a nil reference leads nowhere"))?;
        bound.push((code_sets, target.clone()));
        Ok(target)
    }
}

impl Skeleton for Bridged {
    fn interface(&self) -> &'static InterfaceInfo {
        static OBJECT: InterfaceInfo = InterfaceInfo { id: OBJECT_ID, ancestors: &[] };
        &OBJECT
    }

    fn dispatch(&self, request: ServerRequest) {
        let Some(gate) = self.gate.upgrade() else {
            let ended = SystemException::ObjectNotExist("the bridge has ended").minor(Minor::omg(1));
            return request.system_exception(ended);
        };
        match self.target(&gate.inside, request.format().code_sets) {
            Ok(target) => Errand::run(gate, &target, request),
            Err(exception) => request.system_exception(exception),
        }
    }

    fn serves_implicit_operations(&self) -> bool {
        true
    }
}
