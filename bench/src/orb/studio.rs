//! The image editor's objects over zorb: shapes, which cube (`cube.idl`), and tiles, which echo (`echo.idl`).

use std::time::{Duration, Instant};

use zorb::Interface;

use super::cube::{self, Cube};
use super::idl::bench::Echo;
use super::{Manner, NAME, ZorbClient, echo, failed};
use crate::BenchError;
use crate::images::{SHAPES, TILES};
use crate::system::{Call, Client, Exchange, Payload};

/// zorb, with as many objects as the application has.
#[derive(Debug, Clone, Copy)]
pub struct Studio;

impl Manner for Studio {
    fn client(&self, client: ZorbClient) -> Result<Box<dyn Client>, BenchError> {
        let new = |name| {
            let object = client.echo.service(name).map_err(failed)?;
            object.ok_or_else(|| failed(format!("the server makes no {name}")))
        };
        let shapes = (0..SHAPES).map(|_| new("shape").map(Cube::from_object));
        let shapes = shapes.collect::<Result<_, BenchError>>()?;
        let tiles = (0..TILES).map(|_| new("tile").map(Echo::from_object));
        let tiles = tiles.collect::<Result<_, BenchError>>()?;
        Ok(Box::new(Editor { shapes, tiles, exchanges: Vec::new(), next: 0, _client: client }))
    }
}

/// Calls its objects in turn.
struct Editor {
    shapes: Vec<Cube>,
    tiles: Vec<Echo>,
    /// Of the present kind, one for each object that has such calls.
    exchanges: Vec<Box<dyn Exchange>>,
    next: usize,
    /// Carries the calls.
    _client: ZorbClient,
}

impl Client for Editor {
    fn system(&self) -> &'static str {
        NAME
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        self.exchanges = match call.payload {
            Payload::Cube(kind) => self.shapes.iter().map(|shape| cube::exchange(shape, kind)).collect(),
            payload => {
                let exchanges = self.tiles.iter().map(|tile| echo::exchange(tile, payload));
                exchanges.collect::<Result<_, _>>()?
            }
        };
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        for _ in 0..calls {
            self.next = if self.next + 1 < self.exchanges.len() { self.next + 1 } else { 0 };
            let unprepared = || failed("a burst of calls that were not prepared");
            let exchange = self.exchanges.get_mut(self.next).ok_or_else(unprepared)?;
            let start = Instant::now();
            exchange.round_trip()?;
            times.push(start.elapsed());
            exchange.verify()?;
        }
        Ok(())
    }
}
