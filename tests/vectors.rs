//! Captured messages of other ORBs: read, written again, and cut short.
//!
//! A message of omniORB, which is little-endian as we are, must come out octet for octet, but for padding, which omniORB
//! leaves as it was in its buffer. One of JacORB is big-endian: what we write of it must read as the same values.

use std::collections::BTreeMap;
use std::fs;

use zorb::cdr::{Body, ByteOrder, CodeSet, CodeSets, Decoder, Encoder, Format, Segment, Version};
use zorb::giop::*;
use zorb::rt::{Decode, Encode};
use zorb_interop::recode::{self, Failure, Recode};
use zorb_tests::hearing::hear;
use zorb_tests::{root, vectors};

#[test]
fn jacorbs_multicast_packets_make_its_requests() {
    let mut reassembly = miop::Reassembly::new(miop::MiopLimits::default());
    let mut requests = Vec::new();
    for datagram in vectors::packets() {
        let packet = miop::Packet::decode(&datagram).expect("a packet");
        match reassembly.add(&(), &packet, std::time::Duration::ZERO) {
            miop::Reassembled::Message(message) => requests.push(message),
            other => assert_eq!(other, miop::Reassembled::Incomplete),
        }
    }
    let operations: Vec<_> = requests
        .iter()
        .map(|message| {
            let oneway = Oneway::read(message).expect("a oneway request");
            assert_eq!(oneway.group(), Some(&GroupComponent::new("zorb", 7)));
            let (mut inbound, mut heard) = (Inbound::new(Limits::default()), Vec::new());
            let redirected = oneway.redirected(b"an object").expect("GIOP 1.2");
            hear(&mut inbound, &redirected, redirected.len(), &mut heard).expect("GIOP");
            let [Message::Request(request)] = &heard[..] else { panic!("{heard:?}") };
            let mut arguments = Decoder::over(&request.body, Format::new(request.version));
            let what = match request.operation() {
                "note" => format!("{:?}", arguments.read_i32()),
                _ => format!(
                    "{:?} {:?}",
                    Vec::<i32>::decode(&mut arguments),
                    arguments.read_string().map(|text| text.len())
                ),
            };
            format!("{} {what}", request.operation())
        })
        .collect();
    assert_eq!(operations, ["note Ok(1)", "note_all Ok([-1, -2]) Ok(5000)"]);
}

/// What a client and a server said to each other, from one file.
struct Capture {
    name: String,
    /// In order; whether the client sent it, and its octets.
    said: Vec<(bool, Vec<u8>)>,
}

fn captures() -> Vec<Capture> {
    let mut captures = Vec::new();
    for entry in fs::read_dir(root().join("tests/vectors")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "hex") {
            continue;
        }
        let mut said: Vec<(bool, Vec<u8>)> = Vec::new();
        for line in fs::read_to_string(&path).unwrap().lines() {
            match line.as_bytes().first() {
                Some(b'#') | None => {}
                Some(mark @ (b'>' | b'<')) => said.push((*mark == b'>', Vec::new())),
                Some(_) => said.last_mut().unwrap().1.extend(vectors::octets(line)),
            }
        }
        captures.push(Capture { name: path.file_stem().unwrap().to_string_lossy().into_owned(), said });
    }
    captures.sort_by(|x, y| x.name.cmp(&y.name));
    captures
}

/// Feeds `octets` to a receiver in pieces of `step`.
fn receive(inbound: &mut Inbound, octets: &[u8], step: usize) -> Result<Vec<Message>, ProtocolError> {
    let mut messages = Vec::new();
    hear(inbound, octets, step, &mut messages)?;
    Ok(messages)
}

/// What the peers agreed on: their native Latin-1, and UTF-16.
fn format(version: Version) -> Format {
    let code_sets = CodeSets { char: CodeSet::ISO_8859_1, wchar: Some(CodeSet::UTF_16) };
    Format { version, code_sets }
}

/// A body, and how it is to be read.
struct Spoken {
    version: Version,
    body: Body,
    recode: Recode,
    head: Head,
}

enum Head {
    Request(Request),
    Reply(Reply),
    /// A LocateReply's reference.
    Locate(LocateReply),
}

const SYSTEM_EXCEPTION: Recode = |from, to| {
    let body = SystemExceptionBody::decode(from).map_err(Failure::Decode)?;
    let shown = format!("{body:?}");
    body.encode_owned(to).map_err(Failure::Encode).map(|()| shown)
};

