//! A request whose head is that of a request before it: it is recognised by its octets, and not read again.
//!
//! ```text
//! 0              8      12   16                                                    head
//! GIOP, 1.2, … │ size │ id │ flags │ … │ key │ operation │ no contexts │ (to 8) │ body
//!  the same      any    any  └──────────── the same octets ─────────────┘          any
//! ```
//!
//! Where the arguments begin with a sequence of structs, which out of phase is no view (`zorb_cdr::Element`), the head knows their type, and they are brought
//! in phase where they lie.
//!
//! What is in force for a connection's next request (its order among others, its limits) is not in its head, and is looked
//! at each time. What looks otherwise by one octet is for `usual.rs` and `heads.rs` to read.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use zorb_cdr::{Body, ByteOrder, ElementType, Segment, VIEW_FROM};

use super::buffer::ReceiveBuffer;
use super::heads::BODY_ALIGNMENT;
use super::usual::{self, NONE, REQUEST};
use crate::header::HEADER_SIZE;
use crate::{AddressingDisposition, Limits, Request, ResponseFlags, Target};

/// Where a head begins to be the next one's, too: behind the id.
const LIKENESS: usize = HEADER_SIZE + 4;

/// Octets of key and operation of a head that is kept. 1 KiB: they have some tens; what a peer sends in their place is not to be kept
/// for as long as it likes.
const LARGEST: usize = 1024;

/// A head that requests of a connection have had: GIOP 1.2, in our byte order, by object key, without service contexts.
#[derive(Debug)]
pub struct KnownHead {
    /// From the response flags to the number of contexts.
    octets: Box<[u8]>,
    key: Range<usize>,
    operation: Range<usize>,
    response: ResponseFlags,
    /// The arguments begin with a sequence of these.
    structs: Option<ElementType>,
    /// They are bulk that is wanted where it is received, at multiples of so many octets.
    bulk_alignment: Option<usize>,
    /// Octets of a message that is taken as it is, at most.
    most_as_is: usize,
}

impl KnownHead {
    /// The head of this request as most senders write it, with zeros in what is reserved; `None`: it has none of this kind, or one of
    /// more than a KiB.
    #[must_use]
    pub fn of(request: &Request) -> Option<Self> {
        let Target::ObjectKey(key) = &request.target else { return None };
        let is_usual =
            request.version == usual::VERSION && request.contexts.is_empty() && request.number.is_none();
        let name = request.operation_bytes();
        if !is_usual || key.len() + name.len() > LARGEST {
            return None;
        }
        let mut octets = Vec::new();
        octets.extend_from_slice(&[request.response.0, 0, 0, 0]);
        let [high, low] = AddressingDisposition::KEY_ADDR.0.to_ne_bytes();
        octets.extend_from_slice(&[high, low, 0, 0]);
        octets.extend_from_slice(&u32::try_from(key.len()).ok()?.to_ne_bytes());
        let key = put(&mut octets, key);
        octets.extend_from_slice(&u32::try_from(name.len() + 1).ok()?.to_ne_bytes());
        let operation = octets.len()..octets.len() + name.len();
        put(&mut octets, &[name, &[0]].concat());
        octets.extend_from_slice(&NONE);
        let (octets, response) = (octets.into(), request.response);
        let (structs, bulk_alignment, most_as_is) = (None, None, usize::MAX);
        Some(Self { octets, key, operation, response, structs, bulk_alignment, most_as_is })
    }

    /// The same, of requests whose bulk is received as all else is, to lie at multiples of `alignment` (1, 2, 4 or 8). Structs that the arguments
    /// begin with, of this type, are to be in phase.
    #[must_use]
    pub fn with_bulk(self, alignment: usize, structs: Option<ElementType>) -> Self {
        Self { structs, bulk_alignment: Some(alignment), ..self }
    }

