//! The peers: where their programs are, and how a server is started.

use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::process::Running;

/// An implementation with a server and a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Omniorb,
    Jacorb,
    Zorb,
}

pub(crate) const ALL: [Peer; 3] = [Peer::Zorb, Peer::Omniorb, Peer::Jacorb];

impl Peer {
    /// As options, files and folders call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Omniorb => "omniorb",
            Peer::Jacorb => "jacorb",
            Peer::Zorb => "zorb",
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What both sides of a run are told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// GIOP version.
    pub(crate) giop: &'static str,
    /// The native code set of peers that have one.
    pub(crate) text: &'static str,
    /// zorb's messages above this many octets go in fragments; 0: none.
    pub(crate) fragment: usize,
    /// Where servers, and clients for callbacks, listen: `tcp` or `unix`.
    pub(crate) at: &'static str,
}

impl Terms {
    pub(crate) const USUAL: Terms = Terms { giop: "1.2", text: "latin1", fragment: 0, at: "tcp" };

    fn give(&self, peer: Peer, command: &mut Command) {
        command.args(["--giop", self.giop, "--text", self.text]);
        if peer == Peer::Zorb && self.fragment > 0 {
            command.arg("--fragment").arg(self.fragment.to_string());
        }
        if self.at != "tcp" {
            command.args(["--at", self.at]);
        }
    }
}

/// The folders of a run.
pub(crate) struct Workshop {
    /// `tests/interop`.
    pub(crate) interop: PathBuf,
    /// Where cargo puts programs.
    pub(crate) programs: PathBuf,
    /// Where `../../install` builds the peers.
    peers: PathBuf,
    /// Output and references of this run.
    pub(crate) scratch: PathBuf,
}

/// A JVM on a busy machine takes several seconds to its first line.
const START: Duration = Duration::from_secs(60);

impl Workshop {
    pub(crate) fn open() -> Result<Workshop, String> {
        let interop = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let own = env::current_exe().map_err(|error| format!("where am I: {error}"))?;
        let programs = own.parent().ok_or("where am I: at the root")?.to_owned();
        let peers = match env::var_os("ZORB_INTEROP_OUT") {
            Some(folder) => PathBuf::from(folder),
            None => interop.join("../../target/interop"),
        };
        let scratch = env::temp_dir().join(format!("zorb-interop-{}", std::process::id()));
        fs::create_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
        Ok(Workshop { interop, programs, peers, scratch })
    }

    /// A folder of what `../../install` builds.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.peers.join(name)
    }

    /// The program of that name.
    pub(crate) fn program(&self, peer: Peer, role: &str) -> PathBuf {
        match peer {
            Peer::Zorb => self.programs.join(format!("interop-{role}")),
            _ => self.peers.join(peer.to_string()).join(role),
        }
    }

    /// What is missing for `peer` to take part.
    pub(crate) fn missing(&self, peer: Peer) -> Option<String> {
        let present = ["server", "client"].iter().all(|role| self.program(peer, role).is_file());
        (!present).then(|| format!("the {peer} peer is not built: tests/interop/install does it"))
    }

    /// Starts a server and waits for its reference.
    pub(crate) fn serve(&self, peer: Peer, terms: Terms, run: &str) -> Result<(Running, String), String> {
        let file = self.scratch.join(format!("{run}.ior"));
        let mut command = Command::new(self.program(peer, "server"));
        command.arg("--ior-file").arg(&file);
        terms.give(peer, &mut command);
        let output = self.scratch.join(format!("{run}.server"));
        let mut server = Running::start(command, &format!("the {peer} server"), &output)?;
        let ior = server.until(START, || fs::read_to_string(&file).ok().filter(|text| !text.is_empty()))?;
        Ok((server, ior.trim().to_owned()))
    }

    /// Starts a client on `reference`; `more` are further words of its command line.
    pub(crate) fn call(
        &self,
        peer: Peer,
        reference: &str,
        terms: Terms,
        more: &[&str],
        run: &str,
    ) -> Result<Running, String> {
        let mut command = Command::new(self.program(peer, "client"));
        command.arg(reference).args(more);
        terms.give(peer, &mut command);
        Running::start(command, &format!("the {peer} client"), &self.scratch.join(format!("{run}.client")))
    }

    /// A client that calls nobody, such as for `--samples`.
    pub(crate) fn client(&self, peer: Peer, word: &str) -> Command {
        let mut command = Command::new(self.program(peer, "client"));
        command.arg(word);
        command
    }
}
