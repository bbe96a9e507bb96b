//! The descriptor set and the wake-up.

use std::io::IoSlice;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};
use zorb_ipc::{
    AcceptorOptions, Epoll, Event, EventCounter, EventSemaphore, Events, Fifo, Interest, Memfd, SpliceStream,
    Step, TcpAcceptor, TcpStream, Timer, Trigger, Wake, WallClockTimer, pipe,
};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(30);

fn pair() -> (TcpStream, TcpStream) {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let deadline = Instant::now() + LONG;
    let client = TcpStream::connect(acceptor.local_address(), deadline).unwrap();
    (client, acceptor.accept_by(deadline).unwrap())
}

/// The first report within a long time; a wait may come back early with none.
fn next(epoll: &Epoll) -> Event {
    let mut events = Events::with_capacity(1);
    let until = Instant::now() + LONG;
    while events.is_empty() {
        assert!(Instant::now() < until, "nothing was reported");
        epoll.wait(&mut events, Some(LONG)).unwrap();
    }
    events.iter().next().unwrap()
}

fn is_quiet(epoll: &Epoll) -> bool {
    let mut events = Events::with_capacity(4);
    epoll.wait(&mut events, Some(SHORT)).unwrap();
    events.is_empty()
}

#[test]
fn a_member_is_reported_by_its_token_while_it_has_something() {
    let (client, server) = pair();
    let epoll = Epoll::new().unwrap();
    epoll.add(&server, u64::MAX, Interest::RECEIVE, Trigger::Level).unwrap();
    assert!(is_quiet(&epoll));
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    for _ in 0..2 {
        let event = next(&epoll);
        assert_eq!(event.token, u64::MAX);
        assert!(event.can_receive() && !event.can_send() && !event.is_hang_up());
    }
    server.receive_now(&mut [0; 8]).unwrap();
    assert!(is_quiet(&epoll));
    epoll.modify(&server, 7, Interest::BOTH, Trigger::Level).unwrap();
    let event = next(&epoll);
    assert!(event.token == 7 && event.can_send() && !event.can_receive());
    epoll.modify(&server, 7, Interest::RECEIVE, Trigger::Level).unwrap();
    drop(client);
    let event = next(&epoll);
    assert!(event.can_receive() && event.is_hang_up());
    epoll.remove(&server).unwrap();
    assert!(is_quiet(&epoll));
}

#[test]
fn one_shot_reports_once_until_armed_again() {
    let (client, server) = pair();
    let epoll = Epoll::new().unwrap();
    epoll.add(&server, 1, Interest::RECEIVE, Trigger::OneShot).unwrap();
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    assert_eq!(next(&epoll).token, 1);
    assert!(is_quiet(&epoll));
    epoll.modify(&server, 2, Interest::RECEIVE, Trigger::OneShot).unwrap();
    assert_eq!(next(&epoll).token, 2);
}

#[test]
fn edge_reports_what_is_new() {
    let (client, server) = pair();
    let epoll = Epoll::new().unwrap();
    epoll.add(&server, 1, Interest::RECEIVE, Trigger::Edge).unwrap();
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    next(&epoll);
    assert!(is_quiet(&epoll));
    let _ = client.send(&[IoSlice::new(b"y")]).unwrap();
    next(&epoll);
}

#[test]
fn a_closed_member_has_left() {
    let (client, server) = pair();
    let epoll = Epoll::new().unwrap();
    epoll.add(&server, 1, Interest::BOTH, Trigger::Level).unwrap();
    drop(server);
    assert!(is_quiet(&epoll));
    drop(client);
}

#[test]
fn wrong_use_is_an_error_that_says_where() {
    let (client, _server) = pair();
    let epoll = Epoll::new().unwrap();
    assert_eq!(epoll.remove(&client).unwrap_err().step(), Step::Wait);
    epoll.add(&client, 1, Interest::SEND, Trigger::Level).unwrap();
    assert_eq!(epoll.add(&client, 1, Interest::SEND, Trigger::Level).unwrap_err().step(), Step::Wait);
}

#[test]
fn an_acceptor_is_reported_when_a_peer_waits() {
    let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse().unwrap(), &AcceptorOptions::new()).unwrap();
    let epoll = Epoll::new().unwrap();
    epoll.add(&acceptor, 1, Interest::RECEIVE, Trigger::Level).unwrap();
    let _client = TcpStream::connect(acceptor.local_address(), Instant::now() + LONG).unwrap();
    assert!(next(&epoll).can_receive());
    acceptor.accept_now().unwrap();
}

#[test]
fn a_waiting_thread_is_woken_and_wake_ups_do_not_queue() {
    let (epoll, wake) = (Epoll::new().unwrap(), Wake::new().unwrap());
    epoll.add(&wake, 0, Interest::RECEIVE, Trigger::Level).unwrap();
    assert!(!wake.drain().unwrap());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| next(&epoll).token);
        thread::sleep(SHORT);
        for _ in 0..3 {
            wake.wake().unwrap();
        }
        assert_eq!(waiter.join().unwrap(), 0);
    });
    assert!(wake.drain().unwrap());
    assert!(!wake.drain().unwrap());
    assert!(is_quiet(&epoll));
}

