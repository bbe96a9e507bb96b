//! Service contexts: what travels beside the arguments. CORBA 3.4 part 2, §7.7.
//!
//! zorb acts on [`ContextId::CODE_SETS`](crate::ContextId::CODE_SETS) (see [`code_sets`](crate::code_sets)), where it was told to on
//! [`ContextId::BI_DIR_IIOP`](crate::ContextId::BI_DIR_IIOP) ([`decode_listen_points`](crate::decode_listen_points)), and on the time in
//! [`ContextId::INVOCATION_POLICIES`](crate::ContextId::INVOCATION_POLICIES) (see [`request_end`](crate::request_end)); all others, known or not, pass through as the octets that came.

use alloc::sync::Arc;
use alloc::vec::Vec;

use bytes::Bytes;

use crate::ContextId;

/// One service context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceContext {
    /// What the data mean.
    pub id: ContextId,
    /// As a rule an encapsulation. Large received data keep the memory that they came in.
    pub data: Bytes,
}

/// The service contexts of a message, in the order of the wire. An empty list, which nearly every message has,
/// allocates nothing and takes one word.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServiceContexts(Option<Arc<Vec<ServiceContext>>>);

impl ServiceContexts {
    /// No contexts.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Appends a context.
    pub fn push(&mut self, id: ContextId, data: Bytes) {
        Arc::make_mut(self.0.get_or_insert_default()).push(ServiceContext { id, data });
    }

    /// The data of the first context with this id.
    #[must_use]
    pub fn find(&self, id: ContextId) -> Option<&Bytes> {
        self.iter().find(|context| context.id == id).map(|context| &context.data)
    }
}

impl core::ops::Deref for ServiceContexts {
    type Target = [ServiceContext];

    #[inline]
    fn deref(&self) -> &[ServiceContext] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl core::fmt::Debug for ServiceContexts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl FromIterator<ServiceContext> for ServiceContexts {
    fn from_iter<I: IntoIterator<Item = ServiceContext>>(contexts: I) -> Self {
        let contexts: Vec<_> = contexts.into_iter().collect();
        Self((!contexts.is_empty()).then(|| Arc::new(contexts)))
    }
}

impl IntoIterator for ServiceContexts {
    type Item = ServiceContext;
    type IntoIter = alloc::vec::IntoIter<ServiceContext>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map_or_else(Vec::new, Arc::unwrap_or_clone).into_iter()
    }
}

impl<'a> IntoIterator for &'a ServiceContexts {
    type Item = &'a ServiceContext;
    type IntoIter = core::slice::Iter<'a, ServiceContext>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
