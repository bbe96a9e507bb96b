//! One object of a bridge: sends what it is asked on to its target.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use zorb_cdr::CodeSets;
use zorb_giop::Ior;
use zorb_orb::server::request::ServerRequest;
use zorb_orb::skeleton::{InterfaceInfo, OBJECT_ID, Skeleton};
use zorb_orb::{Minor, ObjectRef, Orb, SystemException};

use crate::errand::Errand;
use crate::gate::{Gate, Standing, unwritable};
use crate::reference::{address, with_code_sets};

pub(crate) struct Bridged {
    gate: Weak<Gate>,
    target: Ior,
    /// Where the target is, as far as its reference says.
    address: Option<IpAddr>,
    standing: Arc<Standing>,
    /// The target, bound once for each choice of code sets that clients make: connections are shared by those that agree. Three
    /// sets of characters and as many of wide ones can be announced.
    by_code_sets: Mutex<Vec<(CodeSets, ObjectRef)>>,
}

impl Bridged {
    pub(crate) fn new(gate: Weak<Gate>, target: Ior, standing: Arc<Standing>) -> Bridged {
        let address = address(&target);
        Bridged { gate, target, address, standing, by_code_sets: Mutex::default() }
    }

    fn target(&self, far: &Orb, code_sets: CodeSets) -> Result<ObjectRef, SystemException> {
        let mut bound = self.by_code_sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, target)) = bound.iter().find(|(known, _)| *known == code_sets) {
            return Ok(target.clone());
        }
        let ior = with_code_sets(&self.target, code_sets).map_err(unwritable)?;
        let target = ObjectRef::new(far, ior)
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
        self.standing.used(gate.next_use());
        match self.target(&gate.far, request.format().code_sets) {
            Ok(target) => Errand::run(gate, &target, self.address, self.standing.interface(), request),
            Err(exception) => request.system_exception(exception),
        }
    }

    fn serves_implicit_operations(&self) -> bool {
        true
    }
}
