// What a wall clock timer does when the clock is set has to be said.

use std::time::SystemTime;
use zorb_ipc::WallClockTimer;

fn wrong(timer: &WallClockTimer, at: SystemTime) {
    timer.fire_at(at);
}

fn main() {}
