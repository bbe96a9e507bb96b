//! Pipes with a name in the file system.

use std::fs;
#[cfg(not(target_os = "linux"))]
use std::fs::Permissions;
use std::os::fd::{AsFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
#[cfg(not(target_os = "linux"))]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, CWD, chmodat};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};

use super::end::End;
use super::{PipeReader, PipeWriter};
use crate::named_file::{NamedFile, errno};
use crate::ready::{rest, resumed};
use crate::{Error, Step, portable};

/// A pipe's place in the file system. It is neither end: each is opened by itself, in any process that has
/// permission.
///
/// Who made it removes it: the file goes when this is dropped, unless another has taken its place. Ends that
/// are open stay connected.
///
/// There is nothing to read or write before:
///
/// ```compile_fail,E0599
/// # fn wrong(fifo: &zorb_ipc::Fifo) {
/// fifo.receive_now(&mut [0; 16]); // no method `receive_now`: open an end first
/// # }
/// ```
#[derive(Debug)]
pub struct Fifo {
    path: PathBuf,
    /// If it was made here.
    _made: Option<Made>,
}

/// A FIFO's file, removed first, and on Linux a descriptor that keeps the system from giving its number to
/// another file before.
#[derive(Debug)]
struct Made {
    _file: NamedFile,
    #[cfg(target_os = "linux")]
    _kept: OwnedFd,
}

impl Fifo {
    /// Makes one, with these permissions exactly: to open an end is to read or to write (fifo(7)).
    ///
    /// # Errors
    /// At [`Step::Open`], naming the path: [`Error::is_address_in_use`] if something is there, whatever it
    /// is.
    pub fn create(path: impl AsRef<Path>, mode: u32) -> Result<Self, Error> {
        let path = path.as_ref();
        let failed = |errno| Error::os(Step::Open, errno).with_path(path);
        // What the process's mask leaves of it, first, so that it is never open to more than was asked for.
        resumed(|| portable::make_fifo(path, mode)).map_err(failed)?;
        let file = NamedFile::at(path).map_err(|error| failed(errno(&error)))?;
        #[cfg(target_os = "linux")]
        let kept = resumed(|| open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()))
            .map_err(failed)?;
        #[cfg(target_os = "linux")]
        permit(kept.as_fd(), &file, mode).map_err(|error| error.with_path(path))?;
        #[cfg(not(target_os = "linux"))]
        fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|error| failed(errno(&error)))?;
        let path = file.path().to_owned();
        let made = Made {
            _file: file,
            #[cfg(target_os = "linux")]
            _kept: kept,
        };
        Ok(Self { path, _made: Some(made) })
    }

    /// Finds the one that is there, and makes one if nothing is. One that was found keeps its permissions,
    /// and stays when this is dropped.
    ///
    /// # Errors
    /// At [`Step::Open`], naming the path: [`Error::is_of_another_kind`] if there is something else.
    pub fn create_or_find(path: impl AsRef<Path>, mode: u32) -> Result<Self, Error> {
        match Self::create(&path, mode) {
            Err(error) if error.is_address_in_use() => Self::find(path),
            done => done,
        }
    }

    /// Finds one that is there, which stays when this is dropped.
    ///
    /// # Errors
    /// At [`Step::Open`], naming the path: there is nothing; [`Error::is_of_another_kind`] if it is something
    /// else.
    pub fn find(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let absolute = std::path::absolute(path);
        let absolute = absolute.map_err(|error| Error::os(Step::Open, errno(&error)).with_path(path))?;
        check(&absolute)?;
        Ok(Self { path: absolute, _made: None })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the end that reads, at once: it need not wait for a writer, as receiving waits for the first.
    /// Once the last writer has closed, receiving gives the end (0) until another one opens.
    ///
    /// # Errors
    /// At [`Step::Open`], naming the path: [`Error::is_permission_denied`], [`Error::is_of_another_kind`].
    pub fn reader(&self) -> Result<PipeReader, Error> {
        Ok(PipeReader(End::new(self.open(OFlags::RDONLY)?, Some(&self.path))))
    }

    /// Opens the end that writes, if somebody reads.
    ///
    /// # Errors
    /// As [`reader`](Self::reader), and [`Error::is_connection_refused`] if nobody reads.
    pub fn writer_now(&self) -> Result<PipeWriter, Error> {
        Ok(PipeWriter(End::new(self.open(OFlags::WRONLY)?, Some(&self.path))))
    }

    /// Opens the end that writes, and waits for somebody to read until `deadline`.
    ///
    /// # Errors
    /// As [`reader`](Self::reader), and [`Error::is_timeout`].
    pub fn writer_by(&self, deadline: Instant) -> Result<PipeWriter, Error> {
        loop {
            match self.writer_now() {
                Err(error) if error.is_connection_refused() => {}
                done => return done,
            }
            // Nothing tells when somebody reads.
            if !rest(Some(deadline)) {
                return Err(Error::out_of_time(Step::Open).with_path(&self.path));
            }
        }
    }

    fn open(&self, role: OFlags) -> Result<OwnedFd, Error> {
        let failed = |errno| Error::os(Step::Open, errno).with_path(&self.path);
        // Before, since to open a device can do something to it, and a socket is refused as a FIFO without
        // readers is.
        check(&self.path)?;
        let flags = role | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let fd = resumed(|| open(&self.path, flags, Mode::empty())).map_err(failed)?;
        // And after, since something else may have come in between.
        let status = fstat(fd.as_fd()).map_err(failed)?;
        if FileType::from_raw_mode(status.st_mode) != FileType::Fifo {
            return Err(Error::unlike(Step::Open, "a FIFO", "another file").with_path(&self.path));
        }
        Ok(fd)
    }
}

