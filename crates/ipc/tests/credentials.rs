//! Who is at the other end of a Unix stream or a seqpacket.

mod left_out;

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::process::{Command, Stdio, id};
use std::time::{Duration, Instant};

use rustix::process::{getegid, geteuid, getgroups};
use zorb_ipc::{
    AcceptorOptions, Credentials, ReceiveCredentials, Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions,
    UnixAcceptor, UnixAddress, UnixStream,
};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);
const ADDRESS: &str = "ZORB_IPC_ADDRESS";

fn soon() -> Instant {
    Instant::now() + LONG
}

fn name(of: &str) -> UnixAddress {
    UnixAddress::abstract_name(format!("zorb-ipc-credentials-{}-{of}", id()).as_bytes()).unwrap()
}

fn pair(of: &str, options: &AcceptorOptions<zorb_ipc::Unix>) -> (UnixStream, UnixStream, UnixAcceptor) {
    let acceptor = UnixAcceptor::bind(name(of), options).unwrap();
    let client = UnixStream::connect(name(of), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    (client, server, acceptor)
}

fn own() -> Credentials {
    Credentials { process: Some(id()), user: geteuid().as_raw(), group: getegid().as_raw() }
}

#[test]
fn each_end_knows_who_made_the_other() {
    let (client, server, _acceptor) = pair("peers", &AcceptorOptions::new());
    assert_eq!(client.peer_credentials().unwrap(), own());
    assert_eq!(server.peer_credentials().unwrap(), own());
    let mut expected: Vec<u32> = getgroups().unwrap().iter().map(|group| group.as_raw()).collect();
    let mut groups = server.peer_groups().unwrap();
    groups.sort_unstable();
    expected.sort_unstable();
    assert_eq!(groups, expected);
}

#[test]
fn each_end_of_a_seqpacket_knows_who_made_the_other() {
    let acceptor = SeqpacketAcceptor::bind(name("seqpackets"), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(name("seqpackets"), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    let mut expected: Vec<u32> = getgroups().unwrap().iter().map(|group| group.as_raw()).collect();
    expected.sort_unstable();
    for end in [&client, &server] {
        assert_eq!(end.peer_credentials().unwrap(), own());
        let mut groups = end.peer_groups().unwrap();
        groups.sort_unstable();
        assert_eq!(groups, expected);
    }
    // Once it is gone, too.
    drop(client);
    assert_eq!(server.peer_credentials().unwrap(), own());
}

#[test]
fn what_is_received_says_who_sent_it_if_asked() {
    let (client, server, _acceptor) = pair("asked", &AcceptorOptions::new());
    let mut into = [0; 16];
    let _ = client.send(&[IoSlice::new(b"not asked")]).unwrap();
    assert_eq!(server.receive_passed(&mut into, soon()).unwrap().credentials, None);

    server.set(ReceiveCredentials(true)).unwrap();
    assert_eq!(server.option::<ReceiveCredentials>().unwrap(), ReceiveCredentials(true));
    let _ = client.send(&[IoSlice::new(b"asked")]).unwrap();
    let passed = server.receive_passed(&mut into, soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials), (5, Some(own())));
    // The other calls do without.
    let _ = client.send(&[IoSlice::new(b"plain")]).unwrap();
    assert_eq!(server.receive_by(&mut into, soon()).unwrap(), 5);

    // Together with as many descriptors as one message takes.
    let many = vec![client.as_fd(); 253];
    client.send_passing(b"with", &many, soon()).unwrap();
    let passed = server.receive_passed(&mut into, soon()).unwrap();
    assert_eq!((passed.octets, passed.descriptors.len(), passed.credentials), (4, 253, Some(own())));
    // Those that were passed lead there too.
    drop((client, passed));
    let passed = server.receive_passed(&mut into, soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials), (0, None), "an end has no sender");
}

#[test]
fn streams_of_an_acceptor_that_asks_say_so_from_the_first_octet() {
    let acceptor = UnixAcceptor::bind(name("born"), &AcceptorOptions::new().credentials(true)).unwrap();
    assert_eq!(acceptor.option::<ReceiveCredentials>().unwrap(), ReceiveCredentials(true));
    let client = UnixStream::connect(name("born"), soon()).unwrap();
    let _ = client.send(&[IoSlice::new(b"early")]).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    let passed = server.receive_passed(&mut [0; 16], soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials), (5, Some(own())));
}

