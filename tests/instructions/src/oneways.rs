//! Oneways, gathered and not: client and server of many, over the transport in memory. Nobody waits for a oneway, and so nobody would
//! serve it: the case does, as soon as a batch has left.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zorb::giop::{Ior, TaggedProfile};
use zorb::policy::{Buffering, Policies, SyncScope};
use zorb::server::ThreadModel;
use zorb::transport::memory::Memory;
use zorb::transport::{Acceptor, Armed, Channel, Endpoint, Idle, Received, Transport, Wanted, Ways};
use zorb::{Interface, Orb, Sequence};

use crate::Case;
use crate::whole::Silent;
use crate::whole::idl::Loads;

/// Oneways that leave together. 50: the default is 64, which the thousand that are counted are no multiple of.
const BATCH: u32 = 50;

/// Large ones that leave before they are served: so few that the client, which under valgrind takes its time, does not ask whether its
/// connection stands in between.
const FEW: u32 = 4;

/// Octets in oneways of a client that gathers them.
pub(crate) fn gathered(payload: Sequence<u8>) -> Case {
    // By their number alone: the octets are more than the default.
    let buffering = Buffering::new().messages(BATCH).octets(1 << 20).time(Duration::from_secs(60));
    under(Policies::new().sync_scope(SyncScope::None).buffering(buffering), BATCH, payload)
}

/// The same in oneways that each leave at once.
pub(crate) fn each(payload: Sequence<u8>) -> Case {
    under(Policies::new(), BATCH, payload)
}

/// Large ones, which leave at once and from where the octets are.
pub(crate) fn bulk(payload: Sequence<u8>) -> Case {
    under(Policies::new(), FEW, payload)
}

fn under(policies: Policies, batch: u32, payload: Sequence<u8>) -> Case {
    let memory = Arc::new(Memory::new());
    let server = Orb::builder()
        .transport(memory.clone())
        .listen("memory:here")
        .server_threads(ThreadModel::Caller)
        .build();
    let watched = Arc::new(Watched { memory, opened: Mutex::default() });
    let client = Orb::builder().transport(watched.clone()).policies(policies).build();
    let poa = server.root_poa().expect("the ORB runs");
    poa.manager().activate().expect("the ORB runs");
    let text = poa.activate::<Loads>(Arc::new(Silent)).expect("a new object").as_object().to_string();
    let loads = Loads::from_object(client.string_to_object(&text).expect("a reference").expect("not nil"));
    Box::new(move |number| {
        // It lives as long as its client.
        let _ = &server;
        loads.post_octets(&payload).expect("gathered");
        if number % batch == batch - 1 {
            watched.serve();
        }
    })
}

/// The transport in memory, whose connections can be served from here.
struct Watched {
    memory: Arc<Memory>,
    opened: Mutex<Option<Arc<dyn Channel>>>,
}

impl Watched {
    /// What the connecting end does where it waits.
    fn serve(&self) {
        let opened = self.opened.lock().expect("no panic");
        let channel = opened.as_ref().expect("a oneway was sent");
        assert_eq!(channel.receive(&mut [0], Instant::now()).expect("it stands"), Received::Empty);
    }
}

impl Transport for Watched {
    fn name(&self) -> &'static str {
        self.memory.name()
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Acceptor>> {
        self.memory.listen(address)
    }

    fn connect(&self, to: &Endpoint, deadline: Instant) -> io::Result<Arc<dyn Channel>> {
        let channel: Arc<dyn Channel> = Arc::new(Quiet(self.memory.connect(to, deadline)?));
        *self.opened.lock().expect("no panic") = Some(channel.clone());
        Ok(channel)
    }

    fn ways(&self, profile: &TaggedProfile, reference: &Ior) -> Option<Ways> {
        self.memory.ways(profile, reference)
    }
}

/// A channel that says it can be waited for, so that the client's reactor does so, and does not look all the time.
struct Quiet(Arc<dyn Channel>);

impl Channel for Quiet {
    fn receive(&self, into: &mut [u8], deadline: Instant) -> io::Result<Received> {
        self.0.receive(into, deadline)
    }

    fn receive_now(&self, into: &mut [u8]) -> io::Result<Received> {
        self.0.receive_now(into)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Instant) -> io::Result<usize> {
        self.0.send(parts, deadline)
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_now(parts)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.descriptor()
    }

    fn arm(&self, _: Wanted) -> Armed {
        Armed::Readable
    }

    fn heard(&self) {
        self.0.heard();
    }

    fn shutdown_send(&self) {
        self.0.shutdown_send();
    }

    fn close(&self) {
        self.0.close();
    }

    fn state(&self) -> Idle {
        self.0.state()
    }

    fn peer(&self) -> &Endpoint {
        self.0.peer()
    }
}
