//! Unix sockets: within a machine, by a file or by a name that the kernel keeps.

#[cfg(target_os = "linux")]
mod credentials;
mod datagram;
mod file;
#[cfg(target_os = "linux")]
mod passing;
#[cfg(target_os = "linux")]
mod seqpacket;
mod stream;

#[cfg(target_os = "linux")]
pub use credentials::{Credentials, ReceiveCredentials};
pub use datagram::{ConnectedUnixDatagramSocket, UnixDatagram, UnixDatagramSocket};
#[cfg(target_os = "linux")]
pub use passing::Passed;
#[cfg(target_os = "linux")]
pub use seqpacket::{Seqpacket, SeqpacketAcceptor, SeqpacketAcceptorOptions, SeqpacketConnector};
pub use stream::{Unix, UnixAcceptor, UnixConnector, UnixStream};
