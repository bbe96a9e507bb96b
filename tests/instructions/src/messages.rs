//! Messages without an ORB: written, carried to the other side, read.

use std::hint::black_box;
use std::mem;
use std::num::NonZeroU64;

use zorb::cdr::{Decode, Decoder, Encode, Encoder, Format};
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

/// A null call's request and its reply: written, read, written, read. By `protocol`, with numbers for names where it has them.
pub(crate) fn there_and_back(protocol: Protocol) -> Case {
    exchange::<true>(protocol)
}

/// What their heads take: a Request's begun, completed, and read to the operation, a Reply's begun, completed, and read to its
/// status, and both let go. There are no bodies, and the receiving buffer's part ([`channel`]) is not counted.
pub(crate) fn heads(protocol: Protocol) -> Case {
    exchange::<false>(protocol)
}

#[inline(always)]
fn exchange<const WHOLE: bool>(protocol: Protocol) -> Case {
    let inbound = || Inbound::of(protocol.clone(), Limits::default());
    let (mut client, mut server) = (inbound(), inbound());
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    Box::new(move |id| {
        let writer = protocol.writer();
        let to = request_by(writer, mem::take(&mut requests), id, &());
        carried::<WHOLE>(to.contiguous().expect("nothing was borrowed"), &mut server);
        requests = to.into_buffer();
        let request = received(&mut server);

        let mut to = Encoder::with_buffer(mem::take(&mut replies), Format::default());
        let (status, contexts) = (ReplyStatus::NO_EXCEPTION, &ServiceContexts::new());
        let head = ReplyHead { id: request.id, status, by_number: true, contexts };
        writer.begin_reply(&mut to, &head).expect("no contexts");
        writer.finish(&mut to).expect("a small message");
        drop(request);
        carried::<WHOLE>(to.contiguous().expect("nothing was borrowed"), &mut client);
        replies = to.into_buffer();
        let Ok(Some(Message::Reply(reply))) = client.next() else { panic!("a reply was sent") };
        assert_eq!((reply.id, reply.status), (id, ReplyStatus::NO_EXCEPTION));
    })
}

#[inline(always)]
fn request<P: Encode>(memory: Vec<u8>, id: u32, payload: &P) -> Encoder<'_> {
    request_by(Protocol::Giop.writer(), memory, id, payload)
}

#[inline(always)]
fn request_by<'p, P: Encode>(writer: Writer<'_>, memory: Vec<u8>, id: u32, payload: &'p P) -> Encoder<'p> {
    let mut to = Encoder::with_buffer(memory, Format::default());
    let head = RequestHead {
        id,
        response: ResponseFlags::WITH_TARGET,
        target: Addressing::ObjectKey(black_box(KEY)),
        operation: black_box(OPERATION),
        by_number: if writer.is_giop() { None } else { black_box(NUMBER) },
        contexts: &ServiceContexts::new(),
    };
    writer.begin_request(&mut to, &head).expect("a name and a key");
    payload.encode(&mut to).expect("any value");
    writer.finish(&mut to).expect("a small message");
    to
}

/// The request that was delivered, of the operation that was called: compared as skeletons compare it, by its name or by its
/// number.
#[inline(always)]
fn received(server: &mut Inbound) -> Request {
    let Ok(Some(Message::Request(request))) = server.next() else { panic!("a request was sent") };
    match request.number {
        None => assert_eq!(&request.operation[..], OPERATION.as_bytes()),
        number => assert_eq!(number, NUMBER),
    }
    request
}

#[inline(always)]
fn carried<const WHOLE: bool>(octets: &[u8], to: &mut Inbound) {
    if WHOLE { deliver(octets, to) } else { channel(octets, to) }
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

/// The buffer's part and the kernel's together, and so not counted: never inlined, `run` knows the name.
#[inline(never)]
fn channel(octets: &[u8], to: &mut Inbound) {
    to.space()[..octets.len()].copy_from_slice(octets);
    to.received(octets.len());
}
