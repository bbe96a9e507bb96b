//! Connections are reused, closed when idle and reopened; servers come and go without an error where the request
//! was not executed.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use zorb::giop::{Inbound, Ior, Limits, Message, TaggedProfile};
use zorb::poa::PoaPolicies;
use zorb::server::ServerLimits;
use zorb::transport::{Acceptor, Channel, Endpoint, Transport, Ways};
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;
use zorb_tests::wire::{Order, Wire, kind};

use crate::fixture::{Place, probe, serve};

/// A server whose probe is persistent, at `endpoint`.
fn persistent(endpoint: &str) -> (Orb, String) {
    let orb = Orb::builder().listen(endpoint).build();
    let root = orb.root_poa().unwrap();
    let poa = root.create_child("accounts", PoaPolicies::new().persistent().user_ids()).unwrap();
    let probe = poa.activate_with_id::<Probe>("main", Arc::new(Servant::new(1))).unwrap();
    poa.manager().activate().unwrap();
    let text = probe.as_object().to_string();
    (orb, text)
}

fn port(orb: &Orb) -> u16 {
    let address = orb.endpoints()[0].address.clone();
    address.rsplit(':').next().unwrap().parse().unwrap()
}

#[test]
fn a_persistent_reference_works_again_after_a_restart() {
    let (first, text) = persistent("tcp:127.0.0.1:0");
    let endpoint = format!("tcp:127.0.0.1:{}", port(&first));
    let client = Orb::builder().build();
    let probe = probe(&client, &text);
    probe.note(1).unwrap();
    assert_eq!(probe.noted().unwrap()[..], [1]);
    first.shutdown(true, PATIENCE);
    drop(first);
    let gone = probe.nothing().unwrap_err();
    assert_eq!(gone.kind, Kind::Transient, "{gone}");
    let (_second, again) = persistent(&endpoint);
    assert_eq!(text, again, "the same reference is made again");
    probe.nothing().unwrap();
    assert!(probe.noted().unwrap().is_empty(), "it is a new servant");
}

fn a_transient_reference_does_not_outlive_its_server(at: Place) {
    let (first, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let endpoint = first.endpoints()[0].to_string();
    let client = at.client().build();
    let probe = probe(&client, &text);
    probe.nothing().unwrap();
    first.shutdown(true, PATIENCE);
    drop(first);
    let (_second, _) = serve(at.client().listen(endpoint), Arc::new(Servant::new(1)));
    let gone = probe.nothing().unwrap_err();
    assert_eq!(gone.kind, Kind::ObjectNotExist, "{gone}");
}

fn a_server_that_closes_idle_connections_is_called_again_without_an_error(at: Place) {
    let mut limits = ServerLimits::default();
    (limits.idle, limits.drain) = (Duration::from_millis(20), Duration::from_millis(100));
    let (server, text) = serve(at.server().server_limits(limits), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    for _ in 0..3 {
        probe.nothing().unwrap();
        probe.nothing_async().wait().unwrap();
        let began = Instant::now();
        while server.connections() > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.connections(), 0, "idle connections are closed");
    }
}

fn a_client_closes_what_it_does_not_use(at: Place) {
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().client_idle(Duration::from_millis(200)).build();
    let probe = probe(&client, &text);
    for _ in 0..2 {
        probe.nothing().unwrap();
        probe.nothing_async().wait().unwrap();
        let began = Instant::now();
        while server.connections() > 0 && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.connections(), 0, "unused connections are closed");
    }
}

#[test]
fn several_addresses_are_tried_in_turn() {
    let (server, _) = persistent("tcp:127.0.0.1:0");
    let root = server.root_poa().unwrap();
    let poa = root.find_child("accounts", false).unwrap();
    let reference = poa.id_to_reference("main").unwrap();
    server.bind_key("plain", &reference);
    // Ports 1 and 2 of the loopback interface are nobody's.
    let url = format!("corbaloc::127.0.0.1:1,iiop:1.2@127.0.0.1:2,:127.0.0.1:{}/plain", port(&server));
    let client = Orb::builder().build();
    let probe = probe(&client, &url);
    probe.nothing().unwrap();
    probe.nothing_async().wait().unwrap();
}

/// A transport that counts the connections it opens.
struct Counted {
    inner: Arc<dyn Transport>,
    opened: AtomicUsize,
}

impl Counted {
    fn at(place: Place) -> Arc<Counted> {
        Arc::new(Counted { inner: place.transport(), opened: AtomicUsize::new(0) })
    }
}

impl Transport for Counted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        self.inner.listen(address)
    }
    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.inner.connect(to, deadline)
    }
    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        self.inner.ways(profile, reference)
    }
}

