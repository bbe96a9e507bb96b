// Nor the other way round.

use std::time::Instant;
use zorb_ipc::{OnClockChange, WallClockTimer};

fn wrong(timer: &WallClockTimer, at: Instant) {
    timer.fire_at(at, OnClockChange::Tell);
}

fn main() {}
