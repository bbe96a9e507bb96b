//! Messages put together octet by octet, in either byte order and every GIOP version, with whatever is wrong in them
//! that a test wants. zorb's own encoder cannot write those: it knows one byte order and no mistakes.
//!
//! CORBA 3.4 part 2, §9.4.

/// The order in which a message's numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Most significant octet first.
    Big,
    /// Least significant octet first.
    Little,
}

/// Every GIOP 1.x version (its minor number) in both byte orders.
pub const DIALECTS: [(u8, Order); 6] = [
    (0, Order::Big),
    (0, Order::Little),
    (1, Order::Big),
    (1, Order::Little),
    (2, Order::Big),
    (2, Order::Little),
];

/// Message types by their numbers on the wire.
#[allow(missing_docs)]
pub mod kind {
    pub const REQUEST: u8 = 0;
    pub const REPLY: u8 = 1;
    pub const CANCEL_REQUEST: u8 = 2;
    pub const LOCATE_REQUEST: u8 = 3;
    pub const LOCATE_REPLY: u8 = 4;
    pub const CLOSE_CONNECTION: u8 = 5;
    pub const MESSAGE_ERROR: u8 = 6;
    pub const FRAGMENT: u8 = 7;
}

/// Octets of a GIOP header.
pub const HEADER: usize = 12;

/// A message that grows; aligned as CDR aligns, counted from its first octet.
#[derive(Clone, Debug)]
pub struct Wire {
    order: Order,
    minor: u8,
    octets: Vec<u8>,
}

impl Wire {
    /// Begins with a header of size 0; [`done`](Self::done) fills the size in.
    pub fn new((minor, order): (u8, Order), kind: u8) -> Wire {
        let flags = u8::from(order == Order::Little);
        let mut octets = b"GIOP".to_vec();
        octets.extend([1, minor, flags, kind, 0, 0, 0, 0]);
        Wire { order, minor, octets }
    }

    /// Says that fragments follow.
    pub fn more(mut self) -> Wire {
        self.octets[6] |= 2;
        self
    }

    /// Pads with zeros to a multiple of `to`.
    pub fn align(mut self, to: usize) -> Wire {
        self.octets.resize(self.octets.len().next_multiple_of(to), 0);
        self
    }

    /// An octet.
    pub fn u8(mut self, value: u8) -> Wire {
        self.octets.push(value);
        self
    }

    /// An unsigned short.
    pub fn u16(self, value: u16) -> Wire {
        let bytes = if self.order == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.align(2).raw(&bytes)
    }

    /// An unsigned long.
    pub fn u32(self, value: u32) -> Wire {
        let bytes = if self.order == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.align(4).raw(&bytes)
    }

    /// Octets as they are.
    pub fn raw(mut self, octets: &[u8]) -> Wire {
        self.octets.extend_from_slice(octets);
        self
    }

    /// A `sequence<octet>`.
    pub fn sequence(self, octets: &[u8]) -> Wire {
        let count = u32::try_from(octets.len()).expect("a test's sequence is short");
        self.u32(count).raw(octets)
    }

    /// A string.
    pub fn string(self, text: &str) -> Wire {
        let count = u32::try_from(text.len() + 1).expect("a test's string is short");
        self.u32(count).raw(text.as_bytes()).u8(0)
    }

    /// The message, its size filled in.
    pub fn done(self) -> Vec<u8> {
        let size = u32::try_from(self.octets.len() - HEADER).expect("a test's message is short");
        self.announcing(size)
    }

    /// The message, saying that `size` octets follow its header, whether or not they do.
    pub fn announcing(mut self, size: u32) -> Vec<u8> {
        let bytes = if self.order == Order::Big { size.to_be_bytes() } else { size.to_le_bytes() };
        self.octets[8..HEADER].copy_from_slice(&bytes);
        self.octets
    }

    /// Begins a request; the arguments follow.
    pub fn request(dialect: (u8, Order), id: u32, expects: bool, key: &[u8], operation: &str) -> Wire {
        let wire = Wire::new(dialect, kind::REQUEST);
        if wire.minor < 2 {
            let wire = wire.u32(0).u32(id).u8(u8::from(expects)).raw(&[0; 3]);
            return wire.sequence(key).string(operation).u32(0);
        }
        let flags = if expects { 3 } else { 0 };
        wire.u32(id).u8(flags).raw(&[0; 3]).u16(0).sequence(key).string(operation).u32(0).align(8)
    }

    /// Begins a reply; result, exception or reference follow. Statuses: 0 result, 1 user exception, 2 system exception,
    /// 3 forward, 4 permanent forward, 5 other addressing wanted.
    pub fn reply(dialect: (u8, Order), id: u32, status: u32) -> Wire {
        let wire = Wire::new(dialect, kind::REPLY);
        if wire.minor < 2 {
            return wire.u32(0).u32(id).u32(status);
        }
        wire.u32(id).u32(status).u32(0).align(8)
    }

