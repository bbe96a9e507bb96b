use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::{Inbound, Protocol};

/// What a parser makes of these octets, and what it has left.
fn read(octets: &[u8], limits: Limits) -> (Result<Option<Message>, ProtocolError>, usize) {
    let mut buffer = ReceiveBuffer::new(limits.receive_buffer, limits.first_grant);
    buffer.space()[..octets.len()].copy_from_slice(octets);
    buffer.received(octets.len());
    (LiteParser.next(&mut buffer, &limits), buffer.unparsed().len())
}

fn number_of(operation: &str) -> Option<NonZeroU64> {
    NonZeroU64::new(operation_number(operation.as_bytes()))
}

fn request(key: &[u8], operation: &str, by_number: bool, body: &[u8]) -> Vec<u8> {
    let mut to = Encoder::new(GiopLite.format().unwrap());
    let head = RequestHead {
        id: 7,
        response: ResponseFlags::WITH_TARGET,
        target: Addressing::ObjectKey(key),
        operation,
        by_number: number_of(operation).filter(|_| by_number),
        contexts: &ServiceContexts::new(),
    };
    GiopLite.begin_request(&mut to, &head).unwrap();
    to.write_octets(body);
    GiopLite.finish(&mut to).unwrap();
    to.into_buffer()
}

fn reply(by_number: bool, body: &[u8]) -> Vec<u8> {
    let mut to = Encoder::new(GiopLite.format().unwrap());
    let contexts = &ServiceContexts::new();
    let head = ReplyHead { id: 7, status: ReplyStatus::USER_EXCEPTION, by_number, contexts };
    GiopLite.begin_reply(&mut to, &head).unwrap();
    to.write_octets(body);
    GiopLite.finish(&mut to).unwrap();
    to.into_buffer()
}

#[test]
fn a_request_says_what_was_written() {
    for key in [&b""[..], b"k", b"12345678", b"a key of more than eight octets"] {
        for operation in ["", "op", "deposit", "an_operation_with_a_long_name"] {
            for by_number in [false, true] {
                for body in [&b""[..], b"1", b"123456789"] {
                    let octets = request(key, operation, by_number, body);
                    let (Ok(Some(Message::Request(read))), 0) = read(&octets, Limits::default()) else {
                        panic!("{octets:?}")
                    };
                    assert_eq!((read.id, read.response), (7, ResponseFlags::WITH_TARGET));
                    assert_eq!(read.target, Target::ObjectKey(key.into()));
                    assert_eq!(read.number, number_of(operation).filter(|_| by_number));
                    let name = if by_number { "" } else { operation };
                    assert_eq!(read.operation(), name);
                    let found: Vec<u8> =
                        read.body.segments().flat_map(|segment| segment.octets.to_vec()).collect();
                    assert_eq!(found, body);
                }
            }
        }
    }
}

#[test]
fn the_head_of_a_call_by_number_as_drawn() {
    let octets = request(b"key", "op", true, b"");
    let number = operation_number(b"op").to_ne_bytes();
    assert_eq!(&octets[..4], [b'z', b'L', ORDER, 0x30]);
    assert_eq!(&octets[4..16], [27u32, 7, 3].map(u32::to_ne_bytes).as_flattened());
    assert_eq!(&octets[16..], [&number[..], b"key"].concat());
}

#[test]
fn a_reply_and_the_short_messages_say_what_was_written() {
    for by_number in [false, true] {
        let (message, left) = read(&reply(by_number, b"12"), Limits::default());
        let Ok(Some(Message::Reply(reply))) = message else { panic!("{message:?}") };
        assert_eq!((reply.id, reply.status, reply.by_number), (7, ReplyStatus::USER_EXCEPTION, by_number));
        assert_eq!((reply.body.len(), left), (2, 0));
    }
    let mut cancel = Encoder::new(Format::default());
    GiopLite.cancel_request(&mut cancel, 9);
    let says = |octets: &[u8]| format!("{:?}", read(octets, Limits::default()).0.unwrap().unwrap());
    assert_eq!(says(&cancel.into_buffer()), "CancelRequest { id: 9 }");
    assert_eq!(says(&GiopLite.close_connection(Version::V1_2)), "CloseConnection");
    assert_eq!(says(&GiopLite.message_error(Version::V1_2)), "MessageError");
}

/// Written by a machine of the other byte order.
#[test]
fn the_other_byte_order_is_read_as_it_says() {
    let order = ORDER ^ LITTLE_ENDIAN;
    let swap = |number: u32| number.swap_bytes().to_ne_bytes();
    let number = operation_number(b"op").swap_bytes().to_ne_bytes();
    let head = [swap(40), swap(7), swap(3)];
    let octets = [
        &[b'z', b'L', order, 0x10][..],
        head.as_flattened(),
        &number,
        b"key\0\0\0\0\0",
        b"\x01\x02\x03\x04\0\0\0\0",
    ]
    .concat();
    let (message, left) = read(&octets, Limits::default());
    let Ok(Some(Message::Request(request))) = message else { panic!("{message:?}") };
    assert_eq!((request.id, left), (7, octets.len() - 40));
    assert_eq!(request.number, number_of("op"));
    assert_eq!(request.response, ResponseFlags::WITH_SERVER);
    let mut body = zorb_cdr::Decoder::over(&request.body, GiopLite.format().unwrap());
    let octets = [1, 2, 3, 4];
    let expected = if order == 0 { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) };
    assert_eq!(body.read_u32(), Ok(expected));
}

