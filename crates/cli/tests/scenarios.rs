//! The scenarios of `zorb bench` as their users run them, with as few calls as they take: rows that scripts can rely on,
//! tables that fit, and what is refused.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn zorb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zorb")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn text(octets: &[u8]) -> &str {
    std::str::from_utf8(octets).unwrap()
}

/// Runs, expects success, and gives what was printed.
fn printed(arguments: &[&str]) -> String {
    let output = zorb(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

/// The rows that a scenario prints as JSON; all of them are of the experiment of this name.
fn rows(scenario: &str, options: &[&str]) -> Vec<Value> {
    let arguments = [&["bench", scenario, "--json"], options].concat();
    let rows: Vec<Value> =
        printed(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().all(|row| row["experiment"] == scenario), "{rows:?}");
    rows
}

/// The table of a scenario, which must fit.
fn table(scenario: &str, options: &[&str]) -> String {
    let shown = printed(&[&["bench", scenario], options].concat());
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    shown
}

/// Runs, expects exit code 2, and gives what was said.
fn refused(arguments: &[&str]) -> String {
    let output = zorb(arguments);
    let said = text(&output.stderr).to_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    said
}

fn column<'r>(rows: &'r [Value], field: &str) -> Vec<&'r str> {
    rows.iter().map(|row| row[field].as_str().unwrap_or_else(|| panic!("{field} in {row}"))).collect()
}

