//! Servers that do not answer, answer slowly, or answer what they must not: every call ends by its deadline, in an
//! exception that says where and why.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use zorb::policy::Policies;
use zorb::server::ThreadModel;
use zorb::transport::tcp::Tcp;
use zorb::{Completion, Interface, Kind, Orb, SystemException};
use zorb_ipc::{Resolver, ResolverOptions};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;
use zorb_tests::wire::{DIALECTS, Order, Wire, kind};

use crate::rig::{Conversation, Fake, impatient, probe};

/// A call timeout that a test waits out.
const SOON: Duration = Duration::from_secs(1);

const NATIVE: (u8, Order) = (2, Order::Little);

/// Makes the same call blocking and as a future: they travel by different connections.
fn both(probe: &Probe) -> [SystemException; 2] {
    let blocking = probe.greet("x").expect_err("no call succeeds here");
    [blocking, probe.greet_async("x".into()).wait().expect_err("no call succeeds here")]
}

/// Both calls to `serve` end in `kind`.
fn ends_in(kind: Kind, completed: Completion, serve: impl Fn(Conversation) + Send + Sync + 'static) {
    let fake = Fake::serving(2, serve);
    let orb = impatient(if kind == Kind::Timeout { SOON } else { PATIENCE });
    for exception in both(&probe(&orb, &fake.ior)) {
        assert_eq!((exception.kind, exception.completed), (kind, completed), "{exception}");
        assert!(
            exception.detail().contains("greet at tcp:127.0.0.1:"),
            "it names operation and endpoint: {exception}"
        );
    }
}

#[test]
fn one_that_never_answers() {
    ends_in(Kind::Timeout, Completion::Maybe, |mut client| {
        client.request();
        client.until_closed();
    });
}

#[test]
fn one_that_accepts_and_never_reads() {
    let (keep, kept) = mpsc::channel::<Conversation>();
    let fake = Fake::serving(2, move |client| drop(keep.send(client)));
    let orb = impatient(SOON);
    let probe = probe(&orb, &fake.ior);
    for exception in both(&probe) {
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::Maybe), "{exception}");
    }
    // More than the sockets between take: it is the sending that does not end.
    let large = vec![7; 32 << 20];
    let blocking = probe.echo(&large).expect_err("nobody reads");
    let later = probe.echo_async(large.into()).wait().expect_err("nobody reads");
    for exception in [blocking, later] {
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::Maybe), "{exception}");
    }
    drop(kept);
}

#[test]
fn what_cannot_leave_behind_a_message_that_nobody_reads() {
    let (keep, kept) = mpsc::channel::<Conversation>();
    let fake = Fake::serving(1, move |client| drop(keep.send(client)));
    let orb = impatient(SOON);
    let probe = probe(&orb, &fake.ior);
    // More than the sockets between take: what follows waits behind it.
    let large = probe.echo_async(vec![7; 32 << 20].into());
    let oneway = probe.note_async(1);
    let call = probe.greet_async("x".into());
    for exception in [oneway.wait().expect_err("nobody reads"), call.wait().expect_err("nobody reads")] {
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::No), "{exception}");
        assert!(exception.detail().contains("wait to send"), "{exception}");
    }
    assert_eq!(large.wait().expect_err("nobody reads").completed, Completion::Maybe);
    drop(kept);
}

#[test]
fn futures_end_with_their_orb() {
    let (keep, kept) = mpsc::channel::<Conversation>();
    let fake = Fake::serving(2, move |client| drop(keep.send(client)));
    let orb = impatient(PATIENCE);
    let probe = probe(&orb, &fake.ior);
    let large = probe.echo_async(vec![7; 32 << 20].into());
    let queued = probe.greet_async("x".into());
    let _connected = kept.recv().expect("it was called");
    orb.shutdown(false, Duration::ZERO);
    large.wait().expect_err("nobody reads");
    let exception = queued.wait().expect_err("nobody reads");
    assert_eq!((exception.kind, exception.completed), (Kind::BadInvOrder, Completion::No), "{exception}");
}

