//! What a bridge makes of messages, octet by octet: both byte orders on both sides, forwards, cancellations, keys that
//! lead nowhere.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use zorb::cdr::{ByteOrder, Decode, Decoder, Format};
use zorb::giop::{
    ContextId, IiopProfile, Inbound, Ior, Limits, LocateStatus, Message, Reply, ReplyStatus, Request,
};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::wire::{DIALECTS, Order, Wire, kind};

use crate::bridges::Joined;
use crate::fixture::{Place, serve};

/// One end of a connection, whose messages the test reads and writes itself.
pub(crate) struct End {
    stream: TcpStream,
    inbound: Inbound,
}

impl End {
    pub(crate) fn of(stream: TcpStream) -> End {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        End { stream, inbound: Inbound::new(Limits::default()) }
    }

    fn of_client(joined: &Joined) -> End {
        End::of(TcpStream::connect(&*joined.outside.endpoints()[0].address).unwrap())
    }

    pub(crate) fn send(&mut self, octets: &[u8]) {
        self.stream.write_all(octets).unwrap();
    }

    fn next(&mut self) -> Message {
        loop {
            if let Some(message) = self.inbound.next().unwrap() {
                return message;
            }
            let count = self.stream.read(self.inbound.space()).unwrap();
            assert_ne!(count, 0, "closed");
            self.inbound.received(count);
        }
    }

