//! What references say of where a server listens, and what initial references lead to.

use std::sync::Arc;

use zorb::giop::IiopProfile;
use zorb::{Interface, Kind, Orb};
use zorb_tests::servant::Servant;
use zorb_tests::testing::Probe;

use crate::fixture::{Place, probe, serve};

fn published(orb: &Orb, text: &str) -> (String, u16) {
    let object = orb.string_to_object(text).unwrap().unwrap();
    let profile = IiopProfile::decode(&object.ior().profiles[0]).unwrap();
    (profile.host, profile.port)
}

#[test]
fn a_wildcard_is_never_published() {
    for endpoint in ["tcp::0", "tcp:0.0.0.0:0", "tcp:[::]:0"] {
        let (orb, text) = serve(Orb::builder().listen(endpoint), Arc::new(Servant::new(1)));
        let (host, port) = published(&orb, &text);
        let address: std::net::IpAddr = host.parse().unwrap_or_else(|_| panic!("{endpoint}: {host}"));
        assert!(!address.is_unspecified(), "{endpoint}: {host}");
        assert_ne!(port, 0);
        let client = Orb::builder().build();
        probe(&client, &text).nothing().unwrap();
    }
}

#[test]
fn host_and_port_are_the_builders_choice() {
    let at = Place::TCP;
    let (orb, text) = serve(at.server().published_host("host.example"), Arc::new(Servant::new(1)));
    assert_eq!(published(&orb, &text).0, "host.example");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let exact = Orb::builder().listen(format!("tcp:127.0.0.1:{port}")).build();
    let refused = exact.listen().unwrap_err();
    assert_eq!(refused.kind, Kind::Initialize, "{refused}");
    assert!(refused.detail().contains(&port.to_string()), "{refused}");
    // A range goes on to the next port that is free.
    let range = format!("tcp:127.0.0.1:{port}-{}", port.saturating_add(20));
    let (orb, text) = serve(Orb::builder().listen(range), Arc::new(Servant::new(1)));
    let (_, chosen) = published(&orb, &text);
    assert!(chosen > port && chosen <= port.saturating_add(20), "{chosen}");
    probe(&at.client().build(), &text).nothing().unwrap();
}

#[test]
fn several_endpoints_are_all_listened_at_and_all_published() {
    let builder = Orb::builder().listen("tcp:127.0.0.1:0").listen("tcp:[::1]:0");
    let (orb, text) = serve(builder, Arc::new(Servant::new(1)));
    assert_eq!(orb.endpoints().len(), 2);
    let client = Orb::builder().build();
    let object = client.string_to_object(&text).unwrap().unwrap();
    let profile = IiopProfile::decode(&object.ior().profiles[0]).unwrap();
    assert_eq!(profile.endpoints().count(), 2);
    for endpoint in orb.endpoints() {
        orb.bind_key("key", &object);
        probe(&client, &format!("corbaloc:iiop:1.2@{}/key", endpoint.address)).nothing().unwrap();
    }
}

#[test]
fn initial_references_are_urls_objects_or_a_default() {
    let at = Place::TCP;
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let object = server.string_to_object(&text).unwrap().unwrap();
    server.bind_key("Default", &object);
    let file = std::env::temp_dir().join(format!("zorb-test-{}.ior", std::process::id()));
    std::fs::write(&file, format!("{text}\n")).unwrap();
    let client = Orb::builder()
        .initial_reference("Archive", &text)
        .initial_reference("Loop", "corbaloc:rir:/Loop")
        .default_initial_reference(format!("corbaloc:iiop:1.2@{}", server.endpoints()[0].address))
        .build();
    for text in ["corbaloc:rir:/Archive", "corbaloc:rir:/Default", &format!("file://{}", file.display())] {
        probe(&client, text).nothing().unwrap();
    }
    std::fs::remove_file(file).unwrap();
    let archive = client.resolve_initial_references("Archive").unwrap();
    Probe::from_object(archive.clone()).nothing().unwrap();
    client.register_initial_reference("Again", &archive);
    assert_eq!(client.list_initial_services(), ["Again", "Archive", "Loop"]);
    assert_eq!(client.string_to_object("corbaloc:rir:/Loop").unwrap_err().kind, Kind::BadParam);
    for bad in ["", "nonsense", "IOR:0", "corbaloc:", "corbaname::h#n", "http://x", "file:///no/such/file"] {
        let error = client.string_to_object(bad).unwrap_err();
        assert_eq!(error.kind, Kind::BadParam, "{bad}: {error}");
        assert!(!error.detail().is_empty());
    }
    let nil = client.object_to_string(None);
    assert!(client.string_to_object(&nil).unwrap().is_none());
}
