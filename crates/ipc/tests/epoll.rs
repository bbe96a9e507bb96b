//! The descriptor set and the wake-up.

use std::io::IoSlice;
use std::thread;
use std::time::{Duration, Instant};
use zorb_ipc::{
    AcceptorOptions, Epoll, Event, Events, Interest, Step, TcpAcceptor, TcpStream, Trigger, Wake,
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
    client.send(&[IoSlice::new(b"x")]).unwrap();
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
    client.send(&[IoSlice::new(b"x")]).unwrap();
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
    client.send(&[IoSlice::new(b"x")]).unwrap();
    next(&epoll);
    assert!(is_quiet(&epoll));
    client.send(&[IoSlice::new(b"y")]).unwrap();
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
