//! The addresses of this machine's network interfaces.
//!
//! They are asked of the kernel over a `rtnetlink` socket (rtnetlink(7)), which is what `getifaddrs` does
//! inside; doing it here takes the parser below and spares the unsafe walk of a C list. `/proc` has the same
//! facts in a form meant for people, and is not mounted everywhere. An answer is a sequence of messages, each
//! a head and a sequence of attributes, all in the machine's byte order and padded to four octets:
//!
//! ```text
//! 0        4     6      8       12    16                            24
//! | length | type | flags | seq | port | family prefix flags scope index | attribute … |   address
//! | length | type | flags | seq | port | family – type, index, flags, change (16) | attribute … |   link
//!                                          attribute: | length | type | value … |
//! ```

use crate::ready::{attempt_by, resumed};
use crate::{Error, Step};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// One address of a network interface; an interface with several addresses appears several times.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interface {
    /// `eth0`, `lo`, ….
    pub name: String,
    /// The kernel's number for it, which scopes link-local and multicast addresses.
    pub index: u32,
    /// The address.
    pub address: IpAddr,
    /// How many leading bits of the address are the network's.
    pub prefix_length: u8,
    /// It leads back to this machine.
    pub is_loopback: bool,
    /// It is switched on and has a carrier.
    pub is_running: bool,
}

// Message types and flags of netlink(7) and rtnetlink(7).
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;
const NLM_F_REQUEST_DUMP: u16 = 0x001 | 0x300;
const IFLA_IFNAME: u16 = 3;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFF_UP: u32 = 0x1;
const IFF_LOOPBACK: u32 = 0x8;
const IFF_RUNNING: u32 = 0x40;

/// A dump comes in datagrams of at most 32 KiB: the most that the kernel fills at a time.
const LARGEST_DATAGRAM: usize = 32 * 1024;
/// The kernel has the answer ready when the request returns; this only keeps a surprise from lasting forever.
const PATIENCE: Duration = Duration::from_secs(2);

/// The addresses of this machine's network interfaces, in the kernel's order.
///
/// # Errors
/// At [`Step::Inspect`]: the sandbox of this process may forbid asking.
pub fn interfaces() -> Result<Vec<Interface>, Error> {
    let mut links = BTreeMap::new();
    dump(RTM_GETLINK, |message| {
        if let Some((index, link)) = link(message) {
            links.insert(index, link);
        }
    })?;
    let mut found = Vec::new();
    dump(RTM_GETADDR, |message| found.extend(address(message, &links)))?;
    Ok(found)
}

struct Link {
    name: String,
    flags: u32,
}

/// Asks for all objects of a kind and hands each to `take`.
fn dump(request: u16, mut take: impl FnMut(Message<'_>)) -> Result<(), Error> {
    let failed = |e: Errno| Error::os(Step::Inspect, e);
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(failed)?;
    // A head, and the longest of the fixed parts with nothing asked for in particular.
    let mut question = [0; 32];
    question[0..4].copy_from_slice(&32u32.to_ne_bytes());
    question[4..6].copy_from_slice(&request.to_ne_bytes());
    question[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    resumed(|| send(&socket, &question, SendFlags::empty())).map_err(failed)?;

    let deadline = Instant::now() + PATIENCE;
    let mut datagram = vec![0; LARGEST_DATAGRAM];
    loop {
        let (length, _) = attempt_by(socket.as_fd(), Step::Inspect, PollFlags::IN, Some(deadline), || {
            resumed(|| recv(&socket, &mut datagram[..], RecvFlags::DONTWAIT))
        })?;
        for message in messages(&datagram[..length]) {
            match message.kind {
                NLMSG_DONE => return Ok(()),
                NLMSG_ERROR => {
                    let code = u32_at(message.payload, 0).unwrap_or(0).cast_signed().saturating_neg();
                    return Err(failed(Errno::from_raw_os_error(code.clamp(1, 4095))));
                }
                _ => take(message),
            }
        }
    }
}

fn link(message: Message<'_>) -> Option<(u32, Link)> {
    if message.kind != RTM_NEWLINK {
        return None;
    }
    let (index, flags) = (u32_at(message.payload, 4)?, u32_at(message.payload, 8)?);
    let name = attributes(message.payload.get(16..)?).find(|a| a.kind == IFLA_IFNAME)?.payload;
    let name = name.split(|&octet| octet == 0).next().unwrap_or(name);
    Some((index, Link { name: String::from_utf8_lossy(name).into_owned(), flags }))
}

fn address(message: Message<'_>, links: &BTreeMap<u32, Link>) -> Option<Interface> {
    if message.kind != RTM_NEWADDR {
        return None;
    }
    let prefix_length = *message.payload.get(1)?;
    let index = u32_at(message.payload, 4)?;
    let value = |kind| attributes(message.payload.get(8..)?).find(|a| a.kind == kind).map(|a| a.payload);
    // On a point-to-point interface IFA_ADDRESS is the other end; where IFA_LOCAL is given it is always ours.
    let octets = value(IFA_LOCAL).or_else(|| value(IFA_ADDRESS))?;
    let address = match octets.len() {
        4 => Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?).into(),
        _ => Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?).into(),
    };
    let link = links.get(&index)?;
    Some(Interface {
        name: link.name.clone(),
        index,
        address,
        prefix_length,
        is_loopback: link.flags & IFF_LOOPBACK != 0,
        is_running: link.flags & (IFF_UP | IFF_RUNNING) == IFF_UP | IFF_RUNNING,
    })
}

