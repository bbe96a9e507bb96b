//! Values of valuetypes: what the specification has in the interfaces `DynValueCommon`, `DynValue` and `DynValueBox`.
//!
//! A value that was received stays whole, with all that it shares and leads back to, until a component of it is asked for. Taken apart it is
//! a tree: what several members shared each has for itself, and what leads back to a value that holds it is an error.

use super::create::{Budget, create};
use super::read::read;
use super::{Content, DynAny, DynAnyError, Result};
use crate::type_code::{Edge, Member, Node, unaliased};
use crate::valuetype::VALUE_TAG;
use crate::valuetype::read::{CHUNKED, CODEBASE, LAST_VALUE_TAG, end, enter, read_ids, read_tag, read_text};
use crate::{Any, TCKind, TypeCode};
use alloc::vec;
use alloc::vec::Vec;

/// The types whose members a value has, the furthest base first. Of a struct or exception itself.
pub(super) fn lineage(ty: &TypeCode) -> Vec<&Node> {
    let nodes = ty.nodes();
    let mut all: Vec<&Node> = ty.resolved().into_iter().collect();
    while let Some(node) = all.last().filter(|node| is_state(node.kind))
        && let Edge::Node(index) = unaliased(nodes, node.content)
        && let Some(base) = nodes.get(index as usize).filter(|base| is_state(base.kind))
        // Derived from itself is none.
        && all.len() <= nodes.len()
    {
        all.push(base);
    }
    all.reverse();
    all
}

/// The members of a struct, exception or value, in the order in which they are sent.
pub(super) fn members(ty: &TypeCode) -> impl Iterator<Item = &Member> {
    lineage(ty).into_iter().flat_map(|node| &node.members)
}

fn is_state(kind: TCKind) -> bool {
    matches!(kind, TCKind::Value | TCKind::Event)
}

/// Whether it is the kind of a value or of a boxed one.
pub(super) fn is_value(kind: TCKind) -> bool {
    is_state(kind) || kind == TCKind::ValueBox
}

/// The types of the components, if the TypeCode tells them: it does not of a custom or abstract value.
pub(super) fn parts(ty: &TypeCode) -> Result<Vec<TypeCode>> {
    let Some(node) = ty.resolved() else { return Err(DynAnyError::mismatch(ty, "a value")) };
    match (node.kind, node.number) {
        (TCKind::ValueBox, _) => Ok(vec![ty.part(node.content)]),
        (_, 1 | 2) => {
            let why = "the state of a custom or abstract value is not described";
            Err(DynAnyError::InconsistentTypeCode { of: ty.clone(), why })
        }
        _ => Ok(members(ty).map(|member| ty.part(member.ty)).collect()),
    }
}

fn is_nil(whole: &Any) -> bool {
    matches!(whole.decoder().read_u32(), Ok(0))
}

/// How many components a whole value has.
pub(super) fn count(ty: &TypeCode, whole: &Any) -> usize {
    if is_nil(whole) { 0 } else { parts(ty).map_or(0, |parts| parts.len()) }
}

/// The components of a whole value, each on its own.
pub(super) fn taken_apart(ty: &TypeCode, whole: &Any, depth: u16) -> Result<Vec<DynAny>> {
    let mut from = whole.decoder();
    let tag = match read_tag(&mut from)? {
        0 => return Err(DynAnyError::invalid("the value is null")),
        tag @ VALUE_TAG..=LAST_VALUE_TAG => tag,
        _ => return Err(DynAnyError::invalid("no value begins with its tag")),
    };
    let types = parts(ty)?;
    if tag & CODEBASE != 0 {
        read_text(&mut from)?;
    }
    let ids = read_ids(tag, &mut from)?;
    let id = ty.resolved().map_or(&[][..], |node| node.id.as_bytes());
    if ids.first().is_some_and(|first| **first != *id) {
        return Err(DynAnyError::invalid(
            "the value is of a derived type, to which its TypeCode would cut it down",
        ));
    }
    let chunked = tag & CHUNKED != 0;
    let level = enter(chunked, &mut from);
    let mut budget = Budget::new();
    let mut components = Vec::with_capacity(types.len());
    for part in &types {
        components.push(read(part, &mut from, depth.saturating_add(1), &mut budget)?);
    }
    if chunked {
        end(level, &mut from)?;
    }
    Ok(components)
}

/// Values and boxed values.
impl DynAny {
    /// Whether there is no value.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no value or boxed value.
    pub fn is_null(&self) -> Result<bool> {
        match &self.content {
            _ if !is_value(self.kind()) => Err(self.without("a value")),
            Content::Whole(whole) => Ok(is_nil(whole)),
            _ => Ok(false),
        }
    }

    /// Makes it null, without components.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no value or boxed value.
    pub fn set_to_null(&mut self) -> Result<()> {
        if !self.is_null()? {
            *self = create(&self.ty, self.depth, &mut Budget::new())?;
        }
        Ok(())
    }

    /// Makes a new value of the components that [`new`](Self::new) makes, if it is null. What a box holds is its one component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no value or boxed value; [`DynAnyError::InconsistentTypeCode`] for a custom or abstract
    /// one, whose state its TypeCode does not tell.
    pub fn set_to_value(&mut self) -> Result<()> {
        if !self.is_null()? {
            return Ok(());
        }
        let (mut budget, below) = (Budget::new(), self.depth.saturating_add(1));
        let types = parts(&self.ty)?;
        let components = types.iter().map(|ty| create(ty, below, &mut budget)).collect::<Result<_>>()?;
        self.content = Content::Parts(components);
        self.rewind();
        Ok(())
    }
}
