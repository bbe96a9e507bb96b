//! When two TypeCodes are equal, and when they are equivalent (CORBA 3.4 part 1, §8.11.1).
//!
//! Both walk pairs of nodes from a list and visit no pair twice: recursive types end, and depth costs no stack.

use super::{Edge, TCKind, TypeCode, unaliased};
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec;

impl TypeCode {
    /// CORBA's `equal`: whether both are the same in everything, names and aliases included.
    pub fn equal(&self, other: &Self) -> bool {
        self.same(other, false)
    }

    /// CORBA's `equivalent`: whether values of one are values of the other. Aliases are looked through; two types with
    /// repository ids are equivalent if the ids are the same; names do not count.
    pub fn equivalent(&self, other: &Self) -> bool {
        self.same(other, true)
    }

    fn shares(&self, other: &Self) -> bool {
        match (&self.graph, &other.graph) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    fn same(&self, other: &Self, loosely: bool) -> bool {
        if self.at == other.at && self.shares(other) {
            return true;
        }
        let (ours, theirs) = (self.nodes(), other.nodes());
        if let (true, Some(a), Some(b)) = (loosely, self.node(), other.node())
            && a.kind == b.kind
            && a.kind != TCKind::Alias
            && !a.id.is_empty()
            && !b.id.is_empty()
        {
            return a.id == b.id;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![(self.edge(), other.edge())];
        while let Some((mut a, mut b)) = open.pop() {
            if loosely {
                (a, b) = (unaliased(ours, a), unaliased(theirs, b));
            }
            let (at, beside) = match (a, b) {
                (Edge::Simple(..), _) | (_, Edge::Simple(..)) if a == b => continue,
                (Edge::Node(at), Edge::Node(beside)) => (at, beside),
                _ => return false,
            };
            if !seen.insert((at, beside)) {
                continue;
            }
            let (Some(a), Some(b)) = (ours.get(at as usize), theirs.get(beside as usize)) else {
                return false;
            };
            if a.kind != b.kind {
                return false;
            }
            if loosely && !a.id.is_empty() && !b.id.is_empty() {
                if a.id != b.id {
                    return false;
                }
                continue;
            }
            if a.number != b.number || a.members.len() != b.members.len() {
                return false;
            }
            if !loosely && (a.id != b.id || a.name != b.name) {
                return false;
            }
            let numbered = matches!(a.kind, TCKind::Union | TCKind::Value | TCKind::Event);
            for (one, other) in a.members.iter().zip(&b.members) {
                if numbered && one.number != other.number || !loosely && one.name != other.name {
                    return false;
                }
                open.push((one.ty, other.ty));
            }
            open.push((a.content, b.content));
        }
        true
    }
}
