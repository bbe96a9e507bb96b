//! Every setting reaches the builder in each of the three ways, and the source of precedence wins.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_config::{Config, Kind, Origin, SETTINGS, Setting};
use zorb_orb::orb::AtBound;
use zorb_orb::transport::miop::Miop;
use zorb_orb::transport::tcp::Tcp;
use zorb_orb::transport::udp::Udp;
use zorb_orb::transport::{Endpoint, Resolver, ResolverOptions};
use zorb_orb::{Orb, OrbBuilder};

/// A value other than the default, as options and variables take it.
fn sample(setting: &Setting) -> &'static str {
    match setting.kind {
        Kind::Octets { most, .. } if most < 128 << 10 => "2KiB",
        Kind::Octets { .. } => "128KiB",
        Kind::Time { .. } => "1234ms",
        Kind::Count { .. } => "23",
        Kind::Choice(words) => words[1],
        Kind::Slabs => "4x64KiB",
        Kind::Buffers { .. } => "2x128KiB",
        Kind::Spinning => "off",
        Kind::Ring { .. } => "64KiB",
        Kind::Text => "archive.example",
        Kind::Endpoints => "tcp:127.0.0.1:0,unix:",
        Kind::Transports => "tcp,unix",
        Kind::Users => "7,8",
        Kind::Peers => "10.0.0.0/8,192.0.2.7/32",
        Kind::References => "NameService=corbaloc::host:2809/NameService",
        _ => panic!("{}: a kind without a sample", setting.key),
    }
}

/// The same as a line of a file.
fn sample_line(setting: &Setting) -> String {
    match (setting.kind, sample(setting)) {
        (Kind::References, text) => {
            let (name, url) = text.split_once('=').unwrap();
            format!("{}.{name} = {url:?}", setting.key)
        }
        (Kind::Count { .. }, text) => format!("{} = {text}", setting.key),
        (_, text) => format!("{} = {text:?}", setting.key),
    }
}

fn read(arguments: &[&str], variables: &[(&str, &str)]) -> Config {
    let arguments = [&["program"], arguments].concat();
    let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let (config, rest) = Config::read(arguments.into_iter().map(OsString::from), variables).unwrap();
    assert_eq!(rest, ["program"]);
    config
}

fn file(text: &str) -> Config {
    let mut config = Config::new();
    config.toml("zorb.toml", text).unwrap();
    config
}

/// A builder to which every setting has a meaning.
fn builder() -> OrbBuilder {
    let (udp, miop) = (Arc::new(Udp::new()), Arc::new(Miop::new()));
    let pool = zorb_orb::server::ThreadModel::Pool { threads: 4, queue: 5 };
    Orb::builder().server_threads(pool).transport(udp).transport(miop)
}

#[test]
fn every_setting_reaches_the_builder_in_each_way() {
    for setting in SETTINGS {
        let (option, variable) = (setting.option(), setting.variable());
        let before = format!("{:?}", builder().chosen());
        let mut after = Vec::new();
        for config in [
            read(&[&option, sample(setting)], &[]),
            read(&[&format!("{option}={}", sample(setting))], &[]),
            read(&[&option.to_uppercase(), sample(setting)], &[]),
            read(&[], &[(&variable, sample(setting))]),
            file(&sample_line(setting)),
        ] {
            after.push(format!("{:?}", config.apply(builder()).unwrap().chosen()));
            let name = match setting.kind {
                Kind::References => "init_ref.NameService",
                _ => setting.key,
            };
            let found = config.explain(builder(), name).unwrap().expect("it is a setting");
            assert!(!matches!(found.origin, Origin::Default | Origin::Program), "{name}: {:?}", found.origin);
        }
        if setting.key != "server.threads" {
            assert_ne!(after[0], before, "{} changes nothing", setting.key);
        }
        assert!(after.iter().all(|it| *it == after[0]), "{}: the ways differ", setting.key);
    }
    let model = read(&["-ORBserverThreads", "reactor"], &[]).apply(builder()).unwrap().chosen();
    assert_eq!(model.server_threads, zorb_orb::server::ThreadModel::Reactor);
}

