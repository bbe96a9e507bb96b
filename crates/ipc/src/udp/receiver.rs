//! Receiving what is sent to multicast groups.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{bind, sockopt};

use super::{Udp, UdpSocket};
use crate::datagram::kernel::{set_number, set_source, storage_of};
use crate::datagram::{Calls, ReceiveBatch, Received};
use crate::{Address, Error, MulticastGroup, QueueSizes, Step};

/// A socket that receives what is sent to the multicast groups that it has joined, all of one port and one
/// version of IP. It cannot send; [`MulticastSender`](crate::MulticastSender) does.
///
/// What comes does not say for which of the groups it is: whoever has to tell them apart has a receiver for
/// each. What is sent to this host's own address at that port comes too, to one of those that receive there.
/// Several receivers, of any processes, may share a port; each gets all of its own groups' datagrams, and
/// none of groups that only another has joined.
///
/// ```no_run
/// use std::io::IoSlice;
/// use zorb_ipc::{MulticastReceiver, MulticastSender};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let receiver = MulticastReceiver::new("239.255.0.1:5000%eth0".parse()?)?;
/// receiver.join("239.255.0.2:5000%eth0".parse()?)?;
/// let sender = MulticastSender::new("239.255.0.2:5000%eth0".parse()?)?;
/// sender.send(&[IoSlice::new(b"to whom it may concern")])?;
/// let mut datagram = [0; 1500];
/// let received = receiver.receive_from(&mut datagram)?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn wrong(receiver: &zorb_ipc::MulticastReceiver) {
/// receiver.send(&[std::io::IoSlice::new(b"hello")]); // no method `send`
/// # }
/// ```
pub struct MulticastReceiver {
    socket: UdpSocket,
    first: MulticastGroup,
}

/// What may change between a receiver and a group.
#[derive(Clone, Copy)]
enum Change {
    Join,
    Leave,
}

impl MulticastReceiver {
    /// Receives what is sent to `group`, whoever sends it, by the group's interface.
    ///
    /// # Errors
    /// At [`Step::Open`], [`Step::Configure`], [`Step::Bind`] or [`Step::Join`], naming the group;
    /// [`Error::is_address_in_use`] if somebody has the port for itself.
    pub fn new(group: MulticastGroup) -> Result<Self, Error> {
        Self::with_queue_sizes(group, QueueSizes::default())
    }

