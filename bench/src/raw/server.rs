//! The far end of a socket without an ORB: echoes, and takes floods.
//!
//! ```text
//! preamble      | kind, u64 LE | a, u64 LE | b, u64 LE | c, u64 LE |
//!
//! round trips   kind 1, a = octets of a request, b = of a reply; until the connection ends:
//!               | request …   |  →
//!            ←  | reply …     |     the request's first octets, then zeros if it is longer
//!
//! flood         kind 2 or, framed, 3; a = element type, b = octets of a buffer, c = buffers
//!            ←  | 1 octet     |     ready: the clock may run
//!               | buffers …   |  →  framed each behind | length, u64 LE | number, u64 LE |
//!            ←  | executed, u32 LE | octets of a fault, u32 LE | the fault, text |
//!               then the next preamble
//! ```

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::QueueSizes;

use super::floor::Floor;
use super::queues;
use super::stream::{Side, Stream};
use crate::BenchError;
use crate::flood::{Element, Flood};
use crate::pattern::Checker;
use crate::system::Setting;

/// The largest message the server makes room for: above anything a scenario sends, and little enough
/// that a stray connection cannot take the machine's memory.
const LARGEST_MESSAGE: usize = 256 << 20;

/// Octets of a preamble.
pub(super) const PREAMBLE: usize = 32;

/// Octets of a buffer's head.
pub(super) const HEAD: usize = 16;

/// What a preamble asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preamble {
    /// Messages of these sizes go there and back.
    RoundTrips { request: usize, reply: usize },
    /// Buffers come.
    Flood { flood: Flood, framed: bool },
}

impl Preamble {
    pub(super) fn encode(self) -> [u8; PREAMBLE] {
        let words = match self {
            Preamble::RoundTrips { request, reply } => [1, request as u64, reply as u64, 0],
            Preamble::Flood { flood, framed } => {
                let element = Element::ALL.iter().position(|&element| element == flood.element);
                let element = element.map_or(u64::MAX, |at| at as u64);
                [2 + u64::from(framed), element, flood.octets as u64, flood.count.into()]
            }
        };
        let mut octets = [0; PREAMBLE];
        for (place, word) in octets.as_chunks_mut().0.iter_mut().zip(words) {
            *place = u64::to_le_bytes(word);
        }
        octets
    }

    /// `None` if it asks for what there is not, or for too much.
    fn decode(octets: &[u8; PREAMBLE]) -> Option<Preamble> {
        let mut words = octets.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        let [kind, a, b, c] = std::array::from_fn(|_| words.next().unwrap_or_default());
        let size = |size: u64| usize::try_from(size).ok().filter(|size| (1..=LARGEST_MESSAGE).contains(size));
        match kind {
            1 => Some(Preamble::RoundTrips { request: size(a)?, reply: size(b)? }),
            2 | 3 => {
                let element = *Element::ALL.get(usize::try_from(a).ok()?)?;
                let flood = Flood { element, octets: size(b)?, count: u32::try_from(c).ok()? };
                Some(Preamble::Flood { flood, framed: kind == 3 })
            }
            _ => None,
        }
    }
}

/// Accepts until `while_serving` returns.
pub(super) fn serve<S: Stream>(
    setting: &Setting,
    while_serving: &mut dyn FnMut(&str),
) -> Result<(), BenchError> {
    let place = S::Family::place(setting)?;
    let bind = if S::IS_TOLD { S::Family::bind_told } else { S::Family::bind };
    let acceptor = bind(place.clone(), queues(setting))
        .map_err(|error| BenchError::io(format!("listen on {place}"))(error.into()))?;
    let address = S::Family::reachable(&acceptor);
    let address = address.map_err(|error| BenchError::io("learn the listening address")(error.into()))?;
    let stopping = Arc::new(AtomicBool::new(false));
    let accepting = thread::spawn({
        let stopping = Arc::clone(&stopping);
        move || accept::<S>(&acceptor, &stopping)
    });
    while_serving(&address.to_string());
    stopping.store(true, Ordering::Relaxed);
    // The connection that wakes the acceptor; if it cannot be made, the acceptor has ended already.
    let soon = Instant::now() + Duration::from_secs(20);
    if S::Family::connect(address, QueueSizes::default(), soon).is_ok() {
        let _ = accepting.join();
    }
    Ok(())
}

fn accept<S: Stream>(acceptor: &<S::Family as Floor>::Acceptor, stopping: &AtomicBool) {
    while let Ok(handle) = S::Family::accept(acceptor) {
        if stopping.load(Ordering::Relaxed) {
            return;
        }
        // A connection's end is the normal end of its conversation, whatever the reason.
        thread::spawn(move || S::of(handle, Side::Server).and_then(converse));
    }
}

fn converse<S: Stream>(mut stream: S) -> io::Result<()> {
    let mut preamble = [0; PREAMBLE];
    loop {
        stream.receive_exact(&mut preamble)?;
        match Preamble::decode(&preamble) {
            None => return Ok(()),
            Some(Preamble::RoundTrips { request, reply }) => return echo(&mut stream, request, reply),
            Some(Preamble::Flood { flood, framed }) => {
                // Each page is written to before the clock runs: of a buffer of zeros the kernel would give them one by one
                // as they are received into.
                let buffer = vec![1; S::LEAD + flood.buffer()];
                stream.send_all(&[1])?;
                let checker = match framed {
                    false => take(&mut stream, flood, buffer)?,
                    true => take_framed(&mut stream, flood, buffer)?,
                };
                let fault = checker.fault().unwrap_or_default();
                let mut report = checker.executed().to_le_bytes().to_vec();
                report.extend((fault.len() as u32).to_le_bytes());
                report.extend(fault.as_bytes());
                stream.send_all(&report)?;
            }
        }
    }
}

fn echo(stream: &mut impl Stream, request: usize, reply: usize) -> io::Result<()> {
    let mut buffer = vec![0; request.max(reply)];
    loop {
        stream.receive_exact(&mut buffer[..request])?;
        stream.send_all(&buffer[..reply])?;
    }
}

fn take<S: Stream>(stream: &mut S, flood: Flood, mut buffer: Vec<u8>) -> io::Result<Checker> {
    let mut checker = Checker::new(flood);
    for _ in 0..flood.count {
        stream.receive_exact(&mut buffer)?;
        look(&mut checker, flood, &buffer[S::LEAD..]);
    }
    Ok(checker)
}

fn take_framed(stream: &mut impl Stream, flood: Flood, mut buffer: Vec<u8>) -> io::Result<Checker> {
    let mut checker = Checker::new(flood);
    let (mut head, mut next) = ([0; HEAD], [0; HEAD]);
    let mut known = 0;
    for number in 0..flood.count {
        stream.receive_exact(&mut head[known..])?;
        let length = head.first_chunk().map_or(0, |&length| u64::from_le_bytes(length));
        let length = usize::try_from(length).ok().filter(|&length| length <= LARGEST_MESSAGE);
        buffer.resize(length.ok_or(io::ErrorKind::InvalidData)?, 0);
        // Behind the last buffer comes no head, but perhaps the next preamble.
        let room = if number + 1 < flood.count { HEAD } else { 0 };
        known = stream.receive_framed(&mut buffer, &mut next[..room])?;
        head[..known].copy_from_slice(&next[..known]);
        look(&mut checker, flood, &buffer);
    }
    Ok(checker)
}

fn look(checker: &mut Checker, flood: Flood, buffer: &[u8]) {
    let size = flood.element.size();
    checker.take(flood.element, buffer.len() / size, |at, number| {
        flood.element.holds(number, &buffer[at * size..][..size])
    });
}
