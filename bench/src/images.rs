//! An application: an image editor split over two processes, as the field had one (Forin, Hunt, Li and Wang, 1999).
//!
//! 295 objects (195 shapes, 100 tiles) get 9,000 calls of mixed kinds in turn; the tiles' calls carry an image of 3 MiB
//! there and back. A system whose client has one object for all makes the same calls on that one.

use std::time::Duration;

use crate::BenchError;
use crate::calls::{self, Basis, Side};
use crate::contest::Contest;
use crate::cube::Cube;
use crate::lab::Lab;
use crate::orb::Zorb;
use crate::row::{Figures, Parameters, Row};
use crate::statistics::{LEAST_PAIRS, SplitMix64};
use crate::system::{Call, Client, Payload, System};

/// Shapes, which have properties.
pub const SHAPES: usize = 195;

/// Tiles, which have pixels.
pub const TILES: usize = 100;

/// The editor's calls, a kind and how many in each of [`PASSES`].
const CALLS: [(Payload, usize); 5] = [
    // Select, redraw.
    (Payload::Cube(Cube::Void), 1_250),
    // A colour with its opacity.
    (Payload::Cube(Cube::Struct), 500),
    // A coordinate.
    (Payload::Cube(Cube::Long), 250),
    // A name.
    (Payload::Octets(64), 154),
    // A piece of the image.
    (Payload::Octets(8 << 10), 96),
];

/// Calls of one kind in a row: a shape is redrawn, a few tiles are read.
const STRETCH: usize = 10;

/// How often the editor goes through its calls.
const PASSES: usize = 4;

/// All calls of the application.
pub const ALL_CALLS: usize = PASSES * (1_250 + 500 + 250 + 154 + 96);

/// Octets of the image.
pub const IMAGE: usize = PASSES * 96 * (8 << 10);

/// Measures the application over `systems` beside bare sockets that move as many bytes, and hands on the rows. Gives
/// what went wrong with single systems, a line each.
///
/// # Errors
///
/// Any [`BenchError`] of the floor, and [`BenchError::Stopped`].
pub fn run(
    systems: &[&dyn System],
    basis: &Basis,
    lab: &Lab,
    finished: &mut (dyn FnMut(Vec<Row>) + Send),
) -> Result<Vec<String>, BenchError> {
    basis.contest(systems, lab, |contest| {
        lab.progress.expect((LEAST_PAIRS * contest.len()) as u64);
        let sides = event(contest, basis, lab)?;
        let rows = sides.iter().enumerate().filter_map(|(at, side)| {
            let side = side.as_ref()?;
            // Each sample is the mean call of one run of the application.
            let calls_s = side.latencies.count() as f64 / side.total.as_secs_f64();
            let mut row = basis.row(
                "images",
                contest.system(at),
                Payload::Null,
                Figures::Rate { calls_s },
                &side.ratios,
            );
            row.r#type = "mixed".to_owned();
            row.size = IMAGE;
            let objects = (contest.system(at).name() == Zorb.name()).then_some((SHAPES + TILES) as u32);
            row.parameters = Parameters { objects, ..Parameters::default() };
            Some(row)
        });
        finished(rows.collect());
        Ok(())
    })
}

fn event(contest: &mut Contest, basis: &Basis, lab: &Lab) -> Result<Vec<Option<Side>>, BenchError> {
    contest.begin()?;
    let mut script = Vec::new();
    for (payload, count) in CALLS {
        script.push((Call { payload, messages: calls::messages(contest, basis, lab, payload)? }, count));
    }
    let script = mixed(&script, basis.seed);
    let mut sides: Vec<Side> = (0..contest.len()).map(|_| Side::default()).collect();
    for at in 0..contest.len() {
        contest.attempt(at, |client, _| application(client, &script, 1).map(|_| ()))?;
    }
    calls::rounds(contest, lab, LEAST_PAIRS, &mut sides, &mut |client, times| {
        times.push(application(client, &script, PASSES)?.div_f64(ALL_CALLS as f64));
        Ok(())
    })?;
    Ok(calls::finished(contest, sides))
}

/// The same calls in [`STRETCH`]es of one kind, in an order that is the same for every system and run with this seed.
fn mixed(script: &[(Call, usize)], seed: u64) -> Vec<(Call, usize)> {
    let stretches = |&(call, count): &(Call, usize)| {
        let whole = std::iter::repeat_n((call, STRETCH), count / STRETCH);
        whole.chain(Some((call, count % STRETCH)).filter(|(_, rest)| *rest > 0))
    };
    let mut order: Vec<_> = script.iter().flat_map(stretches).collect();
    let mut random = SplitMix64(seed);
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// Goes through the calls, and gives the time that they took together.
fn application(
    client: &mut dyn Client,
    script: &[(Call, usize)],
    passes: usize,
) -> Result<Duration, BenchError> {
    let mut times = Vec::new();
    for _ in 0..passes {
        for &(call, count) in script {
            client.prepare(call)?;
            client.burst(count, &mut times)?;
        }
    }
    Ok(times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::MessageSizes;

    #[test]
    fn it_is_the_applications_size() {
        assert_eq!(ALL_CALLS, 9_000);
        assert_eq!(CALLS.iter().map(|(_, count)| count * PASSES).sum::<usize>(), ALL_CALLS);
        assert_eq!(SHAPES + TILES, 295);
        assert_eq!(IMAGE, 3 << 20);
    }

    #[test]
    fn kinds_are_mixed_and_no_call_is_lost() {
        let messages = MessageSizes { request: 0, reply: 0 };
        let script = CALLS.map(|(payload, count)| (Call { payload, messages }, count));
        let order = mixed(&script, 1);
        for (payload, count) in CALLS {
            let of_kind = order.iter().filter(|(call, _)| call.payload == payload);
            assert_eq!(of_kind.map(|(_, calls)| calls).sum::<usize>(), count, "{payload}");
        }
        let same = order.windows(2).filter(|pair| pair[0].0.payload == pair[1].0.payload).count();
        assert!(same < order.len() / 2, "{same} of {}", order.len());
        assert!(order.iter().all(|(_, calls)| (1..=STRETCH).contains(calls)));
    }
}
