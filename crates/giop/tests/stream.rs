//! A connection's stream: however it is cut into reads, whatever fragments do, and what the limits stop.

mod common;

use bytes::Bytes;
use common::{VECTORS, feed, hex, receive, show};
use proptest::prelude::*;
use zorb_cdr::{Decoder, Encoder, Format, Version};
use zorb_giop::*;

/// Limits that small messages reach.
fn small() -> Limits {
    let mut limits = Limits::default();
    limits.max_message = 4096;
    limits.max_reassembly_messages = 3;
    limits.max_reassembly_bytes = 8192;
    limits.receive_buffer = 64;
    limits.first_grant = 128;
    limits
}

fn request(version: Version, id: u32, body: &[u8]) -> Encoder<'_> {
    let mut to = Encoder::new(Format::new(version));
    let target = Addressing::ObjectKey(b"key");
    let contexts = &ServiceContexts::new();
    let head = RequestHead {
        id,
        response: ResponseFlags::WITH_TARGET,
        target,
        operation: "op",
        by_number: None,
        contexts,
    };
    begin_request(&mut to, &head).unwrap();
    if version == Version::V1_1 {
        to.fragment_every(128);
    }
    to.write_borrowed(body);
    finish(&mut to).unwrap();
    to
}

fn pieces(message: &Encoder<'_>, size: usize) -> Vec<Vec<u8>> {
    fragments(message, size).map(|piece| piece.slices().flatten().copied().collect()).collect()
}

