//! Typed handles on what the operating system offers between processes.
//!
//! A raw socket is an integer on which every call compiles: reading from a listener, accepting on a
//! connection, using a socket that was never bound. Here each *role* is a type of its own, holds an owned
//! descriptor, and has only the calls that make sense for it:
//!
//! | type | what it can do |
//! |---|---|
//! | [`TcpAcceptor`] | listen on an address, and yield a [`TcpStream`] per peer |
//! | [`TcpConnector`] | hold how to connect, and yield a [`TcpStream`] by a deadline |
//! | [`TcpStream`] | send and receive: it is connected from the moment it exists |
//! | [`DatagramSocket`], [`ConnectedDatagramSocket`] | send and receive datagrams, one or many at a time |
//! | [`BroadcastSocket`] | send to everybody on a network |
//! | [`MulticastReceiver`], [`MulticastSender`] | receive and send what is for a group |
//! | [`SeqpacketAcceptor`], [`SeqpacketConnector`], [`Seqpacket`] | as streams, of messages that stay whole |
//! | [`PipeReader`], [`PipeWriter`], [`Fifo`] | octets in one direction, without and with a file |
//! | [`SpliceStream`], [`Pages`] | octets that go on without being copied |
//! | [`Memfd`], [`SizedMemfd`], [`SealedMemfd`] | memory to pass on: nothing, its size, all is final |
//! | [`Segment`], [`SealedBytes`] | such memory in place: others may write it, nobody can |
//! | [`ShmAcceptor`], [`ShmConnector`], [`ShmStream`] | streams over shared memory: no system call while both sides are awake |
//! | [`EventCounter`], [`EventSemaphore`] | numbers to wait on that are taken whole, or by one |
//! | [`Timer`], [`WallClockTimer`] | expire once or again and again |
//! | [`PrivateFutex`], [`SharedFutex`] | wait on a word of memory, and wake who does |
//! | [`VsockAcceptor`], [`VsockConnector`], [`VsockStream`] | the same between a virtual machine and its host |
//! | [`SocketOption`] | what can be set on a socket, each a type: [`NoDelay`], [`KeepAlive`], [`SendQueue`], … |
//! | [`ZeroCopyStream`] | send memory without copying it, and get it back |
//! | [`Credentials`] | who is at the other end of a [`UnixStream`], as the kernel vouches for it |
//! | [`Resolver`], [`resolve`], [`resolve_address`] | turn a host name into all of its addresses |
//! | [`Epoll`], [`Wake`] | wait for many descriptors at once, and be woken by another thread |
//! | [`Address`] | any of these addresses as text: `tcp:127.0.0.1:2809` |
//! | [`ReservedPort`] | keep a TCP port that nobody is to reach |
//! | [`host_name`], [`interfaces`], [`reachable_address`], [`is_own_address`] | what this machine calls itself to others |
//! | [`allowed_cores`], [`pin_to_core`] | where the calling thread runs |
//! | [`BiasedSlots`] | keep what one thread uses all the time, and others take away seldom |
//! | [`cycles`] | the processor's cycle counter |
//! | [`system_calls`] | how many of them this crate has made |
//!
//! ```
//! use std::io::IoSlice;
//! use std::time::{Duration, Instant};
//! use zorb_ipc::{AcceptorOptions, TcpAcceptor, TcpStream};
//!
//! # fn main() -> Result<(), zorb_ipc::Error> {
//! let deadline = Instant::now() + Duration::from_secs(5);
//! let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new())?;
//! let client = TcpStream::connect(acceptor.local_address(), deadline)?;
//! let server = acceptor.accept_by(deadline)?;
//!
//! client.send_all(&mut [IoSlice::new(b"hello, "), IoSlice::new(b"world")], deadline)?;
//! let mut text = [0; 12];
//! server.receive_exact(&mut text, deadline)?;
//! assert_eq!(&text, b"hello, world");
//! # Ok(())
//! # }
//! ```
//!
#![doc = include_str!("guide.md")]
//! # What does not compile
//!
//! A hundred misuses are tried by the crate's tests, each with what the compiler says of it; here are some.
//!
//! A listener cannot be read:
//!
//! ```compile_fail,E0599
//! # fn wrong(acceptor: &zorb_ipc::TcpAcceptor) {
//! let mut buffer = [0; 16];
//! acceptor.receive(&mut buffer); // no method `receive`
//! # }
//! ```
//!
//! nor written:
//!
//! ```compile_fail,E0599
//! # fn wrong(acceptor: &zorb_ipc::TcpAcceptor) {
//! acceptor.send(&[std::io::IoSlice::new(b"hello")]); // no method `send`
//! # }
//! ```
//!
//! A stream cannot accept:
//!
//! ```compile_fail,E0599
//! # fn wrong(stream: &zorb_ipc::TcpStream) {
//! stream.accept(); // no method `accept`
//! # }
//! ```
//!
//! A connector is not connected, so there is nothing to send through:
//!
//! ```compile_fail,E0599
//! # fn wrong(connector: &zorb_ipc::TcpConnector) {
//! connector.send(&[std::io::IoSlice::new(b"hello")]); // no method `send`
//! # }
//! ```
//!
//! A stream cannot be made without a peer, nor an address without a port:
//!
//! ```compile_fail,E0599
//! let stream = zorb_ipc::TcpStream::new(); // no function `new`
//! ```
//!
//! ```compile_fail,E0308
//! # fn wrong(deadline: std::time::Instant) {
//! let host: std::net::IpAddr = [127, 0, 0, 1].into();
//! zorb_ipc::TcpStream::connect(host, deadline); // a `SocketAddr` has a port, an `IpAddr` has none
//! # }
//! ```
//!
//! Connecting says until when it may take:
//!
//! ```compile_fail,E0061
//! # fn wrong(address: std::net::SocketAddr) {
//! zorb_ipc::TcpStream::connect(address); // an argument of type `Instant` is missing
//! # }
//! ```
//!
//! A closed handle cannot be used:
//!
//! ```compile_fail,E0382
//! # fn wrong(stream: zorb_ipc::TcpStream) {
//! drop(stream);
//! stream.shutdown_send(); // `stream` was moved
//! # }
//! ```
//!
//! # What holds everywhere
//!
//! * Descriptors are close-on-exec from birth and closed when their handle is dropped, on every path.
//! * Writing to a connection whose peer has gone is an error, never `SIGPIPE`. Three exceptions, since the
//!   system has no flag for them: splicing, gifts of pages, and before Linux 6.18 sending into pipes. Rust
//!   programs ignore the signal from their start; others that use these have to.
//! * A call interrupted by a signal is resumed.
//! * A descriptor that came from elsewhere becomes a handle by `adopt`, which looks at what it is first, says
//!   what it found if that is something else, and then gives it back. `as_fd` lends a handle's descriptor to
//!   any other call; `OwnedFd::from` gives it up.
//! * Streams are in blocking mode; the calls that must not block end in `_now`. Deadlines are absolute, so
//!   that many short transfers cannot add up to an endless one.
//! * Sending and receiving are one system call with nothing around it: no allocation, no lock, no copy. Over shared
//!   memory they are a copy and, where the other side sleeps, one system call.
//!
//! # Portability
//!
//! On Linux the crate is whole. Elsewhere the same types serve for what there is:
//!
//! | | Linux | FreeBSD, macOS, NetBSD, illumos |
//! |---|---|---|
//! | TCP and Unix streams, generic code over them, addresses, name lookup | yes | yes |
//! | [`NoDelay`], [`KeepAlive`], [`Linger`], [`SendQueue`], [`ReceiveQueue`] | yes | yes |
//! | UDP and Unix datagrams, with and without a peer | yes | yes, but for many at once and for reports of what could not be delivered, which are asked for in Linux's form |
//! | broadcast, multicast | yes | no: interfaces and sources of groups are asked for in Linux's form |
//! | pipes and FIFOs | yes | yes, but for capacities, splicing and pages that are given away, which are Linux's own |
//! | the other options, timestamps, [`ZeroCopyStream`] | yes | no: Linux's own |
//! | descriptor passing, [`Credentials`], messages that stay whole | yes | no: received here in Linux's form |
//! | abstract names of Unix sockets | yes | no: an error where one is used |
//! | memory to pass on, [`Segment`], events, timers, futexes, adopting descriptors | yes | no: Linux's own |
//! | [`ShmStream`] | yes | no: sealed memory and futexes are Linux's own |
//! | [`Epoll`], [`Wake`], [`VsockStream`], [`interfaces`], [`reachable_address`], [`pin_to_core`] | yes | no: Linux's own |
//! | an interface by its name in the text of a [`MulticastGroup`] | yes | no: by its number |
//!
//! Behind the same calls some answers differ. A queue that is larger than the system allows is clipped by
//! Linux, and an error on the BSDs. A Unix acceptor whose queue is full lets further peers wait on Linux, and
//! refuses them on the BSDs. Of a datagram that was cut Linux tells the whole length, the others only that it was
//! ([`Error::whole_length`] is `None`). An interface's full queue drops a UDP datagram in silence on Linux, and is
//! told on the BSDs ([`Error::is_memory_exhausted`]). Sending into a pipe that nobody reads raises `SIGPIPE` besides
//! the error, and a [`Fifo`] that nobody has opened to write may read as one that has ended. macOS makes a
//! descriptor close-on-exec only after the fact: a program that another thread starts in between inherits it.
//!
//! The project's tests run on Linux alone. For the others the compiler checks the source, in each run of the project's
//! tests: `cargo check -p zorb-ipc --target` with `x86_64-unknown-freebsd`, `aarch64-apple-darwin`,
//! `x86_64-unknown-netbsd` and `x86_64-unknown-illumos`, each added by `rustup target add`.
//!
//! # Dependencies
//!
//! `rustix`: system calls on owned and borrowed descriptors. It carries the unsafe code, reviewed and used
//! widely; this crate denies it except where a module states its reason: reading the cycle counter, mapping
//! memory and copying to and from it, giving pages to a pipe, moving room for events to another thread, sharing values without a lock
//! ([`BiasedSlots`]), and the few calls that rustix lacks. For these
//! there is `libc`, on macOS to make FIFOs, and on Linux: receiving credentials, times and completions beside a message (rustix has the
//! first, but takes each process for one that has a number here), options that it does not know, the
//! addresses of vsock, many datagrams by one call and what came back of them.

