//! Well-formed messages of every type, version and byte order, as a client and as a server sends them: what prefixes
//! are cut from and mutations made of.

use zorb::giop::miop::Packets;

use crate::vectors;
use crate::wire::{DIALECTS, Order, Wire, kind};

/// A message, and what it is.
#[derive(Clone, Debug)]
pub struct Seed {
    /// Version, byte order and type, for a test that fails.
    pub name: String,
    /// The message; a fragmented one whole, with all its fragments.
    pub octets: Vec<u8>,
}

/// References as people write them.
pub const URLS: [&str; 10] = [
    "corbaloc:iiop:1.2@a.example:7,:b,:1.1@[::1],iiop:[fe80::1%eth0]:9,tao:x|y/Key%20%2f",
    "corbaloc:uiop:1.1    /run/a,omniunix:/run/b:,uiop:/c|Key%7C",
    "corbaloc:omniunix:1.2    /run/b:/Key",
    "corbaloc:rir:/NameService",
    "corbaloc:miop:1.0@1.0-domain-7-2/239.255.0.1:5000",
    "corbaloc:miop:1.0@1.0-a.b-18446744073709551615/[ff02::7]:1;iiop:1.2@host:2809,:b/Key%20",
    "corbaname:rir:#a.b/c",
    "corbaname::host:9999/Root#a.b/c%20d",
    "file:///tmp/a%20b.ior",
    "corbaloc::localhost:2809/%00%ff",
];

/// Octets that make a value of most types: small counts, text with its NUL, zeros.
pub const VALUE: [u8; 64] = *b"\x02\0\0\0a\0\0\0\x01\0\0\0\x03\0\0\0hi\0\0\x04\0\0\0\0h\0i\x02\0\0\0\
                               \0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\0";

/// Service contexts: Latin-1 and UTF-16, and one that nobody knows. The first is an encapsulation of its own byte order.
const CONTEXTS: [(u32, &[u8]); 2] = [(1, &[1, 0, 0, 0, 1, 0, 1, 0, 9, 1, 1, 0]), (0x7a6f_7262, b"kept")];

fn seed(dialect: (u8, Order), what: &str, octets: Vec<u8>) -> Seed {
    Seed { name: format!("GIOP 1.{} {:?}-endian {what}", dialect.0, dialect.1), octets }
}

/// Multicast packets as the fuzz body takes them: each behind its length and its sender. Those captured, in order and the
/// other way round, and a message of GIOP in packets of every size.
pub fn datagrams() -> Vec<Vec<u8>> {
    let mut captured = vectors::packets();
    let mut seeds = vec![together(&captured)];
    captured.reverse();
    seeds.push(together(&captured));
    for seed in to_server(b"key").into_iter().step_by(5) {
        for size in [40, 64, 200] {
            let Some(packets) = Packets::new(seed.octets.len(), size, b"id") else { continue };
            let packets = packets.map(|(head, range)| [&head[..], &seed.octets[range]].concat());
            seeds.push(together(&packets.collect::<Vec<_>>()));
        }
        seeds.push(seed.octets);
    }
    seeds
}

fn together(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut octets = Vec::new();
    for packet in packets {
        octets.extend(u16::try_from(packet.len()).expect("a datagram").to_be_bytes());
        octets.push(0);
        octets.extend_from_slice(packet);
    }
    octets
}

