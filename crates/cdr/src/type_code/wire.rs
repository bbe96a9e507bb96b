//! TypeCodes on the wire (CORBA 3.4 part 2, §9.3.5.1).
//!
//! ```text
//! 0        4        8
//! │ kind   │                                         all that a basic kind takes
//! │ string │ bound  │                                a simple parameter list
//! │ struct │ length │ order, id, name, members …     a complex one: an encapsulation
//! │ffffffff│ offset │                                an indirection: the type that starts so far before the offset
//! ```
//!
//! An indirection leads to where a kind stands before it within the outermost TypeCode. To one that is not finished it may
//! lead only out of a struct, union or value in it; so no alias stands for itself.

use super::{Edge, Member, Node, TCKind, TypeCode, unaliased};
use crate::{
    ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, EncodeErrorKind, Encoder,
    Format, KnownTypes,
};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

const INDIRECTION: u32 = u32::MAX;

/// How deep parts may stand within parts, on the wire.
const MOST_NESTED: u32 = 100;

/// The form on the wire from its start at a multiple of 4: it has no other alignment.
pub(super) fn to_wire(nodes: &[Node], at: Edge) -> Result<Bytes, EncodeError> {
    let mut writer = Writer { nodes, places: BTreeMap::new(), depth: 0 };
    let mut to = Encoder::new(Format::ENCAPSULATION);
    writer.write(at, &mut to)?;
    Ok(to.to_bytes())
}

/// What [`TypeCode::wire_form`] is of one that was received.
fn received_wire(kind: TCKind, parameters: &[u8]) -> Bytes {
    let mut wire = Vec::with_capacity(8 + parameters.len());
    wire.extend_from_slice(&kind.number().to_ne_bytes());
    // Longer than that no length on the wire is.
    wire.extend_from_slice(&(parameters.len() as u32).to_ne_bytes());
    wire.extend_from_slice(parameters);
    wire.into()
}

impl TypeCode {
    /// Writes it as it would be written had it been described here, in whatever form it was received.
    pub(crate) fn encode_anew(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self.edge() {
            Edge::Simple(kind, ..) if kind.is_basic() => to.write_u32(kind.number()),
            at => {
                let octets = to_wire(self.nodes(), at)?;
                to.align(4);
                to.write_octets(&octets);
            }
        }
        Ok(())
    }
}

impl Encode for TypeCode {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        match self.wire_form() {
            Some(wire) => {
                to.align(4);
                to.write_octets(wire);
                Ok(())
            }
            None => self.encode_anew(to),
        }
    }
}

struct Writer<'t> {
    nodes: &'t [Node],
    /// Where the kind of each node stands that was written or is being written.
    places: BTreeMap<u32, usize>,
    depth: u32,
}

