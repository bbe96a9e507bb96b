//! What a scenario needs from its surroundings, and gets from the command line.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::link::Link;
use crate::process::Bounds;
use crate::progress::{Progress, Stop};
use crate::system::Setting;

/// The surroundings of a run.
#[derive(Clone)]
pub struct Lab<'a> {
    /// Makes the command that serves one of our own systems, by name, in a process of its own.
    pub server: &'a (dyn Fn(&str, &Setting) -> Command + Sync),
    /// Makes the command that drives the client half of one of our own systems, by name, in a process of its own, and is
    /// connected to an address.
    pub driver: &'a (dyn Fn(&str, &str, &Setting) -> Command + Sync),
    /// Makes the command that carries packets, as [`Link::up`] needs it.
    pub carrier: &'a (dyn Fn(Duration) -> Command + Sync),
    /// Where peers are built: `peer` in a folder of each one's name.
    pub peers: PathBuf,
    /// What lies between both sides; `None`: nothing but this host.
    pub link: Option<&'a Link>,
    /// A zorb with time probes, for the step of [`crate::paper`] that needs them; `None`: this program measures that too.
    pub probes: Option<PathBuf>,
    /// How long a peer's driver may take for one answer.
    pub patience: Duration,
    /// How long any process may live before it is killed.
    pub lifetime: Duration,
    /// Who looks on.
    pub progress: &'a dyn Progress,
    /// Whether to go on.
    pub stop: Stop,
}

impl Lab<'_> {
    /// Long enough for the largest burst or flood of the slowest peer on a busy machine, short enough that a run
    /// with a peer that hangs ends the same day.
    pub const PATIENCE: Duration = Duration::from_secs(120);

    /// The command that serves one of our own systems.
    pub fn own_server(&self, name: &str, setting: &Setting) -> Command {
        (self.server)(name, setting)
    }

    /// The command that drives the client half of one of our own systems.
    pub fn own_driver(&self, name: &str, address: &str, setting: &Setting) -> Command {
        (self.driver)(name, address, setting)
    }

    /// For a process that is kept on `processor`.
    pub fn bounds(&self, processor: Option<usize>) -> Bounds {
        Bounds { processor, lifetime: self.lifetime, stop: self.stop.clone() }
    }
}

impl std::fmt::Debug for Lab<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lab").field("peers", &self.peers).finish_non_exhaustive()
    }
}