#[test]
fn other_systems_spellings_mean_what_they_mean_there() {
    for (arguments, key, expected) in [
        (["-ORBendPoint", "giop:tcp:host:2809"], "listen", "tcp:host:2809"),
        (["-ORBListenEndpoints", "iiop://a:1;uiop:///run/x"], "listen", "tcp:a:1,unix:/run/x"),
        (["-ORBendPointPublish", "giop:tcp:outside.example:"], "published_host", "outside.example"),
        (["-ORBclientTransportRule", "* unix,tcp"], "transports", "unix,tcp"),
        (["-ORBclientTransportRule", "* unix,tcp,bidir"], "transports", "bidir,unix,tcp"),
        (["-ORBofferBiDirectionalGIOP", "1"], "bidirectional.offer", "yes"),
        (["-ORBacceptBiDirectionalGIOP", "1"], "bidirectional.accept", "peer-address"),
        (["-ORBmaxGIOPVersion", "1.1"], "giop_version", "1.1"),
        (["-ORBclientConnectTimeOutPeriod", "1500"], "connect_timeout", "1500ms"),
        (["-ORBclientCallTimeOutPeriod", "5000"], "call_timeout", "5s"),
        (["-ORBgiopMaxMsgSize", "2097152"], "largest_message", "2MiB"),
        (["-ORBoutConScanPeriod", "60"], "client_idle", "1min"),
        (["-ORBinConScanPeriod", "61"], "server.idle", "61s"),
        (["-ORBthreadPerConnectionPolicy", "0"], "server.threads", "pool"),
        (["-ORBInitRef", "A=corbaloc:rir:/B"], "init_ref.A", "corbaloc:rir:/B"),
        (["-ORBDefaultInitRef", "corbaloc::host:2809"], "default_init_ref", "corbaloc::host:2809"),
    ] {
        let found = read(&arguments, &[]).explain(Orb::builder(), key).unwrap().expect(key);
        assert_eq!(found.value.expect(key).to_string(), expected, "{arguments:?}");
        assert_eq!(found.origin, Origin::Argument { index: 1, option: arguments[0].to_owned() });
    }
    // Two of the above are the settings' own names.
    let spelt: usize = SETTINGS.iter().map(|setting| setting.spellings.len()).sum();
    assert_eq!(spelt, 13, "a spelling is not tried above");
}

