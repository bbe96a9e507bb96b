//! What a machine cannot try.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

/// What `ZORB_REQUIRE_PEERS=1` does not ask for, by the beginning of its line, and why not.
const NOT_ASKED_FOR: &[(&str, &str)] = &[
    (
        "vsock",
        "a machine reaches itself by it with a module of the kernel only, which a container cannot load",
    ),
    ("memory of huge pages", "a kernel may be built without"),
    ("pipes without SIGPIPE", "since Linux 6.18"),
    ("adopting events", "which kind one is, the kernel tells since Linux 6.5"),
    ("a socket's option", "the newest is of Linux 6.5"),
    ("IPv6 on this machine", "a host may have none, and containers often do"),
];

/// Says why this machine cannot try something: one line for each thing and program, past the harness, which shows
/// what `eprintln!` says of failures only.
///
/// # Panics
/// With `ZORB_REQUIRE_PEERS=1`, unless it is in the list of what is not asked for.
pub(crate) fn left_out(what: &str, why: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let required = std::env::var("ZORB_REQUIRE_PEERS").is_ok_and(|value| value == "1");
    let excused = NOT_ASKED_FOR.iter().any(|(beginning, _)| what.starts_with(beginning));
    assert!(excused || !required, "{what} left out, which is asked for: {why}");
    if SAID.lock().unwrap().insert(what.to_owned()) {
        let _ = std::io::stderr().write_all(format!("{what} left out: {why}\n").as_bytes());
    }
}
