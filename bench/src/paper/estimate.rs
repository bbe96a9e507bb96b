//! About how long a scenario takes, so that a run can say so before it begins and while it lasts.
//!
//! Rough figures of a machine with two processors and nothing else to do; nothing that is measured depends on them.

use std::time::Duration;

use crate::calls::{Basis, PAIRS, WARM_UP};
use crate::demux::Style;
use crate::flood::{Element, Flood};
use crate::images::ALL_CALLS;
use crate::link::Spec;
use crate::orb::Zorb;
use crate::pin::Pin;
use crate::raw::Raw;
use crate::statistics::LEAST_PAIRS;
use crate::system::{Payload, System};
use crate::{iterations, ttcp};

use super::scenario::{Scenario, Systems};

/// What a system takes.
struct Cost {
    /// Seconds to start both halves.
    start: f64,
    /// Microseconds of a null call on one processor, and more for each KiB there and back.
    call: f64,
    kib: f64,
    /// Microseconds of a message one way, and Gbit/s of octets and of structs in large ones.
    message: f64,
    octets: f64,
    structs: f64,
}

fn cost(system: &dyn System) -> Cost {
    let cost =
        |start, call, kib, message, octets, structs| Cost { start, call, kib, message, octets, structs };
    match system.name() {
        "zorb" => cost(0.1, 13.0, 0.3, 4.0, 35.0, 35.0),
        "omniorb" => cost(0.2, 12.5, 0.8, 3.0, 35.0, 10.0),
        "jacorb" => cost(8.0, 31.0, 0.7, 40.0, 6.0, 6.0),
        "tirpc" => cost(0.1, 14.0, 0.6, 0.7, 30.0, 5.0),
        "tirpc-opaque" => cost(0.1, 14.0, 0.6, 0.7, 30.0, 30.0),
        "tonic" => cost(0.1, 29.0, 1.7, 1.0, 15.0, 4.5),
        "capnp" => cost(0.1, 19.0, 0.6, 5.0, 20.0, 10.0),
        _ => cost(0.1, 12.0, 0.25, 4.0, 40.0, 40.0),
    }
}

/// Gbit/s of elements that a system converts one by one; `None` of others.
fn converted(system: &dyn System, element: Element) -> Option<f64> {
    match (system.name(), element) {
        ("omniorb", Element::Char) => Some(0.4),
        ("tirpc", Element::Char) => Some(0.4),
        ("tirpc", Element::Short) | ("tonic", Element::Short) => Some(0.8),
        _ => None,
    }
}

/// More for a call over two processors, in microseconds: both wake up for it.
const WAKING: f64 = 42.0;

/// Seconds from a flood's end until that has been confirmed, and what lies between two.
const BETWEEN_FLOODS: f64 = 0.002;

/// Seconds of a two-way call among a hundred operations, and of a oneway until it was executed.
const TWOWAY: f64 = 13e-6;
const ONEWAY: f64 = 4.5e-6;

/// Seconds to make an object.
const OBJECT: f64 = 2e-6;

