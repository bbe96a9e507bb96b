//! A batch of datagrams goes, and comes, in one system call. Alone in its process, whose system calls it counts; without
//! the feature `probes` there is nothing to count.
#![cfg(feature = "probes")]

use std::io::IoSlice;
use std::time::{Duration, Instant};

use zorb_ipc::{ConnectedUdpSocket, ReceiveBatch, SendBatch, UdpSocket, system_calls};

fn calls<R>(of: impl FnOnce() -> R) -> (R, u64) {
    let before = system_calls();
    let result = of();
    (result, system_calls() - before)
}

#[test]
fn a_batch_is_one_system_call() {
    let server = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let client = ConnectedUdpSocket::connect(*server.local().unwrap()).unwrap();
    let (mut sending, mut receiving) = (SendBatch::new(16), ReceiveBatch::new(16, 8));
    let slices = [IoSlice::new(b"octets")];
    let datagrams = [&slices[..]; 16];
    let deadline = Instant::now() + Duration::from_secs(30);

    let (sent, made) = calls(|| client.send_many(&datagrams, &mut sending).unwrap());
    assert_eq!((sent.count(), made), (16, 1));
    // On this host's own interface they have come when they have gone.
    assert_eq!(calls(|| server.receive_many(&mut receiving).unwrap()), (16, 1));
    let (_, made) = calls(|| client.send_many_by(&datagrams, &mut sending, deadline).unwrap());
    assert_eq!(made, 1);
    assert_eq!(calls(|| server.receive_many_by(&mut receiving, deadline).unwrap()), (16, 1));
    // The count is not always 1: one by one they take as many as they are.
    let (_, made) = calls(|| datagrams.iter().for_each(|one| client.send(one).unwrap()));
    assert_eq!(made, 16);
}