#[test]
fn what_is_under_way_when_its_orb_ends_may_have_been_executed() {
    let (keep, kept) = mpsc::channel::<Conversation>();
    let fake = Fake::serving(1, move |mut client| {
        if client.request().is_some() {
            drop(keep.send(client));
        }
    });
    let orb = impatient(PATIENCE);
    let call = probe(&orb, &fake.ior).greet_async("x".into());
    let _read = kept.recv().expect("it was called");
    orb.shutdown(false, Duration::ZERO);
    let exception = call.wait().expect_err("nobody answers");
    assert_eq!((exception.kind, exception.completed), (Kind::CommFailure, Completion::Maybe), "{exception}");
}

#[test]
fn one_that_answers_octet_by_octet() {
    ends_in(Kind::Timeout, Completion::Maybe, |mut client| {
        let Some(id) = client.request() else { return };
        for octet in Wire::reply(NATIVE, id, 0).string("hello").done() {
            std::thread::sleep(Duration::from_millis(50));
            if !client.say(&[octet]) {
                return;
            }
        }
    });
}

#[test]
fn one_that_answers_other_requests_without_end() {
    ends_in(Kind::Timeout, Completion::Maybe, |mut client| {
        let Some(id) = client.request() else { return };
        let others = Wire::reply(NATIVE, id.wrapping_add(77), 0).string("hello").done().repeat(100);
        while client.say(&others) {}
    });
}

#[test]
fn one_that_sends_empty_fragments_without_end() {
    let fake = Fake::serving(2, |mut client| {
        let Some(id) = client.request() else { return };
        client.say(&Wire::reply(NATIVE, id, 0).more().done());
        let empty = Wire::fragment(NATIVE, id).more().done().repeat(100);
        while client.say(&empty) {}
    });
    let orb = impatient(SOON);
    for exception in both(&probe(&orb, &fake.ior)) {
        assert!(matches!(exception.kind, Kind::Timeout | Kind::ImpLimit), "{exception}");
        assert_eq!(exception.completed, Completion::Maybe);
    }
}

#[test]
fn one_that_closes_instead_of_answering() {
    ends_in(Kind::CommFailure, Completion::Maybe, |mut client| {
        client.request();
    });
}

#[test]
fn one_that_always_closes_in_order() {
    let fake = Fake::serving(2, |mut client| {
        client.request();
        client.say(&Wire::short(NATIVE, kind::CLOSE_CONNECTION, None));
    });
    let orb = impatient(SOON);
    // Each time the call was not executed, so it is made again until its deadline: which finds it waiting for a reply, or
    // about to connect.
    for exception in both(&probe(&orb, &fake.ior)) {
        assert!(matches!(exception.kind, Kind::Timeout | Kind::Transient), "{exception}");
    }
}

#[test]
fn one_that_closes_in_order_in_the_middle_of_an_answer_has_executed_the_call() {
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.0 > 0) {
        ends_in(Kind::CommFailure, Completion::Maybe, move |mut client| {
            let Some(id) = client.request() else { return };
            client.say(&Wire::reply(dialect, id, 0).more().u32(12).raw(b"hell").align(8).done());
            client.say(&Wire::short(dialect, kind::CLOSE_CONNECTION, None));
            client.until_closed();
        });
    }
}

#[test]
fn one_that_sends_what_only_a_client_may_is_told_so() {
    let (tell, told) = mpsc::channel();
    let tell = std::sync::Mutex::new(tell);
    ends_in(Kind::CommFailure, Completion::Maybe, move |mut client| {
        let Some(id) = client.request() else { return };
        client.say(&Wire::request(NATIVE, id, true, b"key", "greet").string("you").done());
        let last = std::iter::from_fn(|| client.message()).last();
        let tell = tell.lock().expect("no thread panics here");
        tell.send(last).expect("the test waits");
    });
    for _ in 0..2 {
        let last = told.recv_timeout(PATIENCE).expect("the client closes").expect("it says something first");
        assert_eq!(last[7], kind::MESSAGE_ERROR, "{last:?}");
    }
}

#[test]
fn one_that_announces_more_than_is_accepted() {
    ends_in(Kind::ImpLimit, Completion::Maybe, |mut client| {
        client.request();
        client.say(&Wire::new(NATIVE, kind::REPLY).announcing(u32::MAX));
        client.until_closed();
    });
}

