//! Finds IDL files on the disk.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use zorb_idl::{Loaded, Loader};

/// Reads files, and looks for included ones in a list of folders.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    folders: Vec<PathBuf>,
}

impl Disk {
    /// A loader that looks for included files in these folders, in this order.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Disk {
        Disk { folders: folders.into_iter().collect() }
    }
}

impl Loader for Disk {
    fn main(&self, path: &str) -> Result<Vec<u8>, String> {
        read(Path::new(path))?.ok_or_else(|| "no such file".to_owned())
    }

    fn include(&self, name: &str, from: &str, quoted: bool) -> Result<Option<Loaded>, String> {
        let beside = quoted.then(|| Path::new(from).parent().unwrap_or(Path::new("")).to_owned());
        for folder in beside.iter().chain(&self.folders) {
            let path = folder.join(name);
            if let Some(text) = read(&path)? {
                return Ok(Some(Loaded { path: plain(&path), text }));
            }
        }
        Ok(None)
    }
}

/// What is in a file, `None` if there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match fs::read(path) {
        Ok(octets) => Ok(Some(octets)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(_) if path.is_dir() => Err("it is a folder".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The same name however the file was found: without `.` and, where that leads to no other file, `..`.
fn plain(path: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}
