//! The file of a Unix socket: it comes with `bind` and stays behind unless somebody removes it.

use std::fs::{self, File};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{SocketType, bind, connect};

use super::stream::open;
use crate::named_file::identity;
pub(super) use crate::named_file::{NamedFile as SocketFile, errno};
use crate::ready::rest;
use crate::{Error, Step, UnixAddress};

/// Binds a socket, and where the address is a file holds that. A file that is in the way goes if `is_abandoned` says so.
pub(super) fn bind_file(
    fd: BorrowedFd<'_>,
    at: &UnixAddress,
    is_abandoned: impl FnOnce() -> Result<bool, Errno>,
) -> Result<Option<SocketFile>, Error> {
    let failed = |errno| Error::os(Step::Bind, errno);
    let address = at.to_kernel().map_err(failed)?;
    let Some(path) = at.as_path() else {
        return bind(fd, &address).map(|()| None).map_err(failed);
    };
    let mut bound = bind(fd, &address);
    if bound == Err(Errno::ADDRINUSE) && is_abandoned().map_err(failed)? {
        fs::remove_file(path).map_err(|error| failed(errno(&error)))?;
        bound = bind(fd, &address);
    }
    bound.map_err(failed)?;
    SocketFile::at(path).map(Some).map_err(|error| failed(errno(&error)))
}

/// What a listening socket holds whose address is a file.
#[derive(Debug)]
pub struct ListeningFile {
    file: SocketFile,
    /// Until it listens.
    turn: Option<Turn>,
}

impl ListeningFile {
    pub(super) fn new(file: SocketFile, turn: Option<Turn>) -> Self {
        Self { file, turn }
    }

    /// Who comes next can tell by now that it is alive.
    pub(super) fn listens(&mut self) {
        self.turn = None;
    }

    /// Somebody else removes it.
    pub(super) fn keep(self) {
        self.file.keep();
    }
}

/// One at a time in a directory: between binding and listening a socket looks as one that was abandoned, so
/// nobody looks meanwhile. It is a lock on the directory itself (flock(2)), which leaves no file behind, and
/// ends with its process.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "it is held")] File);

impl Turn {
    /// Waits for a turn, since whoever has it needs a few system calls only; no longer than for a second, in
    /// which one of them would do that ten thousand times. `None`: this process cannot lock that directory, or
    /// somebody else keeps it locked.
    pub(super) fn take(file: &Path) -> Result<Option<Self>, Errno> {
        let directory = match file.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let deadline = Instant::now() + Duration::from_secs(1);
        let lock = match File::open(directory) {
            Ok(directory) => directory,
            Err(error) if [Errno::MFILE, Errno::NFILE].contains(&errno(&error)) => return Err(errno(&error)),
            Err(_) => return Ok(None),
        };
        loop {
            match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self(lock))),
                Err(Errno::AGAIN) if rest(Some(deadline)) => {}
                Err(Errno::INTR) => {}
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Whether the file of a socket is there that nobody listens on any more.
pub(super) fn is_abandoned(path: &Path, at: &UnixAddress, kind: SocketType) -> Result<bool, Errno> {
    let address = at.to_kernel()?;
    // A file that is no socket refuses connections as well.
    let look = || -> Result<Option<(u64, u64)>, Errno> {
        let Ok(true) = fs::symlink_metadata(path).map(|file| file.file_type().is_socket()) else {
            return Ok(None);
        };
        let probe: OwnedFd = open(kind)?;
        let refused = connect(&probe, &address) == Err(Errno::CONNREFUSED);
        Ok(if refused { identity(path).ok() } else { None })
    };
    let first = look()?;
    if first.is_none() {
        return Ok(false);
    }
    // Programs that know nothing of turns may be about to listen as well. It is their next system call.
    thread::sleep(Duration::from_millis(10));
    Ok(look()? == first)
}