#![deny(unsafe_code)]
// An argument is about one thing.
#![warn(clippy::multiple_unsafe_ops_per_block)]

mod address;
#[cfg(target_os = "linux")]
mod adopt;
mod biased;
#[cfg(target_os = "linux")]
mod control;
#[cfg(not(target_os = "linux"))]
#[path = "control_elsewhere.rs"]
mod control;
#[cfg(target_os = "linux")]
mod cores;
mod counts;
mod cycles;
mod datagram;
#[cfg(target_os = "linux")]
mod epoll;
mod error;
#[cfg(target_os = "linux")]
mod eventfd;
#[cfg(target_os = "linux")]
mod futex;
mod generic;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod interfaces;
#[cfg(target_os = "linux")]
mod kind;
#[cfg(target_os = "linux")]
mod memory;
mod named_file;
mod options;
mod pipe;
mod portable;
mod ready;
mod refused;
mod reserved;
mod resolve;
mod resolver;
mod sent;
#[cfg(target_os = "linux")]
mod shm;
#[cfg(target_os = "linux")]
mod spinning;
mod stream;
mod tcp;
#[cfg(target_os = "linux")]
mod timer;
mod udp;
mod unix;
#[cfg(target_os = "linux")]
mod vsock;
#[cfg(target_os = "linux")]
mod wake;
#[cfg(target_os = "linux")]
mod zerocopy;

