//! A messaging protocol of one's own: heads that people can read, in front of the same CDR bodies as GIOP's.
//!
//! ```text
//! 0      4      8
//! call │ size │ 7 3 a5b6c7 greet ⏎ │ arguments          id, response flags, object key, operation
//! done │ size │ 7 0 ⏎ │ result                          id, reply status
//! drop │ size │ 7 ⏎                                     nobody waits for reply 7 any more
//! bye. │ size                                           nothing more will come
//! huh? │ size                                           what came made no sense
//! ```
//!
//! The size is the whole message's. Lines are filled up with spaces to a multiple of 8, where bodies begin. Both ends have the same byte
//! order here; a protocol for others would say it.

use std::fmt::Write;

use zorb::cdr::{Body, ByteOrder, CodeSets, EncodeError, EncodeErrorKind, Encoder, Format, Segment, Version};
use zorb::giop::{
    Addressing, Limits, Message, Messaging, Parser, ProtocolError, ReceiveBuffer, Reply, ReplyHead,
    ReplyStatus, Request, RequestHead, ResponseFlags, ServiceContexts, Target,
};

/// Octets in front of the line.
const START: usize = 8;

/// The longest line that is read: keys are some dozen octets, names are limited by themselves.
const LONGEST: usize = 4096;

#[derive(Debug)]
pub(crate) struct Text;

impl Messaging for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn begins(&self, first: [u8; 4]) -> bool {
        // A client's first message; from a server nothing else comes first either than what answers one.
        [*b"call", *b"drop", *b"bye.", *b"huh?"].contains(&first)
    }

    fn format(&self) -> Option<Format> {
        Some(Format { version: Version::V1_2, code_sets: CodeSets::UNICODE })
    }

    fn begin_request(&self, to: &mut Encoder<'_>, head: &RequestHead<'_>) -> Result<(), EncodeError> {
        let Addressing::ObjectKey(key) = head.target else {
            return Err(EncodeError::new(EncodeErrorKind::Invalid("objects are named by keys"), "target"));
        };
        let mut hex = String::new();
        for octet in key {
            let _ = write!(hex, "{octet:02x}");
        }
        begin(to, b"call", &format!("{} {} {hex} {}", head.id, head.response.0, head.operation));
        Ok(())
    }

    fn begin_reply(&self, to: &mut Encoder<'_>, head: &ReplyHead<'_>) -> Result<(), EncodeError> {
        begin(to, b"done", &format!("{} {}", head.id, head.status.0));
        Ok(())
    }

    fn finish(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let size = u32::try_from(to.len())
            .map_err(|_| EncodeError::new(EncodeErrorKind::TooLong(to.len()), "message"))?;
        to.set_u32(4, size);
        Ok(())
    }

    fn cancel_request(&self, to: &mut Encoder<'_>, id: u32) {
        begin(to, b"drop", &id.to_string());
        let size = u32::try_from(to.len()).unwrap_or(u32::MAX);
        to.set_u32(4, size);
    }

    fn close_connection(&self, _: Version) -> Vec<u8> {
        last_word(b"bye.")
    }

    fn message_error(&self, _: Version) -> Vec<u8> {
        last_word(b"huh?")
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::new(Reader)
    }
}

fn begin(to: &mut Encoder<'_>, word: &[u8; 4], line: &str) {
    let end = (START + line.len() + 1).next_multiple_of(8);
    to.write_octets(word);
    to.write_octets(&[0; 4]);
    to.write_octets(format!("{line:<width$}\n", width = end - START - 1).as_bytes());
}

fn last_word(word: &[u8; 4]) -> Vec<u8> {
    [*word, 8u32.to_ne_bytes()].concat()
}

/// Reads a connection. It keeps nothing: each message stands for itself.
struct Reader;

impl Parser for Reader {
    fn next(&mut self, from: &mut ReceiveBuffer, limits: &Limits) -> Result<Option<Message>, ProtocolError> {
        let Some(size) = self.size(from.unparsed()) else { return Ok(None) };
        if size < START || size > limits.max_message {
            return Err(wrong("size", 4));
        }
        if from.unparsed().len() < size {
            // So that a large message is received into one memory.
            from.expect(size);
            return Ok(None);
        }
        let message = message(from, size, limits)?;
        from.take(size);
        Ok(Some(message))
    }

    fn size(&self, octets: &[u8]) -> Option<usize> {
        let size = octets.get(4..).and_then(|rest| rest.first_chunk())?;
        usize::try_from(u32::from_ne_bytes(*size)).ok()
    }
}

fn message(from: &ReceiveBuffer, size: usize, limits: &Limits) -> Result<Message, ProtocolError> {
    let octets = &from.unparsed()[..size];
    match &octets[..4] {
        b"bye." => return Ok(Message::CloseConnection),
        b"huh?" => return Ok(Message::MessageError),
        _ => {}
    }
    let line = &octets[START..size.min(START + LONGEST)];
    let length = line.iter().position(|octet| *octet == b'\n').ok_or(wrong("line", START))?;
    let line = std::str::from_utf8(&line[..length]).map_err(|_| wrong("line", START))?;
    let mut words = line.split_whitespace();
    let mut word = |what| words.next().ok_or(wrong(what, START));
    let number = |text: &str, what| text.parse::<u32>().map_err(|_| wrong(what, START));
    let id = number(word("id")?, "id")?;
    let at = START + length + 1;
    // What is kept of the message is a range of the memory that it was received into.
    let body = match at < size {
        true => Body::one(Segment { octets: from.share(at, size - at), phase: 0 }, ByteOrder::NATIVE),
        false => Body::empty(),
    };
    let (version, contexts) = (Version::V1_2, ServiceContexts::new());
    match &octets[..4] {
        b"call" => {
            let response =
                u8::try_from(number(word("flags")?, "flags")?).map_err(|_| wrong("flags", START))?;
            let target = Target::ObjectKey(unhex(word("object key")?)?.into());
            let operation = word("operation")?;
            if operation.len() >= limits.max_operation {
                return Err(wrong("operation", START));
            }
            let operation = operation.as_bytes().into();
            let response = ResponseFlags(response);
            Ok(Message::Request(Request {
                version,
                id,
                response,
                target,
                contexts,
                body,
                operation,
                number: None,
            }))
        }
        b"done" => {
            let status = ReplyStatus(number(word("status")?, "status")?);
            Ok(Message::Reply(Reply { version, id, status, by_number: false, contexts, body }))
        }
        b"drop" => Ok(Message::CancelRequest { id }),
        _ => Err(wrong("word", 0)),
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, ProtocolError> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect::<Option<_>>().ok_or(wrong("object key", START))
}

fn wrong(what: &'static str, at: usize) -> ProtocolError {
    ProtocolError::NotUnderstood { protocol: "text", what, at }
}