fn numbers(rows: &[Value], field: &str) -> Vec<f64> {
    rows.iter().map(|row| row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"))).collect()
}

#[test]
fn rtt_measures_what_is_lent_beside_what_is_not() {
    let lending =
        ["--calls", "1", "--types", "given", "--sizes", "64K", "--peers", "zorb-loan,zorb-trusting"];
    let rows = rows("rtt", &lending);
    assert_eq!(column(&rows, "system"), ["raw", "zorb", "zorb-loan", "zorb-trusting"]);
    assert_eq!(column(&rows, "transport"), ["tcp", "tcp", "shm", "shm"]);
}

#[test]
fn rtt_measures_the_types_and_sizes_asked_for() {
    let rows = rows("rtt", &["--calls", "1", "--types", "octet,struct,longs", "--sizes", "64..128"]);
    let types = ["octet", "octet", "struct", "longs", "longs"];
    assert_eq!(column(&rows, "type"), types.map(|name| [name, name]).concat());
    assert_eq!(numbers(&rows, "size"), [64.0, 64.0, 128.0, 128.0, 10.0, 10.0, 64.0, 64.0, 128.0, 128.0]);
    assert!(table("rtt", &["--calls", "1", "--types", "longs", "--sizes", "4K"]).contains("longs 4 KiB"));
    assert!(refused(&["bench", "rtt", "--types", "float"]).contains("there are null, octet, given, short"));
    assert!(refused(&["bench", "rtt", "--types", "longs", "--sizes", "6"]).contains("a long has 4"));
    assert!(refused(&["bench", "rtt", "--sizes", "1T"]).contains("no number of octets"));
    let said = refused(&["bench", "rtt", "--probes", "--types", "null,struct"]);
    assert!(said.contains("of the types null and octet: those of struct tell nothing more"), "{said}");
}

#[test]
fn cube_measures_each_type_and_size() {
    let rows = rows("cube", &["--calls", "1", "--sizes", "4,64"]);
    let types = ["null", "short", "long", "octet", "struct", "octets", "octets", "longs", "longs"];
    assert_eq!(column(&rows, "type"), types.map(|name| [name, name]).concat());
    assert_eq!(column(&rows, "system"), ["raw", "zorb"].repeat(9));
    assert_eq!(numbers(&rows, "size")[8..14], [10.0, 10.0, 4.0, 4.0, 64.0, 64.0]);
    assert!(numbers(&rows, "calls_s").iter().all(|&calls| calls > 0.0));
    assert!(numbers(&rows, "ratio_to_raw").iter().all(|&ratio| ratio > 0.0));
    let shown = table("cube", &["--calls", "1", "--types", "void,longs", "--pin", "none"]);
    assert!(shown.contains("longs 4 KiB") && shown.contains("calls/s"), "{shown}");
    assert!(refused(&["bench", "cube", "--types", "float"]).contains("there are void, short"));
    assert!(refused(&["bench", "cube", "--sizes", "6"]).contains("a long has 4"));
    assert!(refused(&["bench", "cube", "--peers", "orbix"]).contains("zorb-shm:RING, omniorb, jacorb"));
}

#[test]
fn demux_finds_operations_in_four_ways_and_objects_in_one() {
    let options = ["--calls", "1", "--operations", "1,100", "--objects", "1,1000"];
    let rows = rows("demux", &options);
    let (operations, objects): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row["operations"].is_number());
    // Two styles; the first of one, the first and the last of a hundred; the floor and four ways.
    assert_eq!(operations.len(), 2 * 3 * 5);
    let ways = operations.iter().filter_map(|row| row["lookup"].as_str());
    assert_eq!(ways.collect::<Vec<_>>(), ["linear", "hashed", "perfect", "numbered"].repeat(6));
    assert_eq!(column(&operations, "position")[..15].concat(), "first".repeat(10) + &"last".repeat(5));
    assert_eq!(column(&operations, "style")[14..16], ["twoway", "oneway"]);
    assert_eq!(objects.len(), 2 * 3 * 2);
    assert_eq!(column(&objects, "pick")[..6].concat(), "same".repeat(4) + &"random".repeat(2));
    assert!(numbers(&objects, "p50_us").iter().all(|&time| time > 0.0));
    // Of a call on one processor the server's part is a part, the floor's too; but a flood is the floor's way to send
    // oneways, and what a flood costs apart from its buffers would be in it.
    for row in operations.iter().chain(&objects) {
        if (&row["system"], &row["style"]) == (&"raw".into(), &"oneway".into()) {
            assert!(row["server_us"].is_null(), "{row}");
        } else {
            assert!(row["server_us"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    let shown =
        table("demux", &["--calls", "1", "--operations", "1000", "--objects", "0", "--lookup", "linear"]);
    assert!(shown.contains("1000 last") && !shown.contains("perfect"), "{shown}");
    assert!(refused(&["bench", "demux", "--operations", "7"]).contains("there are 1, 10, 100, 1000"));
    assert!(refused(&["bench", "demux", "--objects", "1000001"]).contains("1 to 1000000"));
    assert!(refused(&["bench", "demux", "--lookup", "guessed"]).contains("there are linear, hashed"));
    assert!(refused(&["bench", "demux", "--peers", "omniorb"]).contains("peers have no such switch"));
}

#[test]
fn demux_repeats_the_fields_iterations() {
    let one = rows("demux", &["--iterations", "1,2", "--repeat", "2"]);
    assert_eq!(numbers(&one, "iterations"), [[1.0; 4], [2.0; 4]].concat().repeat(2));
    assert_eq!(column(&one, "style"), [["twoway"; 8], ["oneway"; 8]].concat());
    assert_eq!(column(&one, "lookup"), ["linear", "hashed", "perfect", "numbered"].repeat(4));
    for row in &one {
        assert_eq!((&row["operations"], &row["position"]), (&100.into(), &"last".into()), "{row}");
        assert!(
            row["server_ms"].as_f64().unwrap() > 0.0 && row["client_ms"].as_f64().unwrap() > 0.0,
            "{row}"
        );
        assert_eq!(row["gain_percent"].is_null(), row["lookup"] == "linear", "{row}");
        assert!(row["gain_low"].is_null() && row["ratio_to_raw"].is_null(), "two rounds: {row}");
    }
    let enough = rows("demux", &["--iterations", "1", "--style", "oneway", "--lookup", "linear,hashed"]);
    assert!(enough[1]["gain_low"].is_number() && enough[1]["gain_high"].is_number(), "{enough:?}");
    let unpinned = rows("demux", &["--iterations", "1", "--repeat", "1", "--pin", "none"]);
    assert!(unpinned.iter().all(|row| row["gain_percent"].is_null()), "{unpinned:?}");
    let shown = table("demux", &["--iterations", "1", "--repeat", "1", "--style", "twoway"]);
    assert!(shown.contains("not resolved") && shown.contains("6,603 ms with linear"), "{shown}");
    assert!(refused(&["bench", "demux", "--iterations", "0"]).contains("0 is not in 1..=10000"));
    assert!(
        refused(&["bench", "demux", "--iterations", "1", "--calls", "9"]).contains("cannot be used with")
    );
    assert!(refused(&["bench", "demux", "--repeat", "9"]).contains("--iterations"));
}

#[test]
fn size_gives_the_orbs_share() {
    let rows = rows("size", &["--calls", "1", "--sizes", "4,2048"]);
    assert_eq!(numbers(&rows, "size"), [4.0, 4.0, 2048.0, 2048.0]);
    assert!(numbers(&rows, "ratio_to_raw").iter().all(|&ratio| ratio > 0.0));
    assert!(table("size", &["--calls", "1", "--sizes", "4"]).contains('%'));
}

#[test]
fn firstcall_has_four_phases() {
    let rows = rows("firstcall", &["--calls", "1"]);
    let phases = ["connection", "interface", "object", "later"];
    assert_eq!(column(&rows, "phase"), phases.map(|phase| [phase, phase]).concat());
    assert!(numbers(&rows, "p50_us").iter().all(|&time| time > 0.0));
    assert!(table("firstcall", &["--calls", "1", "--pin", "none"]).contains("interface"));
}

#[test]
fn concurrency_counts_the_calls_of_many_callers() {
    let rows = rows("concurrency", &["--callers", "1,100", "--time", "20"]);
    assert_eq!(numbers(&rows, "callers"), [1.0, 1.0, 100.0, 100.0]);
    assert!(numbers(&rows, "calls_s").iter().all(|&calls| calls > 0.0));
    let options = ["--callers", "2", "--time", "1", "--size", "100", "--pin", "none"];
    assert!(table("concurrency", &options).contains("calls/s"));
    assert!(refused(&["bench", "concurrency", "--callers", "0"]).contains("0 is not in"));
}

#[test]
fn connections_are_counted_up() {
    let rows = rows("connections", &["--calls", "1", "--connections", "100,10"]);
    let (times, memory): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row["p50_us"].is_number());
    assert_eq!(column(&times, "system"), ["raw", "zorb", "raw", "zorb"]);
    assert_eq!(numbers(&times, "connections"), [10.0, 10.0, 100.0, 100.0]);
    assert_eq!(column(&memory, "system"), ["zorb", "zorb"]);
    assert!(numbers(&memory, "kib_per_connection").iter().all(|&kib| kib >= 0.0));
    assert!(table("connections", &["--calls", "1", "--connections", "10"]).contains("KiB each"));
}

#[test]
fn connections_that_do_not_fit_are_left_out() {
    let output = zorb(&["bench", "connections", "--connections", "4000000000", "--json"]);
    let said = text(&output.stderr);
    assert!(output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("4000000000 connections are left out: a process may have"), "{said}");
}

#[test]
fn images_is_an_application_of_many_objects() {
    let rows = rows("images", &[]);
    assert_eq!(column(&rows, "system"), ["raw", "zorb"]);
    assert_eq!((&rows[1]["objects"], &rows[1]["size"]), (&295.into(), &(3 << 20).into()));
    assert!(numbers(&rows, "calls_s").iter().all(|&calls| calls > 0.0));
}

/// A link needs root and a kernel with its parts, which not every machine has; what is missing is then said.
#[test]
fn a_link_lies_between_both_sides_or_says_why_not() {
    let run = ["bench", "rtt", "--calls", "1", "--types", "octet", "--sizes", "64K", "--json", "--link"];
    let output = zorb(&[&run[..], &["20mbit,mtu=9000"]].concat());
    let said = text(&output.stderr);
    if !output.status.success() {
        assert!(said.contains("the link cannot be made: "), "{said}");
        return eprintln!("not run: {said}");
    }
    let rows: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(column(&rows, "system"), ["raw", "zorb"]);
    assert_eq!(column(&rows, "link"), ["20mbit,mtu=9000"; 2]);
    // 64 KiB each way, of which the queues' bursts let pass less than half: 13 ms and more at this rate. Not the
    // machine's speed is what this tells, but that the messages took the link.
    assert!(numbers(&rows, "p50_us").iter().all(|&time| time > 13_000.0), "{rows:?}");
    assert!(refused(&["bench", "cube", "--link", "1gbit,loss=1"]).contains("there is no \"loss\""));
    assert!(refused(&["bench", "rtt", "--probes", "--link", "1gbit"]).contains("cannot be used with"));
}