    /// The same, of requests whose arguments begin with structs of this type, which are brought in phase where they came whole, from [`VIEW_FROM`] octets
    /// of a message on: such a one [`Inbound::next_large_like`](crate::Inbound::next_large_like) gives, and no other way does. Whether bulk is received
    /// as all else is is not known.
    #[must_use]
    pub fn with_structs(self, structs: ElementType) -> Self {
        Self { structs: Some(structs), most_as_is: VIEW_FROM - 1, ..self }
    }

    /// Whether its requests begin with structs that are brought in phase.
    #[inline]
    #[must_use]
    pub fn has_structs(&self) -> bool {
        self.structs.is_some()
    }

    /// Whether its requests, however large, are received as all else is.
    pub(super) fn is_of_bulk(&self) -> bool {
        self.bulk_alignment.is_some()
    }

    /// Whether requests with the other head have this one.
    #[must_use]
    pub fn is_same(&self, other: &KnownHead) -> bool {
        self.octets == other.octets
    }

    /// Goes past a request that has it.
    #[inline]
    fn take(&self, buffer: &mut ReceiveBuffer, octets: usize) {
        match self.bulk_alignment {
            Some(alignment) if !self.response.expects_reply() => buffer.take_bulk(octets, alignment),
            _ => buffer.take(octets),
        }
    }

    /// Whether and when its requests are answered.
    #[inline]
    #[must_use]
    pub fn response(&self) -> ResponseFlags {
        self.response
    }

    /// The object key.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.octets.get(self.key.clone()).unwrap_or_default()
    }

    /// The operation's name.
    #[inline]
    #[must_use]
    pub fn operation(&self) -> &[u8] {
        self.octets.get(self.operation.clone()).unwrap_or_default()
    }
}

/// Appends octets, and zeros to a multiple of 4; where the octets are.
fn put(to: &mut Vec<u8>, octets: &[u8]) -> Range<usize> {
    let from = to.len();
    to.extend_from_slice(octets);
    let end = to.len();
    to.resize(end.next_multiple_of(4), 0);
    from..end
}

/// Takes a request from the front of the buffer if it lies there whole, has this head, and is taken as it is: its id and body.
#[inline(always)]
pub(super) fn take(buffer: &mut ReceiveBuffer, head: &KnownHead, limits: &Limits) -> Option<(u32, Body)> {
    take_as_is(buffer, head, limits, head.most_as_is)
}

/// The same, of so many octets at most.
#[inline(always)]
fn take_as_is(
    buffer: &mut ReceiveBuffer,
    head: &KnownHead,
    limits: &Limits,
    most: usize,
) -> Option<(u32, Body)> {
    let (id, message, rest) = find(buffer.unparsed(), head, limits)?;
    let total = message.len();
    if total > most {
        return None;
    }
    let body = usual::body(buffer, message, rest);
    head.take(buffer, total);
    Some((id, body))
}

/// The same of a head that has structs, which are brought in phase; few are copied.
pub(super) fn take_in_phase(
    buffer: &mut ReceiveBuffer,
    head: &KnownHead,
    limits: &Limits,
) -> Option<(u32, Body)> {
    let (id, message, rest) = find(buffer.unparsed(), head, limits)?;
    let total = message.len();
    let Some(structs) = head.structs.as_ref().filter(|_| total >= VIEW_FROM) else {
        return take_as_is(buffer, head, limits, usize::MAX);
    };
    let at = (total - rest.len()).next_multiple_of(BODY_ALIGNMENT);
    let body = in_phase(buffer, total, at, structs);
    head.take(buffer, total);
    Some((id, body))
}

/// As [`take`], behind a message whose body is still there: what `body` becomes is its own. Of a head that has structs that one is let go first, since they
/// are brought in phase where nobody else looks.
#[inline(always)]
pub(super) fn take_into(
    buffer: &mut ReceiveBuffer,
    head: &KnownHead,
    limits: &Limits,
    body: &mut Body,
) -> Option<u32> {
    if head.structs.is_some() {
        return take_in_phase_into(buffer, head, limits, body);
    }
    let (id, message, rest) = find(buffer.unparsed(), head, limits)?;
    let total = message.len();
    usual::body_into(body, buffer, message, rest);
    head.take(buffer, total);
    Some(id)
}

