//! Systems side by side in one run: their processes, whose turn it is, and what happens when one fails.
//!
//! A [`Contest`] starts each system's server and client and keeps them for the whole run. A run is a row of *events*
//! (a payload, a type and buffer size), each of which lets the systems take turns, the floor among them. A system
//! that fails is out of the event, with a line that says why and its last words; the others go on, and it is started
//! anew for the next event, until it has failed too often. What ends a run is a floor that fails, and a wish to stop.

use std::time::Duration;

use crate::BenchError;
use crate::cpu::Spent;
use crate::driver::Driver;
use crate::lab::Lab;
use crate::pin::Placement;
use crate::process::Server;
use crate::raw::Raw;
use crate::system::{Client, Setting, System};

/// A system that has failed in so many events is not started again: it would fail in the next one too, and
/// each time might cost the whole of our patience.
const MOST_FAILURES: u32 = 3;

/// How long a server may take to end after its connections have.
const END_WITHIN: Duration = Duration::from_millis(100);

/// All systems of a run.
pub struct Contest<'a> {
    lab: &'a Lab<'a>,
    setting: Setting,
    placement: Placement,
    /// Whether our own client halves are processes of their own, as the peers' are.
    apart: bool,
    entrants: Vec<Entrant<'a>>,
    faults: Vec<String>,
}

/// A system that is to take part.
pub struct Entry<'a> {
    /// Which.
    pub system: &'a dyn System,
    /// Where it is served already, on another host perhaps; `None`: a server is started here.
    pub served_at: Option<String>,
}

impl<'a> Entry<'a> {
    /// With a server of its own here.
    pub fn here(system: &'a dyn System) -> Entry<'a> {
        Entry { system, served_at: None }
    }
}

/// The server half that a client is connected to.
pub struct Far {
    address: String,
    process: Option<Server>,
}

impl Far {
    /// What it announced.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its process, if that is on this machine and was started here.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|server| server.process().id())
    }

    /// What its process has spent of the processors until now, if that can be seen from here.
    pub fn spent(&self) -> Option<Spent> {
        Spent::of(self.process()?)
    }
}

struct Entrant<'a> {
    entry: Entry<'a>,
    running: Option<Running>,
    /// Whether it takes part in the present event.
    takes_part: bool,
    failures: u32,
}

/// The client's end comes first: a server whose clients have gone stops sooner.
struct Running {
    client: Box<dyn Client>,
    far: Far,
}

