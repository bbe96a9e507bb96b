//! Signals: a call that waits goes on when one has interrupted it. For a test that is alone in its process.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;

use zorb_ipc::ByteStream;

use super::interruptions::finish_interrupted;
use super::streams::{Tried, crowded, receive, send};
use super::{LONG, within};

/// Each call that waits, in turn.
pub(crate) fn do_not_cut_short<T: Tried>() {
    let acceptor = Arc::new(T::listen(T::fresh()).unwrap());
    let waiting = Arc::clone(&acceptor);
    let accepting = thread::spawn(move || T::accept_by(&waiting, within(LONG)).unwrap());
    let mut clients = Vec::new();
    let connect = || clients.push(T::connect(T::address(&acceptor), within(LONG)).unwrap());
    let server = Arc::new(finish_interrupted(accepting, connect));
    let client = clients.pop().unwrap();

    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receiver.receive_by(&mut [0; 4], within(LONG)).unwrap());
    assert_eq!(finish_interrupted(receiving, || send(&client, b"abc")), 3);

    let receiver = Arc::clone(&server);
    let receiving = thread::spawn(move || receive(&*receiver, 4));
    assert_eq!(finish_interrupted(receiving, || send(&client, b"abcd")), b"abcd");

    let receiver = Arc::clone(&server);
    let looking = thread::spawn(move || receiver.wait_readable(within(LONG)).unwrap());
    assert!(finish_interrupted(looking, || send(&client, b"x")));
    receive(&*server, 1);

    let sender = Arc::clone(&server);
    let octets = 16 << 20;
    let sending = thread::spawn(move || {
        sender.send_all(&mut [IoSlice::new(&vec![1; octets])], within(LONG)).unwrap();
    });
    finish_interrupted(sending, || drop(receive(&client, octets)));

    if !T::FULL_REFUSES {
        let (acceptor, queued) = crowded::<T>();
        let to = T::address(&acceptor);
        let connecting = thread::spawn(move || drop(T::connect(to, within(LONG)).unwrap()));
        finish_interrupted(connecting, || {
            for _ in 0..=queued.len() {
                T::accept_by(&acceptor, within(LONG)).unwrap();
            }
        });
    }
}
