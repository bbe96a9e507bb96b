//! Unix sockets: within a machine, by a file or by a name that the kernel keeps.

mod credentials;
mod datagram;
mod file;
mod passing;
mod stream;

pub use credentials::{Credentials, ReceiveCredentials};
pub use datagram::{ConnectedUnixDatagramSocket, UnixDatagram, UnixDatagramSocket};
pub use passing::Passed;
pub use stream::{Unix, UnixAcceptor, UnixConnector, UnixStream};