    pub(crate) fn reply(&mut self) -> Reply {
        match self.next() {
            Message::Reply(reply) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn request(&mut self) -> Request {
        match self.next() {
            Message::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }
}

/// A target that is the test itself, and its reference.
fn target() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, format!("corbaloc:iiop:1.2@127.0.0.1:{port}/target"))
}

fn key(text: &str) -> Vec<u8> {
    let ior: Ior = text.parse().unwrap();
    IiopProfile::decode(&ior.profiles[0]).unwrap().object_key.to_vec()
}

fn order(order: Order) -> ByteOrder {
    match order {
        Order::Big => ByteOrder::Big,
        Order::Little => ByteOrder::Little,
    }
}

fn octets(body: &zorb::cdr::Body) -> Vec<u8> {
    body.segments().flat_map(|segment| segment.octets.to_vec()).collect()
}

#[test]
fn requests_of_both_byte_orders_are_understood_behind_it() {
    for at in [Place::TCP, Place::UNIX, Place::SHM] {
        let (_there, text) = serve(at.server(), Arc::new(Servant::new(1)));
        let joined = Joined::to(at);
        let key = key(&joined.export(&text));
        for dialect in DIALECTS {
            let mut client = End::of_client(&joined);
            for id in 1..4 {
                client.send(&Wire::request(dialect, id, true, &key, "divide").u32(17).u32(5).done());
                let reply = client.reply();
                assert_eq!((reply.id, reply.status), (id, ReplyStatus::NO_EXCEPTION), "{dialect:?}");
                assert_eq!(reply.version.minor, dialect.0);
                let mut result = Decoder::over(&reply.body, Format::new(reply.version));
                assert_eq!((result.read_i32().unwrap(), result.read_i32().unwrap()), (3, 2), "{dialect:?}");
            }
        }
    }
}

#[test]
fn bodies_contexts_and_exceptions_pass_octet_by_octet_in_both_byte_orders() {
    let (listener, text) = target();
    let joined = Joined::to(Place::TCP);
    let key = key(&joined.export(&text));
    let mut inside: Option<End> = None;
    for asks in DIALECTS {
        // Each reply in either byte order, whatever the request's.
        for answers in [(asks.0, Order::Big), (asks.0, Order::Little)] {
            for (length, status) in [(0, 0), (1, 0), (29, 1), (41, 2), (40_000, 0)] {
                let body: Vec<u8> = (0..length).map(|index| (index % 253) as u8).collect();
                let mut client = End::of_client(&joined);
                let context: &[(u32, &[u8])] = &[(0x77, b"seven"), (15, b"x")];
                client.send(&Wire::request_with(asks, 9, (0, &key), "ask_me", context).raw(&body).done());
                let inside = inside.get_or_insert_with(|| End::of(listener.accept().unwrap().0));
                let request = inside.request();
                let said = format!("{asks:?}, answered in {answers:?}, {length} octets");
                assert_eq!((request.operation(), request.version.minor), ("ask_me", asks.0), "{said}");
                assert_eq!(request.target.object_key().as_deref(), Some(&b"target"[..]));
                assert_eq!(octets(&request.body), body, "{said}");
                let contexts: Vec<_> = request.contexts.iter().map(|one| (one.id.0, &one.data[..])).collect();
                // And one of the bridge's: it is the first.
                let hops = (ContextId::ZORB_HOPS.0, &[0, 0, 0, 0, 0, 0, 0, 1][..]);
                assert_eq!(contexts, [context, &[hops]].concat(), "{said}");
                if length > 0 {
                    assert_eq!(request.body.order, order(asks.1), "{said}");
                    // Where the client's own body began, modulo 8.
                    let began = Wire::request_with(asks, 9, (0, &key), "ask_me", context).done().len() % 8;
                    assert_eq!(request.body.first().phase % 8, began, "{said}");
                }
                let reply = Wire::reply_with(answers, request.id, status, &[(0x78, b"eight")]).raw(&body);
                inside.send(&reply.done());
                let reply = client.reply();
                assert_eq!((reply.id, reply.status.0, octets(&reply.body)), (9, status, body), "{said}");
                assert_eq!(reply.contexts.find(ContextId(0x78)).map(|data| &data[..]), Some(&b"eight"[..]));
                if length > 0 {
                    assert_eq!(reply.body.order, order(answers.1), "{said}");
                }
            }
        }
    }
}

#[test]
fn a_target_of_an_earlier_version_gets_requests_in_its_own() {
    for minor in [0, 1] {
        let (listener, text) = target();
        let joined = Joined::to(Place::TCP);
        let key = key(&joined.export(&text.replace("1.2@", &format!("1.{minor}@"))));
        let mut inside: Option<End> = None;
        for asks in DIALECTS {
            let dialect = (asks.0.min(minor), asks.1);
            for length in [0, 1, 29, 40_000] {
                let body: Vec<u8> = (0..length).map(|index| (index % 253) as u8).collect();
                let mut client = End::of_client(&joined);
                client.send(&Wire::request(asks, 9, true, &key, "ask").raw(&body).done());
                let inside = inside.get_or_insert_with(|| End::of(listener.accept().unwrap().0));
                let request = inside.request();
                let said = format!("{asks:?} to 1.{minor}, {length} octets");
                assert_eq!(request.version.minor, dialect.0, "{said}");
                assert_eq!(octets(&request.body), body, "{said}");
                if length > 0 {
                    let began = Wire::request(asks, 9, true, &key, "ask").done().len() % 8;
                    assert_eq!((request.body.order, request.body.first().phase % 8), (order(asks.1), began));
                }
                inside.send(&Wire::reply(dialect, request.id, 0).raw(&body).done());
                let reply = client.reply();
                assert_eq!((reply.version.minor, octets(&reply.body)), (asks.0, body), "{said}");
            }
            // A result that 1.2 cannot carry as it is says so.
            let mut client = End::of_client(&joined);
            client.send(&Wire::request(asks, 9, true, &key, "ask").done());
            let inside = inside.as_mut().unwrap();
            let request = inside.request();
            let odd = Wire::reply_with(dialect, request.id, 0, &[(0x78, b"four")]).raw(b"result").done();
            inside.send(&odd);
            let reply = client.reply();
            let passes = asks.0 < 2;
            assert_eq!(reply.status == ReplyStatus::NO_EXCEPTION, passes, "{asks:?}");
            if !passes {
                let exception = Decoder::over(&reply.body, Format::default()).read_string().unwrap();
                assert_eq!(exception, "IDL:omg.org/CORBA/MARSHAL:1.0");
            }
        }
    }
}

#[test]
fn forwards_lead_to_objects_of_the_bridge() {
    let (listener, text) = target();
    let (_there, elsewhere) = serve(Place::UNIX.server(), Arc::new(Servant::new(1)));
    let elsewhere: Ior = elsewhere.parse().unwrap();
    let joined = Joined::to(Place::UNIX);
    let first = joined.export(&text);
    let mut inside: Option<End> = None;
    for dialect in DIALECTS {
        for status in [3, 4] {
            if status == 4 && dialect.0 < 2 {
                continue;
            }
            let mut client = End::of_client(&joined);
            client.send(&Wire::request(dialect, 1, true, &key(&first), "divide").u32(17).u32(5).done());
            let inside = inside.get_or_insert_with(|| End::of(listener.accept().unwrap().0));
            let request = inside.request();
            let mut forward = Wire::reply(dialect, request.id, status).string(&elsewhere.type_id);
            forward = forward.u32(u32::try_from(elsewhere.profiles.len()).unwrap());
            for profile in &elsewhere.profiles {
                forward = forward.u32(profile.tag.0).sequence(&profile.data);
            }
            inside.send(&forward.done());
            let reply = client.reply();
            assert_eq!(reply.status.0, status, "{dialect:?}");
            let to = Ior::decode(&mut Decoder::over(&reply.body, Format::new(reply.version))).unwrap();
            let profile = IiopProfile::decode(&to.profiles[0]).unwrap();
            let address = &joined.outside.endpoints()[0].address;
            assert!(address.ends_with(&format!(":{}", profile.port)), "{address}: {profile:?}");
            assert_ne!(profile.object_key, key(&first));
            let key = &profile.object_key;
            client.send(&Wire::request(dialect, 2, true, key, "divide").u32(17).u32(5).done());
            let reply = client.reply();
            let mut result = Decoder::over(&reply.body, Format::new(reply.version));
            assert_eq!((result.read_i32().unwrap(), result.read_i32().unwrap()), (3, 2));
        }
    }
    assert_eq!(joined.bridge.objects(), 2);
}

#[test]
fn keys_that_were_not_exported_lead_nowhere() {
    let (_listener, text) = target();
    let joined = Joined::to(Place::TCP);
    let key = key(&joined.export(&text));
    for at in 0..key.len() {
        let mut other = key.clone();
        other[at] ^= 1;
        let mut client = End::of_client(&joined);
        client.send(&Wire::request((2, Order::Big), 1, true, &other, "nothing").done());
        let reply = client.reply();
        assert_eq!(reply.status, ReplyStatus::SYSTEM_EXCEPTION);
        let exception = Decoder::over(&reply.body, Format::default()).read_string().unwrap();
        assert_eq!(exception, "IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0", "{at}");
    }
    for dialect in DIALECTS {
        let mut client = End::of_client(&joined);
        for (key, status) in [(&key[..], LocateStatus::OBJECT_HERE), (b"other", LocateStatus::UNKNOWN_OBJECT)]
        {
            client.send(&Wire::locate(dialect, 5, key).done());
            match client.next() {
                Message::LocateReply(reply) => assert_eq!((reply.id, reply.status), (5, status)),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn who_gives_a_call_up_or_is_gone_gives_it_up_inside_too() {
    let (listener, text) = target();
    let joined = Joined::to(Place::TCP);
    let key = key(&joined.export(&text));
    let mut inside: Option<End> = None;
    for dialect in DIALECTS {
        for leaves in [false, true] {
            let mut client = End::of_client(&joined);
            client.send(&Wire::request(dialect, 3, true, &key, "wait").done());
            let inside = inside.get_or_insert_with(|| End::of(listener.accept().unwrap().0));
            let request = inside.request();
            match leaves {
                true => drop(client),
                false => {
                    client.send(&Wire::short(dialect, kind::CANCEL_REQUEST, Some(3)));
                    // The next call on the connection is answered.
                    client.send(&Wire::locate(dialect, 4, &key).done());
                    assert!(matches!(client.next(), Message::LocateReply(reply) if reply.id == 4));
                }
            }
            match inside.next() {
                Message::CancelRequest { id } => assert_eq!(id, request.id, "{dialect:?}"),
                other => panic!("{dialect:?}, leaves: {leaves}: {other:?}"),
            }
            // An answer that comes all the same is nobody's.
            inside.send(&Wire::reply(dialect, request.id, 0).done());
        }
    }
}

#[test]
fn what_clients_announce_of_text_is_announced_inside() {
    use zorb::cdr::{CodeSet, CodeSets};
    use zorb::giop::code_sets::{decode_context, encode_context};
    let (listener, text) = target();
    let joined = Joined::to(Place::TCP);
    let key = key(&joined.export(&text));
    let latin = CodeSets { char: CodeSet::ISO_8859_1, wchar: Some(CodeSet::UTF_16) };
    // One connection inside for each.
    let mut inside: Vec<(Option<CodeSets>, End)> = Vec::new();
    for announced in [Some(CodeSets::UNICODE), None, Some(latin), Some(CodeSets::UNICODE), None] {
        let context = announced.map(encode_context);
        let contexts: Vec<_> = context.iter().map(|data| (ContextId::CODE_SETS.0, &data[..])).collect();
        let mut client = End::of_client(&joined);
        for id in 1..3 {
            // Announced once, with the first request.
            let contexts = if id == 1 { &contexts[..] } else { &[] };
            client.send(&Wire::request_with((2, Order::Big), id, (0, &key), "say", contexts).done());
            if !inside.iter().any(|(known, _)| *known == announced) {
                inside.push((announced, End::of(listener.accept().unwrap().0)));
            }
            let (_, inside) = inside.iter_mut().find(|(known, _)| *known == announced).unwrap();
            let request = inside.request();
            let said = request.contexts.find(ContextId::CODE_SETS).map(|data| decode_context(data).unwrap());
            assert_eq!(said, announced);
            inside.send(&Wire::reply((2, Order::Little), request.id, 0).done());
            assert_eq!(client.reply().id, id);
        }
    }
    assert_eq!(inside.len(), 3);
}
