//! Which types have the same layout in memory as on the wire, and what padding they need.
//!
//! A struct *tiles* when, from a start aligned for its widest member, CDR puts each member where `repr(C)` does, and
//! either nothing is left over at its end or its first member is as aligned as its widest (docs/mapping.md §7). The
//! compiler checks the same again: `zorb_cdr::tiling_struct!` does not compile where this file is wrong.

use std::cell::RefCell;
use std::collections::HashMap;

use zorb_idl::model::{DefinitionId, DefinitionKind, Model, Type};

/// The layout of a type that is an element: a scalar, an enum, an array of elements or a struct that tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    /// In memory.
    size: u64,
    /// Of the widest scalar in it.
    align: u64,
    /// Of the first scalar in it.
    first: u64,
    /// Octets at the end that are not on the wire.
    tail: u64,
    /// Any bits are a value: there is no boolean and no enum in it.
    pub(crate) any_bits: bool,
    /// The compiler can be shown that all its octets are values': an array of what not any bits are a value of is not.
    pub(crate) octets: bool,
}

/// The padding of a struct that tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tiling {
    pub(crate) layout: Layout,
    /// Octets of padding before each member.
    pub(crate) before: Vec<u64>,
    /// Octets of padding after the last.
    pub(crate) after: u64,
}

impl Tiling {
    pub(crate) fn is_padded(&self) -> bool {
        self.after > 0 || self.before.iter().any(|octets| *octets > 0)
    }
}

/// Works out layouts, each struct's once.
pub(crate) struct Layouts<'m> {
    model: &'m Model,
    structs: RefCell<HashMap<DefinitionId, Option<Tiling>>>,
}

impl<'m> Layouts<'m> {
    pub(crate) fn new(model: &'m Model) -> Layouts<'m> {
        Layouts { model, structs: RefCell::default() }
    }

    /// Whether a sequence of the type is a `Sequence`.
    pub(crate) fn is_element(&self, ty: &Type) -> bool {
        self.of(ty).is_some()
    }

    fn of(&self, ty: &Type) -> Option<Layout> {
        let scalar = |size| Layout { size, align: size, first: size, tail: 0, any_bits: true, octets: true };
        Some(match self.model.resolve_alias(ty) {
            Type::Char | Type::Octet | Type::Int8 | Type::UInt8 => scalar(1),
            Type::Boolean => Layout { any_bits: false, ..scalar(1) },
            Type::Short | Type::UnsignedShort => scalar(2),
            Type::Long | Type::UnsignedLong | Type::Float => scalar(4),
            Type::LongLong | Type::UnsignedLongLong | Type::Double => scalar(8),
            Type::LongDouble => Layout { size: 16, ..scalar(8) },
            Type::Array { element, dimensions } => {
                let element = self.of(element)?;
                let count = dimensions.iter().try_fold(1_u64, |count, it| count.checked_mul((*it).into()))?;
                let octets = element.any_bits;
                Layout { size: element.size.checked_mul(count)?, octets, ..element }
            }
            Type::Named(id) => match self.model.definition(*id).kind {
                DefinitionKind::Enum(_) => Layout { any_bits: false, ..scalar(4) },
                DefinitionKind::Struct(_) => self.tiling(*id)?.layout,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// How a struct tiles, if it does.
    pub(crate) fn tiling(&self, id: DefinitionId) -> Option<Tiling> {
        if let Some(known) = self.structs.borrow().get(&id) {
            return known.clone();
        }
        // While its members are looked at, a struct that holds itself is none; only sequences can make it so.
        self.structs.borrow_mut().insert(id, None);
        let tiling = self.lay_out(id);
        self.structs.borrow_mut().insert(id, tiling.clone());
        tiling
    }

    fn lay_out(&self, id: DefinitionId) -> Option<Tiling> {
        let DefinitionKind::Struct(of) = &self.model.definition(id).kind else { return None };
        let members: Vec<Layout> =
            of.members.iter().map(|member| self.of(&member.ty)).collect::<Option<_>>()?;
        let first = members.first()?.first;
        let align = members.iter().map(|member| member.align).max()?;
        // Where the members so far end on the wire, and in memory.
        let (mut sent, mut held) = (0_u64, 0_u64);
        let mut before = Vec::new();
        for member in &members {
            let start = sent.next_multiple_of(member.first);
            if start != held.next_multiple_of(member.align) {
                return None;
            }
            before.push(start - held);
            held = start.checked_add(member.size)?;
            sent = held - member.tail;
        }
        let size = held.next_multiple_of(align);
        if size != sent.next_multiple_of(align) || (sent != size && first != align) {
            return None;
        }
        let any_bits = members.iter().all(|member| member.any_bits);
        let octets = members.iter().all(|member| member.octets);
        let layout = Layout { size, align, first, tail: size - sent, any_bits, octets };
        Some(Tiling { layout, before, after: size - held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb_idl::{Memory, Options, compile};

    #[test]
    fn structs_tile_as_the_wire_says() {
        let text = "
            enum Color { red, green };
            struct Pair { short a; short b; };
            struct Tail { double value; octet mark; };
            struct LongTail { long long value; long mark; };
            struct BinStruct { short s; char c; long l; octet o; double d; };
            struct OddDouble { octet before; double value; octet after; };
            struct Floats { float first; double second; float third; };
            struct Flags { boolean on; Color tint; octet rest; };
            struct FlagPair { boolean first; boolean second; };
            struct Extended { octet lead; long double value; };
            struct HoldsTail { Tail held; octet more; };
            struct HoldsPair { long lead; Pair held[3]; };
            struct Texts { long lead; string text; };
        ";
        let model = compile(&Memory::new([("t.idl", text)]), "t.idl", &Options::default()).unwrap();
        let layouts = Layouts::new(&model);
        let tiling = |name: &str| layouts.tiling(model.find(name).unwrap());
        for (name, before, after) in [
            ("Pair", vec![0, 0], 0),
            ("Tail", vec![0, 0], 7),
            ("LongTail", vec![0, 0], 4),
            ("BinStruct", vec![0, 0, 1, 0, 7], 0),
            ("FlagPair", vec![0, 0], 0),
            ("Extended", vec![0, 7], 0),
            ("HoldsPair", vec![0, 0], 0),
        ] {
            let tiling = tiling(name).unwrap_or_else(|| panic!("{name} tiles"));
            assert_eq!((tiling.before, tiling.after), (before, after), "{name}");
        }
        for name in ["OddDouble", "Floats", "Flags", "HoldsTail", "Texts"] {
            assert_eq!(tiling(name), None, "{name} does not tile");
        }
    }
}
