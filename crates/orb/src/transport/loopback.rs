//! Connections within this machine: another congestion control than the system's, where that would hold them back.
//!
//! An algorithm that paces what it sends, such as `bbr`, spreads packets by what it has measured of a link. There is no link between two sockets of one
//! machine: what is measured is the scheduler, and bulk goes at half the speed of memory or less. Small messages that follow each other profit,
//! since what is held back leaves together. So a connection is told when it first carries much (BENCHMARKING.md has figures).

use std::net::IpAddr;
use std::sync::Arc;

use zorb_ipc::{CongestionControl, Tcp, TcpStream};

use super::Endpoint;
use super::stream::StreamChannel;

/// What such connections are told.
#[derive(Clone, Debug)]
pub(super) enum Loopback {
    /// As the system has it.
    System,
    /// This one, where the system's paces, and this one may be used.
    Instead(Arc<str>),
}

impl Default for Loopback {
    fn default() -> Self {
        Loopback::instead("reno")
    }
}

impl Loopback {
    pub(super) fn instead(name: impl Into<String>) -> Self {
        Loopback::Instead(name.into().into())
    }

    /// What a connection with this algorithm is told; `None`: nothing.
    pub(super) fn instead_of(&self, algorithm: &str) -> Option<&Arc<str>> {
        match self {
            Loopback::Instead(name) if algorithm.starts_with("bbr") => Some(name),
            _ => None,
        }
    }

    /// A channel over a connection that is told before it first carries much, if it is one of this machine's. Two system calls then.
    pub(super) fn channel(&self, stream: TcpStream, peer: Endpoint) -> StreamChannel<Tcp> {
        let is_within = matches!(self, Loopback::Instead(_)) && is_within(&stream);
        let channel = StreamChannel::new(stream, peer).that_may_stay(super::tcp::ask_whether_it_is_there);
        match self {
            Loopback::Instead(_) if is_within => {
                let loopback = self.clone();
                channel.before_bulk(move |stream| loopback.tell(stream))
            }
            _ => channel,
        }
    }

    fn tell(&self, stream: &TcpStream) {
        let Ok(found) = stream.option::<CongestionControl>() else { return };
        let Some(name) = self.instead_of(&found.0) else { return };
        if let Err(error) = stream.set(CongestionControl(name.to_string().into())) {
            // It works as it is.
            tracing::debug!(%error, "a connection within this machine keeps the system's congestion control");
        }
    }
}

/// Whether both ends are this machine's.
fn is_within(stream: &TcpStream) -> bool {
    let peer = stream.peer_address().ip().to_canonical();
    let is_own = |local: IpAddr| local.to_canonical() == peer;
    peer.is_loopback() || stream.local_address().is_ok_and(|local| is_own(local.ip()))
}
