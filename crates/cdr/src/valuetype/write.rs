//! Values written: shared ones once, in chunks where a receiver may cut them down.

use super::read::Text;
use super::{Link, Node, State, Value, ValueInfo, ValueType};
use crate::{DecodeContext, Encode, EncodeError, EncodeErrorKind, Encoder, TypeCode};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The tag of a value that says nothing more of itself; flags are added to it.
pub(crate) const VALUE_TAG: u32 = 0x7fff_ff00;
pub(crate) const LAST_VALUE_TAG: u32 = 0x7fff_ffff;
pub(crate) const CODEBASE: u32 = 1;
pub(super) const ONE_ID: u32 = 2;
pub(super) const LIST_OF_IDS: u32 = 6;
pub(crate) const CHUNKED: u32 = 8;
/// What stands before an offset.
pub(crate) const INDIRECTION: u32 = 0xffff_ffff;

/// How deep values may nest: what a decoder takes by default.
const NESTING: u32 = 256;

/// The values in a message so far.
#[derive(Default)]
pub(crate) struct Written {
    /// By address: the value, kept so that its address stays its own, where its tag is, and where it ends.
    values: BTreeMap<usize, (Arc<Node>, usize, usize)>,
    ids: BTreeMap<&'static str, usize>,
    /// By address: texts that were received, and lists of them, kept likewise.
    texts: BTreeMap<usize, (Text, usize)>,
    lists: BTreeMap<usize, (Arc<[Text]>, usize)>,
    /// In anys that were copied; and the types of values that were written by a description which the type declared does not lead to.
    adopted: Option<Box<Kept>>,
    /// Values were written as they were received, whatever their type.
    pub(crate) received: bool,
    depth: u32,
    /// How many chunked values are being written.
    level: u32,
    /// Where the octets of the open chunk begin.
    chunk: Option<usize>,
    /// Where the last end tag is.
    end: Option<usize>,
}

impl core::fmt::Debug for Written {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Written").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl Written {
    /// Forgets what was written from this length of the message on. A value half written is no longer begun.
    pub(crate) fn rewind(&mut self, length: usize) {
        self.values.retain(|_, (_, at, _)| *at < length);
        self.ids.retain(|_, at| *at < length);
        if let Some(adopted) = &mut self.adopted {
            adopted.spans.retain(|span| span.at < length);
        }
        self.texts.retain(|_, (_, at)| *at < length);
        self.lists.retain(|_, (_, at)| *at < length);
        (self.depth, self.level, self.chunk, self.end) = (0, 0, None, None);
    }

    /// Whether a chunked value is being written, in which all values are.
    pub(crate) fn in_chunks(&self) -> bool {
        self.level > 0
    }

    /// Values that lie in an any which is copied to `start`.
    pub(crate) fn adopt(&mut self, kept: &Kept, start: usize) {
        // There are values, even where none of them is had as such.
        self.received = true;
        let moved =
            |span: &Span| Span { at: span.at + start, end: span.end + start, node: span.node.clone() };
        if !kept.spans.is_empty() {
            self.adopted.get_or_insert_default().spans.extend(kept.spans.iter().map(moved));
        }
        kept.described.values().for_each(|ty| self.describe(ty));
    }

    /// Keeps the type of a value that was written.
    pub(crate) fn describe(&mut self, ty: &TypeCode) {
        note(ty, &mut self.adopted.get_or_insert_default().described);
    }

    /// The values, by where they are; `None` if there are none.
    pub(crate) fn take_kept(&mut self) -> Option<Kept> {
        if self.values.is_empty() && self.adopted.is_none() && !self.received {
            return None;
        }
        let values = core::mem::take(&mut self.values).into_values();
        let mut kept = self.adopted.take().map_or_else(Kept::default, |adopted| *adopted);
        kept.spans.extend(values.map(|(node, at, end)| Span { at, end, node }));
        kept.spans.sort_unstable_by_key(|span| span.at);
        Some(kept)
    }
}

/// What an any keeps of the values in it.
#[derive(Default)]
pub(crate) struct Kept {
    /// Those of types that only the program knows, by where they lie.
    pub(crate) spans: Vec<Span>,
    /// The types of those that were described elsewhere than in the any's type.
    pub(crate) described: DescribedTypes,
}

/// A part of an any is of the types that the any knows.
impl DecodeContext for Kept {
    fn described_value(&self, id: &str) -> Option<TypeCode> {
        self.described.get(id).cloned()
    }
}

/// Types by their repository ids.
pub(crate) type DescribedTypes = BTreeMap<Arc<str>, TypeCode>;

/// Adds a type that has an id, if it is not there yet.
pub(crate) fn note(ty: &TypeCode, to: &mut DescribedTypes) {
    if let Some(node) = ty.resolved()
        && !to.contains_key(&node.id)
    {
        to.insert(node.id.clone(), ty.clone());
    }
}

/// Where the octets of a value lie.
#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) at: usize,
    pub(crate) end: usize,
    pub(crate) node: Arc<Node>,
}

