//! What is sent without copying stays with the kernel until it has done with it. Alone in its process, since a user
//! may have only so much held, and since it lowers that limit.

mod left_out;

use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use zorb_ipc::{AcceptorOptions, StableOctets, Step, TcpAcceptor, TcpStream, ZeroCopyStream};

use left_out::left_out;

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(30);

fn within(time: Duration) -> Instant {
    Instant::now() + time
}

fn pair<B: StableOctets>() -> (ZeroCopyStream<B>, TcpStream) {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), within(LONG)).unwrap();
    (ZeroCopyStream::new(client).unwrap(), acceptor.accept_by(within(LONG)).unwrap())
}

fn octets(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (at / 251 + seed) as u8).collect()
}

fn receive(stream: &TcpStream, count: usize) -> Vec<u8> {
    let mut into = vec![0; count];
    stream.receive_exact(&mut into, within(LONG)).unwrap();
    into
}

#[test]
fn what_is_held() {
    let limit = getrlimit(Resource::Memlock).current;
    let privileged = capabilities(None).unwrap().effective.contains(CapabilitySet::IPC_LOCK);
    if privileged || limit.is_none_or(|octets| octets >= 4 << 20) {
        a_buffer_stays_with_the_kernel_as_long_as_the_peer_has_not_got_it();
        what_the_kernel_holds_outlives_its_sender();
        waiting_for_completions_of_a_connection_shut_down_ends_by_the_deadline();
    } else {
        left_out(
            "what the kernel holds",
            &format!("it may hold no more than {limit:?} octets for this user"),
        );
    }
    where_the_kernel_may_hold_no_more_it_copies();
}

fn a_buffer_stays_with_the_kernel_as_long_as_the_peer_has_not_got_it() {
    let (mut client, server) = pair();
    let block: Arc<[u8]> = octets(5, 32 << 20).into();
    let error = client.send_all(Arc::clone(&block), within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Send && error.address().is_some(), "{error}");
    let sent = error.transferred();
    assert!(0 < sent && sent < block.len());
    assert_eq!((client.outstanding(), Arc::strong_count(&block)), (1, 2));
    let error = client.completed_by(within(SHORT)).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(client.completed_now().unwrap().is_none());
    // Meanwhile the other direction works.
    let _ = server.send(&[IoSlice::new(b"busy")]).unwrap();
    let mut answer = [0; 8];
    assert_eq!(client.receive_by(&mut answer, within(LONG)).unwrap(), 4);
    assert!(client.receive_by(&mut answer, within(SHORT)).unwrap_err().is_timeout());

    assert!(receive(&server, sent) == block[..sent]);
    let completed = client.completed_by(within(LONG)).unwrap().unwrap();
    assert!(Arc::ptr_eq(&completed.buffer, &block));
    assert!(server.receive_by(&mut answer, within(SHORT)).unwrap_err().is_timeout(), "not one octet more");
}

fn what_the_kernel_holds_outlives_its_sender() {
    let (mut client, server) = pair();
    let block: Arc<[u8]> = octets(5, 32 << 20).into();
    let sent = client.send_all(Arc::clone(&block), within(SHORT)).unwrap_err().transferred();
    drop(client);
    assert_eq!(Arc::strong_count(&block), 2, "nobody can change it any more, and nobody frees it");
    // The kernel sends it to its end.
    assert!(receive(&server, sent) == block[..sent]);
    assert_eq!(server.receive_by(&mut [0; 8], within(LONG)).unwrap(), 0);
}

/// The kernel then reports the end of both directions to every wait, at once.
fn waiting_for_completions_of_a_connection_shut_down_ends_by_the_deadline() {
    let (mut client, server) = pair();
    let block: Arc<[u8]> = octets(5, 32 << 20).into();
    let sent = client.send_all(Arc::clone(&block), within(SHORT)).unwrap_err().transferred();
    client.stream().shutdown_both().unwrap();
    server.shutdown_send().unwrap();
    let error = client.completed_by(within(SHORT)).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Send, "{error}");
    assert!(receive(&server, sent) == block[..sent]);
    drop(client.completed_by(within(LONG)).unwrap().unwrap());
}

fn where_the_kernel_may_hold_no_more_it_copies() {
    let mut privileges = capabilities(None).unwrap();
    privileges.effective.remove(CapabilitySet::IPC_LOCK);
    set_capabilities(None, privileges).unwrap();
    let limit = getrlimit(Resource::Memlock);
    setrlimit(Resource::Memlock, Rlimit { current: Some(64 << 10), maximum: limit.maximum }).unwrap();

    let (mut client, server) = pair();
    let lengths = [20_000, 200_000, 10_000];
    for (seed, length) in lengths.into_iter().enumerate() {
        client.send_all(octets(seed, length), within(LONG)).unwrap();
    }
    for (seed, length) in lengths.into_iter().enumerate() {
        assert!(receive(&server, length) == octets(seed, length));
    }
    for (seed, length) in lengths.into_iter().enumerate() {
        let completed = client.completed_by(within(LONG)).unwrap().unwrap();
        assert!(completed.buffer == octets(seed, length) && completed.copied);
    }
    assert_eq!(client.outstanding(), 0);
}