    /// The same, with queues of these sizes: what finds the receiver's queue full is lost.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_queue_sizes(group: MulticastGroup, sizes: QueueSizes) -> Result<Self, Error> {
        let receiver = Self::open(group, sizes)?;
        receiver.join(group)?;
        Ok(receiver)
    }

    /// Receives what `source` sends to `group` (RFC 4607: groups of 232.0.0.0/8 and ff3x::/32 are for that,
    /// others may be used so).
    ///
    /// # Errors
    /// As [`new`](Self::new); an invalid argument if group and source are not of one version of IP.
    pub fn of_source(group: MulticastGroup, source: IpAddr) -> Result<Self, Error> {
        let receiver = Self::open(group, QueueSizes::default())?;
        receiver.join_source(group, source)?;
        Ok(receiver)
    }

    fn open(group: MulticastGroup, sizes: QueueSizes) -> Result<Self, Error> {
        let named = |error: Error| error.with(Address::Multicast(group));
        let at = |step| move |errno| named(Error::os(step, errno));
        let any: IpAddr =
            if group.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let local = SocketAddr::new(any, group.address().port());
        let fd = Udp::open(&local).map_err(at(Step::Open))?;
        prepare(&fd, group.is_ipv4()).map_err(at(Step::Configure))?;
        sizes.apply(fd.as_fd()).map_err(named)?;
        bind(&fd, &local).map_err(at(Step::Bind))?;
        Ok(Self { socket: UdpSocket::of(fd, Some(local), Some(())), first: group })
    }

    // ---- groups ----

    /// Receives from here on also what is sent to `group`, whoever sends it.
    ///
    /// # Errors
    /// At [`Step::Join`], naming the group: an invalid argument if it is not of this receiver's port and
    /// version of IP; [`Error::is_address_in_use`] if it has joined that group by that interface already; no
    /// such device.
    pub fn join(&self, group: MulticastGroup) -> Result<(), Error> {
        self.change(Change::Join, group)
    }

    /// No longer receives what is sent to `group`, however it was joined. What has come already is still
    /// received.
    ///
    /// # Errors
    /// At [`Step::Leave`], naming the group: an address that is not available, if it has not joined.
    pub fn leave(&self, group: MulticastGroup) -> Result<(), Error> {
        self.change(Change::Leave, group)
    }

    /// Receives from here on also what `source` sends to `group`. Several sources of a group are joined one
    /// by one; a group that it had joined for all sources is from then on received from these alone.
    ///
    /// # Errors
    /// At [`Step::Join`], naming the group: as [`join`](Self::join); an invalid argument also if the source
    /// is of another version of IP; an address that is not available, if it has joined for that source
    /// already.
    pub fn join_source(&self, group: MulticastGroup, source: IpAddr) -> Result<(), Error> {
        self.change_source(Change::Join, group, source)
    }

    /// No longer receives what `source` sends to `group`.
    ///
    /// # Errors
    /// At [`Step::Leave`], naming the group: an invalid argument, or an address that is not available, if it
    /// has not joined that group, or not for that source.
    pub fn leave_source(&self, group: MulticastGroup, source: IpAddr) -> Result<(), Error> {
        self.change_source(Change::Leave, group, source)
    }

    fn change(&self, change: Change, group: MulticastGroup) -> Result<(), Error> {
        let index = index(group);
        let done = match (group.address().ip(), change) {
            _ if !self.serves(group) => Err(Errno::INVAL),
            (IpAddr::V4(group), Change::Join) => {
                sockopt::set_ip_add_membership_with_ifindex(self, &group, &Ipv4Addr::UNSPECIFIED, index)
            }
            (IpAddr::V4(group), Change::Leave) => {
                sockopt::set_ip_drop_membership_with_ifindex(self, &group, &Ipv4Addr::UNSPECIFIED, index)
            }
            (IpAddr::V6(group), Change::Join) => sockopt::set_ipv6_add_membership(self, &group, index),
            (IpAddr::V6(group), Change::Leave) => sockopt::set_ipv6_drop_membership(self, &group, index),
        };
        done.map_err(|errno| change.failed(group, errno))
    }

    fn change_source(&self, change: Change, group: MulticastGroup, source: IpAddr) -> Result<(), Error> {
        if !self.serves(group) || source.is_ipv4() != group.is_ipv4() {
            return Err(change.failed(group, Errno::INVAL));
        }
        // One form for both versions of IP (RFC 3678, section 5.1), and by the interface's number.
        let request = libc::group_source_req {
            gsr_interface: index(group),
            gsr_group: storage_of(group.address().ip()),
            gsr_source: storage_of(source),
        };
        let level = if group.is_ipv4() { libc::IPPROTO_IP } else { libc::IPPROTO_IPV6 };
        let name = match change {
            Change::Join => libc::MCAST_JOIN_SOURCE_GROUP,
            Change::Leave => libc::MCAST_LEAVE_SOURCE_GROUP,
        };
        set_source(self.as_fd(), level, name, &request).map_err(|errno| change.failed(group, errno))
    }

    fn serves(&self, group: MulticastGroup) -> bool {
        group.is_ipv4() == self.first.is_ipv4() && group.address().port() == self.first.address().port()
    }

    // ---- receiving ----

    /// Receives the next datagram, and waits for it as long as it takes.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from`].
    pub fn receive_from(&self, into: &mut [u8]) -> Result<Received<Udp>, Error> {
        self.socket.receive_from(into)
    }

    /// Receives the next datagram if one is there.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from_now`].
    pub fn receive_from_now(&self, into: &mut [u8]) -> Result<Received<Udp>, Error> {
        self.socket.receive_from_now(into)
    }

    /// Receives the next datagram, and waits for it until `deadline`.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_from_by`].
    pub fn receive_from_by(&self, into: &mut [u8], deadline: Instant) -> Result<Received<Udp>, Error> {
        self.socket.receive_from_by(into, deadline)
    }

    /// Receives many datagrams in one system call.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_many`].
    pub fn receive_many(&self, batch: &mut ReceiveBatch<Udp>) -> Result<usize, Error> {
        self.socket.receive_many(batch)
    }

    /// Receives many datagrams in one system call, without waiting.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_many_now`].
    pub fn receive_many_now(&self, batch: &mut ReceiveBatch<Udp>) -> Result<usize, Error> {
        self.socket.receive_many_now(batch)
    }

    /// Receives many datagrams in one system call, waiting for the first one until `deadline`.
    ///
    /// # Errors
    /// As [`UdpSocket::receive_many_by`].
    pub fn receive_many_by(&self, batch: &mut ReceiveBatch<Udp>, deadline: Instant) -> Result<usize, Error> {
        self.socket.receive_many_by(batch, deadline)
    }
}

/// What has to be set before the port is taken, so that nothing else comes.
fn prepare(fd: &OwnedFd, is_ipv4: bool) -> Result<(), Errno> {
    sockopt::set_socket_reuseaddr(fd, true)?;
    // Otherwise a socket gets what any other of this host has joined (ip(7), "IP_MULTICAST_ALL").
    if is_ipv4 {
        set_number(fd.as_fd(), libc::IPPROTO_IP, libc::IP_MULTICAST_ALL, 0)
    } else {
        sockopt::set_ipv6_v6only(fd, true)?;
        set_number(fd.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_ALL, 0)
    }
}

/// The interface's number; 0: the system's routes choose.
pub(super) fn index(group: MulticastGroup) -> u32 {
    group.interface().map_or(0, NonZeroU32::get)
}

impl Change {
    fn failed(self, group: MulticastGroup, errno: Errno) -> Error {
        let step = match self {
            Change::Join => Step::Join,
            Change::Leave => Step::Leave,
        };
        Error::os(step, errno).with(Address::Multicast(group))
    }
}

impl fmt::Debug for MulticastReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut receiver = f.debug_struct("MulticastReceiver");
        receiver.field("socket", &self.socket).field("first", &self.first).finish()
    }
}

impl From<MulticastReceiver> for OwnedFd {
    fn from(socket: MulticastReceiver) -> Self {
        socket.socket.into()
    }
}

impl AsFd for MulticastReceiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
