//! What is measured: anything that answers requests from another process.
//!
//! A [`System`] has a server half, always in a process of its own, and a client half, a [`Client`]. Scenarios know
//! systems only through these two traits; whether the client runs in the measuring process (raw sockets, zorb: a
//! [`Local`] system) or is itself a process that takes commands (a foreign [peer](crate::peer), and where a scenario wants
//! it, one of ours) they do not see.
//!
//! What a client must do is to [prepare](Client::prepare) calls of a kind and to make [bursts](Client::burst) of them.
//! The other abilities have a default that says no; a scenario leaves out the systems that say it.

use std::fmt;
use std::net::SocketAddr;
use std::process::Command;
use std::str::FromStr;
use std::time::{Duration, Instant};

use zorb::transport::Spinning;
use zorb::transport::shm::Shm;

use crate::BenchError;
use crate::cube::Cube;
use crate::demux::Target;
use crate::firstcall::Phase;
use crate::flood::{Element, Flood, Flooded};
use crate::lab::Lab;

/// A system under test, or the bare socket beneath it.
pub trait System: Sync {
    /// Its name in results: `zorb`, `raw`, ….
    fn name(&self) -> &'static str;

    /// Its messaging protocol in results: `giop`, or `none`.
    fn messaging(&self) -> &'static str;

    /// What it goes by, whatever the run's other systems do; `None`: by what they do.
    fn transport(&self) -> Option<Transport> {
        None
    }

    /// The command that serves it until standard input closes, having printed `ready ADDRESS`.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`] or [`BenchError::Missing`], if there is no such command.
    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError>;

    /// Connects to what the server announced. A client that is a process runs on `processor`; one that is
    /// not, on the calling thread.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`] for a transport it does not have, otherwise whatever prevented it.
    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError>;

    /// The command of a client half of the same kind in a process of its own ([`crate::driver`]), where there is one.
    fn driver(&self, _lab: &Lab, _setting: &Setting, _address: &str) -> Option<Command> {
        None
    }

    /// How many bytes one call of this payload puts on the wire once the connection is warm.
    ///
    /// # Errors
    ///
    /// Whatever prevented the call.
    fn message_sizes(
        &self,
        _lab: &Lab,
        _setting: &Setting,
        _address: &str,
        payload: Payload,
    ) -> Result<MessageSizes, BenchError> {
        // Without a message format there is only the payload; a byte is the least that can be waited for.
        let size = payload.size().max(1);
        Ok(MessageSizes { request: size, reply: size })
    }
}

/// A system whose both halves are part of this program.
pub trait Local: System {
    /// Serves. Calls `while_serving` once with the address that clients need, and stops when that returns.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`] for a transport it does not have, otherwise whatever prevented it from serving.
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError>;
}

/// The client half, connected.
pub trait Client {
    /// The system's name.
    fn system(&self) -> &'static str;

    /// The process whose processor time is the client's; `None` if that is this one.
    fn process(&self) -> Option<u32> {
        None
    }

    /// Prepares calls of one kind, in place of those before. Allocations and fills happen here, outside the
    /// measured time.
    ///
    /// # Errors
    ///
    /// Whatever prevents such calls; [`BenchError::Unsupported`] if there are none.
    fn prepare(&mut self, call: Call) -> Result<(), BenchError>;

    /// Makes `calls` of the prepared calls, one after the other, and adds the time of each to `times`. Every reply is
    /// verified outside the measured time.
    ///
    /// # Errors
    ///
    /// A call failed, or a reply was wrong: [`BenchError::Corrupt`].
    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError>;

    /// The same, with `look` called twice outside the measured time: right before the first call, and when the server has
    /// executed the last. What the client asks of the server besides lies before and behind.
    ///
    /// # Errors
    ///
    /// As for [`Client::burst`].
    fn watched_burst(
        &mut self,
        calls: usize,
        times: &mut Vec<Duration>,
        look: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        look();
        self.burst(calls, times)?;
        look();
        Ok(())
    }

    /// Sends buffers one way until the receiver has confirmed that every one has arrived and was right.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`]; [`BenchError::Corrupt`] naming the first buffer that was wrong or is missing.
    fn flood(&mut self, _flood: Flood) -> Result<Flooded, BenchError> {
        Err(BenchError::unsupported(self.system(), "floods"))
    }

