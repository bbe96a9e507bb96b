//! Values read: what a peer says of where things are is looked up among what was read, never believed.

pub(crate) use super::write::{CHUNKED, CODEBASE, INDIRECTION, LAST_VALUE_TAG};
use super::write::{LIST_OF_IDS, ONE_ID, VALUE_TAG};
use super::{Link, Node, Value, ValueInfo, ValueType};
use crate::{ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder};
use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;

/// How many repository ids a value may list: more than any type has truncatable bases. A list may be meant again by each
/// value that follows, so its length is paid many times.
const IDS: usize = 64;

pub(crate) type Text = Arc<[u8]>;

/// What was read of values so far, by where it began.
#[derive(Default)]
pub(crate) struct Seen {
    places: BTreeMap<usize, Place>,
    /// How many chunked values are being read.
    level: u32,
    /// An end tag has closed all chunked values from this level on.
    closed: Option<u32>,
    /// The height of the highest value that the one being read holds so far.
    height: u32,
    /// How far back indirections have led: the first octet of what they mean.
    lowest: Option<usize>,
    /// How many values are read out of turn, where an indirection leads into an any.
    ahead: u32,
    /// Octets that were copied into anys from elsewhere in the message.
    pub(crate) copied: usize,
}

/// How far the reading of chunks has come.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    level: u32,
    closed: Option<u32>,
    height: u32,
}

impl Seen {
    /// Whether nothing may follow in the chunked value that is read.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { level: self.level, closed: self.closed, height: self.height }
    }

    pub(crate) fn resume(&mut self, from: Progress) {
        (self.level, self.closed, self.height) = (from.level, from.closed, from.height);
    }

    pub(crate) fn put(&mut self, at: usize, place: Place) {
        self.places.insert(at, place);
    }

    /// Asks anew how far back indirections lead; gives what was known.
    pub(crate) fn ask_lowest(&mut self, known: Option<usize>) -> Option<usize> {
        core::mem::replace(&mut self.lowest, known)
    }

    /// The values that were read between these octets.
    pub(crate) fn read_between(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, &Arc<Node>)> {
        self.places.range(start..end).filter_map(|(at, place)| match place {
            Place::Read(node) => Some((*at, node)),
            _ => None,
        })
    }

    /// How many chunked values are being read.
    pub(crate) fn level(&self) -> u32 {
        self.level
    }
}

#[derive(Clone)]
pub(crate) enum Place {
    /// A value that is being read.
    Begun(Weak<Node>, &'static ValueInfo),
    Read(Arc<Node>),
    /// A value in an any, of which only the place is known, and its tag.
    Passed(u32),
    /// A value in a part that was cut off.
    Skipped,
    Text(Text),
    List(Arc<[Text]>),
}

impl<T: ValueType> Decode for Option<Value<T>> {
    const MIN_SIZE: usize = 4;

    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(read(T::info(), from)?.map(Value::of))
    }
}

pub(crate) fn invalid(why: &'static str, from: &Decoder<'_>) -> DecodeError {
    from.error(DecodeErrorKind::Invalid(why), "value")
}

pub(super) fn read(formal: &'static ValueInfo, from: &mut Decoder<'_>) -> Result<Option<Link>, DecodeError> {
    let tag = read_tag(from)?;
    let link = match tag {
        0 => None,
        INDIRECTION => Some(match read_place(from)? {
            (_, Place::Read(node)) => again(node, formal, from)?,
            (_, Place::Begun(node, info)) if info.is_a(formal) => Link::Weak(node),
            (at, Place::Passed(tag)) => again(read_passed(at, tag, formal, from)?, formal, from)?,
            (_, Place::Begun(..)) => return Err(of_another_type(from)),
            (_, Place::Skipped) => return Err(cut_off(from)),
            _ => return Err(invalid("an indirection leads to no value", from)),
        }),
        VALUE_TAG..=LAST_VALUE_TAG => return from.nested(|from| read_new(tag, formal, from)).map(Some),
        _ => return Err(invalid("no value begins with its tag", from)),
    };
    reenter(from);
    Ok(link)
}

