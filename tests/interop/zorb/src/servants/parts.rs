//! The small objects: a diamond of inheritance, the partners of callbacks, forwarders, and what some peers lack.

use std::sync::{Mutex, OnceLock, PoisonError};

use zorb::poa::{Cookie, Declined, ObjectId, Poa, ServantLocator};
use zorb::rt::Servant;
use zorb::{Call, Completion, Interface, Minor, SystemException};

use crate::every::interop::*;

/// One object of the diamond. Which interfaces it has is said when it is activated.
pub struct Shape {
    name: &'static str,
    step: i32,
    shared: Mutex<i32>,
}

impl Shape {
    /// An object of that name.
    pub fn new(name: &'static str) -> Self {
        Shape { name, step: 1, shared: Mutex::new(0) }
    }

    /// A base whose operation adds `step`.
    pub fn stepping(step: i32) -> Self {
        Shape { step, ..Shape::new("base") }
    }
}

impl BaseServant for Shape {
    fn name(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.name.into())
    }
    fn base_op(&self, _: &Call, a: i32) -> Result<i32, SystemException> {
        Ok(a + self.step)
    }
}

impl LeftServant for Shape {
    fn left_op(&self, _: &Call, a: i32) -> Result<i32, SystemException> {
        Ok(a + 2)
    }
}

impl RightServant for Shape {
    fn right_op(&self, _: &Call, a: i32) -> Result<i32, SystemException> {
        Ok(a + 3)
    }
    fn shared(&self, _: &Call) -> Result<i32, SystemException> {
        Ok(*self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn set_shared(&self, _: &Call, shared: i32) -> Result<(), SystemException> {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = shared;
        Ok(())
    }
}

impl DiamondServant for Shape {
    fn diamond_op(&self, _: &Call, a: i32) -> Result<i32, SystemException> {
        Ok(a + 4)
    }
}

/// Bounces back until the depth is used up. It has to be told its own reference.
#[derive(Default)]
pub struct Bouncer {
    /// Itself, set once it is active.
    pub me: OnceLock<Peer>,
}

impl PeerServant for Bouncer {
    fn bounce(&self, _: &Call, other: Option<Peer>, depth: i32) -> Result<i32, SystemException> {
        if depth < 1 {
            return Ok(0);
        }
        let other = other.ok_or_else(|| SystemException::BadParam("bounce: nobody to bounce to"))?;
        Ok(1 + other.bounce(self.me.get(), depth - 1)?)
    }
}

/// Remembers what it is told.
#[derive(Default)]
pub struct Ear {
    heard: Mutex<Vec<i32>>,
}

impl Ear {
    /// All it was told so far.
    pub fn heard(&self) -> Vec<i32> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ListenerServant for Ear {
    fn told(&self, _: &Call, n: i32) -> Result<(), SystemException> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(n);
        Ok(())
    }
    fn asked(&self, _: &Call, question: &str) -> Result<String, listener::AskedError> {
        match question {
            "refuse" => Err(Refused { why: "asked to".into(), code: 13 }.into()),
            "system" => Err(SystemException::NoPermission("asked to")
                .minor(Minor(13))
                .completed(Completion::Yes)
                .into()),
            _ => Ok(question.repeat(2)),
        }
    }
}

/// Answers objects "n" with a forward to "n - 1", and "1" with one to `last`.
pub struct Forwarder {
    /// Where all forwards end.
    pub last: Base,
}

impl Forwarder {
    /// The reference that takes so many forwards.
    pub fn reference(poa: &Poa, hops: u32) -> Result<Base, SystemException> {
        Ok(poa.create_reference_with_id::<Base>(hops.to_string().as_bytes())?)
    }
}

impl ServantLocator for Forwarder {
    fn preinvoke(&self, poa: &Poa, id: &ObjectId, _: &str) -> Result<(Servant, Cookie), Declined> {
        let hops: u32 = id
            .as_text()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| SystemException::ObjectNotExist("not a number of hops"))?;
        let next = if hops <= 1 { self.last.clone() } else { Forwarder::reference(poa, hops - 1)? };
        Err(Declined::forward(&next))
    }
}

/// Echoes of decimal numbers.
pub struct Decimals;

/// Echoes of long doubles.
pub struct LongDoubles;

/// Attributes that raise.
#[derive(Default)]
pub struct Guard {
    watched: Mutex<i32>,
}

impl GuardedServant for Guard {
    fn strict(&self, _: &Call) -> Result<f64, guarded::GetStrictError> {
        Err(Empty {}.into())
    }
    fn watched(&self, _: &Call) -> Result<i32, guarded::GetWatchedError> {
        match *self.watched.lock().unwrap_or_else(PoisonError::into_inner) {
            0 => Err(Empty {}.into()),
            watched => Ok(watched),
        }
    }
    fn set_watched(&self, _: &Call, watched: i32) -> Result<(), guarded::SetWatchedError> {
        if watched < 0 {
            return Err(Refused { why: "negative".into(), code: watched }.into());
        }
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = watched;
        Ok(())
    }
}

/// A bouncer that knows itself, active in `poa`.
pub fn bouncer(poa: &Poa) -> Result<Peer, SystemException> {
    let bouncer = std::sync::Arc::new(Bouncer::default());
    let reference = poa.activate::<Peer>(bouncer.clone())?;
    let _ = bouncer.me.set(reference.clone());
    Ok(reference)
}

/// The reference as its base.
pub fn as_base(object: &impl Interface) -> Base {
    Base::from_object(object.as_object().clone())
}
