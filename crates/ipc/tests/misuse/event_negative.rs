// A number that is added is not negative.

use zorb_ipc::EventCounter;

fn wrong(counter: &EventCounter, back: i64) {
    counter.add_now(back);
}

fn main() {}
