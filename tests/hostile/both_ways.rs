//! Peers that say what is not so of where they are, answer what nobody asked, or call whom nobody offered.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use zorb::bidirectional::{Accept, Bidirectional};
use zorb::cdr::{Decoder, Format};
use zorb::giop::{ContextId, IiopProfile, Ior, ListenPoint, Message, ReplyStatus, encode_listen_points};
use zorb::poa::PoaPolicies;
use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::{Completion, Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;
use zorb_tests::wire::{Order, Wire, kind};

use crate::rig::{Conversation, Fake, Reader, probe, until};

const NATIVE: (u8, Order) = (2, Order::Little);

const MARSHAL: &str = "IDL:omg.org/CORBA/MARSHAL:1.0";

/// A server in this process, that may call back.
struct Host {
    orb: Orb,
    probe: Probe,
    address: SocketAddr,
    key: Vec<u8>,
}

impl Host {
    fn new(choice: Bidirectional) -> Host {
        let orb = Orb::builder().listen("tcp:127.0.0.1:0").bidirectional(choice).build();
        let root = orb.root_poa().expect("a fresh ORB");
        root.manager().activate().expect("it can be activated");
        let probe = root.activate::<Probe>(Arc::new(Servant::new(1))).expect("a fresh servant");
        let reference: Ior = probe.to_string().parse().expect("a reference");
        let profile = IiopProfile::decode(&reference.profiles[0]).expect("an IIOP profile");
        let address = format!("{}:{}", profile.host, profile.port).parse().expect("an address");
        Host { orb, probe, address, key: profile.object_key.to_vec() }
    }

    fn accepting() -> Host {
        Host::new(Bidirectional::new().accept(Accept::PeerAddress))
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream
    }

    /// A request of `nothing` with this offer, answered; and what it was answered.
    fn offer(&self, stream: &TcpStream, id: u32, data: &[u8]) -> (ReplyStatus, String) {
        let contexts = [(ContextId::BI_DIR_IIOP.0, data)];
        let request = Wire::request_with(NATIVE, id, (0, &self.key), "nothing", &contexts).done();
        say(stream, &request);
        let Some(Message::Reply(reply)) = Reader::new(stream).next("an offer") else { panic!("no reply") };
        assert_eq!(reply.id, id);
        let id = Decoder::over(&reply.body, Format::new(reply.version)).read_string();
        (reply.status, id.unwrap_or_default())
    }

    /// The reference to an object there, by connections that clients have opened alone.
    fn called_back(&self, host: &str, port: u16) -> Probe {
        let alone = Policies::new().protocols(Protocols::only(["bidir"])).call_timeout(PATIENCE);
        let there = probe(&self.orb, &format!("corbaloc:iiop:1.2@{host}:{port}/key"));
        Probe::from_object(there.as_object().with_policies(alone))
    }

    fn is_not_called(&self, host: &str, port: u16) {
        let refused = self.called_back(host, port).nothing().unwrap_err();
        assert_eq!((refused.kind, refused.completed), (Kind::Transient, Completion::No), "{refused}");
        assert!(refused.detail().contains("none that is believed"), "{refused}");
    }
}

fn say(mut stream: &TcpStream, octets: &[u8]) {
    std::io::Write::write_all(&mut stream, octets).expect("the server reads");
}

fn points(points: &[(&str, u16)]) -> Vec<u8> {
    let points: Vec<_> = points.iter().map(|&(host, port)| ListenPoint { host: host.into(), port }).collect();
    encode_listen_points(&points).expect("plain text").to_vec()
}

/// Answers the next request, and says which it was.
fn answer(stream: &TcpStream) -> u32 {
    let Some(Message::Request(request)) = Reader::new(stream).next("a call back") else {
        panic!("no request")
    };
    say(stream, &Wire::reply(NATIVE, request.id, 0).done());
    request.id
}

#[test]
fn one_that_claims_anothers_address_is_not_believed() {
    let host = Host::accepting();
    let stream = host.connect();
    let claims = [
        ("203.0.113.9", 5000),
        ("client.example", 5000),
        ("", 5000),
        ("127.0.0.1", 0),
        ("2001:db8::1", 5000),
        ("0.0.0.0", 5000),
    ];
    assert_eq!(host.offer(&stream, 0, &points(&claims)).0, ReplyStatus::NO_EXCEPTION);
    for (address, port) in [("203.0.113.9", 5000), ("client.example", 5000), ("0.0.0.0", 5000)] {
        host.is_not_called(address, port);
    }
    // Of an offer in part true that part is believed.
    let stream = host.connect();
    host.offer(&stream, 0, &points(&[("203.0.113.9", 5000), ("127.0.0.1", 5001)]));
    host.is_not_called("203.0.113.9", 5000);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| host.called_back("127.0.0.1", 5001).nothing());
        assert_eq!(answer(&stream) % 2, 1, "ids of the side that did not open it are odd");
        assert_eq!(call.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn one_that_claims_its_servers_own_endpoint_is_not_believed() {
    let host = Host::new(Bidirectional::new().accept(Accept::Any));
    let stream = host.connect();
    let port = host.address.port();
    let name = zorb_ipc::host_name();
    host.offer(
        &stream,
        0,
        &points(&[("127.0.0.1", port), ("localhost", port), (&name, port), ("::1", port)]),
    );
    for address in ["127.0.0.1", "localhost", &name, "[::1]"] {
        host.is_not_called(address, port);
    }
    // A call to an object of its own that goes by message goes to itself.
    assert_eq!(host.probe.greet_async("you".into()).wait(), Ok("hello, you".into()));
}

#[test]
fn one_that_claims_what_another_has_offered_first_has_to_wait() {
    let host = Host::accepting();
    let (first, second) = (host.connect(), host.connect());
    let same = points(&[("127.0.0.1", 5002)]);
    host.offer(&first, 0, &same);
    host.offer(&second, 0, &same);
    let called_back = host.called_back("127.0.0.1", 5002);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| called_back.nothing());
        answer(&first);
        assert_eq!(call.join().expect("no panic"), Ok(()));
    });
    drop(first);
    until("the first is gone", || host.orb.connections() == 1);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| called_back.nothing());
        answer(&second);
        // As the first ends a call may yet meet it.
        let _ = call.join().expect("no panic");
    });
}

