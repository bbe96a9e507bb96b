//! Fuzz bodies: octets in, no panic out, whatever they are. Tests drive them with seeded mutations on every run, and
//! one-line cargo-fuzz targets for as long as one likes.

use alloc::string::ToString;
use alloc::sync::Arc;

use zorb_cdr::{Decode, Decoder, Format};

use crate::code_sets::{ClientCodeSets, ServerCodeSets};
use crate::miop::{MiopLimits, Packet, Reassembled, Reassembly};
use crate::{
    Addressing, FrameReceiver, FrameRules, Frames, GiopLite, GroupComponent, IiopProfile, Inbound, Ior,
    Limits, Message, ObjectUrl, Oneway, Protocol, UiopProfile, UipmcProfile, UnixEndpoint,
    decode_listen_points, encode_listen_points, most_listen_points,
};

/// Takes the octets as datagrams of frames, each behind its length (two octets, big-endian) and the milliseconds that pass
/// before it (one octet): whole frames are read, and what is kept stays within its bounds.
pub fn frames(octets: &[u8]) {
    let rules = FrameRules { flows: 3, octets_of_flow: 8192, octets: 16_384, ..FrameRules::default() };
    let mut receiver = FrameReceiver::new(rules);
    let (mut now, mut rest) = (core::time::Duration::ZERO, octets);
    while let Some(([high, low, pause], after)) = rest.split_first_chunk() {
        let (datagram, after) =
            after.split_at(after.len().min(usize::from(u16::from_be_bytes([*high, *low]))));
        now += core::time::Duration::from_millis(u64::from(*pause));
        rest = after;
        if let Ok(Some(frame)) = receiver.take((), datagram, now) {
            let protocol = Protocol::Other(Arc::new(Frames::new(|| 0)));
            let mut inbound = Inbound::of(protocol, Limits::default());
            for part in frame.chunks(4096) {
                let space = inbound.space();
                let n = space.len().min(part.len());
                space[..n].copy_from_slice(&part[..n]);
                inbound.received(n);
            }
            // Its head was looked at before it was handed on.
            assert!(inbound.next().is_ok());
        }
        assert!(receiver.waiting() <= rules.octets);
    }
}

/// Receives the octets as one connection's stream, of GIOP or GIOPlite, and looks at all that comes out.
pub fn messages(octets: &[u8]) {
    // Limits small enough that a mutated length can reach them.
    let limits = Limits {
        max_message: 1 << 20,
        max_reassembly_messages: 4,
        max_reassembly_bytes: 1 << 20,
        receive_buffer: 256,
        first_grant: 1024,
        ..Limits::default()
    };
    let protocols = [Protocol::Other(Arc::new(GiopLite)), Protocol::Giop];
    let mut inbound = Inbound::one_of(Arc::new(protocols), limits);
    let mut rest = octets;
    while !rest.is_empty() {
        let space = inbound.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        inbound.received(n);
        rest = &rest[n..];
        while let Ok(Some(message)) = inbound.next() {
            look_at(&message);
        }
    }
}

fn look_at(message: &Message) {
    let (body, version) = match message {
        Message::Request(request) => {
            let _ = (request.operation(), request.number, request.target.object_key());
            let _ = Addressing::from(&request.target);
            let _ = ServerCodeSets::default().for_request(&request.contexts);
            (&request.body, request.version)
        }
        Message::Reply(reply) => (&reply.body, reply.version),
        Message::LocateReply(reply) => (&reply.body, reply.version),
        _ => return,
    };
    let mut from = Decoder::over(body, Format::new(version));
    if let Ok(ior) = Ior::decode(&mut from) {
        let _ = ior.to_string();
    }
}

