//! Many datagrams in one system call.

use std::io::IoSlice;
use std::mem;
use std::os::fd::AsFd;

use zorb_ipc::{ConnectedUdpSocket, ReceiveBatch, SendBatch, Udp};

use crate::stage::{LENGTH, OCTETS, after, before, kept, soon, udp};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/datagrams-send-16", datagrams_send),
    ("ipc/now-datagrams-send-16", datagrams_send_now),
    ("ipc/by-datagrams-send-16", datagrams_send_by),
    ("libc/datagrams-send-16", floors_datagrams_send),
    ("ipc/datagrams-receive-16", datagrams_receive),
    ("ipc/now-datagrams-receive-16", datagrams_receive_now),
    ("ipc/by-datagrams-receive-16", datagrams_receive_by),
    ("libc/datagrams-receive-16", floors_datagrams_receive),
];

/// Of many datagrams at once.
const MANY: usize = 16;

fn sends_many(mut counted: impl FnMut(&ConnectedUdpSocket) + 'static) -> Case {
    let [near, far] = udp();
    let take =
        move || (0..MANY).for_each(|_| assert_eq!(far.receive(&mut [0; LENGTH]).expect("one"), LENGTH));
    before(move || counted(near), take)
}

fn datagrams_send() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let mut batch = SendBatch::new(MANY);
    sends_many(move |near| assert_eq!(near.send_many(&datagrams, &mut batch).expect("room"), MANY))
}

fn datagrams_send_now() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let mut batch = SendBatch::new(MANY);
    sends_many(move |near| assert_eq!(near.send_many_now(&datagrams, &mut batch).expect("room"), MANY))
}

fn datagrams_send_by() -> Case {
    let slices = kept([IoSlice::new(&OCTETS)]);
    let datagrams: [&[IoSlice<'_>]; MANY] = [slices; MANY];
    let (mut batch, deadline) = (SendBatch::new(MANY), soon());
    sends_many(move |near| {
        assert_eq!(near.send_many_by(&datagrams, &mut batch, deadline).expect("room"), MANY)
    })
}

fn floors_datagrams_send() -> Case {
    let slice = libc::iovec { iov_base: OCTETS.as_ptr().cast_mut().cast(), iov_len: LENGTH };
    let (slices, mut headers) = (vec![slice; MANY], vec![empty(); MANY]);
    sends_many(move |near| floor::send_many(near.as_fd(), &slices, &mut headers))
}

fn receives_many(mut counted: impl FnMut(&ConnectedUdpSocket) + 'static) -> Case {
    let [near, far] = udp();
    let put = move || (0..MANY).for_each(|_| far.send(&[IoSlice::new(&OCTETS)]).expect("room"));
    after(put, move || counted(near))
}

fn datagrams_receive() -> Case {
    let mut batch = ReceiveBatch::<Udp>::new(MANY, LENGTH);
    receives_many(move |near| assert_eq!(near.receive_many(&mut batch).expect("datagrams"), MANY))
}

fn datagrams_receive_now() -> Case {
    let mut batch = ReceiveBatch::<Udp>::new(MANY, LENGTH);
    receives_many(move |near| assert_eq!(near.receive_many_now(&mut batch).expect("datagrams"), MANY))
}

fn datagrams_receive_by() -> Case {
    let (mut batch, deadline) = (ReceiveBatch::<Udp>::new(MANY, LENGTH), soon());
    receives_many(move |near| {
        assert_eq!(near.receive_many_by(&mut batch, deadline).expect("datagrams"), MANY)
    })
}

fn floors_datagrams_receive() -> Case {
    // SAFETY: an address of zeros is one of no family.
    #[allow(unsafe_code, reason = "the floor is libc itself")]
    let none: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut headers = vec![empty(); MANY];
    for header in &mut headers {
        let octets: &mut [u8; LENGTH] = Box::leak(Box::new([0; LENGTH]));
        let slice = libc::iovec { iov_base: octets.as_mut_ptr().cast(), iov_len: LENGTH };
        header.msg_hdr.msg_name = std::ptr::from_mut(Box::leak(Box::new(none))).cast();
        header.msg_hdr.msg_iov = Box::leak(Box::new(slice));
        header.msg_hdr.msg_iovlen = 1;
    }
    receives_many(move |near| floor::receive_many(near.as_fd(), &mut headers))
}

#[allow(unsafe_code, reason = "the floor is libc itself")]
fn empty() -> libc::mmsghdr {
    // SAFETY: an `mmsghdr` of zeros is an empty one.
    unsafe { mem::zeroed() }
}