    /// Lets `callers` callers at once make calls of one kind for that long, as the system's users would.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`], or the first call that failed.
    fn callers(&mut self, _callers: u32, _time: Duration, _call: Call) -> Result<Completed, BenchError> {
        Err(BenchError::unsupported(self.system(), "many callers"))
    }

    /// The time of a null call that is the first on something, made anew. What is there must be prepared for the null
    /// call.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`], or whatever failed.
    fn first_call(&mut self, phase: Phase) -> Result<Duration, BenchError> {
        match phase {
            Phase::Connection => self.connect_anew(),
            Phase::Later => {
                let mut times = Vec::with_capacity(1);
                self.burst(1, &mut times)?;
                Ok(times.iter().sum())
            }
            Phase::Interface | Phase::Object => {
                let what = format!("first calls on a new {}", phase.name());
                Err(BenchError::unsupported(self.system(), what))
            }
        }
    }

    /// The time of so many null calls of an object that lives in the client's own process; the object has counted them.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`], or whatever failed.
    fn collocated(&mut self, _calls: u32) -> Result<Duration, BenchError> {
        Err(BenchError::unsupported(self.system(), "collocated calls"))
    }

    /// The time of a fresh connection with one null call on it, which is then closed.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`], or whatever failed.
    fn connect_anew(&mut self) -> Result<Duration, BenchError> {
        Err(BenchError::unsupported(self.system(), "fresh connections"))
    }

    /// Opens so many idle connections more; 0 closes all of them.
    ///
    /// # Errors
    ///
    /// [`BenchError::Unsupported`], or whatever failed.
    fn idle(&mut self, _connections: u32) -> Result<(), BenchError> {
        Err(BenchError::unsupported(self.system(), "idle connections"))
    }
}

/// Calls that many callers have completed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Completed {
    /// How many.
    pub calls: u64,
    /// In which time.
    pub elapsed: Duration,
}

/// Calls of one kind, one at a time: what a [`Local`] system's client makes its bursts of.
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

/// [`Client::burst`] of a [`Local`] system, with the exchange that it has prepared.
///
/// # Errors
///
/// Those of the exchange; [`BenchError::System`] if none was prepared.
pub fn burst(
    system: &'static str,
    exchange: Option<&mut (dyn Exchange + '_)>,
    calls: usize,
    times: &mut Vec<Duration>,
) -> Result<(), BenchError> {
    let unprepared =
        || BenchError::System { system, what: "a burst of calls that were not prepared".to_owned() };
    let exchange = exchange.ok_or_else(unprepared)?;
    for _ in 0..calls {
        let start = Instant::now();
        exchange.round_trip()?;
        let took = start.elapsed();
        exchange.verify()?;
        times.push(took);
    }
    Ok(())
}

/// How both halves of a system are set up: the same for all systems of a run. Its text is `KEY=VALUE` words, which
/// every server and driver takes as arguments (a peer's driver not where to listen). A scenario that needs more adds a field and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `transport=`: what messages travel over.
    pub transport: Transport,
    /// `queue=`: octets of the sockets' queues, each way; `None` leaves them to the system.
    pub queue: Option<usize>,
    /// `listen=`: where a server of our own listens by TCP; `None`: on the loopback interface.
    pub listen: Option<SocketAddr>,
    /// `spinning=`: how zorb's waits look before they sleep; `None`: as every program's.
    pub spinning: Option<Spinning>,
    /// `shm=`: how much memory zorb's connections over shared memory have; `None`: as every program's.
    pub memory: Option<SharedMemory>,
    /// `loans=`: zorb's clients give what they have written in memory that is lent over shared memory; `None`: what they have in memory of
    /// their own.
    pub loans: Option<Loans>,
    /// `gathered=`: so many of zorb's oneways leave at a time; `None`: each by itself.
    pub gathered: Option<u32>,
}

/// What the server does with what is lent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loans {
    /// Copies it once, as it trusts no peer.
    Copied,
    /// Reads it in place.
    Trusted,
}

impl Loans {
    fn name(self) -> &'static str {
        match self {
            Loans::Copied => "copied",
            Loans::Trusted => "trusted",
        }
    }
}

/// The memory of a connection over shared memory. Its text is `RING` or `RING+COUNTxSLAB`, in octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMemory {
    /// Octets of each ring.
    pub ring: usize,
    /// How many slabs each direction has, and octets of each.
    pub slabs: Option<(usize, usize)>,
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ring)?;
        self.slabs.map_or(Ok(()), |(count, octets)| write!(f, "+{count}x{octets}"))
    }
}

