// A path may be too long for a Unix address: making one says so.

use std::path::Path;
use zorb_ipc::{AcceptorOptions, UnixAcceptor};

fn wrong(path: &Path) {
    UnixAcceptor::bind(path, &AcceptorOptions::new());
}

fn main() {}
