//! Lanes: each has one protocol and one part to be killed, again and again until the time is over, and keeps account.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::{Interface, ObjectRef, Orb};

use super::CALLERS;
use super::account::{Account, Callers};
use super::book::{self, Book};
use super::calls::{self, Kinds, Random, Told, Wrongs};
use super::idl::soak::Ledger;
use super::peer::{Peer, publish};
use super::resources::{self, Resources};
use crate::failure::Failure;

/// What all lanes share.
pub(super) struct Field {
    /// Calls all servers, and serves all callers, by every protocol.
    pub(super) orb: Orb,
    pub(super) numbers: AtomicU64,
    pub(super) until: Instant,
    pub(super) wrongs: Wrongs,
    pub(super) directory: PathBuf,
    pub(super) memory: Arc<zorb::transport::memory::Memory>,
    pub(super) seed: u64,
}

/// Whose process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Servers,
    Callers,
    /// An ORB of this process is shut down.
    Orbs,
    /// A server that lives on while all others die.
    Nobody,
}

/// One protocol, and what dies on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub(super) protocol: &'static str,
    pub(super) part: Part,
}

/// What a lane did.
#[derive(Default)]
pub(super) struct Passed {
    /// Lives of the part that dies.
    pub(super) lives: u64,
    pub(super) account: Account,
    /// What a server that lives on held before its callers came, and after they had gone.
    pub(super) held: Option<(Resources, Resources)>,
}

/// The shortest and the longest life.
const LIFE_MS: (u64, u64) = (200, 3_000);

/// How long callers go on after a death: they are to meet it.
const AFTER: Duration = Duration::from_millis(50);

