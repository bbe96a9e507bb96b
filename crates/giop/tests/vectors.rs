//! Every message in every version, octet for octet: received, and written again.

mod common;

use bytes::Bytes;
use common::{VECTORS, hex, receive, to_hex};
use zorb_cdr::{Encoder, Format, Version};
use zorb_giop::*;

#[test]
fn each_vector_says_what_it_should() {
    for vector in VECTORS {
        assert_eq!(receive(&vector.octets()), Ok(vec![vector.says.to_string()]), "{}", vector.name);
    }
}

#[test]
fn a_head_cut_anywhere_is_an_error_that_says_where() {
    for vector in VECTORS {
        let whole = vector.octets();
        for end in 12..vector.head {
            let mut cut = whole[..end].to_vec();
            let size = (end - 12) as u32;
            let size = if cut[6] & 1 == 1 { size.to_le_bytes() } else { size.to_be_bytes() };
            cut[8..12].copy_from_slice(&size);
            match receive(&cut) {
                Err(error @ ProtocolError::Malformed { at, version, .. }) => {
                    assert!(at <= end, "{} cut at {end}: {error}", vector.name);
                    assert_eq!(version, error.answer_version());
                }
                other => panic!("{} cut at {end}: {other:?}", vector.name),
            }
        }
    }
}

#[test]
fn an_incomplete_message_is_waited_for() {
    for vector in VECTORS {
        let whole = vector.octets();
        for end in 0..whole.len() {
            let mut inbound = Inbound::new(Limits::default());
            assert_eq!(common::feed(&mut inbound, &whole[..end], || 0), Ok(vec![]), "{}", vector.name);
            assert_eq!(inbound.is_incomplete(), end > 0, "{}", vector.name);
            assert!(!inbound.has_buffered());
        }
    }
}

fn encoder(version: Version) -> Encoder<'static> {
    Encoder::new(Format::new(version))
}

/// Little-endian machines write the little-endian vectors; elsewhere what is written is read again.
fn check(written: &Encoder<'_>, expected: &str) {
    let octets: Vec<u8> = written.slices().flatten().copied().collect();
    if cfg!(target_endian = "little") {
        assert_eq!(to_hex(&octets), to_hex(&hex(expected)));
    }
    receive(&octets).unwrap();
}

fn request(
    version: Version,
    target: Addressing<'_>,
    response: ResponseFlags,
    contexts: &ServiceContexts,
    body: Option<u32>,
) -> Encoder<'static> {
    let mut to = encoder(version);
    begin_request(
        &mut to,
        &RequestHead { id: 5, response, target, operation: "op", by_number: None, contexts },
    )
    .unwrap();
    if let Some(body) = body {
        to.write_u32(body);
    }
    finish(&mut to).unwrap();
    to
}

#[test]
fn requests_written() {
    let key = Addressing::ObjectKey(b"key");
    let none = ServiceContexts::new();
    check(
        &request(Version::V1_0, key, ResponseFlags::WITH_TARGET, &none, Some(7)),
        "47494f50 01000100 24000000  00000000 05000000 01000000 03000000 6b657900 03000000 6f700000 00000000 07000000",
    );
    let mut unknown = ServiceContexts::new();
    unknown.push(ContextId(0x77), Bytes::from_static(&[1, 2, 3]));
    check(
        &request(Version::V1_1, key, ResponseFlags::WITH_TARGET, &unknown, Some(0x0b0a_0908)),
        "47494f50 01010100 30000000  01000000 77000000 03000000 01020300 05000000 01000000 \
         03000000 6b657900 03000000 6f700000 00000000 08090a0b",
    );
    check(
        &request(Version::V1_2, key, ResponseFlags::WITH_TARGET, &none, Some(7)),
        "47494f50 01020100 28000000  05000000 03000000 00000000 03000000 6b657900 03000000 6f700000 00000000 \
         00000000 07000000",
    );
    check(
        &request(Version::V1_2, key, ResponseFlags::NONE, &none, None),
        "47494f50 01020100 20000000  05000000 00000000 00000000 03000000 6b657900 03000000 6f700000 00000000",
    );
}

#[test]
fn the_three_addressing_modes_written() {
    let profile = |data: &str| TaggedProfile { tag: ProfileTag::INTERNET_IOP, data: hex(data).into() };
    let iiop = profile("01010000 02000000 68000100 03000000 6b6579");
    let none = ServiceContexts::new();
    let by_profile = Addressing::Profile(&iiop);
    check(
        &request(Version::V1_2, by_profile, ResponseFlags::WITH_TARGET, &none, None),
        "47494f50 01020100 34000000  05000000 03000000 01000000 00000000 13000000 \
         01010000 02000000 68000100 03000000 6b657900  03000000 6f700000 00000000",
    );
    let unknown = TaggedProfile { tag: ProfileTag(0x99), data: Bytes::new() };
    let ior = Ior { type_id: "T".into(), profiles: vec![unknown.clone(), iiop.clone()] };
    let by_reference = Addressing::Reference { selected: 1, ior: &ior };
    check(
        &request(Version::V1_2, by_reference, ResponseFlags::WITH_TARGET, &none, None),
        "47494f50 01020100 4c000000  05000000 03000000 02000000 01000000 02000000 54000000 02000000 \
         99000000 00000000 00000000 13000000 01010000 02000000 68000100 03000000 6b657900 \
         03000000 6f700000 00000000",
    );
    // Before 1.2 there are keys only: that of the profile, or an error that says so.
    let keyed =
        "47494f50 01000100 20000000  00000000 05000000 01000000 03000000 6b657900 03000000 6f700000 00000000";
    for target in [by_profile, by_reference] {
        check(&request(Version::V1_0, target, ResponseFlags::WITH_TARGET, &none, None), keyed);
    }
    let mut to = encoder(Version::V1_1);
    assert!(begin_locate_request(&mut to, 1, Addressing::Profile(&unknown)).is_err());
}