impl Writer<'_> {
    fn write(&mut self, at: Edge, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        let index = match at {
            Edge::Simple(kind, number, scale) => {
                to.write_u32(kind.number());
                match kind {
                    TCKind::String | TCKind::WString => to.write_u32(number),
                    TCKind::Fixed => {
                        to.write_u16(number as u16);
                        to.write_i16(scale);
                    }
                    _ => {}
                }
                return Ok(());
            }
            Edge::Node(index) => index,
        };
        let nodes = self.nodes;
        let node = nodes.get(index as usize).ok_or(invalid("a part is missing"))?;
        to.align(4);
        if let Some(place) = self.places.get(&index) {
            to.write_u32(INDIRECTION);
            let back = i32::try_from(to.len() - place).map_err(|_| invalid("it is too long"))?;
            to.write_i32(-back);
            return Ok(());
        }
        if self.depth == MOST_NESTED {
            return Err(invalid("its parts are nested too deep"));
        }
        let place = to.len();
        // Nothing leads to what is unfinished but to what can contain itself: JacORB reads no others. A sequence in a struct
        // that it holds is written once more.
        if node.kind.is_recursive() {
            self.places.insert(index, place);
        }
        to.write_u32(node.kind.number());
        self.depth += 1;
        to.encapsulation(|to| self.write_parameters(node, to))?;
        self.depth -= 1;
        self.places.insert(index, place);
        Ok(())
    }

    fn write_parameters(&mut self, node: &Node, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        if node.kind.is_named() {
            to.write_raw_string(node.id.as_bytes())?;
            to.write_raw_string(node.name.as_bytes())?;
        }
        match node.kind {
            TCKind::Sequence | TCKind::Array => {
                self.write(node.content, to)?;
                to.write_u32(node.number as u32);
            }
            TCKind::Alias | TCKind::ValueBox => self.write(node.content, to)?,
            TCKind::Union => {
                self.write(node.content, to)?;
                to.write_i32(node.number as i32);
            }
            TCKind::Value | TCKind::Event => {
                to.write_i16(node.number as i16);
                self.write(node.content, to)?;
            }
            _ => {}
        }
        if !node.kind.has_members() {
            return Ok(());
        }
        to.write_length(node.members.len())?;
        for (index, member) in node.members.iter().enumerate() {
            if node.kind == TCKind::Union {
                if index as i64 == node.number {
                    to.write_u8(0);
                } else {
                    write_label(unaliased_kind(self.nodes, node.content), member.number, to)?;
                }
            }
            to.write_raw_string(member.name.as_bytes())?;
            if node.kind != TCKind::Enum {
                self.write(member.ty, to)?;
            }
            if matches!(node.kind, TCKind::Value | TCKind::Event) {
                to.write_i16(member.number as i16);
            }
        }
        Ok(())
    }
}

#[cold]
fn invalid(why: &'static str) -> EncodeError {
    EncodeError::new(EncodeErrorKind::Invalid(why), "TypeCode")
}

fn unaliased_kind(nodes: &[Node], at: Edge) -> TCKind {
    match unaliased(nodes, at) {
        Edge::Simple(kind, ..) => kind,
        Edge::Node(index) => nodes.get(index as usize).map_or(TCKind::Null, |node| node.kind),
    }
}

pub(crate) fn write_label(kind: TCKind, label: i64, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    match kind {
        TCKind::Boolean => to.write_bool(label != 0),
        TCKind::Char | TCKind::Octet => to.write_u8(label as u8),
        TCKind::Short | TCKind::UShort => to.write_i16(label as i16),
        TCKind::Long | TCKind::ULong | TCKind::Enum => to.write_i32(label as i32),
        TCKind::LongLong | TCKind::ULongLong => to.write_i64(label),
        TCKind::WChar => {
            let unit = u16::try_from(label).map_err(|_| invalid("a label is no wide character"))?;
            to.write_wchar(crate::WChar(unit))?;
        }
        _ => return Err(invalid("a union cannot switch on its discriminator's type")),
    }
    Ok(())
}

pub(crate) fn read_label(kind: TCKind, from: &mut Decoder<'_>) -> Result<i64, DecodeError> {
    Ok(match kind {
        TCKind::Boolean => from.read_bool()?.into(),
        TCKind::Char | TCKind::Octet => from.read_u8()?.into(),
        TCKind::Short => from.read_i16()?.into(),
        TCKind::UShort => from.read_u16()?.into(),
        TCKind::Long => from.read_i32()?.into(),
        TCKind::ULong | TCKind::Enum => from.read_u32()?.into(),
        TCKind::LongLong => from.read_i64()?,
        TCKind::ULongLong => from.read_u64()? as i64,
        TCKind::WChar => from.read_wchar()?.0.into(),
        _ => {
            let kind = DecodeErrorKind::Invalid("a union cannot switch on its discriminator's type");
            return Err(from.error(kind, "TypeCode"));
        }
    })
}

