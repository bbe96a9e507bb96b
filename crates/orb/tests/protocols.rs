//! Protocols as a policy of ORB, thread and reference, what becomes of an endpoint that fails, and what a reference says of it.

#[path = "probe/mod.rs"]
#[allow(dead_code)]
mod probe;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use probe::{PATIENCE, Probe, does, end};
use zorb_orb::object::considered::Verdict;
use zorb_orb::poa::PoaPolicies;
use zorb_orb::policy::{Level, Policies, with_thread_policies};
use zorb_orb::protocols::Protocols;
use zorb_orb::transport::tcp::Tcp;
use zorb_orb::transport::unix::Unix;
use zorb_orb::{Call, Interface, Kind, Orb, SystemException};

/// The transports that the object tells calls by, by its answer.
const TOLD: [&str; 3] = ["tcp", "unix", "shm"];

/// A server by three transports, whose object says by which it is called.
fn server() -> (Orb, Probe) {
    serve(Orb::builder().listen_at(["tcp:127.0.0.1:0", "unix:", "shm:"]).build())
}

fn serve(orb: Orb) -> (Orb, Probe) {
    let root = orb.root_poa().expect("a new ORB");
    root.manager().activate().expect("a new manager");
    let servant = does(|cx: &Call, _| {
        let by = cx.peer().and_then(|peer| TOLD.iter().position(|name| *name == &*peer.transport));
        Ok(by.map_or(-1, |by| i32::try_from(by).expect("a few")))
    });
    (orb, root.activate::<Probe>(servant).expect("a new object"))
}

fn by(probe: &Probe) -> Result<&'static str, SystemException> {
    Ok(TOLD[usize::try_from(probe.poke(0)?).expect("it knows the transport")])
}

fn only(names: &[&str]) -> Policies {
    Policies::new().protocols(Protocols::only(names.iter().copied()))
}

fn with(probe: &Probe, policies: Policies) -> Probe {
    Probe(probe.as_object().with_policies(policies))
}

#[test]
fn the_references_list_goes_before_the_threads_and_that_before_the_orbs() {
    let (server, probe) = server();
    let client = Orb::builder().prefer(["tcp"]).build();
    let probe = probe.through(&client);
    assert_eq!(by(&probe), Ok("tcp"));
    let own = with(&probe, only(&["unix"]));
    assert_eq!(by(&own), Ok("unix"));
    with_thread_policies(only(&["shm", "tcp"]), || {
        assert_eq!((by(&probe), by(&own)), (Ok("shm"), Ok("unix")));
        with_thread_policies(only(&["unix"]), || assert_eq!(by(&probe), Ok("unix")));
        assert_eq!(by(&probe), Ok("shm"));
        let timeouts = Policies::new().call_timeout(PATIENCE);
        with_thread_policies(timeouts, || assert_eq!(by(&probe), Ok("shm"), "the outer set has the list"));
    });
    assert_eq!(by(&probe), Ok("tcp"));
    let last = with(&probe, only(&["*", "shm", "tcp"]));
    assert_eq!(by(&last), Ok("unix"), "the others come first");
    assert_eq!(by(&with(&probe, Policies::new().protocols(Protocols::first(["shm"])))), Ok("shm"));
    let error = with_thread_policies(only(&[]), || by(&probe)).expect_err("none is allowed");
    assert_eq!(error.kind, Kind::InvObjref, "{error}");
    end(&server);
}

#[test]
fn a_socket_is_named_by_corbaloc_as_either_orb_writes_it() {
    let (server, probe) = server();
    server.bind_key("Probe", &probe);
    let local = |transport: &str| {
        let endpoints = server.endpoints();
        endpoints.iter().find(|at| &*at.transport == transport).expect("it has one").address.to_string()
    };
    let (socket, tcp) = (local("unix"), local("tcp"));
    let client = Orb::builder().build();
    let resolved = |text: &str| client.string_to_object(text).map(|object| Probe(object.expect("not nil")));
    for (text, expected) in [
        (format!("corbaloc:omniunix:{socket}:/Probe"), "unix"),
        (format!("corbaloc:omniunix:1.1@{socket}:/Probe"), "unix"),
        (format!("corbaloc:uiop:{socket}|Probe"), "unix"),
        (format!("corbaloc:uiop:1.0@{socket}|Probe"), "unix"),
        (format!("corbaloc:omniunix:{socket}.none:,uiop:{socket}|Probe"), "unix"),
        (format!("corbaloc:uiop:{socket}.none,iiop:1.2@{tcp}/Probe"), "tcp"),
        (format!("corbaloc:future:x,omniunix:{socket}:/Probe"), "unix"),
    ] {
        assert_eq!(resolved(&text).and_then(|probe| by(&probe)), Ok(expected), "{text}");
    }
    let error = resolved(&format!("corbaloc:uiop:{socket}|Other")).and_then(|probe| by(&probe));
    assert_eq!(error.expect_err("no such key").kind, Kind::ObjectNotExist);
    let error = client.string_to_object("corbaloc:future:x/Probe").expect_err("nobody knows it").to_string();
    assert!(error.contains("uiop, omniunix"), "{error}");
    let error = client.string_to_object(&format!("corbaloc:uiop:{socket}/Probe")).expect_err("no bar");
    assert!(error.to_string().contains("\"|\" and the key"), "{error}");
    end(&server);
}