    /// How GIOP 1.2 names the object of `key`: 0 by its key, 1 by an IIOP profile, 2 by a whole reference (§9.4.2.1).
    pub fn target(self, how: u16, key: &[u8]) -> Wire {
        let named = self.u16(how);
        if how == 0 {
            return named.sequence(key);
        }
        let profile =
            Wire { order: named.order, minor: 2, octets: vec![u8::from(named.order == Order::Little)] };
        let profile = profile.u8(1).u8(2).string("127.0.0.1").u16(9).sequence(key).u32(0).octets;
        let profiles = if how == 1 { named } else { named.u32(0).string("IDL:testing/Probe:1.0").u32(1) };
        profiles.u32(0).sequence(&profile)
    }

    /// Service contexts: their ids and data.
    pub fn contexts(self, contexts: &[(u32, &[u8])]) -> Wire {
        let count = u32::try_from(contexts.len()).expect("a test's contexts are few");
        contexts.iter().fold(self.u32(count), |wire, &(id, data)| wire.u32(id).sequence(data))
    }

    /// Begins a request with service contexts, that names its object as [`target`](Self::target) says; versions below 1.2
    /// know keys only.
    pub fn request_with(
        dialect: (u8, Order),
        id: u32,
        (how, key): (u16, &[u8]),
        operation: &str,
        contexts: &[(u32, &[u8])],
    ) -> Wire {
        let wire = Wire::new(dialect, kind::REQUEST);
        if wire.minor < 2 {
            let wire = wire.contexts(contexts).u32(id).u8(1).raw(&[0; 3]);
            return wire.sequence(key).string(operation).u32(0);
        }
        let wire = wire.u32(id).u8(3).raw(&[0; 3]).target(how, key);
        wire.string(operation).contexts(contexts).align(8)
    }

    /// Begins a reply with service contexts, as [`reply`](Self::reply) does without.
    pub fn reply_with(dialect: (u8, Order), id: u32, status: u32, contexts: &[(u32, &[u8])]) -> Wire {
        let wire = Wire::new(dialect, kind::REPLY);
        if wire.minor < 2 {
            return wire.contexts(contexts).u32(id).u32(status);
        }
        wire.u32(id).u32(status).contexts(contexts).align(8)
    }

    /// A LocateRequest.
    pub fn locate(dialect: (u8, Order), id: u32, key: &[u8]) -> Wire {
        let wire = Wire::new(dialect, kind::LOCATE_REQUEST).u32(id);
        if wire.minor < 2 { wire.sequence(key) } else { wire.u16(0).sequence(key) }
    }

    /// A Fragment; the data follow. GIOP 1.1 has no id in it.
    pub fn fragment(dialect: (u8, Order), id: u32) -> Wire {
        let wire = Wire::new(dialect, kind::FRAGMENT);
        if wire.minor < 2 { wire } else { wire.u32(id) }
    }

    /// A message that is its id, or nothing but its header.
    pub fn short(dialect: (u8, Order), kind: u8, id: Option<u32>) -> Vec<u8> {
        let wire = Wire::new(dialect, kind);
        match id {
            Some(id) => wire.u32(id).done(),
            None => wire.done(),
        }
    }
}

/// The request id of a request as zorb's client sends it to a test's server.
pub fn request_id(message: &[u8]) -> Option<u32> {
    let little = message.get(6)? & 1 == 1;
    // In 1.0 and 1.1 the service contexts come first; zorb's are none, or the code sets on a first request.
    let at = if *message.get(5)? >= 2 {
        HEADER
    } else {
        let number = |at: usize| -> Option<usize> {
            let octets = message.get(at..at + 4)?.try_into().ok()?;
            let number = if little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) };
            usize::try_from(number).ok()
        };
        let mut at = HEADER + 4;
        for _ in 0..number(HEADER)? {
            at = (at + 8 + number(at + 4)?).next_multiple_of(4);
        }
        at
    };
    let octets = message.get(at..at + 4)?.try_into().ok()?;
    Some(if little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zorb::giop::{Inbound, Limits, Message};

    fn read(octets: &[u8]) -> Message {
        let mut inbound = Inbound::new(Limits::default());
        inbound.space()[..octets.len()].copy_from_slice(octets);
        inbound.received(octets.len());
        inbound.next().expect("well-formed").expect("complete")
    }

    #[test]
    fn zorb_reads_what_is_written_here() {
        for dialect in DIALECTS {
            let request = Wire::request(dialect, 7, true, b"key", "greet").string("zorb").done();
            assert_eq!(request_id(&request), Some(7));
            let Message::Request(request) = read(&request) else { panic!("{dialect:?}") };
            assert_eq!((request.id, request.operation(), request.version.minor), (7, "greet", dialect.0));
            assert_eq!(request.target.object_key().as_deref(), Some(&b"key"[..]));
            let Message::Reply(reply) = read(&Wire::reply(dialect, 9, 0).u32(5).done()) else {
                panic!("{dialect:?}")
            };
            assert_eq!((reply.id, reply.status.0, reply.body.len()), (9, 0, 4));
            let Message::LocateRequest(locate) = read(&Wire::locate(dialect, 3, b"k").done()) else {
                panic!("{dialect:?}")
            };
            assert_eq!((locate.id, locate.target.object_key().as_deref()), (3, Some(&b"k"[..])));
        }
    }
}
