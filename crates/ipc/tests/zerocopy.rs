//! Sending without copying: what is handed over comes back, once, when the kernel has done with it, and not
//! before.

mod left_out;

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{AcceptorOptions, Step, TcpAcceptor, TcpStream, ZeroCopyStream};

use left_out::left_out;

const LONG: Duration = Duration::from_secs(30);

fn within(time: Duration) -> Instant {
    Instant::now() + time
}

fn pair_at(host: &str) -> (TcpStream, TcpStream) {
    let acceptor = TcpAcceptor::bind(host.parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let client = TcpStream::connect(acceptor.local_address(), within(LONG)).unwrap();
    (client, acceptor.accept_by(within(LONG)).unwrap())
}

fn pair<B: zorb_ipc::StableOctets>() -> (ZeroCopyStream<B>, TcpStream) {
    let (client, server) = pair_at("127.0.0.1:0");
    (ZeroCopyStream::new(client).unwrap(), server)
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
fn buffers_come_back_in_order_and_the_loopback_says_that_it_copied() {
    for host in ["127.0.0.1:0", "[::1]:0"] {
        if TcpAcceptor::bind(host.parse().unwrap(), &AcceptorOptions::new()).is_err() {
            left_out("IPv6 on this machine", &format!("it has no {host}"));
            continue;
        }
        let (client, server) = pair_at(host);
        let mut client = ZeroCopyStream::new(client).unwrap();
        assert_eq!(client.outstanding(), 0);
        assert!(client.completed_now().unwrap().is_none());
        assert!(client.completed_by(within(Duration::ZERO)).unwrap().is_none(), "nothing to wait for");
        for seed in 0..5 {
            client.send_all(octets(seed, 20_000), within(LONG)).unwrap();
            // In between in the usual way, which has no number.
            client.stream().send_all(&mut [IoSlice::new(b"head")], within(LONG)).unwrap();
        }
        assert_eq!(client.outstanding(), 5);
        for seed in 0..5 {
            assert!(receive(&server, 20_000) == octets(seed, 20_000));
            assert_eq!(receive(&server, 4), b"head");
        }
        for seed in 0..5 {
            let completed = client.completed_by(within(LONG)).unwrap().unwrap();
            assert!(completed.buffer == octets(seed, 20_000));
            assert!(completed.copied);
        }
        assert_eq!(client.outstanding(), 0);
        assert!(client.completed_by(within(LONG)).unwrap().is_none());
    }
}

#[test]
fn a_buffer_larger_than_the_queues_goes_through_whole_and_comes_back_once() {
    let (mut client, server) = pair();
    let whole: Arc<[u8]> = octets(3, 32 << 20).into();
    let expected = Arc::clone(&whole);
    thread::scope(|scope| {
        let receiver = scope.spawn(move || receive(&server, 32 << 20));
        client.send_all(Arc::clone(&whole), within(LONG)).unwrap();
        assert!(receiver.join().unwrap() == expected[..]);
    });
    let completed = client.completed_by(within(LONG)).unwrap().unwrap();
    assert!(Arc::ptr_eq(&completed.buffer, &whole));
    assert!(client.completed_by(within(LONG)).unwrap().is_none());
}

#[test]
fn many_small_buffers_all_come_back() {
    const COUNT: usize = 3000;
    let (mut client, server) = pair();
    thread::scope(|scope| {
        let receiver = scope.spawn(move || receive(&server, 100 * COUNT));
        let mut back = 0;
        for number in 0..COUNT {
            client.send_all(vec![number as u8; 100], within(LONG)).unwrap();
            while let Some(completed) = client.completed_now().unwrap() {
                assert_eq!(completed.buffer, [back as u8; 100]);
                back += 1;
            }
        }
        while let Some(completed) = client.completed_by(within(LONG)).unwrap() {
            assert_eq!(completed.buffer, [back as u8; 100]);
            back += 1;
        }
        assert_eq!(back, COUNT);
        let received = receiver.join().unwrap();
        assert!(received.chunks(100).enumerate().all(|(at, chunk)| chunk == [at as u8; 100]));
    });
}

#[test]
fn what_the_kernel_has_done_with_ends_with_its_sender() {
    let (mut client, server) = pair();
    let block: Arc<[u8]> = octets(5, 20_000).into();
    client.send_all(Arc::clone(&block), within(LONG)).unwrap();
    receive(&server, block.len());
    let until = within(LONG);
    while client.outstanding() > 0 && client.completed_now().unwrap().is_none() {
        assert!(Instant::now() < until);
    }
    client.send_all(Arc::clone(&block), within(LONG)).unwrap();
    receive(&server, block.len());
    drop(client.completed_by(within(LONG)).unwrap());
    drop(client);
    assert_eq!(Arc::strong_count(&block), 1);
}

#[test]
fn buffers_come_back_from_a_connection_that_is_gone() {
    let (mut client, server) = pair();
    client.send_all(vec![1; 100_000], within(LONG)).unwrap();
    server.wait_readable(within(LONG)).unwrap();
    drop(server); // with unread input: TCP resets
    let until = within(LONG);
    let error = loop {
        assert!(Instant::now() < until);
        if let Err(error) = client.send_all(vec![2; 100_000], within(LONG)) {
            break error;
        }
    };
    assert!(error.is_connection_reset(), "{error}");
    let mut back = Vec::new();
    while let Some(completed) = client.completed_by(within(LONG)).unwrap() {
        back.push(completed.buffer[0]);
    }
    assert_eq!((back[0], back[1..].iter().all(|seed| *seed == 2)), (1, true));
    assert!(back.len() >= 2, "also the one that nothing of could be sent");
}

#[test]
fn nothing_is_sent_at_once_and_comes_back() {
    let (mut client, server) = pair();
    client.send_all(Vec::new(), within(Duration::ZERO)).unwrap();
    client.send_all(b"x".to_vec(), within(LONG)).unwrap();
    client.send_all(Vec::new(), within(Duration::ZERO)).unwrap();
    assert_eq!(receive(&server, 1), b"x");
    for expected in [&b""[..], b"x", b""] {
        assert_eq!(client.completed_by(within(LONG)).unwrap().unwrap().buffer, expected);
    }
}

#[test]
fn a_descriptor_that_has_sent_so_before_is_refused() {
    let (client, server) = pair_at("127.0.0.1:0");
    let (on, length) = (1 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
    let on_at = &raw const on;
    let fd = client.as_fd().as_raw_fd();
    // SAFETY: the kernel reads a C `int`, which is there.
    let done = unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY, on_at.cast(), length) };
    assert_eq!(done, 0);
    let refused = ZeroCopyStream::<Vec<u8>>::new(client).unwrap_err();
    let error = refused.error();
    assert_eq!((error.step(), error.raw_os_error()), (Step::Configure, Some(libc::EINVAL)));
    refused.into_handle().send_all(&mut [IoSlice::new(b"as before")], within(LONG)).unwrap();
    assert_eq!(receive(&server, 9), b"as before");
}

#[test]
fn no_second_one_is_made_of_a_duplicate() {
    let (client, _server) = pair_at("127.0.0.1:0");
    let duplicate = TcpStream::adopt(client.as_fd().try_clone_to_owned().unwrap()).unwrap();
    let _first = ZeroCopyStream::<Vec<u8>>::new(client).unwrap();
    let refused = ZeroCopyStream::<Vec<u8>>::new(duplicate).unwrap_err();
    assert_eq!(refused.error().step(), Step::Configure);
}

/// The kernel has one count for a socket, whoever sends.
#[test]
fn nothing_comes_back_once_somebody_else_has_sent_so_by_a_duplicate() {
    let (mut client, server) = pair();
    let duplicate = client.as_fd().try_clone_to_owned().unwrap();
    let flag = rustix::net::SendFlags::from_bits_retain(libc::MSG_ZEROCOPY.cast_unsigned());
    assert_eq!(rustix::net::send(&duplicate, &[7; 20_000], flag), Ok(20_000));
    receive(&server, 20_000);
    let block: Arc<[u8]> = octets(5, 20_000).into();
    let until = within(LONG);
    let error = loop {
        assert!(Instant::now() < until);
        match client.send_all(Arc::clone(&block), within(LONG)) {
            // Their completion is not there yet.
            Ok(()) => drop(receive(&server, 20_000)),
            Err(error) => break error,
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert_eq!((error.step(), error.raw_os_error()), (Step::Send, Some(libc::EPROTO)));
    assert!(client.completed_by(within(LONG)).is_err());
    let owners = Arc::strong_count(&block);
    drop(client);
    assert_eq!(Arc::strong_count(&block), owners, "nothing is freed that the kernel may be reading");
}

/// The time that this thread has spent on a processor.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// A completion that nobody takes ends each of the kernel's waits at once.
#[test]
fn completions_that_wait_neither_move_a_deadline_nor_keep_a_processor_busy() {
    let (mut client, server) = pair();
    client.send_all(octets(0, 20_000), within(LONG)).unwrap();
    receive(&server, 20_000);
    let stream = client.stream();
    let mut reports = [rustix::event::PollFd::new(stream, rustix::event::PollFlags::empty())];
    rustix::event::poll(&mut reports, None).unwrap();
    let (begun, before) = (Instant::now(), worked());
    let long = Duration::from_millis(300);
    let error = stream.receive_by(&mut [0; 8], within(long)).unwrap_err();
    assert!(error.is_timeout() && begun.elapsed() >= long, "{error}");
    assert!(!stream.wait_readable(within(long)).unwrap());
    assert!(stream.receive_stamped_by(&mut [0; 8], within(long)).unwrap_err().is_timeout());
    let block = vec![1; 8 << 20];
    let error = stream.send_all(&mut [IoSlice::new(&block); 64], within(long)).unwrap_err();
    assert!(error.is_timeout() && error.transferred() > 0, "{error}");
    assert!(worked() - before < begun.elapsed() / 2, "it rests between its looks");

    receive(&server, error.transferred());
    assert_eq!(server.send(&[IoSlice::new(b"answer")]).unwrap(), 6);
    assert!(stream.wait_readable(within(LONG)).unwrap());
    assert_eq!(stream.receive_by(&mut [0; 8], within(LONG)).unwrap(), 6);
    drop(server);
    assert!(stream.wait_readable(within(LONG)).unwrap());
    assert_eq!(stream.receive_by(&mut [0; 8], within(LONG)).unwrap(), 0);
}
