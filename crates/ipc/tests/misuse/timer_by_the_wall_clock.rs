// A timer of the machine's running time takes no time of day.

use std::time::SystemTime;
use zorb_ipc::Timer;

fn wrong(timer: &Timer, at: SystemTime) {
    timer.fire_at(at);
}

fn main() {}