impl Decode for TypeCode {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let number = from.read_u32()?;
        let known_types = from.known_types();
        if let Some(known) = known_types.and_then(|known_types| known(number, known_types, from)) {
            return Ok(known);
        }
        let mut reader = Reader::default();
        // Indirections are counted from here, whatever message the TypeCode lies in.
        let at = reader.read(number, 0, from.position() - 4, from)?;
        let read = Self::of_nodes(reader.nodes, at, reader.wire);
        if let Some(known_types) = known_types
            && read.wire_form().is_some()
        {
            known_types.keep(&read);
        }
        Ok(read)
    }
}

/// The TypeCode of which the kind has been read, passed over, if it is one that is remembered.
fn known(kind: u32, known_types: &dyn KnownTypes, from: &mut Decoder<'_>) -> Option<TypeCode> {
    TCKind::of_number(kind).filter(|kind| kind.has_complex_parameters())?;
    let mut ahead = from.of_segment();
    let length = ahead.read_count(1).ok()?;
    let parameters = ahead.read_octets(length).ok()?;
    let known = known_types.find(kind, &parameters)?;
    let length = from.read_count(1).ok()?;
    from.read_octets(length).ok()?;
    Some(known)
}

#[derive(Default)]
struct Reader {
    nodes: Vec<Node>,
    /// The outermost, to be sent on as it is.
    wire: Option<Bytes>,
    /// What stands where, counted from the kind of the outermost.
    places: BTreeMap<usize, Edge>,
    /// Which nodes are not finished.
    open: Vec<u32>,
    depth: u32,
}

impl Reader {
    /// Reads what follows a kind that stands at `place`; `start` is what the decoder's position there is.
    fn read(
        &mut self,
        number: u32,
        place: usize,
        start: usize,
        from: &mut Decoder<'_>,
    ) -> Result<Edge, DecodeError> {
        let error = |why| DecodeError::new(DecodeErrorKind::Invalid(why), "TypeCode", start);
        if number == INDIRECTION {
            let offset = from.read_i32()?;
            let target = i64::try_from(place).unwrap_or(i64::MAX).saturating_add(4 + i64::from(offset));
            let target = usize::try_from(target).ok().filter(|target| *target < place);
            let target = target.and_then(|target| self.places.get(&target)).copied();
            let target = target.ok_or_else(|| error("an indirection leads to no TypeCode before it"))?;
            return match target {
                Edge::Node(index) if !self.may_lead_to(index) => {
                    Err(error("an indirection leads into what cannot contain itself"))
                }
                _ => Ok(target),
            };
        }
        let kind = TCKind::of_number(number).ok_or_else(|| error("it is of no kind that CORBA has"))?;
        let simple = match kind {
            TCKind::String | TCKind::WString => Some((from.read_u32()?, 0)),
            TCKind::Fixed => Some((from.read_u16()?.into(), from.read_i16()?)),
            kind if kind.is_basic() => Some((0, 0)),
            _ => None,
        };
        if let Some((number, scale)) = simple {
            if kind == TCKind::Fixed && !(1..=31).contains(&number) || scale < 0 || scale as u32 > number {
                return Err(error("a fixed has 1 to 31 digits and a scale of at most as many"));
            }
            let edge = Edge::Simple(kind, number, scale);
            self.places.insert(place, edge);
            return Ok(edge);
        }
        if self.depth == MOST_NESTED {
            return Err(DecodeError::new(DecodeErrorKind::TooDeep { limit: MOST_NESTED }, "TypeCode", start));
        }
        let index = self.nodes.len() as u32;
        self.places.insert(place, Edge::Node(index));
        let (id, name) = Default::default();
        self.nodes.push(Node { kind, id, name, content: Edge::NULL, number: 0, members: Vec::new() });
        let length = from.read_count(1)?;
        let inside = from.position();
        let octets = from.read_octets(length)?;
        let order = match octets.first() {
            Some(0) => ByteOrder::Big,
            Some(1) => ByteOrder::Little,
            _ => return Err(error("its parameters start with no byte order")),
        };
        let mut inner = Decoder::from_slice(&octets, order, Format::ENCAPSULATION);
        inner.read_u8()?;
        if self.depth == 0 {
            self.wire = Some(received_wire(kind, &octets));
        }
        self.open.push(index);
        self.depth += 1;
        // Positions inside count from the encapsulation; errors are to count as the outer decoder does.
        let node = self
            .parameters(kind, place + 8, &mut inner)
            .map_err(|error| DecodeError { at: error.at.saturating_add(inside), ..error })?;
        self.depth -= 1;
        self.open.pop();
        self.nodes[index as usize] = node;
        Ok(Edge::Node(index))
    }