#[test]
fn the_command_line_goes_before_the_environment_before_the_file_before_the_program() {
    let path = std::env::temp_dir().join(format!("zorb-config-precedence-{}.toml", std::process::id()));
    std::fs::write(&path, "client_idle = \"3s\"\ncall_timeout = \"3s\"\nconnect_timeout = \"3s\"\n").unwrap();
    let path = path.to_str().unwrap();
    let variables = [("ZORB_CALL_TIMEOUT", "2s"), ("ZORB_CONNECT_TIMEOUT", "2s"), ("ZORB_CONFIG", path)];
    let config = read(&["-ORBcallTimeout", "1s"], &variables);
    let second = Duration::from_secs(1);
    let program = || Orb::builder().client_idle(4 * second).private_connections(4);
    let chosen = config.apply(program()).unwrap().chosen();
    assert_eq!(chosen.policies.call_timeout, Some(second));
    assert_eq!(chosen.policies.connect_timeout, Some(2 * second));
    assert_eq!(chosen.client_idle, 3 * second);
    assert_eq!(chosen.private_connections, 4);

    let said = |name| {
        let found = config.explain(program(), name).unwrap().unwrap();
        let others: Vec<_> =
            found.instead_of.iter().map(|(value, origin)| format!("{value} by {origin}")).collect();
        format!("{}: {}", found.origin, others.join("; "))
    };
    let by_file = |line| format!("file {path}, line {line}, column 1");
    assert_eq!(
        said("call_timeout"),
        format!(
            "argument 1 (-ORBcallTimeout): 2s by environment variable ZORB_CALL_TIMEOUT; 3s by {}",
            by_file(2)
        )
    );
    assert_eq!(said("client_idle"), format!("{}: 4s by the program", by_file(1)));
    assert_eq!(said("private_connections"), "the program: ");
    assert_eq!(said("-ORBserverIdle"), "default: ");
    assert_eq!(said("ZORB_SERVER_IDLE"), "default: ");
    assert!(config.explain(program(), "no_such").unwrap().is_none());

    // An option's file goes before a variable's.
    let config = read(&["-ORBconfigFile", path], &[("ZORB_CONFIG", "/no/such/file")]);
    assert!(!config.is_empty());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn lists_are_replaced_and_initial_references_are_merged() {
    let mut config = read(
        &["-ORBlisten", "tcp::1", "-ORBendPoint=giop:tcp::2", "-ORBInitRef", "A=x:a"],
        &[("ZORB_INIT_REF", "A=x:b C=x:c"), ("ZORB_LISTEN", "unix:")],
    );
    config.toml("zorb.toml", "[init_ref]\nC = \"x:d\"\n\"odd name\" = \"x:e\"").unwrap();
    let program = Orb::builder().listen("tcp::9").initial_reference("P", "x:p");
    let chosen = config.apply(program).unwrap().chosen();
    assert_eq!(chosen.listen, ["tcp::1", "tcp::2"]);
    let references: Vec<_> =
        chosen.initial_references.iter().map(|(name, url)| format!("{name}={url}")).collect();
    assert_eq!(references, ["A=x:a", "C=x:c", "P=x:p", "odd name=x:e"]);
}

#[test]
fn the_rest_of_the_arguments_is_left_in_order() {
    let rest = |arguments: &[&str]| {
        let mut config = Config::new();
        config.options(arguments.iter().map(OsString::from)).unwrap()
    };
    assert_eq!(rest(&[]), [""; 0]);
    // The program's name is never an option.
    assert_eq!(rest(&["-ORBodd"]), ["-ORBodd"]);
    assert_eq!(
        rest(&["p", "a", "-ORBlisten", "tcp::0", "-b", "-ORBcallTimeout=1s", "c"]),
        ["p", "a", "-b", "c"]
    );
    assert_eq!(rest(&["p", "--", "-ORBno", "x"]), ["p", "--", "-ORBno", "x"]);
    assert_eq!(rest(&["p", "-orb", "-x-ORBlisten"]), ["p", "-orb", "-x-ORBlisten"]);
}

#[test]
fn variables_of_others_and_empty_ones_are_left_alone() {
    let config =
        read(&[], &[("ZORB_PEERS_OUT", "x"), ("PATH", "x"), ("ZORB_LISTEN", ""), ("XZORB_LISTEN", "x")]);
    assert!(config.is_empty());
}

#[test]
fn what_datagrams_are_told_needs_their_transport() {
    for (option, value, name) in [("-ORBudpBurst", "7", "udp"), ("-ORBmiopHops", "2", "miop")] {
        let config = read(&[option, value], &[]);
        let chosen = config.apply(builder()).unwrap().chosen();
        let transport = chosen.transports.iter().find(|it| it.name == name).unwrap();
        assert_eq!(transport.properties.len(), 1, "{transport:?}");
        let Err(error) = config.apply(Orb::builder()) else { panic!("nobody registered {name}") };
        assert!(error.to_string().contains(option) && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn what_no_text_can_say_stays_as_the_program_chose_it() {
    use std::net::{SocketAddr, TcpListener};

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let lookup = |host: &str| match host {
        "only.this.program.knows" => Ok(vec![SocketAddr::from(([127, 0, 0, 1], 0))]),
        other => Err(std::io::Error::other(format!("{other} is not looked up"))),
    };
    let resolver = Resolver::with_lookup(ResolverOptions::default(), lookup);
    let builder = builder().replace_transport(Arc::new(Tcp::with_resolver(resolver)));
    let builder = read(&["-ORBtcpQueues=64KiB", "-ORBtcpNoDelay=no"], &[]).apply(builder).unwrap();
    let tcp = builder.registered_transport("tcp").expect("as before");
    assert_eq!(tcp.properties().len(), 2, "{:?}", tcp.properties());
    let address = format!("only.this.program.knows:{}", here.port());
    let to = Endpoint { transport: "tcp".into(), address: address.into() };
    tcp.connect(&to, Instant::now() + Duration::from_secs(30)).expect("by the program's own lookup");
}

#[test]
fn what_one_transport_is_told_is_kept_beside_the_rest() {
    let config = read(
        &[
            "-ORBtcpPeakRate=1MiB",
            "-ORBtcpNoDelay=no",
            "-ORBtcpCongestionControl=reno",
            "-ORBtcpBusyPoll=50us",
            "-ORBtcpQueues=64KiB",
            "-ORBshmSlabs=4x64KiB",
            "-ORBshmRing=256KiB",
            "-ORBshmUsers=any",
        ],
        &[],
    );
    let chosen = config.apply(Orb::builder()).unwrap().chosen();
    let told = |name| {
        let transport = chosen.transports.iter().find(|it| it.name == name).unwrap();
        let mut told: Vec<_> =
            transport.properties.iter().map(|(name, value)| format!("{name}={value}")).collect();
        told.sort();
        told.join(" ")
    };
    let tcp = "busy_poll=50us congestion_control=reno no_delay=no peak_rate=1048576 queues=65536";
    assert_eq!(told("tcp"), tcp);
    assert_eq!(told("shm"), "ring=262144 slabs=4x65536 users=any");
    let config = read(&["-ORBmessageBuffers", "3x1MiB", "-ORBmessageMemory=0"], &[]);
    let chosen = config.apply(Orb::builder()).unwrap().chosen();
    assert_eq!((chosen.message_buffers, chosen.message_memory), (Some((3, 1 << 20)), Some(0)));
    let config = read(&["-ORBkeptMemory=1MiB", "-ORBkeptMemoryAtBound=refuse"], &[]);
    let chosen = config.apply(Orb::builder()).unwrap().chosen();
    assert_eq!((chosen.kept_memory, chosen.kept_memory_at_bound), (1 << 20, AtBound::Refuse));
    for odd in ["8", "0x1MiB", "8x0", "8x1MB", "99999999x1GiB", "99999999999x9999999999"] {
        let arguments = ["p", "-ORBmessageBuffers", odd].map(OsString::from);
        let error = Config::new().options(arguments).expect_err(odd).to_string();
        assert!(error.contains(odd), "{error}");
    }
    for odd in ["4", "3x64KiB", "4x65537", "xx64KiB", "65x4KiB", "64x16MiB", "x"] {
        let arguments = ["p", "-ORBshmSlabs", odd].map(OsString::from);
        let error = Config::new().options(arguments).expect_err(odd).to_string();
        assert!(error.contains(odd), "{error}");
    }
}

#[test]
fn what_is_reported_is_a_file_that_says_the_same() {
    let lines: Vec<_> = SETTINGS.iter().map(sample_line).collect();
    let config = file(&lines.join("\n"));
    let report = config.report(builder()).unwrap();
    let again = file(&report);
    let chosen = |config: &Config| format!("{:?}", config.apply(builder()).unwrap().chosen());
    assert_eq!(chosen(&again), chosen(&config));
    assert_ne!(chosen(&again), chosen(&Config::new()));
    for setting in SETTINGS {
        assert!(report.contains(setting.key), "{report}");
    }
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");

    let defaults = Config::new().report(Orb::builder()).unwrap();
    assert!(defaults.contains("# published_host: not set\n"), "{defaults}");
    assert_eq!(format!("{:?}", file(&defaults).apply(Orb::builder()).unwrap().chosen()), {
        let policies = zorb_orb::policy::Policies::new()
            .connect_timeout(Duration::from_secs(10))
            .call_timeout(Duration::from_secs(60))
            .sync_scope(zorb_orb::policy::SyncScope::WithTransport);
        format!("{:?}", Orb::builder().policies(policies).chosen())
    });
}

#[test]
fn a_model_of_more_precedence_sets_aside_what_was_said_of_another() {
    let mut config = read(&["-ORBserverThreads", "reactor"], &[]);
    config.toml("zorb.toml", "[server]\nthreads = \"pool\"\nmost_threads = 8\nthread_queue = 9").unwrap();
    let chosen = config.apply(Orb::builder()).unwrap().chosen();
    assert_eq!(chosen.server_threads, zorb_orb::server::ThreadModel::Reactor);
    let report = config.report(Orb::builder()).unwrap();
    assert!(report.contains("# server.most_threads: not set"), "{report}");
    assert!(report.contains("not 8, file zorb.toml, line 3, column 1"), "{report}");
}

#[test]
fn an_orb_does_what_text_says() {
    let config = read(
        &[
            "-ORBlisten",
            "tcp:127.0.0.1:0 unix:",
            "-ORBgiopVersion",
            "1.1",
            "-ORBpublishedHost=archive.example",
        ],
        &[("ZORB_CALL_TIMEOUT", "5s"), ("ZORB_INIT_REF", "Self=corbaloc::archive.example:1/x")],
    );
    let orb = config.apply(Orb::builder()).unwrap().build();
    orb.listen().unwrap();
    let endpoints: Vec<_> = orb.endpoints().iter().map(|endpoint| endpoint.transport.to_string()).collect();
    assert_eq!(endpoints, ["tcp", "unix"]);
    assert_eq!(orb.policies().call_timeout, Some(Duration::from_secs(5)));
    let object = orb.resolve_initial_references("Self").unwrap();
    assert!(object.to_string().starts_with("IOR:"));
    orb.shutdown(true, Duration::from_secs(1));
}
