//! The other processes: servers and callers that are killed. Each ends when its standard input does, so none outlives the
//! one that started it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use clap::{Args, Subcommand};
use zorb::{Interface, Orb};

use super::book::{self, Book};
use super::calls::{self, Kinds, Random, Wrongs};
use super::idl::soak::Ledger;
use crate::failure::Failure;

/// Options that every part's calls have: they end, however busy the machine is, unless something is wrong.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Subcommand)]
pub(super) enum Half {
    #[command(hide = true)]
    Serve(Serve),
    #[command(hide = true)]
    Call(Call),
}

/// Started by `zorb soak`: serve a ledger until standard input closes.
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[arg(long)]
    book: PathBuf,
    #[arg(long)]
    listen: Vec<String>,
}

/// Started by `zorb soak`: call a ledger until standard input closes.
#[derive(Debug, Args)]
pub(super) struct Call {
    #[arg(long)]
    told: PathBuf,
    #[arg(long)]
    protocol: String,
    #[arg(long)]
    seed: u64,
    reference: String,
}

/// A ledger that a peer may call, let through.
pub(super) fn publish(orb: &Orb, book: Arc<Book>) -> Result<Ledger, Failure> {
    let cannot = |what: &dyn std::fmt::Display| Failure::new(format!("cannot publish a ledger: {what}"));
    let poa = orb.root_poa().map_err(|exception| cannot(&exception))?;
    let ledger = poa.activate::<Ledger>(book).map_err(|error| cannot(&error))?;
    poa.manager().activate().map_err(|error| cannot(&error))?;
    Ok(ledger)
}

pub(super) fn run(half: Half) -> Result<(), Failure> {
    match half {
        Half::Serve(arguments) => serve(&arguments),
        Half::Call(arguments) => call(&arguments),
    }
}

fn serve(arguments: &Serve) -> Result<(), Failure> {
    let orb = super::builder().listen_at(arguments.listen.iter()).build();
    let book = Book::file(&arguments.book).map_err(|cause| Failure::file("write", &arguments.book, cause))?;
    let ledger = publish(&orb, Arc::new(book))?;
    writeln!(io::stdout(), "{}", ledger.as_object())?;
    let _ = io::stdin().read_to_end(&mut Vec::new());
    orb.shutdown(true, Duration::from_secs(2));
    Ok(())
}

fn call(arguments: &Call) -> Result<(), Failure> {
    let orb = super::builder().prefer([arguments.protocol.as_str()]).build();
    let object = crate::ping::object(&orb, &arguments.reference)?;
    let ledger = Ledger::from_object(object);
    let told =
        File::create(&arguments.told).map_err(|cause| Failure::file("write", &arguments.told, cause))?;
    writeln!(io::stdout(), "calling")?;
    let (stop, numbers, wrongs) = (AtomicBool::new(false), AtomicU64::new(0), Wrongs::default());
    std::thread::scope(|scope| {
        for caller in 0..super::CALLERS {
            let (ledger, told, stop, numbers, wrongs) = (&ledger, &told, &stop, &numbers, &wrongs);
            let mut random = Random(arguments.seed.wrapping_add(caller));
            scope.spawn(move || {
                calls::call(ledger, None, Kinds::All, numbers, stop, &mut random, wrongs, |one| {
                    let _ = book::write_told(told, one.number, one.outcome);
                });
            });
        }
        let _ = io::stdin().read_to_end(&mut Vec::new());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    orb.shutdown(true, Duration::from_secs(2));
    Ok(())
}

/// A process of ours; killed when dropped.
pub(super) struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    /// The first line that it wrote.
    pub(super) said: String,
}

impl Peer {
    pub(super) fn serve(book: &Path, listen: &[&str]) -> Result<Peer, Failure> {
        let mut command = own();
        command.arg("serve").arg("--book").arg(book);
        for endpoint in listen {
            command.args(["--listen", endpoint]);
        }
        Peer::start(command)
    }

    pub(super) fn call(told: &Path, protocol: &str, seed: u64, reference: &str) -> Result<Peer, Failure> {
        let mut command = own();
        command.arg("call").arg("--told").arg(told).args(["--protocol", protocol]);
        command.args(["--seed", &seed.to_string(), reference]);
        Peer::start(command)
    }

    fn start(mut command: Command) -> Result<Peer, Failure> {
        let cannot = |cause: io::Error| Failure::new(format!("cannot start a peer: {cause}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let mut peer = Peer { child, input, said: String::new() };
        if let Some(output) = output {
            BufReader::new(output).read_line(&mut peer.said).map_err(cannot)?;
        }
        if !peer.said.ends_with('\n') {
            return Err(Failure::new("a peer ended before it was ready"));
        }
        peer.said.truncate(peer.said.trim_end().len());
        Ok(peer)
    }

    /// Ends it at once, whatever it does.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, and waits for that.
    ///
    /// # Errors
    /// It did not end well.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        self.input = None;
        let latest = std::time::Instant::now() + CALL_TIMEOUT;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(Failure::new(format!("a peer that was to end: {status}"))),
                None if std::time::Instant::now() < latest => std::thread::sleep(Duration::from_millis(10)),
                None => return Err(Failure::new("a peer that was to end goes on")),
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn own() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "zorb".into()));
    command.arg("soak");
    command
}
