//! Unions: what the specification has in the interface `DynUnion`.
//!
//! The discriminator is borrowed as every component is, and what it says holds: a member follows when its union is next used.

use super::create::{Budget, create, created};
use super::read::read;
use super::{Content, DynAny, DynAnyError, Result};
use crate::type_code::Node;
use crate::{Char, Decoder, TCKind, TypeCode, WChar};
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

/// The components of a union.
#[derive(Clone)]
pub(super) struct Arms {
    /// The discriminator and the member that it selected when that was last looked at.
    pub(super) parts: Vec<DynAny>,
    /// Which member that is: of those under several labels the first.
    pub(super) active: Option<usize>,
}

/// A member of a union, and its type.
type Arm = (usize, TypeCode);

fn node(ty: &TypeCode) -> Result<&Node> {
    ty.resolved().filter(|node| node.kind == TCKind::Union).ok_or_else(|| not_a_union(ty))
}

fn not_a_union(ty: &TypeCode) -> DynAnyError {
    DynAnyError::mismatch(ty, "a union")
}

/// The index of the default member.
fn default(node: &Node) -> Option<usize> {
    usize::try_from(node.number).ok().filter(|index| *index < node.members.len())
}

/// The member that a label selects.
fn selected(node: &Node, label: i64) -> Option<usize> {
    let default = default(node);
    let mut labelled = node.members.iter().enumerate().filter(|(index, _)| Some(*index) != default);
    labelled.find(|(_, member)| member.number == label).map(|(index, _)| index).or(default)
}

/// The first of those that are one member under several labels.
fn declared(node: &Node, index: usize) -> usize {
    let Some(member) = node.members.get(index) else { return index };
    let same = |it: &crate::type_code::Member| it.name == member.name && it.ty == member.ty;
    match member.name.is_empty() {
        true => index,
        false => node.members.iter().position(same).unwrap_or(index),
    }
}

/// A label that selects no member but the default, if there is one.
fn free_label(ty: &TypeCode, node: &Node) -> Option<i64> {
    let switch = ty.part(node.content);
    let last = match switch.resolved_kind() {
        TCKind::Boolean => 1,
        TCKind::Char | TCKind::Octet => i64::from(u8::MAX),
        TCKind::Enum => switch.resolved().map_or(0, |it| it.members.len() as i64) - 1,
        TCKind::Short => i64::from(i16::MAX),
        _ => i64::from(u16::MAX),
    };
    let default = default(node);
    let mut labels: Vec<i64> = (node.members.iter().enumerate())
        .filter(|(index, _)| Some(*index) != default)
        .map(|(_, member)| member.number)
        .collect();
    labels.sort_unstable();
    (0..=last).find(|label| labels.binary_search(label).is_err())
}

/// The label that a discriminator stands for, widened to 64 bits as TypeCodes have it.
fn label_of(discriminator: &DynAny) -> Option<i64> {
    Some(match discriminator.content {
        Content::Boolean(value) => value.into(),
        Content::Octet(value) => value.into(),
        Content::Char(Char(value)) => value.into(),
        Content::WChar(WChar(value)) => value.into(),
        Content::Short(value) => value.into(),
        Content::UShort(value) => value.into(),
        Content::Long(value) => value.into(),
        Content::ULong(value) | Content::Enumerator(value) => value.into(),
        Content::LongLong(value) => value,
        Content::ULongLong(value) => value as i64,
        _ => return None,
    })
}

/// A discriminator for a label.
fn discriminator_of(ty: &TypeCode, label: i64, depth: u16) -> Result<DynAny> {
    let content = match ty.resolved_kind() {
        TCKind::Boolean => Content::Boolean(label != 0),
        TCKind::Octet => Content::Octet(label as u8),
        TCKind::Char => Content::Char(Char(label as u8)),
        TCKind::WChar => Content::WChar(WChar(label as u16)),
        TCKind::Short => Content::Short(label as i16),
        TCKind::UShort => Content::UShort(label as u16),
        TCKind::Long => Content::Long(label as i32),
        TCKind::ULong => Content::ULong(label as u32),
        TCKind::Enum => Content::Enumerator(label as u32),
        TCKind::LongLong => Content::LongLong(label),
        TCKind::ULongLong => Content::ULongLong(label as u64),
        _ => {
            let why = "a union cannot switch on its discriminator's type";
            return Err(DynAnyError::InconsistentTypeCode { of: ty.clone(), why });
        }
    };
    Ok(DynAny::of(ty.clone(), content, depth))
}

