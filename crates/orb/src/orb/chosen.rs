//! What a builder was told so far: for programs that show it, or that change a part of a whole such as the server's limits.

use std::collections::BTreeMap;
use std::time::Duration;

use zorb_cdr::{AtBound, Version};

use super::{InitialSource, OrbBuilder};
use crate::bidirectional::Bidirectional;
use crate::policy::Policies;
use crate::server::{ServerLimits, ThreadModel};
use crate::transport::Spinning;

/// The choices of a builder, defaults where it was told nothing. Each has the name of the method that makes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// As [`OrbBuilder::policies`] was given them.
    pub policies: Policies,
    /// The highest GIOP version.
    pub giop_version: Version,
    /// The transports in their order, each as it [describes](crate::transport::Transport::properties) itself.
    pub transports: Vec<ChosenTransport>,
    /// The names of the messaging protocols, best first.
    pub messagings: Vec<&'static str>,
    /// What [`OrbBuilder::prefer`] was given.
    pub prefer: Option<Vec<String>>,
    /// How waits look before they sleep.
    pub spinning: Spinning,
    /// Where to listen; empty: `tcp::0`, or nowhere where [`bidirectional`](Self::bidirectional) offers.
    pub listen: Vec<String>,
    /// The host that references name.
    pub published_host: Option<String>,
    /// Which threads serve.
    pub server_threads: ThreadModel,
    /// What clients may make the server hold.
    pub server_limits: ServerLimits,
    /// Octets from which messages leave in fragments; `None`: never.
    pub fragment_size: Option<usize>,
    /// The largest message that is accepted, in octets.
    pub largest_message: usize,
    /// Octets that large messages hold at most, all together.
    pub message_memory: Option<usize>,
    /// Octets of messages that values read in place keep alive at most.
    pub kept_memory: usize,
    /// What happens to values that would keep more.
    pub kept_memory_at_bound: AtBound,
    /// How many buffers for large messages are made beforehand, and octets of each.
    pub message_buffers: Option<(usize, usize)>,
    /// Octets of messages that wait for one shared connection.
    pub waiting_octets: usize,
    /// Connections to one endpoint that blocking calls have to themselves.
    pub private_connections: usize,
    /// Blocking calls to one endpoint at a time, beyond which short ones share a connection.
    pub joint_beyond: usize,
    /// How long an unused outgoing connection stays open.
    pub client_idle: Duration,
    /// What is done of bidirectional GIOP.
    pub bidirectional: Bidirectional,
    /// Initial references, by name.
    pub initial_references: BTreeMap<String, String>,
    /// What other initial references begin with.
    pub default_initial_reference: Option<String>,
}

/// One of the transports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenTransport {
    /// Its name, such as `tcp`.
    pub name: &'static str,
    /// What it was told, by name.
    pub properties: Vec<(&'static str, String)>,
}

impl OrbBuilder {
    /// What was chosen so far.
    pub fn chosen(&self) -> Chosen {
        let transports = self.transports.iter();
        let initial = self.initial.iter().filter_map(|(name, source)| match source {
            InitialSource::Text(url) => Some((name.clone(), url.clone())),
            InitialSource::Object(_) => None,
        });
        Chosen {
            policies: self.policies.clone(),
            giop_version: self.giop_version,
            transports: transports
                .map(|it| ChosenTransport { name: it.name(), properties: it.properties() })
                .collect(),
            messagings: self.server.messagings.0.iter().map(|it| it.name()).collect(),
            prefer: self.preferred.clone(),
            spinning: self.spinning,
            listen: self.server.endpoints.clone(),
            published_host: self.server.published_host.clone(),
            server_threads: self.server.threads,
            server_limits: self.server.limits,
            fragment_size: self.server.fragment_size,
            largest_message: self.client.message_limits.max_message,
            message_memory: self.message_memory,
            kept_memory: self.kept_memory,
            kept_memory_at_bound: self.kept_memory_at_bound,
            message_buffers: self.message_buffers,
            waiting_octets: self.client.outbox,
            private_connections: self.client.private_connections,
            joint_beyond: self.client.joint_beyond,
            client_idle: self.client.idle,
            bidirectional: self.bidirectional.clone(),
            initial_references: initial.collect(),
            default_initial_reference: self.default_initial.clone(),
        }
    }
}
