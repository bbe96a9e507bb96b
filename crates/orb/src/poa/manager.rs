//! Managers: the valve in front of one adapter or several (CORBA 3.4 part 1 §11.3.2).

use std::collections::VecDeque;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::adapter::Adapter;
use super::adapters::Adapters;
use super::error::PoaError;
use super::gate::{Gate, ManagerState};
use super::near;
use super::traffic::Upcall;
use crate::exception::{Minor, SystemException};
use crate::orb::Orb;
use crate::server::request::ServerRequest;

/// Requests that one manager holds: enough for a server that comes up while a thousand clients call, and a bounded
/// amount of memory. Those beyond it are told to try again (`TRANSIENT`, OMG 1).
pub const HELD_LIMIT: usize = 1024;

/// What a manager is made of.
pub(crate) struct Manager {
    pub(crate) gate: Gate<ServerRequest>,
    adapters: Mutex<Vec<Weak<Adapter>>>,
    run: u64,
}

impl Manager {
    pub(crate) fn new(run: u64) -> Arc<Manager> {
        Arc::new(Manager { gate: Gate::new(HELD_LIMIT), adapters: Mutex::default(), run })
    }

    pub(crate) fn join(&self, adapter: &Arc<Adapter>) {
        let mut adapters = self.adapters.lock();
        adapters.retain(|adapter| adapter.strong_count() != 0);
        adapters.push(Arc::downgrade(adapter));
    }

    fn adapters(&self) -> Vec<Arc<Adapter>> {
        let adapters = self.adapters.lock();
        adapters.iter().filter_map(Weak::upgrade).collect()
    }

    /// Turns away held requests, and those to come, because the ORB ends.
    pub(crate) fn turn_away(&self) {
        if let Some(held) = self.set(ManagerState::Discarding) {
            release(held, ManagerState::Discarding);
        }
    }

    /// Changes what it does with requests, and gives those that it held; `None`: it is inactive.
    fn set(&self, to: ManagerState) -> Option<VecDeque<ServerRequest>> {
        let held = self.gate.change(to)?;
        if to != ManagerState::Active {
            near::revoke(|near| ptr::eq(&*near.adapter.manager, self));
        }
        // Who waits for requests to end waits no more where they are let through again.
        self.adapters().iter().for_each(|adapter| adapter.traffic.notify());
        Some(held)
    }

    /// Why a request does not come through; `None` when it does, or waits.
    pub(crate) fn refusal(state: ManagerState) -> Option<SystemException> {
        match state {
            ManagerState::Active | ManagerState::Holding => None,
            ManagerState::Discarding => Some(
                SystemException::Transient("the object's adapter discards requests for now")
                    .minor(Minor::omg(1)),
            ),
            ManagerState::Inactive => Some(
                SystemException::ObjAdapter("the object's adapter was deactivated for good")
                    .minor(Minor::omg(1)),
            ),
        }
    }
}

/// Holds, lets through or turns away the requests of the adapters that share it. Cloning is a count.
///
/// A new manager, also the root adapter's, is **holding**: requests that arrive wait, up to [`HELD_LIMIT`] of them,
/// until [`activate`](Self::activate) hands them to server threads.
#[derive(Clone)]
pub struct PoaManager(pub(crate) Arc<Manager>);

impl PoaManager {
    /// What it does with requests now.
    pub fn state(&self) -> ManagerState {
        self.0.gate.state()
    }

    /// Lets requests through, first those that it held, in the order in which they came.
    ///
    /// # Errors
    /// [`PoaError::AdapterInactive`].
    pub fn activate(&self) -> Result<(), PoaError> {
        self.change(ManagerState::Active, None)
    }

    /// Holds requests from now on. With `wait`, returns when those that were running have ended, or another state is chosen meanwhile.
    ///
    /// # Errors
    /// [`PoaError::AdapterInactive`]; with `wait` also [`PoaError::WouldDeadlock`] from within a request (nothing has
    /// changed then) and [`PoaError::StillRunning`].
    pub fn hold_requests(&self, wait: Option<Duration>) -> Result<(), PoaError> {
        self.change(ManagerState::Holding, wait)
    }

    /// Turns requests away from now on, held ones too, with `TRANSIENT`: clients may try again.
    ///
    /// # Errors
    /// As for [`hold_requests`](Self::hold_requests).
    pub fn discard_requests(&self, wait: Option<Duration>) -> Result<(), PoaError> {
        self.change(ManagerState::Discarding, wait)
    }

    /// Turns requests away for good, with `OBJ_ADAPTER`. With `etherealize`, the objects of adapters that have a
    /// servant activator are etherealized when their running requests have ended.
    ///
    /// # Errors
    /// As for [`hold_requests`](Self::hold_requests).
    pub fn deactivate(&self, etherealize: bool, wait: Option<Duration>) -> Result<(), PoaError> {
        self.check_wait(wait)?;
        self.change(ManagerState::Inactive, None)?;
        if etherealize {
            for adapter in self.0.adapters() {
                adapter.clear_if_activated();
            }
        }
        self.wait(ManagerState::Inactive, wait)
    }

    fn check_wait(&self, wait: Option<Duration>) -> Result<(), PoaError> {
        if wait.is_some() && Upcall::is_in(self.0.run) { Err(PoaError::WouldDeadlock) } else { Ok(()) }
    }

    fn change(&self, to: ManagerState, wait: Option<Duration>) -> Result<(), PoaError> {
        self.check_wait(wait)?;
        let released = self.0.set(to).ok_or(PoaError::AdapterInactive)?;
        release(released, to);
        self.tell(to);
        self.wait(to, wait)
    }

    /// Tells interceptors.
    fn tell(&self, state: ManagerState) {
        let orb = self.0.adapters().first().and_then(|adapter| adapter.shared.orb());
        for interceptor in orb.iter().filter_map(Orb::interceptors).flat_map(|all| &all.ior) {
            interceptor.adapter_manager_state_changed(self, state);
        }
    }

    /// Until no request is running, or the state is another again (CORBA 3.4 part 1 §11.3.2.2).
    fn wait(&self, state: ManagerState, wait: Option<Duration>) -> Result<(), PoaError> {
        let Some(deadline) = wait.map(|wait| Instant::now() + wait) else { return Ok(()) };
        let has_ended = |adapter: &Adapter| self.state() != state || adapter.traffic.is_idle();
        let ended = self
            .0
            .adapters()
            .iter()
            .all(|adapter| adapter.traffic.wait_until(deadline, || has_ended(adapter)));
        if ended { Ok(()) } else { Err(PoaError::StillRunning) }
    }
}

fn release(held: VecDeque<ServerRequest>, to: ManagerState) {
    for request in held {
        match Manager::refusal(to) {
            Some(exception) => request.system_exception(exception),
            None => {
                let orb = request.call().orb().clone();
                orb.server().spawn(Box::new(move || Adapters::serve(request)));
            }
        }
    }
}

impl PartialEq for PoaManager {
    fn eq(&self, other: &PoaManager) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for PoaManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoaManager").field("state", &self.state()).finish_non_exhaustive()
    }
}
