//! Processes that serve or drive a system, which never outlive the one that measures.
//!
//! ```text
//!   measuring process                    server process
//!   Server::start  ──── spawn ────▶      serve_until_parent_goes(address)
//!                  ◀── "ready ADDR" ──   standard output, one line
//!                  ──── open pipe ───▶   standard input: end of file means stop
//! ```
//!
//! The pipe is the tie: it closes when the parent drops the [`Process`], and also when the parent is killed,
//! so that none is orphaned. Each child leads a process group of its own: the terminal's Ctrl-C goes to the
//! measuring process alone, which then ends the others, grandchildren included. The parent reaps its child on
//! every path, and kills it when it does not stop by itself, when the run takes longer than it was given,
//! or when a [`Stop`] is requested.
//!
//! What a child says on standard error is kept, not shown: its last lines stand in the error if it fails.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid};

use crate::BenchError;
use crate::pin;
use crate::progress::Stop;

/// How long a server may take to announce itself: far above what any needs, a Java peer on a busy
/// machine included.
const START_WITHIN: Duration = Duration::from_secs(60);

/// How long a process may take to stop after its input has closed, before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// How often a process's watch looks whether somebody wants to stop: soon enough for a person, and rare
/// enough not to be seen in a measurement.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The longest line read: the times of a hundred thousand calls, with room to spare.
const LONGEST_LINE: u64 = 4 << 20;

/// Lines that a process may be ahead of its reader; more wait in its pipe.
const LINES_AHEAD: usize = 16;

/// How many lines of standard error are kept, and how long each: what stands above a stack trace.
const LAST_WORDS: usize = 6;
const LONGEST_WORDS: u64 = 300;

/// How long the last words of a process that has ended may take to arrive.
const WORDS_WITHIN: Duration = Duration::from_secs(1);

const ANNOUNCEMENT: &str = "ready ";

/// A running process that is spoken with in lines.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    group: Arc<Group>,
    input: Option<ChildStdin>,
    lines: Receiver<io::Result<String>>,
    words: Arc<Mutex<VecDeque<String>>>,
    words_ended: Receiver<()>,
    stop: Stop,
    expired: Arc<AtomicBool>,
    /// Dropping it ends the thread that watches the time.
    _watch: Sender<()>,
}

/// Where a process runs and how long it may.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// The processor it is kept on from its birth.
    pub processor: Option<usize>,
    /// It is killed after this time, so that whoever waits for its answer gets an error and not a hang.
    pub lifetime: Duration,
    /// It is killed when this is requested.
    pub stop: Stop,
}

impl Bounds {
    /// Anywhere, for at most `lifetime`.
    pub fn lifetime(lifetime: Duration) -> Bounds {
        Bounds { processor: None, lifetime, stop: Stop::new() }
    }
}

