//! Messages without an ORB: written, carried to the other side, read.

use std::hint::black_box;
use std::mem;
use std::num::NonZeroU64;

use bytes::Bytes;
use zorb::Sequence;
use zorb::cdr::{ByteOrder, Decode, Decoder, Encode, Encoder, Format};
use zorb::giop::{
    Addressing, Inbound, Limits, Message, Protocol, ReplyHead, ReplyStatus, Request, RequestHead,
    ResponseFlags, ServiceContexts, Writer, operation_number,
};

use crate::Case;

/// A key as long as ours are.
const KEY: &[u8] = &[0xa5; 20];

const OPERATION: &str = "operation_500";

const NUMBER: Option<NonZeroU64> = NonZeroU64::new(operation_number(OPERATION.as_bytes()));

/// A request with this payload, written.
pub(crate) fn encode(payload: impl Encode + 'static) -> Case {
    let mut memory = Vec::new();
    Box::new(move |id| {
        let request = request(mem::take(&mut memory), id, &payload);
        black_box(request.contiguous());
        memory = request.into_buffer();
    })
}

/// A request with this payload, read as a server reads it.
pub(crate) fn decode<P: Encode + Decode>(payload: P) -> Case {
    let octets = request(Vec::new(), 1, &payload).to_bytes();
    let mut server = Inbound::new(Limits::default());
    Box::new(move |_| {
        deliver(&octets, &mut server);
        let request = received(&mut server);
        let payload =
            P::decode(&mut Decoder::over(&request.body, Format::default())).expect("as it was written");
        drop(request);
        black_box(payload);
    })
}

/// A sequence of 1,024 longs in the other byte order, read: one pass, in which a few are turned around at a time.
pub(crate) fn swapped() -> Case {
    let order = if cfg!(target_endian = "little") { ByteOrder::Big } else { ByteOrder::Little };
    let words = std::iter::once(SWAPPED).chain(0..SWAPPED);
    let octets: Bytes = words.flat_map(|word| word.swap_bytes().to_ne_bytes()).collect::<Vec<u8>>().into();
    Box::new(move |_| {
        let read = Sequence::<u32>::decode(&mut Decoder::new(&octets, order, Format::default()));
        let read = read.expect("as it was written");
        assert_eq!(read.last(), Some(&(SWAPPED - 1)));
        black_box(read);
    })
}

/// Longs that are turned around.
const SWAPPED: u32 = 1024;

/// A null call's request and its reply: written, read, written, read. By `protocol`, with numbers for names where it has them.
pub(crate) fn there_and_back(protocol: Protocol) -> Case {
    let mut sides = Sides::of(protocol);
    Box::new(move |id| {
        let mut to = Encoder::with_buffer(mem::take(&mut sides.requests), Format::default());
        write_request(sides.protocol.writer(), &mut to, id, &());
        deliver(to.contiguous().expect("nothing was borrowed"), &mut sides.server);
        sides.requests = to.into_buffer();
        let request = received(&mut sides.server);

        let mut to = Encoder::with_buffer(mem::take(&mut sides.replies), Format::default());
        write_reply(sides.protocol.writer(), &mut to, request.id);
        drop(request);
        deliver(to.contiguous().expect("nothing was borrowed"), &mut sides.client);
        sides.replies = to.into_buffer();
        read_reply(&mut sides.client, id);
    })
}

/// What the heads of such a request and its reply take, written and read: the four functions of [`head`], and nothing in between.
pub(crate) fn heads(protocol: Protocol) -> Case {
    let mut sides = Sides::of(protocol);
    Box::new(move |id| exchange_heads(&mut sides, id))
}

/// Memory for messages, and their way, are not counted: never inlined, `run` knows the name.
#[inline(never)]
fn exchange_heads(sides: &mut Sides, id: u32) {
    let mut to = Encoder::with_buffer(mem::take(&mut sides.requests), Format::default());
    head::write_request(&sides.protocol, &mut to, id);
    place(to.contiguous().expect("nothing was borrowed"), &mut sides.server);
    sides.requests = to.into_buffer();
    let id = head::read_request(&mut sides.server);

    let mut to = Encoder::with_buffer(mem::take(&mut sides.replies), Format::default());
    head::write_reply(&sides.protocol, &mut to, id);
    place(to.contiguous().expect("nothing was borrowed"), &mut sides.client);
    sides.replies = to.into_buffer();
    head::read_reply(&mut sides.client, id);
}