pub use address::{Address, AddressParseError, LONGEST_UNIX_NAME, MulticastGroup, UnixAddress, VsockAddress};
pub use biased::{BiasedSlot, BiasedSlots, InUse, SlotsOwner};
#[cfg(target_os = "linux")]
pub use cores::{allowed_cores, pin_to_core};
pub use counts::{SystemCalls, system_calls, system_calls_of_thread};
pub use cycles::cycles;
#[cfg(target_os = "linux")]
pub use datagram::{BatchedDatagram, Outgoing, ReceiveBatch, SendBatch};
pub use datagram::{ConnectedDatagramSocket, DatagramFamily, DatagramSocket, Received, Sender};
#[cfg(target_os = "linux")]
pub use epoll::{Epoll, Event, Events, Interest, Trigger};
pub use error::{Error, Step};
#[cfg(target_os = "linux")]
pub use eventfd::{EventCounter, EventSemaphore};
#[cfg(target_os = "linux")]
pub use futex::{Futex, FutexScope, Private, PrivateFutex, Shared, SharedFutex, Waited};
pub use generic::{ByteStream, StreamTransport};
#[cfg(target_os = "linux")]
pub use host::{host_name, is_own_address, reachable_address};
#[cfg(target_os = "linux")]
pub use interfaces::{Interface, interfaces};
#[cfg(target_os = "linux")]
pub use memory::{Memfd, SealedBytes, SealedMemfd, Segment, SegmentOptions, SizedMemfd};
#[cfg(target_os = "linux")]
pub use options::{
    BusyPoll, CongestionControl, Cork, IncomingCore, LargestWindow, MaximumSegment, PeakRate, Priority,
    QuickAck, ReceiveTimestamps, ReceiveWindow, Stamped, TypeOfService, UserTimeout,
};
pub use options::{KeepAlive, Linger, NoDelay, Probes, ReceiveQueue, SendQueue, SocketFact, SocketOption};
pub use pipe::{Fifo, PipeReader, PipeWriter, pipe};
#[cfg(target_os = "linux")]
pub use pipe::{Pages, SpliceFile, SpliceStream};
pub use ready::wait_readable;
pub use refused::Refused;
pub use reserved::ReservedPort;
pub use resolve::{resolve, resolve_address};
pub use resolver::{Resolver, ResolverOptions};
pub use sent::Sent;
#[cfg(target_os = "linux")]
pub use shm::{
    Armed, LentBytes, Loan, Loaned, Loans, RingSize, Shm, ShmAcceptor, ShmConnector, ShmOptions, ShmRole,
    ShmStream, Slabs, TrustedPeers,
};
#[cfg(target_os = "linux")]
pub use spinning::{Asleep, Looked, Spinner, Spinners, Spinning};
pub use stream::{
    Acceptor, AcceptorOptions, Completion, Connecting, Connector, Idle, QueueSizes, Stream, StreamFamily,
};
pub use tcp::{Tcp, TcpAcceptor, TcpConnector, TcpStream};
#[cfg(target_os = "linux")]
pub use timer::{Expired, OnClockChange, Timer, WallClockTimer};
#[cfg(target_os = "linux")]
pub use udp::{BroadcastSocket, MulticastReceiver, MulticastSender};
pub use udp::{ConnectedUdpSocket, Udp, UdpSocket};
pub use unix::{ConnectedUnixDatagramSocket, UnixDatagram, UnixDatagramSocket};
#[cfg(target_os = "linux")]
pub use unix::{
    Credentials, Passed, ReceiveCredentials, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions,
    SeqpacketConnector,
};
pub use unix::{Unix, UnixAcceptor, UnixConnector, UnixStream};
#[cfg(target_os = "linux")]
pub use vsock::{Vsock, VsockAcceptor, VsockConnector, VsockStream};
#[cfg(target_os = "linux")]
pub use wake::Wake;
#[cfg(target_os = "linux")]
pub use zerocopy::{Completed, StableOctets, ZeroCopyStream};
