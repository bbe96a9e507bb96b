//! Runs received where they are to stay: in one piece, in fragments of either kind, between other messages, cut short and cancelled.

use alloc::vec;
use alloc::vec::Vec;

use bytes::Bytes;
use zorb_cdr::{
    Decode, Decoder, Element, ElementType, Encode, Encoder, Format, Piece, Run, Sequence, Version,
};

use super::BeginsToCome;
use crate::{
    Addressing, Inbound, Limits, Message, ProtocolError, RequestHead, ResponseFlags, ServiceContexts,
    begin_request, finish, fragments, write_cancel_request,
};

const COUNT: usize = 50_000;

fn format(version: Version) -> Format {
    Format::new(version)
}

/// A request with a text, a sequence and a text behind it, cut into fragments of so many octets, if any.
fn request<T: Element>(version: Version, id: u32, elements: &[T], cut: Option<usize>) -> Vec<Vec<u8>> {
    let elements = Sequence::from(elements.to_vec());
    let mut to = Encoder::new(format(version));
    if let Some(size) = cut.filter(|_| version == Version::V1_1) {
        to.fragment_every(size);
    }
    let head = RequestHead {
        id,
        response: ResponseFlags::WITH_TARGET,
        target: Addressing::ObjectKey(b"key"),
        operation: "put",
        by_number: None,
        contexts: &ServiceContexts::new(),
    };
    begin_request(&mut to, &head).unwrap();
    to.write_string("before").unwrap();
    elements.encode(&mut to).unwrap();
    to.write_string("behind it all").unwrap();
    to.write_f64(0.5);
    finish(&mut to).unwrap();
    match cut {
        None => vec![to.into_buffer_of_all()],
        Some(size) => fragments(&to, size).map(|piece| piece.slices().collect::<Vec<_>>().concat()).collect(),
    }
}

trait All {
    fn into_buffer_of_all(self) -> Vec<u8>;
}

impl All for Encoder<'_> {
    fn into_buffer_of_all(self) -> Vec<u8> {
        self.slices().collect::<Vec<_>>().concat()
    }
}

/// Receives octets as they come, in reads of at most so many, and puts runs into memory of its own.
struct Receiver {
    inbound: Inbound,
    memory: Vec<u64>,
    run: Option<Run>,
    messages: Vec<Message>,
    /// Octets that went through the receive buffer.
    buffered: usize,
    /// Of the first read of a message.
    first: usize,
}

impl Receiver {
    fn new(limits: Limits, first: usize) -> Self {
        let mut inbound = Inbound::new(limits);
        inbound.offer_bulk(true);
        Receiver { inbound, memory: Vec::new(), run: None, messages: Vec::new(), buffered: 0, first }
    }

    fn bytes(memory: &mut [u64]) -> &mut [u8] {
        zorb_cdr::bytemuck::cast_slice_mut(memory)
    }

    /// What a receive of octets that have come does; how many it took.
    fn receive(&mut self, mut octets: &[u8], element: ElementType) -> Result<usize, ProtocolError> {
        let had = octets.len();
        if self.run.is_none() {
            let space = self.inbound.space();
            let n = octets.len().min(space.len()).min(self.first);
            space[..n].copy_from_slice(&octets[..n]);
            self.inbound.received(n);
            self.buffered += n;
            octets = &octets[n..];
        } else {
            let memory = Self::bytes(&mut self.memory);
            let rooms = self.inbound.rooms(memory);
            assert!(rooms.iter().any(|room| !room.is_empty()), "there is always room");
            let mut taken = 0;
            for (at, room) in rooms.into_iter().enumerate() {
                let n = room.len().min(octets.len());
                room[..n].copy_from_slice(&octets[..n]);
                octets = &octets[n..];
                taken += n;
                self.buffered += if at == 1 { n } else { 0 };
            }
            self.inbound.received_apart(taken, memory)?;
        }
        self.look(element)?;
        Ok(had - octets.len())
    }

