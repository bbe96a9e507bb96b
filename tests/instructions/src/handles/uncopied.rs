//! Sending from the program's own memory, with completions.

use std::io::IoSlice;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::time::Instant;

use zorb_ipc::{AcceptorOptions, TcpAcceptor, TcpStream, ZeroCopyStream};

use crate::stage::{LENGTH, OCTETS, after, elsewhere, kept, soon};
use crate::{Case, Prepare, floor};

/// By name: what is counted, and with what.
pub(crate) const CASES: &[(&str, Prepare)] = &[
    ("ipc/send-uncopied", send_uncopied),
    ("libc/send-uncopied", floors_send_uncopied),
    ("ipc/beside-completions-receive", receive_beside_completions),
];

fn tcp() -> [TcpStream; 2] {
    let acceptor =
        TcpAcceptor::bind((Ipv4Addr::LOCALHOST, 0).into(), &AcceptorOptions::new()).expect("a port");
    let near = TcpStream::connect(acceptor.local_address(), soon()).expect("it listens");
    [near, acceptor.accept_by(soon()).expect("a peer waits")]
}

/// A buffer that came back, and whether it was copied after all.
type Done = Option<(&'static [u8], bool)>;

/// A buffer that goes out, and its completion, which the loopback interface gives as soon as it has been received.
fn uncopied<S: 'static>(
    mut sender: S,
    far: TcpStream,
    send: fn(&mut S, Instant),
    complete: fn(&mut S) -> Done,
) -> Case {
    let deadline = soon();
    Box::new(move |_| {
        send(&mut sender, deadline);
        elsewhere(&mut || far.receive_exact(&mut [0; LENGTH], soon()).expect("octets"));
        assert!(complete(&mut sender).is_some());
    })
}

fn send_uncopied() -> Case {
    let [near, far] = tcp();
    let near = ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets");
    uncopied(
        near,
        far,
        |near, deadline| near.send_all(&OCTETS, deadline).expect("room"),
        |near| {
            near.completed_now().expect("completions").map(|completed| (completed.buffer, completed.copied))
        },
    )
}

fn floors_send_uncopied() -> Case {
    let [near, far] = tcp();
    // For its option.
    let near = kept(ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets"));
    uncopied(
        (floor::Uncopied::default(), near),
        far,
        |(noted, near), _| assert_eq!(noted.send(near.as_fd(), &OCTETS), LENGTH),
        |(noted, near)| noted.completed(near.as_fd()),
    )
}

fn receive_beside_completions() -> Case {
    let [near, far] = tcp();
    let mut near = ZeroCopyStream::<&'static [u8]>::new(near).expect("an option of sockets");
    let deadline = soon();
    let mut into = [0; LENGTH];
    after(
        move || assert_eq!(far.send(&[IoSlice::new(&OCTETS)]).expect("room"), LENGTH),
        move || assert_eq!(near.receive_by(&mut into, deadline).expect("octets"), LENGTH),
    )
}
