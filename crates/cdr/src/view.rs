//! [`View`]: octets of a received message that a value keeps; and [`Shared`], octets of a message that a value shares with what holds them.
//!
//! A view is the memory's count and a count of views, and so costs no memory of its own: every large argument is one. [`Bytes`] take as much for
//! memory that is not theirs as a small message does, so that one is made into them only where somebody asks for `Bytes`.

use crate::{KeptMemory, Octets};
use alloc::sync::Arc;
use bytes::Bytes;
use core::ops::Deref;

/// Octets that are kept longer than their message: their memory is counted as long as they are there.
pub(crate) struct View {
    octets: Octets,
    /// What counts it; `None`: nobody does.
    kept: Option<Arc<KeptMemory>>,
}

impl View {
    /// `None`: no more may be kept.
    pub(crate) fn begin(octets: Octets, kept: Option<&Arc<KeptMemory>>) -> Option<View> {
        let may_be_kept = kept.is_none_or(|kept| octets.begin_view(kept));
        may_be_kept.then(|| View { octets, kept: kept.cloned() })
    }
}

impl Clone for View {
    fn clone(&self) -> Self {
        if let Some(kept) = &self.kept {
            // There is one, so the memory is counted, and this is one more.
            let is_counted = self.octets.begin_view(kept);
            debug_assert!(is_counted);
        }
        Self { octets: self.octets.clone(), kept: self.kept.clone() }
    }
}

impl Drop for View {
    #[inline]
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            self.octets.end_view(kept);
        }
    }
}

impl AsRef<[u8]> for View {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self.octets.shown()
    }
}

impl From<View> for Bytes {
    fn from(view: View) -> Self {
        Bytes::from_owner(view)
    }
}

/// Octets of a message, with what holds them.
pub(crate) enum Shared {
    /// In a connection's memory.
    Received(View),
    /// In memory of any other kind.
    Lent(Bytes),
}

impl Deref for Shared {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Shared::Received(view) => view.as_ref(),
            Shared::Lent(octets) => octets,
        }
    }
}

impl From<Shared> for Bytes {
    fn from(shared: Shared) -> Self {
        match shared {
            Shared::Received(view) => view.into(),
            Shared::Lent(octets) => octets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AtBound, VIEW_FROM};
    use alloc::vec;

    #[test]
    fn each_clone_of_a_view_keeps_its_memory_counted() {
        let kept = Arc::new(KeptMemory::new(2 * VIEW_FROM, AtBound::Refuse));
        let memory = Octets::from(vec![7; 2 * VIEW_FROM]);
        let octets = memory.slice(VIEW_FROM..2 * VIEW_FROM);
        let first = View::begin(octets, Some(&kept)).unwrap();
        let second = first.clone();
        let bytes = Bytes::from(Shared::Received(second));
        drop(first);
        assert_eq!(kept.held(), 2 * VIEW_FROM);
        assert_eq!(bytes.as_ptr(), memory[VIEW_FROM..].as_ptr(), "nothing was copied");
        let other = Octets::from(vec![7; VIEW_FROM]);
        assert!(View::begin(other, Some(&kept)).is_none(), "no more may be kept");
        drop(bytes);
        assert_eq!(kept.held(), 0);
    }
}
