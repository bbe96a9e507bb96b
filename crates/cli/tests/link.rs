//! Links made in user space (`--link delay=…`, on kernels without netem, or `carried`): every packet takes its time,
//! what is sent arrives whole, and nothing is left behind, however the measuring process ends. For root only; what the
//! machine lacks is said.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{is_root, peers, rows, text, zorb};

/// From one look to the next.
const SOON: Duration = Duration::from_millis(5);

/// Whether a run over a link could not be, because this machine lacks what it needs. Anything else that goes wrong is a
/// fault.
fn left_out(succeeded: bool, said: &str) -> bool {
    if !succeeded {
        assert!(is_lacking(said), "{said}");
        eprintln!("not run: {said}");
    }
    !succeeded
}

/// Whether it says that root, a tool, or the device for interfaces is missing.
fn is_lacking(said: &str) -> bool {
    let lacking =
        ["needs root", "not permitted", "Permission denied", "are of the package iproute2", "/dev/net/tun"];
    said.contains("the link cannot be made: ") && lacking.iter().any(|reason| said.contains(reason))
}

#[test]
fn a_round_trip_takes_twice_the_delay_and_data_arrive_whole() {
    let peers = peers("none-linked", &[]);
    // By the kernel if it has netem; in any case by hand. Replies are compared with their requests.
    for (link, described) in
        [("delay=5ms", "mtu=1500,delay=5ms"), ("delay=5ms,carried", "mtu=1500,delay=5ms,carried")]
    {
        let run = [
            "bench",
            "rtt",
            "--json",
            "--calls",
            "1",
            "--types",
            "null,octet",
            "--sizes",
            "10K",
            "--link",
            link,
        ];
        let output = zorb(&peers, &run);
        let said = text(&output.stderr);
        if left_out(output.status.success(), said) {
            return;
        }
        let rows = rows(&output);
        assert_eq!(rows.len(), 4, "{said}");
        for row in &rows {
            assert!(row["p50_us"].as_f64().unwrap() >= 10_000.0, "{row}");
            assert!(row["link"].as_str().unwrap().starts_with(described), "{row}");
            assert_eq!(
                row["link"].as_str().unwrap().contains("carried"),
                said.contains("in user space"),
                "{said}"
            );
        }
    }
    // Receivers check what they get: at a rate, in packets of another size, and as fast as it goes.
    for link in ["200mbit,mtu=9180,delay=0.2ms,carried", "carried"] {
        let run = [
            "ttcp",
            "run",
            "--json",
            "--types",
            "double",
            "--buffers",
            "1K,64K",
            "--total",
            "2M",
            "--repeat",
            "2",
        ];
        let output = zorb(&peers, &[&run[..], &["--link", link]].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(rows(&output).len(), 10, "{said}");
    }
}

#[test]
fn tables_name_the_link_and_fit() {
    let peers = peers("none-described", &[]);
    for run in [
        "bench rtt --calls 1 --types null",
        "bench size --calls 1 --sizes 4",
        "ttcp run --types octet --buffers 4K --total 64K --repeat 1",
    ] {
        let words: Vec<&str> =
            run.split(' ').chain(["--link", "155mbit,mtu=9180,delay=0.2ms,carried"]).collect();
        let output = zorb(&peers, &words);
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        if left_out(output.status.success(), said) {
            return;
        }
        assert!(shown.contains("across 155mbit,mtu=9180,delay=0.2ms,carried,"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    }
}

#[test]
fn nothing_is_left_behind_however_it_ends() {
    if !is_root() {
        return eprintln!("not run: links are for root");
    }
    for (signal, code) in [(None, Some(0)), (Some("-INT"), Some(130)), (Some("-KILL"), None)] {
        let calls = if signal.is_some() { "1000000" } else { "1" };
        let mut measuring = Command::new(env!("CARGO_BIN_EXE_zorb"))
            .args(["bench", "rtt", "--json", "--types", "null,octet", "--sizes", "1K"])
            .args(["--calls", calls, "--link", "delay=5ms,carried"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(measuring.stderr.take().unwrap()).lines().map(Result::unwrap);
        // This is said when the link is up.
        let up = said.by_ref().find(|line| line.contains("in user space") || line.contains("cannot be made"));
        let up = up.unwrap_or_default();
        if up.contains("cannot be made") {
            measuring.wait().unwrap();
            assert!(is_lacking(&up), "{up}");
            return eprintln!("not run: {up}");
        }
        let carrier = carrier_of(&mut measuring);
        let namespace = namespace_of(carrier).expect("it runs");
        let beyond = loop {
            assert!(measuring.try_wait().unwrap().is_none(), "it measures");
            let beyond: Vec<_> = processes()
                .into_iter()
                .filter(|&one| namespace_of(one).as_ref() == Some(&namespace))
                .collect();
            // The carrier, and a server for each system.
            if beyond.len() >= 3 {
                break beyond;
            }
            std::thread::sleep(SOON);
        };
        let interface = PathBuf::from(format!("/sys/class/net/zorb{carrier}"));
        assert!(interface.exists(), "while it is measured");
        if let Some(signal) = signal {
            let sent = Command::new("kill").args([signal, &measuring.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }
        assert_eq!(measuring.wait().unwrap().code(), code);
        // A namespace is there for as long as somebody is in it.
        let left = || beyond.iter().filter(|&&one| namespace_of(one).as_ref() == Some(&namespace)).count();
        // The kernel takes interfaces away one after the other, of all namespaces, and in its own time.
        let end = Instant::now() + Duration::from_secs(300);
        while interface.exists() || left() > 0 {
            assert!(Instant::now() < end, "{signal:?}: {} processes or {interface:?} are left", left());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The process beyond that holds the link of a measuring process.
fn carrier_of(measuring: &mut Child) -> u32 {
    let parent = format!("PPid:\t{}\n", measuring.id());
    loop {
        assert!(measuring.try_wait().unwrap().is_none(), "it measures");
        let carrier = processes().into_iter().find(|process| {
            let of = |file: &str| std::fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
            text(&of("status")).contains(&parent)
                && String::from_utf8_lossy(&of("cmdline")).contains("bench\0carry")
        });
        if let Some(carrier) = carrier {
            return carrier;
        }
        std::thread::sleep(SOON);
    }
}

fn processes() -> BTreeSet<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn namespace_of(process: u32) -> Option<PathBuf> {
    std::fs::read_link(Path::new("/proc").join(process.to_string()).join("ns/net")).ok()
}
