//! Round trips: an object that returns what it gets.

use zorb::poa::Poa;
use zorb::{Call as Context, ObjectRef, Sequence, SystemException};

use super::flood::bin_struct;
use super::idl::bench::{BinStruct, Counts, Echo, EchoServant, ttcp_sequence};
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
