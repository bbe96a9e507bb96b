//! Connections that carry messages do the same at every kind of address: the conformance suite, a line for
//! each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::Ordering::Relaxed;

use zorb_ipc::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions};

use conformance::{LONG, unused_name, unused_path, within};

seqpackets!(file: crate::unused_path);
seqpackets!(abstract_name: crate::unused_name);

#[test]
fn an_abandoned_file_is_replaced_by_whoever_asks_for_it() {
    let at = unused_path();
    let path = at.as_path().unwrap();
    // As a process leaves it that died.
    {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket};
        let died = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
        bind(&died, &SocketAddrUnix::new(path).unwrap()).unwrap();
    }
    let options = SeqpacketAcceptorOptions::new();
    assert!(SeqpacketAcceptor::bind(at.clone(), &options).unwrap_err().is_address_in_use());
    let acceptor = SeqpacketAcceptor::bind(at.clone(), &options.replace_abandoned(true).mode(0o600)).unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    Seqpacket::connect(at.clone(), within(LONG)).unwrap();
    acceptor.accept_by(within(LONG)).unwrap();
    drop(acceptor);
    assert!(!path.exists(), "it goes with its acceptor");
}

#[test]
fn a_stream_does_not_connect_to_it() {
    let acceptor = SeqpacketAcceptor::bind(unused_name(), &SeqpacketAcceptorOptions::new()).unwrap();
    let error = zorb_ipc::UnixStream::connect(acceptor.local().clone(), within(LONG)).unwrap_err();
    assert!(error.address().is_some(), "{error}");
}

/// Another program may send what this type does not.
#[test]
fn an_empty_message_of_another_program_is_not_the_end() {
    use rustix::net::{SendFlags, send};
    let acceptor = SeqpacketAcceptor::bind(unused_name(), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    let sends = |octets: &[u8]| send(&client, octets, SendFlags::empty()).unwrap();
    let mut buffer = [0; 8];
    sends(b"");
    assert!(server.receive_now(&mut buffer).unwrap_err().is_would_block());
    for text in [&b""[..], b"", b"one", b"", b"three"] {
        sends(text);
    }
    assert_eq!(server.receive(&mut buffer).unwrap(), 3);
    client.shutdown_send().unwrap();
    assert_eq!(server.receive_passed(&mut buffer, within(LONG)).unwrap().octets, 5);
    assert_eq!(server.receive_by(&mut buffer, within(LONG)).unwrap(), 0);
    assert_eq!(server.receive_passed(&mut buffer, within(LONG)).unwrap().octets, 0);
}

#[test]
fn a_connection_is_given_up_and_adopted_and_names_both_ends() {
    use std::io::IoSlice;
    use std::os::fd::OwnedFd;
    let acceptor = SeqpacketAcceptor::bind(unused_path(), &SeqpacketAcceptorOptions::new()).unwrap();
    let at = acceptor.local().clone();
    let acceptor = SeqpacketAcceptor::adopt(OwnedFd::from(acceptor)).unwrap();
    assert_eq!(acceptor.local(), &at);
    let client = Seqpacket::connect(at.clone(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    assert_eq!((client.peer(), client.local().unwrap()), (&Some(at.clone()), None));
    assert_eq!((server.peer(), server.local().unwrap()), (&None, Some(at.clone())));
    let refused = zorb_ipc::UnixStream::adopt(client.into()).unwrap_err();
    assert!(refused.to_string().ends_with("found a Unix seqpacket socket that is connected"), "{refused}");
    let client = Seqpacket::adopt(refused.into_handle()).unwrap();
    assert_eq!(client.peer(), &Some(at.clone()));
    // Which waits, whatever another owner sets.
    rustix::io::ioctl_fionbio(&client, true).unwrap();
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| client.receive(&mut [0; 4]).unwrap());
        std::thread::sleep(std::time::Duration::from_millis(30));
        server.send(&[IoSlice::new(b"late")]).unwrap();
        assert_eq!(receiving.join().unwrap(), 4);
    });
    fs::remove_file(at.as_path().unwrap()).unwrap();
}

#[test]
fn empty_messages_without_end_keep_nobody_beyond_the_deadline() {
    use rustix::net::{SendFlags, send};
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};
    let acceptor = SeqpacketAcceptor::bind(unused_name(), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(acceptor.local().clone(), within(LONG)).unwrap();
    let server = acceptor.accept_by(within(LONG)).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    let _ = send(&client, b"", SendFlags::DONTWAIT);
                }
            });
        }
        // Whoever waits longer than that waits for ever.
        let (begun, time) = (Instant::now(), Duration::from_millis(100));
        let first = server.receive_by(&mut [0; 8], begun + time);
        let second = server.receive_passed(&mut [0; 8], Instant::now() + time).map(drop);
        let _ = server.receive_now(&mut [0; 8]).unwrap_err();
        over.store(true, Relaxed);
        assert!(first.unwrap_err().is_timeout());
        assert!(second.unwrap_err().is_timeout());
    });
}