/// A value that was read.
fn again(node: Arc<Node>, formal: &'static ValueInfo, from: &mut Decoder<'_>) -> Result<Link, DecodeError> {
    if !node.info.is_a(formal) {
        return Err(of_another_type(from));
    }
    let values = from.values();
    values.height = values.height.max(node.height);
    Ok(Link::Strong(node))
}

fn of_another_type(from: &Decoder<'_>) -> DecodeError {
    invalid("an indirection leads to a value of another type", from)
}

pub(crate) fn cut_off(from: &Decoder<'_>) -> DecodeError {
    invalid("an indirection leads into what was cut off", from)
}

/// Reads a value that was passed over in an any, where it lies.
fn read_passed(
    at: usize,
    tag: u32,
    formal: &'static ValueInfo,
    from: &mut Decoder<'_>,
) -> Result<Arc<Node>, DecodeError> {
    let here = from.stand();
    if !from.stand_behind(at) {
        return Err(invalid("an indirection leads to no value", from));
    }
    from.values().ahead += 1;
    let read = from.nested(|from| read_known(tag, formal, from));
    from.values().ahead -= 1;
    from.stand_again(here);
    read
}

/// Between chunks nothing may be read but what begins the next.
pub(crate) fn reenter(from: &mut Decoder<'_>) {
    if from.has_values() && from.values().level > 0 && from.chunk_end().is_none() {
        from.limit(from.position());
    }
}

/// Reads the tag of a value: in the chunk if there is room in it, or behind it.
pub(crate) fn read_tag(from: &mut Decoder<'_>) -> Result<u32, DecodeError> {
    let Some(end) = from.chunk_end() else { return from.read_u32() };
    if end.saturating_sub(from.position()) < 4 {
        skip_chunk(end, from)?;
        if from.values().is_closed() {
            return Err(invalid("a value ends before its state", from));
        }
        if !from.open_chunk() {
            return from.read_u32();
        }
    }
    match from.read_u32()? {
        VALUE_TAG..=LAST_VALUE_TAG => Err(invalid("a value begins inside a chunk", from)),
        tag => Ok(tag),
    }
}

/// Follows an indirection, whose tag was read.
pub(crate) fn read_place(from: &mut Decoder<'_>) -> Result<(usize, Place), DecodeError> {
    let offset = from.read_i32()?;
    let target = (from.position() - 4).checked_add_signed(offset as isize);
    let values = from.values();
    let place = target.and_then(|target| Some((target, values.places.get(&target)?.clone())));
    if let Some((target, _)) = place {
        values.lowest = Some(values.lowest.map_or(target, |lowest| lowest.min(target)));
    }
    place.ok_or_else(|| invalid("an indirection leads to nothing", from))
}

/// A string, or where it stands.
pub(crate) fn read_text(from: &mut Decoder<'_>) -> Result<Text, DecodeError> {
    let length = from.read_u32()?;
    if length == INDIRECTION {
        return match read_place(from)? {
            (_, Place::Text(text)) => Ok(text),
            _ => Err(invalid("an indirection leads to no repository id", from)),
        };
    }
    let at = from.position() - 4;
    let kind = DecodeErrorKind::LengthBeyondEnd { length, left: from.remaining() };
    let length = usize::try_from(length).ok().filter(|length| *length <= from.remaining());
    let octets = from.read_octets(length.ok_or_else(|| from.error(kind, "repository id"))?)?;
    let Some((0, text)) = octets.split_last() else {
        return Err(from.error(DecodeErrorKind::Unterminated, "repository id"));
    };
    let text = Text::from(text);
    from.values().places.insert(at, Place::Text(text.clone()));
    Ok(text)
}

