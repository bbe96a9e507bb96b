//! [`Value`]: values of valuetypes, which may be null, shared, and refer back to each other (CORBA 3.4 part 2, §9.3.4).
//!
//! A value is counted. What a message shares is one value here, and what leads back to a value that is still being read, as
//! from a child to its parent, is a *weak* link: a graph of values never keeps itself alive, and is freed with the last
//! handle on its root.
//!
//! ```text
//! 7f ff ff 0e │ codebase? │ repository ids │ chunk: length, octets … │ ff ff ff ff     the last two if chunked
//! 00 00 00 00                                                                          null
//! ff ff ff ff │ offset                                                                 the value that began there
//! ```
//!
//! Nesting is bounded: by [`Limits::nesting`](crate::Limits) when read, by 256 when written. An indirection leads to a value that
//! began before it in the same message or encapsulation, and that is of the type wanted; all others are errors.

mod apart;
mod base;
mod custom;
mod info;
pub(crate) mod read;
pub(crate) mod write;

pub use apart::{BegunValue, ValuePiece, ValueStart, WrittenValue};
pub use base::{ValueBase, read_value, write_value};
pub use custom::CustomMarshal;
pub use info::ValueInfo;

pub(crate) use info::VALUE_BASE;
pub(crate) use read::{Progress, Seen};
pub(crate) use write::{VALUE_TAG, Written};

use crate::{DecodeError, Decoder, Described, Describer, EncodeError, Encoder, TypeRef};
use alloc::boxed::Box;
use alloc::sync::{Arc, Weak};
use core::any::Any;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::ops::Deref;

/// The state of a valuetype: what generated code implements.
pub trait ValueType: Any + Send + Sync + Sized {
    /// The type, and what it is related to.
    fn info() -> &'static ValueInfo;

    /// The part of the state that is the base's, if it has one.
    fn base(&self) -> Option<&dyn State> {
        None
    }

    /// Of a type without state, such as an abstract valuetype: what [`Value::get`] gives of each value that is of it.
    fn stateless() -> Option<&'static Self> {
        None
    }

    /// Writes the state, the base's first.
    ///
    /// # Errors
    /// Those of the members.
    fn encode_state<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError>;

    /// Reads the state, the base's first.
    ///
    /// # Errors
    /// Those of the members.
    fn decode_state(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;
}

/// A state of some type.
#[doc(hidden)]
pub trait State: Any + Send + Sync {
    fn base_state(&self) -> Option<&dyn State>;
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError>;
}

impl<T: ValueType> State for T {
    fn base_state(&self) -> Option<&dyn State> {
        self.base()
    }

    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        self.encode_state(to)
    }
}

/// One value.
pub(crate) struct Node {
    pub(crate) info: &'static ValueInfo,
    /// How many values lie below each other from here, as far as they were read together: so deep goes freeing them.
    height: u32,
    /// None for a value that could not be read: nobody has a handle on it then.
    state: Option<Box<dyn State>>,
    /// Where its sender says that code for it can be had.
    codebase: Option<Arc<[u8]>>,
}

impl Node {
    fn find<T: ValueType>(&self) -> Option<&T> {
        let mut state: &dyn State = self.state.as_deref()?;
        loop {
            let any: &dyn Any = state;
            if let Some(found) = any.downcast_ref() {
                return Some(found);
            }
            match state.base_state() {
                Some(base) => state = base,
                None => return T::stateless().filter(|_| self.info.is_a(T::info())),
            }
        }
    }
}

#[derive(Clone)]
enum Link {
    Strong(Arc<Node>),
    Weak(Weak<Node>),
}

impl Link {
    fn upgrade(&self) -> Option<Arc<Node>> {
        match self {
            Self::Strong(node) => Some(node.clone()),
            Self::Weak(node) => node.upgrade(),
        }
    }

    fn address(&self) -> *const Node {
        match self {
            Self::Strong(node) => Arc::as_ptr(node),
            Self::Weak(node) => node.as_ptr(),
        }
    }
}

