//! Messages written by hand from the specification, and what they say. Shared by the tests of this folder.
#![allow(dead_code, reason = "each test uses a part")]

use std::fmt::Write;

use zorb_giop::{Inbound, Limits, Message, ProtocolError, Target};

/// A message in hexadecimal, what it says, and where its head ends (a message that ends before is an error).
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    pub(crate) hex: &'static str,
    pub(crate) says: &'static str,
    pub(crate) head: usize,
}

impl Vector {
    pub(crate) fn octets(&self) -> Vec<u8> {
        hex(self.hex)
    }
}

/// Octets from hexadecimal with white space anywhere.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    assert_eq!(digits.len() % 2, 0, "{text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Little-endian unless the name says otherwise. Offsets of the fields stand in ARCHITECTURE's order: header, head, body.
pub(crate) const VECTORS: &[Vector] = &[
    Vector {
        name: "Request 1.0",
        // contexts, id, response and padding, key, operation, principal, body
        hex: "47494f50 01000100 24000000  00000000 05000000 01aabbcc 03000000 6b6579dd 03000000 6f7000ee 00000000 07000000",
        says: "Request 1.0 id 5 response by the target key \"key\" operation \"op\" contexts [] body 4:07000000",
        head: 44,
    },
    Vector {
        name: "Request 1.0, oneway, big-endian, a principal",
        hex: "47494f50 01000000 00000022  00000000 00000005 00000000 00000001 6b000000 00000001 00000000 00000002 7573",
        says: "Request 1.0 id 5 no response key \"k\" operation \"\" contexts [] body ",
        head: 46,
    },
    Vector {
        name: "Request 1.1 with a context",
        // one context 0x77 of 3 octets, id, response and reserved octets
        hex: "47494f50 01010100 30000000  01000000 77000000 03000000 01020300 05000000 01000000 \
              03000000 6b657900 03000000 6f700000 00000000 08090a0b",
        says: "Request 1.1 id 5 response by the target key \"key\" operation \"op\" contexts [0x77:010203] body 0:08090a0b",
        head: 56,
    },
    Vector {
        name: "Request 1.2",
        // id, flags and reserved, disposition, key, operation, contexts, padding to 48, body
        hex: "47494f50 01020100 28000000  05000000 03000000 00000000 03000000 6b657900 03000000 6f700000 00000000 \
              dddddddd 07000000",
        says: "Request 1.2 id 5 response by the target key \"key\" operation \"op\" contexts [] body 0:07000000",
        head: 44,
    },
    Vector {
        name: "Request 1.2 without a body",
        hex: "47494f50 01020100 20000000  05000000 00000000 00000000 03000000 6b657900 03000000 6f700000 00000000",
        says: "Request 1.2 id 5 no response key \"key\" operation \"op\" contexts [] body ",
        head: 44,
    },
    Vector {
        name: "Request 1.2, big-endian",
        hex: "47494f50 01020000 00000024  00000005 01000000 0000dddd 00000000 00000003 6f7000dd 00000000 \
              00000000 00000007",
        says: "Request 1.2 id 5 response by the server key \"\" operation \"op\" contexts [] body 0:0000000000000007",
        head: 40,
    },
    Vector {
        name: "Request 1.2 with a code set context",
        hex: "47494f50 01020100 38000000  05000000 03000000 00000000 03000000 6b657900 03000000 6f700000 \
              01000000 01000000 0c000000 01000000 01000105 09010100  00000000",
        says: "Request 1.2 id 5 response by the target key \"key\" operation \"op\" \
               contexts [CodeSets:010000000100010509010100] body 0:00000000",
        head: 64,
    },
    Vector {
        name: "Request 1.2 by profile",
        // disposition 1; tag 0; 19 octets: little-endian 1.0, host "h", port 1, key "key"
        hex: "47494f50 01020100 34000000  05000000 03000000 01000000 00000000 13000000 \
              01010000 02000000 68000100 03000000 6b657900  03000000 6f700000 00000000",
        says: "Request 1.2 id 5 response by the target profile IIOP key \"key\" operation \"op\" contexts [] body ",
        head: 64,
    },
    Vector {
        name: "Request 1.2 by reference",
        // disposition 2; profile 1 of the reference; type id "T"; profiles 0x99 and 0, the latter as above
        hex: "47494f50 01020100 4c000000  05000000 03000000 02000000 01000000 02000000 54000000 02000000 \
              99000000 00000000 00000000 13000000 01010000 02000000 68000100 03000000 6b657900 \
              03000000 6f700000 00000000 ",
        says: "Request 1.2 id 5 response by the target reference T profile 1 of 2 key \"key\" operation \"op\" contexts [] body ",
        head: 88,
    },
    Vector {
        name: "Reply 1.0",
        hex: "47494f50 01000101 10000000  00000000 05000000 00000000 07000000",
        says: "Reply 1.0 id 5 NO_EXCEPTION contexts [] body 0:07000000",
        head: 24,
    },
    Vector {
        name: "Reply 1.1, big-endian, with a context",
        hex: "47494f50 01010001 0000001c  00000001 00000077 00000003 01020300 00000005 00000002 00000007",
        says: "Reply 1.1 id 5 SYSTEM_EXCEPTION contexts [0x77:010203] body 4:00000007",
        head: 36,
    },
    Vector {
        name: "Reply 1.2",
        hex: "47494f50 01020101 10000000  05000000 00000000 00000000 07000000",
        says: "Reply 1.2 id 5 NO_EXCEPTION contexts [] body 0:07000000",
        head: 24,
    },
    Vector {
        name: "Reply 1.2 with a context and padding",
        hex: "47494f50 01020101 21000000  05000000 01000000 01000000 77000000 03000000 010203ff ffffffff 07000000 00",
        says: "Reply 1.2 id 5 USER_EXCEPTION contexts [0x77:010203] body 0:0700000000",
        head: 35,
    },
    Vector {
        name: "CancelRequest 1.0",
        hex: "47494f50 01000102 04000000  05000000",
        says: "CancelRequest id 5",
        head: 16,
    },
    Vector {
        name: "CancelRequest 1.2, big-endian",
        hex: "47494f50 01020002 00000004  00000005",
        says: "CancelRequest id 5",
        head: 16,
    },
    Vector {
        name: "LocateRequest 1.0",
        hex: "47494f50 01000103 0b000000  05000000 03000000 6b6579",
        says: "LocateRequest 1.0 id 5 key \"key\"",
        head: 23,
    },
    Vector {
        name: "LocateRequest 1.2",
        hex: "47494f50 01020103 0f000000  05000000 00000000 03000000 6b6579",
        says: "LocateRequest 1.2 id 5 key \"key\"",
        head: 27,
    },
    Vector {
        name: "LocateReply 1.1",
        hex: "47494f50 01010104 08000000  05000000 01000000",
        says: "LocateReply 1.1 id 5 OBJECT_HERE body ",
        head: 20,
    },
    Vector {
        name: "LocateReply 1.2, a body without alignment",
        hex: "47494f50 01020104 0a000000  05000000 05000000 0000",
        says: "LocateReply 1.2 id 5 LOC_NEEDS_ADDRESSING_MODE body 4:0000",
        head: 20,
    },
    Vector {
        name: "CloseConnection 1.0",
        hex: "47494f50 01000105 00000000",
        says: "CloseConnection",
        head: 12,
    },
    Vector {
        name: "CloseConnection 1.2",
        hex: "47494f50 01020105 00000000",
        says: "CloseConnection",
        head: 12,
    },
    Vector { name: "MessageError 1.1", hex: "47494f50 01010006 00000000", says: "MessageError", head: 12 },
    // From here on several messages that make one.
    Vector {
        name: "Request 1.2 in three fragments, the last with no data",
        hex: "47494f50 01020300 24000000  05000000 03000000 00000000 03000000 6b657900 03000000 6f700000 00000000 00000000 \
              47494f50 01020307 0c000000  05000000 0102030405060708 \
              47494f50 01020107 04000000  05000000",
        says: "Request 1.2 id 5 response by the target key \"key\" operation \"op\" contexts [] body 0:0102030405060708",
        head: 0,
    },
    Vector {
        name: "Reply 1.1 in fragments, an octet and a double whose alignment restarts",
        hex: "47494f50 01010301 0c000000  00000000 05000000 00000000 \
              47494f50 01010307 00000000 \
              47494f50 01010107 0c000000  01aaaaaa 000000000000f03f",
        says: "Reply 1.1 id 5 NO_EXCEPTION contexts [] body 0: 4:01aaaaaa000000000000f03f",
        head: 0,
    },
];