    fn look(&mut self, element: ElementType) -> Result<(), ProtocolError> {
        loop {
            while let Some(message) = self.inbound.next()? {
                self.messages.push(message);
            }
            if self.run.is_some() && !self.inbound.is_diverted() {
                self.run = None;
            }
            if let Some(received) = self.inbound.has_all_of_run()
                && let Some(run) = self.run.take()
            {
                let whole = run.settle(Self::bytes(&mut self.memory), received).unwrap();
                let words = core::mem::take(&mut self.memory);
                let elements = Bytes::from_owner(Words(words)).slice(..whole * element.size());
                self.messages.extend(self.inbound.undivert(Some(Run::piece(elements)))?);
                continue;
            }
            if self.run.is_some() && self.inbound.received_apart(0, Self::bytes(&mut self.memory))? {
                continue;
            }
            let BeginsToCome::Message(begun) = self.inbound.begins_to_come() else { return Ok(()) };
            let Message::Request(request) = &begun.message else { panic!("{begun:?}") };
            let mut from = Decoder::over(&request.body, format(request.version));
            let run = from
                .read_string()
                .and_then(|_| from.read_u32())
                .and_then(|count| Run::begin(element, count as usize, &mut from));
            match run {
                Ok(run) => {
                    self.memory = vec![0; run.size().div_ceil(8)];
                    let memory = Self::bytes(&mut self.memory);
                    if self.inbound.divert(*begun, run.clone(), memory)? {
                        self.run = Some(run);
                    }
                }
                Err(_) if begun.is_last_chance(16 << 10) => self.inbound.decline(),
                Err(_) => return Ok(()),
            }
        }
    }

    fn all(
        &mut self,
        mut octets: &[u8],
        at_a_time: usize,
        element: ElementType,
    ) -> Result<(), ProtocolError> {
        while !octets.is_empty() {
            let n = self.receive(&octets[..octets.len().min(at_a_time)], element)?;
            octets = &octets[n..];
        }
        Ok(())
    }
}

struct Words(Vec<u64>);

impl AsRef<[u8]> for Words {
    fn as_ref(&self) -> &[u8] {
        zorb_cdr::bytemuck::cast_slice(&self.0)
    }
}

fn check<T: Element + PartialEq>(message: &Message, id: u32, elements: &[T], is_view: bool) {
    let Message::Request(request) = message else { panic!("{message:?}") };
    assert_eq!((request.id, &request.operation[..]), (id, &b"put"[..]));
    let mut from = Decoder::over(&request.body, format(request.version));
    assert_eq!(from.read_string().unwrap(), "before");
    let received = Sequence::<T>::decode(&mut from).unwrap();
    assert!(received == *elements);
    assert_eq!(received.is_view(), is_view);
    assert_eq!(from.read_string().unwrap(), "behind it all");
    assert_eq!((from.read_f64().unwrap(), from.remaining()), (0.5, 0));
}

fn element<T: Element>() -> ElementType {
    ElementType::of::<T>().unwrap()
}

fn comes<T: Element + PartialEq>(elements: &[T], version: Version, cut: Option<usize>) {
    let octets = [request(version, 1, elements, cut), request(version, 2, elements, cut)].concat().concat();
    let pieces = request(version, 1, elements, cut).len();
    for at_a_time in [1 << 20, 4096, 997, 7] {
        let mut receiver = Receiver::new(Limits::default(), 256);
        receiver.all(&octets, at_a_time, element::<T>()).unwrap();
        assert_eq!(receiver.messages.len(), 2, "{at_a_time} at a time");
        for (message, id) in receiver.messages.iter().zip(1..) {
            check(message, id, elements, true);
        }
        // The heads, and what lies behind the run. Nothing of the rest went through the receive buffer.
        let most = 2 * (256 + 64 + 32 * pieces);
        assert!(receiver.buffered <= most, "{} octets buffered, {most} expected", receiver.buffered);
        assert!(!receiver.inbound.is_incomplete());
    }
}

#[test]
fn runs_go_where_they_are_to_stay_in_one_piece_and_in_fragments() {
    let numbers: Vec<f64> = (0..COUNT).map(|n| n as f64).collect();
    let octets: Vec<u8> = (0..COUNT + 3).map(|n| n as u8).collect();
    let words: Vec<i32> = (0..COUNT as i32).collect();
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        comes(&numbers, version, None);
        comes(&octets, version, None);
    }
    for cut in [2048, 8192, 65_536] {
        for version in [Version::V1_1, Version::V1_2] {
            comes(&numbers, version, Some(cut));
            comes(&words, version, Some(cut));
            comes(&octets, version, Some(cut));
        }
    }
    // Of structs of several members nobody can say where fragments of 1.1 divide them, and those of 1.2 do not matter.
    comes(&vec![[1.5f64, 2.5]; COUNT / 2], Version::V1_2, Some(8192));
}

