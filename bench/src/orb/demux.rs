//! Demultiplexing over zorb: the server's objects, and the client that calls them. The IDL is `bench/idl/demux.idl`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use zorb::poa::{Poa, PoaPolicies};
use zorb::rt::{self, Operation};
use zorb::{Call as Context, ObjectRef, SystemException};

use super::lookup::{self, Counting};
use super::{Calling, Manner, NAME, ZorbClient, failed, service};
use crate::BenchError;
use crate::demux::{Lookup, MOST_OBJECTS, Style, Target};
use crate::system::{Call, Client, Payload};

mod idl {
    zorb::include_idl!("demux");
}

pub(super) use idl::bench::Demux;
use idl::bench::DemuxServant;

/// How many of a million objects the client calls in turn: more than any cache of a core holds of the server's, and
/// references to all of them would be the client's burden, not the server's.
const DRAWN: u32 = 16_384;

/// What draws them: any number does, and the same one makes runs alike.
const SEED: u64 = 1;

/// Makes the objects.
pub(super) struct Opening {
    root: Poa,
    counting: Counting,
    present: Mutex<Present>,
}

/// The present objects.
#[derive(Default)]
struct Present {
    adapter: Option<Poa>,
    /// How many adapters there have been. Each has a name of its own: that of the one before may be taken still, by a
    /// request whose reply is here before its upcall has left.
    adapters: u32,
}

impl Opening {
    pub(super) fn new(root: &Poa) -> Opening {
        Opening { root: root.clone(), counting: Counting::default(), present: Mutex::default() }
    }
}

impl DemuxServant for Opening {
    fn open(
        &self,
        _cx: &Context,
        lookup: &str,
        operations: u32,
        objects: u32,
        most: u32,
    ) -> Result<Vec<Option<ObjectRef>>, SystemException> {
        let wrong = |what: String| SystemException::BadParam(what);
        let lookup: Lookup = lookup.parse().map_err(wrong)?;
        let (servant, id) = lookup::servant(&self.counting, lookup, operations)
            .ok_or_else(|| wrong(format!("there is no interface of {operations} operations")))?;
        if !(1..=MOST_OBJECTS).contains(&objects) {
            return Err(wrong(format!("{objects} objects: there may be 1 to {MOST_OBJECTS}")));
        }
        let refused = |error: zorb::poa::PoaError| SystemException::Internal(error.to_string());
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = present.adapter.take() {
            before.destroy(false, None).map_err(refused)?;
        }
        present.adapters += 1;
        let name = format!("objects {}", present.adapters);
        let policies = PoaPolicies::new().multiple_ids();
        let new = self.root.create_child_with(&name, policies, &self.root.manager()).map_err(refused)?;
        let new = present.adapter.insert(new);
        let all = (0..objects).map(|_| new.activate_servant(servant.clone(), id));
        let mut all = all.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        // The first ones of a shuffle.
        let mut random = SEED;
        let drawn = most.min(objects) as usize;
        for at in 0..drawn {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let from = at + (random >> 33) as usize % (all.len() - at);
            all.swap(at, from);
        }
        all.truncate(drawn);
        Ok(all.into_iter().map(Some).collect())
    }

    fn executed(&self, _cx: &Context) -> Result<u64, SystemException> {
        Ok(self.counting.counted())
    }
}

/// zorb, with a lookup of operations that need not be its own.
#[derive(Debug, Clone, Copy)]
pub struct Door(pub Lookup);

impl Manner for Door {
    fn client(&self, client: ZorbClient) -> Result<Box<dyn Client>, BenchError> {
        Ok(Box::new(Caller::new(self.0, client)?))
    }

    fn calling(&self, client: ZorbClient, call: Call) -> Result<Box<Calling>, BenchError> {
        let mut caller = Caller::new(self.0, client)?;
        caller.prepare(call)?;
        Ok(Box::new(move || caller.once().map(|_| ())))
    }
}

/// Calls one operation of one or many objects.
struct Caller {
    lookup: Lookup,
    client: ZorbClient,
    demux: Demux,
    objects: Vec<ObjectRef>,
    next: usize,
    operation: &'static Operation,
    style: Style,
}

