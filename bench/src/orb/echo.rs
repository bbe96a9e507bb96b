//! Round trips: an object that returns what it gets.

use zorb::poa::Poa;
use zorb::{Call as Context, Loan, ObjectRef, Orb, Sequence, SystemException};

use super::flood::bin_struct;
use super::idl::bench::{BinStruct, Counts, Echo, EchoServant, Receipt, ttcp_sequence};
use super::service::{self, Services};
use super::{NAME, failed};
use crate::BenchError;
use crate::counts;
use crate::probes;
use crate::system::{Exchange, Payload, fill, first_difference, stamp};

/// The service whose objects are made anew for each who asks.
const TILE: &str = "tile";

/// Returns what it gets.
pub(super) struct Echoing {
    pub(super) receiver: ttcp_sequence,
    pub(super) services: Services,
    /// Where further objects of this kind become active: the tiles of an image.
    pub(super) poa: Poa,
}

impl EchoServant for Echoing {
    fn ping(&self, _cx: &Context) -> Result<(), SystemException> {
        Ok(())
    }

    fn repeat(&self, _cx: &Context, payload: Sequence<u8>) -> Result<Sequence<u8>, SystemException> {
        Ok(payload)
    }

    fn repeat_structs(
        &self,
        _cx: &Context,
        payload: Sequence<BinStruct>,
    ) -> Result<Sequence<BinStruct>, SystemException> {
        Ok(payload)
    }

    fn give(&self, _cx: &Context, payload: Sequence<u8>, place: u32) -> Result<Receipt, SystemException> {
        Ok(receipt(&payload, place))
    }

    fn receiver(&self, _cx: &Context) -> Result<Option<ttcp_sequence>, SystemException> {
        Ok(Some(self.receiver.clone()))
    }

    fn record(&self, _cx: &Context, on: bool) -> Result<(), SystemException> {
        probes::record(on).map_err(SystemException::NoImplement)
    }

    fn recorded(&self, _cx: &Context) -> Result<Sequence<u64>, SystemException> {
        let recorded = probes::take().into_iter().flatten();
        Ok(recorded.flat_map(|stamp| [stamp.point as u64, stamp.ticks]).collect::<Vec<_>>().into())
    }

    fn counted(&self, _cx: &Context) -> Result<Counts, SystemException> {
        let counts::Counts { system_calls, octets_copied, allocations, octets_allocated } =
            counts::Counts::so_far();
        Ok(Counts { system_calls, octets_copied, allocations, octets_allocated })
    }

    fn service(&self, _cx: &Context, name: &str) -> Result<Option<ObjectRef>, SystemException> {
        if name != TILE {
            return self.services.named(name);
        }
        let poa = self.poa.clone();
        let tile = Echoing { receiver: self.receiver.clone(), services: self.services.clone(), poa };
        Ok(Some(service::activated::<Echo, _>(&self.poa, tile)?))
    }
}

/// What is said of a payload.
fn receipt(payload: &[u8], place: u32) -> Receipt {
    let eight = |at: usize| payload.get(at..at.saturating_add(8)).and_then(|octets| octets.first_chunk());
    let eight = |at| eight(at).map_or(0, |octets| u64::from_le_bytes(*octets));
    let last = payload.len().saturating_sub(8);
    Receipt { length: payload.len() as u64, first: eight(0), there: eight(place as usize), last: eight(last) }
}

/// Calls that give so many octets: lent by `orb`, if there is one.
pub(crate) fn given(echo: &Echo, size: usize, orb: Option<&Orb>) -> Box<dyn Exchange> {
    let mut own = vec![0; if orb.is_some() { 0 } else { size }];
    fill(&mut own);
    let nothing = Receipt { length: 0, first: 0, there: 0, last: 0 };
    Box::new(Given {
        echo: echo.clone(),
        orb: orb.cloned(),
        own,
        size,
        number: 0,
        expected: nothing,
        receipt: nothing,
    })
}

