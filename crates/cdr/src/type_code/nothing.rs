//! Types whose values take no octets, and how many of them a sequence may have.

use super::{Edge, Node, unaliased};
use crate::{DecodeError, Decoder, TCKind, TypeCode};

/// As many elements has a sequence at most whose elements take no octets. A peer that sends one pays four octets, and a reader takes a step
/// for each element: with 1,024 that is 256 steps for an octet, about what the largest values of other types cost to read.
pub const MOST_NOTHINGS: u32 = 1024;

/// As many parts of a type are looked at before it is taken for one of octets: it is done for each count that is read, of four octets,
/// and a type of few octets may be made of parts without end. A struct of nothing that has more parts is read where octets follow.
const MOST_LOOKS: usize = 64;

/// Whether values of a type take no octets: a struct without members, or of such, or an array of them. An exception has its id.
fn is_nothing(nodes: &[Node], at: Edge, looks: &mut usize) -> bool {
    let Some(left) = looks.checked_sub(1) else { return false };
    *looks = left;
    match unaliased(nodes, at) {
        // `null` and `void` take none either, and are no members of anything that IDL declares.
        Edge::Simple(..) => false,
        Edge::Node(index) => nodes.get(index as usize).is_some_and(|node| match node.kind {
            TCKind::Struct => node.members.iter().all(|member| is_nothing(nodes, member.ty, looks)),
            TCKind::Array => is_nothing(nodes, node.content, looks),
            _ => false,
        }),
    }
}

/// Reads the number of elements of a sequence, and checks it against the octets that follow; of elements that take none, against
/// [`MOST_NOTHINGS`].
pub(crate) fn read_count_of(
    nodes: &[Node],
    element: Edge,
    from: &mut Decoder<'_>,
) -> Result<usize, DecodeError> {
    if !is_nothing(nodes, element, &mut { MOST_LOOKS }) {
        return from.read_count(1);
    }
    let count = from.read_u32()? as usize;
    from.check_bound(count, MOST_NOTHINGS, "sequence of nothing")?;
    Ok(count)
}

impl TypeCode {
    /// The most elements of a sequence of this type: its bound, and what may be read.
    pub(crate) fn most_elements(&self) -> usize {
        let Some(node) = self.resolved().filter(|node| node.kind == TCKind::Sequence) else { return 0 };
        let bound = if node.number == 0 { u32::MAX } else { node.number as u32 };
        let nothing = is_nothing(self.nodes(), node.content, &mut { MOST_LOOKS });
        (if nothing { bound.min(MOST_NOTHINGS) } else { bound }) as usize
    }

    /// Reads how many elements a sequence of this type has: no more than octets follow, or where its elements take no octets, which are
    /// structs without members or made of such, than [`MOST_NOTHINGS`]; nor than its bound.
    ///
    /// # Errors
    /// [`LengthBeyondEnd`](crate::DecodeErrorKind::LengthBeyondEnd), [`BoundExceeded`](crate::DecodeErrorKind::BoundExceeded).
    pub fn read_count(&self, from: &mut Decoder<'_>) -> Result<usize, DecodeError> {
        let Some(node) = self.resolved().filter(|node| node.kind == TCKind::Sequence) else {
            return from.read_count(1);
        };
        let count = read_count_of(self.nodes(), node.content, from)?;
        if node.number != 0 {
            from.check_bound(count, node.number as u32, "sequence")?;
        }
        Ok(count)
    }
}
