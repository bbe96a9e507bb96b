//! TypeCodes as they stand in a message (CORBA 3.4 part 2, §9.3.5.1): what an `any` says of its value.
//!
//! ```text
//! kind: ulong │ nothing, or numbers, or an encapsulation        by kind
//! ffffffff    │ offset: long, from itself back to the kind that is meant
//! ```

use std::collections::HashMap;

use zorb_cdr::{Body, ByteOrder, Octets, Segment};

use crate::cursor::{Cursor, Malformed};
use crate::shape::{Shape, Union};

/// How deep TypeCodes nest, and the values of a body: as deep as `zorb_cdr` reads them.
pub(crate) const DEEPEST: usize = 256;

const INDIRECTION: u32 = 0xffff_ffff;

/// Shapes by TypeCodes: the names of all that have parts, for those that hold themselves.
#[derive(Default)]
pub(crate) struct TypeCodes {
    pub(crate) names: Vec<Shape>,
    /// By the place of its kind, counted from the beginning of the body.
    known: HashMap<usize, usize>,
}

/// Goes past a TypeCode that is itself a value.
pub(crate) fn skip(from: &mut Cursor<'_>) -> Result<(), Malformed> {
    match from.u32()? {
        0..=13 | 23..=26 | 31 => Ok(()),
        18 | 27 | 28 | INDIRECTION => from.skip_run(4, 4, 1),
        14..=17 | 19..=22 | 29 | 30 | 32 | 33 => from.skip_counted(),
        _ => Err(from.malformed("a TypeCode of no known kind ends")),
    }
}

impl TypeCodes {
    /// Reads one. `origin` is where `from` begins in the body.
    pub(crate) fn read(
        &mut self,
        from: &mut Cursor<'_>,
        origin: usize,
        depth: usize,
    ) -> Result<Shape, Malformed> {
        if depth > DEEPEST {
            return Err(from.malformed("a TypeCode is nested too deep"));
        }
        from.align(4)?;
        let at = origin + from.position();
        let kind = from.u32()?;
        let simple = match kind {
            0 | 1 => Shape::Nothing,
            2 | 4 => Shape::Number(2),
            3 | 5 | 6 => Shape::Number(4),
            7 | 23 | 24 => Shape::Number(8),
            8..=10 => Shape::Number(1),
            25 => Shape::Number(16),
            11 => Shape::Any,
            12 => Shape::TypeCode,
            // Principal.
            13 => Shape::Sequence(Box::new(Shape::Number(1))),
            26 => Shape::WideChar,
            18 | 27 => {
                from.skip_run(4, 4, 1)?;
                if kind == 18 { Shape::Text } else { Shape::WideText }
            }
            28 => {
                let digits = from.number(2)? as usize;
                from.skip_run(2, 2, 1)?;
                Shape::Octets(digits / 2 + 1)
            }
            14 => {
                from.skip_counted()?;
                Shape::Reference(None)
            }
            17 => {
                from.skip_counted()?;
                Shape::Number(4)
            }
            32 => {
                from.skip_counted()?;
                Shape::Abstract
            }
            29 | 30 | 33 => {
                from.skip_counted()?;
                Shape::Opaque
            }
            31 => Shape::Opaque,
            INDIRECTION => {
                let at = origin + from.position();
                let offset = from.u32()? as i32;
                let meant = at.checked_add_signed(offset as isize).and_then(|meant| self.known.get(&meant));
                return match meant {
                    Some(index) => Ok(Shape::Named(*index)),
                    None => Err(from.malformed("a TypeCode's indirection leads to none; it ends")),
                };
            }
            15 | 16 | 19..=22 => return self.of_parts(from, origin, at, kind, depth),
            _ => return Err(from.malformed("a TypeCode of no known kind ends")),
        };
        Ok(simple)
    }

    fn of_parts(
        &mut self,
        from: &mut Cursor<'_>,
        origin: usize,
        at: usize,
        kind: u32,
        depth: usize,
    ) -> Result<Shape, Malformed> {
        let count = from.count(1)?;
        let start = origin + from.position();
        let octets = from.octets(count)?;
        let order = match octets.first() {
            Some(0) => ByteOrder::Big,
            Some(1) => ByteOrder::Little,
            _ => return Err(from.malformed("a TypeCode's encapsulation has no byte order; it ends")),
        };
        let index = self.names.len();
        self.names.push(Shape::Opaque);
        self.known.insert(at, index);
        let inner = Body::one(Segment { octets: Octets::from(&*octets), phase: 0 }, order);
        let mut from = Cursor::new(&inner);
        let shape = self.parts(&mut from, start, kind, depth);
        let shape = shape.map_err(|wrong| match wrong.at >= start {
            true => wrong,
            false => Malformed { at: wrong.at + start, ..wrong },
        })?;
        self.names[index] = shape;
        Ok(Shape::Named(index))
    }

    fn parts(
        &mut self,
        from: &mut Cursor<'_>,
        start: usize,
        kind: u32,
        depth: usize,
    ) -> Result<Shape, Malformed> {
        from.skip(1)?;
        if !matches!(kind, 19 | 20) {
            // The repository id, and the name.
            from.skip_counted()?;
            from.skip_counted()?;
        }
        match kind {
            15 | 22 => {
                // A name takes five octets at least, its type four.
                let count = from.count(8)?;
                let mut members = Vec::with_capacity(count);
                for _ in 0..count {
                    from.skip_counted()?;
                    members.push(self.read(from, start, depth + 1)?);
                }
                Ok(Shape::Struct(members))
            }
            16 => self.union(from, start, depth),
            19 | 20 => {
                let element = Box::new(self.read(from, start, depth + 1)?);
                let length = from.u32()? as usize;
                Ok(if kind == 19 { Shape::Sequence(element) } else { Shape::Array(element, length) })
            }
            _ => self.read(from, start, depth + 1),
        }
    }

    fn union(&mut self, from: &mut Cursor<'_>, start: usize, depth: usize) -> Result<Shape, Malformed> {
        let discriminator = self.read(from, start, depth + 1)?;
        let Some((size @ (1 | 2 | 4 | 8), _)) = discriminator.as_number(&self.names) else {
            return Err(from.malformed("a union's TypeCode has a discriminator of another type; it ends"));
        };
        let default_at = from.u32()? as usize;
        let count = from.count(8)?;
        let (mut arms, mut default) = (Vec::with_capacity(count), Shape::Nothing);
        for at in 0..count {
            let label = from.number(size)?;
            from.skip_counted()?;
            let arm = self.read(from, start, depth + 1)?;
            match at == default_at {
                true => default = arm,
                false => arms.push((label, arm)),
            }
        }
        Ok(Shape::Union(Box::new(Union { discriminator, arms, default })))
    }
}