/// The last fragment with this many octets of data, as omniORB sends them.
#[test]
fn a_last_fragment_may_hold_nothing() {
    let octets: Vec<u8> = (0..COUNT).map(|n| n as u8).collect();
    for (version, head) in [(Version::V1_1, 12), (Version::V1_2, 16)] {
        let mut message = request(version, 1, &octets, None).concat();
        message[6] |= 2;
        let mut last = message[..12].to_vec();
        (last[6], last[7]) = (last[6] & !2, 7);
        last.extend_from_slice(&message[12..head]);
        last[8..12].copy_from_slice(&u32::to_ne_bytes(head as u32 - 12));
        if head == 16 {
            last[12..16].copy_from_slice(&1u32.to_ne_bytes());
        }
        let mut receiver = Receiver::new(Limits::default(), 256);
        receiver.all(&[message, last].concat(), 50_000, element::<u8>()).unwrap();
        check(&receiver.messages[0], 1, &octets, true);
    }
}

#[test]
fn other_messages_come_between_fragments() {
    let octets = vec![7u8; COUNT];
    let pieces = request(Version::V1_2, 1, &octets, Some(8192));
    let others = request(Version::V1_2, 2, &octets[..20_000], Some(2048));
    let small = request(Version::V1_2, 3, &octets[..10], None).concat();
    let mut between = others.iter();
    let mut all = Vec::new();
    for piece in &pieces {
        all.extend_from_slice(piece);
        all.extend(between.next().into_iter().flatten());
        all.extend(between.next().into_iter().flatten());
        all.extend_from_slice(&small);
    }
    all.extend(between.flatten());
    for at_a_time in [1 << 20, 3001, 11] {
        let mut receiver = Receiver::new(Limits::default(), 256);
        receiver.all(&all, at_a_time, element::<u8>()).unwrap();
        let mut of = |id: u32| {
            let is_it = |message: &Message| matches!(message, Message::Request(it) if it.id == id);
            receiver.messages.extract_if(.., |message| is_it(message)).collect::<Vec<_>>()
        };
        let (first, second, smalls) = (of(1), of(2), of(3));
        assert_eq!((first.len(), second.len(), smalls.len()), (1, 1, pieces.len()));
        check(&first[0], 1, &octets, true);
        // It was put together as ever, since the other one was being received elsewhere.
        check(&second[0], 2, &octets[..20_000], true);
        smalls.iter().for_each(|small| check(small, 3, &octets[..10], false));
    }
}

#[test]
fn a_request_that_is_cancelled_midway_is_gone_and_its_memory_free() {
    let octets = vec![7u8; COUNT];
    let pieces = request(Version::V1_2, 1, &octets, Some(8192));
    let mut cancel = Encoder::new(format(Version::V1_2));
    write_cancel_request(&mut cancel, 1);
    let next = request(Version::V1_2, 2, &octets, None).concat();
    let all = [&pieces[0][..], &pieces[1], &cancel.into_buffer(), &next].concat();
    let mut receiver = Receiver::new(Limits::default(), 256);
    receiver.all(&all, 5000, element::<u8>()).unwrap();
    assert!(matches!(receiver.messages[0], Message::CancelRequest { id: 1 }));
    check(&receiver.messages[1], 2, &octets, true);
    assert!(!receiver.inbound.is_incomplete());
}

