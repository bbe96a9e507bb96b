//! A file that stands for a socket or a pipe: it comes with that and stays behind unless somebody removes it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A file that was made here: removed with what holds this, unless another has taken its place.
#[derive(Debug)]
pub struct NamedFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
}

impl NamedFile {
    /// Of what was just made there.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        // Relative paths mean another file once the working directory has changed.
        let path = std::path::absolute(path)?;
        let identity = identity(&path)?;
        Ok(Self { path, identity })
    }

    /// Whether this device and inode are the file's.
    #[cfg(target_os = "linux")]
    pub(crate) fn has(&self, device: u64, inode: u64) -> bool {
        self.identity == (device, inode)
    }

    /// Where it is, absolute.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it to somebody else to remove.
    pub(crate) fn keep(mut self) {
        // No file has that.
        self.path = PathBuf::new();
    }
}

impl Drop for NamedFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // Who may make one there may remove it; if that has changed the file is refused to the next one,
            // who is told.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The file's device and inode.
pub(crate) fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

pub(crate) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
