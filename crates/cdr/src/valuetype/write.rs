//! Values written: shared ones once, in chunks where a receiver may cut them down.

use super::{Link, Node, State, Value, ValueInfo, ValueType};
use crate::{Encode, EncodeError, EncodeErrorKind, Encoder};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The tag of a value that says nothing more of itself; flags are added to it.
pub(crate) const VALUE_TAG: u32 = 0x7fff_ff00;
pub(super) const LAST_VALUE_TAG: u32 = 0x7fff_ffff;
pub(super) const CODEBASE: u32 = 1;
pub(super) const ONE_ID: u32 = 2;
pub(super) const LIST_OF_IDS: u32 = 6;
pub(super) const CHUNKED: u32 = 8;
/// What stands before an offset.
pub(super) const INDIRECTION: u32 = 0xffff_ffff;

/// How deep values may nest: what a decoder takes by default.
const NESTING: u32 = 256;

/// The values in a message so far.
#[derive(Default)]
pub(crate) struct Written {
    /// By address: the value, kept so that its address stays its own, and where its tag is.
    values: BTreeMap<usize, (Arc<Node>, usize)>,
    ids: BTreeMap<&'static str, usize>,
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
        self.values.retain(|_, (_, at)| *at < length);
        self.ids.retain(|_, at| *at < length);
        (self.depth, self.level, self.chunk, self.end) = (0, 0, None, None);
    }
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

fn write(link: Option<&Link>, formal: &'static ValueInfo, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let Some(link) = link else {
        to.write_u32(0);
        return Ok(());
    };
    let node = link.upgrade().ok_or_else(|| invalid("a value that it links to weakly is gone"))?;
    if to.is_fragmenting() {
        return Err(invalid("values are not sent in fragments of GIOP 1.1"));
    }
    if let Some((_, at)) = to.values().values.get(&Arc::as_ptr(&node).addr()) {
        let at = *at;
        to.write_u32(INDIRECTION);
        return write_offset(at, to);
    }
    write_new(node, formal, to)
}

/// How far back something is from the offset itself.
fn write_offset(target: usize, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let back = i32::try_from(to.len() - target).map_err(|_| invalid("an indirection leads back 2 GiB"))?;
    to.write_i32(-back);
    Ok(())
}

fn write_new(node: Arc<Node>, formal: &'static ValueInfo, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let state = node.state.as_deref().ok_or_else(|| invalid("it has no state"))?;
    let cut = !core::ptr::eq(node.info, formal) && node.info.truncatable;
    let values = to.values();
    if values.depth >= NESTING {
        return Err(invalid("values are nested deeper than 256"));
    }
    values.depth += 1;
    let chunked = cut || values.level > 0;
    close_chunk(to)?;
    to.align(4);
    let at = to.len();
    to.values().values.insert(Arc::as_ptr(&node).addr(), (node.clone(), at));
    let ids = if cut { LIST_OF_IDS } else { ONE_ID };
    to.write_u32(VALUE_TAG | ids | if chunked { CHUNKED } else { 0 });
    if cut {
        let mut ids: Vec<&'static str> = alloc::vec![node.info.id];
        let mut of = node.info;
        while let (true, Some(base)) = (of.truncatable, of.base()) {
            ids.push(base.id);
            of = base;
        }
        to.write_length(ids.len())?;
        ids.into_iter().try_for_each(|id| write_id(id, to))?;
    } else {
        write_id(node.info.id, to)?;
    }
    if chunked {
        to.values().level += 1;
        open_chunk(to);
    }
    write_state(state, to)?;
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
        to.write_u32(INDIRECTION);
        return write_offset(at, to);
    }
    to.align(4);
    let at = to.len();
    to.values().ids.insert(id, at);
    to.write_raw_string(id.as_bytes())
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
