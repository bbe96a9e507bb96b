//! A call seen from within: how long each of its steps takes, on both sides, by zorb's time probes.
//!
//! ```text
//! client  ├ deadline ┼ route ┼ connection ┼ compose ┼ send ┼──────── wait ────────┼ parse ┼ decode ┼ give back ┤
//! server                                     (wait) ┼ admit ┼ locate ┼ arguments ┼ method ┼ reply ┼ send ┼ end ┤
//! ```
//!
//! The marks cost time themselves ([`Findings::mark`] says how much), so the steps add up to more than a call without
//! them. What a step takes is the median over the calls; its share is of the median of whole calls. The client's wait
//! holds the server's steps and what lies between: the kernel on both ways, and the scheduler, which are a step of their own
//! ([`BETWEEN`]); so the wait itself has no share.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use zorb::{Interface, Orb};

use crate::counts::{self, Counted};
use crate::lab::Lab;
use crate::orb::idl::bench::Echo;
use crate::orb::{Zorb, failed};
use crate::pin::{self, Pin};
use crate::probes::{self, Point, Stamp};
use crate::process::Server;
use crate::row::{Figures, Row};
use crate::statistics::median;
use crate::system::{Payload, Setting, System, Transport};
use crate::{BenchError, orb};

/// Calls that are not looked at: connections, caches and branch predictors settle in them.
const WARM_UP: usize = 2_000;

/// Calls in a trace: what a person can look at.
const TRACED: usize = 100;

/// The most calls that are looked at: what the probes keep of a thread.
pub const MOST_CALLS: usize = 1_000;

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Over what.
    pub transport: Transport,
    /// On which processors.
    pub pin: Pin,
    /// Calls of each kind, at most [`MOST_CALLS`].
    pub calls: usize,
    /// What they carry.
    pub payloads: Vec<Payload>,
}

/// The side of what neither client nor server does: the client's wait less the server's steps.
pub const BETWEEN: &str = "between";

/// The number of that step, which is the wait's, and its name.
const TRANSIT: (u32, &str) = (6, "kernel both ways, waking");

/// One step of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// `client`, `server`, or [`BETWEEN`].
    pub side: &'static str,
    /// Its place in ARCHITECTURE.md, "Follow a request".
    pub number: u32,
    /// What is done in it.
    pub name: &'static str,
    /// Median time in it.
    pub nanoseconds: f64,
    /// Its part of the whole call; 0 for the client's wait, whose parts are others'.
    pub share: f64,
}

/// All that was seen.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The steps of each kind of call.
    pub boxes: Vec<WhiteBox>,
    /// What each kind of call takes of things that can be counted.
    pub counted: Vec<Counted>,
    /// Nanoseconds that one mark took in this process.
    pub mark: f64,
    /// Nanoseconds of these that reading the cycle counter took.
    pub reading: f64,
}

/// One kind of call, from within.
#[derive(Debug, Clone)]
pub struct WhiteBox {
    /// What the calls carried.
    pub payload: Payload,
    /// Median time of the whole call, in nanoseconds, probes included.
    pub call: f64,
    /// The client's steps, then the server's.
    pub steps: Vec<Step>,
    client: Vec<Vec<Stamp>>,
    server: Vec<Vec<Stamp>>,
    ticks_per_microsecond: f64,
}

/// The step that a point ends.
fn step_of(point: Point) -> (u32, &'static str) {
    match point {
        Point::Deadline => (2, "deadline and policies"),
        Point::Route => (3, "endpoints"),
        Point::Connection => (4, "connection at hand"),
        Point::Composed => (5, "head and arguments written"),
        Point::Sent => (6, "sent (system call)"),
        Point::Received => (6, "wait for the reply"),
        Point::Parsed => (13, "reply recognised"),
        Point::Decoded => (14, "result read"),
        Point::End => (14, "connection given back"),
        Point::Admitted => (8, "request recognised"),
        Point::Located => (9, "adapter and servant"),
        Point::Called => (10, "operation, arguments"),
        Point::Returned => (10, "the servant's method"),
        Point::Replied => (11, "reply written"),
        Point::Left => (11, "sent (system call)"),
        Point::Done => (12, "request ended"),
        _ => (0, ""),
    }
}