#[test]
fn more_reports_than_room_come_with_the_next_wait() {
    let wakes: Vec<_> = (0..5).map(|_| Wake::new().unwrap()).collect();
    let epoll = Epoll::new().unwrap();
    for (token, wake) in wakes.iter().enumerate() {
        epoll.add(wake, token as u64, Interest::RECEIVE, Trigger::OneShot).unwrap();
        wake.wake().unwrap();
    }
    let mut events = Events::with_capacity(2);
    let mut tokens = Vec::new();
    for _ in 0..3 {
        epoll.wait(&mut events, Some(LONG)).unwrap();
        tokens.extend(events.iter().map(|event| event.token));
    }
    tokens.sort_unstable();
    assert_eq!(tokens, [0, 1, 2, 3, 4]);
}

#[test]
fn waiting_ends_by_the_deadline_or_with_something_to_report() {
    let (epoll, wake) = (Epoll::new().unwrap(), Wake::new().unwrap());
    epoll.add(&wake, 3, Interest::RECEIVE, Trigger::Level).unwrap();
    let mut events = Events::with_capacity(4);
    let begun = Instant::now();
    epoll.wait_by(&mut events, begun + SHORT).unwrap();
    assert!(events.is_empty() && begun.elapsed() >= SHORT);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(SHORT);
            wake.wake().unwrap();
        });
        epoll.wait_by(&mut events, Instant::now() + LONG).unwrap();
    });
    assert_eq!(events.iter().map(|event| event.token).collect::<Vec<_>>(), [3]);
    epoll.wait_by(&mut events, begun).unwrap();
    assert_eq!(events.len(), 1, "a deadline in the past still looks");
}

/// Whether a member becomes readable by what `make` does, and is not before.
fn becomes_readable(member: impl AsFd, make: impl FnOnce()) {
    let epoll = Epoll::new().unwrap();
    epoll.add(&member, 1, Interest::RECEIVE, Trigger::Level).unwrap();
    assert!(is_quiet(&epoll));
    make();
    let event = next(&epoll);
    assert!(event.can_receive() && !event.can_send());
    epoll.remove(&member).unwrap();
    assert!(is_quiet(&epoll));
}

#[test]
fn every_kind_of_handle_is_reported_when_it_is_ready() {
    let (reader, writer) = pipe().unwrap();
    becomes_readable(&reader, || assert_eq!(writer.send_now(&[IoSlice::new(b"x")]).unwrap(), 1));
    let path = std::env::temp_dir().join(format!("zorb-ipc-epoll-{}", std::process::id()));
    let fifo = Fifo::create(path, 0o600).unwrap();
    let reader = fifo.reader().unwrap();
    let mut writer = None;
    becomes_readable(&reader, || {
        writer = Some(fifo.writer_now().unwrap());
        let _ = writer.as_ref().unwrap().send_now(&[IoSlice::new(b"x")]).unwrap();
    });
    let timer = Timer::new().unwrap();
    becomes_readable(&timer, || timer.fire_after(Duration::ZERO).unwrap());
    let timer = WallClockTimer::new().unwrap();
    let fire = || timer.fire_at(std::time::UNIX_EPOCH, zorb_ipc::OnClockChange::Tell).unwrap();
    becomes_readable(&timer, fire);
    let (client, server) = pair();
    let server = SpliceStream::of(server).unwrap();
    becomes_readable(&server, || assert_eq!(client.send(&[IoSlice::new(b"x")]).unwrap(), 1));
    let (inner, wake) = (Epoll::new().unwrap(), Wake::new().unwrap());
    inner.add(&wake, 1, Interest::RECEIVE, Trigger::Level).unwrap();
    becomes_readable(&inner, || wake.wake().unwrap());

    // There is always room in these.
    let (counter, semaphore) = (EventCounter::new(0).unwrap(), EventSemaphore::new(0).unwrap());
    let epoll = Epoll::new().unwrap();
    epoll.add(&counter, 1, Interest::BOTH, Trigger::Level).unwrap();
    let event = next(&epoll);
    assert!(event.can_send() && !event.can_receive());
    becomes_readable(&counter, || counter.add_now(1).unwrap());
    becomes_readable(&semaphore, || semaphore.add_now(1).unwrap());
}

#[test]
fn the_other_end_of_a_pipe_is_missed() {
    let epoll = Epoll::new().unwrap();
    let (reader, writer) = pipe().unwrap();
    epoll.add(&writer, 1, Interest::HANG_UP, Trigger::Level).unwrap();
    assert!(is_quiet(&epoll), "there is room, but nobody asked");
    drop(reader);
    let event = next(&epoll);
    assert!(event.token == 1 && event.is_error() && event.is_hang_up());
    drop(writer);

    let (reader, writer) = pipe().unwrap();
    epoll.add(&reader, 2, Interest::HANG_UP, Trigger::Level).unwrap();
    let _ = writer.send_now(&[IoSlice::new(b"x")]).unwrap();
    assert!(is_quiet(&epoll));
    drop(writer);
    let event = next(&epoll);
    assert!(event.token == 2 && event.is_hang_up() && !event.is_error());
}

#[test]
fn memory_is_never_waited_for() {
    let memory = Memfd::create("memory", 1).unwrap();
    let error = Epoll::new().unwrap().add(&memory, 1, Interest::RECEIVE, Trigger::Level).unwrap_err();
    assert!(error.is_permission_denied() && error.step() == Step::Wait, "{error}");
}
