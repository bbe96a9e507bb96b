//! The directory of a run: what is in it when the run begins, and what is added while it lasts.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::journal::{Ended, Head, Kept, examine};
use super::plan::Step;
use crate::BenchError;
use crate::report::{INDEX, MACHINE, RESULTS};
use crate::row::Row;

/// What has ended; beside it stand the files that a report is made of.
pub const STEPS: &str = "steps.jsonl";

/// A directory that rows are written to.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    results: File,
    steps: File,
    ended: Vec<Ended>,
    dropped: usize,
    /// Kept from other runs as long as this one lasts.
    _lock: File,
}

impl Directory {
    /// Which run a directory holds, if it holds one.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if it cannot be read.
    pub fn head(path: &Path) -> Result<Option<Head>, BenchError> {
        Ok(read(&path.join(STEPS))?.and_then(|steps| Head::of(&steps)))
    }

    /// Opens or makes a directory for the run that `head` and `steps` describe, and goes on with what is there of it; or,
    /// `again`, begins anew.
    ///
    /// # Errors
    ///
    /// [`BenchError::Taken`] if it holds something else, or another run is writing to it; [`BenchError::Io`].
    pub fn open(path: &Path, head: &Head, steps: &[Step], again: bool) -> Result<Directory, BenchError> {
        fs::create_dir_all(path).map_err(BenchError::io(format!("make {}", path.display())))?;
        let lock = lock(path)?;
        let kept = if again { begin_anew(path)? } else { go_on(path, head, steps)? };
        let mut lines = json(head);
        kept.ended.iter().for_each(|ended| lines.push_str(&json(ended)));
        // Results first: a step without its rows is done again, rows without their step are, too.
        replace(&path.join(RESULTS), &kept.results)?;
        replace(&path.join(STEPS), lines.as_bytes())?;
        let machine = path.join(MACHINE);
        if !machine.exists() {
            replace(&machine, json(&head.machine).as_bytes())?;
        }
        let append = |name: &str| {
            let path = path.join(name);
            let opened = OpenOptions::new().append(true).open(&path);
            opened.map_err(BenchError::io(format!("write {}", path.display())))
        };
        let (results, steps) = (append(RESULTS)?, append(STEPS)?);
        let Kept { ended, dropped, .. } = kept;
        Ok(Directory { path: path.to_owned(), results, steps, ended, dropped, _lock: lock })
    }

    /// Steps that have ended.
    pub fn ended(&self) -> &[Ended] {
        &self.ended
    }

    /// Whether a step has.
    pub fn has(&self, step: &Step) -> bool {
        let command = step.command();
        self.ended.iter().any(|ended| ended.command == command)
    }

    /// Lines of steps that had not ended, or without an end themselves, which were there and are not any more.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`], naming the file.
    pub fn keep(&mut self, rows: &[Row]) -> Result<(), BenchError> {
        let lines: String = rows.iter().map(|row| row.to_json() + "\n").collect();
        let written = self.results.write_all(lines.as_bytes());
        written.map_err(self.unwritten(RESULTS))
    }

    /// Notes that a step has ended, once its rows are safe.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`], naming the file.
    pub fn end(&mut self, ended: Ended) -> Result<(), BenchError> {
        self.note(&ended)?;
        self.ended.push(ended);
        Ok(())
    }

    /// Notes what became of a step, for the report: of one that was left out too, which has not ended.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`], naming the file.
    pub fn note(&mut self, step: &Ended) -> Result<(), BenchError> {
        self.results.sync_data().map_err(self.unwritten(RESULTS))?;
        let written = self.steps.write_all(json(step).as_bytes()).and_then(|()| self.steps.sync_data());
        written.map_err(self.unwritten(STEPS))
    }

    fn unwritten(&self, name: &str) -> impl FnOnce(io::Error) -> BenchError + use<> {
        BenchError::io(format!("write {}", self.path.join(name).display()))
    }
}

fn taken(path: &Path, what: impl Into<String>) -> BenchError {
    BenchError::Taken { directory: path.to_owned(), what: what.into() }
}

/// Nobody else may write there while the file is open.
fn lock(path: &Path) -> Result<File, BenchError> {
    let directory = File::open(path).map_err(BenchError::io(format!("open {}", path.display())))?;
    match directory.try_lock() {
        Ok(()) => Ok(directory),
        Err(TryLockError::WouldBlock) => Err(taken(path, "another run is writing to it now")),
        // A file system that has no locks has no second run that could know of this one.
        Err(TryLockError::Error(_)) => Ok(directory),
    }
}

fn begin_anew(path: &Path) -> Result<Kept, BenchError> {
    for name in [INDEX, MACHINE] {
        let path = path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BenchError::io(format!("remove {}", path.display()))(error));
            }
            _ => {}
        }
    }
    Ok(Kept { ended: Vec::new(), results: Vec::new(), dropped: 0 })
}

fn go_on(path: &Path, head: &Head, steps: &[Step]) -> Result<Kept, BenchError> {
    let results = read(&path.join(RESULTS))?.unwrap_or_default();
    match read(&path.join(STEPS))? {
        Some(text) => {
            let there = Head::of(&text);
            let there =
                there.ok_or_else(|| taken(path, format!("its {STEPS} does not say of which run it is")))?;
            let differences = there.differences(head);
            if !differences.is_empty() {
                return Err(taken(path, format!("it holds another run ({})", differences.join("; "))));
            }
            let commands: Vec<_> = steps.iter().map(|step| step.command()).collect();
            Ok(examine(&text, &results, &commands))
        }
        None => match [RESULTS, MACHINE, INDEX].into_iter().find(|name| path.join(name).exists()) {
            Some(name) => Err(taken(path, format!("its {name} is not of a run that can be gone on with"))),
            None => Ok(Kept { ended: Vec::new(), results, dropped: 0 }),
        },
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, BenchError> {
    match fs::read(path) {
        Ok(octets) => Ok(Some(octets)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BenchError::io(format!("read {}", path.display()))(error)),
    }
}

/// Writes a file whole, or leaves it as it was.
fn replace(path: &Path, content: &[u8]) -> Result<(), BenchError> {
    let new = path.with_extension("new");
    let written = File::create(&new).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_data()
    });
    let replaced = written.and_then(|()| fs::rename(&new, path));
    replaced.map_err(|error| {
        // What a full disk has left of it is of no use to anybody.
        let _ = fs::remove_file(&new);
        BenchError::io(format!("write {}", path.display()))(error)
    })
}

fn json(value: &impl serde::Serialize) -> String {
    // Names are constants and every value is a string or a number.
    serde_json::to_string(value).expect("strings and numbers always serialise") + "\n"
}
