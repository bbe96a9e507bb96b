//! Runs every example as a reader would, and compares what it prints.
//!
//! Servers are read until they have printed their reference and killed at the end; clients have a minute.

mod process;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use process::{PATIENCE, Process, vsock};

/// Runs a client against a server, and compares.
fn pair(server: &str, client: &str, expected: &str) {
    pair_with(server, client, &[], expected);
}

/// The same with more words for the client.
fn pair_with(server: &str, client: &str, more: &[&str], expected: &str) {
    let mut server = Process::start(server, &[]);
    let reference = server.first_line();
    assert!(reference.starts_with("IOR:"), "{reference:?}");
    let words: Vec<&str> = [&*reference].into_iter().chain(more.iter().copied()).collect();
    assert_eq!(Process::start(client, &words).output(), expected);
}

#[test]
fn hello() {
    pair(env!("CARGO_BIN_EXE_hello-server"), env!("CARGO_BIN_EXE_hello-client"), "hello, world\n");
}

#[test]
fn messaging() {
    let expected = "\
a client with text speaks text
hello, world
any other speaks GIOP
hello, world
";
    assert_eq!(Process::start(env!("CARGO_BIN_EXE_messaging"), &[]).output(), expected);
}

#[test]
fn deposit() {
    let output = Process::start(env!("CARGO_BIN_EXE_deposit"), &[]).output();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "meadow: 16777216 octets in a frame, 1 frames are free", "{output}");
    assert_eq!(lines[1], "river: 16777216 octets in a frame, 0 frames are free", "{output}");
    assert!(lines[2].starts_with("hill: 16777216 octets in memory of the ORB's"), "{output}");
    assert_eq!(lines[3], "without the meadow 1 frames are free", "{output}");
    assert_eq!(lines[4], "river: 16777216 octets into the slice, all of them 2", "{output}");
    assert!(lines[5].contains("16777216 elements") && lines[5].contains("room for 1000"), "{output}");
}

#[test]
fn frames() {
    let output = Process::start(env!("CARGO_BIN_EXE_frames"), &[]).output();
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines.first(), Some(&"frames"), "{output}");
    assert!(lines.contains(&"picture 8 of 320 ms, 1008 octets"), "{output}");
    assert!(lines.contains(&"picture 10 of 400 ms, 1010 octets, 1 missing before it"), "{output}");
    assert!(lines.contains(&"picture 20 of 800 ms, 1020 octets, 1 missing before it"), "{output}");
    assert_eq!(lines.len(), 24, "{output}");
}

#[test]
fn bank() {
    let expected = "\
Ada: 30 paid to Ada, 70 left
930 are missing
BAD_PARAM, not executed
Grace saves at 1.75 %
Ada: account with 70
Grace: savings with 10
Alan: not a customer
";
    pair(env!("CARGO_BIN_EXE_bank-server"), env!("CARGO_BIN_EXE_bank-client"), expected);
}

#[test]
fn callback() {
    let expected = "tick 1\ntick 2\ntick 3\nheard 3 of 3\n";
    let (server, client) = (env!("CARGO_BIN_EXE_callback-server"), env!("CARGO_BIN_EXE_callback-client"));
    pair(server, client, expected);
    pair_with(server, client, &["nowhere"], expected);
}

#[test]
fn asynchronous() {
    let expected = "4 + 9 + 16 = 29\n25 = 25\nthe server knows that we gave up\n";
    pair(env!("CARGO_BIN_EXE_async-server"), env!("CARGO_BIN_EXE_async-client"), expected);
}

#[test]
fn adapters() {
    let expected = "\
persistent references and a servant activator:
  (fetching \"Emma\" from the shelf)
the text of \"Emma\"
the text of \"Emma\"
  (putting \"Emma\" back)
the server starts again:
  (fetching \"Emma\" from the shelf)
the text of \"Emma\"
  (putting \"Emma\" back)
\"Emma\" is back on its shelf
a default servant:
nobody wrote Persuasion II
nobody wrote Sanditon II
a servant locator that sends callers on:
  (fetching \"Emma\" from the shelf)
the text of \"Emma\"
  (putting \"Emma\" back)
";
    assert_eq!(Process::start(env!("CARGO_BIN_EXE_adapters"), &[]).output(), expected);
}

/// The C compiler that links Rust programs is there.
fn compiled(source: &str) -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("echo-in-c");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let compiler = std::env::var("CC").unwrap_or("cc".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-O2", "-o"]).arg(&program).arg(source);
    assert!(command.status().expect("a C compiler").success());
    program.to_str().expect("cargo's folder is text").to_owned()
}

#[test]
fn echo_over_handles_and_over_raw_sockets() {
    let over_handles = env!("CARGO_BIN_EXE_echo-server");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("echo-{}", std::process::id()));
    let path = path.to_str().expect("cargo's folder is text");
    let [unix, shm] = ["unix", "shm"].map(|family| format!("{family}:{path}-{family}"));
    let in_c = compiled("07_echo/echo.c");
    let mut servers = vec![
        (over_handles, vec![]),
        (over_handles, vec![&*unix]),
        (over_handles, vec![&shm]),
        (&in_c, vec![]),
    ];
    servers.extend(vsock().map(|address| (over_handles, vec![address])));
    for (server, arguments) in &servers {
        let mut server = Process::start(server, arguments);
        let address = server.first_line();
        let family = arguments.first().map_or("tcp", |asked| asked.split(':').next().unwrap_or_default());
        assert!(address.starts_with(&format!("{family}:")), "{address} for {arguments:?}");
        for words in [&["any", "words"][..], &["again"]] {
            let client = [&[&*address], words].concat();
            let echoed = Process::start(env!("CARGO_BIN_EXE_echo-client"), &client).output();
            assert_eq!(echoed.trim_end(), words.join(" "), "{address}");
        }
    }
    // The servers were killed, and could not.
    for family in ["unix", "shm"] {
        let _ = fs::remove_file(format!("{path}-{family}"));
    }
}

/// Without a naming service it says how to start one.
#[test]
fn naming() {
    let text = Process::start(env!("CARGO_BIN_EXE_naming"), &[]).output();
    assert!(text.contains("omniNames -start"), "{text:?}");
}

/// With omniNames, where that is installed.
#[test]
fn naming_with_a_service() {
    if Command::new("omniNames").arg("-help").output().is_err() {
        return eprintln!("omniNames is not installed: not run");
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("names-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("cargo's folder for tests can be written to");
    let address = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = address.expect("the system has a free port").to_string();
    let (_, port) = address.rsplit_once(':').expect("an address has a port");
    let log = folder.to_str().expect("cargo's folder is text");
    let _service = Process::start("omniNames", &["-start", port, "-logdir", log]);
    let by = Instant::now() + PATIENCE;
    while TcpStream::connect(&address).is_err() {
        assert!(Instant::now() < by, "omniNames does not listen at {address}");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(Process::start(env!("CARGO_BIN_EXE_naming"), &[&address]).output(), "hello, names\n");
    let _ = fs::remove_dir_all(folder);
}
