//! Unix datagram sockets: messages within a machine, none of which is lost or overtakes another.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::addr::SocketAddrLen;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketType};

use super::file::{SocketFile, bind_file};
use crate::datagram::{Calls, ConnectedDatagramSocket, DatagramSocket};
use crate::portable::waiting_socket;
use crate::{Address, Error, LONGEST_UNIX_NAME, Sender, UnixAddress};

/// Octets in front of the name (unix(7)).
const HEAD: usize = size_of::<u16>();
/// Of a path of one octet: Linux counts the NUL behind it, the others may leave it out; of an abstract name of one octet,
/// which has a NUL in front.
const SHORTEST: usize = HEAD + if cfg!(target_os = "linux") { 2 } else { 1 };
const LONGEST: usize = HEAD + LONGEST_UNIX_NAME + 1;

/// The family of Unix datagram sockets; see [`DatagramFamily`](crate::DatagramFamily).
#[derive(Debug)]
pub enum UnixDatagram {}

impl From<Sender<UnixDatagram>> for UnixAddress {
    fn from(sender: Sender<UnixDatagram>) -> Self {
        sender.address()
    }
}

impl PartialEq<UnixAddress> for Sender<UnixDatagram> {
    fn eq(&self, address: &UnixAddress) -> bool {
        self.address() == *address
    }
}

/// A Unix datagram socket that sends to anybody. Its file, if it has one, is removed when this is dropped.
pub type UnixDatagramSocket = DatagramSocket<UnixDatagram>;
/// A Unix datagram socket that sends to one peer.
pub type ConnectedUnixDatagramSocket = ConnectedDatagramSocket<UnixDatagram>;

impl Calls for UnixDatagram {
    type Address = UnixAddress;
    type Form = [u8; LONGEST];
    type Held = Option<SocketFile>;

    fn open(_: &UnixAddress) -> Result<OwnedFd, Errno> {
        waiting_socket(AddressFamily::UNIX, SocketType::DGRAM, None)
    }

    fn bind(fd: BorrowedFd<'_>, at: &UnixAddress) -> Result<Option<SocketFile>, Error> {
        bind_file(fd, at, || Ok(false))
    }

    fn give_up(held: Option<SocketFile>) {
        if let Some(file) = held {
            file.keep();
        }
    }

    fn local(fd: BorrowedFd<'_>) -> Result<Option<UnixAddress>, Errno> {
        let local = rustix::net::getsockname(fd).and_then(SocketAddrUnix::try_from)?;
        Ok(UnixAddress::of_kernel(&local))
    }

    /// Without a name there is no address at all, or an empty one; the longest leave room for a final NUL.
    #[inline]
    fn is_sender(length: SocketAddrLen) -> bool {
        (SHORTEST..=LONGEST).contains(&(length as usize))
    }

    fn address_of(form: &[u8]) -> UnixAddress {
        UnixAddress::of_octets(&form[HEAD..])
    }

    fn to_kernel(address: &UnixAddress) -> Result<SocketAddrAny, Errno> {
        address.to_kernel().map(Into::into)
    }

    /// The BSDs have no room in the receiver's queue; Linux has none in its own memory.
    #[cfg(not(target_os = "linux"))]
    fn is_full(errno: Errno) -> bool {
        errno == Errno::NOBUFS
    }

    fn address(address: &UnixAddress) -> Address {
        Address::Unix(address.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_decoded_as_the_system_wrote_it() {
        let longest = "x".repeat(LONGEST_UNIX_NAME);
        for name in ["x", "/run/bank.sock", &longest] {
            for address in [UnixAddress::path(name), UnixAddress::abstract_name(name.as_bytes())] {
                let address = address.unwrap();
                // Elsewhere there are no abstract names.
                let Ok(form) = address.to_kernel() else { continue };
                let sender = Sender::<UnixDatagram>::of(Some(form.into())).unwrap();
                assert_eq!(sender.address(), address);
                assert!(sender == address);
            }
        }
    }

    #[test]
    fn a_socket_without_a_name_and_one_whose_name_is_no_address_of_ours_is_no_sender() {
        let is_sender = |form: SocketAddrUnix| Sender::<UnixDatagram>::of(Some(form.into())).is_some();
        assert!(!is_sender(SocketAddrUnix::new_unnamed()));
        #[cfg(target_os = "linux")]
        for name in [&b""[..], &[b'x'; LONGEST_UNIX_NAME]] {
            let is_known = UnixAddress::abstract_name(name).is_ok();
            assert_eq!(is_sender(SocketAddrUnix::new_abstract_name(name).unwrap()), is_known, "{name:?}");
        }
    }
}
