//! The server half in a process of its own, which never outlives the one that measures.
//!
//! ```text
//!   measuring process                    server process
//!   Server::start  ──── spawn ────▶      serve_until_parent_goes(address)
//!                  ◀── "ready ADDR" ──   standard output, one line
//!                  ──── open pipe ───▶   standard input: end of file means stop
//! ```
//!
//! The pipe is the tie: it closes when the parent drops [`Server`], and also when the parent is killed, so
//! that no server is orphaned. The parent reaps its child on every path, and kills it when it does not
//! stop by itself, or when the run takes longer than it was given.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::BenchError;

/// How long a server may take to announce itself: far above what any needs, a Java peer on a busy
/// machine included.
const START_WITHIN: Duration = Duration::from_secs(30);

/// How long a server may take to stop after its input has closed, before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// The longest announcement read: a reference with many profiles has a few thousand characters.
const LONGEST_ANNOUNCEMENT: u64 = 64 * 1024;

const ANNOUNCEMENT: &str = "ready ";

/// A running server process.
#[derive(Debug)]
pub struct Server {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    address: String,
    expired: Arc<AtomicBool>,
    /// Dropping it ends the thread that watches the time.
    _watch: Sender<()>,
}

impl Server {
    /// Starts `command` and waits until it has announced its address. It is killed after `lifetime`, so
    /// that whoever waits for its answer gets an error and not a hang.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if it cannot be started, [`BenchError::Server`] if it ends or stays silent.
    pub fn start(mut command: Command, lifetime: Duration) -> Result<Server, BenchError> {
        let name = describe(&command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(BenchError::io(format!("start `{name}`")))?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let child = Arc::new(Mutex::new(child));
        let expired = Arc::new(AtomicBool::new(false));
        let watch = watch(Arc::clone(&child), Arc::clone(&expired), lifetime);
        let mut server = Server { child, input, address: String::new(), expired, _watch: watch };

        let (announce, announced) = mpsc::channel();
        thread::spawn(move || {
            let Some(output) = output else { return };
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let read = output.by_ref().take(LONGEST_ANNOUNCEMENT).read_line(&mut line);
            let _ = announce.send(read.map(|_| line));
            // What else it prints must not block it.
            let _ = io::copy(&mut output, &mut io::stderr());
        });
        let fault = |what: &str| BenchError::Server { command: name.clone(), what: what.to_owned() };
        let line = match announced.recv_timeout(START_WITHIN) {
            Ok(Ok(line)) => line,
            Ok(Err(error)) => return Err(fault(&format!("its output cannot be read: {error}"))),
            Err(_) => return Err(fault(&format!("silent for {} s after its start", START_WITHIN.as_secs()))),
        };
        match line.trim_end().strip_prefix(ANNOUNCEMENT) {
            Some(address) => address.clone_into(&mut server.address),
            None if line.is_empty() => return Err(fault("ended before it was ready")),
            None => return Err(fault(&format!("said {:?} instead of its address", line.trim_end()))),
        }
        Ok(server)
    }

    /// What the server announced: a host and port, or an object reference.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The child's process id.
    pub fn id(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Whether its time was over and it was killed, which explains errors of whoever talked to it.
    pub fn expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let end = Instant::now() + STOP_WITHIN;
        let mut child = lock(&self.child);
        while Instant::now() < end {
            match child.try_wait() {
                Ok(None) => thread::sleep(Duration::from_millis(2)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// The child's half: announces `address` on standard output and returns when the parent has closed
/// standard input, or has ended.
///
/// # Errors
///
/// [`BenchError::Io`] if the parent no longer listens.
pub fn serve_until_parent_goes(address: &str) -> Result<(), BenchError> {
    let mut output = io::stdout().lock();
    writeln!(output, "{ANNOUNCEMENT}{address}")
        .and_then(|()| output.flush())
        .map_err(BenchError::io("announce the server's address"))?;
    drop(output);
    // Nothing is ever sent: the copy ends when the pipe does.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Ok(())
}

fn watch(child: Arc<Mutex<Child>>, expired: Arc<AtomicBool>, lifetime: Duration) -> Sender<()> {
    let (dropped, wait) = mpsc::channel();
    thread::spawn(move || {
        if wait.recv_timeout(lifetime) == Err(RecvTimeoutError::Timeout) {
            expired.store(true, Ordering::Relaxed);
            // Reaped by `Server::drop`, so the process id cannot have been reused here.
            let _ = lock(&child).kill();
        }
    });
    dropped
}

fn lock(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn is_alive(id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{id}/stat")).exists()
    }

    #[test]
    fn announces_serves_and_is_reaped() {
        let server = Server::start(shell("echo ready 127.0.0.1:1; cat"), LONG).unwrap();
        assert_eq!(server.address(), "127.0.0.1:1");
        let id = server.id();
        assert!(is_alive(id));
        drop(server);
        assert!(!is_alive(id), "neither running nor a zombie");
    }

    #[test]
    fn a_server_that_ends_early_is_an_error_that_names_it() {
        let error = Server::start(shell("exit 3"), LONG).unwrap_err();
        assert_eq!(error.to_string(), "server process `sh -c exit 3`: ended before it was ready");
        let error = Server::start(shell("echo hello; cat"), LONG).unwrap_err();
        assert!(error.to_string().ends_with("said \"hello\" instead of its address"), "{error}");
        let missing = Server::start(Command::new("/nonexistent/server"), LONG).unwrap_err();
        assert!(missing.to_string().starts_with("cannot start `server`"), "{missing}");
    }

    #[test]
    fn a_server_past_its_lifetime_is_killed() {
        let server = Server::start(shell("echo ready x; exec sleep 60"), Duration::from_millis(50)).unwrap();
        while !server.expired() {
            thread::sleep(Duration::from_millis(5));
        }
        let id = server.id();
        drop(server);
        assert!(!is_alive(id));
    }
}
