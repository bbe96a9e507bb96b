//! The floor: sockets that move given numbers of bytes and do nothing else.
//!
//! Five ways, over the same connection (TCP with `TCP_NODELAY`, a Unix socket, or shared memory with a futex each way) and with the same conversation:
//!
//! * [`Raw::Plain`], what every ratio is to: a loop of `write`, a loop of `read`.
//! * [`Raw::Spinning`]: both sides look again and again and never sleep, so that a round trip over two processors has no wake-up
//!   in it.
//! * [`Raw::Equal`]: plain, over sockets that were told what zorb tells its own.
//! * [`Raw::Framed`]: each buffer of a flood has a head with its length, as a message has, which leaves with it in one
//!   gathered write; the receiver learns from the head how much to read, and asks for the next head together
//!   with the rest of a body.
//! * [`Raw::Ipc`]: plain again, through `zorb_ipc`'s typed handles.
//!
//! A round trip is one `write` and as many `read`s as it takes, on each side, with no `poll` and no other thread: the
//! fewest system calls in which these bytes can go there and back between two processes that sleep while they
//! wait. `stream` has the loops, `server` the far end and the conversation drawn.

mod client;
mod equal;
mod floor;
mod memory;
mod server;
mod spinning;
mod stream;

use std::process::Command;
use std::time::{Duration, Instant};

use zorb_ipc::{QueueSizes, Tcp, Unix};

use crate::BenchError;
use crate::lab::Lab;
use crate::system::{Client, Local, Setting, System, Transport};
#[cfg(test)]
pub(crate) use equal::HEAD;
use floor::Floor;

/// A socket without an ORB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    /// A plain loop of `write` and `read`.
    Plain,
    /// The plain loop over sockets with the options of zorb's.
    Equal,
    /// The same with a head before each buffer. Floods only: a round trip's messages are as long as zorb's anyhow.
    Framed,
    /// The plain loop through typed handles.
    Ipc,
    /// The plain loop of both sides without sleeping. Round trips only.
    Spinning,
}

impl Raw {
    /// All of them, the floor first.
    pub const ALL: [Raw; 5] = [Raw::Plain, Raw::Equal, Raw::Framed, Raw::Ipc, Raw::Spinning];
}

impl System for Raw {
    fn name(&self) -> &'static str {
        match self {
            Raw::Plain => "raw",
            Raw::Equal => "raw-equal",
            Raw::Framed => "framed",
            Raw::Ipc => "ipc",
            Raw::Spinning => "spin",
        }
    }

    fn messaging(&self) -> &'static str {
        match self {
            Raw::Framed => "head",
            Raw::Plain | Raw::Equal | Raw::Ipc | Raw::Spinning => "none",
        }
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        if (self, setting.transport) == (&Raw::Equal, Transport::Shm) {
            return Err(BenchError::unsupported(self.name(), "shared memory, which has no options"));
        }
        Ok(lab.own_server(self.name(), setting))
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        _processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        match setting.transport {
            Transport::Tcp => self.client::<Tcp>(lab, setting, address),
            Transport::Unix => self.client::<Unix>(lab, setting, address),
            Transport::Shm => self.client::<floor::Shm>(lab, setting, address),
        }
    }

    fn driver(&self, lab: &Lab, setting: &Setting, address: &str) -> Option<Command> {
        Some(lab.own_driver(self.name(), address, setting))
    }
}

impl Local for Raw {
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        match setting.transport {
            Transport::Tcp => self.serve_over::<Tcp>(setting, while_serving),
            Transport::Unix => self.serve_over::<Unix>(setting, while_serving),
            Transport::Shm => self.serve_over::<floor::Shm>(setting, while_serving),
        }
    }
}

impl Raw {
    fn client<F: Floor>(
        self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
    ) -> Result<Box<dyn Client>, BenchError> {
        let address = address.parse().map_err(|_| BenchError::System {
            system: self.name(),
            what: format!("{address:?} is no address to connect to"),
        })?;
        let to = Target { address, queues: queues(setting), patience: lab.patience };
        Ok(match self {
            Raw::Plain | Raw::Framed => Box::new(client::RawClient::<F::Bare>::new(self, to)),
            Raw::Equal => Box::new(client::RawClient::<F::Equal>::new(self, to)),
            Raw::Ipc => Box::new(client::RawClient::<F::Typed>::new(self, to)),
            Raw::Spinning => Box::new(client::RawClient::<F::Spinning>::new(self, to)),
        })
    }

    fn serve_over<F: Floor>(
        self,
        setting: &Setting,
        while_serving: &mut dyn FnMut(&str),
    ) -> Result<(), BenchError> {
        match self {
            Raw::Plain | Raw::Framed => server::serve::<F::Bare>(setting, while_serving),
            Raw::Equal => server::serve::<F::Equal>(setting, while_serving),
            Raw::Ipc => server::serve::<F::Typed>(setting, while_serving),
            Raw::Spinning => server::serve::<F::Spinning>(setting, while_serving),
        }
    }
}

/// Where to connect to, and how.
#[derive(Debug)]
struct Target<F: Floor> {
    address: F::At,
    queues: QueueSizes,
    /// How long any single transfer of a flood may take.
    patience: Duration,
}

impl<F: Floor> Clone for Target<F> {
    fn clone(&self) -> Self {
        Target { address: self.address.clone(), queues: self.queues, patience: self.patience }
    }
}

impl<F: Floor> Target<F> {
    fn connect(&self, is_told: bool) -> Result<F::Handle, BenchError> {
        const WITHIN: Duration = Duration::from_secs(20);
        let connect = if is_told { F::connect_told } else { F::connect };
        connect(self.address.clone(), self.queues, Instant::now() + WITHIN)
            .map_err(|error| BenchError::io(format!("connect to {}", self.address))(error.into()))
    }
}

fn queues(setting: &Setting) -> QueueSizes {
    QueueSizes { send: setting.queue, receive: setting.queue }
}

#[cfg(test)]
mod tests;
