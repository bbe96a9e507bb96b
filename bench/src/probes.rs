//! zorb's time probes, where this program was built with them.

pub use zorb::probes::{BUILT_IN, Point, Stamp, take, ticks};

use zorb::probes;

use crate::statistics::median;

/// What to say where it was not.
pub const NOT_BUILT: &str =
    "this program was built without time probes: build it with `cargo build --release --features probes`";

/// Switches recording in this process on or off.
///
/// # Errors
///
/// [`NOT_BUILT`].
pub fn record(on: bool) -> Result<(), &'static str> {
    if !BUILT_IN {
        return Err(NOT_BUILT);
    }
    probes::record(on);
    Ok(())
}

/// What one mark takes in this process, in ticks.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// All of it.
    pub mark: f64,
    /// Reading the cycle counter, which is a part of it.
    pub reading: f64,
}

/// Measures it now: medians of 101 times 64 marks, and readings, back to back. What else was recorded in this process is
/// forgotten.
///
/// # Errors
///
/// [`NOT_BUILT`].
pub fn cost() -> Result<Cost, &'static str> {
    record(true)?;
    let mark = back_to_back(|| probes::mark(Point::Begin));
    record(false)?;
    take();
    let reading = back_to_back(|| {
        std::hint::black_box(ticks());
    });
    Ok(Cost { mark, reading })
}

fn back_to_back(what: impl Fn()) -> f64 {
    const TIMES: u32 = 64;
    let mut runs = [0.0; 101];
    for run in &mut runs {
        let began = ticks();
        (0..TIMES).for_each(|_| what());
        *run = ticks().saturating_sub(began) as f64 / f64::from(TIMES);
    }
    median(&mut runs)
}