#[test]
fn every_prefix_waits_and_every_forged_octet_is_taken_or_refused() {
    let limits = Limits { max_message: 200, max_operation: 20, ..Limits::default() };
    let mut refused = 0;
    for whole in [
        request(b"key", "op", false, b"body"),
        request(b"key", "operation", true, b""),
        reply(true, b"result"),
        GiopLite.message_error(Version::V1_2),
    ] {
        for end in 0..whole.len() {
            assert!(matches!(read(&whole[..end], limits), (Ok(None), left) if left == end), "{end}");
        }
        for at in 0..whole.len() {
            for octet in [0, 1, 2, 3, 15, 16, 0x7f, 0x80, 0xff] {
                let mut forged = whole.clone();
                forged[at] = octet;
                let (message, left) = read(&forged, limits);
                match message {
                    Ok(Some(_)) => assert!(left < forged.len()),
                    Ok(None) => assert_eq!(left, forged.len()),
                    Err(error) => {
                        refused += 1;
                        assert!(!error_text(error).is_empty());
                    }
                }
            }
        }
    }
    assert!(refused > 40, "{refused}");
}

/// What both ways of reading make of these octets.
fn both_ways(octets: &[u8], limits: &Limits) -> [alloc::string::String; 2] {
    [next, next_generally].map(|next| {
        let mut buffer = ReceiveBuffer::new(limits.receive_buffer, limits.first_grant);
        buffer.space()[..octets.len()].copy_from_slice(octets);
        buffer.received(octets.len());
        let message = next(&mut buffer, limits);
        format!("{message:?}, {} left", buffer.unparsed().len())
    })
}

#[test]
fn the_usual_way_says_what_the_general_way_says() {
    let limits = Limits { max_message: 60, ..Limits::default() };
    let mut usual = 0;
    for message in [
        request(b"key", "op", true, b""),
        request(b"12345678", "op", true, b"12345"),
        request(b"", "op", true, b"1"),
        request(b"key", "op", false, b"1"),
        request(b"key", "op", true, &[7; 60]),
        reply(true, b""),
        reply(false, b"123456789"),
    ] {
        for at in 0..message.len() {
            for octet in [message[at], 0, 1, 2, 3, 5, 8, 15, 16, 24, 0x7f, 0xff, message[at].wrapping_add(4)]
            {
                let mut forged = message.clone();
                forged[at] = octet;
                let [one, other] = both_ways(&forged, &limits);
                usual += usize::from(one.starts_with("Ok(Some"));
                assert_eq!(one, other, "{octet:#x} at {at} of {message:?}");
            }
            let [one, other] = both_ways(&message[..at], &limits);
            assert_eq!(one, other, "the first {at} of {message:?}");
        }
    }
    assert!(usual > 100, "few of them were messages: {usual}");
}

#[test]
fn a_request_with_neither_name_nor_number_is_refused() {
    let mut octets = request(b"key", "op", true, b"");
    octets[NUMBER_AT..REQUEST].fill(0);
    let error = read(&octets, Limits::default()).0.unwrap_err();
    assert_eq!(error_text(error), "malformed giop-lite message: operation's number at octet 16");
}

fn error_text(error: ProtocolError) -> alloc::string::String {
    format!("{error}")
}

#[test]
fn limits_are_named() {
    let limits = Limits { max_message: 64, max_operation: 5, ..Limits::default() };
    let text = |octets: &[u8]| error_text(read(octets, limits).0.unwrap_err());
    assert_eq!(text(&request(b"key", "12345", false, b"")), "max_operation: 6, allowed are 5");
    assert_eq!(text(&request(b"key", "op", false, &[0; 64])), "max_message: 104, allowed are 64");
    assert_eq!(text(b"zL\x01\x05\x07\0\0\0"), "malformed giop-lite message: size at octet 4");
    assert_eq!(text(b"GIOP\x01\x02\x01\x06"), "not GIOP: a message begins with \"GIOP\"");
}

#[test]
fn the_first_octets_tell_the_protocol() {
    let protocols: Arc<[Protocol]> = Arc::new([Protocol::Lite, Protocol::Giop]);
    let lite = request(b"key", "op", true, b"");
    let giop = crate::close_connection(Version::V1_2);
    for (octets, name) in [(&lite[..], "giop-lite"), (&giop[..], "giop")] {
        let mut inbound = Inbound::one_of(protocols.clone(), Limits::default());
        // An octet at a time, and a second message behind.
        for (at, octet) in octets.iter().enumerate() {
            assert!(matches!(inbound.next(), Ok(None)));
            assert_eq!(inbound.protocol().map(|it| it.name()), (at >= TELLING).then_some(name));
            inbound.space()[0] = *octet;
            inbound.received(1);
        }
        assert!(inbound.next().unwrap().is_some());
        assert_eq!(inbound.protocol().map(|it| it.name()), Some(name));
    }
    let mut neither = Inbound::one_of(protocols, Limits::default());
    neither.space()[..4].copy_from_slice(b"GET ");
    neither.received(4);
    assert!(matches!(neither.next(), Err(ProtocolError::NotGiop { found }) if found == *b"GET "));
    assert!(neither.next().is_err(), "it stays so");
}

#[test]
fn every_octet_of_a_name_counts() {
    for length in 1..40 {
        let name = alloc::vec![b'a'; length];
        for at in 0..length {
            let mut other = name.clone();
            other[at] = b'b';
            assert_ne!(operation_number(&name), operation_number(&other), "octet {at} of {length}");
        }
    }
}
