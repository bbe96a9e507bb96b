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
//! # References that pass
//!
//! A reference that a target gives out leads nowhere outside, and a client's own nowhere inside. Where the bridge knows the
//! types ([`Settings::interfaces`], from IDL) it puts references through itself in their place, in arguments, results,
//! attributes and user exceptions, in `any`s as well. Which operations carry references is found out once, when the IDL
//! is read; what carries none is not looked at. What stands behind a reference stays as it is and where it was, modulo 8
//! (a last profile of up to seven octets sees to that), so that bulk beside a reference is not copied either.
//!
//! * A reference of the bridge's own that comes back is unwrapped: inside a target is what it is there, and a client gets its own
//!   reference back. Nil stays nil.
//! * A client's own object gets one in an adapter of the inside ORB, which has to listen then ([`Settings::callbacks`]).
//! * An operation is looked up by the interface of the object: what its reference says, or what it was passed as. Where
//!   that is not known, by its name, if all known interfaces that have it agree on what it carries.
//! * Where types are not known ([`Settings::unknown`] says what becomes of these): operations that no IDL defines, and in
//!   others what follows a valuetype or another value that only its receiver can read. References in strings and in octets
//!   are text and octets.
//!
//! A body that its types do not fit ends in `MARSHAL`, which says where.
//!
//! # What it does not do
//!
//! *It is no open relay.* Its objects are a table of limited length ([`Settings::most_objects`] for each direction): what was
//! [exported](Bridge::export), and what passed through it as a reference. Keys made up for the latter can be guessed by nobody,
//! and say nothing; they end with the process, or when the table is full and they are those that were used the longest ago.
//! Callers then meet `OBJECT_NOT_EXIST`. That the table is here and not in the keys, signed, has its price in that, and its
//! good: a reference can be taken back, and no secret has to be kept. Where callbacks may lead is limited too:
//! [`Callbacks::Caller`]. A client can still have targets call any port of its own address, and fill the table of callbacks.
//!
//! *Loops.* Each request carries how many bridges it has passed, in a service context of zorb's own
//! ([`ContextId::ZORB_HOPS`](zorb_giop::ContextId::ZORB_HOPS): an encapsulated `unsigned long`). At [`Settings::most_hops`] it
//! ends in `IMP_LIMIT`.
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
//! Dependencies: `zorb-orb` carries the calls; `zorb-giop` and `zorb-cdr` for what messages and references consist of;
//! `zorb-idl` for the types by which references are found.
#![forbid(unsafe_code)]

mod bridged;
mod cursor;
mod errand;
mod gate;
mod hops;
mod interfaces;
mod passage;
mod reference;
mod rewrite;
mod scan;
mod shape;
#[cfg(test)]
mod tests;
mod typecode;
mod walk;

use std::sync::Arc;

use zorb_orb::poa::PoaError;
use zorb_orb::{ObjectRef, Orb, SystemException};

use gate::Gate;
pub use interfaces::Interfaces;

/// What a bridge is to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Objects that can be reached through the bridge in each direction, 65,536 unless chosen otherwise: each takes some two
    /// kilobytes. When there are more, those that came with a message and were used the longest ago give way; exported ones
    /// never.
    pub most_objects: usize,
    /// The interfaces by which references in messages are found; none unless chosen otherwise.
    pub interfaces: Arc<Interfaces>,
    /// What becomes of references where types are not known.
    pub unknown: Unknown,
    /// Which of their own objects callers may pass.
    pub callbacks: Callbacks,
    /// References in one message. 4,096: a page of any listing has fewer, and each is a place in the table.
    pub most_references: usize,
    /// Bridges that a request may pass, this one included. 8: domains are not nested that deep, and a loop has ended in
    /// milliseconds.
    pub most_hops: u32,
    /// The object adapter's name, part of every key: `bridge`. The inside ORB's, for callbacks, has `.back` behind it. Two
    /// bridges of one ORB need two.
    pub adapter: String,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            most_objects: 65_536,
            interfaces: Arc::default(),
            unknown: Unknown::default(),
            callbacks: Callbacks::default(),
            most_references: 4096,
            most_hops: 8,
            adapter: "bridge".into(),
        }
    }
}

/// What becomes of object references in arguments, results and user exceptions whose types the bridge does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// They pass as they are, and lead to where they lead.
    #[default]
    Pass,
    /// A message in which something looks like a reference is refused: `NO_PERMISSION`. What is looked for is a repository
    /// id followed by profiles, or an IIOP profile behind none, in either byte order and at every place where one could stand.
    /// Nothing of the kind gets through, and an octet sequence that contains one does not either. Every body of unknown
    /// types is read for it.
    Refuse,
}

/// Which objects outside can be reached from inside, once a reference to them has been passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Callbacks {
    /// None: a message that holds a reference which does not lead through the bridge already ends in `NO_PERMISSION`.
    #[default]
    Refuse,
    /// Those at the address that the message comes from, by TCP, at any port. The reference must name it as an address; all
    /// else that it names is left out. What a client's object answers with, or forwards callers to, has to be there as well.
    Caller,
    /// Any. A client then can have targets inside call whatever the outside ORB reaches, itself and its host included.
    Any,
}

/// A bridge. It serves as long as it, or a clone, lives.
#[derive(Clone)]
pub struct Bridge(Arc<Gates>);

struct Gates {
    outward: Arc<Gate>,
    /// Unless callbacks are refused.
    inward: Option<Arc<Gate>>,
}

impl Bridge {
    /// A bridge whose objects `outside` serves, and whose targets `inside` calls; both may be one ORB. Nothing can be reached
    /// through it yet.
    ///
    /// # Errors
    /// One of them was shut down, or has an adapter of this name.
    pub fn between(outside: &Orb, inside: &Orb, settings: Settings) -> Result<Bridge, SystemException> {
        let outward = Gate::new(outside, inside, &settings.adapter, Callbacks::Any, settings.clone())?;
        let inward = match settings.callbacks {
            Callbacks::Refuse => None,
            callbacks => {
                let name = format!("{}.back", settings.adapter);
                let inward = Gate::new(inside, outside, &name, callbacks, settings)?;
                inward.join(&outward);
                outward.join(&inward);
                Some(inward)
            }
        };
        Ok(Bridge(Arc::new(Gates { outward, inward })))
    }

    /// Has `target` reached through the bridge, and gives the reference to be used outside. The same target has the same
    /// reference, also in a later process that listens at the same endpoints. A reference of the bridge's own is given back.
    ///
    /// # Errors
    /// `IMP_LIMIT`: there are as many as may be. `INITIALIZE`: the outside ORB cannot listen.
    pub fn export(&self, target: &ObjectRef) -> Result<ObjectRef, SystemException> {
        self.0.outward.export(target.ior())
    }

    /// How many objects inside can be reached through it.
    pub fn objects(&self) -> usize {
        self.0.outward.objects()
    }

    /// How many objects of clients can be reached through it from inside.
    pub fn callbacks(&self) -> usize {
        self.0.inward.as_ref().map_or(0, |inward| inward.objects())
    }
}

/// What an adapter says that it cannot do, as CORBA's exceptions.
fn of_adapter(error: PoaError) -> SystemException {
    match error {
        PoaError::System(exception) => exception,
        error => SystemException::ObjAdapter(format!("the bridge's adapter: {error}")),
    }
}
