//! An in-line bridge between protocol domains (CORBA 3.4 part 2 §6.5): TCP outside and shared memory or Unix sockets inside, one
//! network and another, GIOP versions.
//!
//! ```text
//! client ── outside ──► adapter "bridge": an object for each target ── inside ──► target
//!        ◄─────────────  the reply, its body as it came             ◄────────────
//! ```
//!
//! Arguments and results are not decoded: a body leaves in the byte order, with the alignment and in the memory in which it
//! was received ([`zorb_orb::object::undecoded`]). Exceptions pass as they are. Code sets are agreed between client and
//! target: the bridge publishes the target's, and announces to the target what the client has announced. A client that gives
//! a call up, or is gone, has the bridge give it up too. Where the target sends a caller elsewhere (LOCATION_FORWARD), the
//! caller is sent to an object of the bridge that leads there.
//!
//! ```
//! use zorb_bridge::{Bridge, Settings};
//! use zorb_orb::Orb;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let outside = Orb::builder().listen("tcp:127.0.0.1:0").build();
//! let inside = Orb::builder().prefer(["shm", "unix", "tcp"]).build();
//! let bridge = Bridge::between(&outside, &inside, Settings::default())?;
//! let target = inside.string_to_object("corbaloc:iiop:1.2@localhost:2809/NameService")?.ok_or("nil")?;
//! println!("{}", bridge.export(&target)?);
//! # Ok(()) }
//! ```
//!
//! # What it does not do
//!
//! *It is no open relay.* Only objects that were [exported](Bridge::export), and those that such objects have sent callers to,
//! are reached through it. Their number is limited ([`Settings::most_objects`]).
//!
//! *References in arguments and results* pass as they are: without the operation's types they are not seen for what they are.
//! Who receives one has to be able to reach its object directly. [`References::Refuse`] turns away what seems to hold
//! one.
//!
//! *Wide text* has another form in each GIOP version. The bridge publishes the target's version, so that clients use no later
//! one, and requests leave in the version that they came in; only a client that uses a later version than the reference
//! names has its requests sent on in the target's.
//!
//! *Alignment.* Where versions differ, so may the phase of a body to its message, which the bridge keeps by filling up the
//! head. A body that GIOP 1.1 has cut into fragments goes on only in 1.1, in the same fragments; to a target of another version
//! it ends in `BAD_PARAM`.
//!
//! *Deadlines* do not travel in GIOP: each call is given up after the inside ORB's `call_timeout`.
//!
//! Dependencies: `zorb-orb` carries the calls; `zorb-giop` and `zorb-cdr` for what messages and references consist of.
#![forbid(unsafe_code)]

mod errand;
mod gate;
mod reference;
mod scan;

use std::sync::Arc;

use zorb_orb::poa::PoaError;
use zorb_orb::{ObjectRef, Orb, SystemException};

use gate::Gate;

/// What a bridge is to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Objects that can be reached through the bridge, 65,536 unless chosen otherwise: each takes about a kilobyte. A target
    /// that sends callers to more ends their calls in `IMP_LIMIT`.
    pub most_objects: usize,
    /// What becomes of references in arguments and results.
    pub references: References,
    /// The object adapter's name, part of every key: `bridge`. Two bridges of one ORB need two.
    pub adapter: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { most_objects: 65_536, references: References::default(), adapter: "bridge".into() }
    }
}

/// What becomes of object references in arguments, results and user exceptions, whose types the bridge does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum References {
    /// They pass as they are, and lead to where they lead.
    #[default]
    Pass,
    /// A message in which something looks like a reference is refused: `NO_PERMISSION`. What is looked for is a repository
    /// id followed by profiles, or an IIOP profile behind none, in either byte order and at every place where one could stand.
    /// Nothing of the kind gets through, and an octet sequence that contains one does not either. Every body is read for it.
    Refuse,
}

/// A bridge. It serves as long as it, or a clone, lives.
#[derive(Clone)]
pub struct Bridge(Arc<Gate>);

impl Bridge {
    /// A bridge whose objects `outside` serves, and whose targets `inside` calls; both may be one ORB. Nothing can be reached
    /// through it yet.
    ///
    /// # Errors
    /// `outside` was shut down, or has an adapter of this name.
    pub fn between(outside: &Orb, inside: &Orb, settings: Settings) -> Result<Bridge, SystemException> {
        Ok(Bridge(Gate::new(outside, inside, settings)?))
    }

    /// Has `target` reached through the bridge, and gives the reference to be used outside. The same target has the same
    /// reference, also in a later process that listens at the same endpoints. A reference of the bridge's own is given back.
    ///
    /// # Errors
    /// `IMP_LIMIT`: there are as many as may be. `INITIALIZE`: the outside ORB cannot listen.
    pub fn export(&self, target: &ObjectRef) -> Result<ObjectRef, SystemException> {
        self.0.export(target.ior())
    }

    /// How many objects can be reached through it.
    pub fn objects(&self) -> usize {
        self.0.objects()
    }
}

/// What an adapter says that it cannot do, as CORBA's exceptions.
fn of_adapter(error: PoaError) -> SystemException {
    match error {
        PoaError::System(exception) => exception,
        error => SystemException::ObjAdapter(format!("the bridge's adapter: {error}")),
    }
}
