//! The near end of a socket without an ORB.

use std::time::{Duration, Instant};

use super::server::{HEAD, PREAMBLE, Preamble};
use super::stream::{Side, Stream};
use super::{Raw, Target};
use crate::BenchError;
use crate::collocated;
use crate::concurrency;
use crate::firstcall::Phase;
use crate::flood::{Element, Flood, Flooded};
use crate::pattern::Windows;
use crate::system::{
    Call, Client, Completed, Exchange, MessageSizes, System, burst, fill, first_difference, stamp,
};

/// The longest fault that a receiver's report may have: a line.
const LONGEST_FAULT: usize = 1_000;

/// Has a connection for round trips of each kind, and another for floods.
pub(super) struct RawClient<S: Stream> {
    system: Raw,
    to: Target<S::Family>,
    /// One of each kind that was prepared; the last of them is to be made. Kinds that alternate find their connections warm,
    /// as one that could tell them apart would be.
    pub(super) exchanges: Vec<RawExchange<S>>,
    flooding: Option<S>,
    /// The buffers of the last flood: the next one often has the same.
    buffers: Option<((Element, usize), Windows<u8>)>,
}

impl<S: Stream> RawClient<S> {
    pub(super) fn new(system: Raw, to: Target<S::Family>) -> RawClient<S> {
        RawClient { system, to, exchanges: Vec::new(), flooding: None, buffers: None }
    }

    fn open(&self) -> Result<S, BenchError> {
        S::of(self.to.connect(S::IS_TOLD)?, Side::Client).map_err(BenchError::io("use the connection"))
    }

    fn send(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
        let framed = self.system == Raw::Framed;
        let mut stream = match self.flooding.take() {
            Some(stream) => stream,
            None => self.open()?,
        };
        stream
            .set_patience(self.to.patience)
            .map_err(BenchError::io("set the time that a transfer may take"))?;
        let key = (flood.element, flood.elements());
        let mut buffers = match self.buffers.take() {
            Some((known, buffers)) if known == key => buffers,
            _ => flood.element.windows(flood.elements()).behind(S::LEAD),
        };
        let preamble = Preamble::Flood { flood, framed }.encode();
        let mut ready = [0];
        stream
            .send_all(&preamble)
            .and_then(|()| stream.receive_exact(&mut ready))
            .map_err(BenchError::io("begin a flood"))?;
        // Written anew now, if the last flood has left another window, and not under the clock.
        buffers.buffer(0);

        let start = Instant::now();
        for number in 0..flood.count {
            let buffer = buffers.buffer(number);
            let sent = match framed {
                false => stream.send_all(buffer),
                true => stream.send_framed(&head(buffer.len(), number), buffer),
            };
            sent.map_err(|error| BenchError::io(format!("send buffer {number} of {}", flood.count))(error))?;
        }
        let sent = start.elapsed();
        let mut report = [0; 8];
        stream.receive_exact(&mut report).map_err(BenchError::io("learn that all buffers have arrived"))?;
        let confirmed = start.elapsed();

        let [executed, length] = [&report[..4], &report[4..]]
            .map(|word| word.first_chunk().map_or(0, |&word| u32::from_le_bytes(word)));
        let mut fault = vec![0; (length as usize).min(LONGEST_FAULT)];
        stream.receive_exact(&mut fault).map_err(BenchError::io("learn what was wrong"))?;
        let what = match String::from_utf8_lossy(&fault) {
            fault if !fault.is_empty() => fault.into_owned(),
            _ if executed != flood.count => format!("{executed} of {} buffers arrived", flood.count),
            _ => {
                self.flooding = Some(stream);
                self.buffers = Some((key, buffers));
                return Ok(Flooded { confirmed, sent: Some(sent) });
            }
        };
        Err(BenchError::Corrupt { system: self.system.name(), what })
    }
}

fn head(length: usize, number: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&(length as u64).to_le_bytes());
    head[8..].copy_from_slice(&u64::from(number).to_le_bytes());
    head
}

impl<S: Stream> Client for RawClient<S> {
    fn system(&self) -> &'static str {
        self.system.name()
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        if self.system == Raw::Framed {
            return Err(BenchError::unsupported(self.system(), "round trips"));
        }
        let known = self.exchanges.iter().position(|exchange| exchange.messages() == call.messages);
        let exchange = match known {
            Some(at) => self.exchanges.remove(at),
            None => RawExchange::new(self.system, self.open()?, call.messages)?,
        };
        self.exchanges.push(exchange);
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        let exchange = self.exchanges.last_mut().map(|exchange| exchange as &mut dyn Exchange);
        burst(self.system.name(), exchange, calls, times)
    }

    fn flood(&mut self, flood: Flood) -> Result<Flooded, BenchError> {
        if self.system == Raw::Spinning {
            return Err(BenchError::unsupported(self.system(), "floods"));
        }
        self.send(flood)
    }

    fn callers(&mut self, callers: u32, time: Duration, call: Call) -> Result<Completed, BenchError> {
        let (system, to) = (self.system, &self.to);
        concurrency::threads(callers, time, &|| {
            let stream = RawClient::<S>::new(system, to.clone()).open()?;
            Ok(Box::new(RawExchange::new(system, stream, call.messages)?))
        })
    }

    /// With the prepared messages.
    fn connect_anew(&mut self) -> Result<Duration, BenchError> {
        let Some(exchange) = self.exchanges.last() else {
            return Err(BenchError::System {
                system: self.system.name(),
                what: "a call that was not prepared".to_owned(),
            });
        };
        let messages = exchange.messages();
        let start = Instant::now();
        let mut exchange = RawExchange::new(self.system, self.open()?, messages)?;
        exchange.round_trip()?;
        let took = start.elapsed();
        exchange.verify()?;
        Ok(took)
    }

    fn collocated(&mut self, calls: u32) -> Result<Duration, BenchError> {
        collocated::methods(self.system(), calls)
    }

    fn first_call(&mut self, phase: Phase) -> Result<Duration, BenchError> {
        match phase {
            Phase::Connection => self.connect_anew(),
            _ => {
                let mut times = Vec::with_capacity(1);
                self.burst(1, &mut times)?;
                Ok(times.iter().sum())
            }
        }
    }
}

pub(super) struct RawExchange<S> {
    system: Raw,
    stream: S,
    sent: Vec<u8>,
    pub(super) received: Vec<u8>,
    number: u64,
}

impl<S: Stream> RawExchange<S> {
    pub(super) fn new(
        system: Raw,
        mut stream: S,
        messages: MessageSizes,
    ) -> Result<RawExchange<S>, BenchError> {
        let MessageSizes { request, reply } = messages;
        let preamble: [u8; PREAMBLE] = Preamble::RoundTrips { request, reply }.encode();
        stream.send_all(&preamble).map_err(BenchError::io("send the message sizes"))?;
        let mut sent = vec![0; request];
        fill(&mut sent);
        Ok(RawExchange { system, stream, sent, received: vec![0; reply], number: 0 })
    }

    fn messages(&self) -> MessageSizes {
        MessageSizes { request: self.sent.len(), reply: self.received.len() }
    }
}

impl<S: Stream> Exchange for RawExchange<S> {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.stream
            .send_all(&self.sent)
            .and_then(|()| self.stream.receive_exact(&mut self.received))
            .map_err(BenchError::io("exchange messages with the raw server"))
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        let echoed = self.sent.len().min(self.received.len());
        let corrupt = |what| BenchError::Corrupt { system: self.system.name(), what };
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