/// What a message says, in one line. Bodies: phase and octets of each segment.
pub(crate) fn show(message: &Message) -> String {
    let mut text = String::new();
    let contexts = |contexts: &zorb_giop::ServiceContexts| {
        let shown: Vec<String> =
            contexts.iter().map(|context| format!("{}:{}", context.id, to_hex(&context.data))).collect();
        format!("contexts [{}]", shown.join(", "))
    };
    let body = |body: &zorb_cdr::Body| {
        if body.is_empty() {
            return String::new();
        }
        let shown: Vec<String> =
            body.segments().map(|segment| format!("{}:{}", segment.phase, to_hex(&segment.octets))).collect();
        shown.join(" ")
    };
    let result = match message {
        Message::Request(request) => write!(
            text,
            "Request {} id {} {} {} operation {:?} {} body {}",
            request.version,
            request.id,
            request.response,
            show_target(&request.target),
            request.operation(),
            contexts(&request.contexts),
            body(&request.body)
        ),
        Message::Reply(reply) => write!(
            text,
            "Reply {} id {} {} {} body {}",
            reply.version,
            reply.id,
            reply.status,
            contexts(&reply.contexts),
            body(&reply.body)
        ),
        Message::CancelRequest { id } => write!(text, "CancelRequest id {id}"),
        Message::LocateRequest(request) => {
            write!(
                text,
                "LocateRequest {} id {} {}",
                request.version,
                request.id,
                show_target(&request.target)
            )
        }
        Message::LocateReply(reply) => {
            write!(
                text,
                "LocateReply {} id {} {} body {}",
                reply.version,
                reply.id,
                reply.status,
                body(&reply.body)
            )
        }
        other => write!(text, "{other:?}"),
    };
    result.unwrap();
    text
}