/// Calls of one kind.
pub(crate) fn exchange(echo: &Echo, payload: Payload) -> Result<Box<dyn Exchange>, BenchError> {
    let echo = echo.clone();
    Ok(match payload {
        Payload::Null => Box::new(Pings { echo }),
        Payload::Octets(size) => {
            let mut sent = vec![0; size];
            fill(&mut sent);
            Box::new(Echoes { echo, sent, received: Sequence::default(), number: 0 })
        }
        Payload::Structs(number) => {
            let sent = (0..number as u32).map(bin_struct).collect();
            Box::new(StructEchoes { echo, sent, received: Sequence::default() })
        }
        _ => return Err(BenchError::unsupported(NAME, "these calls on its echo")),
    })
}

struct Pings {
    echo: Echo,
}

impl Exchange for Pings {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.echo.ping().map_err(failed)
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        Ok(())
    }
}

struct Echoes {
    echo: Echo,
    sent: Vec<u8>,
    received: Sequence<u8>,
    number: u64,
}

impl Exchange for Echoes {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.received = self.echo.repeat(&self.sent).map_err(failed)?;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if let Some(what) = first_difference(&self.sent, &self.received) {
            return Err(BenchError::Corrupt { system: NAME, what });
        }
        self.number += 1;
        stamp(&mut self.sent, self.number);
        // What a caller does with a result, sooner or later.
        self.received = Sequence::default();
        Ok(())
    }
}

/// One place of each payload is looked at, each time another.
struct Given {
    echo: Echo,
    /// Who lends the payload; `None`: it is the exchange's own.
    orb: Option<Orb>,
    own: Vec<u8>,
    size: usize,
    number: u64,
    expected: Receipt,
    receipt: Receipt,
}

impl Given {
    /// Of the call that comes next, written into its payload.
    fn stamp(payload: &mut [u8], number: u64) -> (u32, Receipt) {
        let place = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % payload.len().max(1) as u64) as u32;
        stamp(payload, number);
        (place, receipt(payload, place))
    }

    fn lent(orb: &Orb, size: usize) -> Result<Loan<u8>, BenchError> {
        let mut payload: Loan<u8> = orb.loan(size).map_err(failed)?;
        // Memory that is new holds zeros; what was lent before holds the payload of another call.
        if payload.last() == Some(&0) && size > 1 {
            fill(&mut payload);
            if let Some(last) = payload.last_mut() {
                *last = 1;
            }
        }
        Ok(payload)
    }
}

impl Exchange for Given {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        let place;
        match &self.orb {
            Some(orb) => {
                let mut payload = Given::lent(orb, self.size)?;
                (place, self.expected) = Given::stamp(&mut payload, self.number);
                let payload = Sequence::from(payload);
                self.receipt = self.echo.give(&payload, place).map_err(failed)?;
            }
            None => {
                (place, self.expected) = Given::stamp(&mut self.own, self.number);
                self.receipt = self.echo.give(&self.own, place).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if self.receipt != self.expected {
            let what = format!("what was given did not arrive: {:?} for {:?}", self.receipt, self.expected);
            return Err(BenchError::Corrupt { system: NAME, what });
        }
        self.number += 1;
        Ok(())
    }
}

struct StructEchoes {
    echo: Echo,
    sent: Vec<BinStruct>,
    received: Sequence<BinStruct>,
}

impl Exchange for StructEchoes {
    fn round_trip(&mut self) -> Result<(), BenchError> {
        self.received = self.echo.repeat_structs(&self.sent).map_err(failed)?;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), BenchError> {
        if self.received != self.sent {
            let what = "a struct is not as it was sent".to_owned();
            return Err(BenchError::Corrupt { system: NAME, what });
        }
        // Each call has others, and the result is dropped.
        self.sent.rotate_left(1);
        self.received = Sequence::default();
        Ok(())
    }
}