impl Caller {
    fn new(lookup: Lookup, client: ZorbClient) -> Result<Caller, BenchError> {
        let demux = service::of(&client.echo)?;
        const NONE: &Operation = &Operation::new("");
        Ok(Caller {
            lookup,
            client,
            demux,
            objects: Vec::new(),
            next: 0,
            operation: NONE,
            style: Style::Twoway,
        })
    }

    /// The object whose turn it is.
    fn object(&mut self) -> Result<&ObjectRef, BenchError> {
        self.next = if self.next + 1 < self.objects.len() { self.next + 1 } else { 0 };
        self.objects.get(self.next).ok_or_else(|| failed("there are no objects"))
    }

    /// One two-way call.
    fn once(&mut self) -> Result<Duration, BenchError> {
        let operation = self.operation;
        let object = self.object()?;
        let start = Instant::now();
        rt::call(object, operation, |_| Ok(()), |_| Ok(())).map_err(failed::<SystemException>)?;
        Ok(start.elapsed())
    }

    fn twoways(
        &mut self,
        calls: usize,
        times: &mut Vec<Duration>,
        look: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        let before = self.demux.executed().map_err(failed)?;
        look();
        for _ in 0..calls {
            times.push(self.once()?);
        }
        look();
        let executed = self.demux.executed().map_err(failed)? - before;
        self.verify(executed, calls)
    }

    /// All of them take the same part of the time until the last has been executed.
    fn oneways(
        &mut self,
        calls: usize,
        times: &mut Vec<Duration>,
        look: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        /// How long none of them may be executed: far above what one takes on the busiest machine.
        const PATIENCE: Duration = Duration::from_secs(60);
        let before = self.demux.executed().map_err(failed)?;
        let operation = self.operation;
        look();
        let start = Instant::now();
        for _ in 0..calls {
            rt::oneway(self.object()?, operation, |_| Ok(())).map_err(failed)?;
        }
        let mut progress = (0, Instant::now());
        loop {
            let executed = self.demux.executed().map_err(failed)? - before;
            if executed > progress.0 {
                progress = (executed, Instant::now());
            }
            if executed >= calls as u64 || progress.1.elapsed() > PATIENCE {
                let took = start.elapsed();
                look();
                times.push(took / u32::try_from(calls).unwrap_or(u32::MAX).max(1));
                return self.verify(executed, calls);
            }
        }
    }

    fn verify(&self, executed: u64, calls: usize) -> Result<(), BenchError> {
        match executed == calls as u64 {
            true => Ok(()),
            false => {
                let what = format!("{executed} calls were executed instead of {calls}");
                Err(BenchError::Corrupt { system: NAME, what })
            }
        }
    }
}

impl Client for Caller {
    fn system(&self) -> &'static str {
        NAME
    }

    fn prepare(&mut self, call: Call) -> Result<(), BenchError> {
        let Payload::Demux(Target { operations, last, objects, random, style }) = call.payload else {
            return Err(BenchError::unsupported(NAME, "other calls than those that are demultiplexed"));
        };
        let most = if random { DRAWN } else { 1 };
        let opened = self.demux.open(self.lookup.name(), operations, objects, most).map_err(failed)?;
        let beside = |object: ObjectRef| service::beside(&self.client.echo, &object);
        self.objects = opened.into_iter().flatten().map(beside).collect::<Result<_, _>>()?;
        // A name for each event of a run: nobody misses these few octets.
        let name = self.lookup.operation(if last { operations - 1 } else { 0 }).leak();
        self.operation = Box::leak(Box::new(Operation::new(name)));
        self.style = style;
        Ok(())
    }

    fn burst(&mut self, calls: usize, times: &mut Vec<Duration>) -> Result<(), BenchError> {
        self.watched_burst(calls, times, &mut || ())
    }

    fn watched_burst(
        &mut self,
        calls: usize,
        times: &mut Vec<Duration>,
        look: &mut dyn FnMut(),
    ) -> Result<(), BenchError> {
        match self.style {
            Style::Twoway => self.twoways(calls, times, look),
            Style::Oneway => self.oneways(calls, times, look),
        }
    }
}