#[test]
fn one_whose_result_is_longer_than_its_message() {
    for count in [6, 1 << 20, u32::MAX] {
        let fake = Fake::serving(2, move |mut client| {
            while let Some(id) = client.request() {
                client.say(&Wire::reply(NATIVE, id, 0).u32(count).raw(b"hello").done());
            }
        });
        let orb = impatient(PATIENCE);
        for exception in both(&probe(&orb, &fake.ior)) {
            assert_eq!(
                (exception.kind, exception.completed),
                (Kind::Marshal, Completion::Yes),
                "{exception}"
            );
        }
    }
}

#[test]
fn replies_to_nobody_and_second_replies_change_nothing() {
    let fake = Fake::serving(2, |mut client| {
        while let Some(id) = client.request() {
            let stranger = Wire::reply(NATIVE, id.wrapping_add(1000), 0).string("wrong").done();
            let reply = Wire::reply(NATIVE, id, 0).string("right").done();
            let again = Wire::reply(NATIVE, id, 0).string("again").done();
            client.say(&[stranger, reply, again].concat());
        }
    });
    let orb = impatient(PATIENCE);
    let probe = probe(&orb, &fake.ior);
    for _ in 0..100 {
        assert_eq!(probe.greet("x").expect("answered"), "right");
        assert_eq!(probe.greet_async("x".into()).wait().expect("answered"), "right");
    }
}

#[test]
fn one_that_forwards_in_circles() {
    let fake = Fake::serving(2, |mut client| {
        let here = client.stream.local_addr().expect("connected");
        while let Some(id) = client.request() {
            // Little-endian IIOP 1.2, this very host and port, key "key", no components.
            let host = here.ip().to_string();
            let mut profile = vec![1, 1, 2, 0];
            profile.extend((host.len() as u32 + 1).to_le_bytes());
            profile.extend(host.as_bytes());
            profile.push(0);
            profile.resize(profile.len().next_multiple_of(2), 0);
            profile.extend(here.port().to_le_bytes());
            profile.resize(profile.len().next_multiple_of(4), 0);
            profile.extend([3, 0, 0, 0, b'k', b'e', b'y', 0, 0, 0, 0, 0]);
            client.say(&Wire::reply(NATIVE, id, 3).string("").u32(1).u32(0).sequence(&profile).done());
        }
    });
    let orb = impatient(PATIENCE);
    for exception in both(&probe(&orb, &fake.ior)) {
        assert_eq!(exception.kind, Kind::Transient, "{exception}");
        assert!(exception.detail().contains("forwarded 16 times"), "{exception}");
    }
}

/// An address at which attempts to connect are dropped in silence, as long as what comes with it is kept.
fn black_hole() -> (SocketAddr, impl Sized) {
    // The shortest queue, filled.
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let socket = socket.expect("a socket");
    rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("loopback");
    rustix::net::listen(&socket, 0).expect("it listens");
    let address: SocketAddr = rustix::net::getsockname(&socket).expect("bound").try_into().expect("IPv4");
    let mut filling = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, SOON) {
        filling.push(stream);
        assert!(filling.len() < 1000, "the queue never fills");
    }
    (address, (socket, filling))
}

/// A server that greets everybody.
fn live() -> Fake {
    Fake::serving(2, |mut client| {
        while let Some(id) = client.request() {
            client.say(&Wire::reply(NATIVE, id, 0).string("hello").done());
        }
    })
}

#[test]
fn a_port_behind_which_connections_pile_up() {
    let (address, _kept) = black_hole();
    let orb = Orb::builder().policies(Policies::new().connect_timeout(SOON)).build();
    for exception in both(&probe(&orb, &format!("corbaloc::{address}/key"))) {
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::No), "{exception}");
        assert!(exception.detail().contains("connect"), "{exception}");
    }
}