#[cold]
#[inline(never)]
fn take_in_phase_into(
    buffer: &mut ReceiveBuffer,
    head: &KnownHead,
    limits: &Limits,
    body: &mut Body,
) -> Option<u32> {
    *body = Body::empty();
    let (id, next) = take_in_phase(buffer, head, limits)?;
    *body = next;
    Some(id)
}

/// The body at `at` of a message of so many octets, brought in phase if only the buffer has a handle on it.
fn in_phase(buffer: &mut ReceiveBuffer, total: usize, at: usize, structs: &ElementType) -> Body {
    let message = buffer.unparsed_mut().and_then(|octets| octets.get_mut(..total));
    let (at, phase) = match message.and_then(|message| structs.bring_in_phase(message, at)) {
        Some(begin) => (begin, ElementType::SHIFTED),
        None => (at, 0),
    };
    Body::one(Segment { octets: buffer.part(at, total - at), phase }, ByteOrder::NATIVE)
}

/// The request that the octets begin with, if it has this head, whatever is there of what follows: its id, and where the head ends.
pub(super) fn begins(octets: &[u8], head: &KnownHead) -> Option<(u32, usize)> {
    let &[magic, kind, _, id] = octets.as_chunks().0.first_chunk()?;
    let rest = octets.get(LIKENESS..)?.strip_prefix(&*head.octets)?;
    ([magic, kind] == REQUEST).then_some((u32::from_ne_bytes(id), octets.len() - rest.len()))
}