impl Process {
    /// Starts `command`.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if it cannot be started.
    pub fn start(mut command: Command, bounds: &Bounds) -> Result<Process, BenchError> {
        let name = describe(&command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let spawned = pin::on(bounds.processor, || command.spawn())?;
        let mut child = spawned.map_err(BenchError::io(format!("start `{name}`")))?;
        let input = child.stdin.take();
        let (say, lines) = mpsc::sync_channel(LINES_AHEAD);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_lines(output, LONGEST_LINE, &mut |line| say.send(line).is_ok()));
        }
        let words = Arc::new(Mutex::new(VecDeque::new()));
        let (ended, words_ended) = mpsc::channel();
        if let Some(errors) = child.stderr.take() {
            let words = Arc::clone(&words);
            thread::spawn(move || {
                read_lines(errors, LONGEST_WORDS, &mut |line| keep_last(&words, line));
                drop(ended);
            });
        }
        let group = Arc::new(Group { leader: Mutex::new(pid(child.id())) });
        let expired = Arc::new(AtomicBool::new(false));
        let watch = watch(Arc::clone(&group), Arc::clone(&expired), bounds);
        let stop = bounds.stop.clone();
        Ok(Process { name, child, group, input, lines, words, words_ended, stop, expired, _watch: watch })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether its time was over and it was killed, which explains errors of whoever talked to it.
    pub fn expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Says a line to it.
    ///
    /// # Errors
    ///
    /// [`BenchError::Process`] if it no longer listens.
    pub fn tell(&mut self, line: &str) -> Result<(), BenchError> {
        let Some(input) = &mut self.input else { return Err(self.fault("its input is closed")) };
        // One write, so that it is woken once.
        match input.write_all(format!("{line}\n").as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.ended(&format!("before `{line}`"))),
        }
    }

    /// Its next line on standard output, without the line's end. `awaited` says what for, as in "its address".
    ///
    /// # Errors
    ///
    /// [`BenchError::Process`] if it ends or says nothing `within` that time, [`BenchError::Stopped`].
    pub fn line(&mut self, within: Duration, awaited: &str) -> Result<String, BenchError> {
        match self.lines.recv_timeout(within) {
            Ok(Ok(line)) => Ok(line),
            Ok(Err(error)) => Err(self.fault(&format!("its output cannot be read: {error}"))),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended(&format!("before it gave {awaited}"))),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = within.as_secs_f64();
                Err(self.fault(&format!("did not give {awaited} within {seconds} s")))
            }
        }
    }

    /// Its first line, as [`Process::line`].
    ///
    /// # Errors
    ///
    /// As there, and [`BenchError::Unsupported`] if it has ended with exit code 2, by which programs say that what they were
    /// asked for cannot be; its reason is in the error.
    pub fn first_line(
        &mut self,
        system: &'static str,
        within: Duration,
        awaited: &str,
    ) -> Result<String, BenchError> {
        self.line(within, awaited).map_err(|error| match self.refusal() {
            Some(reason) if !matches!(error, BenchError::Stopped) => BenchError::unsupported(system, reason),
            _ => error,
        })
    }

    /// The reason it gave on standard error, if it has ended with exit code 2: what it was asked for cannot be.
    fn refusal(&self) -> Option<String> {
        let _ = self.words_ended.recv_timeout(WORDS_WITHIN);
        let refused = self.status().is_some_and(|status| status.exit_status() == Some(2));
        refused.then(|| lock(&self.words).iter().cloned().collect::<Vec<_>>().join(" "))
    }

    /// An error about this process, with the last that it said on standard error.
    pub fn fault(&self, what: &str) -> BenchError {
        if self.stop.requested() {
            return BenchError::Stopped;
        }
        let words: Vec<_> = lock(&self.words).iter().cloned().collect();
        let mut what = what.to_owned();
        if !words.is_empty() {
            what.push_str("; it last said: ");
            what.push_str(&words.join(" | "));
        }
        BenchError::Process { command: self.name.clone(), what }
    }

    /// That it has ended, how, and its last words, for which a moment is waited.
    fn ended(&self, when: &str) -> BenchError {
        let how = self.end_within(WORDS_WITHIN);
        let _ = self.words_ended.recv_timeout(WORDS_WITHIN);
        self.fault(&format!("{} {when}", how.as_deref().unwrap_or("closed its output")))
    }

    /// What explains the errors of whoever talked to it: that it has ended, how, and its last words. `None` if it is alive
    /// after that time, within which it may have to end yet: who talks to it can notice before its parent does.
    pub fn has_ended(&self, within: Duration) -> Option<BenchError> {
        let how = self.end_within(within)?;
        let _ = self.words_ended.recv_timeout(WORDS_WITHIN);
        Some(self.fault(&how))
    }

    fn end_within(&self, moment: Duration) -> Option<String> {
        let end = Instant::now() + moment;
        loop {
            match self.end() {
                None if Instant::now() < end => thread::sleep(Duration::from_millis(2)),
                end => return end,
            }
        }
    }

    /// Whether it has ended, with exit code 0.
    pub fn has_succeeded(&self) -> bool {
        self.status().is_some_and(|status| status.exit_status() == Some(0))
    }

    /// How it has ended, if it has.
    fn end(&self) -> Option<String> {
        let status = self.status()?;
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended".to_owned(),
        })
    }

    /// Its status, if it has ended. It is not reaped here, so that its group's number cannot become another's.
    fn status(&self) -> Option<WaitIdStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // It cannot fail: the child is ours and has not been reaped.
        waitid(WaitId::Pid(pid(self.child.id())?), options).ok().flatten()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.input.take());
        let patience = if self.stop.requested() { Duration::ZERO } else { STOP_WITHIN };
        let end = Instant::now() + patience;
        while self.end().is_none() && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        self.group.kill();
        // From here on the number may be another's.
        lock(&self.group.leader).take();
        let _ = self.child.wait();
    }
}

