//! What the cases of `beyond.idl` have in common: the server's parts, and the client's own objects.

use zorb::{Interface, ObjectRef, Orb, SystemException};

use crate::beyond::beyond::{NamedObject, Traced};
use crate::every::interop::Every;
use crate::options::Options;
use crate::report::{Outcome, Trouble, fail};
use crate::servants::beyond::Parts;

/// Both sides of the cases.
pub(super) struct Both<'a> {
    pub(super) orb: &'a Orb,
    pub(super) every: &'a Every,
    own: Parts,
}

impl<'a> Both<'a> {
    pub(super) fn new(orb: &'a Orb, every: &'a Every, options: &Options) -> Result<Self, SystemException> {
        Ok(Both { orb, every, own: Parts::new(orb, options.orb())? })
    }

    /// The ORB whose requests interceptors see.
    pub(super) fn traced(&self) -> &Orb {
        self.own.traced()
    }

    /// The server's object of that interface, without a question to it.
    pub(super) fn part<I: Interface>(&self) -> Result<I, Trouble> {
        self.object(I::INFO.id).map(I::from_object)
    }

    fn object(&self, id: &str) -> Result<ObjectRef, Trouble> {
        let name = id.rsplit(['/', ':']).nth(1).unwrap_or_default();
        let part = self.every.part(name)?;
        part.ok_or_else(|| Trouble::Skip(format!("the server does not have {name}")))
    }

    /// The client's own.
    pub(super) fn own<I: Interface>(&self, name: &str) -> Result<I, Trouble> {
        let own = self.own.part(name);
        own.map(I::from_object).ok_or_else(|| fail(format!("the client does not have {name}")))
    }

    /// The client's own object for anys and abstract interfaces.
    pub(super) fn thing(&self) -> Result<NamedObject, Trouble> {
        self.own("NamedObject")
    }

    /// The server's object that is called through interceptors.
    pub(super) fn traced_part(&self) -> Result<Traced, Trouble> {
        let ior = self.object(Traced::INFO.id)?.to_string();
        let object = self.traced().string_to_object(&ior)?.ok_or_else(|| fail("nil"))?;
        Ok(Traced::from_object(object))
    }

    /// Ends what the cases started.
    pub(super) fn close(self) {
        self.traced().shutdown(true, std::time::Duration::from_secs(5));
    }
}

/// Runs `call`, and fails unless it is refused as MARSHAL.
pub(super) fn is_marshal<T>(what: &str, result: Result<T, SystemException>) -> Outcome {
    super::raises(what, result, |error| error.kind == zorb::Kind::Marshal)
}

/// What `count` threads make of their numbers while this one does something else.
pub(super) fn in_threads<T: Send>(
    count: usize,
    work: impl Fn(usize) -> T + Sync,
    meanwhile: impl FnOnce(),
) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|n| scope.spawn(move || work(n))).collect();
        meanwhile();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}
