//! Demultiplexing as the field measured it: iterations of [`CALLS`] calls of the last of [`OPERATIONS`] operations.
//!
//! In its turn each way to find an operation ([`Lookup`]) has so many iterations one after the other, with nothing
//! between two calls. Given are what the server's process spends of its processor on them, the time that the client needs for them,
//! and how much less that is than with [`Lookup::Linear`] in the same round. There is no floor: what is compared are
//! the ways among each other.
//!
//! The field's question (Gokhale and Schmidt, 1996): how much of what the server pays to find the method does the client
//! notice? [`FIELDS_SERVER_MS`] and [`FIELDS_GAIN_PERCENT`] are its answers.

use std::time::Duration;

use crate::BenchError;
use crate::calls::{self, Side, Turn};
use crate::contest::{Contest, Entry};
use crate::demux::{Lookup, Style, Target};
use crate::lab::Lab;
use crate::orb::Door;
use crate::pin::{self, Pin};
use crate::row::{Figures, Parameters, Row};
use crate::statistics::{Ratio, median};
use crate::system::{Call, MessageSizes, Payload, Setting, Transport};

/// Operations of the interface, the last of which is called.
pub const OPERATIONS: u32 = 100;

/// Calls of an iteration.
pub const CALLS: u32 = 100;

/// The most iterations of a turn: a million calls, ten times the field's.
pub const MOST_ITERATIONS: u32 = 10_000;

/// The field's iterations.
pub const FIELDS_ITERATIONS: [u32; 4] = [1, 100, 500, 1000];

/// What the field found on the server's side, in milliseconds, for the last of [`FIELDS_ITERATIONS`]. Its
/// numbered operations went through a `switch`.
pub const FIELDS_SERVER_MS: [(Lookup, f64); 3] =
    [(Lookup::Linear, 6_603.0), (Lookup::Hashed, 2_511.0), (Lookup::Numbered, 2_062.0)];

/// What the client gained from the better way in the field, in percent.
pub const FIELDS_GAIN_PERCENT: [(Style, f64); 2] = [(Style::Twoway, 3.0), (Style::Oneway, 10.0)];

/// What is to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Over what.
    pub transport: Transport,
    /// On which processors.
    pub pin: Pin,
    /// Numbers of iterations, up to [`MOST_ITERATIONS`].
    pub iterations: Vec<u32>,
    /// The ways to find an operation. Without [`Lookup::Linear`] there is no gain.
    pub lookups: Vec<Lookup>,
    /// Two-way, oneway.
    pub styles: Vec<Style>,
    /// Turns of each way for each number of iterations.
    pub repeat: usize,
    /// Seeds the interval's resampling.
    pub seed: u64,
}

/// Measures, and hands on the rows of each number of iterations as soon as they are there. Gives what went wrong with
/// single ways, a line each.
///
/// # Errors
///
/// There are too few processors; [`BenchError::Stopped`].
pub fn run(
    plan: &Plan,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    let doors: Vec<Door> = plan.lookups.iter().map(|&lookup| Door(lookup)).collect();
    let placement = plan.pin.placement()?;
    let events = plan.styles.len() * plan.iterations.len();
    lab.progress.expect((events * plan.repeat * doors.len()) as u64);
    pin::on(placement.client, || {
        let entries = doors.iter().map(|door| Entry::here(door));
        let mut contest = Contest::new(lab, Setting::over(plan.transport), placement, entries);
        for &style in &plan.styles {
            for &iterations in &plan.iterations {
                let sides = event(&mut contest, plan, lab, style, iterations)?;
                finished(rows(&contest, plan, &sides, style, iterations));
            }
        }
        Ok(contest.faults())
    })?
}

/// What is called.
fn payload(style: Style) -> Payload {
    Payload::Demux(Target { operations: OPERATIONS, last: true, objects: 1, random: false, style })
}

/// The turns of each way; `None` of one that failed.
fn event(
    contest: &mut Contest,
    plan: &Plan,
    lab: &Lab,
    style: Style,
    iterations: u32,
) -> Result<Vec<Option<Side>>, BenchError> {
    contest.begin()?;
    // Only a bare socket would have to know how long messages are.
    let call = Call { payload: payload(style), messages: MessageSizes { request: 0, reply: 0 } };
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    for (at, side) in sides.iter_mut().enumerate() {
        contest.attempt(at, |client, _| {
            client.prepare(call)?;
            side.warm_up(client)
        })?;
    }
    let calls = iterations * CALLS;
    calls::watched_rounds(contest, lab, plan.repeat, &mut sides, &mut |client, far, times| {
        let server = calls::watched_burst(client, far, calls as usize, times)?;
        // Two-way calls have a time each, oneways one for all, shared out among them.
        let alike = calls / u32::try_from(times.len()).unwrap_or(calls).max(1);
        let all: Duration = times.iter().sum::<Duration>() * alike;
        *times = vec![all];
        Ok(server)
    })?;
    Ok(calls::finished(contest, sides))
}

