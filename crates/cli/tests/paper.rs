//! `zorb bench paper` as its users run it, with as few calls as it takes: stopped and gone on with, with peers that die,
//! on a full disk, and what it refuses.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{peers, text};
use serde_json::Value;

/// Far above what any part of a run takes on the busiest machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A directory that is not there yet.
fn fresh(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("paper-{test}"));
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn paper(peers: &Path, arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zorb"));
    command.args(["bench", "paper"]).args(arguments).arg(directory).env("ZORB_PEERS_OUT", peers);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs it to its end, after which no process of it may be left.
fn run(peers: &Path, arguments: &[&str], directory: &Path) -> Output {
    let output = paper(peers, arguments, directory).output().unwrap();
    assert_eq!(left_behind(peers), [] as [String; 0]);
    output
}

/// Processes that were started by a run with these peers, servers of our own included: the folder is in their environment.
fn left_behind(peers: &Path) -> Vec<String> {
    let mark = format!("ZORB_PEERS_OUT={}\0", peers.display());
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let ours = processes.filter(|process| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    });
    ours.map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default()).collect()
}

/// What was printed, as one line.
fn unwrapped(output: &Output) -> String {
    text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn results(directory: &Path) -> String {
    fs::read_to_string(directory.join("results.jsonl")).unwrap_or_default()
}

fn rows(directory: &Path) -> Vec<Value> {
    results(directory).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// What tells rows apart.
fn keys(rows: &[Value]) -> BTreeSet<String> {
    let key =
        |row: &Value| ["command", "system", "type", "size"].map(|field| row[field].to_string()).join(" ");
    rows.iter().map(key).collect()
}

/// Waits until the directory has so many rows.
fn await_rows(directory: &Path, count: usize, child: &mut Child) {
    let began = Instant::now();
    while results(directory).lines().count() < count {
        assert!(began.elapsed() < PATIENCE, "{}", results(directory));
        assert!(child.try_wait().unwrap().is_none(), "ended too soon: {}", results(directory));
        thread::sleep(Duration::from_millis(20));
    }
}

/// Rows of each step: two sizes of five versions, as sequences and as strings; two calls of four systems; one of three.
const ROWS: [usize; 3] = [20, 8, 3];

#[test]
fn a_run_that_is_stopped_goes_on_where_it_was() {
    // Falls silent in the second of the second step's events.
    let folder = peers("paper-stopped", &[("omniorb", "tiring")]);
    let directory = fresh("stopped");
    let mut child = paper(&folder, &["--tiny", "--patience", "3600"], &directory).spawn().unwrap();
    await_rows(&directory, ROWS[0] + ROWS[1] / 2, &mut child);
    let meanwhile = paper(&folder, &["--tiny"], &directory).output().unwrap();
    assert_eq!(meanwhile.status.code(), Some(2));
    assert!(text(&meanwhile.stderr).contains("another run is writing to it now"));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("1 of 3 steps are there; the same command goes on"), "{said}");
    assert!(text(&output.stdout).contains("not ended"));
    assert_eq!(left_behind(&folder), [] as [String; 0]);
    assert!(directory.join("index.html").exists(), "what was measured is drawn");
    let stopped = results(&directory);
    assert_eq!(stopped.lines().count(), ROWS[0] + ROWS[1] / 2);

    // As a power cut would leave it.
    fs::write(directory.join("results.jsonl"), stopped.clone() + "{\"experiment\":\"rtt\",\"sys").unwrap();
    fs::write(folder.join("omniorb/behaviour"), "honest").unwrap();
    let output = run(&folder, &["--tiny"], &directory);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(unwrapped(&output).contains("1 of 3 steps are there"), "{}", text(&output.stdout));
    assert!(said.contains("2 of 3: latency-same") && !said.contains("1 of 3"), "{said}");
    let all = rows(&directory);
    assert_eq!(
        (all.len(), keys(&all).len()),
        (ROWS.iter().sum(), ROWS.iter().sum()),
        "none lost, none double"
    );
    let first: Vec<_> = stopped.lines().take(ROWS[0]).collect();
    assert_eq!(results(&directory).lines().take(ROWS[0]).collect::<Vec<_>>(), first, "not measured again");
    assert_eq!(all[0]["study"], "wrappers");
    for row in &all {
        assert!(row["command"].as_str().unwrap().starts_with("zorb "), "{row}");
    }
    for line in results(&directory).lines() {
        let (_, last) = line.rsplit_once(",\"").unwrap();
        assert!(last.starts_with("command\":"), "{line}");
    }

    let complete = results(&directory);
    let output = run(&folder, &["--tiny"], &directory);
    assert!(output.status.success() && results(&directory) == complete, "nothing is left to do");
    assert!(unwrapped(&output).contains("All 3 steps have been measured"));
    let machine: Value =
        serde_json::from_slice(&fs::read(directory.join("machine.json")).unwrap()).expect("JSON");
    assert_eq!(machine["peers"]["omniorb"], "unknown", "{machine}");

    // Another run does not belong beside it.
    for (arguments, difference) in [
        (&["--quick"][..], "scale: tiny there, quick now"),
        (&["--tiny", "--peers", "none"], "peers: omniorb there, none now"),
    ] {
        let output = run(&folder, arguments, &directory);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(difference) && said.contains("--again to lose what is there"), "{said}");
        assert_eq!(results(&directory), complete);
    }
    let output = run(&folder, &["--tiny", "--peers", "none", "--again"], &directory);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&directory);
    assert_eq!(rows.len(), 16 + 6 + 2);
    assert!(rows.iter().all(|row| row["system"] != "omniorb"));
}