pub(crate) fn read_ids(tag: u32, from: &mut Decoder<'_>) -> Result<Arc<[Text]>, DecodeError> {
    match tag & LIST_OF_IDS {
        0 => Ok(Arc::new([])),
        ONE_ID => Ok(Arc::new([read_text(from)?])),
        LIST_OF_IDS => {
            let count = from.read_u32()?;
            if count == INDIRECTION {
                return match read_place(from)? {
                    (_, Place::List(ids)) => Ok(ids),
                    _ => Err(invalid("an indirection leads to no list of repository ids", from)),
                };
            }
            let at = from.position() - 4;
            if count as usize > IDS {
                return Err(invalid("it lists more than 64 repository ids", from));
            }
            let ids: Arc<[Text]> = (0..count).map(|_| read_text(from)).collect::<Result<Vec<_>, _>>()?.into();
            from.values().places.insert(at, Place::List(ids.clone()));
            Ok(ids)
        }
        _ => Err(invalid("no value begins with its tag", from)),
    }
}

/// A type by its repository id: what is declared or known to be derived from that, or what is registered.
fn type_of(id: &[u8], formal: &'static ValueInfo, from: &Decoder<'_>) -> Option<&'static ValueInfo> {
    formal.find(id).or_else(|| from.value_type(id).filter(|info| info.is_a(formal)))
}

/// Begins what is in chunks; gives how many such values it is then in.
pub(crate) fn enter(chunked: bool, from: &mut Decoder<'_>) -> u32 {
    let values = from.values();
    if chunked {
        values.level += 1;
        let level = values.level;
        from.limit(from.position());
        return level;
    }
    values.level
}

