//! The floor: a blocking TCP ping-pong that moves given numbers of bytes and does nothing else.
//!
//! The client announces both sizes once, then each round trip is `write` and `read` until all has
//! arrived, on each side, with `TCP_NODELAY`, no timeout and no `poll`: the fewest system calls in which
//! these bytes can go there and back between two processes that sleep while they wait.
//!
//! ```text
//! preamble   | request size, u64 LE | reply size, u64 LE |
//! then       | request …            |  →
//!         ←  | reply …              |     the request's first octets, then zeros if it is longer
//! ```

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::BenchError;
use crate::lab::Lab;
use crate::system::{
    Call, Client, Exchange, Local, MessageSizes, Setting, System, Transport, burst, fill, first_difference,
    stamp,
};

/// The largest message the server makes room for: above anything a scenario sends, and little enough
/// that a stray connection cannot take the machine's memory.
const LARGEST_MESSAGE: usize = 256 << 20;

const PREAMBLE: usize = 16;

/// A bare blocking socket.
#[derive(Debug, Clone, Copy)]
pub struct Raw;

const NAME: &str = "raw";

impl System for Raw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn messaging(&self) -> &'static str {
        "none"
    }

    fn server(&self, lab: &Lab, setting: &Setting) -> Result<Command, BenchError> {
        Ok(lab.own_server(NAME, setting))
    }

    fn connect(
        &self,
        _lab: &Lab,
        setting: &Setting,
        address: &str,
        _processor: Option<usize>,
    ) -> Result<Box<dyn Client>, BenchError> {
        let Transport::Tcp = setting.transport;
        let address = address.parse().map_err(|_| BenchError::System {
            system: NAME,
            what: format!("{address:?} is not an address and port"),
        })?;
        Ok(Box::new(RawClient { address, exchange: None }))
    }
}

impl Local for Raw {
    fn serve(&self, setting: &Setting, while_serving: &mut dyn FnMut(&str)) -> Result<(), BenchError> {
        let Transport::Tcp = setting.transport;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(BenchError::io("listen on 127.0.0.1"))?;
        let address = listener.local_addr().map_err(BenchError::io("read the listening address"))?;
        let stopping = Arc::new(AtomicBool::new(false));
        let accepting = thread::spawn({
            let stopping = Arc::clone(&stopping);
            move || accept(&listener, &stopping)
        });
        while_serving(&address.to_string());
        stopping.store(true, Ordering::Relaxed);
        // The connection that wakes the acceptor; if it cannot be made, the acceptor has ended already.
        if TcpStream::connect(address).is_ok() {
            let _ = accepting.join();
        }
        Ok(())
    }
}

struct RawClient {
    address: SocketAddr,
    exchange: Option<RawExchange>,
}

impl Client for RawClient {
    fn system(&self) -> &'static str {
        NAME
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        self.exchange = Some(RawExchange::open(self.address, call.messages)?);
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        burst(NAME, self.exchange.as_mut().map(|exchange| exchange as &mut dyn Exchange), calls, times)
    }
}

struct RawExchange {
    stream: TcpStream,
    sent: Vec<u8>,
    received: Vec<u8>,
    number: u64,
}

impl RawExchange {
    fn open(address: SocketAddr, messages: MessageSizes) -> Result<RawExchange, BenchError> {
        let step = || format!("connect to {address}");
        let mut stream = TcpStream::connect(address).map_err(BenchError::io(step()))?;
        stream.set_nodelay(true).map_err(BenchError::io(step()))?;
        let mut preamble = [0; PREAMBLE];
        preamble[..8].copy_from_slice(&(messages.request as u64).to_le_bytes());
        preamble[8..].copy_from_slice(&(messages.reply as u64).to_le_bytes());
        stream.write_all(&preamble).map_err(BenchError::io("send the message sizes"))?;
        let mut sent = vec![0; messages.request];
        fill(&mut sent);
        Ok(RawExchange { stream, sent, received: vec![0; messages.reply], number: 0 })
    }
}

