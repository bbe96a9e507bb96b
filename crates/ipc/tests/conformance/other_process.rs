//! Another process to be killed: this test program again, of which it runs one test that plays a role.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

const ROLE: &str = "ZORB_IPC_ROLE";
const ADDRESS: &str = "ZORB_IPC_ADDRESS";
/// The test harness writes to the same pipe.
const MARK: &str = "the other process: ";
/// The other process. Killed when it is dropped.
pub(crate) struct Other {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    /// `module` is where the test that plays the roles is.
    pub(crate) fn start(module: &str, role: &str, address: &impl Display) -> Other {
        let (_, module) = module.split_once("::").unwrap();
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::the_other_process"), "--ignored", "--nocapture"])
            .env(ROLE, role)
            .env(ADDRESS, address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Other { process, output }
    }

    /// What it says next.
    pub(crate) fn says(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the other process has ended by itself");
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return said.to_owned();
            }
        }
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn say(text: impl Display) {
    // In one piece, past the harness's own buffer.
    std::io::stdout().write_all(format!("{MARK}{text}\n").as_bytes()).unwrap();
}

/// Somewhere that another process listens. A killed one leaves the file of its Unix socket, which this
/// removes.
pub(crate) struct Elsewhere<A: Display>(pub(crate) A);

impl<A: Display> Drop for Elsewhere<A> {
    fn drop(&mut self) {
        let path = self.0.to_string();
        if path.starts_with('/') {
            let _ = fs::remove_file(path);
        }
    }
}

/// What it is to do, and with which address, if this is it. It ends when the process that started it does, however that
/// ends.
pub(crate) fn role() -> Option<(String, String)> {
    let role = env::var(ROLE).ok()?;
    thread::spawn(|| {
        // Nothing is ever sent: the read ends with the pipe.
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(1);
    });
    Some((role, env::var(ADDRESS).unwrap()))
}