#[test]
fn a_descriptor_that_was_passed_on_tells_its_sender_from_its_maker() {
    let (client, server, _acceptor) = pair("inherited", &AcceptorOptions::new().credentials(true));
    let inherited = client.as_fd().try_clone_to_owned().unwrap();
    let mut child =
        Command::new("sh").args(["-c", "echo hello"]).stdout(Stdio::from(inherited)).spawn().unwrap();
    let mut into = [0; 16];
    let passed = server.receive_passed(&mut into, soon()).unwrap();
    child.wait().unwrap();
    assert_eq!(&into[..passed.octets], b"hello\n");
    assert_eq!(passed.credentials.unwrap().process, Some(child.id()), "who sends");
    assert_eq!(server.peer_credentials().unwrap().process, Some(id()), "who connected");
}

/// This process has no number in the child's namespace, and the child sees that as no number instead of a
/// wrong one.
#[test]
fn a_peer_in_another_process_namespace_has_no_number() {
    let unshare = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--pid", "--fork"]).args(args).stdin(Stdio::null());
        command
    };
    let possible = unshare(&["true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !possible {
        left_out("namespaces of processes", "they cannot be made here");
        return;
    }
    // The acceptor of the child is met by this process, which is outside of its namespace.
    let mut child = unshare(&[std::env::current_exe().unwrap().to_str().unwrap()])
        .args(["--exact", "the_process_in_a_namespace", "--ignored", "--nocapture"])
        .env(ADDRESS, name("namespace").to_string())
        .spawn()
        .unwrap();
    let until = soon();
    let stream = loop {
        match UnixStream::connect(name("namespace"), soon()) {
            Ok(stream) => break stream,
            Err(error) => assert!(error.is_connection_refused() && Instant::now() < until, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let process = stream.peer_credentials().unwrap().process.unwrap();
    assert_ne!(process, id(), "a child of this process, by its number here");
    let _ = stream.send(&[IoSlice::new(b"from outside")]).unwrap();
    assert!(child.wait().unwrap().success(), "what it saw is in its own output");
}

#[test]
#[ignore = "run by the test of process namespaces, as its other process"]
fn the_process_in_a_namespace() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let options = AcceptorOptions::new().credentials(true);
    let acceptor = UnixAcceptor::bind(address.parse().unwrap(), &options).unwrap();
    let stream = acceptor.accept_by(soon()).unwrap();
    assert_eq!(stream.peer_credentials().unwrap().process, None);
    let passed = stream.receive_passed(&mut [0; 16], soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials.unwrap().process), (12, None));
}

#[test]
fn messages_say_who_sent_them() {
    let acceptor = SeqpacketAcceptor::bind(name("messages"), &SeqpacketAcceptorOptions::new()).unwrap();
    let client = Seqpacket::connect(name("messages"), soon()).unwrap();
    let server = acceptor.accept_by(soon()).unwrap();
    assert_eq!(server.option::<ReceiveCredentials>().unwrap(), ReceiveCredentials(false));
    client.send(&[IoSlice::new(b"nobody")]).unwrap();
    assert_eq!(server.receive_passed(&mut [0; 8], soon()).unwrap().credentials, None);

    server.set(ReceiveCredentials(true)).unwrap();
    assert_eq!(server.option::<ReceiveCredentials>().unwrap(), ReceiveCredentials(true));
    client.send(&[IoSlice::new(b"plain")]).unwrap();
    let passed = server.receive_passed(&mut [0; 8], soon()).unwrap();
    assert_eq!((passed.octets, passed.credentials), (5, Some(own())));
    client.send_passing(&[IoSlice::new(b"with")], &[client.as_fd()], soon()).unwrap();
    let passed = server.receive_passed(&mut [0; 8], soon()).unwrap();
    assert_eq!((passed.octets, passed.descriptors.len(), passed.credentials), (4, 1, Some(own())));

    server.set(ReceiveCredentials(false)).unwrap();
    client.send(&[IoSlice::new(b"nobody")]).unwrap();
    assert_eq!(server.receive_passed(&mut [0; 8], soon()).unwrap().credentials, None);
}
