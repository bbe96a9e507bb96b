//! Programs that a test runs, and what they print.

#![allow(dead_code, reason = "each test uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use zorb_ipc::{Error, StreamTransport, Vsock, VsockAddress};

/// The longest that any wait here lasts before the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Where to listen for whoever connects by vsock from this machine, if it can reach itself so; a line says why it cannot,
/// past the harness, which shows what is printed of failures only.
pub(crate) fn vsock() -> Option<&'static str> {
    let connects = || -> Result<(), Error> {
        let any = VsockAddress { context: VsockAddress::LOCAL, port: VsockAddress::ANY_PORT };
        let acceptor = Vsock::listen(any)?;
        Vsock::connect(Vsock::address(&acceptor), Instant::now() + Duration::from_secs(5)).map(drop)
    };
    match connects() {
        Ok(()) => Some("vsock:local:4294967295"),
        Err(error) => {
            let said = format!("vsock left out: no vsock within this machine: {error}\n");
            let _ = std::io::stderr().write_all(said.as_bytes());
            None
        }
    }
}

/// A process that does not outlive the test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(program: &str, arguments: &[&str]) -> Process {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        Process(command.spawn().expect("cargo has built the program"))
    }

    /// The same, and what it complains of is for [`complaint`](Self::complaint).
    pub(crate) fn start_heard(program: &str, arguments: &[&str]) -> Process {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Process(command.spawn().expect("cargo has built the program"))
    }

    /// What it complains of, once it has ended in failure.
    pub(crate) fn complaint(mut self) -> String {
        let mut complaints = self.0.stderr.take().expect("it is a pipe");
        let text = within_patience(move || {
            let mut text = String::new();
            complaints.read_to_string(&mut text).expect("an example prints text");
            text
        });
        // Its end of the pipe is closed: it has ended, or is about to.
        let status = self.0.wait().expect("it is our child");
        assert!(!status.success(), "{status}, after complaining {text:?}");
        text
    }

    /// Its first line.
    pub(crate) fn first_line(&mut self) -> String {
        let output = self.0.stdout.take().expect("it is a pipe");
        within_patience(move || {
            let mut line = String::new();
            BufReader::new(output).read_line(&mut line).expect("a server prints text");
            line.trim_end().to_owned()
        })
    }

    /// All that it prints, once it has ended well.
    pub(crate) fn output(mut self) -> String {
        let mut output = self.0.stdout.take().expect("it is a pipe");
        let text = within_patience(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).expect("an example prints text");
            text
        });
        let by = Instant::now() + PATIENCE;
        loop {
            match self.0.try_wait().expect("it is our child") {
                Some(status) => assert!(status.success(), "{status}, after printing {text:?}"),
                None if Instant::now() < by => {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                }
                None => panic!("still running after printing {text:?}"),
            }
            return text;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn within_patience<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(read()));
    receiver.recv_timeout(PATIENCE).expect("a process has neither printed nor ended")
}