#[test]
fn one_that_claims_where_a_connection_stands_is_not_believed() {
    let host = Host::accepting();
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let port = listener.local_addr().expect("bound").port();
    let there = probe(&host.orb, &format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key"));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| there.nothing());
        let (its, _) = listener.accept().expect("the call connects");
        answer(&its);
        assert_eq!(call.join().expect("no panic"), Ok(()));
        let stream = host.connect();
        host.offer(&stream, 0, &points(&[("127.0.0.1", port)]));
        host.is_not_called("127.0.0.1", port);
        let call = scope.spawn(|| there.nothing());
        answer(&its);
        assert_eq!(call.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn thousands_of_listen_points_and_damaged_ones_are_refused() {
    let host = Host::accepting();
    let stream = host.connect();
    let many: Vec<_> = (1..=5000).map(|port| ("127.0.0.1", port)).collect();
    let damaged = points(&[("127.0.0.1", 5003)]);
    let mut id = 0;
    for data in [&points(&many)[..], &points(&many[..65]), &damaged[..damaged.len() - 1], &damaged[..5], b""]
    {
        assert_eq!(host.offer(&stream, id, data), (ReplyStatus::SYSTEM_EXCEPTION, MARSHAL.into()));
        id += 2;
    }
    host.is_not_called("127.0.0.1", 1);
    host.is_not_called("127.0.0.1", 5003);
    // Another offer with every request: a few are looked at, and the connection serves on.
    for port in 6000..6100 {
        assert_eq!(host.offer(&stream, id, &points(&[("127.0.0.1", port)])).0, ReplyStatus::NO_EXCEPTION);
        id += 2;
    }
    host.is_not_called("127.0.0.1", 6099);
}

#[test]
fn answers_that_nobody_asked_for_change_nothing() {
    let host = Host::accepting();
    let stream = host.connect();
    host.offer(&stream, 0, &points(&[("127.0.0.1", 5004)]));
    let called_back = host.called_back("127.0.0.1", 5004);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| called_back.divide(7, 2));
        let Some(Message::Request(request)) = Reader::new(&stream).next("a call back") else {
            panic!("no request")
        };
        // Of the other side's parity, of the future, and of nobody; then the right one, twice.
        for id in [request.id + 1, request.id + 2, request.id.wrapping_sub(1), u32::MAX] {
            say(&stream, &Wire::reply(NATIVE, id, 0).u32(9).u32(9).done());
        }
        let right = Wire::reply(NATIVE, request.id, 0).u32(3).u32(1).done();
        say(&stream, &right);
        say(&stream, &right);
        assert_eq!(call.join().expect("no panic"), Ok((3, 1)));
        let call = scope.spawn(|| called_back.nothing());
        answer(&stream);
        assert_eq!(call.join().expect("no panic"), Ok(()));
    });
    // Requests of either parity are served.
    for id in [0, 1, 7, u32::MAX] {
        assert_eq!(host.offer(&stream, id, b"\0\0\0\0\0\0\0\0").0, ReplyStatus::NO_EXCEPTION);
    }
}