impl FromStr for SharedMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<SharedMemory, String> {
        SharedMemory::parse(text, |number| number.parse().ok())
    }
}

impl SharedMemory {
    /// Its text with numbers as `octets` reads them, of sizes that connections can have.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str, octets: impl Fn(&str) -> Option<usize>) -> Result<SharedMemory, String> {
        let (ring, slabs) = text.split_once('+').map_or((text, None), |(ring, slabs)| (ring, Some(slabs)));
        let wrong = || format!("{text:?} is no ring or ring and slabs such as 1M or 128K+4x1M");
        let slabs = slabs.map(|slabs| {
            let (count, size) = slabs.split_once('x').ok_or_else(wrong)?;
            Ok::<_, String>((count.parse().map_err(|_| wrong())?, octets(size).ok_or_else(wrong)?))
        });
        let memory = SharedMemory { ring: octets(ring).ok_or_else(wrong)?, slabs: slabs.transpose()? };
        memory.transport().map(|_| memory).map_err(|error| format!("{text:?}: {error}"))
    }

    /// A transport whose connections have it.
    pub(crate) fn transport(self) -> std::io::Result<Shm> {
        let shm = Shm::new().ring(self.ring)?;
        match self.slabs {
            Some((count, octets)) => shm.slabs(count, octets),
            None => Ok(shm.without_slabs()),
        }
    }
}

impl Setting {
    /// Over this transport, all else as the system has it.
    pub fn over(transport: Transport) -> Setting {
        Setting {
            transport,
            queue: None,
            listen: None,
            spinning: None,
            memory: None,
            loans: None,
            gathered: None,
        }
    }

    /// The words that say what differs from the defaults.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![format!("transport={}", self.transport.name())];
        words.extend(self.queue.map(|octets| format!("queue={octets}")));
        words.extend(self.listen.map(|address| format!("listen={address}")));
        words.extend(self.spinning.map(|spinning| format!("spinning={spinning}")));
        words.extend(self.memory.map(|memory| format!("shm={memory}")));
        words.extend(self.loans.map(|loans| format!("loans={}", loans.name())));
        words.extend(self.gathered.map(|messages| format!("gathered={messages}")));
        words
    }

    /// Reads what [`Setting::words`] gave.
    ///
    /// # Errors
    ///
    /// The word that is wrong, and what there is.
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Setting, String> {
        let mut setting = Setting::over(Transport::Tcp);
        for word in words {
            let wrong = |why: String| format!("{word:?}: {why}");
            match word.split_once('=') {
                Some(("transport", name)) => setting.transport = name.parse().map_err(wrong)?,
                Some(("queue", octets)) => {
                    let octets =
                        octets.parse().map_err(|_| wrong("expected a number of octets".to_owned()))?;
                    setting.queue = Some(octets);
                }
                Some(("listen", address)) => {
                    let address =
                        address.parse().map_err(|_| wrong("expected an address and port".to_owned()))?;
                    setting.listen = Some(address);
                }
                Some(("spinning", how)) => setting.spinning = Some(how.parse().map_err(wrong)?),
                Some(("shm", sizes)) => setting.memory = Some(sizes.parse().map_err(wrong)?),
                Some(("gathered", number)) => {
                    let number =
                        number.parse().map_err(|_| wrong("expected a number of messages".to_owned()))?;
                    setting.gathered = Some(number);
                }
                Some(("loans", how)) => {
                    let known = [Loans::Copied, Loans::Trusted].into_iter().find(|loans| loans.name() == how);
                    setting.loans =
                        Some(known.ok_or_else(|| wrong("expected copied or trusted".to_owned()))?);
                }
                _ => {
                    return Err(wrong(
                        "the keys are transport=, queue=, listen=, spinning=, shm=, loans= and gathered="
                            .to_owned(),
                    ));
                }
            }
        }
        Ok(setting)
    }
}

/// What one call carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// For systems with types: what is passed and returned.
    pub payload: Payload,
    /// For bare sockets: how many bytes the messages have.
    pub messages: MessageSizes,
}

/// An argument that is returned as the result. A further kind of call is a variant, with its word for
/// drivers; clients that do not know it answer [`BenchError::Unsupported`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Nothing either way: the null call.
    Null,
    /// A sequence of this many octets, echoed.
    Octets(usize),
    /// A sequence of so many `{ short; char; long; octet; double }`, echoed: zorb's own, for counting.
    Structs(usize),
    /// A sequence of this many octets, given away: a receipt comes back. With zorb's loans these are written in place.
    Given(usize),
    /// A value that comes back cubed.
    Cube(Cube),
    /// An operation without arguments, among many operations or of one of many objects.
    Demux(Target),
}