fn rows(contest: &Contest, plan: &Plan, sides: &[Option<Side>], style: Style, iterations: u32) -> Vec<Row> {
    let linear = plan.lookups.iter().position(|&lookup| lookup == Lookup::Linear);
    let linear = linear.filter(|_| plan.pin.gives_ratios());
    let compared = |at: usize| sides[linear.filter(|&linear| linear != at)?].as_ref();
    let sides_there = sides.iter().enumerate().filter_map(|(at, side)| Some((at, side.as_ref()?)));
    let rows = sides_there.map(|(at, side)| {
        let figures = figures(&side.turns, compared(at).map(|linear| linear.turns.as_slice()), plan.seed);
        let payload = payload(style);
        let what = (payload.type_name(), payload.size());
        let mut row = Row::new("demux", contest.system(at), (plan.transport, plan.pin), what, figures);
        row.parameters = Parameters {
            operations: Some(OPERATIONS),
            position: Some("last".to_owned()),
            lookup: Some(plan.lookups[at].name().to_owned()),
            style: Some(style.name().to_owned()),
            iterations: Some(iterations),
            ..Parameters::default()
        };
        row
    });
    rows.collect()
}

/// Medians over the turns, and the gain over those of `linear` in the same rounds: with an interval from
/// [`crate::statistics::LEAST_PAIRS`] of them on.
fn figures(turns: &[Turn], linear: Option<&[Turn]>, seed: u64) -> Figures {
    let milliseconds = |times: Vec<Duration>| {
        let mut times: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        // To a tenth of a microsecond.
        (median(&mut times) * 1e4).round() / 1e4
    };
    let server: Option<Vec<Duration>> = turns.iter().map(|turn| turn.server).collect();
    let mut ratios: Vec<f64> = linear
        .unwrap_or_default()
        .iter()
        .zip(turns)
        .map(|(linear, turn)| turn.took.as_secs_f64() / linear.took.as_secs_f64())
        .collect();
    let interval = Ratio::of_pairs(&ratios, seed);
    let ratio = (!ratios.is_empty()).then(|| median(&mut ratios)).filter(|ratio| ratio.is_finite());
    // In hundredths of a percent, as ratios are in ten-thousandths.
    let percent = |ratio: f64| ((1.0 - ratio) * 1e4).round() / 1e2;
    Figures::Together {
        server_ms: server.map(milliseconds),
        client_ms: milliseconds(turns.iter().map(|turn| turn.took).collect()),
        gain_percent: ratio.map(percent),
        gain_low: interval.map(|ratio| percent(ratio.high)),
        gain_high: interval.map(|ratio| percent(ratio.low)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::LEAST_PAIRS;

    fn turns(times: impl Iterator<Item = u64>) -> Vec<Turn> {
        let turn = |ms| Turn { took: Duration::from_millis(ms), server: Some(Duration::from_millis(ms / 2)) };
        times.map(turn).collect()
    }

    #[test]
    fn a_gain_is_that_of_the_same_rounds() {
        // A machine that is ten times slower in every second round, which both meet.
        let rounds = || (0..LEAST_PAIRS as u64).map(|round| if round % 2 == 0 { 1 } else { 10 });
        let (linear, other) =
            (turns(rounds().map(|slow| slow * 1_000)), turns(rounds().map(|slow| slow * 970)));
        let Figures::Together { server_ms, client_ms, gain_percent, gain_low, gain_high } =
            figures(&other, Some(&linear), 1)
        else {
            panic!()
        };
        assert_eq!((server_ms, client_ms), (Some(2_667.5), 5_335.0));
        assert_eq!([gain_percent, gain_low, gain_high], [Some(3.0); 3]);
    }

    #[test]
    fn few_rounds_have_a_gain_without_an_interval_and_none_without_linear() {
        let gains = |linear: Option<&[Turn]>| match figures(&turns([100, 120].into_iter()), linear, 1) {
            Figures::Together { gain_percent, gain_low, gain_high, .. } => {
                [gain_percent, gain_low, gain_high]
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(gains(Some(&turns([200, 200].into_iter()))), [Some(45.0), None, None]);
        assert_eq!(gains(None), [None; 3]);
        assert_eq!(gains(Some(&[])), [None; 3], "linear has failed");
    }

    #[test]
    fn what_cannot_be_seen_of_the_server_is_not_told() {
        let mut unseen = turns([100, 120].into_iter());
        unseen[1].server = None;
        assert!(matches!(figures(&unseen, None, 1), Figures::Together { server_ms: None, .. }));
    }
}