impl Lane {
    pub(super) fn endpoint(self) -> &'static str {
        match self.protocol {
            "tcp" => "tcp:127.0.0.1:0",
            "udp" => "udp:127.0.0.1:0",
            "unix" => "unix:",
            "shm" => "shm:",
            _ => "memory:",
        }
    }

    fn kinds(self) -> Kinds {
        if self.protocol == "udp" { Kinds::Oneways } else { Kinds::All }
    }

    pub(super) fn run(self, field: &Field, index: u64) -> Result<Passed, Failure> {
        let mut random = Random(field.seed ^ (index << 32));
        let mut passed = Passed::default();
        if self.part == Part::Nobody {
            self.steady(field, &mut random, &mut passed)?;
            return Ok(passed);
        }
        while Instant::now() < field.until {
            let life = Duration::from_millis(LIFE_MS.0 + random.below(LIFE_MS.1 - LIFE_MS.0));
            let path = field.directory.join(format!("{}-{index}-{}", self.protocol, passed.lives));
            match self.part {
                Part::Servers => self.server(field, &path, life, &mut random, &mut passed)?,
                Part::Callers => self.caller(field, &path, life, &mut random, &mut passed)?,
                Part::Orbs | Part::Nobody => self.orb(field, life, &mut random, &mut passed)?,
            }
            let _ = std::fs::remove_file(&path);
            passed.lives += 1;
        }
        Ok(passed)
    }

    /// The object of that text by this lane's protocol alone.
    fn bind(self, field: &Field, text: &str) -> Result<Ledger, Failure> {
        let object = crate::ping::object(&field.orb, text)?;
        Ok(self.by(&object))
    }

    fn by(self, object: &ObjectRef) -> Ledger {
        let only = Policies::new().protocols(Protocols::only([self.protocol]));
        Ledger::from_object(object.with_policies(only))
    }

    fn server(
        self,
        field: &Field,
        path: &std::path::Path,
        life: Duration,
        random: &mut Random,
        passed: &mut Passed,
    ) -> Result<(), Failure> {
        let mut peer = Peer::serve(path, &[self.endpoint()])?;
        let ledger = self.bind(field, &peer.said)?;
        let orderly = random.below(4) == 0;
        let mut ended = Ok(());
        self.callers(
            field,
            &ledger,
            random,
            passed,
            || read(path),
            || {
                sleep_until(field, life);
                if orderly {
                    ended = peer.end();
                } else {
                    peer.kill();
                }
            },
        )?;
        ended
    }

    fn orb(
        self,
        field: &Field,
        life: Duration,
        random: &mut Random,
        passed: &mut Passed,
    ) -> Result<(), Failure> {
        let orb = super::builder().transport(field.memory.clone()).listen(self.endpoint()).build();
        let book = Arc::new(Book::memory());
        let ledger = publish(&orb, book.clone())?;
        let ledger = self.bind(field, &ledger.as_object().to_string())?;
        self.callers(
            field,
            &ledger,
            random,
            passed,
            || Ok(book.entries()),
            || {
                sleep_until(field, life);
                orb.shutdown(true, Duration::from_secs(2));
            },
        )
    }

    fn steady(self, field: &Field, random: &mut Random, passed: &mut Passed) -> Result<(), Failure> {
        let path = field.directory.join("steady");
        let listen = ["tcp:127.0.0.1:0", "unix:", "shm:", "udp:127.0.0.1:0"];
        let mut peer = Peer::serve(&path, &listen)?;
        let object = crate::ping::object(&field.orb, &peer.said)?;
        let ask = Lane { protocol: "tcp", ..self }.by(&object);
        let held = || -> Result<Resources, Failure> {
            let (descriptors, threads, segments) = ask
                .resources()
                .map_err(|exception| Failure::new(format!("the server that lives on: {exception}")))?;
            Ok(Resources { descriptors, threads, segments })
        };
        let before = held()?;
        let mut told = Vec::new();
        let mut backs = Vec::new();
        while Instant::now() < field.until {
            for protocol in ["tcp", "unix", "shm", "udp"] {
                let lane = Lane { protocol, ..self };
                let ledger = lane.by(&object);
                let turn = Duration::from_millis(LIFE_MS.0 + random.below(LIFE_MS.1 / 4));
                let (of_turn, back) = lane.made(field, &ledger, random, || sleep_until(field, turn))?;
                told.extend(of_turn.iter().map(|one| (one.number, one.outcome)));
                backs.push(back);
            }
            passed.lives = 1;
        }
        // Connections that nobody uses are closed, and threads without work end.
        let after = resources::settle(before.and(super::STANDING), super::SETTLE, held)?;
        passed.held = Some((before, after));
        peer.end()?;
        passed.account.add(Account::of(&told, &read(&path)?, Callers::Survived));
        for back in backs {
            passed.account.add(faults(back));
        }
        Ok(())
    }

    /// Callers in this process, while `during` lasts and a little longer; then the account.
    fn callers(
        self,
        field: &Field,
        ledger: &Ledger,
        random: &mut Random,
        passed: &mut Passed,
        book: impl FnOnce() -> Result<Vec<u64>, Failure>,
        during: impl FnOnce(),
    ) -> Result<(), Failure> {
        let (told, back) = self.made(field, ledger, random, during)?;
        let told: Vec<_> = told.iter().map(|one| (one.number, one.outcome)).collect();
        passed.account.add(Account::of(&told, &book()?, Callers::Survived));
        passed.account.add(faults(back));
        Ok(())
    }

    /// The calls themselves, and the account of those that came back.
    fn made(
        self,
        field: &Field,
        ledger: &Ledger,
        random: &mut Random,
        during: impl FnOnce(),
    ) -> Result<(Vec<Told>, Account), Failure> {
        let back_book = Arc::new(Book::memory());
        let back = publish(&field.orb, back_book.clone())?;
        let (stop, told) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..CALLERS {
                let (stop, told, back) = (&stop, &told, &back);
                let mut random = Random(random.below(u64::MAX));
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    let (numbers, wrongs) = (&field.numbers, &field.wrongs);
                    let tell = |one| mine.push(one);
                    calls::call(ledger, Some(back), self.kinds(), numbers, stop, &mut random, wrongs, tell);
                    told.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
                });
            }
            during();
            std::thread::sleep(AFTER);
            stop.store(true, Ordering::Relaxed);
        });
        unpublish(&field.orb, &back)?;
        let told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
        let through: Vec<_> =
            told.iter().filter(|one| one.through).map(|one| (one.number, one.outcome)).collect();
        let account = Account::of(&through, &back_book.entries(), Callers::Survived);
        Ok((told, account))
    }

    /// A process that calls this one, and dies.
    fn caller(
        self,
        field: &Field,
        path: &std::path::Path,
        life: Duration,
        random: &mut Random,
        passed: &mut Passed,
    ) -> Result<(), Failure> {
        let book = Arc::new(Book::memory());
        let ledger = publish(&field.orb, book.clone())?;
        let reference = ledger.as_object().to_string();
        let mut peer = Peer::call(path, self.protocol, random.below(u64::MAX), &reference)?;
        sleep_until(field, life);
        if random.below(4) == 0 {
            peer.end()?;
        } else {
            peer.kill();
        }
        // What it had sent is read to the end.
        std::thread::sleep(AFTER);
        unpublish(&field.orb, &ledger)?;
        let told = book::read_told(path).map_err(|cause| Failure::file("read", path, cause))?;
        passed.account.add(Account::of(&told, &book.entries(), Callers::Died));
        Ok(())
    }
}

fn read(path: &std::path::Path) -> Result<Vec<u64>, Failure> {
    book::read(path).map_err(|cause| Failure::file("read", path, cause))
}

fn unpublish(orb: &Orb, ledger: &Ledger) -> Result<(), Failure> {
    let cannot = |what: &dyn std::fmt::Display| Failure::new(format!("cannot withdraw a ledger: {what}"));
    let poa = orb.root_poa().map_err(|exception| cannot(&exception))?;
    let id = poa.reference_to_id(ledger.as_object()).map_err(|error| cannot(&error))?;
    poa.deactivate(id).map_err(|error| cannot(&error))
}

/// The faults alone: these requests are in another account already.
fn faults(account: Account) -> Account {
    Account { returned: 0, not_executed: 0, perhaps: 0, ..account }
}

/// Sleeps, but not beyond the end of the whole.
fn sleep_until(field: &Field, time: Duration) {
    std::thread::sleep(time.min(field.until.saturating_duration_since(Instant::now())));
}
