//! What tests of measurements share: fake peers, the command, and rows.

#![allow(dead_code, reason = "each test program uses its part")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder of peers, each a name and how it behaves.
pub(crate) fn peers(test: &str, behaviours: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{test}"));
    let _ = std::fs::remove_dir_all(&folder);
    for (name, behaviour) in behaviours {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("behaviour"), behaviour).unwrap();
        let program = folder.join("peer");
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_peer.sh"), &program).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Runs `zorb` with the peers of a folder, of which no process may be left afterwards.
pub(crate) fn zorb(peers: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_zorb"))
        .args(arguments)
        .env("ZORB_PEERS_OUT", peers)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(processes_of(peers), [] as [String; 0], "left behind");
    output
}

/// The command lines of processes that run a program in this folder.
pub(crate) fn processes_of(peers: &Path) -> Vec<String> {
    let folder = peers.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap();
    let command_lines =
        processes.filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
    command_lines
        .map(|text| String::from_utf8_lossy(&text).replace('\0', " "))
        .filter(|text| text.contains(folder))
        .collect()
}

/// Output as text.
pub(crate) fn text(octets: &[u8]) -> &str {
    std::str::from_utf8(octets).unwrap()
}

/// The rows that `--json` prints.
pub(crate) fn rows(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Those of one system.
pub(crate) fn rows_of<'r>(rows: &'r [Value], system: &str) -> Vec<&'r Value> {
    rows.iter().filter(|row| row["system"] == system).collect()
}

/// Whether this is root, who may have network namespaces.
pub(crate) fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    text(&output.stdout).trim() == "0"
}
