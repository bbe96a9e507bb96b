//! Connections that are begun now and completed later.

#[allow(dead_code, unused_macros, reason = "the other suites are for other files")]
#[macro_use]
mod conformance;

use std::io::IoSlice;
use std::net::Ipv4Addr;

use conformance::families::tried;
use conformance::streams::{Tried, crowded};
use conformance::{LONG, SHORT, within};
use zorb_ipc::{
    Acceptor, Completion, Connecting, Connector, Epoll, Error, Events, Interest, Refused, Step, Stream,
    StreamFamily, StreamTransport, Tcp, TcpAcceptor, TcpConnector, Trigger,
};

/// A family of sockets, as the suite knows it.
trait Family: Tried + StreamFamily + StreamTransport<Stream = Stream<Self>, Acceptor = Acceptor<Self>> {
    fn at(address: <Self as StreamTransport>::Address) -> Connecting<Self>;
}

macro_rules! begins {
    ($name:ident: $family:ty) => {
        impl Family for $family {
            fn at(address: <$family as StreamTransport>::Address) -> Connecting<Self> {
                Connector::new().begin(address).unwrap()
            }
        }
    };
}
every_stream_family!(begins);

fn completes<F: Family>() {
    let acceptor = F::listen(F::fresh()).unwrap();
    let begun = F::at(<F as StreamTransport>::address(&acceptor));
    assert!(format!("{begun:?}").contains("address"));
    let server = F::accept_by(&acceptor, within(LONG)).unwrap();
    let client = begun.complete_by(within(LONG)).unwrap();
    let _ = client.send(&[IoSlice::new(b"x")]).unwrap();
    server.receive_exact(&mut [0], within(LONG)).unwrap();
    // In blocking mode as every stream: it waits for what comes.
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| client.receive(&mut [0; 4]).unwrap());
        std::thread::sleep(SHORT);
        let _ = server.send(&[IoSlice::new(b"late")]).unwrap();
        assert_eq!(receiving.join().unwrap(), 4);
    });
}

#[test]
fn a_begun_connection_completes() {
    macro_rules! completing {
        ($name:ident: $family:ty) => {
            tried::<$family>(stringify!($name), completes::<$family>);
        };
    }
    every_stream_family!(completing);
}

fn comes_back_from_a_deadline<F: Family>() {
    let (acceptor, queued) = crowded::<F>();
    let begun = F::at(<F as StreamTransport>::address(&acceptor));
    let Completion::Pending(begun) = begun.complete_now().unwrap() else { panic!("the queue is full") };
    let Completion::Pending(begun) = begun.complete_now().unwrap() else { panic!("asking changes nothing") };
    let refused = begun.complete_by(within(SHORT)).unwrap_err();
    let error = refused.error();
    assert!(error.is_timeout() && error.step() == Step::Connect && error.address().is_some(), "{error}");
    let begun = refused.into_handle();
    for _ in &queued {
        F::accept_by(&acceptor, within(LONG)).unwrap();
    }
    begun.complete_by(within(LONG)).unwrap();
    F::accept_by(&acceptor, within(LONG)).unwrap();
}

#[test]
fn one_that_is_not_there_by_a_deadline_can_be_completed_later() {
    macro_rules! coming_back {
        ($name:ident: $family:ty) => {
            // Where a full queue refuses there is nothing to wait for.
            if !<$family>::FULL_REFUSES {
                tried::<$family>(stringify!($name), comes_back_from_a_deadline::<$family>);
            }
        };
    }
    every_stream_family!(coming_back);
}

/// The kernel tells a failure once, and that there is none after that.
#[test]
fn a_failure_stays_one() {
    let (_held, gone) = Tcp::refusing();
    // On the loopback it is refused at once, or while it is under way.
    let refused = |refused: Refused<Connecting<Tcp>>| {
        let error = refused.error();
        assert!(error.is_connection_refused() && error.step() == Step::Connect, "{error}");
        assert_eq!(error.address(), Some(&gone.into()));
        refused.into_handle()
    };
    match Connector::<Tcp>::new().begin(gone) {
        Err(error) => assert!(error.is_connection_refused() && error.address() == Some(&gone.into())),
        Ok(begun) => {
            let begun = refused(begun.complete_by(within(LONG)).unwrap_err());
            let begun = refused(begun.complete_now().unwrap_err());
            drop(refused(begun.complete_by(within(LONG)).unwrap_err()));
        }
    }
}

#[test]
fn it_may_wait_in_a_set() {
    let acceptor = Tcp::listen(Tcp::fresh()).unwrap();
    let begun = Tcp::at(acceptor.local_address());
    let (epoll, mut events) = (Epoll::new().unwrap(), Events::with_capacity(1));
    epoll.add(&begun, 7, Interest::SEND, Trigger::Level).unwrap();
    epoll.wait_by(&mut events, within(LONG)).unwrap();
    assert!(events.iter().all(|event| event.token == 7 && event.can_send()) && events.len() == 1);
    let Completion::Connected(stream) = begun.complete_now().unwrap() else { panic!("it is there") };
    assert_eq!(stream.peer_address(), acceptor.local_address());
}

/// Also where the address that is asked for is only another name of the one that it gets. And it is no obstacle to
/// whoever is to listen there.
#[test]
fn none_leads_to_itself() {
    for name in [None, Some(Ipv4Addr::UNSPECIFIED)] {
        let free = TcpAcceptor::bind(Tcp::fresh(), &Default::default()).unwrap().local_address();
        let to = name.map_or(free, |host| (host, free.port()).into());
        let error: Error = TcpConnector::new().from(free).connect(to, within(LONG)).unwrap_err();
        assert!(error.is_connection_refused() && error.address() == Some(&to.into()), "{error}");
        TcpAcceptor::bind(free, &Default::default()).unwrap();
    }
}
