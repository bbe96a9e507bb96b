//! Values of valuetypes on a walk by [`TypeCode`](crate::TypeCode): one of a type that is known to the program is read, one that the TypeCode
//! or the decoder's context describes is walked, and of an unknown type what is in chunks is passed over, or copied as it is where it keeps its
//! byte order, code sets and alignment.
//!
//! What is written has a graph of its own: an indirection that led out of what is walked, as to a repository id that the
//! message had before, becomes what it led to. How much is copied so is bounded by the size of the message.

use super::{Walk, WalkError, Walked};
use crate::type_code::{Edge, Node, unaliased};
use crate::valuetype::read::{
    CHUNKED, CODEBASE, INDIRECTION, LAST_VALUE_TAG, Piece, Place, Text, cut_off, end, enter, invalid,
    leads_elsewhere, next_piece, of_no_type, read_ids, read_known, read_place, read_tag, read_text, reenter,
};
use crate::valuetype::write::{
    DescribedTypes, Ids, Span, begin, begin_at, finish, note, write_indirection, write_node, write_piece,
};
use crate::valuetype::{VALUE_BASE, VALUE_TAG, ValueBase};
use crate::{ByteOrder, DecodeErrorKind, Decoder, TCKind, TypeCode, ValueInfo, ValueType};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Octets that may be copied into anys from elsewhere in a message, and how many more for each octet of the message.
const COPIED: usize = 65_536;
const COPIED_PER_OCTET: usize = 16;

/// How many bases a type may have: more than anybody's.
const BASES: usize = 256;

/// So many octets of a repository id, as most have fewer, are looked up in the step that reading its value is.
const ID_OF_ONE_STEP: usize = 64;

/// What is known of the values in what is walked.
#[derive(Default)]
pub(crate) struct Graph<'g> {
    /// Values that are had, by where they lie in what is walked.
    held: &'g [Span],
    /// Types that the TypeCode does not lead to.
    described: Option<&'g DescribedTypes>,
    /// Those that were needed.
    pub(crate) used: DescribedTypes,
    /// Where values were written that were read at some place.
    copied: BTreeMap<usize, usize>,
    /// Values that were read because their types are known here.
    pub(crate) read: Vec<Span>,
}

impl<'g> Graph<'g> {
    /// With values that are had, in the order in which they lie, and the types of others.
    pub(crate) fn holding(held: &'g [Span], described: &'g DescribedTypes) -> Self {
        Self { held, described: Some(described), ..Self::default() }
    }

    fn held(&self, at: usize) -> Option<&'g Span> {
        let index = self.held.binary_search_by_key(&at, |span| span.at).ok()?;
        self.held.get(index)
    }
}

/// How a value can be read.
enum Known<'t> {
    /// By a part of the TypeCode, which is so far down the list of its types.
    Described(usize, &'t Node),
    /// By a description from elsewhere, likewise.
    Elsewhere(usize, TypeCode),
    Typed(&'static ValueInfo),
    Unknown,
}

/// Members tell what values of it look like.
fn is_walkable(node: &Node) -> bool {
    match node.kind {
        TCKind::ValueBox => true,
        // Neither custom nor abstract.
        TCKind::Value | TCKind::Event => !matches!(node.number, 1 | 2) && &*node.id != VALUE_BASE,
        _ => false,
    }
}

/// A value of which the state follows.
struct Begun<'t> {
    state: State<'t>,
    level: u32,
    in_chunks: bool,
}

/// How the state of a value is read.
enum State<'t> {
    Node(&'t Node),
    Elsewhere(TypeCode),
    /// As octets and values between them.
    Pieces,
}

