//! What is measured: anything that answers requests from another process.
//!
//! To add a peer, implement [`System`] and name it in the command line's list. The server half runs in a
//! child process, the client half in the measuring one; scenarios know systems only through these traits.

use std::fmt;
use std::str::FromStr;

use crate::BenchError;

/// A system under test, or the bare socket beneath it.
pub trait System: Sync {
    /// Its name in results: `zorb`, `raw`, ….
    fn name(&self) -> &'static str;

    /// Its messaging protocol in results: `giop`, or `none`.
    fn messaging(&self) -> &'static str;

    /// Serves on `transport`. Calls `while_serving` once with the address that clients need, and stops
    /// when that returns.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`] for a transport it does not have, otherwise whatever prevented it from serving.
    fn serve(&self, transport: Transport, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError>;

    /// Connects to what [`System::serve`] announced.
    ///
    /// # Errors
    ///
    /// As for `serve`.
    fn connect(&self, transport: Transport, address: &str) -> Result<Box<dyn Client>, BenchError>;

    /// How many bytes one call of this payload puts on the wire once the connection is warm.
    ///
    /// # Errors
    ///
    /// Whatever prevented the call.
    fn message_sizes(
        &self,
        transport: Transport,
        address: &str,
        payload: Payload,
    ) -> Result<MessageSizes, BenchError>;
}

/// The client half, connected.
pub trait Client {
    /// Prepares calls of one kind. Allocations and fills happen here, outside the measured time.
    ///
    /// # Errors
    ///
    /// Whatever prevents such calls.
    fn exchange(&mut self, call: Call) -> Result<Box<dyn Exchange + '_>, BenchError>;
}

/// Calls of one kind, one at a time.
pub trait Exchange {
    /// One request and its reply: what the clock sees.
    ///
    /// # Errors
    ///
    /// The call failed; the run ends.
    fn round_trip(&mut self) -> Result<(), BenchError>;

    /// Compares what came back with what was sent, and changes what the next call sends, so that an old
    /// reply cannot pass for a new one. Outside the measured time.
    ///
    /// # Errors
    ///
    /// [`BenchError::Corrupt`] at the first difference.
    fn verify(&mut self) -> Result<(), BenchError>;
}

/// What one call carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// For systems with types: what is passed and returned.
    pub payload: Payload,
    /// For bare sockets: how many bytes the messages have.
    pub messages: MessageSizes,
}

/// An argument that is returned as the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Nothing either way: the null call.
    Null,
    /// A sequence of this many octets, echoed.
    Octets(usize),
}

impl Payload {
    /// The payload's octets; 0 for the null call.
    pub fn size(self) -> usize {
        match self {
            Payload::Null => 0,
            Payload::Octets(size) => size,
        }
    }

    /// Its type's name in results.
    pub fn type_name(self) -> &'static str {
        match self {
            Payload::Null => "null",
            Payload::Octets(_) => "octet",
        }
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: usize = 1 << 10;
        const MIB: usize = 1 << 20;
        match *self {
            Payload::Null => f.pad("null"),
            Payload::Octets(size) if size >= MIB && size % MIB == 0 => f.pad(&format!("{} MiB", size / MIB)),
            Payload::Octets(size) if size >= KIB && size % KIB == 0 => f.pad(&format!("{} KiB", size / KIB)),
            Payload::Octets(size) => f.pad(&format!("{size} B")),
        }
    }
}

/// Bytes on the wire in one call, headers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSizes {
    /// From client to server.
    pub request: usize,
    /// From server to client.
    pub reply: usize,
}

/// What the messages travel over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// TCP over the loopback interface, with `TCP_NODELAY`.
    Tcp,
}

impl Transport {
    const ALL: [Transport; 1] = [Transport::Tcp];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
        }
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Transport, String> {
        Transport::ALL.into_iter().find(|transport| transport.name() == text).ok_or_else(|| {
            let known: Vec<_> = Transport::ALL.iter().map(|transport| transport.name()).collect();
            format!("expected {}", known.join(" or "))
        })
    }
}

/// Fills a payload with a pattern that shifts visibly when octets are lost, repeated or moved.
pub fn fill(payload: &mut [u8]) {
    // 251 is the largest prime below 256: the pattern does not repeat at any power of two.
    for (at, octet) in payload.iter_mut().enumerate() {
        *octet = (at % 251) as u8;
    }
}

/// Marks a payload as that of call number `number`, as far as it has room.
pub fn stamp(payload: &mut [u8], number: u64) {
    for (octet, mark) in payload.iter_mut().zip(number.to_le_bytes()) {
        *octet = mark;
    }
}

/// Describes the first difference between what was sent and what came back; `None` if there is none.
pub fn first_difference(sent: &[u8], received: &[u8]) -> Option<String> {
    if sent == received {
        return None;
    }
    if sent.len() != received.len() {
        return Some(format!("{} octets instead of {}", received.len(), sent.len()));
    }
    let at = sent.iter().zip(received).position(|(a, b)| a != b)?;
    Some(format!("octet {at} of {} is {:#04x} instead of {:#04x}", sent.len(), received[at], sent[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_print_as_people_write_them() {
        let text = |payload: Payload| payload.to_string();
        assert_eq!(text(Payload::Null), "null");
        assert_eq!(text(Payload::Octets(1000)), "1000 B");
        assert_eq!(text(Payload::Octets(64 << 10)), "64 KiB");
        assert_eq!(text(Payload::Octets(8 << 20)), "8 MiB");
        assert_eq!(format!("[{:>6}]", Payload::Octets(1024)), "[ 1 KiB]");
    }

    #[test]
    fn differences_are_located() {
        let mut sent = vec![0; 600];
        fill(&mut sent);
        stamp(&mut sent, 77);
        assert_eq!(first_difference(&sent, &sent.clone()), None);
        let mut received = sent.clone();
        received[599] ^= 1;
        let text = first_difference(&sent, &received).unwrap();
        assert_eq!(text, "octet 599 of 600 is 0x60 instead of 0x61");
        assert_eq!(first_difference(&sent, &sent[..599]).unwrap(), "599 octets instead of 600");
        stamp(&mut received, 78);
        assert!(first_difference(&sent, &received).unwrap().starts_with("octet 0 "));
    }

    #[test]
    fn stamping_needs_no_room() {
        stamp(&mut [], 1);
        let mut short = [0; 3];
        stamp(&mut short, 0x0403_0201);
        assert_eq!(short, [1, 2, 3]);
    }

    #[test]
    fn transports_by_name() {
        assert_eq!("tcp".parse(), Ok(Transport::Tcp));
        assert_eq!("smoke".parse::<Transport>(), Err("expected tcp".to_owned()));
    }
}