impl Arms {
    pub(super) fn created(ty: &TypeCode, depth: u16, budget: &mut Budget) -> Result<Self> {
        let node = node(ty)?;
        let label = match node.members.first() {
            Some(first) if default(node) != Some(0) => first.number,
            // The default member, or none at all where no label is left for it.
            _ => free_label(ty, node).unwrap_or(0),
        };
        let discriminator = discriminator_of(&ty.part(node.content), label, depth + 1)?;
        let active = selected(node, label).map(|index| declared(node, index));
        let mut parts = vec![discriminator];
        if let Some(member) = active.and_then(|index| node.members.get(index)) {
            parts.push(create(&ty.part(member.ty), depth + 1, budget)?);
        }
        Ok(Self { parts, active })
    }

    pub(super) fn read(
        ty: &TypeCode,
        from: &mut Decoder<'_>,
        depth: u16,
        budget: &mut Budget,
    ) -> Result<Self> {
        let node = node(ty)?;
        let discriminator = read(&ty.part(node.content), from, depth + 1, budget)?;
        let label = label_of(&discriminator).ok_or_else(|| not_a_union(ty))?;
        let active = selected(node, label).map(|index| declared(node, index));
        let mut parts = vec![discriminator];
        if let Some(member) = active.and_then(|index| node.members.get(index)) {
            parts.push(read(&ty.part(member.ty), from, depth + 1, budget)?);
        }
        Ok(Self { parts, active })
    }

    /// The type of the discriminator, and what it selects now.
    pub(super) fn standing(&self, ty: &TypeCode) -> Result<(TypeCode, Option<Arm>)> {
        let node = node(ty)?;
        let label = self.parts.first().and_then(label_of).ok_or_else(|| not_a_union(ty))?;
        let index = selected(node, label).map(|index| declared(node, index));
        let arm = index.and_then(|index| Some((index, ty.part(node.members.get(index)?.ty))));
        Ok((ty.part(node.content), arm))
    }

    pub(super) fn count(&self, ty: &TypeCode) -> usize {
        match self.standing(ty) {
            Ok((_, Some(_))) => 2,
            _ => 1,
        }
    }

    /// A component, as the discriminator now says.
    pub(super) fn part(&self, ty: &TypeCode, index: usize) -> Result<Option<Cow<'_, DynAny>>> {
        let (_, arm) = self.standing(ty)?;
        Ok(match (index, arm) {
            (1, Some((member, of))) if self.active != Some(member) => Some(Cow::Owned(DynAny::new(&of)?)),
            (1, None) => None,
            _ => self.parts.get(index).map(Cow::Borrowed),
        })
    }

    /// The components, after the member followed the discriminator.
    pub(super) fn settled(&mut self, ty: &TypeCode, depth: u16) -> Result<&mut Vec<DynAny>> {
        let (_, arm) = self.standing(ty)?;
        let index = arm.as_ref().map(|(index, _)| *index);
        if index != self.active {
            let member = arm.map(|(_, of)| created(&of, depth + 1)).transpose()?;
            self.parts.truncate(1);
            self.parts.extend(member);
            self.active = index;
        }
        Ok(&mut self.parts)
    }
}

/// Unions.
impl DynAny {
    fn arms(&self) -> Result<&Arms> {
        match &self.content {
            Content::Union(arms) => Ok(arms),
            _ => Err(self.without("a union")),
        }
    }

    /// The discriminator.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union.
    pub fn discriminator(&self) -> Result<&DynAny> {
        self.arms()?.parts.first().ok_or_else(|| self.without("a union"))
    }