impl<'t> Walk<'t, '_, '_, '_> {
    /// A value, of type `formal` where that says something.
    pub(super) fn value_type(&mut self, formal: Option<&'t Node>, from: &mut Decoder<'_>) -> Walked {
        if self.graph.is_none() {
            return match read_tag(from)? {
                0 => self.null(from),
                _ => Err(WalkError::Value),
            };
        }
        match read_tag(from)? {
            0 => self.null(from),
            INDIRECTION => {
                self.again(formal, from)?;
                reenter(from);
                Ok(())
            }
            tag @ VALUE_TAG..=LAST_VALUE_TAG => {
                self.nested(from, |walk, from| walk.new_value(tag, formal, from))
            }
            _ => Err(invalid("no value begins with its tag", from).into()),
        }
    }

    fn null(&mut self, from: &mut Decoder<'_>) -> Walked {
        reenter(from);
        self.write(|to| {
            to.write_u32(0);
            Ok(())
        })
    }

    /// An indirection, whose tag was read.
    fn again(&mut self, formal: Option<&'t Node>, from: &mut Decoder<'_>) -> Walked {
        let (here, graph) = (from.position(), &self.graph);
        let held = graph.as_ref().is_some_and(|graph| !graph.held.is_empty());
        if held {
            // Of what is had, places are known before it is read.
            let offset = from.read_i32()?;
            let target = here.checked_add_signed(offset as isize);
            let span = target.and_then(|target| graph.as_ref()?.held(target));
            if let Some(span) = span {
                let node = span.node.clone();
                return self.write(|to| write_node(node, ValueBase::info(), to));
            }
            let written = target.and_then(|target| graph.as_ref()?.copied.get(&target)).copied();
            let Some(target) = written else {
                return Err(invalid("an indirection leads to no value", from).into());
            };
            return self.write(|to| write_indirection(target, to));
        }
        let (target, place) = read_place(from)?;
        let Some(to) = &mut self.to else {
            return match place {
                Place::Text(_) | Place::List(_) => {
                    Err(invalid("an indirection leads to no value", from).into())
                }
                _ => Ok(()),
            };
        };
        if let Some(written) = graph.as_ref().and_then(|graph| graph.copied.get(&target)) {
            return Ok(write_indirection(*written, to)?);
        }
        let before = to.len();
        match place {
            Place::Read(node) => write_node(node, ValueBase::info(), to)?,
            Place::Passed(tag) => {
                let stand = from.stand();
                if !from.stand_behind(target) {
                    return Err(invalid("an indirection leads to no value", from).into());
                }
                let walked = self.nested(from, |walk, from| walk.new_value(tag, formal, from));
                from.stand_again(stand);
                walked?;
            }
            Place::Begun(..) => {
                return Err(invalid("an indirection leads out of the any, to what holds it", from).into());
            }
            Place::Skipped => return Err(cut_off(from).into()),
            Place::Text(_) | Place::List(_) => {
                return Err(invalid("an indirection leads to no value", from).into());
            }
        }
        let grown = self.to.as_ref().map_or(0, |to| to.len() - before);
        let most =
            (from.position() + from.remaining()).saturating_mul(COPIED_PER_OCTET).saturating_add(COPIED);
        let copied = &mut from.values().copied;
        *copied = copied.saturating_add(grown);
        if *copied > most {
            return Err(invalid("indirections lead out of anys to too much", from).into());
        }
        Ok(())
    }

    #[inline(never)]
    fn new_value(&mut self, tag: u32, formal: Option<&'t Node>, from: &mut Decoder<'_>) -> Walked {
        // What nests has little of what does not on its stack.
        match self.begun(tag, formal, from)? {
            None => Ok(()),
            Some(Begun { state: State::Node(node), level, in_chunks }) => {
                self.state(node, from)?;
                self.ended(tag, level, in_chunks, from)
            }
            Some(begun) => self.new_elsewhere(tag, begun, from),
        }
    }

    #[inline(never)]
    fn new_elsewhere(&mut self, tag: u32, begun: Begun<'t>, from: &mut Decoder<'_>) -> Walked {
        match begun.state {
            State::Node(node) => self.state(node, from)?,
            State::Elsewhere(ty) => self.state_of(&ty, from)?,
            State::Pieces => {
                self.pieces(begun.level, from)?;
                return self.write(|to| finish(begun.in_chunks, to));
            }
        }
        self.ended(tag, begun.level, begun.in_chunks, from)
    }

    /// What comes behind a value's state.
    #[inline(never)]
    fn ended(&mut self, tag: u32, level: u32, in_chunks: bool, from: &mut Decoder<'_>) -> Walked {
        self.write(|to| finish(in_chunks, to))?;
        if tag & CHUNKED != 0 {
            end(level, from)?;
        }
        Ok(())
    }

    /// What precedes a value's state; `None` where the state was passed over, too. On its own, so that values that nest do not
    /// have it on their stack.
    #[inline(never)]
    fn begun(
        &mut self,
        tag: u32,
        formal: Option<&'t Node>,
        from: &mut Decoder<'_>,
    ) -> Result<Option<Begun<'t>>, WalkError> {
        let at = from.position() - 4;
        if let Some(span) = self.graph.as_ref().and_then(|graph| graph.held(at)) {
            let node = span.node.clone();
            if formal.is_some_and(|formal| !node.info.is_a_id(&formal.id)) {
                return Err(invalid("it is of another type than its TypeCode says", from).into());
            }
            from.read_octets(span.end.saturating_sub(from.position()))?;
            self.write(|to| write_node(node, ValueBase::info(), to))?;
            return Ok(None);
        }
        let stand = from.stand();
        from.remember(at, stand);
        from.values().put(at, Place::Passed(tag));
        let codebase = if tag & CODEBASE != 0 { Some(read_text(from)?) } else { None };
        let ids = read_ids(tag, from)?;
        let chunked = tag & CHUNKED != 0;
        let known = self.known(&ids, formal, from)?;
        let index = match &known {
            Known::Described(index, _) | Known::Elsewhere(index, _) => *index,
            Known::Typed(_) | Known::Unknown => 0,
        };
        if !chunked && (from.values().level() > 0 || index > 0) {
            return Err(invalid("it is not in chunks", from).into());
        }
        let state = match known {
            Known::Described(_, node) => State::Node(node),
            Known::Elsewhere(_, ty) => {
                self.note(&ty);
                State::Elsewhere(ty)
            }
            Known::Typed(info) => {
                from.stand_again(stand);
                self.typed(tag, info, from)?;
                return Ok(None);
            }
            Known::Unknown if chunked && (self.to.is_none() || self.is_as_it_is(from)) => State::Pieces,
            Known::Unknown => {
                return Err(from.error(DecodeErrorKind::UnknownValueType, "any").of_type(ids.first()).into());
            }
        };
        let opaque = matches!(state, State::Pieces);
        let lies = (from.phase().next_multiple_of(4) + 4) & 7;
        let level = enter(chunked, from);
        let mut begun = Begun { state, level, in_chunks: false };
        if let (Some(to), Some(graph)) = (&mut self.to, &mut self.graph) {
            to.values().received = true;
            let codebase = codebase.as_ref();
            let put = |written, copied: &mut BTreeMap<usize, usize>| _ = copied.insert(at, written);
            if opaque {
                let placed =
                    begin_at(lies, codebase, &ids, to, |written, _| put(written, &mut graph.copied))?;
                let misplaced = || invalid("its octets would come to lie elsewhere, modulo 8", from);
                (_, begun.in_chunks) = placed.ok_or_else(misplaced)?;
                return Ok(Some(begun));
            }
            let told = if index == 0 { Ids::Received(&ids) } else { Ids::One(&ids[index]) };
            (_, begun.in_chunks) =
                begin(codebase, &told, chunked, to, |written, _| put(written, &mut graph.copied))?;
        }
        Ok(Some(begun))
    }

    /// Keeps a type that what is walked does not describe itself.
    #[inline(never)]
    fn note(&mut self, ty: &TypeCode) {
        match (&mut self.to, &mut self.graph) {
            (Some(to), _) => to.values().describe(ty),
            (None, Some(graph)) => note(ty, &mut graph.used),
            (None, None) => {}
        }
    }

    /// Whether octets whose meaning is not known mean the same where they are written.
    fn is_as_it_is(&self, from: &Decoder<'_>) -> bool {
        self.to.as_ref().is_some_and(|to| from.order() == ByteOrder::NATIVE && from.format() == to.format())
    }

    /// The octets of a chunked value, to its end, and the values between them.
    #[inline(never)]
    fn pieces(&mut self, level: u32, from: &mut Decoder<'_>) -> Walked {
        loop {
            match next_piece(level, from)? {
                Piece::Octets(count) => {
                    let (at, phase) = (from.position(), from.phase());
                    let octets = from.read_octets(count.min(from.left_here().max(1)))?;
                    if self.to.is_some() && leads_elsewhere(&octets, at, from) {
                        let why = "octets whose meaning is not known seem to lead to another value";
                        return Err(invalid(why, from).into());
                    }
                    self.write(|to| write_piece(&octets, phase, to))?;
                }
                Piece::Value(0) => self.write(|to| {
                    to.write_u32(0);
                    Ok(())
                })?,
                Piece::Value(tag) => self.nested(from, |walk, from| walk.new_value(tag, None, from))?,
                Piece::End => return Ok(()),
            }
        }
    }

    fn typed(&mut self, tag: u32, info: &'static ValueInfo, from: &mut Decoder<'_>) -> Walked {
        let at = from.position() - 4;
        let node = read_known(tag, info, from)?;
        if let Some(graph) = &mut self.graph {
            graph.read.push(Span { at, end: from.position(), node: node.clone() });
        }
        self.write(|to| write_node(node, ValueBase::info(), to))
    }

    /// The first of these types that is known.
    fn known(
        &mut self,
        ids: &Arc<[Text]>,
        formal: Option<&'t Node>,
        from: &mut Decoder<'_>,
    ) -> Result<Known<'t>, WalkError> {
        if ids.is_empty() {
            let Some(formal) = formal else {
                // In a value that nobody here knows only its class knows what type is meant.
                return if from.values().level() > 0 {
                    Ok(Known::Unknown)
                } else {
                    Err(of_no_type(from).into())
                };
            };
            return Ok(match from.value_type(formal.id.as_bytes()) {
                Some(info) => Known::Typed(info),
                None if is_walkable(formal) => Known::Described(0, formal),
                None => Known::Unknown,
            });
        }
        for (index, id) in ids.iter().enumerate() {
            // A value of few octets may mean long texts again.
            self.steps = self.steps.saturating_sub(id.len() / ID_OF_ONE_STEP);
            // What the program knows of a type is more than a TypeCode says: JacORB's leave the base out.
            if let Some(info) = from.value_type(id)
                && formal.is_none_or(|formal| info.is_a_id(&formal.id))
            {
                return Ok(Known::Typed(info));
            }
            if let Some(formal) = formal
                && formal.id.as_bytes() == &**id
                && is_walkable(formal)
            {
                return Ok(Known::Described(index, formal));
            }
            // Looking through a type of many parts counts as reading them.
            self.steps = self.steps.saturating_sub(self.nodes.len());
            let described = self.nodes.iter().filter(|node| is_walkable(node) && node.id.as_bytes() == &**id);
            if let Some(node) = described.into_iter().find(|node| is_a(self.nodes, node, formal)) {
                return Ok(Known::Described(index, node));
            }
            if let Some(ty) = self.elsewhere(id, from)
                && let Some(node) = ty.resolved()
                && is_walkable(node)
                && is_a(ty.nodes(), node, formal)
            {
                return Ok(Known::Elsewhere(index, ty));
            }
        }
        Ok(Known::Unknown)
    }

    /// A type that the TypeCode does not lead to, by its repository id.
    fn elsewhere(&self, id: &[u8], from: &Decoder<'_>) -> Option<TypeCode> {
        let id = core::str::from_utf8(id).ok()?;
        let held = self.graph.as_ref().and_then(|graph| graph.described?.get(id)).cloned();
        held.or_else(|| from.described_value(id))
    }

    /// The state of a value that a TypeCode of its own describes.
    #[inline(never)]
    fn state_of(&mut self, ty: &TypeCode, from: &mut Decoder<'_>) -> Walked {
        let (to, graph) = (self.to.as_deref_mut(), self.graph.as_deref_mut());
        let mut inner = Walk { nodes: ty.nodes(), to, steps: self.steps, graph };
        let result = ty.resolved().map_or(Ok(()), |node| inner.state(node, from));
        self.steps = inner.steps;
        result
    }

    /// The state, the base's first.
    fn state(&mut self, node: &'t Node, from: &mut Decoder<'_>) -> Walked {
        if node.kind == TCKind::ValueBox {
            return self.value(node.content, from);
        }
        let mut types = alloc::vec![node];
        while let Some(base) = types.last().and_then(|last| base(self.nodes, last)) {
            // A peer's TypeCode may say that a type is derived from itself.
            if types.len() == BASES {
                let kind = DecodeErrorKind::Invalid("its type has more than 256 bases");
                return Err(from.error(kind, "TypeCode").into());
            }
            types.push(base);
        }
        for of in types.into_iter().rev() {
            self.members(of, from)?;
        }
        Ok(())
    }
}

/// Whether the one type is the other or derived from it, as far as that can be told.
fn is_a(nodes: &[Node], node: &Node, formal: Option<&Node>) -> bool {
    let Some(formal) = formal.filter(|formal| is_walkable(formal)) else { return true };
    let mut node = Some(node);
    // Derived from itself is none.
    for _ in 0..=nodes.len() {
        match node {
            Some(it) if it.id == formal.id => return true,
            Some(it) => node = base(nodes, it),
            None => break,
        }
    }
    false
}

fn base<'t>(nodes: &'t [Node], node: &Node) -> Option<&'t Node> {
    match unaliased(nodes, node.content) {
        Edge::Node(index) if node.kind != TCKind::ValueBox => {
            let base = nodes.get(index as usize)?;
            matches!(base.kind, TCKind::Value | TCKind::Event).then_some(base)
        }
        _ => None,
    }
}