    /// What is finished, or something of which a struct, union or value leads here: the cycle goes through that.
    fn may_lead_to(&self, index: u32) -> bool {
        let between = self.open.iter().skip_while(|open| **open != index);
        let mut between = between.filter_map(|open| self.nodes.get(*open as usize)).peekable();
        between.peek().is_none() || between.any(|node| node.kind.is_recursive())
    }

    /// Reads a part, inside an encapsulation that starts at `base` of the outermost.
    fn part(&mut self, base: usize, from: &mut Decoder<'_>) -> Result<Edge, DecodeError> {
        let number = from.read_u32()?;
        let start = from.position() - 4;
        self.read(number, base + start, start, from)
    }

    /// A part that has values.
    fn valued(&mut self, base: usize, from: &mut Decoder<'_>) -> Result<Edge, DecodeError> {
        let edge = self.part(base, from)?;
        if matches!(edge, Edge::Node(index) if self.open.contains(&index)) {
            return Ok(edge);
        }
        match unaliased_kind(&self.nodes, edge) {
            TCKind::Null | TCKind::Void | TCKind::Except => {
                Err(from.error(DecodeErrorKind::Invalid("a part has no values"), "TypeCode"))
            }
            _ => Ok(edge),
        }
    }

    fn parameters(&mut self, kind: TCKind, base: usize, from: &mut Decoder<'_>) -> Result<Node, DecodeError> {
        let mut node = Node {
            kind,
            id: Default::default(),
            name: Default::default(),
            content: Edge::NULL,
            number: 0,
            members: Vec::new(),
        };
        if kind.is_named() {
            node.id = String::from_utf8_lossy(&from.read_raw_string()?).into();
            node.name = String::from_utf8_lossy(&from.read_raw_string()?).into();
        }
        match kind {
            TCKind::Sequence | TCKind::Array => {
                node.content = self.valued(base, from)?;
                node.number = from.read_u32()?.into();
            }
            TCKind::Alias | TCKind::ValueBox => node.content = self.valued(base, from)?,
            TCKind::Union => {
                node.content = self.valued(base, from)?;
                node.number = from.read_i32()?.into();
            }
            TCKind::Value | TCKind::Event => {
                node.number = from.read_i16()?.into();
                node.content = self.part(base, from)?;
            }
            _ => {}
        }
        if !kind.has_members() {
            return Ok(node);
        }
        let switch = unaliased_kind(&self.nodes, node.content);
        // A name takes 5 octets at least.
        let count = from.read_count(5)?;
        if kind == TCKind::Union && !(-1..count as i64).contains(&node.number) {
            return Err(
                from.error(DecodeErrorKind::Invalid("its default is none of its members"), "TypeCode")
            );
        }
        for index in 0..count {
            let mut number = 0;
            if kind == TCKind::Union {
                number = if index as i64 == node.number {
                    from.read_u8()?;
                    0
                } else {
                    read_label(switch, from)?
                };
            }
            let name: alloc::sync::Arc<str> = String::from_utf8_lossy(&from.read_raw_string()?).into();
            let ty = match kind {
                TCKind::Enum => Edge::NULL,
                _ => self.valued(base, from).map_err(|error| error.in_named(&name))?,
            };
            if matches!(kind, TCKind::Value | TCKind::Event) {
                number = from.read_i16()?.into();
            }
            node.members.push(Member { name, ty, number });
        }
        Ok(node)
    }
}