    /// Sets the discriminator. The active member stays if the discriminator still selects it; otherwise the one that it selects is made
    /// anew. The member is then the current component, if there is one, and else the discriminator.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union, or switches on another type.
    pub fn set_discriminator(&mut self, to: &DynAny) -> Result<()> {
        let switch = self.discriminator()?.ty.clone();
        if !switch.equivalent(&to.ty) {
            return Err(DynAnyError::other_type(&to.ty, &switch));
        }
        let label = label_of(to).ok_or_else(|| to.without("a discriminator"))?;
        self.set_label(label)
    }

    fn set_label(&mut self, label: i64) -> Result<()> {
        let (ty, depth) = (self.ty.clone(), self.depth);
        let discriminator = discriminator_of(&ty.part(node(&ty)?.content), label, depth + 1)?;
        let Content::Union(arms) = &mut self.content else { return Err(not_a_union(&ty)) };
        let Some(first) = arms.parts.first_mut() else { return Err(not_a_union(&ty)) };
        *first = discriminator;
        let last = arms.settled(&ty, depth)?.len() - 1;
        self.seek(last);
        Ok(())
    }

    /// Makes the default member active, which is made anew unless it is; the discriminator is then the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union, or has no default member, or the labels leave none to it.
    pub fn set_to_default_member(&mut self) -> Result<()> {
        let node = node(&self.ty)?;
        match (default(node), free_label(&self.ty, node)) {
            (Some(index), Some(_)) if self.active_index()? == Some(declared(node, index)) => {}
            (Some(_), Some(label)) => self.set_label(label)?,
            _ => return Err(self.without("a union with a default member")),
        }
        self.rewind();
        Ok(())
    }

    /// Makes no member active; the discriminator is then the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union, or every discriminator selects a member.
    pub fn set_to_no_active_member(&mut self) -> Result<()> {
        let node = node(&self.ty)?;
        match (default(node), free_label(&self.ty, node)) {
            (None, Some(_)) if self.active_index()?.is_none() => {}
            (None, Some(label)) => self.set_label(label)?,
            _ => return Err(self.without("a union that may have no member")),
        }
        self.rewind();
        Ok(())
    }

    /// Whether the discriminator selects no member.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union.
    pub fn has_no_active_member(&self) -> Result<bool> {
        Ok(self.active_index()?.is_none())
    }

    fn active_index(&self) -> Result<Option<usize>> {
        Ok(self.arms()?.standing(&self.ty)?.1.map(|(index, _)| index))
    }

    /// The member that the discriminator selects.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union; [`DynAnyError::InvalidValue`] if no member is active.
    pub fn active_member(&mut self) -> Result<&mut DynAny> {
        if self.has_no_active_member()? {
            return Err(no_active());
        }
        self.index(1)
    }

    /// The name of the member that the discriminator selects.
    ///
    /// # Errors
    /// As [`active_member`](Self::active_member).
    pub fn active_member_name(&self) -> Result<&str> {
        let index = self.active_index()?.ok_or_else(no_active)?;
        node(&self.ty)?.members.get(index).map(|member| &*member.name).ok_or_else(no_active)
    }

    /// The kind of the member that the discriminator selects; [`TCKind::Alias`] if its type is one.
    ///
    /// # Errors
    /// As [`active_member`](Self::active_member).
    pub fn active_member_kind(&self) -> Result<TCKind> {
        let arm = self.arms()?.standing(&self.ty)?.1;
        arm.map(|(_, of)| of.kind()).ok_or_else(no_active)
    }

    /// Makes the member of this name active, with the first of its labels, and gives it: as it was if it was active already.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if this is no union; [`DynAnyError::InvalidValue`] if it has no such member, or no label selects it.
    pub fn select(&mut self, name: &str) -> Result<&mut DynAny> {
        let node = node(&self.ty)?;
        let Some(index) = node.members.iter().position(|member| &*member.name == name) else {
            return Err(DynAnyError::InvalidValue(alloc::format!("there is no member {name:?}").into()));
        };
        if self.active_index()? != Some(index) {
            let label = match (default(node), node.members.get(index)) {
                (default, Some(member)) if default != Some(index) => Some(member.number),
                _ => free_label(&self.ty, node),
            };
            self.set_label(label.ok_or(DynAnyError::invalid("no label selects the default member"))?)?;
        }
        self.active_member()
    }
}

fn no_active() -> DynAnyError {
    DynAnyError::invalid("the union has no active member")
}