/// Over this link.
pub(super) fn of(scenario: &Scenario, link: Option<&Spec>) -> Duration {
    let rate = link.and_then(|link| link.rate).map_or(f64::INFINITY, |bits| bits as f64 / 1e9);
    let seconds = match scenario {
        Scenario::Floods(plan, versions) => {
            sum(versions, |cost, version| cost.start + floods(plan, cost, version, rate))
        }
        // Looking takes a little, and names are read from programs and the kernel.
        Scenario::Profiles(plan, versions) => sum(versions, |cost, version| {
            cost.start + 1.1 * floods(plan, cost, version, rate) + 2.0 * plan.elements.len() as f64
        }),
        Scenario::RoundTrips(plan, peers) => of_calls(&plan.basis, &plan.payloads, peers),
        Scenario::Cubes(plan, peers) => {
            let payloads: Vec<_> = plan.cubes.iter().map(|&cube| Payload::Cube(cube)).collect();
            of_calls(&plan.basis, &payloads, peers)
        }
        Scenario::Sizes(plan, peers) => {
            let payloads: Vec<_> = plan.sizes.iter().map(|&size| Payload::Octets(size)).collect();
            of_calls(&plan.basis, &payloads, peers)
        }
        Scenario::WhiteBox(plan) => 1.0 + plan.payloads.len() as f64 * 0.2,
        Scenario::Lookups(plan) => {
            // First and last, same and random; the floor and each way to find an operation.
            let ways = 1 + plan.lookups.len();
            let events = 2 * plan.styles.len() * (plan.operations.len() * ways + plan.objects.len() * 2);
            let oneway = plan.styles.contains(&Style::Oneway);
            let call = 13e-6 * if oneway { 0.7 } else { 1.0 };
            let made: u32 = plan.objects.iter().sum();
            1.0 + events as f64 * (WARM_UP.as_secs_f64() + made_calls(&plan.basis) * call)
                + 4.0 * f64::from(made) * OBJECT
        }
        Scenario::Iterations(plan) => {
            let once = plan.iterations.iter().sum::<u32>() as f64 * f64::from(iterations::CALLS);
            let call = |style: &Style| if *style == Style::Oneway { ONEWAY } else { TWOWAY };
            let turns: f64 = plan.styles.iter().map(|style| once * call(style) * plan.repeat as f64).sum();
            let warm_up = (plan.styles.len() * plan.iterations.len()) as f64 * WARM_UP.as_secs_f64();
            plan.lookups.len() as f64 * (0.1 + warm_up + turns)
        }
        Scenario::FirstCalls(basis, peers) => {
            let anew = made_calls(basis) * 400e-6;
            with_ours(peers, |cost| {
                anew + 3.0 * (made_calls(basis) * cost.call * 1e-6 + WARM_UP.as_secs_f64())
            })
        }
        Scenario::Images(_, peers) => {
            with_ours(peers, |cost| (LEAST_PAIRS as f64 + 0.3) * ALL_CALLS as f64 * cost.call * 1.1e-6)
        }
    };
    Duration::from_secs_f64(seconds)
}

fn sum(systems: &Systems, seconds: impl Fn(&Cost, &dyn System) -> f64) -> f64 {
    systems.0.iter().map(|&system| seconds(&cost(system), system)).sum()
}

/// Seconds for each of the peers, zorb and the floor, which start as well.
fn with_ours(peers: &Systems, seconds: impl Fn(&Cost) -> f64) -> f64 {
    let ours = Systems(vec![&Raw::Plain, &Zorb]);
    let each = |cost: &Cost, _: &dyn System| cost.start + seconds(cost);
    sum(&ours, each) + sum(peers, each)
}

/// Calls of a system in an event.
fn made_calls(basis: &Basis) -> f64 {
    (basis.burst() * PAIRS) as f64
}

fn of_calls(basis: &Basis, payloads: &[Payload], peers: &Systems) -> f64 {
    let waking = if basis.pin == Pin::Same { 0.0 } else { WAKING };
    with_ours(peers, |cost| {
        let event = |payload: &Payload| {
            let call = cost.call + waking + payload.size() as f64 / 1024.0 * cost.kib;
            // What is between two calls as well: a reply is compared with its request.
            WARM_UP.as_secs_f64() + made_calls(basis) * call * 1.1e-6
        };
        payloads.iter().map(event).sum()
    })
}

fn floods(plan: &ttcp::Plan, cost: &Cost, version: &dyn System, most: f64) -> f64 {
    let flood = |flood: Flood| {
        let structs = matches!(flood.element, Element::Struct | Element::Struct32);
        let rate = if structs { cost.structs } else { cost.octets };
        let rate = converted(version, flood.element).unwrap_or(rate).min(most);
        // Narrow queues make the two sides wait for each other, where no link is slower still.
        let waits = if plan.queue.is_some() && most.is_infinite() { 2.0 } else { 1.0 };
        let seconds = f64::from(flood.count) * cost.message * 1e-6 + flood.total() as f64 * 8e-9 / rate;
        let longest = plan.longest.map_or(f64::INFINITY, |longest| f64::from(longest) / 1e3);
        seconds.min(longest) * waits + BETWEEN_FLOODS
    };
    let sizes =
        |&element: &Element| plan.buffers.iter().map(move |&octets| flood(plan.flood(element, octets)));
    let once: f64 = plan.elements.iter().flat_map(sizes).sum();
    once * (plan.repeat as f64 + 1.0 / f64::from(ttcp::WARM_UP_PART))
}