/// A message without its head, or an attribute without its own.
#[derive(Clone, Copy)]
struct Message<'a> {
    kind: u16,
    payload: &'a [u8],
}

fn messages(bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    records(bytes, 16, |head| Some((u32_at(head, 0)?.try_into().ok()?, u16_at(head, 4)?)))
}

fn attributes(bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    records(bytes, 4, |head| Some((u16_at(head, 0)?.into(), u16_at(head, 2)?)))
}

/// Both levels have the same shape: a length that counts the head, a type, a payload, padding to four octets.
/// The sequence ends where a record does not fit.
fn records(
    mut bytes: &[u8],
    head: usize,
    read_head: impl Fn(&[u8]) -> Option<(usize, u16)>,
) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let (length, kind) = read_head(bytes)?;
        let payload = bytes.get(head..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some(Message { kind, payload })
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_loopback_interface() {
        let all = interfaces().unwrap();
        let lo = all.iter().find(|i| i.is_loopback).expect("a loopback interface");
        assert!(lo.address.is_loopback() && lo.index > 0 && !lo.name.is_empty(), "{lo:?}");
        assert!(all.iter().all(|i| !i.address.is_unspecified()));
    }

    fn record(head: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut bytes = [head, payload].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn address_message() -> Vec<u8> {
        let local = record(&[8u16.to_ne_bytes(), IFA_LOCAL.to_ne_bytes()].concat(), &[192, 0, 2, 1]);
        let remote = record(&[8u16.to_ne_bytes(), IFA_ADDRESS.to_ne_bytes()].concat(), &[192, 0, 2, 2]);
        let payload = [&[2, 24, 0, 0][..], &7u32.to_ne_bytes(), &remote, &local].concat();
        let length = u32::try_from(16 + payload.len()).unwrap();
        let head = [&length.to_ne_bytes()[..], &RTM_NEWADDR.to_ne_bytes(), &[0; 10]].concat();
        record(&head, &payload)
    }

    #[test]
    fn an_address_is_read_and_every_prefix_is_harmless() {
        let links = BTreeMap::from([(7, Link { name: "ppp0".into(), flags: IFF_UP | IFF_RUNNING })]);
        let bytes = address_message();
        let read = |bytes: &[u8]| messages(bytes).filter_map(|m| address(m, &links)).collect::<Vec<_>>();
        let found = read(&bytes);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address.to_string(), "192.0.2.1", "ours, not the other end's");
        assert_eq!((found[0].name.as_str(), found[0].prefix_length, found[0].is_running), ("ppp0", 24, true));
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_empty(), "{end}");
        }
    }

    #[test]
    fn absurd_lengths_end_the_sequence() {
        for length in [0u32, 1, 15, 17, u32::MAX] {
            let bytes = [&length.to_ne_bytes()[..], &[0; 12]].concat();
            assert_eq!(messages(&bytes).count(), 0, "{length}");
        }
    }
}
