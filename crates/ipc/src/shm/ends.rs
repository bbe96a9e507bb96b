//! How channels come about: acceptors and connectors at Unix addresses, and the two as generic code has them.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Mutex;
use std::time::Instant;

use rustix::event::PollFlags;

use super::closing::renamed;
use super::setup::Hello;
use super::stream::lock;
use super::{ShmOptions, ShmRole, ShmStream};
use crate::ready::Waiting;
use crate::{
    AcceptorOptions, Address, Epoll, Error, Interest, Step, StreamTransport, Trigger, Unix, UnixAcceptor,
    UnixAddress, UnixConnector,
};

/// Channels over shared memory, for generic code: [`StreamTransport`].
#[derive(Debug)]
pub enum Shm {}

/// Peers that have connected and not said yet what for, at the most. If there are more the one that has waited longest
/// goes: who means well says it with the connection, so that it waits for nothing.
const MOST_SILENT: usize = 64;

/// A Unix socket that listens, and yields a channel per peer.
///
/// Peers that connect and say nothing keep nobody: others are served before them. One that sets up something else than a
/// channel, or one with rings beyond [what is accepted](ShmOptions::largest_ring), is passed over.
pub struct ShmAcceptor {
    unix: UnixAcceptor,
    /// The acceptor, and the peers that have not spoken yet.
    set: Epoll,
    silent: Mutex<Vec<Silent>>,
    options: ShmOptions,
}

/// A peer that has not said all yet.
struct Silent {
    socket: crate::UnixStream,
    hello: Hello,
}

impl ShmAcceptor {
    /// Listens on `address`, as a Unix acceptor with these options does.
    ///
    /// # Errors
    /// As [`Acceptor::bind`](crate::Acceptor::bind).
    pub fn bind(
        address: UnixAddress,
        listening: &AcceptorOptions<Unix>,
        options: &ShmOptions,
    ) -> Result<Self, Error> {
        let unix = UnixAcceptor::bind(address, listening).map_err(renamed)?;
        let named = |error: Error| error.or_with(|| Address::Shm(unix.local().clone()));
        let set = Epoll::new().map_err(named)?;
        set.add(&unix, 0, Interest::RECEIVE, Trigger::Level).map_err(named)?;
        Ok(Self { unix, set, silent: Mutex::default(), options: options.clone() })
    }

    /// Where it listens, with what the system chose.
    pub fn local(&self) -> &UnixAddress {
        self.unix.local()
    }

    /// Takes the next peer, and waits for one until `deadline`.
    ///
    /// # Errors
    /// At [`Step::Accept`]: [`Error::is_timeout`]; [`Error::is_descriptors_exhausted`], which leaves the peer in the queue
    /// unless it had been accepted and only what it passes could not be received.
    pub fn accept_by(&self, deadline: Instant) -> Result<ShmStream, Error> {
        let mut waiting = Waiting::new(PollFlags::IN, Some(deadline));
        loop {
            match self.accept_now() {
                Err(error) if error.is_would_block() => {}
                done => return done,
            }
            match waiting.next(self.set.as_fd()) {
                Ok(Some(_)) => {}
                Ok(None) => return Err(self.naming(Error::out_of_time(Step::Accept))),
                Err(errno) => return Err(self.naming(Error::os(Step::Accept, errno))),
            }
        }
    }

    /// Takes the next peer if one is waiting.
    ///
    /// # Errors
    /// As [`accept_by`](Self::accept_by), with [`Error::is_would_block`] for a timeout.
    pub fn accept_now(&self) -> Result<ShmStream, Error> {
        let mut silent = lock(&self.silent);
        let mut at = 0;
        while at < silent.len() {
            match self.listen_to(&mut silent[at]) {
                Ok(false) => at += 1,
                Ok(true) => match self.channel(silent.remove(at)) {
                    Err(error) => self.pass_over(error)?,
                    done => return done,
                },
                Err(error) => {
                    silent.remove(at);
                    self.pass_over(error)?;
                }
            }
        }
        loop {
            let mut next =
                Silent { socket: self.unix.accept_now().map_err(renamed)?, hello: Hello::default() };
            match self.listen_to(&mut next) {
                Ok(true) => match self.channel(next) {
                    Err(error) => self.pass_over(error)?,
                    done => return done,
                },
                Ok(false) => {
                    if silent.len() == MOST_SILENT {
                        silent.remove(0);
                    }
                    let added = self.set.add(&next.socket, 1, Interest::RECEIVE, Trigger::Level);
                    added.map_err(|error| self.naming(error))?;
                    silent.push(next);
                }
                Err(error) => self.pass_over(error)?,
            }
        }
    }