/// Every step as rows name it: its side, its number in ARCHITECTURE.md, and its name. The client's first, each side's in order.
pub fn named_steps() -> impl Iterator<Item = (&'static str, u32, &'static str)> {
    let ends = Point::ALL.into_iter().filter(|point| !matches!(point, Point::Begin | Point::Readable));
    let (servers, clients): (Vec<Point>, Vec<Point>) = ends.partition(|point| point.is_servers());
    let named = |point: Point| {
        let (number, name) = step_of(point);
        (side_of(point), number, name)
    };
    let between = std::iter::once((BETWEEN, TRANSIT.0, TRANSIT.1));
    clients.into_iter().map(named).chain(between).chain(servers.into_iter().map(named))
}

/// Makes the calls and takes them apart.
///
/// # Errors
///
/// [`BenchError::System`] without probes in this program or the server's, and whatever prevents the calls.
pub fn run(plan: &Plan, lab: &Lab) -> Result<Findings, BenchError> {
    probes::record(false).map_err(failed)?;
    let placement = plan.pin.placement()?;
    let setting = Setting::over(plan.transport);
    let bounds = lab.bounds(placement.server);
    let server = Server::start(Zorb.name(), Zorb.server(lab, &setting)?, &bounds)?;
    lab.progress.expect(plan.payloads.len() as u64 + counts::payloads(plan).count() as u64);
    let address = server.address().to_owned();
    pin::on(placement.client, || {
        let orb = Orb::builder().build();
        let object = orb.string_to_object(&address).map_err(failed)?;
        let echo = Echo::from_object(object.ok_or_else(|| failed("the reference is nil"))?);
        let boxes = plan.payloads.iter().map(|&payload| {
            let seen = look_into(&echo, payload, plan.calls.clamp(1, MOST_CALLS));
            lab.progress.step();
            seen
        });
        let boxes = boxes.collect::<Result<Vec<_>, _>>()?;
        let counted = counts::payloads(plan).map(|payload| {
            let counted = counts::count(&echo, payload);
            lab.progress.step();
            counted
        });
        let counted = counted.collect::<Result<_, _>>()?;
        let ticks_per_nanosecond = boxes.first().map_or(f64::NAN, |seen| seen.ticks_per_microsecond / 1e3);
        let cost = probes::cost().map_err(failed)?;
        let [mark, reading] = [cost.mark, cost.reading].map(|ticks| ticks / ticks_per_nanosecond);
        Ok(Findings { boxes, counted, mark, reading })
    })?
}

fn look_into(echo: &Echo, payload: Payload, calls: usize) -> Result<WhiteBox, BenchError> {
    let mut exchange = orb::echo::exchange(echo, payload)?;
    let mut call = || {
        exchange.round_trip()?;
        exchange.verify()
    };
    for _ in 0..WARM_UP {
        call()?;
    }
    echo.record(true).map_err(failed)?;
    probes::take();
    probes::record(true).map_err(orb::failed)?;
    let (began, from) = (Instant::now(), probes::ticks());
    for _ in 0..calls {
        call()?;
    }
    // Long enough that the clocks' readings at both ends do not matter.
    while began.elapsed() < Duration::from_millis(20) {
        std::hint::spin_loop();
    }
    let ticks_per_microsecond = (probes::ticks() - from) as f64 / began.elapsed().as_secs_f64() / 1e6;
    probes::record(false).map_err(orb::failed)?;
    let client = calls_of(probes::take(), Point::Begin, Point::End);
    echo.record(false).map_err(failed)?;
    let recorded = echo.recorded().map_err(failed)?;
    let server = calls_of(vec![stamps_of(&recorded)], Point::Readable, Point::Done);
    if client.is_empty() || server.is_empty() {
        return Err(failed("the probes recorded no whole call"));
    }
    let mut whole: Vec<f64> = client.iter().map(|call| ticks_between(call, 0, call.len() - 1)).collect();
    let call = median(&mut whole) * 1e3 / ticks_per_microsecond;
    let steps = steps(&client, &server, ticks_per_microsecond, call);
    Ok(WhiteBox { payload, call, steps, client, server, ticks_per_microsecond })
}

/// What a server sent: points and ticks in turns. Points of a newer program are left out.
fn stamps_of(recorded: &[u64]) -> Vec<Stamp> {
    let pairs = recorded.chunks_exact(2);
    let stamps = pairs.filter_map(|pair| {
        let point = Point::ALL.into_iter().find(|&point| point as u64 == pair[0])?;
        Some(Stamp { point, ticks: pair[1] })
    });
    stamps.collect()
}

