//! What octets say, by zorb's own reader: what a peer may make of a mutation, and what a server said to one.

use zorb::giop::{Inbound, Limits, Message, ProtocolError};
use zorb_tests::hearing::hear;
use zorb_tests::wire::{Order, Wire, request_id};

/// The messages in some octets.
pub(crate) struct Heard {
    pub(crate) messages: Vec<Message>,
    /// What is wrong behind them.
    pub(crate) error: Option<ProtocolError>,
    /// The beginning of another message lies behind them.
    is_incomplete: bool,
}

impl Heard {
    pub(crate) fn in_octets(octets: &[u8]) -> Heard {
        let mut limits = Limits::default();
        limits.max_message = 1 << 20;
        let mut inbound = Inbound::new(limits);
        let mut messages = Vec::new();
        let error = hear(&mut inbound, octets, usize::MAX, &mut messages).err();
        Heard { messages, is_incomplete: error.is_none() && inbound.is_incomplete(), error }
    }

    /// Whether a server goes on reading behind them: they are whole, and a client's.
    pub(crate) fn others_may_follow(&self) -> bool {
        let is_clients = |message: &Message| {
            matches!(message, Message::Request(_) | Message::LocateRequest(_) | Message::CancelRequest { .. })
        };
        self.error.is_none() && !self.is_incomplete && self.messages.iter().all(is_clients)
    }
}

/// The messages that a server said, which must be GIOP and a server's.
pub(crate) fn answers_in(octets: &[u8], what: &str) -> Vec<Message> {
    let heard = Heard::in_octets(octets);
    assert!(heard.error.is_none(), "{what}: the server's answer is no GIOP: {:?}", heard.error);
    let is_clients = |message: &Message| matches!(message, Message::Request(_) | Message::LocateRequest(_));
    assert!(!heard.messages.iter().any(is_clients), "{what}: {:?}", heard.messages);
    heard.messages
}

/// Takes the first message out of `octets`, once it is whole.
pub(crate) fn take_message(octets: &mut Vec<u8>) -> Option<Vec<u8>> {
    let size: [u8; 4] = octets.get(8..12)?.try_into().expect("four octets");
    let little = octets[6] & 1 == 1;
    let size = if little { u32::from_le_bytes(size) } else { u32::from_be_bytes(size) };
    let end = 12 + size as usize;
    (octets.len() >= end).then(|| octets.drain(..end).collect())
}

/// The system exception `NO_MEMORY` in answer to `request`.
pub(crate) fn no_memory(request: &[u8]) -> Vec<u8> {
    let order = if request[6] & 1 == 1 { Order::Little } else { Order::Big };
    let reply = Wire::reply((request[5], order), request_id(request).unwrap_or(0), 2);
    reply.string("IDL:omg.org/CORBA/NO_MEMORY:1.0").u32(1).u32(1).done()
}
