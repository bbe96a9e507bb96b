//! Properties of protocols, chosen by lists that name transports: of the ORB, a thread's calls and one reference, and of an adapter.

use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb::giop::{IiopProfile, Ior};
use zorb::poa::{PoaError, PoaPolicies};
use zorb::policy::{Level, Policies, with_thread_policies};
use zorb::protocols::{Considered, Protocols, Verdict};
use zorb::transport::shm::Shm;
use zorb::transport::tcp::Tcp;
use zorb::transport::unix::Unix;
use zorb::{Interface, Kind, Orb, OrbBuilder};
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{Place, probe, serve};

/// Octets a second of what is slow here.
const RATE: u64 = 8 << 20;

fn slow() -> Arc<Tcp> {
    Arc::new(Tcp::new().named("tcp-slow").peak_rate(RATE))
}

fn client() -> OrbBuilder {
    Orb::builder().transport(slow()).policies(Policies::new().call_timeout(PATIENCE))
}

fn list(names: &[&str]) -> Policies {
    Policies::new().protocols(Protocols::only(names.iter().copied()))
}

fn with(probe: &Probe, policies: Policies) -> Probe {
    Probe::from_object(probe.as_object().with_policies(policies))
}

fn of<'c>(all: &'c [Considered], transport: &str) -> &'c Considered {
    let prefix = format!("{transport}:");
    all.iter()
        .find(|one| one.endpoint.starts_with(&prefix))
        .unwrap_or_else(|| panic!("{transport} in {all:?}"))
}

/// Echoes much, and says whether that took the time that the rate asks for. What is faster is not slowed: the bound is half of what is
/// allowed beyond what leaves at once.
fn keeps_to_the_rate(probe: &Probe) {
    const WHOLE: usize = 6 << 20;
    let octets = vec![7; WHOLE];
    let begun = Instant::now();
    assert!(probe.echo(&octets).unwrap()[..] == octets[..]);
    let allowed = 2.0 * RATE as f64 * begun.elapsed().as_secs_f64() + f64::from(2 << 20);
    assert!(WHOLE as f64 <= allowed, "{WHOLE} octets in {:?}", begun.elapsed());
}

#[test]
fn a_reference_a_thread_and_an_orb_choose_a_protocol_with_its_properties() {
    let (server, text) = serve(Place::TCP.server(), Arc::new(Servant::new(1)));
    let orb = client().build();
    let plain = probe(&orb, &text);
    plain.nothing().unwrap();
    let said = plain.as_object().protocols();
    assert_eq!((&of(&said, "tcp").verdict, &*of(&said, "tcp").properties), (&Verdict::Used, &[][..]));
    assert_eq!(of(&said, "tcp-slow").verdict, Verdict::NotNamed);
    assert_eq!(server.connections(), 1);

    // Of the reference.
    let own = with(&plain, list(&["tcp-slow"]));
    let said = own.as_object().protocols();
    let used = of(&said, "tcp-slow");
    assert_eq!((&used.verdict, &*used.properties), (&Verdict::Used, &[("peak_rate", RATE.to_string())][..]));
    assert!(used.to_string().ends_with(" (peak_rate = 8388608): used"), "{used}");
    let other = &of(&said, "tcp").verdict;
    assert_eq!(*other, Verdict::NotAllowed { list: "tcp-slow".to_owned(), by: Level::Reference });
    keeps_to_the_rate(&own);
    assert_eq!(server.connections(), 2, "those with other properties are not shared");

    // Of the thread: it shares what the reference has, and others do not.
    with_thread_policies(list(&["tcp-slow"]), || {
        assert_eq!(of(&plain.as_object().protocols(), "tcp-slow").verdict, Verdict::Used);
        keeps_to_the_rate(&plain);
        plain.nothing_async().wait().unwrap();
    });
    assert_eq!(server.connections(), 3, "one more for what was asynchronous");
    plain.nothing().unwrap();
    assert_eq!(server.connections(), 3);

    // Of the ORB; the star does not stand for it.
    let all = client().prefer(["tcp-slow"]).build();
    keeps_to_the_rate(&probe(&all, &text));
    let star = client().prefer(["*"]).build();
    let said = probe(&star, &text).as_object().protocols();
    assert_eq!((&of(&said, "tcp").verdict, said.len()), (&Verdict::Used, 2));
    assert_eq!(of(&said, "tcp-slow").verdict, Verdict::NotNamed);
}

