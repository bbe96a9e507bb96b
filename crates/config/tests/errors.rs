//! What is wrong, where, and what would be right: the texts that people read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use zorb_config::{Config, ConfigError};
use zorb_orb::Orb;

fn options(arguments: &[&str]) -> Result<Config, ConfigError> {
    let arguments = ["program"].iter().chain(arguments).map(OsString::from);
    Config::read(arguments, []).map(|(config, _)| config)
}

fn variable(name: &str, value: &str) -> Result<Config, ConfigError> {
    Config::read([], [(name.into(), value.into())]).map(|(config, _)| config)
}

fn file(text: &str) -> Result<Config, ConfigError> {
    let mut config = Config::new();
    config.toml("zorb.toml", text).map(|()| config)
}

fn says(read: Result<Config, ConfigError>, expected: &str) {
    let applied = read.and_then(|config| config.apply(Orb::builder()).map(|_| ()));
    assert_eq!(applied.expect_err(expected).to_string(), expected);
}

#[test]
fn options_that_mean_nothing() {
    for (arguments, expected) in [
        (
            &["x", "-ORBcalTimeout", "1s"][..],
            "argument 2 (-ORBcalTimeout): there is no such option; did you mean -ORBcallTimeout?",
        ),
        (&["-ORBqwertz=1"], "argument 1 (-ORBqwertz): there is no such option"),
        (&["-ORB", "x"], "argument 1 (-ORB): there is no such option"),
        (
            &["-ORBtraceLevel", "10"],
            "argument 1 (-ORBtraceLevel): zorb has no such option: zorb reports by tracing; the program's subscriber \
             chooses what is seen",
        ),
        (
            &["-ORBserverCallTimeOutPeriod", "10"],
            "argument 1 (-ORBserverCallTimeOutPeriod): zorb has no such option: say -ORBserverReceiveTime and \
             -ORBserverSendTime",
        ),
        (&["-ORBlisten"], "argument 1 (-ORBlisten): a value is missing"),
        (
            &["-ORBlisten", "-ORBcallTimeout", "1s"],
            "argument 1 (-ORBlisten): a value is missing; -ORBcallTimeout follows",
        ),
        (&["-ORBlisten", "--", "x"], "argument 1 (-ORBlisten): a value is missing; -- follows"),
        (
            &["-ORBcallTimeout", "5"],
            "argument 1 (-ORBcallTimeout): \"5\" is no time: a whole number with ns, us, ms, s, min or h, as in 500ms",
        ),
        (&["-ORBcallTimeout=0s"], "argument 1 (-ORBcallTimeout): 0s is too little: the least is 1ms"),
        (&["-ORBcallTimeout=99999h"], "argument 1 (-ORBcallTimeout): 99999h is too much: the most is 8760h"),
        (
            &["-ORBclientCallTimeOutPeriod", "0"],
            "argument 1 (-ORBclientCallTimeOutPeriod): 0 means a wait without end there, and zorb has no such thing",
        ),
        (
            &["-ORBlargestMessage", "1.5M"],
            "argument 1 (-ORBlargestMessage): \"1.5M\" is no number of octets such as 65536, 64KiB or 1MiB",
        ),
        (&["-ORBfragmentSize", "63"], "argument 1 (-ORBfragmentSize): 63 is too little: the least is 64"),
        (
            &["-ORBserverConnections", "many"],
            "argument 1 (-ORBserverConnections): \"many\" is no whole number from 1 on",
        ),
        (
            &["-ORBserverThreads", "reaktor"],
            "argument 1 (-ORBserverThreads): \"reaktor\" is none of per-connection, pool, reactor, caller",
        ),
        (&["-ORBlisten", " , "], "argument 1 (-ORBlisten): the list is empty"),
        (&["-ORBlisten", "tcp::1,tcp::1"], "argument 1 (-ORBlisten): \"tcp::1\" is named twice"),
        (
            &["-ORBlisten", "tcp::1", "-ORBendPoint", "iiop://:1"],
            "argument 3 (-ORBendPoint): \"tcp::1\" is named twice",
        ),
        (
            &["-ORBcallTimeout", "1s", "-ORBclientCallTimeOutPeriod=9"],
            "argument 3 (-ORBclientCallTimeOutPeriod): call_timeout is set already, by argument 1 (-ORBcallTimeout)",
        ),
        (
            &["-ORBInitRef", "A=x:1", "-ORBInitRef", "A=x:2"],
            "argument 3 (-ORBInitRef): init_ref.A is set already, by argument 1 (-ORBInitRef)",
        ),
        (
            &["-ORBInitRef", "corbaloc::x"],
            "argument 1 (-ORBInitRef): \"corbaloc::x\" is not of the form Name=URL",
        ),
        (&["-ORBpublishedHost="], "argument 1 (-ORBpublishedHost): the text is empty"),
        (
            &["-ORBbidirectionalAccept", "any,10.0.0.0/8"],
            "argument 1 (-ORBbidirectionalAccept): nobody, peer-address and any stand alone",
        ),
        (
            &["-ORBbidirectionalAccept", "10.0.0.0/33"],
            "argument 1 (-ORBbidirectionalAccept): \"10.0.0.0/33\" is no network: an address, or an address and a number of \
             bits such as 10.0.0.0/8; there are nobody, peer-address and any, too",
        ),
        (
            &["-ORBacceptBiDirectionalGIOP", "yes"],
            "argument 1 (-ORBacceptBiDirectionalGIOP): \"yes\" is neither 0 nor 1",
        ),
        (&["-ORBunixUsers", "own,7"], "argument 1 (-ORBunixUsers): own and any stand alone"),
        (
            &["-ORBunixUsers", "root"],
            "argument 1 (-ORBunixUsers): \"root\" is neither own nor any nor a user's number",
        ),
        (
            &["-ORBlisten", "tpc::0"],
            "argument 1 (-ORBlisten): this program has no transport \"tpc\"; its transports are shm, unix, tcp; did you mean \
             tcp?",
        ),
        (
            &["-ORBtransports", "quic,tcp"],
            "argument 1 (-ORBtransports): this program has no transport \"quic\"; its transports are shm, unix, tcp",
        ),
        (
            &["-ORBserverThreadQueue", "9"],
            "argument 1 (-ORBserverThreadQueue): server.thread_queue has no meaning with server.threads \
             \"per-connection\"",
        ),
        (
            &["-ORBserverMostThreads=9", "-ORBserverThreads=reactor"],
            "argument 1 (-ORBserverMostThreads): server.most_threads has no meaning with server.threads \"reactor\", \
             chosen by argument 2 (-ORBserverThreads)",
        ),
        (
            &["-ORBconfigFile=a", "-ORBconfigFile=b"],
            "argument 2 (-ORBconfigFile): a file is named already; there can be one",
        ),
    ] {
        says(options(arguments), expected);
    }
    let odd = OsString::from_vec(b"-ORBlisten=\xff".to_vec());
    let error = Config::new().options(["p".into(), odd]).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "argument 1 (-ORBlisten): it is not UTF-8");
}

