//! `zorb ttcp`: rows, tables, two halves in two processes, and receivers that are not content.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use common::{peers, processes_of, rows, rows_of, text, zorb};

const TYPES: [&str; 7] = ["octet", "char", "short", "long", "double", "struct", "struct32"];

#[test]
fn every_version_sends_every_type_and_rows_come_in_order() {
    let peers = peers("none", &[]);
    let output = zorb(
        &peers,
        &[
            "ttcp",
            "run",
            "--json",
            "--buffers",
            "1K,20000",
            "--total",
            "64K",
            "--repeat",
            "2",
            "--pin",
            "same",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&output);
    let mut order = Vec::new();
    for element in TYPES {
        for size in [1024, 20_000] {
            order.extend(["raw", "raw-equal", "framed", "ipc", "zorb"].map(|system| (system, element, size)));
        }
    }
    assert_eq!(rows.len(), order.len());
    for (row, (system, element, size)) in rows.iter().zip(order) {
        assert_eq!(row["experiment"], "ttcp");
        assert_eq!((&row["system"], &row["type"]), (&system.into(), &element.into()));
        assert_eq!((&row["size"], &row["pin"]), (&size.into(), &"same".into()));
        for rate in ["gbit_s", "sender_gbit_s"] {
            assert!(row[rate].as_f64().unwrap() > 0.0, "{row}");
        }
        for cpu in ["cpu_s_per_gib", "sender_cpu_s_per_gib", "receiver_cpu_s_per_gib"] {
            assert!(row[cpu].as_f64().unwrap() >= 0.0, "{row}");
        }
        // Two pairs are too few for an interval.
        assert!(row["ratio_to_raw"].is_number() && row["ratio_low"].is_null(), "{row}");
        assert!(row.get("cpu_ratio").is_none_or(serde_json::Value::is_number), "{row}");
        assert_eq!(row.get("ratio_to_equal").is_some(), system != "raw-equal", "{row}");
        assert_eq!(row.get("queue"), None);
    }
    assert_eq!((&rows[0]["ratio_to_raw"], &rows[0]["system"]), (&1.0.into(), &"raw".into()));
}

#[test]
fn strings_are_sent_where_they_are_asked_for_by_name() {
    let peers = peers("strings", &[("tonic", "honest")]);
    let run = "ttcp run --json --versions raw,framed,ipc,zorb,tonic --types string --buffers 1,1000,16M --total 1000 \
               --repeat 2 --pin same";
    let output = zorb(&peers, &run.split_whitespace().collect::<Vec<_>>());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&output);
    assert_eq!(rows.len(), 3 * 5);
    assert!(rows.iter().all(|row| row["type"] == "string" && row["gbit_s"].is_number()), "{rows:?}");
}

#[test]
fn both_sides_are_started_anew_and_rows_and_titles_say_how_often() {
    let peers = peers("anew", &[]);
    let run = "ttcp run --versions raw,ipc --types octet --buffers 4K --total 64K --repeat 40 --instances 20 --pin same";
    let words: Vec<_> = run.split_whitespace().collect();
    let output = zorb(&peers, &[&words[..], &["--json"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&output);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!((&row["instances"], row.get("turns")), (&20.into(), None), "{row}");
        // Of twenty instances there is an interval.
        assert!(row["ratio_low"].is_number(), "{row}");
    }
    let words = run.replace("20", "19");
    let output = zorb(&peers, &words.split_whitespace().collect::<Vec<_>>());
    let printed = text(&output.stdout);
    let words: Vec<_> = printed.split_whitespace().collect();
    assert!(words.join(" ").contains("40 of each, both sides started anew 19 times"), "{printed}");
    assert!(printed.contains("not resolved"), "of nineteen there is none: {printed}");
}

#[test]
fn twenty_pairs_have_an_interval_and_queues_are_told() {
    let peers = peers("none-either", &[]);
    let output = zorb(
        &peers,
        &[
            "ttcp",
            "run",
            "--json",
            "--versions",
            "zorb,raw",
            "--types",
            "struct",
            "--buffers",
            "8K",
            "--total",
            "16K",
            "--queue",
            "64K",
            "--pin",
            "same",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&output);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert!(row["ratio_low"].is_number() && row["ratio_high"].is_number(), "{row}");
        assert_eq!(row["queue"], 65_536);
    }
    assert_eq!(
        (&rows[0]["system"], &rows[1]["system"]),
        (&"raw".into(), &"zorb".into()),
        "the floor is first"
    );
}

#[test]
fn tables_fit_and_name_what_is_not_resolved() {
    let peers = peers("table", &[]);
    let output = zorb(
        &peers,
        &["ttcp", "run", "--types", "octet,double", "--buffers", "4K", "--total", "8K", "--repeat", "1"]
            .iter()
            .chain(&["--pin", "same", "--versions", "raw,ipc"])
            .copied()
            .collect::<Vec<_>>(),
    );
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("\noctet\nbuffer  version") && shown.contains("\ndouble\n"), "{shown}");
    // The times of both types, and their processor time if it can be seen of so little.
    assert!((2..=4).contains(&shown.matches("not resolved").count()), "{shown}");
}