/// What a client may send to the probe whose object key is `key`, and what it must not.
pub fn to_server(key: &[u8]) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for dialect in DIALECTS {
        let mut add = |what: &str, octets| seeds.push(seed(dialect, what, octets));
        add("greet", Wire::request(dialect, 1, true, key, "greet").string("fuzz").done());
        add("divide", Wire::request(dialect, 2, true, key, "divide").u32(17).u32(0).done());
        add("echo", Wire::request(dialect, 3, true, key, "echo").sequence(&[7; 40]).done());
        add("oneway note", Wire::request(dialect, 4, false, key, "note").u32(5).done());
        add("_is_a", Wire::request(dialect, 5, true, key, "_is_a").string("IDL:testing/Probe:1.0").done());
        add("unknown operation", Wire::request(dialect, 6, true, key, "no_such").done());
        add("unknown key", Wire::request(dialect, 7, true, b"nobody", "greet").string("x").done());
        add("LocateRequest", Wire::locate(dialect, 8, key).done());
        add("CancelRequest", Wire::short(dialect, kind::CANCEL_REQUEST, Some(1)));
        add("CloseConnection", Wire::short(dialect, kind::CLOSE_CONNECTION, None));
        add("MessageError", Wire::short(dialect, kind::MESSAGE_ERROR, None));
        add("Reply", Wire::reply(dialect, 1, 0).u32(0).done());
        if dialect.0 > 0 {
            let mut whole = Wire::request(dialect, 9, true, key, "echo").more().sequence(&[1; 20]).done();
            // The length above says 20; the fragments are surplus that a servant never reads.
            whole.extend(Wire::fragment(dialect, 9).more().raw(&[2; 20]).done());
            whole.extend(Wire::fragment(dialect, 9).done());
            add("greet in fragments", whole);
        }
        let contexts = Wire::request_with(dialect, 10, (0, key), "greet", &CONTEXTS);
        add("greet with service contexts", contexts.string("fuzz").done());
        if dialect.0 == 2 {
            for (how, name) in [(1, "profile"), (2, "reference")] {
                let request = Wire::request_with(dialect, 11, (how, key), "greet", &[]);
                add(&format!("greet by {name}"), request.string("fuzz").done());
                let locate = Wire::new(dialect, kind::LOCATE_REQUEST).u32(12).target(how, key);
                add(&format!("LocateRequest by {name}"), locate.done());
            }
            // Up to the key, which ends at a multiple of 8, as all but the last fragment must.
            let length = u32::try_from(key.len()).expect("a short key");
            let mut whole = Wire::new(dialect, kind::LOCATE_REQUEST).more().u32(13).u16(0).u32(length).done();
            whole.extend(Wire::fragment(dialect, 13).raw(key).done());
            add("LocateRequest in fragments", whole);
        }
    }
    seeds
}

/// What a server may answer request `id` of `greet` with, and what it must not.
pub fn to_client(id: u32) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for dialect in DIALECTS {
        let mut add = |what: &str, octets| seeds.push(seed(dialect, what, octets));
        add("result", Wire::reply(dialect, id, 0).string("hello, fuzz").done());
        let contexts = Wire::reply_with(dialect, id, 0, &CONTEXTS).string("hello, fuzz");
        add("result with service contexts", contexts.done());
        let refused = Wire::reply(dialect, id, 1).string("IDL:testing/Refused:1.0").string("no").u32(7);
        add("user exception", refused.done());
        let transient = Wire::reply(dialect, id, 2).string("IDL:omg.org/CORBA/NO_MEMORY:1.0");
        add("system exception", transient.u32(1).u32(1).done());
        // A profile of a kind that nobody has, so that no test dials where a mutation points.
        let nowhere = Wire::reply(dialect, id, 3).string("IDL:x:1.0").u32(1).u32(0x7777).sequence(b"?");
        add("forward", nowhere.done());
        add("permanent forward to nil", Wire::reply(dialect, id, 4).string("").u32(0).done());
        add("other addressing wanted", Wire::reply(dialect, id, 5).u16(2).done());
        add("CloseConnection", Wire::short(dialect, kind::CLOSE_CONNECTION, None));
        add("MessageError", Wire::short(dialect, kind::MESSAGE_ERROR, None));
        add("LocateReply", Wire::new(dialect, kind::LOCATE_REPLY).u32(id).u32(1).done());
        add("Request", Wire::request(dialect, id, true, b"key", "greet").string("x").done());
        add("CancelRequest", Wire::short(dialect, kind::CANCEL_REQUEST, Some(id)));
        if dialect.0 > 0 {
            let mut whole = Wire::reply(dialect, id, 0).more().u32(12).raw(b"hell").align(8).done();
            whole.extend(Wire::fragment(dialect, id).more().raw(b"o, f").align(8).done());
            whole.extend(Wire::fragment(dialect, id).raw(b"uzz\0").done());
            add("result in fragments", whole);
        }
        if dialect.0 == 2 {
            let head = Wire::new(dialect, kind::LOCATE_REPLY).more().u32(id).u32(2);
            let mut whole = head.string("IDL:x:1.0").u32(1).done();
            whole.extend(Wire::fragment(dialect, id).u32(0x7777).sequence(b"?").done());
            add("LocateReply in fragments", whole);
        }
    }
    seeds
}

#[cfg(test)]
mod tests {
    use zorb::giop::{Inbound, Limits};

    use super::*;

    #[test]
    fn every_seed_is_one_well_formed_message() {
        for seed in to_server(b"key").into_iter().chain(to_client(1)) {
            let mut inbound = Inbound::new(Limits::default());
            inbound.space()[..seed.octets.len()].copy_from_slice(&seed.octets);
            inbound.received(seed.octets.len());
            let message = inbound.next().unwrap_or_else(|error| panic!("{}: {error}", seed.name));
            assert!(message.is_some() && !inbound.is_incomplete(), "{}: {message:?}", seed.name);
        }
    }
}
