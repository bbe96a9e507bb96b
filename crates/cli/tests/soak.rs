//! `zorb soak`, for some seconds: nothing is lost, doubled or left while processes are killed.

use std::process::{Command, Stdio};

#[test]
fn a_short_soak_finds_nothing() {
    let output = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["soak", "--for", "12s"])
        .stdin(Stdio::null())
        .output()
        .expect("it can be run");
    let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{shown}\n{said}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.ends_with("nothing lost, nothing doubled, nothing left\n"), "{shown}");
    // What was not tried cannot fail: every lane has called, and all but the last two have lost a peer more than once.
    let lanes: Vec<Vec<&str>> =
        shown.lines().skip(1).take(9).map(|line| line.split_whitespace().collect()).collect();
    for lane in &lanes {
        let number = |at: usize| lane[at].replace(',', "").parse::<u64>().expect("a number");
        let called = if lane[0] == "udp" { number(5) } else { number(3) };
        assert!(called > 0, "{lane:?}");
        assert!(number(2) > 1 || lane[1] == "none", "{lane:?}");
    }
}