#[test]
fn a_peer_that_drops_a_buffer_is_told_and_the_rest_goes_on() {
    let peers = peers("dropping", &[("omniorb", "dropping"), ("tonic", "honest")]);
    let output = zorb(
        &peers,
        &[
            "ttcp",
            "run",
            "--json",
            "--versions",
            "raw,omniorb,tonic,capnp",
            "--types",
            "octet",
            "--buffers",
            "1K",
            "--total",
            "4K",
            "--repeat",
            "2",
            "--pin",
            "same",
        ],
    );
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let rows = rows(&output);
    assert_eq!(rows_of(&rows, "raw").len(), 1, "{said}");
    assert_eq!(rows_of(&rows, "omniorb").len(), 0, "{said}");
    let tonic = rows_of(&rows, "tonic");
    // A thousand nanoseconds for 4 KiB, and nine hundred until the last buffer had been sent.
    assert_eq!(tonic[0]["gbit_s"], 32.768);
    assert_eq!(tonic[0]["sender_gbit_s"].as_f64().unwrap().floor(), 36.0);
    assert!(tonic[0]["cpu_s_per_gib"].is_number(), "a process's time is seen from outside");
    assert!(said.contains("note: omniorb: buffer 3 never arrived"), "{said}");
    assert!(said.contains("bench/peers/capnp/build"), "{said}");
}