/// Gives the FIFO behind a descriptor that names its file, and no other that may have taken its place, its permissions.
#[cfg(target_os = "linux")]
fn permit(kept: BorrowedFd<'_>, made: &NamedFile, mode: u32) -> Result<(), Error> {
    let failed = |errno| Error::os(Step::Open, errno);
    let status = fstat(kept).map_err(failed)?;
    if FileType::from_raw_mode(status.st_mode) != FileType::Fifo || !made.has(status.st_dev, status.st_ino) {
        return Err(Error::unlike(Step::Open, "the FIFO that was made", "another file"));
    }
    let wanted = Mode::from_raw_mode(mode);
    if Mode::from_raw_mode(status.st_mode) == wanted {
        return Ok(());
    }
    // Such a descriptor takes no fchmod(2), but its name does (proc(5), open(2)).
    let name = format!("/proc/self/fd/{}", kept.as_raw_fd());
    resumed(|| chmodat(CWD, &name, wanted, AtFlags::empty())).map_err(failed)
}

/// Whether it is a FIFO that is there.
fn check(path: &Path) -> Result<(), Error> {
    let file = fs::metadata(path);
    let kind = file.map_err(|error| Error::os(Step::Open, errno(&error)).with_path(path))?.file_type();
    let found = match kind {
        kind if kind.is_fifo() => return Ok(()),
        kind if kind.is_file() => "a regular file",
        kind if kind.is_dir() => "a directory",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    };
    Err(Error::unlike(Step::Open, "a FIFO", found).with_path(path))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn permissions_are_given_to_what_was_made_and_not_to_what_took_its_place() {
        let folder = std::env::temp_dir().join(format!("zorb-ipc-permit-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let [made, moved] = ["made", "moved"].map(|name| folder.join(name));
        let behind =
            |path| open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let permissions = |path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;

        portable::make_fifo(&made, 0o600).unwrap();
        let (file, fifo) = (NamedFile::at(&made).unwrap(), behind(&made));
        fs::rename(&made, &moved).unwrap();
        fs::write(&made, b"").unwrap();
        let before = permissions(&made);
        permit(fifo.as_fd(), &file, 0o622).unwrap();
        assert_eq!((permissions(&moved), permissions(&made)), (0o622, before));

        let error = permit(behind(&made).as_fd(), &file, 0o622).unwrap_err();
        assert!(error.is_of_another_kind(), "{error}");
        assert_eq!(permissions(&made), before);
        drop(file);
        assert!(made.exists(), "it is not the one that was made");
        fs::remove_dir_all(&folder).unwrap();
    }
}
