//! A server in a process of its own, raw sockets to it, and servers whose every octet a test writes.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use zorb::giop::{IiopProfile, Inbound, Ior, Limits, Message};
use zorb::policy::Policies;
use zorb::{Interface, Orb, SystemException};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::Probe;
use zorb_tests::wire::request_id;

use crate::heard::take_message;

/// The reference `ior`, bound to `orb`.
pub(crate) fn probe(orb: &Orb, ior: &str) -> Probe {
    Probe::from_object(orb.string_to_object(ior).expect("a reference").expect("not nil"))
}

/// Waits until `condition` holds.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The probe's server in another process; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) ior: String,
    pub(crate) address: SocketAddr,
    pub(crate) key: Vec<u8>,
}

impl Server {
    /// Starts it; `arguments` as the program's own description says.
    pub(crate) fn start(arguments: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_probe-server"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server can be started");
        let mut ior = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut ior).expect("the server says where it is");
        let ior = ior.trim().to_owned();
        let reference: Ior = ior.parse().expect("a reference");
        let profile = IiopProfile::decode(&reference.profiles[0]).expect("an IIOP profile");
        let address = format!("{}:{}", profile.host, profile.port).parse().expect("an address");
        Server { child, ior, address, key: profile.object_key.to_vec() }
    }

    /// A client's reference to it.
    pub(crate) fn probe(&self, orb: &Orb) -> Probe {
        probe(orb, &self.ior)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        stream
    }

    /// At once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("it can be asked").is_none()
    }

    /// Open descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).expect("it runs").count()
    }

    /// Octets of memory in use now.
    pub(crate) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    /// The most octets of memory that were ever in use.
    pub(crate) fn peak_memory(&self) -> usize {
        self.status("VmHWM:")
    }

    pub(crate) fn threads(&self) -> usize {
        self.status("Threads:") / 1024
    }

    fn status(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        let number = line.split_whitespace().next().expect(name);
        number.parse::<usize>().expect(name) * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server says, message by message; panics if it is not GIOP, or does not come.
pub(crate) struct Reader<'s> {
    stream: &'s TcpStream,
    inbound: Inbound,
}

impl Reader<'_> {
    pub(crate) fn new(stream: &TcpStream) -> Reader<'_> {
        Reader { stream, inbound: Inbound::new(Limits::default()) }
    }

    /// `None` when the server has closed.
    pub(crate) fn next(&mut self, what: &str) -> Option<Message> {
        loop {
            match self.inbound.next() {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(error) => panic!("{what}: the server's answer is no GIOP: {error}"),
            }
            match self.stream.read(self.inbound.space()) {
                Ok(0) => return None,
                Ok(count) => self.inbound.received(count),
                // The server's end of a connection that we wrote to after it was done with it.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{what}: the server neither answers nor closes: {error}"),
            }
        }
    }
}

/// All that a server says until it closes.
pub(crate) fn answers(stream: &TcpStream, what: &str) -> Vec<Message> {
    let mut reader = Reader::new(stream);
    std::iter::from_fn(|| reader.next(what)).collect()
}

/// A client that calls all the time, and must be served all the time.
pub(crate) struct Healthy {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<Result<(), SystemException>>>,
}

impl Healthy {
    pub(crate) fn of(server: &Server) -> Healthy {
        let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (ior, stopped, counted) = (server.ior.clone(), stop.clone(), calls.clone());
        let thread = std::thread::spawn(move || {
            let orb = Orb::builder().build();
            let probe = probe(&orb, &ior);
            while !stopped.load(Ordering::Relaxed) {
                assert_eq!(probe.greet("you")?, "hello, you");
                counted.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        });
        let healthy = Healthy { stop, calls, thread: Some(thread) };
        healthy.is_served();
        healthy
    }

    /// Waits until calls that begin now have been answered.
    pub(crate) fn is_served(&self) {
        let before = self.calls.load(Ordering::Relaxed);
        until("the healthy client is served", || self.calls.load(Ordering::Relaxed) > before + 2);
    }

    /// None of its calls failed.
    pub(crate) fn finish(mut self) {
        self.is_served();
        self.stop.store(true, Ordering::Relaxed);
        let result = self.thread.take().expect("finished once").join().expect("it does not panic");
        result.expect("every call of the healthy client is answered");
    }
}

/// A server whose connections a test serves by hand.
pub(crate) struct Fake {
    pub(crate) ior: String,
}

impl Fake {
    /// Every connection goes to `serve`, on a thread of its own.
    pub(crate) fn serving(minor: u8, serve: impl Fn(Conversation) + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let port = listener.local_addr().expect("bound").port();
        let serve = Arc::new(serve);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let serve = serve.clone();
                stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
                std::thread::spawn(move || serve(Conversation { stream, inbound: Vec::new() }));
            }
        });
        Fake { ior: format!("corbaloc:iiop:1.{minor}@127.0.0.1:{port}/key") }
    }
}

/// One connection of a [`Fake`].
pub(crate) struct Conversation {
    pub(crate) stream: TcpStream,
    inbound: Vec<u8>,
}

impl Conversation {
    /// The id of the next message that has one; `None` when the client has closed.
    pub(crate) fn request(&mut self) -> Option<u32> {
        let message = self.message()?;
        request_id(&message).or(Some(0))
    }

    /// The next message, whole.
    pub(crate) fn message(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = take_message(&mut self.inbound) {
                return Some(message);
            }
            let mut octets = [0; 4096];
            match self.stream.read(&mut octets) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.inbound.extend_from_slice(&octets[..count]),
            }
        }
    }

    pub(crate) fn say(&mut self, octets: &[u8]) -> bool {
        self.stream.write_all(octets).is_ok()
    }

    /// Waits until the client has closed its end.
    pub(crate) fn until_closed(&mut self) {
        while self.message().is_some() {}
    }
}

/// A client's ORB whose calls and connects end soon.
pub(crate) fn impatient(call: Duration) -> Orb {
    Orb::builder().policies(Policies::new().call_timeout(call).connect_timeout(call)).build()
}