#[test]
fn a_body_that_ends_before_its_run_does_is_an_error_of_its_values_alone() {
    let octets = vec![7u8; COUNT];
    let mut pieces = request(Version::V1_2, 1, &octets, Some(8192));
    pieces.truncate(3);
    // The last one that comes says that it is the last.
    pieces[2][6] &= !2;
    let next = request(Version::V1_2, 2, &octets, None);
    let all = [pieces.concat(), next.concat()].concat();
    let mut receiver = Receiver::new(Limits::default(), 256);
    receiver.all(&all, 10_000, element::<u8>()).unwrap();
    let Message::Request(short) = &receiver.messages[0] else { panic!("a request") };
    let mut from = Decoder::over(&short.body, format(short.version));
    from.read_string().unwrap();
    Sequence::<u8>::decode(&mut from).unwrap_err();
    check(&receiver.messages[1], 2, &octets, true);
    // In one piece it is seen before: the message is not long enough, and received as ever.
    let mut message = request(Version::V1_2, 1, &octets, None).concat();
    let at = message.len() - octets.len() - 36;
    let at = (at..at + 40).find(|at| message[*at..*at + 4] == u32::to_ne_bytes(COUNT as u32)).unwrap();
    message[at..at + 4].copy_from_slice(&u32::to_ne_bytes(u32::MAX));
    let mut receiver = Receiver::new(Limits::default(), 4096);
    // No memory is asked for on this word: the run is larger than the message.
    let error = std_like_begin(&message);
    assert!(error.is_none_or(|size| size > message.len()));
    receiver.inbound.decline();
    receiver.all(&message, 10_000, element::<u64>()).unwrap();
    assert_eq!(receiver.messages.len(), 1);
}

/// The size that a run would have in the message.
fn std_like_begin(message: &[u8]) -> Option<usize> {
    let mut inbound = Inbound::new(Limits::default());
    inbound.offer_bulk(true);
    inbound.space()[..4096].copy_from_slice(&message[..4096]);
    inbound.received(4096);
    let BeginsToCome::Message(begun) = inbound.begins_to_come() else { return None };
    let Message::Request(request) = &begun.message else { return None };
    let mut from = Decoder::over(&request.body, format(request.version));
    from.read_string().ok()?;
    let count = from.read_u32().ok()? as usize;
    Run::begin(element::<u8>(), count, &mut from).ok().map(|run| run.size())
}

#[test]
fn what_breaks_the_protocol_midway_is_an_error_and_ends_it() {
    let octets = vec![7u8; COUNT];
    let pieces = request(Version::V1_2, 1, &octets, Some(8192));
    // A fragment of nothing, of another byte order, without its id, a second beginning, and no GIOP at all.
    type Spoil<'a> = &'a dyn Fn(&mut Vec<u8>);
    let broken: [Spoil<'_>; 5] = [
        &|next| next[12] ^= 1,
        &|next| next[6] ^= 1,
        &|next| next[8..12].copy_from_slice(&2u32.to_ne_bytes()),
        &|next| *next = pieces[0].clone(),
        &|next| next[0] = b'X',
    ];
    for spoil in broken {
        let mut next = pieces[1].clone();
        spoil(&mut next);
        let all = [&pieces[0][..], &next, &pieces[2]].concat();
        for at_a_time in [1 << 20, 13] {
            let mut receiver = Receiver::new(Limits::default(), 256);
            let error = receiver.all(&all, at_a_time, element::<u8>()).unwrap_err();
            assert_eq!(receiver.inbound.next().unwrap_err(), error);
            assert!(!receiver.inbound.is_diverted() && receiver.messages.is_empty());
        }
    }
}

#[test]
fn limits_hold_for_what_is_received_elsewhere() {
    let octets = vec![7u8; COUNT];
    let pieces = request(Version::V1_2, 1, &octets, Some(2048)).concat();
    let small = Limits { max_message: 30_000, ..Limits::default() };
    let mut receiver = Receiver::new(small, 256);
    let error = receiver.all(&pieces, 1000, element::<u8>()).unwrap_err();
    assert!(matches!(error, ProtocolError::LimitExceeded { limit: "max_message", .. }), "{error}");
    // Endless empty fragments.
    let first = request(Version::V1_2, 1, &octets, Some(2048)).remove(0);
    let mut empty = first[..16].to_vec();
    empty[7] = 7;
    empty[8..12].copy_from_slice(&4u32.to_ne_bytes());
    let limits = Limits { max_reassembly_bytes: 10_000, ..Limits::default() };
    let mut receiver = Receiver::new(limits, 256);
    receiver.all(&first, 1000, element::<u8>()).unwrap();
    let error = (0..1000).find_map(|_| receiver.all(&empty, 1000, element::<u8>()).err()).unwrap();
    assert!(matches!(error, ProtocolError::LimitExceeded { limit: "max_reassembly_bytes", .. }), "{error}");
}