/// What is counted of [`exchange_heads`]: `run` knows the names, and nothing of it is inlined there.
mod head {
    use super::{Encoder, Inbound, Message, Protocol};

    /// Begun and completed.
    #[inline(never)]
    pub(super) fn write_request(protocol: &Protocol, to: &mut Encoder<'_>, id: u32) {
        super::write_request(protocol.writer(), to, id, &());
    }

    /// Read to the operation, and let go.
    #[inline(never)]
    pub(super) fn read_request(server: &mut Inbound) -> u32 {
        // Where it lies: who serves it moves it once, and not for its head.
        match server.next() {
            Ok(Some(Message::Request(request))) => {
                super::check(&request);
                request.id
            }
            _ => panic!("a request was sent"),
        }
    }

    #[inline(never)]
    pub(super) fn write_reply(protocol: &Protocol, to: &mut Encoder<'_>, id: u32) {
        super::write_reply(protocol.writer(), to, id);
    }

    /// Read to the status, and let go.
    #[inline(never)]
    pub(super) fn read_reply(client: &mut Inbound, id: u32) {
        super::read_reply(client, id);
    }
}

/// Two ends of a connection, and memory for what they send.
struct Sides {
    protocol: Protocol,
    client: Inbound,
    server: Inbound,
    requests: Vec<u8>,
    replies: Vec<u8>,
}

impl Sides {
    fn of(protocol: Protocol) -> Sides {
        let inbound = || Inbound::of(protocol.clone(), Limits::default());
        let (client, server) = (inbound(), inbound());
        Sides { protocol, client, server, requests: Vec::new(), replies: Vec::new() }
    }
}

#[inline(always)]
fn request<P: Encode>(memory: Vec<u8>, id: u32, payload: &P) -> Encoder<'_> {
    let mut to = Encoder::with_buffer(memory, Format::default());
    write_request(Protocol::Giop.writer(), &mut to, id, payload);
    to
}

#[inline(always)]
fn write_request<'p, P: Encode>(writer: Writer<'_>, to: &mut Encoder<'p>, id: u32, payload: &'p P) {
    let head = RequestHead {
        id,
        response: ResponseFlags::WITH_TARGET,
        target: Addressing::ObjectKey(black_box(KEY)),
        operation: black_box(OPERATION),
        by_number: if writer.is_giop() { None } else { black_box(NUMBER) },
        contexts: &ServiceContexts::new(),
    };
    writer.begin_request(to, &head).expect("a name and a key");
    payload.encode(to).expect("any value");
    writer.finish(to).expect("a small message");
}

/// The request that was delivered, of the operation that was called: compared as skeletons compare it, by its name or by its
/// number.
#[inline(always)]
fn received(server: &mut Inbound) -> Request {
    let Ok(Some(Message::Request(request))) = server.next() else { panic!("a request was sent") };
    check(&request);
    request
}

#[inline(always)]
fn check(request: &Request) {
    match request.number {
        None => assert_eq!(&request.operation[..], OPERATION.as_bytes()),
        number => assert_eq!(number, NUMBER),
    }
}

#[inline(always)]
fn write_reply(writer: Writer<'_>, to: &mut Encoder<'_>, id: u32) {
    let (status, contexts) = (ReplyStatus::NO_EXCEPTION, &ServiceContexts::new());
    let head = ReplyHead { id, status, by_number: true, contexts };
    writer.begin_reply(to, &head).expect("no contexts");
    writer.finish(to).expect("a small message");
}

#[inline(always)]
fn read_reply(client: &mut Inbound, id: u32) {
    let Ok(Some(Message::Reply(reply))) = client.next() else { panic!("a reply was sent") };
    assert_eq!((reply.id, reply.status), (id, ReplyStatus::NO_EXCEPTION));
}

#[inline(always)]
fn deliver(octets: &[u8], to: &mut Inbound) {
    carry(octets, to.space());
    to.received(octets.len());
}

/// What the kernel does elsewhere, and so not counted: never inlined, `run` knows the name.
#[inline(never)]
fn carry(octets: &[u8], into: &mut [u8]) {
    into[..octets.len()].copy_from_slice(octets);
}

/// As [`deliver`], of what is not counted itself.
#[inline(always)]
fn place(octets: &[u8], into: &mut Inbound) {
    into.space()[..octets.len()].copy_from_slice(octets);
    into.received(octets.len());
}