/// What a value says of its type.
pub(crate) enum Ids<'i> {
    /// The repository ids from its own to that of the last base it may be cut down to; how they were received or known.
    Known(&'i [&'static str]),
    Received(&'i Arc<[Text]>),
    /// The same, also a single one as a list, which takes four octets more.
    Listed(&'i Arc<[Text]>),
    /// One of those that were received.
    One(&'i Text),
}

fn invalid(why: &'static str) -> EncodeError {
    EncodeError::new(EncodeErrorKind::Invalid(why), "value")
}

impl<T: ValueType> Encode for Option<Value<T>> {
    fn encode<'a>(&'a self, to: &mut Encoder<'a>) -> Result<(), EncodeError> {
        write(self.as_ref().map(|value| &value.link), T::info(), to)
    }

    fn encode_owned(self, to: &mut Encoder<'static>) -> Result<(), EncodeError> {
        write(self.as_ref().map(|value| &value.link), T::info(), to)
    }
}

pub(super) fn write(
    link: Option<&Link>,
    formal: &'static ValueInfo,
    to: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    let Some(link) = link else {
        to.write_u32(0);
        return Ok(());
    };
    let node = link.upgrade().ok_or_else(|| invalid("a value that it links to weakly is gone"))?;
    write_node(node, formal, to)
}

/// Writes a value, or where it stands already.
pub(crate) fn write_node(
    node: Arc<Node>,
    formal: &'static ValueInfo,
    to: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    to.stay_whole();
    if let Some((_, at, _)) = to.values().values.get(&Arc::as_ptr(&node).addr()) {
        let at = *at;
        return write_indirection(at, to);
    }
    write_new(node, formal, to)
}

/// Says that what stands at `target` is meant.
pub(crate) fn write_indirection(target: usize, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    to.write_u32(INDIRECTION);
    write_offset(target, to)
}

/// How far back something is from the offset itself.
fn write_offset(target: usize, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let back = i32::try_from(to.len() - target).map_err(|_| invalid("an indirection leads back 2 GiB"))?;
    to.write_i32(-back);
    Ok(())
}

fn write_new(node: Arc<Node>, formal: &'static ValueInfo, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let state = node.state.as_deref().filter(|_| node.info.read().is_some());
    let state = state.ok_or_else(|| invalid("it is of an abstract type alone"))?;
    let cut = !core::ptr::eq(node.info, formal) && node.info.is_truncatable();
    let mut ids: Vec<&'static str> = alloc::vec![node.info.id()];
    let mut of = node.info;
    while let (true, true, Some(base)) = (cut, of.is_truncatable(), of.base()) {
        ids.push(base.id());
        of = base;
    }
    let chunked = cut || node.info.is_custom();
    let (at, chunked) = begin(node.codebase.as_ref(), &Ids::Known(&ids), chunked, to, |at, to| {
        to.values().values.insert(Arc::as_ptr(&node).addr(), (node.clone(), at, at));
    })?;
    write_state(state, to)?;
    finish(chunked, to)?;
    let end = to.len();
    to.values().values.insert(Arc::as_ptr(&node).addr(), (node.clone(), at, end));
    Ok(())
}

/// Begins a value: what stands before its state. Gives where its tag is, and whether it is in chunks, as it is inside of one that is.
pub(crate) fn begin<'e>(
    codebase: Option<&Text>,
    ids: &Ids<'_>,
    chunked: bool,
    to: &mut Encoder<'e>,
    begun: impl FnOnce(usize, &mut Encoder<'e>),
) -> Result<(usize, bool), EncodeError> {
    let values = to.values();
    if values.depth >= NESTING {
        return Err(invalid("values are nested deeper than 256"));
    }
    values.depth += 1;
    let chunked = chunked || values.level > 0;
    close_chunk(to)?;
    to.align(4);
    let at = to.len();
    begun(at, to);
    let listed = match ids {
        Ids::Known([_]) | Ids::One(_) => ONE_ID,
        Ids::Received(ids) if ids.len() == 1 => ONE_ID,
        Ids::Known([]) => 0,
        Ids::Received(ids) if ids.is_empty() => 0,
        Ids::Known(_) | Ids::Received(_) | Ids::Listed(_) => LIST_OF_IDS,
    };
    let flags = listed | if chunked { CHUNKED } else { 0 } | if codebase.is_some() { CODEBASE } else { 0 };
    to.write_u32(VALUE_TAG | flags);
    if let Some(text) = codebase {
        write_text(text, to)?;
    }
    match ids {
        Ids::One(id) => write_text(id, to)?,
        Ids::Known([id]) => write_id(id, to)?,
        Ids::Received(ids) if ids.len() == 1 => write_text(&ids[0], to)?,
        Ids::Known(ids) if !ids.is_empty() => {
            to.write_length(ids.len())?;
            ids.iter().try_for_each(|id| write_id(id, to))?;
        }
        Ids::Listed(ids) => write_list(ids, to)?,
        Ids::Received(ids) if !ids.is_empty() => write_list(ids, to)?,
        _ => {}
    }
    if chunked {
        to.values().level += 1;
        open_chunk(to);
    }
    Ok((at, chunked))
}

/// Ends a value, whose state was written.
pub(crate) fn finish(chunked: bool, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if chunked {
        close_chunk(to)?;
        let level = to.values().level;
        let tag = level.wrapping_neg();
        // Values that end at the same place have one end tag, that of the outermost; omniORB takes no two in a row.
        let before = to.values().end;
        match before {
            Some(at) if at + 4 == to.len() => to.set_u32(at, tag),
            _ => {
                to.write_u32(tag);
                let at = to.len() - 4;
                to.values().end = Some(at);
            }
        }
        to.values().level = level - 1;
        if level > 1 {
            open_chunk(to);
        }
    }
    to.values().depth -= 1;
    Ok(())
}

/// Writes what may live shorter than the message.
fn write_state(state: &dyn State, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let empty = Encoder::new(to.format());
    let mut short: Encoder<'_> = core::mem::replace(to, empty);
    let result = state.encode(&mut short);
    *to = short.into_static();
    result
}

fn write_id(id: &'static str, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if let Some(at) = to.values().ids.get(id) {
        let at = *at;
        return write_indirection(at, to);
    }
    to.align(4);
    let at = to.len();
    to.values().ids.insert(id, at);
    to.write_raw_string(id.as_bytes())
}