#[test]
fn what_cannot_be_is_refused_with_a_list_of_what_can() {
    let peers = peers("refused", &[]);
    for (arguments, reason) in [
        (
            &["run", "--versions", "raw,orbix"][..],
            "there are raw, raw-equal, framed, ipc, spin, zorb, zorb-asleep",
        ),
        (&["run", "--types", "float"], "there are octet, char, short"),
        (&["run", "--buffers", "1K..1"], "begins with the larger size"),
        (&["run", "--buffers", "lots"], "no number of octets"),
        (&["run", "--total", "0"], "no number of octets"),
        (&["recv", "--listen", "localhost"], "is not a numeric address"),
        (&["send", "there"], "neither a numeric address and port nor a reference"),
        (&["send"], "required"),
    ] {
        let output = zorb(&peers, &[&["ttcp"], arguments].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
    // An address on which nobody can listen here.
    let output = zorb(&peers, &["ttcp", "recv", "--listen", "192.0.2.1", "--versions", "raw,zorb"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot listen on 192.0.2.1"), "{}", text(&output.stderr));
}

#[test]
fn what_is_slow_is_measured_by_fewer_buffers() {
    let peers = peers("stalling", &[("omniorb", "stalling"), ("tonic", "honest")]);
    let run = "ttcp run --json --versions raw,omniorb,tonic --types octet --buffers 1K --total 1M --repeat 1";
    let words: Vec<&str> = run.split(' ').chain(["--pin", "same", "--longest", "500"]).collect();
    let output = zorb(&peers, &words);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let rows = rows(&output);
    let omniorb = rows_of(&rows, "omniorb");
    // 3.75 ms a buffer, so 1,024 would take 3.8 s: 133 of them take half a second.
    assert_eq!((&omniorb[0]["gbit_s"], &omniorb[0]["buffers"]), (&json!(0.0021845), &json!(133)), "{said}");
    // Compared by the buffer with 1,024 of the floor.
    let raw = 1024.0 * 8.0 / 1e9 / rows_of(&rows, "raw")[0]["gbit_s"].as_f64().unwrap();
    let ratio = omniorb[0]["ratio_to_raw"].as_f64().unwrap();
    assert!((ratio / (0.00375 / raw) - 1.0).abs() < 0.001, "{ratio}: {said}");
    assert!(rows_of(&rows, "tonic")[0]["buffers"].is_null());
}

/// A sender that is not asked how long it would wait, which is an hour.
fn sender(receivers: &[&str], options: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["ttcp", "send", "--patience", "3600", "--types", "octet", "--repeat", "1", "--pin", "none"])
        .args(options)
        .args(receivers)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(process: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_ends_a_sender_whose_receiver_takes_nothing_and_keeps_what_was_measured() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // A buffer of 1 KiB twice, to warm up and for the table. Of the next, far more than the queues hold, it takes nothing.
    let sending = sender(&[&address], &["--buffers", "1K,256M", "--total", "1K"]);
    let (mut stream, _) = listener.accept().unwrap();
    for flood in 0..3 {
        stream.read_exact(&mut [0; 32]).unwrap();
        stream.write_all(&[1]).unwrap();
        if flood < 2 {
            stream.read_exact(&mut [0; 1024]).unwrap();
            stream.write_all(&[1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        }
    }
    // Until it fills the queues.
    stream.read_exact(&mut [0; 1024]).unwrap();
    signal(&sending, "-INT");
    let output = sending.wait_with_output().unwrap();
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.ends_with("zorb: stopped; what was measured before is kept\n"), "{said}");
    assert!(shown.lines().any(|line| line.starts_with(" 1 KiB") && line.contains("raw")), "{shown}");
}

#[test]
fn ctrl_c_ends_every_sender_of_ours_whose_receiver_has_stopped() {
    for version in ["framed", "ipc", "zorb"] {
        let mut receiver = Command::new(env!("CARGO_BIN_EXE_zorb"))
            .args(["ttcp", "recv", "--versions", version])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let typed = BufReader::new(receiver.stdout.take().unwrap()).lines().next().unwrap().unwrap();
        // Small buffers, a row, and then so many large ones that it is among them when the receiver stops.
        let options = ["--json", "--buffers", "1K,16M", "--total", "64G", "--most", "4000"];
        let mut sending = sender(&[typed.rsplit(' ').next().unwrap()], &options);
        let mut rows = BufReader::new(sending.stdout.take().unwrap()).lines();
        let row = rows.next().unwrap().unwrap();
        assert!(row.contains(&format!("\"system\":\"{version}\"")), "{row}");
        signal(&receiver, "-STOP");
        signal(&sending, "-INT");
        let output = sending.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{version}: {}", text(&output.stderr));
        assert_eq!(rows.count(), 0, "{version}");
        signal(&receiver, "-CONT");
        signal(&receiver, "-INT");
        assert_eq!(receiver.wait().unwrap().code(), Some(0), "{version}");
    }
}

#[test]
fn a_hang_up_ends_a_receiver_unless_it_is_to_outlive_the_terminal() {
    // Whatever these tests themselves were started with.
    for (start, ended_by) in [("--default-signal=HUP", "-HUP"), ("--ignore-signal=HUP", "-INT")] {
        let mut receiver = Command::new("env")
            .args([start, env!("CARGO_BIN_EXE_zorb"), "ttcp", "recv", "--versions", "raw"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("zorb ttcp send raw="));
        for signal in ["-HUP", ended_by] {
            assert!(receiver.try_wait().unwrap().is_none(), "{start}: it receives");
            let sent = Command::new("kill").args([signal, &receiver.id().to_string()]).status().unwrap();
            assert!(sent.success());
            if signal == ended_by {
                break;
            }
            // Far longer than it takes to notice.
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        assert_eq!(receiver.wait().unwrap().code(), Some(0), "{start}");
    }
}

#[test]
fn a_receiver_goes_on_without_peers_that_are_missing_or_end() {
    let peers = peers("received", &[("omniorb", "bereft")]);
    let mut receiver = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["ttcp", "recv", "--listen", "127.0.0.1:4711", "--versions", "omniorb,capnp"])
        .env("ZORB_PEERS_OUT", &peers)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = BufReader::new(receiver.stdout.take().unwrap()).lines();
    assert_eq!(typed.next().unwrap().unwrap(), "zorb ttcp send omniorb=127.0.0.1:1");
    let mut said = BufReader::new(receiver.stderr.take().unwrap()).lines();
    let missing = said.next().unwrap().unwrap();
    assert!(missing.starts_with("note: capnp is left out: it is not built yet"), "{missing}");
    assert!(said.next().unwrap().unwrap().starts_with("receiving until Ctrl-C"));
    let server = std::fs::read_to_string(peers.join("omniorb/server")).unwrap();
    let words = std::fs::read_to_string(peers.join("omniorb/words")).unwrap();
    assert_eq!(words.trim(), "serve transport=tcp host=127.0.0.1 port=4711");
    assert!(Command::new("kill").args(["-9", server.trim()]).status().unwrap().success());
    let ended = said.next().unwrap().unwrap();
    assert!(
        ended.contains("omniorb: process `peer") && ended.contains("signal 9; it last said: out of memory"),
        "{ended}"
    );
    assert!(Command::new("kill").args(["-INT", &receiver.id().to_string()]).status().unwrap().success());
    assert_eq!(receiver.wait().unwrap().code(), Some(1));
    assert!(said.next().unwrap().unwrap().starts_with("zorb: the run is incomplete: omniorb: process"));
    assert_eq!(processes_of(&peers), [] as [String; 0], "left behind");
}

#[test]
fn a_profile_names_functions_of_both_sides() {
    let peers = peers("profiled", &[]);
    let profile = "ttcp run --profile --json --versions raw,zorb --types struct --buffers 128K --total 64M";
    let words: Vec<&str> = profile.split(' ').chain(["--repeat", "2", "--pin", "none"]).collect();
    let output = zorb(&peers, &words);
    let said = text(&output.stderr);
    if said.contains("a profile cannot be taken: looking at what processors execute needs root") {
        assert_eq!(output.status.code(), Some(1), "{said}");
        eprintln!("left out: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let rows = rows(&output);
    for (system, side) in [("raw", "sender"), ("raw", "receiver"), ("zorb", "sender"), ("zorb", "receiver")] {
        let of_side: Vec<_> = rows_of(&rows, system).into_iter().filter(|row| row["side"] == side).collect();
        let groups: BTreeSet<_> = of_side.iter().map(|row| row["group"].as_str().unwrap()).collect();
        assert!(
            groups.contains("kernel-copies") && groups.contains("program"),
            "{system} {side}: {groups:?}"
        );
        let shares: f64 = of_side.iter().map(|row| row["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 0.01, "{system} {side}: {shares}");
        assert!(of_side.iter().all(|row| row["experiment"] == "profile" && row["type"] == "struct"));
    }
    let ours = rows_of(&rows, "zorb").into_iter().map(|row| row["function"].as_str().unwrap());
    assert!(ours.clone().any(|name| name.contains("zorb")), "{:?}", ours.collect::<Vec<_>>());
}

#[test]
fn two_halves_in_two_processes_and_little_memory() {
    let peers = peers("halves", &[]);
    let mut receiver = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(["ttcp", "recv"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let typed = lines.next().unwrap().unwrap();
    let words: Vec<&str> = typed.split(' ').skip(1).collect();
    assert_eq!(words[..2], ["ttcp", "send"], "{typed}");
    let more = ["--json", "--types", "octet", "--buffers", "16M", "--total", "512M", "--repeat", "1"];
    let output = zorb(&peers, &[&words[..], &more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&output);
    let systems: BTreeSet<_> = rows.iter().map(|row| row["system"].as_str().unwrap()).collect();
    assert_eq!(systems, ["framed", "ipc", "raw", "raw-equal", "zorb"].into());
    for row in &rows {
        assert!(row["receiver_cpu_s_per_gib"].is_null() && row["sender_cpu_s_per_gib"].is_number(), "{row}");
    }
    // Four floods of half a GiB each have gone through it. zorb's limit on what waits on a connection is 256 MiB.
    let status = std::fs::read_to_string(format!("/proc/{}/status", receiver.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kib < 450 << 10, "{kib} KiB");
    let stopped = Command::new("kill").args(["-INT", &receiver.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert_eq!(receiver.wait().unwrap().code(), Some(0));
}