impl Exchange for RawExchange {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.stream
            .write_all(&self.sent)
            .and_then(|()| self.stream.read_exact(&mut self.received))
            .map_err(BenchError::io("exchange messages with the raw server"))
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        let echoed = self.sent.len().min(self.received.len());
        let corrupt = |what| BenchError::Corrupt { system: NAME, what };
        if let Some(what) = first_difference(&self.sent[..echoed], &self.received[..echoed]) {
            return Err(corrupt(what));
        }
        if self.received[echoed..].iter().any(|&octet| octet != 0) {
            return Err(corrupt("octets after the echo are not zero".to_owned()));
        }
        self.number += 1;
        stamp(&mut self.sent, self.number);
        Ok(())
    }
}

fn accept(listener: &TcpListener, stopping: &AtomicBool) {
    for stream in listener.incoming() {
        if stopping.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(stream) = stream {
            // A connection's end is the normal end of its loop, whatever the reason.
            thread::spawn(move || echo(stream));
        }
    }
}

fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut preamble = [0; PREAMBLE];
    stream.read_exact(&mut preamble)?;
    let size = |octets: &[u8]| {
        let octets = octets.try_into().map(u64::from_le_bytes).ok();
        octets
            .and_then(|size| usize::try_from(size).ok())
            .filter(|&size| (1..=LARGEST_MESSAGE).contains(&size))
    };
    let (Some(request), Some(reply)) = (size(&preamble[..8]), size(&preamble[8..])) else { return Ok(()) };
    let mut buffer = vec![0; request.max(reply)];
    loop {
        stream.read_exact(&mut buffer[..request])?;
        stream.write_all(&buffer[..reply])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Payload;
    use std::sync::mpsc;

    /// Runs `client` against a server in another thread.
    fn with_server(client: impl FnOnce(&str)) {
        let (announce, announced) = mpsc::channel::<String>();
        let (stop, stopped) = mpsc::channel::<()>();
        let server = thread::spawn(move || {
            Raw.serve(&Setting::over(Transport::Tcp), &mut |address| {
                announce.send(address.to_owned()).unwrap();
                let _ = stopped.recv();
            })
        });
        client(&announced.recv().unwrap());
        drop(stop);
        server.join().unwrap().unwrap();
    }

    #[test]
    fn echoes_with_either_side_longer() {
        with_server(|address| {
            let mut client = RawClient { address: address.parse().unwrap(), exchange: None };
            let mut times = Vec::new();
            assert!(matches!(client.burst(1, &mut times), Err(BenchError::System { system: "raw", .. })));
            for (request, reply) in [(64, 24), (24, 64), (1, 1), (70_000, 65_600)] {
                let messages = MessageSizes { request, reply };
                client.prepare(Call { payload: Payload::Null, messages }).unwrap();
                client.burst(3, &mut times).unwrap();
            }
            assert_eq!(times.len(), 12);
        });
    }

    #[test]
    fn an_old_reply_does_not_pass() {
        with_server(|address| {
            let messages = MessageSizes { request: 100, reply: 100 };
            let mut exchange = RawExchange::open(address.parse().unwrap(), messages).unwrap();
            exchange.round_trip().unwrap();
            let old = exchange.received.clone();
            exchange.verify().unwrap();
            exchange.received = old;
            assert!(matches!(exchange.verify(), Err(BenchError::Corrupt { system: "raw", .. })));
        });
    }

    #[test]
    fn absurd_sizes_close_the_connection() {
        with_server(|address| {
            for (request, reply) in [(usize::MAX as u64, 1), (1, u64::MAX), (0, 1), (1, 0)] {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
                stream.write_all(&u64::to_le_bytes(request)).unwrap();
                stream.write_all(&u64::to_le_bytes(reply)).unwrap();
                assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
            }
        });
    }
}
