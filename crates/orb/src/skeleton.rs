//! What generated code gives the ORB to work with: interfaces, operations, skeletons.
//!
//! A reference type (`Account`) implements [`Interface`]; an implementation wrapped by the runtime's skeleton implements
//! [`Skeleton`].

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use zorb_giop::operation_number;

use crate::exception::SystemException;
use crate::object::ObjectRef;
use crate::rt::Arriving;
use crate::server::request::ServerRequest;

/// An interface's identity: its repository id and those of all it inherits from.
#[derive(Debug)]
pub struct InterfaceInfo {
    /// Such as `IDL:bank/Account:1.0`.
    pub id: &'static str,
    /// All interfaces inherited from, directly or not, without `CORBA::Object`.
    pub ancestors: &'static [&'static str],
}

/// The id that every object answers to.
pub const OBJECT_ID: &str = "IDL:omg.org/CORBA/Object:1.0";

impl InterfaceInfo {
    /// Whether an object of this interface answers *yes* to `_is_a(id)`.
    pub fn is_a(&self, id: &str) -> bool {
        self.id == id || self.ancestors.contains(&id) || id == OBJECT_ID
    }
}

/// A generated reference type: an [`ObjectRef`] that is known to be of one IDL interface. Each is `Send` and `Sync`; the
/// trait does not ask for it, so that the compiler need not look through the whole ORB at every use.
pub trait Interface: Clone + Sized + 'static {
    /// The interface.
    const INFO: &'static InterfaceInfo;

    /// Takes the reference for one of this interface, unchecked.
    fn from_object(object: ObjectRef) -> Self;
    /// The reference without its type.
    fn as_object(&self) -> &ObjectRef;

    /// The reference as this interface if the object says that it has it (`_narrow`).
    ///
    /// Asks the object by `_is_a` only where the reference's own type id does not tell.
    fn narrow(object: &ObjectRef) -> Result<Option<Self>, SystemException> {
        Ok(object.is_a(Self::INFO.id)?.then(|| Self::from_object(object.clone())))
    }
}

/// One operation as the stub names it.
#[derive(Debug)]
pub struct Operation {
    /// The name on the wire: attributes are `_get_x` and `_set_x`.
    pub name: &'static str,
    /// [`operation_number`] of the name: what some messaging protocols send in its place.
    pub number: u64,
    /// What its arguments are called, for errors: those that go to the object, in order.
    pub parameters: &'static [&'static str],
}

impl Operation {
    /// An operation whose arguments are not named in errors.
    pub const fn new(name: &'static str) -> Self {
        Operation { name, number: operation_number(name.as_bytes()), parameters: &[] }
    }
}

/// An implementation behind the skeleton of its interface, or a dynamic one.
pub trait Skeleton: 'static {
    /// The most derived interface that it serves.
    fn interface(&self) -> &'static InterfaceInfo;

    /// The repository id of the most derived interface: that of [`interface`](Self::interface), unless it is known at run
    /// time only.
    fn repository_id(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.interface().id)
    }

    /// Whether its objects have the interface `id`, by [`interface`](Self::interface) unless that is known at run time only.
    fn is_a(&self, id: &str) -> bool {
        self.interface().is_a(id)
    }

    /// Finds the operation, reads its arguments, calls the method and answers through `request`, now or later.
    fn dispatch(&self, request: ServerRequest);

    /// Says where the bulk argument goes of a request that begins to come, or whether one that has come begins with structs; nothing is said by default, and it is
    /// received as ever. Asked by the thread that receives.
    fn bulk(&self, arriving: &mut Arriving<'_>) {
        let _ = arriving;
    }

    /// Whether the operations that every object has (`_is_a`, `_non_existent` and the like) come to
    /// [`dispatch`](Self::dispatch) too, as they do to who passes requests on. Otherwise they are answered by
    /// [`interface`](Self::interface).
    fn serves_implicit_operations(&self) -> bool {
        false
    }

    /// Tells implementations apart: two skeletons of one implementation give the same number. Those of generated interfaces
    /// give the implementation's address; an object adapter with unique ids goes by it.
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>().addr()
    }

    /// For collocated calls: if `slot` is an `Option<Arc<dyn XServant>>` of an interface that it serves, fills it.
    fn offer(&self, slot: &mut dyn Any) {
        let _ = slot;
    }
}

/// A servant as the object adapter holds it: any thread may call it.
pub type Servant = Arc<dyn Skeleton + Send + Sync>;

/// Turns a user's implementation into a skeleton of interface `I`: `Arc<S>` of every `S: IServant`.
pub trait IntoServant<I: Interface> {
    /// Wraps it.
    fn into_servant(self) -> Servant;
}
