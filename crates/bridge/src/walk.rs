//! Goes through a body by the types of what is in it, and finds the references.

use zorb_cdr::{Body, Version};
use zorb_giop::{Ior, ProfileTag, TaggedProfile};

use crate::cursor::{Cursor, Malformed, Place};
use crate::shape::{Shape, Shapes};
use crate::typecode::{self, DEEPEST, TypeCodes};

/// A reference in a body.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    /// Its first octet, and the one behind it.
    pub(crate) start: Place,
    pub(crate) end: Place,
    pub(crate) ior: Ior,
    /// The interface that the operation says it has.
    pub(crate) interface: Option<usize>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// All references but nil, in their order.
    pub(crate) found: Vec<Found>,
    /// From here on the types tell no more: octets before it.
    pub(crate) unknown_from: Option<usize>,
}

/// Why a walk ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    Malformed(Malformed),
    TooMany,
    Unknown(usize),
}

impl From<Malformed> for Stop {
    fn from(what: Malformed) -> Stop {
        Stop::Malformed(what)
    }
}

/// Values gone through for each octet of a body, at most: an `any` may describe structures of structures without an octet in
/// them. 64: more than anybody nests types around an octet.
const STEPS_PER_OCTET: usize = 64;

struct Walk<'a> {
    cursor: Cursor<'a>,
    version: Version,
    steps: usize,
    most: usize,
    found: Vec<Found>,
}

/// The references in a body that begins with values of these shapes, `after_text` behind a string: an exception's id. `most`
/// is how many there may be.
pub(crate) fn walk(
    body: &Body,
    version: Version,
    after_text: bool,
    shapes: &[Shape],
    names: &Shapes,
    most: usize,
) -> Result<Walked, Stop> {
    let steps = (body.len() + 64).saturating_mul(STEPS_PER_OCTET);
    let mut walk = Walk { cursor: Cursor::new(body), version, steps, most, found: Vec::new() };
    if after_text {
        walk.cursor.skip_counted()?;
    }
    let walked = shapes.iter().try_for_each(|shape| walk.value(shape, names, 0));
    let unknown_from = match walked {
        Ok(()) => None,
        Err(Stop::Unknown(at)) => Some(at),
        Err(stop) => return Err(stop),
    };
    Ok(Walked { found: walk.found, unknown_from })
}

/// The repository id that a user exception's body begins with.
pub(crate) fn exception_id(body: &Body) -> Result<String, Malformed> {
    let mut cursor = Cursor::new(body);
    let id = cursor.text()?.into_owned();
    String::from_utf8(id).map_err(|_| cursor.malformed("an exception's id is no text; it ends"))
}