/// What the transports within a machine are told holds by name too, and a name of a transport says nothing of the socket's.
#[test]
fn transports_within_a_machine_have_second_names_too() {
    let unix = || Arc::new(Unix::new().named("unix-2").queues(1 << 16));
    let shm = || Arc::new(Shm::new().named("shm-2").slabs(4, 1 << 16).unwrap());
    let listen = ["tcp:127.0.0.1:0", "unix-2:", "shm-2:", "unix:", "shm:"];
    let server = Orb::builder().transport(unix()).transport(shm()).listen_at(listen);
    let (server, text) = serve(server, Arc::new(Servant::new(1)));
    assert_eq!(server.endpoints().len(), 5);
    let orb = Orb::builder().transport(unix()).transport(shm()).build();
    let plain = probe(&orb, &text);
    for (name, told) in [("unix-2", "queues"), ("shm-2", "slabs")] {
        let own = with(&plain, list(&[name]));
        let large = vec![5; 300_000];
        assert_eq!(own.echo(&large).unwrap()[..], large[..]);
        let said = own.as_object().protocols();
        assert_eq!((&said[0].verdict, said[0].properties[0].0), (&Verdict::Used, told), "{said:?}");
        assert!(said[0].endpoint.starts_with(&format!("{name}:/")), "{said:?}");
    }
    server.shutdown(true, Duration::from_secs(5));
}

/// An ORB knows itself in a reference that names an endpoint of a second name.
#[test]
fn an_object_behind_a_second_name_is_called_directly_all_the_same() {
    let builder = Orb::builder().transport(slow()).listen("tcp-slow:127.0.0.1:0");
    let (orb, text) = serve(builder, Arc::new(Servant::new(1)));
    let mine = probe(&orb, &text);
    assert_eq!(mine.as_object().protocols()[0].verdict, Verdict::Direct);
    mine.nothing().unwrap();
    assert_eq!(orb.connections(), 0);
    // Who knows nothing of the name reaches it.
    let client = Orb::builder().build();
    probe(&client, &text).nothing().unwrap();
    assert_eq!(orb.connections(), 1);
}

/// An object of an adapter with this list, and the text of its reference.
fn listed(orb: &Orb, name: &str, list: &[&str]) -> Result<String, PoaError> {
    let policies = PoaPolicies::new().protocols(Protocols::only(list.iter().copied()));
    let poa = orb.root_poa().unwrap().create_child(name, policies)?;
    poa.manager().activate().unwrap();
    let probe = poa.activate::<Probe>(Arc::new(Servant::new(1)))?;
    Ok(orb.object_to_string(Some(probe.as_object())))
}

/// The transports by which a client without a list of its own would call, in its order.
fn order(text: &str) -> Vec<String> {
    let said = probe(&Orb::builder().build(), text).as_object().protocols();
    said.iter().map(|one| one.endpoint.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn an_adapters_references_name_the_endpoints_of_its_list_in_its_order() {
    let listen = ["tcp:127.0.0.1:0", "unix:", "shm:", "tcp-slow:127.0.0.1:0"];
    let builder = Orb::builder().transport(slow()).listen_at(listen);
    let (server, text) = serve(builder, Arc::new(Servant::new(1)));
    assert_eq!(order(&text), ["shm", "unix", "tcp", "tcp"]);
    for (list, expected) in [
        (&["tcp"][..], &["tcp"][..]),
        (&["unix"], &["unix"]),
        (&["tcp", "unix"], &["tcp", "unix"]),
        (&["unix", "tcp"], &["unix", "tcp"]),
        (&["tcp", "*"], &["tcp", "shm", "unix", "tcp"]),
        (&["*"], &["shm", "unix", "tcp", "tcp"]),
    ] {
        let text = listed(&server, &list.join(" "), list).unwrap();
        assert_eq!(order(&text), expected, "{list:?}");
        probe(&Orb::builder().build(), &text).nothing().unwrap();
    }
    let Err(PoaError::System(refused)) = listed(&server, "none", &["udp"]) else {
        panic!("nothing is there")
    };
    assert_eq!(refused.kind, Kind::InvPolicy, "{refused}");
    assert!(refused.to_string().contains("the transports udp, and this ORB listens at tcp:127"), "{refused}");
    server.shutdown(true, Duration::from_secs(5));
}

#[test]
fn an_adapters_clients_get_what_its_endpoint_was_told_and_others_are_served_too() {
    let builder = Orb::builder().transport(slow()).listen_at(["tcp:127.0.0.1:0", "tcp-slow:127.0.0.1:0"]);
    let server = builder.build();
    let text = listed(&server, "bulk", &["tcp-slow"]).unwrap();
    let client = Orb::builder().build();
    let slow = probe(&client, &text);
    // The reply is what is held back here.
    keeps_to_the_rate(&slow);
    // By the other endpoint, which the reference does not name.
    let ior = slow.as_object().ior();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
    let plain = server.endpoints()[0].address.rsplit_once(':').unwrap().1.parse().unwrap();
    assert_ne!(profile.port, plain);
    profile.port = plain;
    let there = Ior { type_id: ior.type_id.clone(), profiles: vec![profile.encode().unwrap()] };
    probe(&client, &there.to_string()).nothing().unwrap();
    server.shutdown(true, Duration::from_secs(5));
}
