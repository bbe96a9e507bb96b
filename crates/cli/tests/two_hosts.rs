//! `zorb ttcp recv` and `zorb ttcp send` as on two hosts: in two network namespaces that are joined by a pair of interfaces and
//! have nothing else in common. For root only.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{is_root, rows, rows_of, text};

/// A network namespace, for as long as this lives.
struct Host {
    /// A `cat`, which ends when its input is closed.
    holder: Child,
}

impl Host {
    fn new() -> Host {
        let mut holder = Command::new("unshare")
            .args(["--net", "--", "sh", "-c", "ip link set lo up && echo ready && exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        Host { holder }
    }

    /// What a shell does there that finds `zorb`, as it is typed.
    fn shell(&self, typed: &str) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_zorb")).parent().unwrap().to_str().unwrap();
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.holder.id())).args(["--net", "--", "sh", "-c", typed]);
        command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap())).stdin(Stdio::null());
        command
    }

    fn does(&self, typed: &str) {
        let output = self.shell(typed).output().unwrap();
        assert!(output.status.success(), "{typed}: {}", text(&output.stderr));
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

#[test]
fn what_the_receiver_prints_is_typed_on_the_other_host() {
    if !is_root() {
        return eprintln!("not run: network namespaces are for root");
    }
    let (near, far) = (Host::new(), Host::new());
    near.does(&format!("ip link add near0 type veth peer name far0 netns {}", far.holder.id()));
    near.does("ip address add 10.0.0.1/24 dev near0 && ip link set near0 up");
    far.does("ip address add 10.0.0.2/24 dev far0 && ip link set far0 up");
    let mut receiver = far
        .shell("exec zorb ttcp recv --listen 10.0.0.2:5001 --versions raw,framed,ipc,zorb")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let typed = printed.next().unwrap().unwrap();
    let addresses = "zorb ttcp send raw=10.0.0.2:5001 framed=10.0.0.2:5002 ipc=10.0.0.2:5003 zorb=IOR:";
    assert!(typed.starts_with(addresses), "{typed}");
    for options in [
        "--json --types octet,struct --buffers 64K --total 1M --repeat 2",
        "--json --types long --buffers 1K --total 64K --repeat 1",
    ] {
        // As printed; what is behind it only makes it short.
        let output = near.shell(&format!("{typed} {options}")).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        let rows = rows(&output);
        for system in ["raw", "framed", "ipc", "zorb"] {
            let rows = rows_of(&rows, system);
            assert_eq!(rows.len(), if options.contains("struct") { 2 } else { 1 }, "{system}: {said}");
            for row in rows {
                assert!(row["gbit_s"].as_f64().unwrap() > 0.0 && row["ratio_to_raw"].is_number(), "{row}");
                assert!(row["sender_cpu_s_per_gib"].is_number(), "{row}");
                assert!(row["receiver_cpu_s_per_gib"].is_null() && row["cpu_s_per_gib"].is_null(), "{row}");
                assert_eq!((row.get("link"), &row["pin"]), (None, &"split".into()), "{row}");
            }
        }
    }
    let stopped = Command::new("kill").args(["-INT", &receiver.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert_eq!(receiver.wait().unwrap().code(), Some(0));
}
