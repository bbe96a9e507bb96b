//! A message of which some octets are not in the receive buffer: they lie where somebody else has put them, and are taken as
//! they are.
//!
//! ```text
//! receive buffer   │ header │ head │ … │            │ tail │ next message
//! deposited                            │ 16 MiB     │
//!                  └── segment 0 ──────┘└ segment 1 ┘└  2  ┘    of one body
//! ```
//!
//! The head is to come in one piece: who puts octets elsewhere does that to bulk data.

use alloc::vec::Vec;

use zorb_cdr::{Body, ByteOrder, Piece, Segment, Version};

use super::buffer::ReceiveBuffer;
use super::cursor::Cursor;
use super::heads::BODY_ALIGNMENT;
use super::{GiopParser, heads, repeated};
use crate::header::{HEADER_SIZE, Header};
use crate::{KnownHead, Limits, Message, MessageType, ProtocolError};

/// What has come of it.
pub(super) struct Pieces {
    header: Header,
    segments: Vec<Segment<Piece>>,
    /// Octets in them.
    octets: usize,
    /// Reads the next message.
    pub(super) parser: GiopParser,
}

impl Pieces {
    /// Whether the message that the buffer begins with may come in pieces: its header is there, something of it is missing, and it is none in
    /// fragments.
    pub(super) fn may_begin(buffer: &ReceiveBuffer, limits: &Limits) -> bool {
        Self::header(buffer, limits).is_some()
    }

    fn header(buffer: &ReceiveBuffer, limits: &Limits) -> Option<Header> {
        let header = Header::parse(buffer.unparsed().first_chunk()?).ok()?;
        let is_whole = !header.more_fragments && header.message != MessageType::FRAGMENT;
        let fits = header.total() <= limits.max_message && buffer.unparsed().len() < header.total();
        (is_whole && fits).then_some(header)
    }

    /// With what the buffer has of it, when so many octets come elsewhere.
    pub(super) fn begin(buffer: &mut ReceiveBuffer, limits: &Limits, elsewhere: usize) -> Option<Self> {
        let header = Self::header(buffer, limits)?;
        let parser = GiopParser::default();
        let mut pieces = Self { header, segments: Vec::with_capacity(3), octets: 0, parser };
        let come = buffer.unparsed().len();
        // What is behind is received into the same memory.
        match come + elsewhere < header.total() {
            true => {
                pieces.add(buffer.head(come));
                buffer.take(come);
            }
            false => pieces.take(buffer),
        }
        // What is missing may come without it.
        buffer.expect(0);
        Some(pieces)
    }

    /// With what has come of it elsewhere, `octets` of the message.
    pub(super) fn go_on(
        header: Header,
        segments: Vec<Segment<Piece>>,
        octets: usize,
        parser: GiopParser,
    ) -> Self {
        Self { header, segments, octets, parser }
    }

    /// How many octets are missing.
    pub(super) fn missing(&self) -> usize {
        self.header.total() - self.octets
    }

    /// Adds octets that come next, no more than are missing.
    pub(super) fn add(&mut self, octets: impl Into<Piece>) {
        let octets = octets.into();
        let phase = self.octets & 7;
        self.octets += octets.len();
        self.segments.push(Segment { octets, phase });
    }

    /// Takes what the buffer has of it.
    pub(super) fn take(&mut self, buffer: &mut ReceiveBuffer) {
        let octets = buffer.unparsed().len().min(self.missing());
        if octets > 0 {
            let part = buffer.part(0, octets);
            buffer.take(octets);
            self.add(part);
        }
    }

    /// The message, if all of it has come.
    pub(super) fn finish(
        &mut self,
        buffer: &mut ReceiveBuffer,
        limits: &Limits,
    ) -> Result<Option<Message>, ProtocolError> {
        if self.missing() > buffer.unparsed().len() {
            buffer.expect(self.missing());
            return Ok(None);
        }
        self.take(buffer);
        let whole = Body::many(core::mem::take(&mut self.segments), self.header.order);
        heads::decode(Cursor::over(&self.header, &whole), limits)
    }

    /// The message, if all of it has come and it is a request with this head: its id and its body.
    pub(super) fn finish_like(
        &mut self,
        buffer: &mut ReceiveBuffer,
        head: &KnownHead,
    ) -> Option<(u32, Body)> {
        let has_all = self.missing() <= buffer.unparsed().len();
        let first = self.segments.first_mut().filter(|_| has_all)?;
        let Piece::Octets(octets) = &first.octets else { return None };
        let (id, at) = repeated::begins(octets, head)?;
        // Arguments begin at a multiple of 8.
        let arguments = octets.get(at.next_multiple_of(BODY_ALIGNMENT)..)?.len();
        *first = Segment { octets: octets.slice(octets.len() - arguments..octets.len()).into(), phase: 0 };
        self.take(buffer);
        Some((id, Body::many(core::mem::take(&mut self.segments), ByteOrder::NATIVE)))
    }