impl Walk<'_> {
    fn value(&mut self, shape: &Shape, names: &Shapes, depth: usize) -> Result<(), Stop> {
        if depth > DEEPEST {
            return Err(self.cursor.malformed("values are nested too deep").into());
        }
        let Some(steps) = self.steps.checked_sub(1) else {
            return Err(self.cursor.malformed("types without an end hold a value").into());
        };
        self.steps = steps;
        let depth = depth + 1;
        match shape {
            Shape::Nothing => {}
            Shape::Number(size) => self.cursor.skip_run(*size, (*size).min(8), 1)?,
            Shape::Octets(count) => self.cursor.skip(*count)?,
            Shape::Text => self.cursor.skip_counted()?,
            Shape::WideChar => match self.version >= Version::V1_2 {
                true => {
                    let octets = self.cursor.number(1)?;
                    self.cursor.skip(octets as usize)?;
                }
                false => self.cursor.skip_run(2, 2, 1)?,
            },
            Shape::WideText => match self.version >= Version::V1_2 {
                true => self.cursor.skip_counted()?,
                false => {
                    let units = self.cursor.count(2)?;
                    self.cursor.skip_run(2, 2, units)?;
                }
            },
            Shape::Sequence(element) => {
                let count = self.cursor.u32()? as usize;
                self.run(element, count, names, depth)?;
            }
            Shape::Array(element, count) => self.run(element, *count, names, depth)?,
            Shape::Struct(members) => {
                members.iter().try_for_each(|member| self.value(member, names, depth))?;
            }
            Shape::Union(union) => {
                let label = match union.discriminator.resolved(names) {
                    Some(Shape::WideChar) => self.wide_label()?,
                    _ => {
                        let size = union.discriminator.as_number(names).map_or(4, |(size, _)| size.min(8));
                        self.cursor.number(size)?
                    }
                };
                let arm = union.arms.iter().find(|(of, _)| *of == label).map(|(_, arm)| arm);
                self.value(arm.unwrap_or(&union.default), names, depth)?;
            }
            Shape::Named(index) => match names.get(*index) {
                Some(shape) => self.value(shape, names, depth)?,
                None => return Err(self.unknown()),
            },
            Shape::Reference(interface) => self.reference(*interface)?,
            Shape::Abstract => match self.cursor.number(1)? {
                0 => return Err(self.unknown()),
                _ => self.reference(None)?,
            },
            Shape::TypeCode => typecode::skip(&mut self.cursor)?,
            Shape::Any => {
                let mut types = TypeCodes::default();
                let shape = types.read(&mut self.cursor, 0, depth)?;
                self.value(&shape, &types.names, depth)?;
            }
            Shape::Opaque => return Err(self.unknown()),
        }
        Ok(())
    }

    /// A `wchar` that selects an arm: a UTF-16 unit, which GIOP 1.2 counts in octets, the most significant first or as a mark
    /// before it says.
    fn wide_label(&mut self) -> Result<u64, Stop> {
        if self.version < Version::V1_2 {
            return Ok(self.cursor.number(2)?);
        }
        let count = self.cursor.number(1)? as usize;
        let octets = self.cursor.octets(count)?;
        match *octets {
            [high, low] | [0xfe, 0xff, high, low] | [0xff, 0xfe, low, high] => {
                Ok(u16::from_be_bytes([high, low]).into())
            }
            _ => Err(self.cursor.malformed("a wide character is no UTF-16 unit").into()),
        }
    }

    fn unknown(&self) -> Stop {
        Stop::Unknown(self.cursor.position())
    }

    fn run(&mut self, element: &Shape, count: usize, names: &Shapes, depth: usize) -> Result<(), Stop> {
        if let Some((size, align)) = element.as_number(names) {
            return Ok(self.cursor.skip_run(size, align, count)?);
        }
        for done in 0..count {
            let before = self.cursor.position();
            self.value(element, names, depth)?;
            if self.cursor.position() == before {
                // Elements of nothing, however many.
                return Ok(());
            }
            if count - done - 1 > self.cursor.remaining() {
                return Err(self
                    .cursor
                    .malformed("a length reaches beyond the body's end; it is used")
                    .into());
            }
        }
        Ok(())
    }

    fn reference(&mut self, interface: Option<usize>) -> Result<(), Stop> {
        let cursor = &mut self.cursor;
        cursor.align(4)?;
        let start = cursor.place();
        let type_id = cursor.text()?.into_owned();
        let type_id = String::from_utf8(type_id)
            .map_err(|_| cursor.malformed("the type id of a reference is no text; it ends"))?;
        let count = cursor.count(8)?;
        if count > 0 && self.found.len() >= self.most {
            return Err(Stop::TooMany);
        }
        let mut profiles = Vec::new();
        for _ in 0..count {
            let tag = ProfileTag(cursor.u32()?);
            let length = cursor.count(1)?;
            let data = cursor.octets(length)?.into_owned().into();
            if tag != ProfileTag::ZORB_FILLER {
                profiles.push(TaggedProfile { tag, data });
            }
        }
        if !profiles.is_empty() {
            let (end, ior) = (cursor.place(), Ior { type_id, profiles });
            self.found.push(Found { start, end, ior, interface });
        }
        Ok(())
    }
}
