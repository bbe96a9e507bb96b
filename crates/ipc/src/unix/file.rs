//! The file of a Unix socket: it comes with `bind` and stays behind unless somebody removes it.

use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileTypeExt;

use rustix::io::Errno;
use rustix::net::bind;

pub(super) use crate::named_file::{NamedFile as SocketFile, errno};
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
    // Connecting to a file of another kind is refused as it is where nobody listens.
    let is_socket = || fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if bound == Err(Errno::ADDRINUSE) && is_socket() && is_abandoned().map_err(failed)? {
        fs::remove_file(path).map_err(|error| failed(errno(&error)))?;
        bound = bind(fd, &address);
    }
    bound.map_err(failed)?;
    SocketFile::at(path).map(Some).map_err(|error| failed(errno(&error)))
}

#[cfg(test)]
mod tests {
    use crate::{AcceptorOptions, UnixAcceptor, UnixAddress};

    #[test]
    fn a_file_that_is_no_socket_is_never_replaced() {
        let path = std::env::temp_dir().join(format!("zorb-ipc-no-socket-{}", std::process::id()));
        std::fs::write(&path, "kept").unwrap();
        let options = AcceptorOptions::new().replace_abandoned(true);
        let refused = UnixAcceptor::bind(UnixAddress::path(&path).unwrap(), &options).unwrap_err();
        assert!(refused.is_address_in_use(), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
        std::fs::remove_file(&path).unwrap();
    }
}