#[test]
fn a_peer_that_dies_is_told_and_the_rest_goes_on() {
    let folder = peers("paper-dying", &[("omniorb", "honest"), ("jacorb", "dying")]);
    let directory = fresh("dying");
    let output = run(&folder, &["--tiny", "--peers", "jacorb,omniorb,tonic"], &directory);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("jacorb: ") && said.contains("it last said: first words | out of luck"), "{said}");
    assert!(
        said.contains("tonic is left out: it is not built yet, which bench/peers/tonic/build does"),
        "{said}"
    );
    assert!(said.contains("the run is incomplete: latency-same: jacorb: "), "{said}");
    assert!(text(&output.stdout).contains("failures of systems"), "{}", text(&output.stdout));
    let rows = rows(&directory);
    let of = |system: &str| rows.iter().filter(|row| row["system"] == system).count();
    assert_eq!((of("omniorb"), of("zorb"), of("jacorb")), (7, 7, 4), "floods only");
    let page = fs::read_to_string(directory.join("index.html")).unwrap();
    assert!(page.contains("out of luck"), "the page says why figures are missing");
    let again = run(&folder, &["--tiny"], &directory);
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn a_full_disk_is_told_and_not_hung_on() {
    let folder = peers("paper-full", &[]);
    let directory = fresh("full");
    // Files may have some rows, and no more.
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_zorb"), "bench", "paper", "--tiny"])
        .arg(&directory)
        .env("ZORB_PEERS_OUT", &folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let file = directory.join("results.jsonl");
    assert!(said.contains(&format!("zorb: cannot write {}: File too large", file.display())), "{said}");
    assert_eq!(left_behind(&folder), [] as [String; 0]);
    let output = run(&folder, &["--tiny"], &directory);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&directory);
    assert_eq!((rows.len(), keys(&rows).len()), (24, 24));
}

#[test]
fn directories_that_cannot_be_used_are_refused_before_anything_is_measured() {
    let folder = peers("paper-refused", &[]);
    let parent = fresh("refused");
    fs::create_dir_all(&parent).unwrap();
    let refused = |directory: &Path, code: i32| {
        let output = run(&folder, &["--tiny"], directory);
        let said = text(&output.stderr).to_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(!said.contains("1 of 3"), "{said}");
        said
    };
    let file = parent.join("file");
    fs::write(&file, "mine").unwrap();
    assert!(refused(&file, 1).contains("Not a directory"));
    assert!(refused(&file.join("below"), 1).contains("Not a directory"));
    let others = parent.join("others");
    fs::create_dir_all(&others).unwrap();
    fs::write(others.join("index.html"), "my own page").unwrap();
    assert!(refused(&others, 2).contains("its index.html is not of a run that can be gone on with"));
    assert_eq!(fs::read_to_string(others.join("index.html")).unwrap(), "my own page");
    fs::write(others.join("steps.jsonl"), "no head\n").unwrap();
    assert!(refused(&others, 2).contains("does not say of which run it is"));
    let unknown = run(&folder, &["--tiny", "--peers", "orbix"], &parent.join("new"));
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("there is no peer \"orbix\"; there are omniorb, jacorb"));
    let without = Command::new(env!("CARGO_BIN_EXE_zorb")).args(["bench", "paper"]).output().unwrap();
    assert_eq!(without.status.code(), Some(2), "no directory");
}