#[test]
fn memory_that_is_too_small_is_declined_and_the_message_comes_as_ever() {
    let octets = vec![7u8; COUNT];
    for cut in [None, Some(8192)] {
        let message = request(Version::V1_2, 1, &octets, cut).concat();
        let mut inbound = Inbound::new(Limits::default());
        inbound.offer_bulk(true);
        let mut come = 0;
        let mut messages = Vec::new();
        while come < message.len() {
            let space = inbound.space();
            let n = space.len().min(message.len() - come);
            space[..n].copy_from_slice(&message[come..come + n]);
            inbound.received(n);
            come += n;
            loop {
                messages.extend(core::iter::from_fn(|| inbound.next().unwrap()));
                let BeginsToCome::Message(begun) = inbound.begins_to_come() else { break };
                let Message::Request(request) = &begun.message else { panic!("{begun:?}") };
                let mut from = Decoder::over(&request.body, format(request.version));
                from.read_string().unwrap();
                let count = from.read_u32().unwrap() as usize;
                let run = Run::begin(element::<u8>(), count, &mut from).unwrap();
                assert!(!inbound.divert(*begun, run, &mut [0; 100]).unwrap());
            }
        }
        check(&messages[0], 1, &octets, true);
    }
}

#[test]
fn a_gap_stays_where_the_elements_are_the_callers() {
    let octets = vec![7u8; COUNT];
    for cut in [None, Some(8192)] {
        let message = request(Version::V1_2, 1, &octets, cut).concat();
        let mut inbound = Inbound::new(Limits::default());
        inbound.offer_bulk(true);
        let first = 300;
        inbound.space()[..first].copy_from_slice(&message[..first]);
        inbound.received(first);
        assert!(inbound.next().unwrap().is_none());
        let BeginsToCome::Message(begun) = inbound.begins_to_come() else { panic!("nothing") };
        let Message::Request(request) = &begun.message else { panic!("{begun:?}") };
        let mut from = Decoder::over(&request.body, format(request.version));
        from.read_string().unwrap();
        let count = from.read_u32().unwrap() as usize;
        let run = Run::begin(element::<u8>(), count, &mut from).unwrap();
        let mut mine = vec![0; COUNT];
        assert!(inbound.divert(*begun, run, &mut mine).unwrap());
        let mut come = first;
        while inbound.has_all_of_run().is_none() {
            let mut taken = 0;
            for room in inbound.rooms(&mut mine) {
                let n = room.len().min(message.len() - come - taken);
                room[..n].copy_from_slice(&message[come + taken..come + taken + n]);
                taken += n;
            }
            come += taken;
            inbound.received_apart(taken, &mut mine).unwrap();
        }
        assert!(mine == octets);
        let mut whole = inbound.undivert(None::<Piece>).unwrap();
        while whole.is_none() {
            let space = inbound.space();
            let n = space.len().min(message.len() - come);
            space[..n].copy_from_slice(&message[come..come + n]);
            inbound.received(n);
            come += n;
            whole = inbound.next().unwrap();
        }
        let Some(Message::Request(request)) = whole else { panic!("{whole:?}") };
        let mut from = Decoder::over(&request.body, format(request.version));
        from.read_string().unwrap();
        assert_eq!(from.read_u32().unwrap() as usize, COUNT);
        assert_eq!(from.read_string().unwrap(), "behind it all");
        assert_eq!((from.read_f64().unwrap(), from.remaining()), (0.5, 0));
    }
}

/// Fragments of what has no bulk are put together as ever, also while others are shown.
#[test]
fn a_locate_request_in_fragments_is_not_held_back() {
    let whole = request(Version::V1_2, 1, &[7u8; 10], None).concat();
    let mut first = Vec::from(*b"GIOP\x01\x02\x00\x03\0\0\0\x0c\0\0\0\x05\0\0\0\0\0\0\0\x08");
    first[6] |= 2;
    let last = b"GIOP\x01\x02\x00\x07\0\0\0\x0c\0\0\0\x05a key ok";
    for at_a_time in [1 << 20, 1] {
        let mut receiver = Receiver::new(Limits::default(), 256);
        receiver.all(&[&first[..], last, &whole].concat(), at_a_time, element::<u8>()).unwrap();
        let Message::LocateRequest(locate) = &receiver.messages[0] else { panic!("{:?}", receiver.messages) };
        assert_eq!((locate.id, locate.target.object_key().as_deref()), (5, Some(&b"a key ok"[..])));
        check(&receiver.messages[1], 1, &[7u8; 10], false);
    }
}