fn body_of(inbound: &mut Inbound) -> Vec<u8> {
    match inbound.next() {
        Ok(Some(Message::Request(request))) => {
            request.body.segments().flat_map(|segment| segment.octets.to_vec()).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn put(inbound: &mut Inbound, octets: &[u8]) {
    let mut rest = octets;
    while !rest.is_empty() {
        let space = inbound.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        inbound.received(n);
        rest = &rest[n..];
        // So that the size of a large message becomes known; it is complete only at the end.
        if !rest.is_empty() {
            assert!(inbound.next().unwrap().is_none());
        }
    }
}

proptest! {
    #[test]
    fn any_cutting_into_reads_gives_the_same_messages(
        order in prop::collection::vec(0..VECTORS.len(), 1..40),
        chunks in prop::collection::vec(0..100usize, 1..50),
        hold in any::<bool>(),
    ) {
        let stream: Vec<u8> = order.iter().flat_map(|&index| VECTORS[index].octets()).collect();
        let expected: Vec<String> = order.iter().map(|&index| VECTORS[index].says.to_string()).collect();
        let mut chunk = chunks.iter().copied().cycle();
        let mut inbound = Inbound::new(small());
        prop_assert_eq!(feed(&mut inbound, &stream, || chunk.next().unwrap()).unwrap(), expected.clone());

        // Also when every message is kept until the end: nothing may be overwritten.
        if hold {
            let mut inbound = Inbound::new(small());
            let mut held = Vec::new();
            let mut rest = &stream[..];
            while !rest.is_empty() {
                let space = inbound.space();
                let n = chunk.next().unwrap().clamp(1, space.len()).min(rest.len());
                space[..n].copy_from_slice(&rest[..n]);
                inbound.received(n);
                rest = &rest[n..];
                while let Some(message) = inbound.next().unwrap() {
                    held.push(message);
                }
            }
            prop_assert_eq!(held.iter().map(show).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn what_is_cut_into_fragments_comes_back_whole(length in 0..3000usize, size in 0..500usize, minor in 0..=2u8) {
        let body: Vec<u8> = (0..length).map(|at| at as u8).collect();
        let version = Version { major: 1, minor };
        let message = request(version, 9, &body);
        let pieces = pieces(&message, size);
        if version == Version::V1_2 {
            let size = size.max(64) / 8 * 8;
            for (index, piece) in pieces.iter().enumerate() {
                prop_assert!(piece.len() <= size);
                prop_assert!(index + 1 == pieces.len() || piece.len() % 8 == 0);
            }
        } else if version == Version::V1_0 {
            prop_assert_eq!(pieces.len(), 1);
        }
        let mut inbound = Inbound::new(small());
        put(&mut inbound, &pieces.concat());
        prop_assert_eq!(body_of(&mut inbound), body);
        prop_assert!(!inbound.is_incomplete());
    }
}

#[test]
fn a_message_begins_where_memory_is_aligned() {
    let body = [7; 1000];
    let octets = request(Version::V1_2, 1, &body).to_bytes();
    let mut inbound = Inbound::new(Limits::default());
    for _ in 0..3 {
        put(&mut inbound, &octets);
        let Ok(Some(Message::Request(request))) = inbound.next() else { panic!() };
        let first = request.body.first();
        assert_eq!(first.octets.as_ptr().align_offset(8), 0);
        assert_eq!(first.phase, 0);
    }
}

#[test]
fn a_large_message_ends_its_read_at_its_end() {
    let body = vec![7; 100_000];
    let octets = request(Version::V1_2, 1, &body).to_bytes();
    let mut inbound = Inbound::new(Limits::default());
    put(&mut inbound, &octets[..100]);
    assert!(inbound.next().unwrap().is_none());
    assert_eq!(inbound.space().len(), octets.len() - 100);
}

#[test]
fn a_large_announcement_earns_no_memory_by_itself() {
    let mut limits = Limits::default();
    limits.max_message = usize::MAX;
    let mut inbound = Inbound::new(limits);
    put(&mut inbound, &hex("47494f50 01020100 ffffffff 00000000"));
    assert!(inbound.next().unwrap().is_none());
    assert!(inbound.space().len() <= limits.first_grant);
}

#[test]
fn several_messages_in_one_read_are_announced() {
    let octets = [VECTORS[0].octets(), VECTORS[3].octets(), VECTORS[9].octets()].concat();
    let mut inbound = Inbound::new(Limits::default());
    put(&mut inbound, &octets[..octets.len() - 1]);
    assert!(inbound.has_buffered());
    inbound.next().unwrap().unwrap();
    assert!(inbound.has_buffered());
    inbound.next().unwrap().unwrap();
    assert!(!inbound.has_buffered());
    assert!(inbound.next().unwrap().is_none());
    put(&mut inbound, &octets[octets.len() - 1..]);
    assert!(inbound.has_buffered());
}

#[test]
fn memory_given_back_is_allocated_again() {
    let mut inbound = Inbound::new(Limits::default());
    for _ in 0..3 {
        put(&mut inbound, &VECTORS[3].octets());
        let message = inbound.next().unwrap().unwrap();
        inbound.release_memory();
        assert_eq!(show(&message), VECTORS[3].says);
    }
    // Not while something lies in it.
    put(&mut inbound, &VECTORS[3].octets()[..20]);
    inbound.release_memory();
    put(&mut inbound, &VECTORS[3].octets()[20..]);
    assert_eq!(show(&inbound.next().unwrap().unwrap()), VECTORS[3].says);
}

#[test]
fn fragments_of_many_requests_interleave() {
    let bodies = [vec![1; 500], vec![2; 700], vec![3; 300]];
    let messages: Vec<_> =
        bodies.iter().zip(0..).map(|(body, id)| request(Version::V1_2, id, body)).collect();
    let cut: Vec<_> = messages.iter().map(|message| pieces(message, 64)).collect();
    let mut stream = Vec::new();
    for at in 0..cut.iter().map(Vec::len).max().unwrap() {
        for pieces in &cut {
            stream.extend(pieces.get(at).into_iter().flatten());
        }
        // Whole messages may stand between.
        stream.extend(VECTORS[3].octets());
    }
    let shown = receive(&stream).unwrap();
    let ids: Vec<&str> =
        shown.iter().filter(|text| *text != VECTORS[3].says).map(|text| &text[..16]).collect();
    assert_eq!(ids, ["Request 1.2 id 2", "Request 1.2 id 0", "Request 1.2 id 1"]);
}

#[test]
fn giop_1_1_alignment_restarts_in_each_fragment() {
    let mut to = Encoder::new(Format::new(Version::V1_1));
    let head = ReplyHead {
        id: 5,
        status: ReplyStatus::NO_EXCEPTION,
        by_number: false,
        contexts: &ServiceContexts::new(),
    };
    begin_reply(&mut to, &head).unwrap();
    to.fragment_every(64);
    let values: Vec<(u8, f64)> = (0..50u8).map(|n| (n, f64::from(n))).collect();
    for &(octet, double) in &values {
        to.write_u8(octet);
        to.write_f64(double);
    }
    finish(&mut to).unwrap();
    let pieces = pieces(&to, 64);
    assert!(pieces.len() > 5);
    let mut inbound = Inbound::new(Limits::default());
    put(&mut inbound, &pieces.concat());
    let Ok(Some(Message::Reply(reply))) = inbound.next() else { panic!() };
    let mut from = Decoder::over(&reply.body, Format::new(reply.version));
    for (octet, double) in values {
        assert_eq!(from.read_u8(), Ok(octet));
        assert_eq!(from.read_f64(), Ok(double));
    }
}

#[test]
fn a_head_may_go_on_in_fragments() {
    // 1.1: the object key is cut after its first octet, the operation begins in a third fragment.
    let shown = receive(&hex("47494f50 01010300 11000000  00000000 05000000 01000000 03000000 6b \
         47494f50 01010307 02000000  6579 \
         47494f50 01010107 10000000  03000000 6f700000 00000000 08090a0b"));
    let says =
        "Request 1.1 id 5 response by the target key \"key\" operation \"op\" contexts [] body 0:08090a0b";
    assert_eq!(shown, Ok(vec![says.into()]));
    // 1.2: alignment runs on, so the cut changes nothing.
    let shown = receive(&hex("47494f50 01020300 04000000  05000000 \
         47494f50 01020307 0c000000  05000000 03000000 00000000 \
         47494f50 01020107 1c000000  05000000 03000000 6b657900 03000000 6f700000 00000000 dddddddd"));
    assert_eq!(shown, Ok(vec![VECTORS[4].says.replace("no response", "response by the target")]));
}

#[test]
fn a_cancelled_request_is_no_longer_waited_for() {
    let body = [1; 500];
    let message = request(Version::V1_2, 5, &body);
    let pieces = pieces(&message, 64);
    let mut inbound = Inbound::new(Limits::default());
    put(&mut inbound, &pieces[0]);
    assert!(inbound.next().unwrap().is_none() && inbound.is_incomplete());
    put(&mut inbound, &hex("47494f50 01020102 04000000 05000000"));
    assert!(matches!(inbound.next(), Ok(Some(Message::CancelRequest { id: 5 }))));
    assert!(!inbound.is_incomplete());
    put(&mut inbound, &pieces[1]);
    assert_eq!(inbound.next().unwrap_err(), ProtocolError::UnexpectedFragment { id: Some(5) });
}

#[test]
fn fragments_that_fit_nothing_are_errors() {
    let begin = "47494f50 01020300 04000000 05000000";
    let begin_1_1 = "47494f50 01010300 04000000 00000000";
    for (stream, error) in [
        (
            "47494f50 01020107 04000000 07000000".to_string(),
            ProtocolError::UnexpectedFragment { id: Some(7) },
        ),
        ("47494f50 01010107 00000000".into(), ProtocolError::UnexpectedFragment { id: None }),
        (format!("{begin}{begin}"), ProtocolError::AlreadyFragmented { id: Some(5) }),
        (format!("{begin_1_1}{begin_1_1}"), ProtocolError::AlreadyFragmented { id: None }),
    ] {
        assert_eq!(receive(&hex(&stream)), Err(error), "{stream}");
    }
    for stream in [
        "47494f50 01020307 03000000 000000".to_string(),
        "47494f50 01020300 00000000".into(),
        format!("{begin} 47494f50 01020007 00000004 00000005"),
    ] {
        assert!(matches!(receive(&hex(&stream)), Err(ProtocolError::Malformed { .. })), "{stream}");
    }
}

#[test]
fn endless_fragments_end_by_a_limit() {
    let endless = |begin: &str, fragment: &str| {
        let mut inbound = Inbound::new(small());
        put(&mut inbound, &hex(begin));
        let fragment = hex(fragment);
        for _ in 0..10_000 {
            put(&mut inbound, &fragment);
            match inbound.next() {
                Ok(None) => {}
                Err(ProtocolError::LimitExceeded { limit, .. }) => return limit,
                other => panic!("{other:?}"),
            }
        }
        panic!("no limit")
    };
    let begin_1_2 = "47494f50 01020300 04000000 05000000";
    let begin_1_1 = "47494f50 01010300 04000000 00000000";
    let thousand = format!("47494f50 01020307 ec030000 05000000 {}", "00".repeat(1000));
    assert_eq!(endless(begin_1_2, &thousand), "max_message");
    assert_eq!(endless(begin_1_2, "47494f50 01020307 04000000 05000000"), "max_reassembly_bytes");
    assert_eq!(endless(begin_1_1, "47494f50 01010307 00000000"), "max_reassembly_bytes");
    assert_eq!(endless(begin_1_1, "47494f50 01010307 01000000 aa"), "max_reassembly_bytes");
}

#[test]
fn too_many_incomplete_messages_are_refused() {
    let stream: Vec<u8> =
        (0..4u8).flat_map(|id| hex(&format!("47494f50 01020300 04000000 0{id}000000"))).collect();
    let error = feed(&mut Inbound::new(small()), &stream, || 0).unwrap_err();
    assert!(
        matches!(error, ProtocolError::LimitExceeded { limit: "max_reassembly_messages", found: 4, .. }),
        "{error}"
    );
}

#[test]
fn an_error_stays() {
    let mut inbound = Inbound::new(Limits::default());
    put(&mut inbound, b"GET / HTTP/1.1\r\n");
    let error = inbound.next().unwrap_err();
    assert_eq!(error, ProtocolError::NotGiop { found: *b"GET " });
    assert_eq!(error.to_string(), "not GIOP: a message begins with \"GET \"");
    // What still comes while the connection is drained is dropped.
    for _ in 0..10_000 {
        let space = inbound.space();
        assert!(!space.is_empty());
        let n = space.len();
        inbound.received(n);
        assert_eq!(inbound.next().unwrap_err(), error);
    }
    assert!(!inbound.has_buffered());
}

#[test]
fn gathered_bodies_are_cut_without_a_copy() {
    let body = Bytes::from(vec![7; 100_000]);
    let message = request(Version::V1_2, 1, &body);
    let range = body.as_ptr_range();
    let borrowed: usize = fragments(&message, 4096)
        .flat_map(|piece| {
            let inside = |slice: &&[u8]| range.contains(&slice.as_ptr());
            piece.slices().filter(inside).map(<[u8]>::len).collect::<Vec<_>>()
        })
        .sum();
    assert_eq!(borrowed, body.len());
}