/// The whole calls among the stamps: from `first` to `last`, each point once and in order.
fn calls_of(threads: Vec<Vec<Stamp>>, first: Point, last: Point) -> Vec<Vec<Stamp>> {
    let expected: Vec<_> = Point::ALL.into_iter().filter(|point| (first..=last).contains(point)).collect();
    let mut calls = Vec::new();
    for stamps in threads {
        let beginnings = (0..stamps.len()).filter(|&at| stamps[at].point == first);
        for at in beginnings {
            let Some(call) = stamps.get(at..at + expected.len()) else { continue };
            if call.iter().map(|stamp| stamp.point).eq(expected.iter().copied()) {
                calls.push(call.to_vec());
            }
        }
    }
    calls
}

fn ticks_between(call: &[Stamp], from: usize, to: usize) -> f64 {
    call[to].ticks.saturating_sub(call[from].ticks) as f64
}

/// The client's steps, what lies between, and the server's, of calls of so many nanoseconds.
fn steps(client: &[Vec<Stamp>], server: &[Vec<Stamp>], ticks_per_microsecond: f64, call: f64) -> Vec<Step> {
    let (mut steps, mut servers) = (medians(client), medians(server));
    for step in steps.iter_mut().chain(&mut servers) {
        step.nanoseconds *= 1e3 / ticks_per_microsecond;
        step.share = step.nanoseconds / call;
    }
    let served: f64 = servers.iter().map(|step| step.nanoseconds).sum();
    let wait = steps.iter_mut().find(|step| (step.number, step.name) == step_of(Point::Received));
    let waited = wait.map_or(0.0, |wait| {
        wait.share = 0.0;
        wait.nanoseconds
    });
    // On two processors the server may end its last steps when the client has its reply.
    let nanoseconds = (waited - served).max(0.0);
    let (number, name) = TRANSIT;
    steps.push(Step { side: BETWEEN, number, name, nanoseconds, share: nanoseconds / call });
    steps.extend(servers);
    steps
}

/// The steps of calls that all have the same points; times in ticks.
fn medians(calls: &[Vec<Stamp>]) -> Vec<Step> {
    let points = calls.first().map_or(0, Vec::len);
    let step_at = |at: usize| {
        let mut ticks: Vec<f64> = calls.iter().map(|call| ticks_between(call, at - 1, at)).collect();
        let point = calls[0][at].point;
        let (number, name) = step_of(point);
        Step { side: side_of(point), number, name, nanoseconds: median(&mut ticks), share: 0.0 }
    };
    (1..points).map(step_at).collect()
}

fn side_of(point: Point) -> &'static str {
    if point.is_servers() { "server" } else { "client" }
}

impl Findings {
    /// Steps and counts as results.
    pub fn rows(&self, plan: &Plan) -> Vec<Row> {
        let steps = self.boxes.iter().flat_map(|seen| seen.rows(plan));
        steps.chain(self.counted.iter().flat_map(|counted| counted.rows(plan))).collect()
    }
}

impl WhiteBox {
    /// The steps as results.
    fn rows(&self, plan: &Plan) -> Vec<Row> {
        let what = (self.payload.type_name(), self.payload.size());
        let row = |step: &Step| {
            let figures = Figures::Step {
                side: step.side.to_owned(),
                step: step.number,
                name: step.name.to_owned(),
                p50_ns: step.nanoseconds,
                share: step.share,
            };
            Row::new("whitebox", &Zorb, (plan.transport, plan.pin), what, figures)
        };
        self.steps.iter().map(row).collect()
    }
}

