//! Running out of descriptors. Alone in its process, whose limit it lowers.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use zorb_ipc::{AcceptorOptions, Epoll, Step, TcpAcceptor, TcpConnector, TcpStream, Wake};

#[test]
fn exhausted_descriptors_are_told_apart_and_nothing_is_lost() {
    let deadline = Instant::now() + Duration::from_secs(30);
    let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let acceptor = TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap();
    let to = acceptor.local_address();
    let client = TcpStream::connect(to, deadline).unwrap();

    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum: limit.maximum }).unwrap();
    let mut fill = Vec::new();
    let error = loop {
        match Wake::new() {
            Ok(wake) => fill.push(wake),
            Err(error) => break error,
        }
    };
    assert!(error.is_descriptors_exhausted() && error.step() == Step::Open, "{error}");
    assert!(Epoll::new().unwrap_err().is_descriptors_exhausted());
    assert!(TcpStream::connect(to, deadline).unwrap_err().is_descriptors_exhausted());
    assert!(TcpConnector::new().connect_any(&[to, to], deadline).unwrap_err().is_descriptors_exhausted());
    assert!(TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap_err().is_descriptors_exhausted());
    for error in [acceptor.accept_now().unwrap_err(), acceptor.accept_by(deadline).unwrap_err()] {
        assert!(error.is_descriptors_exhausted() && error.step() == Step::Accept, "{error}");
        assert!(!error.is_would_block());
    }

    // The peer is still there once a descriptor is.
    fill.pop();
    let server = acceptor.accept_by(deadline).unwrap();
    assert_eq!(server.peer_address(), client.local_address().unwrap());
    drop((fill, server));

    // Neither success nor failure leaks a descriptor: far more operations than the limit.
    drop(client);
    let refused = {
        let gone = TcpAcceptor::bind(address, &AcceptorOptions::new()).unwrap();
        gone.local_address()
    };
    for _ in 0..200 {
        assert!(TcpStream::connect(refused, deadline).unwrap_err().is_connection_refused());
        assert!(TcpAcceptor::bind(to, &AcceptorOptions::new()).unwrap_err().is_address_in_use());
        let client = TcpStream::connect(to, deadline).unwrap();
        let server = acceptor.accept_by(deadline).unwrap();
        drop((client, server));
    }
}
