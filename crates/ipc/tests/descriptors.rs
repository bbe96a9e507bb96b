//! Running out of descriptors. Alone in its process, whose limit it lowers.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use conformance::families::tried;
use conformance::streams::{Tried, receive, send};
use conformance::{LONG, within};
use zorb_ipc::{Epoll, Error, Step, Tcp, TcpConnector, Wake};

#[test]
fn exhausted_descriptors_are_told_apart_and_nothing_is_lost() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
    macro_rules! exhausting {
        ($name:ident: $transport:ty) => {
            tried::<$transport>(stringify!($name), family::<$transport>);
        };
    }
    every_stream_transport!(exhausting);

    let acceptor = zorb_ipc::TcpAcceptor::bind(Tcp::fresh(), &Default::default()).unwrap();
    let to = acceptor.local_address();
    let (_fill, error) = exhaust();
    assert_eq!(error.step(), Step::Open, "{error}");
    assert!(Epoll::new().unwrap_err().is_descriptors_exhausted());
    // No other address would help.
    let error = TcpConnector::new().connect_any(&[to, to], within(LONG)).unwrap_err();
    assert!(error.is_descriptors_exhausted(), "{error}");
    let error = acceptor.accept_now().unwrap_err();
    assert!(error.is_would_block() || error.is_descriptors_exhausted(), "{error}");
}

/// Takes all that there are, and gives what the next one is told.
fn exhaust() -> (Vec<Wake>, Error) {
    let mut fill = Vec::new();
    loop {
        match Wake::new() {
            Ok(wake) => fill.push(wake),
            Err(error) => {
                assert!(error.is_descriptors_exhausted(), "{error}");
                return (fill, error);
            }
        }
    }
}

fn family<T: Tried>() {
    let acceptor = T::listen(T::fresh()).unwrap();
    let to = T::address(&acceptor);
    let (_held, refusing) = T::refusing();
    let client = T::connect(to.clone(), within(LONG)).unwrap();
    send(&client, b"here");

    let (mut fill, _) = exhaust();
    let error = T::connect(to.clone(), within(LONG)).unwrap_err();
    assert!(error.is_descriptors_exhausted() && error.step() == Step::Open, "{error}");
    let error = T::listen(T::fresh()).map(drop).unwrap_err();
    assert!(error.is_descriptors_exhausted() && error.step() == Step::Open, "{error}");
    for _ in 0..2 {
        let error = T::accept_by(&acceptor, within(LONG)).unwrap_err();
        assert!(error.is_descriptors_exhausted() && error.step() == Step::Accept, "{error}");
        assert!(!error.is_would_block() && error.address().is_some(), "{error}");
    }
    // The peer is still there once there are descriptors again; a transport may take several.
    fill.truncate(fill.len() - 8);
    assert_eq!(receive(&T::accept_by(&acceptor, within(LONG)).unwrap(), 4), b"here");
    drop((fill, client));

    // Neither success nor failure leaks a descriptor: far more operations than the limit.
    for _ in 0..200 {
        assert!(T::connect(refusing.clone(), within(LONG)).unwrap_err().is_connection_refused());
        assert!(T::listen(to.clone()).map(drop).unwrap_err().is_address_in_use());
        let client = T::connect(to.clone(), within(LONG)).unwrap();
        let server = T::accept_by(&acceptor, within(LONG)).unwrap();
        drop((client, server));
    }
}