/// The first calls of each kind on one line of time, as JSON in the trace event format, which Perfetto opens. Client and
/// server stand on one clock: the cycle counter is the machine's.
pub fn trace(boxes: &[WhiteBox]) -> String {
    let origin = boxes.iter().flat_map(|seen| seen.client.iter().chain(&seen.server).flatten());
    let origin = origin.map(|stamp| stamp.ticks).min().unwrap_or(0);
    let mut events = vec![
        r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"client"}}"#.to_owned(),
        r#"{"ph":"M","name":"process_name","pid":2,"args":{"name":"server"}}"#.to_owned(),
    ];
    for seen in boxes {
        let microseconds = |ticks: u64| ticks as f64 / seen.ticks_per_microsecond;
        for (process, calls) in [(1, &seen.client), (2, &seen.server)] {
            for pair in calls.iter().take(TRACED).flat_map(|call| call.windows(2)) {
                let mut event = String::new();
                let (begin, end) =
                    (pair[0].ticks.saturating_sub(origin), pair[1].ticks.saturating_sub(origin));
                let lasts = microseconds(end.saturating_sub(begin));
                // Names are constants without characters that JSON would have escaped.
                let _ = write!(
                    event,
                    r#"{{"ph":"X","name":"{}","pid":{process},"tid":1,"ts":{:.4},"dur":{lasts:.4},"args":{{"call":"{}"}}}}"#,
                    step_of(pair[1].point).1,
                    microseconds(begin),
                    seen.payload,
                );
                events.push(event);
            }
        }
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(first: Point, last: Point, from: u64, each: u64) -> Vec<Stamp> {
        let points = Point::ALL.into_iter().filter(|point| (first..=last).contains(point));
        points.zip(0..).map(|(point, at)| Stamp { point, ticks: from + at * each }).collect()
    }

    fn client_call(from: u64, each: u64) -> Vec<Stamp> {
        call(Point::Begin, Point::End, from, each)
    }

    #[test]
    fn whole_calls_are_found_among_parts() {
        let mut stamps = client_call(0, 10)[4..].to_vec();
        stamps.extend(client_call(1_000, 10));
        stamps.extend(client_call(2_000, 20)[..6].to_vec());
        stamps.extend(client_call(3_000, 30));
        let calls = calls_of(vec![stamps], Point::Begin, Point::End);
        assert_eq!(calls, [client_call(1_000, 10), client_call(3_000, 30)]);
    }

    #[test]
    fn every_point_ends_a_step_that_has_a_name() {
        for point in Point::ALL {
            let begins = matches!(point, Point::Begin | Point::Readable);
            assert_eq!(step_of(point).1.is_empty(), begins, "{point:?}");
            assert_eq!(step_of(point).0 == 0, begins, "{point:?}");
        }
    }

    #[test]
    fn a_step_takes_the_median() {
        let steps = medians(&[client_call(0, 10), client_call(500, 30), client_call(900, 20)]);
        assert_eq!(steps.len(), 9);
        assert!(steps.iter().all(|step| step.nanoseconds == 20.0), "{steps:?}");
        assert_eq!((steps[0].name, steps[0].side), ("deadline and policies", "client"));
    }

    #[test]
    fn shares_are_of_the_whole_call_and_nothing_is_counted_twice() {
        // Nine steps of the client, of which one is the wait; seven of the server.
        let (client, server) = (client_call(0, 100), call(Point::Readable, Point::Done, 0, 10));
        let steps = steps(&[client], &[server], 1e3, 900.0);
        assert_eq!(steps.len(), 9 + 1 + 7);
        let between: Vec<_> = steps.iter().filter(|step| step.side == BETWEEN).collect();
        assert_eq!((between.len(), between[0].nanoseconds), (1, 100.0 - 70.0));
        assert!((steps.iter().map(|step| step.share).sum::<f64>() - 1.0).abs() < 1e-9, "{steps:?}");
    }

    #[test]
    fn stamps_of_unknown_points_are_left_out() {
        let sent = [Point::Readable as u64, 7, 99, 8, Point::Done as u64, 9, 3];
        let points: Vec<_> = stamps_of(&sent).into_iter().map(|stamp| (stamp.point, stamp.ticks)).collect();
        assert_eq!(points, [(Point::Readable, 7), (Point::Done, 9)]);
    }

    #[test]
    fn the_trace_is_json_with_both_sides() {
        let seen = WhiteBox {
            payload: Payload::Null,
            call: 1.0,
            steps: Vec::new(),
            client: vec![client_call(100, 10)],
            server: vec![call(Point::Readable, Point::Done, 130, 3)],
            ticks_per_microsecond: 2.0,
        };
        let trace: serde_json::Value = serde_json::from_str(&trace(&[seen])).expect("JSON");
        let events = trace["traceEvents"].as_array().expect("a list");
        assert_eq!(events.len(), 2 + 9 + 7);
        assert_eq!(events[2]["ts"], 0.0);
        assert_eq!(events[2]["dur"], 5.0);
        assert_eq!(events[2]["name"], "deadline and policies");
    }
}