/// What a message's body holds; `None` for messages without a body.
fn spoken(message: Message, operations: &mut BTreeMap<u32, String>) -> Option<Spoken> {
    match message {
        Message::Request(request) => {
            operations.insert(request.id, request.operation().to_owned());
            let bodies = recode::bodies(request.operation());
            let recode = bodies.unwrap_or_else(|| panic!("no shape for {}", request.operation())).request;
            Some(Spoken {
                version: request.version,
                body: request.body.clone(),
                recode,
                head: Head::Request(request),
            })
        }
        Message::Reply(reply) => {
            let operation = operations.get(&reply.id).expect("a reply answers a request");
            let recode: Recode = match reply.status {
                ReplyStatus::NO_EXCEPTION => recode::bodies(operation).expect("a known operation").reply,
                ReplyStatus::USER_EXCEPTION => |from, to| {
                    let id = from.read_string().map_err(Failure::Decode)?;
                    to.write_string(&id).map_err(Failure::Encode)?;
                    recode::members(&id).expect("a known exception")(from, to).map(|members| id + &members)
                },
                ReplyStatus::SYSTEM_EXCEPTION => SYSTEM_EXCEPTION,
                ReplyStatus::LOCATION_FORWARD => recode::REFERENCE,
                other => panic!("status {other}"),
            };
            Some(Spoken {
                version: reply.version,
                body: reply.body.clone(),
                recode,
                head: Head::Reply(reply),
            })
        }
        Message::LocateReply(reply) => {
            let recode: Recode = match reply.status {
                LocateStatus::OBJECT_FORWARD => recode::REFERENCE,
                LocateStatus::LOC_SYSTEM_EXCEPTION => SYSTEM_EXCEPTION,
                _ => |_, _| Ok(String::new()),
            };
            Some(Spoken {
                version: reply.version,
                body: reply.body.clone(),
                recode,
                head: Head::Locate(reply),
            })
        }
        _ => None,
    }
}

impl Spoken {
    /// The whole message as we would send it, and the values of its body as text.
    fn written(&self, name: &str) -> (Vec<u8>, String) {
        let mut to = Encoder::new(format(self.version));
        match &self.head {
            Head::Request(request) => {
                let target = Addressing::from(&request.target);
                let operation = request.operation();
                begin_request(
                    &mut to,
                    &RequestHead {
                        id: request.id,
                        response: request.response,
                        target,
                        operation,
                        by_number: None,
                        contexts: &request.contexts,
                    },
                )
                .unwrap();
            }
            Head::Reply(reply) => {
                let head = ReplyHead {
                    id: reply.id,
                    status: reply.status,
                    by_number: false,
                    contexts: &reply.contexts,
                };
                begin_reply(&mut to, &head).unwrap();
            }
            Head::Locate(reply) => begin_locate_reply(&mut to, reply.id, reply.status),
        }
        let mut from = Decoder::over(&self.body, format(self.version));
        let shown = (self.recode)(&mut from, &mut to).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(from.remaining() < 8, "{name}: {} octets are left", from.remaining());
        finish(&mut to).unwrap();
        (to.slices().flatten().copied().collect(), shown)
    }
}

#[test]
fn written_again_they_say_the_same() {
    let (mut messages, mut exact, mut struct_sequences) = (0, 0, 0);
    for capture in captures() {
        let is_omniorb = capture.name.starts_with("omniorb");
        let (mut client, mut server) = (Inbound::new(Limits::default()), Inbound::new(Limits::default()));
        let mut operations = BTreeMap::new();
        for (index, (from_client, octets)) in capture.said.iter().enumerate() {
            if !octets.starts_with(b"GIOP") {
                continue; // what a peer answers to nonsense
            }
            let inbound = if *from_client { &mut client } else { &mut server };
            let heard = receive(inbound, octets, usize::MAX)
                .unwrap_or_else(|error| panic!("{}: {error}", capture.name));
            for message in heard {
                let name = format!("{} message {index}", capture.name);
                let Some(spoken) = spoken(message, &mut operations) else { continue };
                messages += 1;
                let (ours, meant) = spoken.written(&name);
                // What we wrote reads as the same values; written a third time it does not change.
                let mut again = Inbound::new(Limits::default());
                let mut known = operations.clone();
                let heard = receive(&mut again, &ours, usize::MAX).unwrap().remove(0);
                let (again, read) = self::spoken(heard, &mut known).expect("it has a body").written(&name);
                assert_eq!(meant, read, "{name}");
                assert_eq!(ours, again, "{name}");
                let whole = octets[6] & 2 == 0 && octets[7] != 7;
                // UTF-16 may go in either order, with a mark that says which; omniORB marks, we need none.
                let whole = whole && !capture.name.contains("-echo-w");
                if is_omniorb && whole && cfg!(target_endian = "little") {
                    same_but_padding(&name, &ours, octets);
                    exact += 1;
                    struct_sequences +=
                        usize::from(capture.name.contains("phase") && capture.name.contains("_seq"));
                }
            }
        }
    }
    println!(
        "{messages} messages, {exact} octet for octet, {struct_sequences} with struct sequences at some phase"
    );
    assert!(messages > 1000, "{messages}");
    if cfg!(target_endian = "little") {
        assert!(exact > 400 && struct_sequences > 150, "{exact}, {struct_sequences}");
    }
}