#[test]
fn replies_written() {
    for (version, expected) in [
        (Version::V1_0, "47494f50 01000101 10000000  00000000 05000000 00000000 07000000"),
        (Version::V1_1, "47494f50 01010101 10000000  00000000 05000000 00000000 07000000"),
        (Version::V1_2, "47494f50 01020101 10000000  05000000 00000000 00000000 07000000"),
    ] {
        let mut to = encoder(version);
        let head = ReplyHead {
            id: 5,
            status: ReplyStatus::NO_EXCEPTION,
            by_number: false,
            contexts: &ServiceContexts::new(),
        };
        begin_reply(&mut to, &head).unwrap();
        to.write_u32(7);
        finish(&mut to).unwrap();
        check(&to, expected);
    }
}

#[test]
fn the_other_messages_written() {
    let mut to = encoder(Version::V1_0);
    begin_locate_request(&mut to, 5, Addressing::ObjectKey(b"key")).unwrap();
    finish(&mut to).unwrap();
    check(&to, "47494f50 01000103 0b000000  05000000 03000000 6b6579");

    let mut to = encoder(Version::V1_2);
    begin_locate_request(&mut to, 5, Addressing::ObjectKey(b"key")).unwrap();
    finish(&mut to).unwrap();
    check(&to, "47494f50 01020103 0f000000  05000000 00000000 03000000 6b6579");

    let mut to = encoder(Version::V1_2);
    begin_locate_reply(&mut to, 5, LocateStatus::LOC_NEEDS_ADDRESSING_MODE);
    to.write_u16(AddressingDisposition::KEY_ADDR.0);
    finish(&mut to).unwrap();
    check(&to, "47494f50 01020104 0a000000  05000000 05000000 0000");

    let mut to = encoder(Version::V1_1);
    write_cancel_request(&mut to, 5);
    check(&to, "47494f50 01010102 04000000  05000000");

    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        assert_eq!(receive(&close_connection(version)), Ok(vec!["CloseConnection".into()]));
        assert_eq!(receive(&message_error(version)), Ok(vec!["MessageError".into()]));
    }
}

#[test]
fn names_that_cdr_cannot_carry_are_refused() {
    let mut to = encoder(Version::V1_2);
    let head = RequestHead {
        id: 1,
        response: ResponseFlags::NONE,
        target: Addressing::ObjectKey(b""),
        operation: "a\0b",
        by_number: None,
        contexts: &ServiceContexts::new(),
    };
    assert!(begin_request(&mut to, &head).is_err());
}

#[test]
fn limits_on_heads_are_named() {
    let limit = |name, octets: &[u8]| match receive(octets) {
        Err(ProtocolError::LimitExceeded { limit, .. }) => assert_eq!(limit, name),
        other => panic!("{name}: {other:?}"),
    };
    let long = "x".repeat(1024);
    let mut to = encoder(Version::V1_2);
    let head = RequestHead {
        id: 1,
        response: ResponseFlags::NONE,
        target: Addressing::ObjectKey(b"key"),
        operation: &long,
        by_number: None,
        contexts: &ServiceContexts::new(),
    };
    begin_request(&mut to, &head).unwrap();
    finish(&mut to).unwrap();
    limit("max_operation", &to.to_bytes());

    let contexts: ServiceContexts =
        (0..65).map(|id| ServiceContext { id: ContextId(id), data: Bytes::new() }).collect();
    let to = request(Version::V1_2, Addressing::ObjectKey(b"key"), ResponseFlags::NONE, &contexts, None);
    limit("max_contexts", &to.to_bytes());

    limit("max_message", &hex("47494f50 01020100 ffffffff"));
}

#[test]
fn an_operation_that_is_not_utf_8_is_no_identifier() {
    let mut octets = VECTORS[3].octets();
    octets[36] = 0xff;
    let mut inbound = Inbound::new(Limits::default());
    inbound.space()[..octets.len()].copy_from_slice(&octets);
    inbound.received(octets.len());
    let Ok(Some(Message::Request(request))) = inbound.next() else { panic!() };
    assert_eq!(request.operation(), "\u{fffd}");
    assert_eq!(request.operation_bytes(), b"\xffp");
}