/// A child's process group: the child, and what it has started.
#[derive(Debug)]
struct Group {
    /// `None` as soon as the child may be reaped.
    leader: Mutex<Option<Pid>>,
}

impl Group {
    /// Kills whatever is left of it.
    fn kill(&self) {
        if let Some(leader) = *lock(&self.leader) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// A running server process.
#[derive(Debug)]
pub struct Server {
    process: Process,
    address: String,
}

impl Server {
    /// Starts `command`, which serves `system`, and waits until it has announced its address.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if it cannot be started, [`BenchError::Process`] if it ends or stays silent,
    /// [`BenchError::Unsupported`] as for [`Process::first_line`].
    pub fn start(system: &'static str, command: Command, bounds: &Bounds) -> Result<Server, BenchError> {
        let mut process = Process::start(command, bounds)?;
        let line = process.first_line(system, START_WITHIN, "its address")?;
        match line.strip_prefix(ANNOUNCEMENT) {
            Some(address) if !address.is_empty() => Ok(Server { address: address.to_owned(), process }),
            _ => Err(process.fault(&format!("said {line:?} instead of its address"))),
        }
    }

    /// What the server announced: a host and port, or an object reference.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The server's process.
    pub fn process(&self) -> &Process {
        &self.process
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

/// Gives the lines of `from` to `line`, until that returns false or there is an error. Longer ones than `longest` come
/// in pieces.
fn read_lines(from: impl Read, longest: u64, line: &mut dyn FnMut(io::Result<String>) -> bool) {
    let mut from = BufReader::new(from);
    loop {
        let mut octets = Vec::new();
        let read = from.by_ref().take(longest).read_until(b'\n', &mut octets);
        let goes_on = match read {
            Ok(0) => false,
            // What is no text shows as such, instead of ending the conversation.
            Ok(_) => line(Ok(String::from_utf8_lossy(&octets).trim_end().to_owned())),
            Err(error) => {
                line(Err(error));
                false
            }
        };
        if !goes_on {
            return;
        }
    }
}

fn keep_last(words: &Mutex<VecDeque<String>>, line: io::Result<String>) -> bool {
    let Ok(line) = line else { return false };
    if !line.is_empty() {
        let mut words = lock(words);
        words.push_back(line);
        if words.len() > LAST_WORDS {
            words.pop_front();
        }
    }
    true
}

fn watch(group: Arc<Group>, expired: Arc<AtomicBool>, bounds: &Bounds) -> Sender<()> {
    let (dropped, wait) = mpsc::channel::<()>();
    let end = Instant::now() + bounds.lifetime;
    let stop = bounds.stop.clone();
    thread::spawn(move || {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if wait.recv_timeout(left.min(LOOK_EVERY)) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let late = Instant::now() >= end;
            if late || stop.requested() {
                expired.store(late, Ordering::Relaxed);
                return group.kill();
            }
        }
    });
    dropped
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command as people would write it, without paths, and shortened where an argument is a long reference.
fn describe(command: &Command) -> String {
    const LONGEST: usize = 40;
    let program = std::path::Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        let argument = argument.to_string_lossy();
        text.extend(argument.chars().take(LONGEST));
        if argument.chars().count() > LONGEST {
            text.push('…');
        }
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

    fn serve(script: &str) -> Result<Server, BenchError> {
        Server::start("test", shell(script), &Bounds::lifetime(LONG))
    }

    fn is_alive(id: u32) -> bool {
        std::path::Path::new(&format!("/proc/{id}/stat")).exists()
    }

    #[test]
    fn announces_serves_and_is_reaped() {
        let server = serve("echo ready 127.0.0.1:1; cat").unwrap();
        assert_eq!(server.address(), "127.0.0.1:1");
        let id = server.process().id();
        assert!(is_alive(id));
        drop(server);
        assert!(!is_alive(id), "neither running nor a zombie");
    }

    #[test]
    fn a_server_that_ends_early_is_an_error_that_names_it_and_its_last_words() {
        let error = serve("exit 3").unwrap_err().to_string();
        assert_eq!(error, "process `sh -c exit 3`: ended with exit code 3 before it gave its address");
        let error = serve("seq 100 >&2; echo no port left >&2").unwrap_err().to_string();
        assert!(error.ends_with("; it last said: 96 | 97 | 98 | 99 | 100 | no port left"), "{error}");
        let refused = serve("echo no such port >&2; exit 2").unwrap_err();
        assert!(matches!(refused, BenchError::Unsupported { system: "test", .. }), "{refused}");
        let error = serve("kill -9 $$").unwrap_err().to_string();
        assert!(error.contains("was ended by signal 9"), "{error}");
        let error = serve("echo hello; cat").unwrap_err().to_string();
        assert!(error.ends_with("said \"hello\" instead of its address"), "{error}");
        let missing =
            Server::start("test", Command::new("/nonexistent/server"), &Bounds::lifetime(LONG)).unwrap_err();
        assert!(missing.to_string().starts_with("cannot start `server`"), "{missing}");
    }

    #[test]
    fn lines_are_exchanged_and_silence_is_an_error() {
        let bounds = Bounds::lifetime(LONG);
        let mut process = Process::start(shell("read a; echo got $a; read b; exec cat"), &bounds).unwrap();
        process.tell("one").unwrap();
        assert_eq!(process.line(LONG, "an echo").unwrap(), "got one");
        let error = process.line(Duration::from_millis(20), "more").unwrap_err().to_string();
        assert!(error.ends_with("did not give more within 0.02 s"), "{error}");
    }

    #[test]
    fn a_server_past_its_lifetime_is_killed() {
        let bounds = Bounds::lifetime(Duration::from_secs(1));
        let server = Server::start("test", shell("echo ready x; exec sleep 60"), &bounds).unwrap();
        while !server.process().expired() {
            thread::sleep(Duration::from_millis(5));
        }
        let id = server.process().id();
        drop(server);
        assert!(!is_alive(id));
    }

    #[test]
    fn a_stop_ends_the_process_and_what_it_started() {
        let bounds = Bounds::lifetime(LONG);
        let script = "sleep 60 & echo $!; trap '' TERM; wait";
        let mut process = Process::start(shell(script), &bounds).unwrap();
        let grandchild: u32 = process.line(LONG, "a number").unwrap().parse().unwrap();
        bounds.stop.request();
        // Its output closes when all are gone.
        assert!(matches!(process.line(LONG, "nothing"), Err(BenchError::Stopped)));
        drop(process);
        // Reaped by whoever adopted it; until then a zombie.
        let gone = || match std::fs::read_to_string(format!("/proc/{grandchild}/stat")) {
            Ok(stat) => stat.contains(") Z "),
            Err(_) => true,
        };
        while !gone() {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
