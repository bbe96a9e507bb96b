//! Connections within this machine: another congestion control than the system's, where that would hold them back.
//!
//! An algorithm that paces what it sends, such as `bbr`, spreads packets by what it has measured of a link. There is no link between two sockets of one
//! machine: what is measured is the scheduler, and bulk goes at half the speed of memory or less (BENCHMARKING.md has figures).

use std::net::IpAddr;
use std::sync::OnceLock;

use zorb_ipc::{CongestionControl, TcpStream};

/// What such connections are told.
#[derive(Clone, Debug)]
pub(super) enum Loopback {
    /// As the system has it.
    System,
    /// This one, where the system's paces, and this one may be used.
    Instead(String, OnceLock<bool>),
}

impl Default for Loopback {
    fn default() -> Self {
        Loopback::instead("reno")
    }
}

impl Loopback {
    pub(super) fn instead(name: impl Into<String>) -> Self {
        Loopback::Instead(name.into(), OnceLock::new())
    }

    /// Tells a connection, if it is one of this machine's. A system call, and one more for the first.
    pub(super) fn tell(&self, stream: &TcpStream) {
        let Loopback::Instead(name, needed) = self else { return };
        if needed.get() == Some(&false) || !is_within(stream) {
            return;
        }
        let paces = || stream.option::<CongestionControl>().is_ok_and(|found| found.0.starts_with("bbr"));
        if !*needed.get_or_init(paces) {
            return;
        }
        if let Err(error) = stream.set(CongestionControl(name.clone().into())) {
            // It works as it is.
            tracing::debug!(%error, "connections within this machine keep the system's congestion control");
        }
    }
}

/// Whether both ends are this machine's.
fn is_within(stream: &TcpStream) -> bool {
    let peer = stream.peer_address().ip().to_canonical();
    let is_own = |local: IpAddr| local.to_canonical() == peer;
    peer.is_loopback() || stream.local_address().is_ok_and(|local| is_own(local.ip()))
}