impl<'a> Contest<'a> {
    /// With these systems, the floor first if it takes part. Must be called on the thread that makes the measurements, which is
    /// kept on the placement's client processor already.
    pub fn new(
        lab: &'a Lab<'a>,
        setting: Setting,
        placement: Placement,
        entries: impl IntoIterator<Item = Entry<'a>>,
    ) -> Contest<'a> {
        let entrant = |entry| Entrant { entry, running: None, takes_part: false, failures: 0 };
        let entrants = entries.into_iter().map(entrant).collect();
        Contest { lab, setting, placement, apart: false, entrants, faults: Vec::new() }
    }

    /// The same with client halves in processes of their own, all of them that can be. For what they can do there, see
    /// [`crate::driver`].
    #[must_use]
    pub fn apart(mut self) -> Contest<'a> {
        self.apart = true;
        self
    }

    /// Begins an event: starts those systems that are not running, and all take part again.
    ///
    /// # Errors
    ///
    /// The floor cannot be started, or somebody wants to stop.
    pub fn begin(&mut self) -> Result<(), BenchError> {
        for at in 0..self.entrants.len() {
            let entrant = &mut self.entrants[at];
            entrant.takes_part = entrant.failures < MOST_FAILURES;
            if entrant.takes_part && entrant.running.is_none() {
                let started = self.start(&self.entrants[at].entry);
                if let Some(running) = self.settle(at, started)? {
                    self.entrants[at].running = Some(running);
                }
            }
        }
        Ok(())
    }

    /// Ends those systems that take part in this event, and starts them anew, in the order of this instance: what is
    /// started first finds other memory than what is started last, which alone has been seen to make a difference of 2 %.
    ///
    /// # Errors
    ///
    /// As for [`begin`](Contest::begin).
    pub fn anew(&mut self, instance: usize) -> Result<(), BenchError> {
        for entrant in self.entrants.iter_mut().filter(|entrant| entrant.takes_part) {
            entrant.running = None;
        }
        for at in self.order(instance) {
            let entrant = &self.entrants[at];
            if entrant.takes_part {
                let started = self.start(&entrant.entry);
                let running = self.settle(at, started)?;
                self.entrants[at].running = running;
            }
        }
        Ok(())
    }

    /// How many systems there are, running or not.
    pub fn len(&self) -> usize {
        self.entrants.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entrants.is_empty()
    }

    /// The system at a place.
    pub fn system(&self, at: usize) -> &'a dyn System {
        self.entrants[at].entry.system
    }

    /// Whether the system at a place still takes part in this event.
    pub fn takes_part(&self, at: usize) -> bool {
        self.entrants[at].takes_part
    }

    /// Lets the system at a place do something, if it still takes part. `None` if it does not, or failed.
    ///
    /// # Errors
    ///
    /// The floor failed, or somebody wants to stop.
    pub fn attempt<T>(
        &mut self,
        at: usize,
        something: impl FnOnce(&mut dyn Client, &Far) -> Result<T, BenchError>,
    ) -> Result<Option<T>, BenchError> {
        if self.lab.stop.requested() {
            return Err(BenchError::Stopped);
        }
        let entrant = &mut self.entrants[at];
        let Some(running) = entrant.running.as_mut().filter(|_| entrant.takes_part) else { return Ok(None) };
        let result = something(running.client.as_mut(), &running.far);
        self.settle(at, result)
    }

    /// The places in the order of one round or instance: each round begins with another, and every second one runs backwards,
    /// so that no system is always behind the same other.
    pub fn order(&self, round: usize) -> Vec<usize> {
        order(self.len(), round)
    }

    /// What went wrong so far, a line each; missing peers and what a system cannot do are not counted.
    pub fn faults(self) -> Vec<String> {
        self.faults
    }

    fn start(&self, entry: &Entry) -> Result<Running, BenchError> {
        let Contest { lab, setting, placement, .. } = self;
        let system = entry.system;
        let far = match &entry.served_at {
            Some(address) => Far { address: address.clone(), process: None },
            None => {
                let command = match lab.link {
                    None => system.server(lab, setting)?,
                    Some(link) => {
                        let setting = Setting { listen: Some(link.listen()), ..setting.clone() };
                        link.beyond(&system.server(lab, &setting)?)
                    }
                };
                let server = Server::start(system.name(), command, &lab.bounds(placement.server))?;
                Far { address: server.address().to_owned(), process: Some(server) }
            }
        };
        let driver = self.apart.then(|| system.driver(lab, setting, &far.address)).flatten();
        let client = match driver {
            Some(command) => Box::new(Driver::start(system.name(), command, lab, placement.client)?),
            None => system.connect(lab, setting, &far.address, placement.client)?,
        };
        Ok(Running { client, far })
    }

    /// Decides what a failure means for the system, the event and the run.
    fn settle<T>(&mut self, at: usize, result: Result<T, BenchError>) -> Result<Option<T>, BenchError> {
        let error = match result {
            Ok(done) => return Ok(Some(done)),
            Err(_) if self.lab.stop.requested() => return Err(BenchError::Stopped),
            Err(error) => error,
        };
        let entrant = &mut self.entrants[at];
        let name = entrant.entry.system.name();
        let server = entrant.running.as_ref().and_then(|running| running.far.process.as_ref());
        let error = explained(error, server, self.lab);
        if [Raw::Plain, Raw::Spinning].iter().any(|floor| name == floor.name()) {
            return Err(error);
        }
        entrant.takes_part = false;
        match error {
            BenchError::Unsupported { .. } => {
                self.lab.progress.remark(&error.to_string());
                // Started and able to do other things; or unable to start, now and always.
                if entrant.running.is_none() {
                    entrant.failures = MOST_FAILURES;
                }
            }
            BenchError::Missing { .. } => {
                self.lab.progress.remark(&error.to_string());
                entrant.failures = MOST_FAILURES;
            }
            error => {
                let line = match error.to_string() {
                    line if line.starts_with(name) => line,
                    line => format!("{name}: {line}"),
                };
                self.lab.progress.remark(&line);
                self.faults.push(line);
                entrant.running = None;
                entrant.failures += 1;
            }
        }
        Ok(None)
    }
}

/// What the client met, or else what made it: that the server was stopped because its time was over, or that it ended.
fn explained(error: BenchError, server: Option<&Server>, lab: &Lab) -> BenchError {
    let Some(server) = server.map(Server::process) else { return error };
    match error {
        BenchError::Unsupported { .. } | BenchError::Missing { .. } => error,
        _ if server.expired() => BenchError::TooLong { limit: lab.lifetime },
        error => match server.has_ended(END_WITHIN) {
            Some(BenchError::Process { command, what }) => {
                BenchError::Process { command, what: format!("{what}; the client: {error}") }
            }
            _ => error,
        },
    }
}

fn order(places: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..places).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    order.rotate_left(round / 2 % places.max(1));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_as_often_first_as_last_and_before_as_behind_another() {
        for places in 1..6 {
            let rounds: Vec<_> = (0..2 * places).map(|round| order(places, round)).collect();
            for place in 0..places {
                assert_eq!(rounds.iter().filter(|order| order[0] == place).count(), 2, "{rounds:?}");
                for other in (0..places).filter(|&other| other != place) {
                    let at = |order: &[usize], place| order.iter().position(|&one| one == place);
                    let before = rounds.iter().filter(|order| at(order, place) < at(order, other)).count();
                    assert_eq!(before, places, "{place} before {other}: {rounds:?}");
                }
            }
        }
        assert_eq!(order(0, 3), [0; 0]);
    }
}
