//! A server that serves a probe, and a client of it.

use std::sync::{Arc, LazyLock};

use zorb::server::ThreadModel;
use zorb::transport::Transport;
use zorb::transport::memory::Memory;
use zorb::transport::shm::Shm;
use zorb::transport::tcp::Tcp;
use zorb::transport::unix::Unix;
use zorb::{Interface, Orb, OrbBuilder};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;

use crate::ahead::Ahead;

/// Every threading model that serves several clients, wide enough for what the tests ask of all of them.
pub(crate) fn models() -> [ThreadModel; 3] {
    [ThreadModel::per_connection(), ThreadModel::pool(16), ThreadModel::Reactor]
}

/// What all that meet in this process share.
static MEMORY: LazyLock<Arc<Memory>> = LazyLock::new(Arc::default);

/// By which transport client and server meet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// On a free port of the loopback interface.
    Tcp,
    /// At a new name.
    Unix,
    /// By memory, at a new name.
    Shm,
    /// At a new name in this process.
    Memory,
    /// As TCP, over channels that read ahead of their descriptors.
    Ahead,
}

impl Place {
    /// A builder of a server there, and nowhere else.
    pub(crate) fn server(self) -> OrbBuilder {
        self.client().listen(self.endpoint())
    }

    /// Where such a server listens.
    pub(crate) fn endpoint(self) -> &'static str {
        match self {
            Place::Tcp | Place::Ahead => "tcp:127.0.0.1:0",
            Place::Unix => "unix:",
            Place::Shm => "shm:",
            Place::Memory => "memory:",
        }
    }

    /// A builder of an ORB that can reach it.
    pub(crate) fn client(self) -> OrbBuilder {
        Orb::builder().transport(self.transport())
    }

    /// The transport itself.
    pub(crate) fn transport(self) -> Arc<dyn Transport> {
        match self {
            Place::Tcp => Arc::new(Tcp::new()),
            Place::Unix => Arc::new(Unix::new()),
            Place::Shm => Arc::new(Shm::new()),
            Place::Memory => MEMORY.clone(),
            Place::Ahead => Arc::new(Ahead::new()),
        }
    }

    /// How its endpoints begin.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Place::Tcp | Place::Ahead => "tcp:127.0.0.1:",
            Place::Unix => "unix:/tmp/zorb-",
            Place::Shm => "shm:/tmp/zorb-",
            Place::Memory => "memory:",
        }
    }
}

/// An ORB that serves `servant`, and the text of its reference.
pub(crate) fn serve(builder: OrbBuilder, servant: Arc<Servant>) -> (Orb, String) {
    let orb = builder.build();
    let poa = orb.root_poa().expect("a fresh ORB has a root adapter");
    let probe = poa.activate::<Probe>(servant).expect("a fresh servant can be activated");
    poa.manager().activate().expect("the root's manager can be activated");
    let text = orb.object_to_string(Some(probe.as_object()));
    (orb, text)
}

/// The probe that `text` names, as `client` sees it.
pub(crate) fn probe(client: &Orb, text: &str) -> Probe {
    let object = client.string_to_object(text).expect("the text is a reference").expect("it is not nil");
    Probe::from_object(object)
}