/// Reads the octets as an encapsulated reference, and every profile and component in it.
pub fn references(octets: &[u8]) {
    let Ok(ior) = Ior::from_encapsulation(octets) else { return };
    let _ = crate::describe::ior(&ior).to_string();
    for profile in &ior.profiles {
        if let Ok(profile) = UiopProfile::decode(profile) {
            let again = profile.encode().ok().and_then(|written| UiopProfile::decode(&written).ok());
            assert_eq!(again, Some(profile));
        }
        if let Ok(profile) = UipmcProfile::decode(profile) {
            let again = profile.encode().ok().and_then(|written| UipmcProfile::decode(&written).ok());
            assert_eq!(again.as_ref(), Some(&profile));
            if let Some(group) = profile.group() {
                let again = group.encode().ok().and_then(|written| GroupComponent::decode(&written).ok());
                assert_eq!(again, Some(group));
            }
        }
        let Ok(profile) = IiopProfile::decode(profile) else { continue };
        for endpoint in profile.components.iter().filter_map(|component| UnixEndpoint::decode(component).ok())
        {
            let again = endpoint.encode().ok().and_then(|written| UnixEndpoint::decode(&written).ok());
            assert_eq!(again, Some(endpoint));
        }
        let _ = profile.endpoints().count();
        let _ = ClientCodeSets::default().for_request(&profile);
        // What was read can be written, and reads as the same.
        let again = profile.encode().ok().and_then(|written| IiopProfile::decode(&written).ok());
        assert_eq!(again, Some(profile));
    }
    // A type id outside ISO 8859-1 cannot be read, so every reference read can be written.
    assert_eq!(ior.to_string().parse::<Ior>().as_ref(), Ok(&ior));
}

/// Takes the octets as multicast packets, each behind its length in two octets and its sender in one, and looks at the
/// messages that they make; the whole is looked at as the one message of a datagram too.
pub fn datagrams(octets: &[u8]) {
    look_at_oneway(octets);
    let mut limits = MiopLimits::default();
    (limits.max_message, limits.max_messages, limits.max_octets) = (1 << 12, 4, 1 << 14);
    let mut reassembly = Reassembly::new(limits);
    let mut rest = octets;
    let mut now = core::time::Duration::ZERO;
    while let Some((&[high, low, sender], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([high, low])).min(after.len());
        let (datagram, after) = after.split_at(length);
        rest = after;
        now += core::time::Duration::from_millis(u64::from(sender));
        let Ok(packet) = Packet::decode(datagram) else { continue };
        if let Reassembled::Message(message) = reassembly.add(&sender, &packet, now) {
            assert!(message.len() <= limits.max_message);
            look_at_oneway(&message);
        }
        assert!(reassembly.octets() <= limits.max_octets && reassembly.incomplete() <= limits.max_messages);
    }
}

fn look_at_oneway(message: &[u8]) {
    let Ok(oneway) = Oneway::read(message) else { return };
    let Some(redirected) = oneway.redirected(b"key") else { return };
    // A connection takes what was made of it for a request.
    let mut inbound = Inbound::new(Limits::default());
    let mut rest = &redirected[..];
    while !rest.is_empty() {
        let space = inbound.space();
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        inbound.received(n);
        rest = &rest[n..];
    }
    assert!(matches!(inbound.next(), Ok(Some(Message::Request(_)))));
    // It is a oneway request again, and stays one.
    let again = Oneway::read(&redirected).expect("a oneway request");
    assert_eq!(again.redirected(b"key").as_ref(), Some(&redirected));
}

/// Reads the octets as the data of a context BI_DIR_IIOP, and writes what was understood.
pub fn listen_points(octets: &[u8]) {
    let data = bytes::Bytes::copy_from_slice(octets);
    let points = match decode_listen_points(&data) {
        Ok(points) => points,
        Err(error) => {
            let _ = error.to_string();
            return;
        }
    };
    assert!(points.len() <= most_listen_points());
    let written = encode_listen_points(&points).expect("what was read is text that can be written");
    assert_eq!(decode_listen_points(&written), Ok(points));
}

/// Reads the octets as a reference in text, and writes what was understood.
pub fn urls(octets: &[u8]) {
    let Ok(text) = core::str::from_utf8(octets) else { return };
    let Ok(url) = text.parse::<ObjectUrl>() else { return };
    // What can be read can be described, too.
    let _ = crate::describe::text(text).expect("it was read").to_string();
    let written = url.to_string();
    assert_eq!(written.parse::<ObjectUrl>().as_ref(), Ok(&url), "{text} was written as {written}");
}