/// The request that the octets begin with, if it is whole and has this head: its id, all of it, and what stands behind its head.
#[inline(always)]
pub(super) fn find<'o>(
    octets: &'o [u8],
    head: &KnownHead,
    limits: &Limits,
) -> Option<(u32, &'o [u8], &'o [u8])> {
    let &[magic, kind, size, id] = octets.as_chunks().0.first_chunk()?;
    let total = usize::try_from(u32::from_ne_bytes(size)).ok()?.checked_add(HEADER_SIZE)?;
    if [magic, kind] != REQUEST || total > limits.max_message {
        return None;
    }
    let message = octets.get(..total)?;
    let rest = message.get(LIKENESS..)?.strip_prefix(&*head.octets)?;
    Some((u32::from_ne_bytes(id), message, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbound::usual::VERSION;
    use crate::{
        Addressing, ContextId, Inbound, Message, RequestHead, ServiceContexts, begin_request, finish,
    };
    use zorb_cdr::{Encoder, Format, Version};

    /// A request of so many octets of arguments.
    fn request(id: u32, version: Version, contexts: &ServiceContexts, arguments: u8) -> Vec<u8> {
        let mut to = Encoder::new(Format::new(version));
        let head = RequestHead {
            id,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(b"the key"),
            operation: "act",
            by_number: None,
            contexts,
        };
        begin_request(&mut to, &head).unwrap();
        (0..arguments).for_each(|number| to.write_u8(number));
        finish(&mut to).unwrap();
        to.to_bytes().to_vec()
    }

    fn usual(id: u32, arguments: u8) -> Vec<u8> {
        request(id, VERSION, &ServiceContexts::new(), arguments)
    }

    fn received(octets: &[u8]) -> Inbound {
        let mut inbound = Inbound::new(Limits::default());
        inbound.space()[..octets.len()].copy_from_slice(octets);
        inbound.received(octets.len());
        inbound
    }

    fn read(octets: &[u8]) -> Option<Request> {
        match received(octets).next() {
            Ok(Some(Message::Request(request))) => Some(request),
            _ => None,
        }
    }

    fn known() -> KnownHead {
        KnownHead::of(&read(&usual(1, 0)).unwrap()).unwrap()
    }

    #[test]
    fn requests_with_the_same_head_are_taken_one_after_the_other() {
        let head = known();
        assert_eq!((head.key(), head.operation()), (&b"the key"[..], &b"act"[..]));
        let all = [usual(7, 0), usual(8, 3), usual(9, 1)].concat();
        let mut inbound = received(&all);
        for (id, arguments) in [(7, &[][..]), (8, &[0, 1, 2]), (9, &[0])] {
            assert!(inbound.comes_like(&head), "which takes nothing");
            let (found, body) = inbound.next_like(&head).unwrap();
            assert_eq!((found, &body.first().octets[..]), (id, arguments));
        }
        assert!(!inbound.comes_like(&head) && inbound.next_like(&head).is_none() && !inbound.is_incomplete());
    }

    #[test]
    fn whatever_octet_is_changed_a_request_is_recognised_only_if_it_says_the_same() {
        let (head, message) = (known(), usual(1, 9));
        let plain = read(&message).unwrap();
        let mut recognised = 0;
        for at in 0..message.len() {
            for with in [0, 1, 2, 3, 7, 0x40, 0xff] {
                let mut changed = message.clone();
                changed[at] = with;
                let mut inbound = received(&changed);
                let Some((id, body)) = inbound.next_like(&head) else {
                    assert!(message != changed, "the very same was not recognised");
                    continue;
                };
                recognised += 1;
                let read = read(&changed).expect("what is recognised is a request");
                assert_eq!((id, &body), (read.id, &read.body), "octet {at} is {with}");
                assert_eq!((&read.target, &read.operation), (&plain.target, &plain.operation));
                assert_eq!((read.response, read.contexts.len()), (plain.response, 0));
            }
        }
        assert!(recognised > 4, "ids and arguments may be any: {recognised}");
    }

    #[test]
    fn every_prefix_waits_for_the_rest() {
        let (head, message) = (known(), usual(5, 4));
        for end in 0..message.len() {
            let mut inbound = received(&message[..end]);
            assert!(inbound.next_like(&head).is_none(), "{end} octets are no message");
            assert!(inbound.next().unwrap().is_none());
        }
    }

    #[test]
    fn what_is_said_otherwise_is_left_to_who_can_read_it() {
        let head = known();
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId(77), bytes::Bytes::from_static(b"x"));
        let mut fragment = usual(1, 4);
        fragment[6] |= 2;
        let mut other_order = usual(1, 4);
        other_order[6] ^= 1;
        let others = [
            request(1, Version::V1_1, &ServiceContexts::new(), 0),
            request(1, VERSION, &contexts, 0),
            fragment,
            other_order,
            b"ZIOP".iter().chain(&usual(1, 0)[4..]).copied().collect(),
        ];
        for other in others {
            assert!(received(&other).next_like(&head).is_none());
        }
        let small = Limits { max_message: 40, ..Limits::default() };
        let mut inbound = Inbound::new(small);
        let message = usual(1, 4);
        inbound.space()[..message.len()].copy_from_slice(&message);
        inbound.received(message.len());
        assert!(inbound.next_like(&head).is_none() && inbound.next().is_err(), "a limit holds for all");
    }

    #[test]
    fn long_heads_are_not_kept() {
        let mut request = read(&usual(1, 0)).unwrap();
        request.target = Target::ObjectKey(alloc::vec![0; LARGEST].into());
        assert!(KnownHead::of(&request).is_none());
        request.target = Target::ObjectKey(alloc::vec![0; LARGEST - 3].into());
        assert!(KnownHead::of(&request).is_some());
    }

    #[test]
    fn heads_of_another_form_are_not_known() {
        let mut contexts = ServiceContexts::new();
        contexts.push(ContextId(77), bytes::Bytes::from_static(b"x"));
        let with_contexts = read(&request(1, VERSION, &contexts, 0)).unwrap();
        let older = read(&request(1, Version::V1_1, &ServiceContexts::new(), 0)).unwrap();
        assert!(KnownHead::of(&with_contexts).is_none() && KnownHead::of(&older).is_none());
    }
}