#[test]
fn variables_that_mean_nothing() {
    for (name, value, expected) in [
        (
            "ZORB_LISTENS",
            "tcp::0",
            "environment variable ZORB_LISTENS: there is no such setting; did you mean ZORB_LISTEN?",
        ),
        (
            "ZORB_CONFIGS",
            "x",
            "environment variable ZORB_CONFIGS: there is no such setting; did you mean ZORB_CONFIG?",
        ),
        (
            "ZORB_LISTEN",
            "localhost",
            "environment variable ZORB_LISTEN: \"localhost\" is no endpoint; there are tcp:host:port, unix:/path, \
             iiop://host:port, uiop:///path, giop:tcp:host:port and giop:unix:/path",
        ),
        ("ZORB_INIT_REF", "A=x:1 B", "environment variable ZORB_INIT_REF: \"B\" is not of the form Name=URL"),
        (
            "ZORB_SERVER_NESTING",
            "65",
            "environment variable ZORB_SERVER_NESTING: 65 is too much: the most is 64",
        ),
    ] {
        says(variable(name, value), expected);
    }
    let odd = OsString::from_vec(b"\xff".to_vec());
    let error = Config::new().environment([("ZORB_LISTEN".into(), odd)]).expect_err("no UTF-8");
    assert_eq!(error.to_string(), "environment variable ZORB_LISTEN: it is not UTF-8");
}

