// A word that others change is atomic.

use zorb_ipc::PrivateFutex;

fn wrong(word: &u32) {
    PrivateFutex::of(word);
}

fn main() {}
