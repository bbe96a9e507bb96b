// Receiving for a group gives no right to send to it.

use std::io::IoSlice;
use zorb_ipc::MulticastReceiver;

fn wrong(receiver: &MulticastReceiver) {
    receiver.send(&[IoSlice::new(b"hello")]);
}

fn main() {}