#[test]
fn files_that_mean_nothing() {
    for (text, expected) in [
        (
            "# one\n\n  cal_timeout = \"1s\"",
            "file zorb.toml, line 3, column 3: there is no setting \"cal_timeout\"; did you mean call_timeout?",
        ),
        (
            "[server]\nidel = \"1s\"",
            "file zorb.toml, line 2, column 1: there is no setting \"server.idel\"; did you mean server.idle?",
        ),
        ("[sever]\nidle = \"1s\"", "file zorb.toml, line 1, column 2: there is no setting \"sever\""),
        ("server = 1", "file zorb.toml, line 1, column 10: server is a table, and this is an integer"),
        (
            "call_timeout = 5",
            "file zorb.toml, line 1, column 16: call_timeout is a text with a unit, such as \"500ms\", and this is an \
             integer",
        ),
        (
            "private_connections = \"5\"",
            "file zorb.toml, line 1, column 23: private_connections is a whole number, and this is a text",
        ),
        (
            "private_connections = -5",
            "file zorb.toml, line 1, column 23: \"-5\" is no whole number from 0 on",
        ),
        (
            "largest_message = true",
            "file zorb.toml, line 1, column 19: largest_message is a number of octets, or a text such as \"64KiB\", and \
             this is a boolean",
        ),
        ("giop_version = 1.3", "file zorb.toml, line 1, column 16: \"1.3\" is none of 1.0, 1.1, 1.2"),
        (
            "listen = [\"tcp::0\", 5]",
            "file zorb.toml, line 1, column 21: listen is a list of texts, and this is an integer",
        ),
        (
            "published_host = \"\u{e4}\" # \u{e4}\nlisten = [\n  \"tcp::0\",\n  \"http://x\"]",
            "file zorb.toml, line 4, column 3: \"http://x\" is no endpoint; there are tcp:host:port, unix:/path, \
             iiop://host:port, uiop:///path, giop:tcp:host:port and giop:unix:/path",
        ),
        ("listen = []", "file zorb.toml, line 1, column 10: the list is empty"),
        (
            "init_ref = \"A=b\"",
            "file zorb.toml, line 1, column 12: init_ref is a table of URLs, and this is a text",
        ),
        (
            "[init_ref]\nA = 5",
            "file zorb.toml, line 2, column 5: init_ref.A is a text, and this is an integer",
        ),
        (
            "[init_ref]\nA = ' '",
            "file zorb.toml, line 2, column 1: a name and its URL have at least one character",
        ),
        (
            "listen = 'tcp::0'\nlisten = 'tcp::1'",
            "file zorb.toml, line 2, column 1: it is not TOML: duplicate key",
        ),
        (
            "a = 1\nlisten = [",
            "file zorb.toml, line 2, column 11: it is not TOML: unclosed array, expected `]`",
        ),
        (
            "transports = ['quic']",
            "file zorb.toml, line 1, column 1: this program has no transport \"quic\"; its transports are shm, unix, tcp",
        ),
    ] {
        says(file(text), expected);
    }
}

#[test]
fn files_that_cannot_be_had() {
    let folder = std::env::temp_dir().join(format!("zorb-config-errors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let none = path("none.toml");
    let missing = "it cannot be opened: No such file or directory (os error 2)";
    says(
        options(&["-ORBconfigFile", &none]),
        &format!("argument 1 (-ORBconfigFile): file {none}: {missing}"),
    );
    says(
        variable("ZORB_CONFIG", &none),
        &format!("environment variable ZORB_CONFIG: file {none}: {missing}"),
    );
    let read = |path: &str| {
        let mut config = Config::new();
        config.file(path).map(|()| config)
    };
    says(read(&none), &format!("file {none}: {missing}"));
    says(read(&path("")), &format!("file {}: it is no regular file", path("")));

    let large = path("large.toml");
    std::fs::write(&large, "#".repeat((1 << 20) + 1)).unwrap();
    says(
        read(&large),
        &format!("file {large}: it holds more than 1048576 octets, which no configuration does"),
    );
    std::fs::write(&large, "#".repeat(1 << 20)).unwrap();
    assert!(read(&large).unwrap().is_empty());

    let binary = path("binary.toml");
    std::fs::write(&binary, b"call_timeout = \"1s\"\n# \xff").unwrap();
    says(read(&binary), &format!("file {binary}, line 2, column 3: it is not UTF-8 from here on"));

    // A good file is read, and what is wrong in a bad one leaves nothing behind.
    let good = path("good.toml");
    std::fs::write(&good, "call_timeout = \"1s\"").unwrap();
    assert!(!read(&good).unwrap().is_empty());
    let mut config = Config::new();
    config.toml("zorb.toml", "call_timeout = \"1s\"\nno = 1").unwrap_err();
    assert!(config.is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}