fn write_text(text: &Text, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let key = Arc::as_ptr(text).addr();
    if let Some((_, at)) = to.values().texts.get(&key) {
        let at = *at;
        return write_indirection(at, to);
    }
    to.align(4);
    let at = to.len();
    to.values().texts.insert(key, (text.clone(), at));
    to.write_raw_string(text)
}

fn write_list(ids: &Arc<[Text]>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let key = Arc::as_ptr(ids).addr();
    if let Some((_, at)) = to.values().lists.get(&key) {
        let at = *at;
        return write_indirection(at, to);
    }
    to.align(4);
    let at = to.len();
    to.values().lists.insert(key, (ids.clone(), at));
    to.write_length(ids.len())?;
    ids.iter().try_for_each(|id| write_text(id, to))
}

/// Where the state of a value in chunks that is begun now would lie, modulo 8.
fn lies_at(codebase: Option<&Text>, ids: &Arc<[Text]>, to: &mut Encoder<'_>) -> Result<usize, EncodeError> {
    close_chunk(to)?;
    to.align(4);
    let at = to.position();
    let values = to.values();
    let known = |text: &Text| values.texts.contains_key(&Arc::as_ptr(text).addr());
    // What stands behind an id, or comes again, stands at a multiple of 4.
    let taken = |text: &Text| if known(text) { 8 } else { (4 + text.len() + 1).next_multiple_of(4) };
    let ids = match ids.len() {
        0 => 0,
        1 => taken(&ids[0]),
        _ if values.lists.contains_key(&Arc::as_ptr(ids).addr()) => 8,
        _ => {
            // The same id may stand in it twice.
            let again = |index: usize| ids[..index].iter().any(|id| Arc::ptr_eq(id, &ids[index]));
            4 + (0..ids.len()).map(|at| if again(at) { 8 } else { taken(&ids[at]) }).sum::<usize>()
        }
    };
    Ok((at + 4 + codebase.map_or(0, taken) + ids + 4) & 7)
}

/// Begins a value in chunks, if that can be done so that its state lies at `phase`, modulo 8: octets whose meaning is not known may hold what
/// is aligned to 8. A chunk begins at a multiple of 4, and a list of repository ids is longer by 4 octets than one alone.
pub(crate) fn begin_at<'e>(
    phase: usize,
    codebase: Option<&Text>,
    ids: &Arc<[Text]>,
    to: &mut Encoder<'e>,
    begun: impl FnOnce(usize, &mut Encoder<'e>),
) -> Result<Option<(usize, bool)>, EncodeError> {
    let ids = match (lies_at(codebase, ids, to)? == phase, ids.len()) {
        (true, _) => Ids::Received(ids),
        (false, 1) => Ids::Listed(ids),
        _ => return Ok(None),
    };
    begin(codebase, &ids, true, to, begun).map(Some)
}

/// Writes octets of a chunked value whose meaning is not known, at this place modulo 8: in the chunk that is open, or in the next.
pub(crate) fn write_piece(octets: &[u8], phase: usize, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if to.position() & 7 != phase {
        close_chunk(to)?;
        open_chunk(to);
    }
    if to.position() & 7 != phase {
        return Err(invalid("octets whose meaning is not known would come to lie elsewhere, modulo 8"));
    }
    to.write_octets(octets);
    Ok(())
}

fn open_chunk(to: &mut Encoder<'_>) {
    to.write_u32(0);
    to.values().chunk = Some(to.len());
}

/// Says how long the chunk is; an empty one is none.
fn close_chunk(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let Some(start) = to.values().chunk.take() else { return Ok(()) };
    match to.len() - start {
        0 => to.take_back_u32(),
        length => {
            let length = u32::try_from(length).ok().filter(|length| *length < VALUE_TAG);
            to.set_u32(start - 4, length.ok_or_else(|| invalid("a chunk of 2 GiB"))?);
        }
    }
    Ok(())
}
