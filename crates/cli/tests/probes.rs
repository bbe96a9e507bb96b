//! `zorb bench rtt --probes` in a program that has time probes: what it says that a call takes. `./check` builds one.

#![cfg(feature = "probes")]

use std::process::Command;

use serde_json::Value;

fn printed(options: &[&str]) -> String {
    let arguments = [&["bench", "rtt", "--probes", "--types", "null,octet", "--sizes", "1K,64K"], options];
    let output = Command::new(env!("CARGO_BIN_EXE_zorb")).args(arguments.concat()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn steps_and_counts_are_rows() {
    let rows: Vec<Value> =
        printed(&["--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |experiment| rows.iter().filter(move |row| row["experiment"] == experiment);
    assert_eq!(
        of("whitebox").count(),
        3 * 17,
        "nine steps of the client's, one between, seven of the server's"
    );
    let counts: Vec<_> = of("counts").collect();
    let kinds: Vec<_> =
        counts.iter().map(|row| (row["type"].as_str().unwrap(), row["size"].as_u64().unwrap())).collect();
    let both = |kind| [kind, kind];
    assert_eq!(kinds, [("null", 0), ("octet", 1024), ("octet", 65_536), ("struct", 2400)].map(both).concat());
    for row in counts {
        let number = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"));
        let size = number("size");
        assert!(number("system_calls") >= 2.0, "one message each way: {row}");
        if size < 16_384.0 {
            assert!(number("octets_copied") >= 2.0 * size, "in and out: {row}");
            assert!(number("octets_copied") < 2.0 * size + 200.0, "not more than once: {row}");
        } else {
            assert!(number("octets_copied") < 200.0, "borrowed, and read in place: {row}");
            assert!(number("octets_allocated") < size, "in memory that is there: {row}");
        }
    }
}

#[test]
fn a_trace_is_one_that_viewers_open() {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/trace.json");
    printed(&["--trace", path]);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().expect("the list that viewers look for");
    let (names, steps): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["ph"] == "M");
    let named: Vec<_> = names
        .iter()
        .filter(|event| event["name"] == "process_name")
        .map(|event| (event["pid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!(named, [(1, "client"), (2, "server")]);
    for step in &steps {
        let number = |field: &str| step[field].as_f64().unwrap_or_else(|| panic!("{field} in {step}"));
        assert_eq!(step["ph"], "X", "an event with a length: {step}");
        assert!(!step["name"].as_str().unwrap().is_empty() && step["tid"].is_u64(), "{step}");
        // From the first mark on, in microseconds: both processes are on one clock.
        assert!(number("ts") >= 0.0 && number("dur") >= 0.0, "{step}");
    }
    for (process, least) in [(1, 9), (2, 7)] {
        for call in ["null", "1 KiB", "64 KiB"] {
            let of_call = steps.iter().filter(|step| step["pid"] == process && step["args"]["call"] == call);
            let names: std::collections::BTreeSet<_> = of_call.map(|step| step["name"].as_str()).collect();
            assert!(names.len() >= least, "process {process}, {call}: {names:?}");
        }
    }
}

#[test]
fn tables_fit_and_a_mark_has_its_price() {
    let shown = printed(&[]);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let price = shown.lines().find_map(|line| line.strip_prefix("A mark took ")).expect("the price");
    let nanoseconds: f64 = price.split(' ').next().unwrap().parse().unwrap();
    assert!(nanoseconds > 0.1, "{price}");
}
