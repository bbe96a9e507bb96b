//! Connections that carry messages do the same at every kind of address: the conformance suite, a line for
//! each.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use zorb_ipc::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, UnixAddress};

use conformance::{LONG, unused_path, within};

seqpackets!(file: crate::unused_path);
seqpackets!(abstract_name: crate::unused_name);

fn unused_name() -> UnixAddress {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("zorb-ipc-{}-seqpacket-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
    UnixAddress::abstract_name(name.as_bytes()).unwrap()
}

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
