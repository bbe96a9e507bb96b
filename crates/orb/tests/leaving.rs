//! What a client keeps of connections that have ended: nothing.

#[path = "probe/mod.rs"]
#[allow(dead_code)]
mod probe;

use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use probe::{PATIENCE, end, orb, server_and_client};
use zorb_giop::{Ior, TaggedProfile};
use zorb_orb::Orb;
use zorb_orb::transport::tcp::Tcp;
use zorb_orb::transport::{Acceptor, Channel, Endpoint, Transport, Ways};

/// TCP that remembers the channels which it opened.
#[derive(Default)]
struct Remembering {
    tcp: Tcp,
    opened: Mutex<Vec<Weak<dyn Channel>>>,
}

impl Remembering {
    /// Channels that it opened, and those that somebody has still.
    fn count(&self) -> (usize, usize) {
        let opened = self.opened.lock().expect("nobody panics with it");
        (opened.len(), opened.iter().filter(|channel| channel.strong_count() > 0).count())
    }
}

impl Transport for Remembering {
    fn name(&self) -> &'static str {
        self.tcp.name()
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        self.tcp.listen(address)
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let channel = self.tcp.connect(to, deadline)?;
        self.opened.lock().expect("nobody panics with it").push(Arc::downgrade(&channel));
        Ok(channel)
    }

    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        self.tcp.ways(profile, reference)
    }
}

/// Calls over a shared connection, has `then` happen to the server, and waits until nobody has the channel.
fn nothing_is_kept_after(then: impl FnOnce(&Orb)) {
    let (root, _) = server_and_client();
    let target = root.activate::<probe::Probe>(probe::adds_one()).expect("a new object");
    let server = target.0.orb().clone();
    let tcp = Arc::new(Remembering::default());
    let idle = Duration::from_millis(100);
    let client = Orb::builder().transport(tcp.clone()).private_connections(0).client_idle(idle).build();
    let target = target.through(&client);
    assert_eq!(target.poke(1), Ok(2));
    assert_eq!(tcp.count().0, 1);
    then(&server);
    let latest = Instant::now() + PATIENCE;
    while tcp.count().1 > 0 {
        assert!(Instant::now() < latest, "the channel is kept for ever");
        std::thread::sleep(Duration::from_millis(5));
    }
    end(&server);
    end(&orb());
}

#[test]
fn a_shared_connection_that_the_server_closed_is_let_go() {
    nothing_is_kept_after(|server| server.shutdown(true, PATIENCE));
}

#[test]
fn a_shared_connection_that_is_idle_is_let_go() {
    nothing_is_kept_after(|_| ());
}