fn show_target(target: &Target) -> String {
    let key = target.object_key().map(|key| key.escape_ascii().to_string());
    let key = key.map_or("no key".into(), |key| format!("key \"{key}\""));
    match target {
        Target::ObjectKey(_) => key,
        Target::Profile(profile) => format!("profile {} {key}", profile.tag),
        Target::Reference { selected, ior } => {
            format!("reference {} profile {selected} of {} {key}", ior.type_id, ior.profiles.len())
        }
    }
}

pub(crate) fn to_hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Feeds all octets, as many at a time as `chunk` says (0: as many as there is room for), and shows what came out.
pub(crate) fn feed(
    inbound: &mut Inbound,
    octets: &[u8],
    mut chunk: impl FnMut() -> usize,
) -> Result<Vec<String>, ProtocolError> {
    let mut rest = octets;
    let mut shown = Vec::new();
    while !rest.is_empty() {
        let space = inbound.space();
        assert!(!space.is_empty());
        let n = match chunk() {
            0 => space.len(),
            n => n.min(space.len()),
        }
        .min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        inbound.received(n);
        rest = &rest[n..];
        while let Some(message) = inbound.next()? {
            shown.push(show(&message));
        }
    }
    Ok(shown)
}

/// As [`feed`] with default limits and all at once.
pub(crate) fn receive(octets: &[u8]) -> Result<Vec<String>, ProtocolError> {
    feed(&mut Inbound::new(Limits::default()), octets, || 0)
}
