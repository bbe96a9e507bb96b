//! A server that serves a probe, and a client of it.

use std::sync::{Arc, LazyLock};

use zorb::giop::{Giop, GiopLite, Messaging};
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

/// By which transport client and server meet, and what they speak there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    road: Road,
    speech: Speech,
}

/// By which transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// On a free port of the loopback interface.
    Tcp,
    /// At a new name.
    Unix,
    /// By memory, at a new name.
    Shm,
    /// As by memory, with slabs that are soon used and used up.
    Slabs,
    /// At a new name in this process.
    Memory,
    /// As TCP, over channels that read ahead of their descriptors.
    Ahead,
}

/// What is spoken: both ends know GIOP in any case, and prefer this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Giop,
    Lite,
}

impl Place {
    /// What most ORBs have in common.
    pub(crate) const TCP: Place = Place::new(Road::Tcp, Speech::Giop);
    pub(crate) const UNIX: Place = Place::new(Road::Unix, Speech::Giop);
    pub(crate) const SHM: Place = Place::new(Road::Shm, Speech::Giop);
    pub(crate) const SLABS: Place = Place::new(Road::Slabs, Speech::Giop);

    pub(crate) const fn new(road: Road, speech: Speech) -> Place {
        Place { road, speech }
    }

    pub(crate) fn is_lite(self) -> bool {
        matches!(self.speech, Speech::Lite)
    }

    pub(crate) fn is_shared_memory(self) -> bool {
        matches!(self.road, Road::Shm | Road::Slabs)
    }

    /// A builder of a server there, and nowhere else.
    pub(crate) fn server(self) -> OrbBuilder {
        self.client().listen(self.endpoint())
    }

    /// Where such a server listens.
    pub(crate) fn endpoint(self) -> &'static str {
        match self.road {
            Road::Tcp | Road::Ahead => "tcp:127.0.0.1:0",
            Road::Unix => "unix:",
            Road::Shm | Road::Slabs => "shm:",
            Road::Memory => "memory:",
        }
    }

    /// A builder of an ORB that can reach it.
    pub(crate) fn client(self) -> OrbBuilder {
        Orb::builder().transport(self.transport()).messagings(self.messagings())
    }

    /// What such ORBs speak.
    pub(crate) fn messagings(self) -> Vec<Arc<dyn Messaging>> {
        match self.speech {
            Speech::Giop => vec![Arc::new(Giop)],
            Speech::Lite => vec![Arc::new(GiopLite), Arc::new(Giop)],
        }
    }

    /// The transport itself.
    pub(crate) fn transport(self) -> Arc<dyn Transport> {
        match self.road {
            Road::Tcp => Arc::new(Tcp::new()),
            Road::Unix => Arc::new(Unix::new()),
            Road::Shm => Arc::new(Shm::new()),
            Road::Slabs => Arc::new(Shm::new().slabs(4, 4096).expect("slabs may be so")),
            Road::Memory => MEMORY.clone(),
            Road::Ahead => Arc::new(Ahead::new()),
        }
    }

    /// How its endpoints begin.
    pub(crate) fn prefix(self) -> &'static str {
        match self.road {
            Road::Tcp | Road::Ahead => "tcp:127.0.0.1:",
            Road::Unix => "unix:/tmp/zorb-",
            Road::Shm | Road::Slabs => "shm:/tmp/zorb-",
            Road::Memory => "memory:",
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
