//! Connections within this machine: what their sockets are told because there is no link between them.
//!
//! *Another congestion control* than the system's, where that paces what it sends, such as `bbr`: packets are then spread by what was measured of a link,
//! which here is the scheduler, and bulk goes at half the speed of memory or less. A connection that has begun with such an algorithm keeps its
//! timers under any other, so it is opened without it.
//!
//! *A receive window* of the size of a cache. The kernel's own grows to many MiB, for links where much is under way; here that much lies in
//! memory, and the sender's small messages leave one by one. When the window is full they gather in the sender's queue, and leave together. The
//! receive queue is left to the kernel: one of a size that was told is overrun where packets are smaller than those that its window was made for, and
//! what is dropped so comes again after a fifth of a second.
//!
//! Both have to be told before the handshake: where the address is a loopback one. Of other connections within the machine only the algorithm is
//! changed, before they first carry much. BENCHMARKING.md has figures.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

use zorb_ipc::{
    AcceptorOptions, CongestionControl, Error, QueueSizes, ReceiveWindow, Step, Tcp, TcpAcceptor,
    TcpConnector, TcpStream,
};

use super::Endpoint;
use super::stream::StreamChannel;

/// What such connections are told.
#[derive(Clone, Debug)]
pub(super) struct Loopback {
    /// This algorithm, where the system's paces, and this one may be used.
    pub(super) congestion_control: Option<Arc<str>>,
    /// Octets of the window.
    pub(super) window: Option<usize>,
}

impl Default for Loopback {
    fn default() -> Self {
        Loopback { congestion_control: Some(Arc::from("reno")), window: Some(WINDOW) }
    }
}

/// Octets of a receive window. 512 KiB: with half of it two processors wait for each other, and twice as much is more than a second-level cache holds.
const WINDOW: usize = 512 << 10;

impl Loopback {
    /// What a connection with this algorithm is told; `None`: nothing.
    pub(super) fn instead_of(&self, algorithm: &str) -> Option<&Arc<str>> {
        self.congestion_control.as_ref().filter(|_| algorithm.starts_with("bbr"))
    }

    /// Opens a connection, with the queues that were chosen, if any were.
    pub(super) fn connect(
        &self,
        addresses: &[SocketAddr],
        queues: QueueSizes,
        deadline: Instant,
    ) -> Result<TcpStream, Error> {
        let is_within = !addresses.is_empty() && addresses.iter().all(|address| is_loopback(address.ip()));
        let window = self.window(queues).filter(|_| is_within);
        let connector = TcpConnector::new().queue_sizes(queues);
        let connector = window.into_iter().fold(connector, TcpConnector::receive_window);
        if let Some(told) = self.instead_of_systems().filter(|_| is_within) {
            match connector.clone().congestion_control(told).connect_any(addresses, deadline) {
                // It may not be used.
                Err(error) if error.step() == Step::Configure => {}
                done => return done,
            }
        }
        connector.connect_any(addresses, deadline)
    }

    /// Listens at the first free one of these ports, with the queues that were chosen, if any were.
    pub(super) fn listen(
        &self,
        host: IpAddr,
        ports: RangeInclusive<u16>,
        queues: QueueSizes,
    ) -> Result<TcpAcceptor, Error> {
        let is_within = is_loopback(host);
        let acceptor = TcpAcceptor::bind_in(host, ports, &AcceptorOptions::new().queue_sizes(queues))?;
        if let Some(window) = self.window(queues).filter(|_| is_within) {
            acceptor.set(window)?;
        }
        if let Some(told) = self.instead_of_systems().filter(|_| is_within)
            && let Err(error) = acceptor.set(told)
        {
            tracing::debug!(%error, "a listener within this machine keeps the system's congestion control");
        }
        Ok(acceptor)
    }

    /// The window of a connection to or from a loopback address, where these queues were chosen: a receive queue that was says it all.
    ///
    /// The kernel keeps to the largest that can be told by the power of two which windows are counted by, 65,535 times that. So what is a power of two
    /// itself, and would take the next one, is told as those 65,535.
    pub(super) fn window(&self, chosen: QueueSizes) -> Option<ReceiveWindow> {
        let octets = self.window.filter(|_| chosen.receive.is_none())?;
        Some(ReceiveWindow(octets - (octets >> 16)))
    }

    fn instead_of_systems(&self) -> Option<CongestionControl> {
        self.congestion_control.as_ref()?;
        let system = CongestionControl::of_new_sockets().ok()?;
        self.instead_of(&system.0).map(|name| CongestionControl(name.to_string().into()))
    }

    /// A channel over a connection that is told before it first carries much, if it is one of this machine's. Two system calls then.
    pub(super) fn channel(&self, stream: TcpStream, peer: Endpoint) -> StreamChannel<Tcp> {
        let is_told = self.congestion_control.is_some() && is_within(&stream);
        let channel = StreamChannel::new(stream, peer).that_may_stay(super::tcp::ask_whether_it_is_there);
        match is_told {
            true => {
                let loopback = self.clone();
                channel.before_bulk(move |stream| loopback.tell(stream))
            }
            false => channel,
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

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

/// Whether both ends are this machine's.
fn is_within(stream: &TcpStream) -> bool {
    let peer = stream.peer_address().ip();
    let is_own = |local: SocketAddr| local.ip().to_canonical() == peer.to_canonical();
    is_loopback(peer) || stream.local_address().is_ok_and(is_own)
}