#[test]
fn more_lists_than_are_kept_are_followed_all_the_same() {
    let (server, probe) = server();
    let probe = probe.through(&Orb::builder().build());
    for _ in 0..2 {
        for extra in 0..20 {
            let (first, extra) = (TOLD[extra % 3], format!("x{extra}"));
            let list = only(&[&extra, first]);
            assert_eq!(with_thread_policies(list, || by(&probe)), Ok(first));
        }
    }
    end(&server);
}

/// Has what listens at a path be out of reach, and back again when dropped.
struct Away(PathBuf, PathBuf);

impl Away {
    fn new(endpoint: &str) -> Away {
        let path = PathBuf::from(endpoint.split_once(':').expect("transport and path").1);
        let aside = path.with_extension("aside");
        std::fs::rename(&path, &aside).expect("its own file");
        Away(path, aside)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        let _ = std::fs::rename(&self.1, &self.0);
    }
}

fn endpoint_of(server: &Orb, transport: &str) -> String {
    let endpoints = server.endpoints();
    endpoints.iter().find(|it| &*it.transport == transport).expect("it listens there").to_string()
}

#[test]
fn an_endpoint_that_comes_back_is_used_again() {
    let (server, probe) = server();
    let client = Orb::builder().prefer(["unix", "tcp"]).build();
    let probe = probe.through(&client);
    let away = Away::new(&endpoint_of(&server, "unix"));
    assert_eq!(by(&probe), Ok("tcp"));
    assert_eq!(by(&probe), Ok("tcp"), "the one that worked is kept");
    drop(away);
    let latest = Instant::now() + PATIENCE;
    while by(&probe) != Ok("unix") {
        assert!(Instant::now() < latest, "the preferred endpoint is never tried again");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(by(&probe), Ok("unix"), "and kept in turn");
    end(&server);
}

#[test]
fn where_none_is_left_the_exception_names_each_endpoint_and_why() {
    let (server, probe) = server();
    let (unix, shm) = (endpoint_of(&server, "unix"), endpoint_of(&server, "shm"));
    let _away = (Away::new(&unix), Away::new(&shm));
    let probe = probe.through(&Orb::builder().prefer(["shm", "unix"]).build());
    let error = by(&probe).expect_err("both are gone, and TCP is not allowed");
    assert_eq!(error.kind, Kind::Transient, "{error}");
    let said = error.to_string();
    let tcp = endpoint_of(&server, "tcp");
    for part in [
        &*format!("{unix}: connect: "),
        &format!("{shm}: connect: "),
        &format!("{tcp}: not among the transports shm, unix"),
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    end(&server);
}

#[test]
fn a_servant_gives_out_what_its_adapters_list_says() {
    let orb = Orb::builder().listen_at(["tcp:127.0.0.1:0", "unix:", "shm:"]).build();
    let policies = PoaPolicies::new().protocols(Protocols::only(["tcp", "shm"]));
    let poa = orb.root_poa().expect("a new ORB").create_child("listed", policies).expect("a new name");
    poa.manager().activate().expect("a new manager");
    let (says, said) = std::sync::mpsc::channel();
    let says = std::sync::Mutex::new(says);
    let servant = does(move |cx: &Call, _| {
        let this: Probe = cx.this()?;
        says.lock().expect("no panic").send(this.as_object().to_string()).expect("the test waits");
        Ok(0)
    });
    let probe = poa.activate::<Probe>(servant).expect("a new object");
    probe.through(&Orb::builder().build()).poke(0).expect("it is there");
    let this = said.recv_timeout(PATIENCE).expect("it was called");
    assert_eq!(this, probe.as_object().to_string(), "with its list");
    assert_eq!(probe.as_object().ior().profiles.len(), 2);
    end(&orb);
}

#[test]
fn a_reference_says_which_protocol_is_used_and_why_no_other() {
    let (server, probe) = server();
    let text = |verdicts: &Probe| -> Vec<(String, Verdict)> {
        let all = verdicts.as_object().protocols();
        let name = |endpoint: &str| endpoint.split(':').next().expect("a word").to_owned();
        all.into_iter().map(|one| (name(&one.endpoint), one.verdict)).collect()
    };
    let mine = text(&probe);
    assert_eq!(mine[0].1, Verdict::Direct, "{mine:?}");

    let client = Orb::builder().build();
    let there = probe.through(&client);
    let expected = [("shm", Verdict::Used), ("unix", Verdict::After(1)), ("tcp", Verdict::After(2))];
    let named = |list: &[(&str, Verdict)]| -> Vec<_> {
        list.iter().map(|(name, verdict)| ((*name).to_owned(), verdict.clone())).collect()
    };
    assert_eq!(text(&there), named(&expected));

    let list = with(&there, only(&["tcp", "unix"]));
    let expected = [
        ("tcp", Verdict::Used),
        ("unix", Verdict::After(1)),
        ("shm", Verdict::NotAllowed { list: "tcp, unix".into(), by: Level::Reference }),
    ];
    assert_eq!(text(&list), named(&expected));
    with_thread_policies(only(&["unix"]), || assert_eq!(text(&there)[0], ("unix".into(), Verdict::Used)));

    // After a failure: what failed, when, and where calls go now.
    let away = Away::new(&endpoint_of(&server, "unix"));
    let list = with(&there, only(&["unix", "tcp"]));
    assert_eq!(by(&list), Ok("tcp"));
    let all = list.as_object().protocols();
    assert_eq!((&*all[0].endpoint, &all[0].verdict), (&*endpoint_of(&server, "tcp"), &Verdict::Used));
    let (at, cause) = all.iter().find_map(|one| one.unreached.clone()).expect("the Unix socket's");
    assert!(at.elapsed().is_ok_and(|ago| ago < PATIENCE), "{at:?}");
    assert!(cause.contains("No such file"), "{cause}");
    assert!(all[1].to_string().contains("not reached"), "{}", all[1]);
    drop(away);
    end(&server);
}

#[test]
fn a_reference_says_what_the_orb_lacks_and_what_is_elsewhere() {
    use zorb_giop::{ComponentTag, IiopProfile, UnixEndpoint};
    let (server, probe) = server();
    let mut ior = probe.as_object().ior().clone();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).expect("an IIOP profile");
    profile.components.retain(|one| one.tag != ComponentTag::OMNIORB_UNIX);
    let far = UnixEndpoint { host: "far.example".into(), path: "/tmp/x".into() };
    profile.components.push(far.encode_as(ComponentTag::OMNIORB_UNIX).expect("it can be written"));
    profile
        .components
        .push(zorb_giop::TaggedComponent { tag: ComponentTag::SSL_SEC_TRANS, data: vec![0].into() });
    ior.profiles = vec![profile.encode().expect("it can be written")];
    let client = Orb::builder().transport(Arc::new(Tcp::new())).transport(Arc::new(Unix::new())).build();
    let object = zorb_orb::ObjectRef::new(&client, ior).expect("not nil");
    let said: Vec<String> = object.protocols().iter().map(ToString::to_string).collect();
    let said = said.join("\n");
    for part in ["unix:/tmp/x: on another host: far.example", "not registered: tls"] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    end(&server);
}

#[test]
fn a_private_connection_is_no_other_references() {
    let (server, probe) = server();
    let client = Orb::builder().prefer(["tcp"]).build();
    let probe = probe.through(&client);
    assert_eq!(by(&probe), Ok("tcp"));
    let together = server.connections();
    let same = with(&probe, Policies::new());
    assert_eq!((by(&same), server.connections()), (Ok("tcp"), together), "references share connections");
    let own = with(&probe, Policies::new().private_connection(true));
    let another = with(&own, Policies::new());
    assert_eq!(by(&own), Ok("tcp"));
    assert_eq!(
        (by(&own.clone()), server.connections()),
        (Ok("tcp"), together + 1),
        "its clones share its own"
    );
    assert_eq!((by(&another), server.connections()), (Ok("tcp"), together + 2), "and no other");
    end(&server);
}