#[test]
fn an_address_that_swallows_leaves_time_for_the_next() {
    let (hole, _kept) = black_hole();
    let live = live();
    let live = live.ior.strip_prefix("corbaloc:").expect("a corbaloc");
    let url = format!("corbaloc::{hole},{live}");
    // Half of it is the first address's share.
    let orb = Orb::builder().policies(Policies::new().connect_timeout(8 * SOON)).build();
    assert_eq!(probe(&orb, &url).greet("x").expect("the second address"), "hello");
    assert_eq!(probe(&orb, &url).greet_async("x".into()).wait().expect("the second address"), "hello");
}

#[test]
fn addresses_beyond_the_limit_are_left_aside() {
    let live = live();
    let live = live.ior.strip_prefix("corbaloc:").expect("a corbaloc");
    let orb = impatient(PATIENCE);
    for (dead, reached) in [(63, true), (64, false), (5_000, false)] {
        // Port 1 of the loopback interface is nobody's.
        let url = format!("corbaloc:{}{live}", ":127.0.0.1:1,".repeat(dead));
        let called = probe(&orb, &url).greet("x");
        assert_eq!(called.is_ok(), reached, "behind {dead} others: {called:?}");
    }
}

/// TCP whose lookups tell `began` of themselves and end when the other end of `held` is dropped.
fn silent_names(began: mpsc::Sender<()>, held: mpsc::Receiver<()>) -> Arc<Tcp> {
    let ends = std::sync::Mutex::new((began, held));
    let resolver = Resolver::with_lookup(ResolverOptions::default(), move |_| {
        let ends = ends.lock().expect("no panic");
        let _ = ends.0.send(());
        let _ = ends.1.recv();
        Err(io::ErrorKind::NotFound.into())
    });
    Arc::new(Tcp::with_resolver(resolver))
}

#[test]
fn a_name_that_is_never_looked_up() {
    let ((began, begun), (release, held)) = (mpsc::channel(), mpsc::channel());
    let transport = silent_names(began, held);
    let orb = Orb::builder().policies(Policies::new().connect_timeout(SOON)).transport(transport).build();
    let live = probe(&orb, &live().ior);
    let silent = probe(&orb, "corbaloc::silent.example:2809/key");
    let pending = silent.greet_async("x".into());
    begun.recv_timeout(PATIENCE).expect("the name is looked up");
    // Others are called meanwhile.
    assert_eq!(live.greet("x").expect("answered"), "hello");
    assert_eq!(live.greet_async("x".into()).wait().expect("answered"), "hello");
    for exception in [pending.wait().expect_err("no call succeeds"), silent.greet("x").expect_err("nor this")]
    {
        assert_eq!((exception.kind, exception.completed), (Kind::Timeout, Completion::No), "{exception}");
        assert!(exception.detail().contains("silent.example"), "{exception}");
    }
    drop(release);
}

#[test]
fn a_name_that_is_never_looked_up_in_an_upcall() {
    for (threads, others_are_served) in
        [(ThreadModel::per_connection(), true), (ThreadModel::pool(2), true), (ThreadModel::Reactor, false)]
    {
        let ((began, begun), (release, held)) = (mpsc::channel(), mpsc::channel());
        // The only thread of a reactor is held up until this deadline; others are served until the name is released.
        let timeout = if others_are_served { PATIENCE } else { SOON };
        let server = Orb::builder()
            .policies(Policies::new().connect_timeout(timeout))
            .transport(silent_names(began, held))
            .listen("tcp:127.0.0.1:0")
            .server_threads(threads)
            .build();
        let poa = server.root_poa().expect("a new ORB");
        poa.manager().activate().expect("a new adapter");
        let served = poa.activate::<Probe>(Arc::new(Servant::new(1))).expect("a new object");
        let client = impatient(PATIENCE);
        let served = probe(&client, &server.object_to_string(Some(served.as_object())));
        let silent = probe(&client, "corbaloc::silent.example:2809/key");
        let calling = served.descend_async(1, Some(silent));
        begun.recv_timeout(PATIENCE).expect("the name is looked up");
        assert_eq!(served.greet("x").expect("answered, at the latest then"), "hello, x", "{threads:?}");
        drop(release);
        let exception = calling.wait().expect_err("there is nobody to call");
        let expected = if others_are_served { Kind::Transient } else { Kind::Timeout };
        assert_eq!(exception.kind, expected, "{threads:?}: {exception}");
    }
}