#[test]
fn a_call_back_that_nobody_waits_for_is_cancelled() {
    let host = Host::accepting();
    let stream = host.connect();
    host.offer(&stream, 0, &points(&[("127.0.0.1", 5008)]));
    let called_back = host.called_back("127.0.0.1", 5008);
    let mut reader = Reader::new(&stream);
    let pending = called_back.nothing_async();
    let Some(Message::Request(dropped)) = reader.next("a call back") else { panic!("no request") };
    drop(pending);
    assert!(matches!(reader.next("its end"), Some(Message::CancelRequest { id }) if id == dropped.id));
    // Or whose deadline passes.
    let soon = Policies::new().call_timeout(Duration::from_millis(500));
    let hurried =
        Probe::from_object(called_back.as_object().with_policies(soon.protocols(Protocols::only(["bidir"]))));
    let late = hurried.nothing().unwrap_err();
    assert_eq!((late.kind, late.completed), (Kind::Timeout, Completion::Maybe), "{late}");
    let Some(Message::Request(late)) = reader.next("a call back") else { panic!("no request") };
    assert!(matches!(reader.next("its end"), Some(Message::CancelRequest { id }) if id == late.id));
    // Answers that come all the same are nobody's.
    for id in [dropped.id, late.id] {
        say(&stream, &Wire::reply(NATIVE, id, 0).done());
    }
    std::thread::scope(|scope| {
        let call = scope.spawn(|| called_back.nothing());
        let Some(Message::Request(request)) = reader.next("a call back") else { panic!("no request") };
        say(&stream, &Wire::reply(NATIVE, request.id, 0).done());
        assert_eq!(call.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn an_answer_that_breaks_the_protocol_ends_the_calls_and_the_connection() {
    let host = Host::accepting();
    let stream = host.connect();
    host.offer(&stream, 0, &points(&[("127.0.0.1", 5005)]));
    let called_back = host.called_back("127.0.0.1", 5005);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| called_back.nothing());
        let mut reader = Reader::new(&stream);
        assert!(matches!(reader.next("a call back"), Some(Message::Request(_))));
        say(&stream, &Wire::new(NATIVE, kind::LOCATE_REPLY).u32(1).u32(1).done());
        let ended = call.join().expect("no panic").unwrap_err();
        assert_eq!(ended.completed, Completion::Maybe, "{ended}");
        assert!(matches!(reader.next("the end"), Some(Message::MessageError)));
    });
    until("its connection has ended", || host.orb.connections() == 0);
    host.is_not_called("127.0.0.1", 5005);
}

#[test]
fn one_that_closes_in_the_middle_of_a_call_back_ends_it() {
    let host = Host::accepting();
    for polite in [true, false] {
        let stream = host.connect();
        host.offer(&stream, 0, &points(&[("127.0.0.1", 5006)]));
        let called_back = host.called_back("127.0.0.1", 5006);
        let ended = std::thread::scope(|scope| {
            let call = scope.spawn(|| called_back.nothing());
            assert!(matches!(Reader::new(&stream).next("a call back"), Some(Message::Request(_))));
            if polite {
                say(&stream, &Wire::short(NATIVE, kind::CLOSE_CONNECTION, None));
            }
            drop(stream);
            call.join().expect("no panic").unwrap_err()
        });
        // After a CloseConnection it is known that it was not executed.
        let (kind, completed) =
            if polite { (Kind::Transient, Completion::No) } else { (Kind::CommFailure, Completion::Maybe) };
        assert_eq!((ended.kind, ended.completed), (kind, completed), "{ended}");
        until("its connection has ended", || host.orb.connections() == 0);
    }
}

#[test]
fn who_does_not_accept_takes_no_answers() {
    for choice in [Bidirectional::new(), Bidirectional::new().offer()] {
        let host = Host::new(choice);
        let stream = host.connect();
        // What makes no sense is not looked at, either.
        for data in [points(&[("127.0.0.1", 5007)]), vec![0xff; 30]] {
            assert_eq!(host.offer(&stream, 0, &data).0, ReplyStatus::NO_EXCEPTION);
        }
        say(&stream, &Wire::reply(NATIVE, 1, 0).done());
        let mut reader = Reader::new(&stream);
        assert!(matches!(reader.next("a reply to nothing"), Some(Message::MessageError)));
        assert!(reader.next("the end").is_none());
    }
}

/// A server that calls its client's object as soon as a request has come, or before that; what the client says to it.
fn calling(key: Vec<u8>, first: bool) -> (Fake, mpsc::Receiver<Vec<u8>>) {
    let (say, said) = mpsc::channel();
    let fake = Fake::serving(2, move |mut client: Conversation| {
        if !first && client.message().is_none() {
            return;
        }
        client.say(&Wire::request(NATIVE, 1, true, &key, "nothing").done());
        while let Some(message) = client.message() {
            let _ = say.send(message);
        }
    });
    (fake, said)
}

/// The key of an object of the ORB's that may be called so.
fn key_of(orb: &Orb, adapter: &str) -> Vec<u8> {
    let poa = orb.root_poa().expect("fresh").create_child(adapter, PoaPolicies::new().bidirectional());
    let poa = poa.expect("a new name");
    poa.manager().activate().expect("it can be activated");
    let probe = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("a fresh servant");
    let reference: Ior = probe.to_string().parse().expect("a reference");
    IiopProfile::decode(&reference.profiles[0]).expect("an IIOP profile").object_key.to_vec()
}

#[test]
fn a_request_over_a_connection_that_was_not_offered_ends_it() {
    // Nothing is offered by default, nor where there is nothing to offer.
    let policies = Policies::new().call_timeout(Duration::from_secs(20));
    let plain = Orb::builder().listen("tcp:127.0.0.1:0").policies(policies.clone()).build();
    let addressless =
        Orb::builder().listen("unix:").bidirectional(Bidirectional::new().offer()).policies(policies).build();
    for orb in [plain, addressless] {
        let key = key_of(&orb, "called-back");
        for first in [true, false] {
            let (fake, said) = calling(key.clone(), first);
            let target = probe(&orb, &fake.ior);
            let ended = target.greet("you").unwrap_err();
            assert!(
                matches!(ended.kind, Kind::Marshal | Kind::CommFailure | Kind::Transient | Kind::Internal),
                "{ended}"
            );
            let types: Vec<u8> =
                std::iter::from_fn(|| said.recv_timeout(PATIENCE).ok().map(|message| message[7]))
                    .take_while(|kind| *kind != kind::MESSAGE_ERROR)
                    .collect();
            assert!(types.iter().all(|kind| *kind == kind::REQUEST), "it has not answered: {types:?}");
        }
    }
}

#[test]
fn a_server_that_was_offered_it_may_call_and_no_more() {
    let orb = Orb::builder().bidirectional(Bidirectional::new().offer()).build();
    let (served, said) = calling(key_of(&orb, "called-back"), false);
    let pending = probe(&orb, &served.ior).greet_async("you".into());
    let reply = said.recv_timeout(PATIENCE).expect("it is answered");
    assert_eq!((reply[7], &reply[12..20]), (kind::REPLY, &[1, 0, 0, 0, 0, 0, 0, 0][..]), "a reply to 1");
    drop(pending);
    // It may ask where an object is, and close the connection.
    let key = key_of(&orb, "asked-for");
    let (say, said) = mpsc::channel();
    let fake = Fake::serving(2, move |mut client: Conversation| {
        if client.message().is_none() {
            return;
        }
        client.say(&Wire::locate(NATIVE, 3, &key).done());
        let located = client.message();
        client.say(&Wire::short(NATIVE, kind::CLOSE_CONNECTION, None));
        let _ = say.send(located);
        client.until_closed();
    });
    let closed = probe(&orb, &fake.ior).greet_async("you".into());
    let located = said.recv_timeout(PATIENCE).expect("it goes on").expect("it is answered");
    assert_eq!(
        (located[7], &located[12..20]),
        (kind::LOCATE_REPLY, &[3, 0, 0, 0, 1, 0, 0, 0][..]),
        "it is here"
    );
    // It comes again and again, by another connection, until its deadline.
    drop(closed);
    // An object that its adapter does not let be called so, and one that is nowhere.
    let root = orb.root_poa().expect("it lives");
    let plain = root.activate::<Probe>(Arc::new(Servant::new(1))).expect("a fresh servant");
    let reference: Ior = plain.to_string().parse().expect("a reference");
    let key = IiopProfile::decode(&reference.profiles[0]).expect("an IIOP profile").object_key.to_vec();
    for (key, exception) in [(key, "NO_PERMISSION"), (b"nowhere".to_vec(), "OBJECT_NOT_EXIST")] {
        let (fake, said) = calling(key, false);
        let pending = probe(&orb, &fake.ior).greet_async("you".into());
        let reply = said.recv_timeout(PATIENCE).expect("it is answered");
        let text = String::from_utf8_lossy(&reply);
        assert!(reply[7] == kind::REPLY && text.contains(exception), "{text}");
        drop(pending);
    }
}
