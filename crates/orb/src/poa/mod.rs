//! The portable object adapter (CORBA 3.4 part 1 §11): objects, their ids and their servants.
//!
//! ```text
//! object key ─→ Adapters ─→ Adapter ─→ Manager ─→ (turn) ─→ ActiveMap ─→ servant
//!               by index     policies   holds,              by slot       or from a servant manager,
//!               or path                 discards            or hash       or the default servant
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | `handle`, `objects` | [`Poa`], the adapter as programs hold it |
//! | `policies`, `error`, `id`, `servant_manager` | what programs give and get |
//! | `manager`, `gate` | [`PoaManager`] and its states |
//! | `key` | what object keys look like |
//! | `adapters` | all adapters of an ORB, by key |
//! | `adapter` | one adapter, from its making to its end |
//! | `active_map`, `slots` | objects by id, in constant time |
//! | `serve`, `find`, `active` | a request on its way to a servant; the guard that counts it |
//! | `remembered`, `near` | objects found again, by connections and by threads of this process |
//! | `thread_model`, `main_thread`, `waits`, `traffic`, `serial` | who waits for whom |

mod active;
mod active_map;
mod adapter;
mod adapters;
mod error;
mod find;
mod gate;
mod handle;
mod id;
mod key;
mod main_thread;
mod manager;
pub(crate) mod near;
mod objects;
mod policies;
mod remembered;
mod serial;
mod servant_manager;
mod serve;
mod slots;
mod thread_model;
mod traffic;
mod waits;

#[cfg(test)]
mod tests;

pub use crate::skeleton::Servant;
pub(crate) use active::Active;
pub(crate) use active_map::ActiveObject;
pub(crate) use adapters::{Adapters, Located};
pub use error::PoaError;
pub use gate::ManagerState;
pub use handle::Poa;
pub use id::ObjectId;
pub use manager::{HELD_LIMIT, PoaManager};
pub use policies::{
    IdAssignment, IdUniqueness, ImplicitActivation, InvalidPolicy, Lifespan, PoaPolicies, RequestProcessing,
    ServantRetention, ThreadPolicy,
};
pub(crate) use remembered::Remembered;
pub use servant_manager::{
    AdapterActivator, Cookie, Declined, Etherealized, ServantActivator, ServantLocator, servant,
};
pub(crate) use traffic::Upcall;