    /// Whether it is a reply to request `id`. Before GIOP 1.2 any reply may be.
    pub(super) fn is_reply_to(&self, id: u32) -> bool {
        let first =
            self.segments.first().and_then(|first| first.octets.get(HEADER_SIZE..)?.first_chunk::<4>());
        let said = first.map(|octets| match self.header.order {
            zorb_cdr::ByteOrder::Little => u32::from_le_bytes(*octets),
            zorb_cdr::ByteOrder::Big => u32::from_be_bytes(*octets),
        });
        self.header.message == MessageType::REPLY && (self.header.version < Version::V1_2 || said == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Addressing, BeginsToCome, Inbound, RequestHead, ResponseFlags, ServiceContexts, begin_request, finish,
    };
    use alloc::vec;
    use bytes::Bytes;
    use zorb_cdr::{Decode, Decoder, Encoder, Format, Sequence};

    const MUCH: usize = 100_000;

    /// A request with a text, much, and a text behind it; and where the much begins in it.
    fn request(id: u32) -> (Vec<u8>, usize) {
        let mut to = Encoder::new(Format::new(Version::V1_2));
        let head = RequestHead {
            id,
            response: ResponseFlags::WITH_TARGET,
            target: Addressing::ObjectKey(b"key"),
            operation: "show",
            by_number: None,
            contexts: &ServiceContexts::new(),
        };
        begin_request(&mut to, &head).unwrap();
        let much: Vec<f64> = (0..MUCH / 8).map(|number| number as f64).collect();
        to.write_string("before").unwrap();
        to.write_length(much.len()).unwrap();
        to.align(8);
        let at = to.position();
        much.iter().for_each(|number| to.write_f64(*number));
        to.write_string("behind").unwrap();
        finish(&mut to).unwrap();
        (to.into_buffer(), at)
    }

    fn receive(inbound: &mut Inbound, octets: &[u8]) {
        let space = inbound.space();
        space[..octets.len()].copy_from_slice(octets);
        inbound.received(octets.len());
    }

    /// Memory whose first octet lies at a multiple of 8.
    fn aligned(octets: &[u8]) -> Bytes {
        let mut memory = vec![0; octets.len() + 8];
        let at = memory.as_ptr().align_offset(8);
        memory[at..at + octets.len()].copy_from_slice(octets);
        Bytes::from(memory).slice(at..at + octets.len())
    }

    fn check(message: Message, id: u32, lies_at: Option<*const u8>) {
        let Message::Request(request) = message else { panic!("{message:?}") };
        assert_eq!((request.id, &request.operation[..]), (id, &b"show"[..]));
        check_body(&request.body, lies_at);
    }

    fn check_body(body: &Body, lies_at: Option<*const u8>) {
        let mut from = Decoder::over(body, Format::new(Version::V1_2));
        assert_eq!(from.read_string().unwrap(), "before");
        let much = Sequence::<f64>::decode(&mut from).unwrap();
        assert!(much.len() == MUCH / 8 && much.iter().zip(0..).all(|(number, at)| *number == f64::from(at)));
        if let Some(lies_at) = lies_at {
            assert_eq!(much.as_ptr().cast(), lies_at, "it is not copied");
        }
        assert_eq!(from.read_string().unwrap(), "behind");
        assert_eq!(from.remaining(), 0);
    }

    #[test]
    fn what_is_deposited_is_read_where_it_lies_and_the_next_message_follows() {
        let mut inbound = Inbound::new(Limits::default());
        for id in 1..4 {
            let (message, at) = request(id);
            let room = inbound.space().len();
            assert_eq!(inbound.missing(), 0);
            receive(&mut inbound, &message[..at]);
            assert!(inbound.next().unwrap().is_none() && inbound.is_incomplete());
            assert_eq!(inbound.missing(), message.len() - at);
            let much = aligned(&message[at..at + MUCH]);
            let lies_at = much.as_ptr();
            inbound.deposit(much).unwrap();
            assert!(inbound.space().len() <= room, "no room for what has come");
            assert!(inbound.next().unwrap().is_none() && !inbound.has_buffered());
            assert_eq!(inbound.missing(), message.len() - at - MUCH);
            // With the rest comes all of a small one.
            let (small, _) = request(77);
            let mut rest = message[at + MUCH..].to_vec();
            rest.extend_from_slice(&small[..20]);
            receive(&mut inbound, &rest);
            assert!(inbound.has_buffered());
            check(inbound.next().unwrap().unwrap(), id, Some(lies_at));
            assert!(inbound.next().unwrap().is_none());
            receive(&mut inbound, &small[20..]);
            check(inbound.next().unwrap().unwrap(), 77, None);
            assert!(!inbound.is_incomplete());
        }
    }

    #[test]
    fn the_body_may_come_in_any_pieces() {
        let (message, at) = request(5);
        for cuts in [[at, 50_000, 100_001], [at - 7, at - 3, at + 2], [90, 60_000, 60_001]] {
            let mut inbound = Inbound::new(Limits::default());
            let [head, first, second] = cuts;
            receive(&mut inbound, &message[..head]);
            assert!(inbound.next().unwrap().is_none());
            inbound.deposit(Bytes::copy_from_slice(&message[head..first])).unwrap();
            inbound.deposit(Bytes::copy_from_slice(&message[first..second])).unwrap();
            assert!(inbound.next().unwrap().is_none());
            inbound.deposit(Bytes::copy_from_slice(&message[second..])).unwrap();
            check(inbound.next().unwrap().unwrap(), 5, None);
            assert!(inbound.next().unwrap().is_none() && !inbound.is_incomplete());
        }
    }

    #[test]
    fn what_does_not_belong_to_a_message_is_not_taken() {
        let (message, at) = request(5);
        let mut inbound = Inbound::new(Limits::default());
        assert!(inbound.deposit(Bytes::copy_from_slice(&message[..])).is_err(), "no message has begun");
        receive(&mut inbound, &message[..at]);
        assert!(inbound.next().unwrap().is_none());
        assert!(inbound.deposit(vec![0; message.len()].into()).is_err(), "it is more than is missing");
        inbound.deposit(Bytes::copy_from_slice(&message[at..])).unwrap();
        assert!(inbound.deposit(vec![0; 1].into()).is_err(), "nothing is missing");
        check(inbound.next().unwrap().unwrap(), 5, None);
        let small = Limits { max_message: 1000, ..Limits::default() };
        let mut inbound = Inbound::new(small);
        receive(&mut inbound, &message[..at]);
        assert!(inbound.next().is_err() && inbound.deposit(Bytes::copy_from_slice(&message[at..])).is_err());
    }

    #[test]
    fn what_is_behind_is_received_into_the_same_memory() {
        let mut inbound = Inbound::new(Limits::default());
        inbound.offer_bulk(true);
        let memory = inbound.space().as_ptr_range();
        for id in 1..5 {
            let (message, at) = request(id);
            receive(&mut inbound, &message[..at]);
            assert!(inbound.next().unwrap().is_none());
            let asked = inbound.begins_to_come();
            assert!(matches!(asked, BeginsToCome::Message(_)), "it is asked for each: {asked:?}");
            drop(asked);
            inbound.decline();
            assert!(inbound.next().unwrap().is_none(), "and seen again");
            inbound.deposit(Bytes::copy_from_slice(&message[at..at + MUCH])).unwrap();
            assert!(inbound.next().unwrap().is_none());
            assert!(memory.contains(&inbound.space().as_ptr()), "behind the much of request {id}");
            receive(&mut inbound, &message[at + MUCH..]);
            check(inbound.next().unwrap().unwrap(), id, None);
            assert_eq!(inbound.space().as_ptr(), memory.start, "behind request {id}");
        }
    }

    #[test]
    fn one_with_a_known_head_is_taken_without_reading_that() {
        let mut whole = Inbound::new(Limits { receive_buffer: 2 * MUCH, ..Limits::default() });
        let (message, at) = request(1);
        receive(&mut whole, &message);
        let Ok(Some(Message::Request(first))) = whole.next() else { panic!("it is a whole one") };
        let head = |request: &crate::Request| KnownHead::of(request).unwrap().with_bulk(1, None);
        let known = head(&first);
        let other = head(&crate::Request { operation: b"hide"[..].into(), ..first });
        let mut inbound = Inbound::new(Limits::default());
        inbound.offer_bulk(true);
        for id in 2..5 {
            let (message, _) = request(id);
            receive(&mut inbound, &message[..at]);
            assert!(inbound.next().unwrap().is_none());
            assert!(!inbound.decline_like(&other) && inbound.decline_like(&known), "it is asked for each");
            let much = aligned(&message[at..at + MUCH]);
            let lies_at = much.as_ptr();
            inbound.deposit(much).unwrap();
            assert!(inbound.next_large_like(&known).is_none(), "something is missing");
            receive(&mut inbound, &message[at + MUCH..]);
            assert!(inbound.next_large_like(&other).is_none());
            let (found, body) = inbound.next_large_like(&known).unwrap();
            assert_eq!(found, id);
            check_body(&body, Some(lies_at));
            assert!(!inbound.is_incomplete() && inbound.next().unwrap().is_none());
        }
    }

    #[test]
    fn octets_that_are_no_head_are_an_error_and_end_it() {
        let (mut message, at) = request(5);
        // The length of the object key.
        message[24..28].fill(0xff);
        let mut inbound = Inbound::new(Limits::default());
        receive(&mut inbound, &message[..at]);
        assert!(inbound.next().unwrap().is_none());
        inbound.deposit(Bytes::copy_from_slice(&message[at..])).unwrap();
        let error = inbound.next().unwrap_err();
        assert_eq!(inbound.next().unwrap_err(), error);
        assert!(inbound.deposit(vec![0; 1].into()).is_err() && inbound.missing() == 0);
    }
}