fn read_new(tag: u32, formal: &'static ValueInfo, from: &mut Decoder<'_>) -> Result<Link, DecodeError> {
    let at = from.position() - 4;
    if from.values().ahead > 0
        && let Some(Place::Read(node)) = from.values().places.get(&at).cloned()
    {
        let height = from.values().height;
        if from.stand_past(at) {
            // It was read out of turn, from inside of what is now read.
            from.values().height = height;
            return again(node, formal, from);
        }
    }
    let codebase = if tag & CODEBASE != 0 { Some(read_text(from)?) } else { None };
    let ids = read_ids(tag, from)?;
    let chunked = tag & CHUNKED != 0;
    let outer = from.values().level;
    let known = ids.iter().enumerate().find_map(|(index, id)| Some((index, type_of(id, formal, from)?)));
    let (index, info) = match known {
        Some(known) => known,
        None if ids.is_empty() => (0, formal),
        None => return Err(from.error(DecodeErrorKind::UnknownValueType, "value").of_type(ids.first())),
    };
    if !chunked && (outer > 0 || index > 0) {
        return Err(invalid("it is not in chunks", from));
    }
    let Some(read) = info.read() else { return Err(of_no_type(from)) };
    let level = enter(chunked, from);
    let (before, (_, limit)) = (core::mem::take(&mut from.values().height), from.depth());
    let mut failed = None;
    let node = Arc::new_cyclic(|weak| {
        from.values().places.insert(at, Place::Begun(weak.clone(), info));
        let state = read(from).map_err(|error| failed = Some(error)).ok();
        // Of what is shared, nesting does not bound how deep it lies.
        let height = from.values().height.saturating_add(1);
        if height > limit {
            failed.get_or_insert(from.error(DecodeErrorKind::TooDeep { limit }, "value"));
        }
        Node { info, height, state, codebase }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let values = from.values();
    values.height = before.max(node.height);
    values.places.insert(at, Place::Read(node.clone()));
    if chunked {
        end(level, from)?;
    }
    if from.values().ahead > 0 {
        from.remember_end(at);
    }
    Ok(Link::Strong(node))
}

pub(crate) fn of_no_type(from: &Decoder<'_>) -> DecodeError {
    invalid("it is of an abstract type alone", from)
}

/// Reads a value that begins here, its tag read.
pub(crate) fn read_known(
    tag: u32,
    info: &'static ValueInfo,
    from: &mut Decoder<'_>,
) -> Result<Arc<Node>, DecodeError> {
    match read_new(tag, info, from)? {
        Link::Strong(node) => Ok(node),
        Link::Weak(_) => Err(of_no_type(from)),
    }
}

/// Goes to the end of the chunk that is read.
fn skip_chunk(end: usize, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    while from.position() < end {
        let here = from.left_here().min(end - from.position());
        // At the end of a segment the next is gone on to.
        from.read_octets(here.max(1))?;
    }
    from.unlimit();
    Ok(())
}

/// What comes next in a chunked value whose state is not read by members.
pub(crate) enum Piece {
    /// So many octets, in one chunk.
    Octets(usize),
    /// A value, whose tag was read: it, or null, stands between two chunks.
    Value(u32),
    /// The end, which was gone past.
    End,
}

/// Goes to the next piece of the chunked value at `level`.
pub(crate) fn next_piece(level: u32, from: &mut Decoder<'_>) -> Result<Piece, DecodeError> {
    while !from.values().is_closed() {
        if let Some(end) = from.chunk_end() {
            let left = end.saturating_sub(from.position());
            if left > 0 {
                return Ok(Piece::Octets(left));
            }
            from.unlimit();
        }
        if from.open_chunk() {
            continue;
        }
        match from.read_u32()? {
            1..VALUE_TAG => return Err(from.error(DecodeErrorKind::Truncated, "chunk")),
            tag @ (0 | VALUE_TAG..=LAST_VALUE_TAG) => return Ok(Piece::Value(tag)),
            tag => match tag.wrapping_neg() {
                closed if closed <= level => from.values().closed = Some(closed),
                _ => return Err(invalid("an end tag ends no value", from)),
            },
        }
    }
    leave(level, from);
    Ok(Piece::End)
}

/// Where in octets whose meaning is not known something may be that leads to a value: its offset, where a value that was read begins.
pub(crate) fn leads_elsewhere(octets: &[u8], at: usize, from: &mut Decoder<'_>) -> bool {
    let order = from.order();
    let word = |octets: &[u8]| {
        let octets = octets.first_chunk()?;
        Some(if order == ByteOrder::NATIVE {
            u32::from_ne_bytes(*octets)
        } else {
            u32::from_ne_bytes(*octets).swap_bytes()
        })
    };
    // Alignment counts from elsewhere, by a multiple of 4 in all that zorb reads: all places are looked at.
    (0..octets.len().saturating_sub(7)).any(|index| {
        let (tag, offset) = (octets.get(index..).and_then(word), octets.get(index + 4..).and_then(word));
        let (Some(INDIRECTION), Some(offset)) = (tag, offset) else { return false };
        let target = (at + index + 4).checked_add_signed(offset as i32 as isize);
        let place = target.and_then(|target| from.values().places.get(&target));
        matches!(place, Some(Place::Begun(..) | Place::Read(_) | Place::Passed(_) | Place::Skipped))
    })
}

/// Goes past the end of a chunked value, and past all of it that its type here does not have.
pub(crate) fn end(level: u32, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
    let (depth, limit) = from.depth();
    let mut inner = 0;
    while !from.values().is_closed() {
        if let Some(end) = from.chunk_end() {
            skip_chunk(end, from)?;
        }
        if from.open_chunk() {
            continue;
        }
        match from.read_u32()? {
            0 => {}
            1..VALUE_TAG => return Err(from.error(DecodeErrorKind::Truncated, "chunk")),
            tag @ VALUE_TAG..=LAST_VALUE_TAG => {
                let at = from.position() - 4;
                inner += 1;
                if depth + inner > limit {
                    return Err(from.error(DecodeErrorKind::TooDeep { limit }, "value"));
                }
                if tag & CHUNKED == 0 {
                    return Err(invalid("it is not in chunks", from));
                }
                if tag & CODEBASE != 0 {
                    read_text(from)?;
                }
                read_ids(tag, from)?;
                from.values().places.insert(at, Place::Skipped);
            }
            tag => match tag.wrapping_neg() {
                closed if closed <= level => from.values().closed = Some(closed),
                closed if closed <= level + inner => inner = closed - 1 - level,
                _ => return Err(invalid("an end tag ends no value", from)),
            },
        }
    }
    leave(level, from);
    Ok(())
}

fn leave(level: u32, from: &mut Decoder<'_>) {
    let values = from.values();
    values.level = level - 1;
    if values.closed == Some(level) {
        values.closed = None;
    }
    from.unlimit();
    reenter(from);
}
