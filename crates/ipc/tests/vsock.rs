//! What can be seen of vsock on any machine that has it: listening, addresses, and errors. The conformance
//! suite runs over it where a machine reaches itself that way.

mod left_out;

use std::time::{Duration, Instant};

use zorb_ipc::{AcceptorOptions, Address, Error, Step, VsockAcceptor, VsockAddress, VsockStream};

use left_out::left_out;

const ANY: VsockAddress = VsockAddress { context: VsockAddress::ANY, port: VsockAddress::ANY_PORT };

fn listen(at: VsockAddress) -> Result<VsockAcceptor, Error> {
    VsockAcceptor::bind(at, &AcceptorOptions::new())
}

/// `None`, and a line that says why, where the kernel does not know the family.
fn acceptor() -> Option<VsockAcceptor> {
    let bound = listen(ANY);
    if let Err(error) = &bound
        && error.step() == Step::Open
    {
        left_out("vsock", &error.to_string());
        return None;
    }
    Some(bound.unwrap())
}

#[test]
fn an_acceptor_has_a_port_that_is_taken_as_long_as_it_is_there() {
    let Some(first) = acceptor() else { return };
    let at = *first.local();
    assert!(at.context == VsockAddress::ANY && at.port != VsockAddress::ANY_PORT, "{at}");
    assert_ne!(acceptor().unwrap().local().port, at.port);
    let error = listen(at).unwrap_err();
    assert!(error.is_address_in_use() && error.address() == Some(&Address::Vsock(at)), "{error}");
    drop(first);
    assert_eq!(listen(at).unwrap().local(), &at);
}

#[test]
fn an_acceptor_waits_for_nobody_longer_than_asked() {
    let Some(acceptor) = acceptor() else { return };
    assert!(acceptor.accept_now().unwrap_err().is_would_block());
    let begun = Instant::now();
    let brief = Duration::from_millis(30);
    let error = acceptor.accept_by(begun + brief).unwrap_err();
    assert!(error.is_timeout() && error.step() == Step::Accept, "{error}");
    assert!(begun.elapsed() >= brief);
    assert_eq!(error.to_string(), format!("accept on vsock:any:{}: out of time", acceptor.local().port));
}

#[test]
fn a_machine_that_is_not_this_one_cannot_be_listened_for() {
    if acceptor().is_none() {
        return;
    }
    let error = listen(VsockAddress { context: 0xdead_beef, port: 5000 }).unwrap_err();
    assert_eq!(error.step(), Step::Bind, "{error}");
    assert!(error.to_string().starts_with("bind to vsock:3735928559:5000: "), "{error}");
}

#[test]
fn connecting_where_nobody_is_ends_by_the_deadline_and_says_where() {
    let Some(acceptor) = acceptor() else { return };
    let port = acceptor.local().port;
    drop(acceptor);
    for context in [VsockAddress::LOCAL, VsockAddress::HOST, 0xdead_beef] {
        let to = VsockAddress { context, port };
        let error = VsockStream::connect(to, Instant::now() + Duration::from_millis(200)).unwrap_err();
        assert_eq!((error.step(), error.address()), (Step::Connect, Some(&Address::Vsock(to))), "{error}");
        let known = error.is_timeout() || error.is_connection_refused() || error.is_unreachable();
        assert!(known, "{error}");
    }
}
