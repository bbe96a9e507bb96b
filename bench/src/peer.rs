//! Foreign systems: programs in their own languages, each driven by lines of text.
//!
//! `bench/peers/README.md` has the whole protocol, [`driver`](crate::driver) the measuring side of it.
//!
//! To add a peer, write its program in `bench/peers/NAME` with a script `build`, and name it in [`Peer::ALL`].

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::BenchError;
use crate::driver::Driver;
use crate::lab::Lab;
use crate::system::{Client, Setting, System};

/// A system with a program of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Peer {
    name: &'static str,
    messaging: &'static str,
    /// The folder of its program: two systems may share one.
    folder: &'static str,
    /// What tells its driver apart from that of the other.
    words: &'static [&'static str],
}

impl Peer {
    /// All that are known.
    pub const ALL: &'static [Peer] = &[
        Peer { name: "omniorb", messaging: "giop", folder: "omniorb", words: &[] },
        Peer { name: "jacorb", messaging: "giop", folder: "jacorb", words: &[] },
        Peer { name: "tirpc", messaging: "oncrpc", folder: "tirpc", words: &[] },
        Peer { name: "tirpc-opaque", messaging: "oncrpc", folder: "tirpc", words: &["xdr=opaque"] },
        Peer { name: "tonic", messaging: "grpc", folder: "tonic", words: &[] },
        Peer { name: "capnp", messaging: "capnp", folder: "capnp", words: &[] },
        Peer { name: "sockets", messaging: "none", folder: "sockets", words: &[] },
    ];

    /// The peer of this name.
    pub fn named(name: &str) -> Option<&'static Peer> {
        Peer::ALL.iter().find(|peer| peer.name == name)
    }

    /// Whether it has no messaging: the C library's sockets, which are no system to compare with, but a second floor.
    pub fn is_floor(&self) -> bool {
        self.messaging == "none"
    }

    /// Its program, if it is built.
    ///
    /// # Errors
    ///
    /// [`BenchError::Missing`], naming what builds it.
    pub fn program(&self, peers: &Path) -> Result<PathBuf, BenchError> {
        let program = peers.join(self.folder).join("peer");
        match program.is_file() {
            true => Ok(program),
            false => {
                let build = format!("bench/peers/{}/build", self.folder);
                Err(BenchError::Missing { system: self.name, build })
            }
        }
    }

    /// What its program was built of, as its build script noted it.
    pub fn version(&self, peers: &Path) -> Option<String> {
        let text = std::fs::read_to_string(peers.join(self.folder).join("version")).ok()?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl System for Peer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn messaging(&self) -> &'static str {
        self.messaging
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        let mut command = Command::new(self.program(&lab.peers)?);
        // What our own servers call `listen`.
        let host = setting.listen.map(|address| format!("host={}", address.ip()));
        let port = setting.listen.filter(|address| address.port() != 0);
        let port = port.map(|address| format!("port={}", address.port()));
        command
            .arg("serve")
            .args(
                Setting {
                    listen: None,
                    spinning: None,
                    memory: None,
                    loans: None,
                    gathered: None,
                    ..setting.clone()
                }
                .words(),
            )
            .args(host)
            .args(port);
        Ok(command)
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let mut command = Command::new(self.program(&lab.peers)?);
        let setting = Setting {
            listen: None,
            spinning: None,
            memory: None,
            loans: None,
            gathered: None,
            ..setting.clone()
        };
        command.args(["drive", address]).args(setting.words()).args(self.words);
        Ok(Box::new(Driver::start(self.name, command, lab, processor)?))
    }
}