/// Octets may differ only where ours are zero, which padding is: lengths are the same, and so are the values, which were read
/// from both; so the octets that differ say nothing.
fn same_but_padding(name: &str, ours: &[u8], theirs: &[u8]) {
    assert_eq!(ours.len(), theirs.len(), "{name}:\n{ours:02x?}\n{theirs:02x?}");
    for (at, (&our, &their)) in ours.iter().zip(theirs).enumerate() {
        assert!(
            our == their || our == 0,
            "{name} at {at}: {our:02x} for {their:02x}\n{ours:02x?}\n{theirs:02x?}"
        );
    }
}

#[test]
fn a_message_cut_short_is_waited_for_and_a_body_cut_short_is_an_error() {
    for capture in captures() {
        let mut operations = BTreeMap::new();
        let (mut client, mut server) = (Inbound::new(Limits::default()), Inbound::new(Limits::default()));
        for (from_client, octets) in &capture.said {
            let inbound = if *from_client { &mut client } else { &mut server };
            if !octets.starts_with(b"GIOP") {
                let mut inbound = Inbound::new(Limits::default());
                assert!(receive(&mut inbound, octets, usize::MAX).is_err(), "{}", capture.name);
                continue;
            }
            // Fragments follow in the next message: only a first piece can be cut alone.
            if octets[7] != 7 {
                // Octet by octet: all but the last leave a proper prefix.
                let mut cut = Inbound::new(Limits::default());
                for end in 1..octets.len() {
                    let heard = receive(&mut cut, &octets[end - 1..end], 1);
                    assert!(heard.is_ok_and(|heard| heard.is_empty()), "{} cut at {end}", capture.name);
                    assert!(cut.is_incomplete(), "{} cut at {end}", capture.name);
                }
            }
            for message in receive(inbound, octets, 7).unwrap() {
                let Some(spoken) = spoken(message, &mut operations) else { continue };
                every_prefix_is_an_error(&capture.name, &spoken);
            }
        }
    }
}

/// Cuts a body everywhere: it ends politely, and without a value where a value was.
fn every_prefix_is_an_error(name: &str, spoken: &Spoken) {
    let needed = {
        let mut from = Decoder::over(&spoken.body, format(spoken.version));
        (spoken.recode)(&mut from, &mut Encoder::new(format(spoken.version))).unwrap();
        spoken.body.len() - from.remaining()
    };
    for end in 0..needed {
        let body = cut(&spoken.body, end);
        let mut from = Decoder::over(&body, format(spoken.version));
        let result = (spoken.recode)(&mut from, &mut Encoder::new(format(spoken.version)));
        assert!(matches!(result, Err(Failure::Decode(_))), "{name} cut at {end} of {needed}: {result:?}");
    }
}

/// The first `end` octets of `body`, in the segments in which they came.
fn cut(body: &Body, end: usize) -> Body {
    let mut left = end;
    let segments = body.segments().map(|segment| {
        let octets = segment.octets.slice(0..left.min(segment.octets.len()));
        left -= octets.len();
        Segment { octets, phase: segment.phase }
    });
    Body::many(segments.collect(), body.order)
}

#[test]
fn their_references_come_out_byte_for_byte() {
    let references = vectors::references();
    assert!(references.len() >= 6, "{}", references.len());
    for text in references {
        let ior: Ior = text.parse().unwrap();
        assert_eq!(Ior::from_encapsulation(&vectors::octets(&text["IOR:".len()..])).unwrap(), ior);
        let again: Ior = ior.to_string().parse().unwrap();
        assert_eq!(again, ior);
        // Those of the other byte order are written in ours.
        let octets = vectors::octets(&text["IOR:".len()..]);
        let order = if octets[0] == 1 { ByteOrder::Little } else { ByteOrder::Big };
        if order == ByteOrder::NATIVE {
            same_but_padding("IOR", &vectors::octets(&ior.to_string()["IOR:".len()..]), &octets);
        }
        for end in 0..octets.len() {
            assert!(Ior::from_encapsulation(&octets[..end]).is_err(), "cut at {end}");
        }
    }
}
