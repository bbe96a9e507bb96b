//! The floor: sockets that move given numbers of bytes and do nothing else.
//!
//! Three ways, over the same connection (TCP, `TCP_NODELAY`) and with the same conversation:
//!
//! * [`Raw::Plain`], what every ratio is to: a loop of `write`, a loop of `read`.
//! * [`Raw::Framed`]: each buffer of a flood has a head with its length, as a message has, which leaves with it in one
//!   gathered write; the receiver learns from the head how much to read, and asks for the next head together
//!   with the rest of a body.
//! * [`Raw::Ipc`]: plain again, through `zorb_ipc`'s typed handles.
//!
//! A round trip is one `write` and as many `read`s as it takes, on each side, with no `poll` and no other thread: the
//! fewest system calls in which these bytes can go there and back between two processes that sleep while they
//! wait. `stream` has the loops, `server` the far end and the conversation drawn.

mod client;
mod server;
mod stream;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

use zorb_ipc::{AcceptorOptions, QueueSizes, TcpAcceptor, TcpConnector};

use crate::BenchError;
use crate::lab::Lab;
use crate::system::{Client, Local, Setting, System, Transport};

/// A socket without an ORB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    /// A plain loop of `write` and `read`.
    Plain,
    /// The same with a head before each buffer. Floods only: a round trip's messages are as long as zorb's anyhow.
    Framed,
    /// The plain loop through typed handles.
    Ipc,
}

impl Raw {
    /// All three, the floor first.
    pub const ALL: [Raw; 3] = [Raw::Plain, Raw::Framed, Raw::Ipc];
}

impl System for Raw {
    fn name(&self) -> &'static str {
        match self {
            Raw::Plain => "raw",
            Raw::Framed => "framed",
            Raw::Ipc => "ipc",
        }
    }

    fn messaging(&self) -> &'static str {
        match self {
            Raw::Framed => "head",
            Raw::Plain | Raw::Ipc => "none",
        }
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Ok(lab.own_server(self.name(), setting))
    }

    fn connect(
        &self,
        lab: &Lab,
        setting: &Setting,
        address: &str,
        _processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let Transport::Tcp = setting.transport;
        let address = address.parse().map_err(|_| BenchError::System {
            system: self.name(),
            what: format!("{address:?} is not an address and port"),
        })?;
        let to = Target { address, queues: queues(setting), patience: lab.patience };
        Ok(match self {
            Raw::Plain | Raw::Framed => Box::new(client::RawClient::<TcpStream>::new(*self, to)),
            Raw::Ipc => Box::new(client::RawClient::<zorb_ipc::TcpStream>::new(*self, to)),
        })
    }
}

impl Local for Raw {
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let Transport::Tcp = setting.transport;
        let address = setting.listen.unwrap_or(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0));
        let options = AcceptorOptions::new().queue_sizes(queues(setting));
        let acceptor = TcpAcceptor::bind(address, &options)
            .map_err(|error| BenchError::io(format!("listen on {address}"))(error.into()))?;
        match self {
            Raw::Plain | Raw::Framed => server::serve::<TcpStream>(acceptor, while_serving),
            Raw::Ipc => server::serve::<zorb_ipc::TcpStream>(acceptor, while_serving),
        }
    }
}

/// Where to connect to, and how.
#[derive(Debug, Clone, Copy)]
struct Target {
    address: SocketAddr,
    queues: QueueSizes,
    /// How long any single transfer of a flood may take.
    patience: Duration,
}

impl Target {
    fn connect(&self) -> Result<zorb_ipc::TcpStream, BenchError> {
        const WITHIN: Duration = Duration::from_secs(20);
        TcpConnector::new()
            .queue_sizes(self.queues)
            .connect(self.address, Instant::now() + WITHIN)
            .map_err(|error| BenchError::io(format!("connect to {}", self.address))(error.into()))
    }
}

fn queues(setting: &Setting) -> QueueSizes {
    QueueSizes { send: setting.queue, receive: setting.queue }
}

/// The connection without the handle: `zorb_ipc` makes it, since queues must be sized before the handshake, and then
/// only its descriptor is used.
fn bare(stream: zorb_ipc::TcpStream) -> std::io::Result<TcpStream> {
    Ok(stream.as_fd().try_clone_to_owned()?.into())
}

#[cfg(test)]
mod tests;