fn connections_are_used_again(at: Place) {
    let (_server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let counted = Counted::at(at);
    let client = at.client().transport(counted.clone()).build();
    let probe = probe(&client, &text);
    for _ in 0..100 {
        probe.nothing().unwrap();
    }
    assert_eq!(counted.opened.load(Ordering::Relaxed), 1, "blocking calls one after the other");
    for number in 0..100 {
        probe.note(number).unwrap();
        probe.nothing_async().wait().unwrap();
    }
    assert_eq!(probe.noted().unwrap().len(), 100);
    assert_eq!(counted.opened.load(Ordering::Relaxed), 2, "oneways and futures share another");
}

fn as_many_private_connections_as_are_allowed_and_one_for_the_rest(at: Place) {
    const PARTY: usize = 6;
    // All are in the servant at the same time, so that no two can have had one private connection.
    for (allowed, opened) in [(64, PARTY), (PARTY, PARTY), (2, 3), (1, 2), (0, 1)] {
        let (_server, text) = serve(at.server(), Arc::new(Servant::new(PARTY)));
        let counted = Counted::at(at);
        let builder = at.client().transport(counted.clone()).private_connections(allowed);
        let client = builder.joint_beyond(usize::MAX).build();
        let probe = probe(&client, &text);
        std::thread::scope(|scope| {
            let callers: Vec<_> = (0..PARTY).map(|_| scope.spawn(|| probe.meet())).collect();
            for caller in callers {
                caller.join().unwrap().unwrap_or_else(|exception| panic!("{allowed} allowed: {exception}"));
            }
        });
        assert_eq!(counted.opened.load(Ordering::Relaxed), opened, "{allowed} allowed");
    }
}

/// The rest of it, more than a transport holds, is thrown away while the connection closes, so that the client comes to read why.
fn a_client_learns_that_its_message_is_too_large(at: Place) {
    // A transport that reads ahead is emptied for twenty milliseconds a second: on a busy machine that takes longer than the usual drain.
    let mut limits = ServerLimits::default();
    limits.drain = PATIENCE;
    let server = at.server().largest_message(1 << 20).server_limits(limits);
    let (_server, text) = serve(server, Arc::new(Servant::new(1)));
    let client = at.client().build();
    let probe = probe(&client, &text);
    for _ in 0..3 {
        let refused = probe.echo(&vec![7; 3 << 20]).unwrap_err();
        assert!(refused.to_string().contains("MessageError"), "{refused}");
        probe.nothing().unwrap();
    }
}

/// Takes a client's connection and its first request; gives what it asks for.
fn accept(listener: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut inbound = Inbound::new(Limits::default());
    loop {
        let count = stream.read(inbound.space()).unwrap();
        assert_ne!(count, 0, "the client closed");
        inbound.received(count);
        if let Some(message) = inbound.next().unwrap() {
            let Message::Request(request) = message else { panic!("not a request: {message:?}") };
            return (stream, request.operation().to_owned());
        }
    }
}

fn a_oneway_after_the_servers_close_goes_by_another_connection(at: Place) {
    /// Keeps the thread that wakes it until the test is over.
    struct Held(mpsc::SyncSender<()>, std::sync::Mutex<mpsc::Receiver<()>>);
    impl Wake for Held {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
            let _ = self.1.lock().unwrap().recv();
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("corbaloc:iiop:1.2@{}/key", listener.local_addr().unwrap());
    let (says, said) = mpsc::channel();
    let closes = std::thread::spawn(move || {
        let (mut first, _) = accept(&listener);
        first.write_all(&Wire::short((2, Order::Little), kind::CLOSE_CONNECTION, None)).unwrap();
        says.send("closed".to_owned()).unwrap();
        let (_second, operation) = accept(&listener);
        says.send(operation).unwrap();
    });
    let (_other, other) = serve(at.server(), Arc::new(Servant::new(2)));
    let client = at.client().build();
    let (probe, other) = (probe(&client, &url), probe(&client, &other));
    // The thread that reads shared connections does not come to read this one.
    let (began, begun) = mpsc::sync_channel(1);
    let (release, released) = mpsc::channel();
    let waker = Waker::from(Arc::new(Held(began, std::sync::Mutex::new(released))));
    let mut pending = other.meet_async();
    assert!(pin!(&mut pending).poll(&mut Context::from_waker(&waker)).is_pending());
    let meets = std::thread::spawn(move || other.meet());
    begun.recv_timeout(PATIENCE).unwrap();
    meets.join().unwrap().unwrap();
    probe.note(1).unwrap();
    assert_eq!(said.recv_timeout(PATIENCE).unwrap(), "closed");
    // Connections that are used again at once are not looked at first.
    std::thread::sleep(Duration::from_millis(20));
    probe.note(2).unwrap();
    assert_eq!(said.recv_timeout(PATIENCE).as_deref(), Ok("note"));
    release.send(()).unwrap();
    closes.join().unwrap();
}

over! {
    a_transient_reference_does_not_outlive_its_server,
    a_server_that_closes_idle_connections_is_called_again_without_an_error,
    a_client_closes_what_it_does_not_use,
    connections_are_used_again,
    as_many_private_connections_as_are_allowed_and_one_for_the_rest,
    a_oneway_after_the_servers_close_goes_by_another_connection,
    a_client_learns_that_its_message_is_too_large,
}