impl Payload {
    /// The payload's octets; 0 for the null call.
    pub fn size(self) -> usize {
        match self {
            Payload::Null | Payload::Demux(_) => 0,
            Payload::Octets(size) | Payload::Given(size) => size,
            Payload::Structs(number) => number * Element::Struct.size(),
            Payload::Cube(cube) => cube.size(),
        }
    }

    /// Its type's name in results.
    pub fn type_name(self) -> &'static str {
        match self {
            Payload::Null | Payload::Demux(_) => "null",
            Payload::Octets(_) => "octet",
            Payload::Structs(_) => Element::Struct.name(),
            Payload::Given(_) => "given",
            // What the call without arguments is called everywhere.
            Payload::Cube(Cube::Void) => "null",
            Payload::Cube(cube) => cube.type_name(),
        }
    }

    /// Its kind and size as a peer's driver understands them.
    pub fn words(self) -> String {
        match self {
            Payload::Null => "null 0".to_owned(),
            Payload::Octets(size) => format!("echo.octet {size}"),
            Payload::Structs(_) => format!("echo.struct {}", self.size()),
            Payload::Given(size) => format!("give.octet {size}"),
            Payload::Cube(cube) => format!("cube.{} {}", cube.type_name(), cube.size()),
            Payload::Demux(_) => "demux 0".to_owned(),
        }
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Payload::Null | Payload::Demux(_) => f.pad("null"),
            Payload::Octets(size) => f.pad(&octets_text(size)),
            Payload::Given(size) => f.pad(&format!("given {}", octets_text(size))),
            Payload::Structs(number) => f.pad(&format!("{number} structs")),
            Payload::Cube(cube @ (Cube::Octets(size) | Cube::Longs(size))) => {
                f.pad(&format!("{} {}", cube.type_name(), octets_text(size)))
            }
            Payload::Cube(cube) => f.pad(cube.type_name()),
        }
    }
}

/// A number of octets as people write it: in KiB or MiB where that is a whole number.
pub fn octets_text(octets: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match octets {
        octets if octets >= MIB && octets % MIB == 0 => format!("{} MiB", octets / MIB),
        octets if octets >= KIB && octets % KIB == 0 => format!("{} KiB", octets / KIB),
        octets => format!("{octets} B"),
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
    /// Unix stream sockets.
    Unix,
    /// Shared memory; the bare floor is a futex each way.
    Shm,
}

impl Transport {
    const ALL: [Transport; 3] = [Transport::Tcp, Transport::Unix, Transport::Shm];

    /// Its name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Unix => "unix",
            Transport::Shm => "shm",
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
    fn settings_travel_as_words() {
        let listen = Some("[::1]:4711".parse().unwrap());
        let spinning = Some(Spinning::none());
        let loans = Some(Loans::Trusted);
        let full = Setting {
            transport: Transport::Tcp,
            queue: Some(8192),
            listen,
            spinning,
            memory: None,
            loans,
            gathered: Some(64),
        };
        let memory = Some(SharedMemory { ring: 4096, slabs: Some((2, 8192)) });
        let over = Setting { memory, ..Setting::over(Transport::Shm) };
        for setting in [Setting::over(Transport::Tcp), full, over] {
            let words = setting.words();
            assert_eq!(Setting::of_words(words.iter().map(String::as_str)), Ok(setting));
        }
        assert_eq!(
            Setting::of_words(["transport=smoke"]).unwrap_err(),
            "\"transport=smoke\": expected tcp or unix or shm"
        );
        assert!(Setting::of_words(["queue=much"]).unwrap_err().contains("octets"));
        for wrong in ["shm=", "shm=4096+", "shm=4096+2", "shm=4097", "shm=4096+3x4096"] {
            assert!(Setting::of_words([wrong]).is_err(), "{wrong}");
        }
        assert!(Setting::of_words(["colour=red"]).unwrap_err().contains("the keys are"));
    }

    #[test]
    fn transports_by_name() {
        assert_eq!("tcp".parse(), Ok(Transport::Tcp));
        assert_eq!("unix".parse(), Ok(Transport::Unix));
        assert_eq!("smoke".parse::<Transport>(), Err("expected tcp or unix or shm".to_owned()));
    }
}
