//! `zorb bridge` as its users run it: between two processes, over each transport inside, and until it is told to end.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A `zorb` that serves, ended when dropped.
struct Serving {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Serving {
    fn start(arguments: &[&str]) -> Serving {
        let mut child = Command::new(env!("CARGO_BIN_EXE_zorb"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Serving { child, lines }
    }

    fn reference(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(line.starts_with("IOR:"), "{line:?}");
        line.trim().to_owned()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn zorb(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_zorb")).args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = |octets: Vec<u8>| String::from_utf8(octets).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_bridge_leads_to_its_targets_and_ends_when_it_is_told() {
    for inside in ["tcp", "unix", "shm"] {
        let at = if inside == "tcp" { "tcp:127.0.0.1:0".to_owned() } else { format!("{inside}:") };
        let mut target = Serving::start(&["demo", "serve", "-ORBlisten", &at]);
        let to = target.reference();
        let mut bridge = Serving::start(&[
            "bridge",
            "--listen",
            "tcp:127.0.0.1:0",
            "--inside",
            inside,
            "--to",
            &format!("Archive={to}"),
            "--to",
            "corbaloc::127.0.0.1:9/Nobody",
        ]);
        let (archive, nobody) = (bridge.reference(), bridge.reference());
        let (code, printed, error) = zorb(&["ping", &archive, "-n", "20"]);
        assert_eq!(code, Some(0), "{inside}: {error}");
        assert!(printed.contains("IDL:zorb.demo/imaging/Archive:1.0: yes"), "{printed}");

        let (_, shown, _) = zorb(&["ior", "--json", &archive]);
        let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let port = find(&shown, "port").expect("an IIOP profile has a port").to_string();
        let by_name = format!("corbaloc::127.0.0.1:{port}/Archive");
        assert_eq!(zorb(&["ping", &by_name, "-n", "1"]).0, Some(0), "{inside}");
        let (code, _, error) = zorb(&["ping", &nobody, "-n", "1"]);
        assert_eq!(code, Some(1), "{inside}: {error}");

        let told = Command::new("kill").arg(bridge.child.id().to_string()).status().unwrap();
        assert!(told.success());
        assert_eq!(bridge.child.wait().unwrap().code(), Some(0), "{inside}");
    }
}

#[test]
fn the_demonstration_runs_through_a_bridge_that_knows_its_idl() {
    let idl = concat!(env!("CARGO_MANIFEST_DIR"), "/idl/archive.idl");
    let mut target = Serving::start(&["demo", "serve", "-ORBlisten", "shm:"]);
    let to = target.reference();
    let bridge = ["bridge", "--listen", "tcp:127.0.0.1:0", "--inside", "shm", "--to", &to, "--idl", idl];
    // Studies that the archive opens are reached through the bridge, and the client's listener.
    let mut through =
        Serving::start(&[&bridge[..], &["--unknown", "refuse", "--listen-inside", "shm:"]].concat());
    let folder = std::env::temp_dir().join(format!("zorb-bridged-{}", std::process::id()));
    let folder = folder.to_str().unwrap();
    let (code, printed, error) = zorb(&["demo", "client", &through.reference(), "--out", folder]);
    assert_eq!(code, Some(0), "{printed} {error}");
    std::fs::remove_dir_all(folder).unwrap();
    // Without a place to be reached at, no client's object is.
    let mut alone = Serving::start(&bridge);
    let (code, _, error) = zorb(&["demo", "client", &alone.reference(), "--out", folder]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("NO_PERMISSION"), "{error}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    for (arguments, code, says) in [
        (&["--to", "IOR:00"][..], 1, "reference"),
        (&["--to", "corbaloc::h/N", "--inside", "pigeon"], 2, "there is no transport pigeon"),
        (&["--to", "corbaloc::h/N", "--timeout", "0"], 2, "not a time above 0"),
        (&["--to", "corbaloc::h/N", "--listen", "tcp:192.0.2.1:0"], 1, "cannot listen"),
        (&["--to", "corbaloc::h/N", "--listen-inside", "tcp:192.0.2.1:0"], 1, "cannot listen inside"),
        (&["--to", "corbaloc::h/N", "--callbacks", "any"], 2, "--callbacks needs --listen-inside"),
    ] {
        let (found, _, error) = zorb(&[&["bridge"], arguments].concat());
        assert_eq!(found, Some(code), "{arguments:?}: {error}");
        assert!(error.starts_with("zorb: ") && error.trim_end().lines().count() == 1, "{error}");
        assert!(error.contains(says), "{error}");
    }
}

/// The first number of that name, wherever it stands.
fn find(shown: &serde_json::Value, name: &str) -> Option<u64> {
    match shown {
        serde_json::Value::Object(members) => members
            .get(name)
            .and_then(serde_json::Value::as_u64)
            .or_else(|| members.values().find_map(|value| find(value, name))),
        serde_json::Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}