/// A value whose type is valuetype `T` or derived from it. A clone is the same value, as `==` and the hash say.
///
/// In IDL a value may be null: where a valuetype stands there, `Option<Value<T>>` does in Rust.
///
/// Its state cannot be changed, and is reached through [`get`](Self::get). A link to a value that was still being read when the link
/// was, such as from a child to its parent, is weak: `get` gives nothing when all handles on that value have gone.
pub struct Value<T> {
    link: Link,
    of: PhantomData<fn() -> T>,
}

impl<T: ValueType> Value<T> {
    /// A value with this state.
    pub fn new(state: T) -> Self {
        let node = Node { info: T::info(), height: 1, state: Some(Box::new(state)), codebase: None };
        Self::of(Link::Strong(Arc::new(node)))
    }

    /// A value in whose state stand links to itself: `make` is given one, which is weak, and gives nothing until `make` has
    /// returned.
    pub fn new_cyclic(make: impl FnOnce(&Self) -> T) -> Self {
        let node = Arc::new_cyclic(|weak| {
            let state = make(&Self::of(Link::Weak(weak.clone())));
            Node { info: T::info(), height: 1, state: Some(Box::new(state)), codebase: None }
        });
        Self::of(Link::Strong(node))
    }

    fn of(link: Link) -> Self {
        Self { link, of: PhantomData }
    }

    /// The value's state, kept while the handle is. `None` if the link is weak and the value is gone.
    pub fn get(&self) -> Option<Held<T>> {
        let node = self.link.upgrade()?;
        node.find::<T>()?;
        Some(Held { node, of: PhantomData })
    }

    /// A weak link to the value.
    pub fn downgrade(&self) -> Self {
        Self::of(Link::Weak(match &self.link {
            Link::Strong(node) => Arc::downgrade(node),
            Link::Weak(node) => node.clone(),
        }))
    }

    /// Whether the link does not keep its value.
    pub fn is_weak(&self) -> bool {
        matches!(self.link, Link::Weak(_))
    }

    /// The same value as one of type `U`: one that `T` is derived from, or one derived from `T` if the value is of that. `None` if
    /// it is not, or gone. A value that is still being made ([`new_cyclic`](Self::new_cyclic)) is one of those that `T` is derived from.
    pub fn cast<U: ValueType>(&self) -> Option<Value<U>> {
        match self.link.upgrade() {
            Some(node) => _ = node.find::<U>()?,
            // Gone or not there yet: a link that gives nothing now is the same as a link to a base.
            None if T::info().is_made_as(U::info()) => {}
            None => return None,
        }
        Some(Value::of(self.link.clone()))
    }
}

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Self { link: self.link.clone(), of: PhantomData }
    }
}

impl<T> PartialEq for Value<T> {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.link.address(), other.link.address())
    }
}

impl<T> Eq for Value<T> {}

impl<T> Hash for Value<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.link.address().hash(state);
    }
}

/// Its repository id and address, not its state, which may lead back to it.
impl<T> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.link.upgrade().map_or("gone", |node| node.info.id());
        write!(f, "Value({id} at {:p})", self.link.address())
    }
}

impl<T: Described> Described for Option<Value<T>> {
    fn describe(to: &mut Describer) -> TypeRef {
        T::describe(to)
    }
}

/// The state of a [`Value`], which is kept while this is.
pub struct Held<T> {
    node: Arc<Node>,
    of: PhantomData<fn() -> T>,
}

impl<T: ValueType> Held<T> {
    /// What the value is, which may be derived from `T`.
    pub fn info(&self) -> &'static ValueInfo {
        self.node.info
    }

    /// The URLs, with spaces between them, at which its sender says that code for its type can be had (the codebase,
    /// §9.3.4.1). Nothing is ever fetched from there; sent on, the value keeps them.
    pub fn codebase(&self) -> Option<&str> {
        core::str::from_utf8(self.node.codebase.as_deref()?).ok()
    }

    /// The value; a link that keeps it.
    pub fn value(&self) -> Value<T> {
        Value::of(Link::Strong(self.node.clone()))
    }
}

impl<T: ValueType> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.node.find().expect("it was there when this was made, and states do not change")
    }
}

impl<T: ValueType + fmt::Debug> fmt::Debug for Held<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}
