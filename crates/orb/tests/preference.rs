//! Which of several endpoints a client calls: the order of the reference, or that of the client's own choice.

#[path = "probe/mod.rs"]
#[allow(dead_code)]
mod probe;

use std::sync::Arc;

use probe::{Probe, does, end};
use zorb_orb::transport::tcp::Tcp;
use zorb_orb::{Call, Kind, Orb, OrbBuilder, SystemException};

/// A server by TCP and by a Unix socket, whose object says by which it is called.
fn server() -> (Orb, Probe) {
    let orb = Orb::builder().listen_at(["tcp:127.0.0.1:0", "unix:"]).build();
    let root = orb.root_poa().expect("a new ORB");
    root.manager().activate().expect("a new manager");
    let servant =
        does(|cx: &Call, _| Ok(i32::from(cx.peer().is_some_and(|peer| &*peer.transport == "unix"))));
    (orb, root.activate::<Probe>(servant).expect("a new object"))
}

/// By which transport a client's call arrives, or how it ends.
fn by(client: OrbBuilder, probe: &Probe) -> Result<&'static str, SystemException> {
    let unix = probe.through(&client.build()).poke(0)?;
    Ok(if unix == 1 { "unix" } else { "tcp" })
}

#[test]
fn the_clients_choice_goes_before_the_references_order() {
    let (server, probe) = server();
    for (transports, expected) in
        [(&["tcp", "unix"][..], "tcp"), (&["unix", "tcp"], "unix"), (&["tcp"], "tcp"), (&["unix"], "unix")]
    {
        assert_eq!(
            by(Orb::builder().prefer(transports.iter().copied()), &probe),
            Ok(expected),
            "{transports:?}"
        );
    }
    assert_eq!(by(Orb::builder(), &probe), Ok("unix"), "as they were registered");
    end(&server);
}

#[test]
fn one_that_fails_makes_way_for_the_next() {
    let (server, probe) = server();
    let unix = server.endpoints().into_iter().find(|it| &*it.transport == "unix").expect("it listens there");
    std::fs::remove_file(&*unix.address).expect("its own file");
    assert_eq!(by(Orb::builder().prefer(["unix", "tcp"]), &probe), Ok("tcp"));
    assert!(by(Orb::builder().prefer(["unix"]), &probe).is_err());
    end(&server);
}

#[test]
fn where_nothing_is_left_the_exception_says_what_was_passed_over() {
    let (server, probe) = server();
    let error = by(Orb::builder().prefer(["quic"]), &probe).expect_err("nobody has it");
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
    let said = error.to_string();
    for part in ["tcp:127.0.0.1:", "unix:/", "only the transports quic"] {
        assert!(said.contains(part), "{said}");
    }
    end(&server);
}

#[test]
fn a_replaced_transport_keeps_its_rank_and_tells_its_properties() {
    let builder = Orb::builder().replace_transport(Arc::new(Tcp::new().queues(65536)));
    let transports = builder.chosen().transports;
    assert_eq!(transports.iter().map(|it| it.name).collect::<Vec<_>>(), ["shm", "unix", "tcp"]);
    assert_eq!(
        (transports[2].name, &transports[2].properties[..]),
        ("tcp", &[("queues", "65536".to_owned())][..])
    );
    assert_eq!(builder.transport(Arc::new(Tcp::new())).chosen().transports[0].name, "tcp");
}
