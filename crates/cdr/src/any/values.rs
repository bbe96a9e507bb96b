//! Values of valuetypes in an any.
//!
//! What an any holds is a graph of its own (CORBA part 2, §9.3.4.3 lets indirections lead anywhere in a message, so what was
//! received may be part of a larger one). An any that shares nothing with the rest of its message keeps its octets. Of another the
//! repository ids and values that its indirections lead to are copied into it, so that it can be read and sent by itself; what leads back
//! to a value that holds the any cannot be, and is an error. A value elsewhere in the message that is also in an any, behind it, is read
//! from there.

use super::{Any, KEPT};
use crate::copies::copied;
use crate::valuetype::write::{Kept, Span};
use crate::walk::{Graph, walk_values};
use crate::{DecodeError, Decoder, Encoder, TCKind, TypeCode};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is kept of the values in an any.
pub(super) type Held = Arc<Kept>;

/// Reads a value of the type in which values of valuetypes are, or in the chunks of one.
pub(super) fn decode(ty: TypeCode, from: &mut Decoder<'_>) -> Result<Any, DecodeError> {
    let before = from.values().ask_lowest(None);
    let start = from.position();
    let stand = from.stand();
    let result = if from.values().level() > 0 {
        None
    } else {
        let mut graph = Graph::default();
        walk_values(&ty, from, None, &mut graph).map_err(|error| error.reading(from))?;
        let end = from.position();
        let inside = from.values().ask_lowest(before).is_none_or(|lowest| lowest >= start);
        let whole = inside && from.is_in_segment_of(&stand) && ty.kind() != TCKind::Except;
        let progress = from.stand();
        from.stand_again(stand);
        whole.then_some((end, progress, graph.read, graph.used))
    };
    if let Some((end, behind, mut read, described)) = result {
        let (phase, order, format) = (from.phase() as u8, from.order(), from.format());
        let octets = from.read_bytes(end - start)?;
        from.stand_again(behind);
        // Those inside of others are led to, if at all, by indirections.
        let known = from.values().read_between(start, end);
        let inner = known.filter(|(at, _)| !read.iter().any(|span| span.at == *at));
        let inner: Vec<_> = inner.map(|(at, node)| Span { at, end: at, node: node.clone() }).collect();
        read.extend(inner);
        read.sort_unstable_by_key(|span| span.at);
        read.iter_mut().for_each(|span| (span.at, span.end) = (span.at - start, span.end - start));
        return Ok(Any {
            ty,
            octets,
            phase,
            order,
            format,
            values: Some(Arc::new(Kept { spans: read, described })),
        });
    }
    let mut to = Encoder::new(KEPT);
    let walked = walk_values(&ty, from, Some(&mut to), &mut Graph::default());
    from.values().ask_lowest(before);
    walked.map_err(|error| error.reading(from))?;
    copied(to.len());
    let values = to.take_kept().map(Held::from);
    Ok(Any { ty, octets: to.to_bytes(), values, ..Any::EMPTY })
}