    /// Whether a peer has said all.
    fn listen_to(&self, peer: &mut Silent) -> Result<bool, Error> {
        match peer.hello.receive(&peer.socket, Instant::now()) {
            Ok(()) => Ok(true),
            Err(error) if error.is_timeout() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn channel(&self, mut peer: Silent) -> Result<ShmStream, Error> {
        // It may not have been in the set.
        let _ = self.set.remove(&peer.socket);
        let memory = peer.hello.memory(&self.options)?;
        Ok(ShmStream::of(peer.socket, memory, ShmRole::Responder, &self.options))
    }

    /// What concerns one peer only is its own matter.
    fn pass_over(&self, error: Error) -> Result<(), Error> {
        if !error.is_descriptors_exhausted() {
            return Ok(());
        }
        let errno = rustix::io::Errno::from_raw_os_error(error.raw_os_error().unwrap_or_default());
        Err(self.naming(Error::os(Step::Accept, errno)))
    }

    fn naming(&self, error: Error) -> Error {
        error.with(Address::Shm(self.local().clone()))
    }
}

/// Becomes readable when there may be a peer to accept.
impl AsFd for ShmAcceptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.set.as_fd()
    }
}

impl fmt::Debug for ShmAcceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShmAcceptor").field("unix", &self.unix).finish_non_exhaustive()
    }
}

/// How to set channels up with who listens at a Unix address. Holds no descriptor.
#[derive(Clone, Debug, Default)]
pub struct ShmConnector {
    unix: UnixConnector,
    options: ShmOptions,
}

impl ShmConnector {
    /// With these options; the size of the rings is the connector's to choose.
    pub fn new(options: &ShmOptions) -> Self {
        Self { unix: UnixConnector::new(), options: options.clone() }
    }

    /// Connects to `address` by `deadline`. The channel may be used at once, whether it was accepted yet or not; one that
    /// the acceptor does not like is met as a connection that was reset.
    ///
    /// # Errors
    /// As [`Connector::connect`](crate::Connector::connect), and as [`ShmStream::over`].
    pub fn connect(&self, address: UnixAddress, deadline: Instant) -> Result<ShmStream, Error> {
        let named = |error: Error| renamed(error).or_with(|| Address::Shm(address.clone()));
        let socket = self.unix.connect(address.clone(), deadline).map_err(named)?;
        let stream = ShmStream::over(socket, ShmRole::Initiator, &self.options, deadline);
        stream.map_err(|refused| named(refused.into()))
    }
}

impl StreamTransport for Shm {
    type Address = UnixAddress;
    type Acceptor = ShmAcceptor;
    type Stream = ShmStream;

    fn listen(address: UnixAddress) -> Result<ShmAcceptor, Error> {
        ShmAcceptor::bind(address, &AcceptorOptions::new(), &ShmOptions::new())
    }

    fn address(acceptor: &ShmAcceptor) -> UnixAddress {
        acceptor.local().clone()
    }

    fn full_address(address: &UnixAddress) -> Address {
        Address::Shm(address.clone())
    }

    fn accept_by(acceptor: &ShmAcceptor, deadline: Instant) -> Result<ShmStream, Error> {
        acceptor.accept_by(deadline)
    }

    fn connect(address: UnixAddress, deadline: Instant) -> Result<ShmStream, Error> {
        ShmConnector::default().connect(address, deadline)
    }
}
