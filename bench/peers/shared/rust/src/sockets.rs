//! Connections of either transport, with the queues that were asked for.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::process::{Resource, getrlimit, setrlimit};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio_util::either::Either;

use crate::Settings;

/// A connection.
pub type Stream = Either<TcpStream, UnixStream>;

const UNIX: &str = "unix:";

/// Connects to a server, with `TCP_NODELAY`.
///
/// # Errors
///
/// Whatever the operating system says.
pub async fn connect(settings: &Settings) -> io::Result<Stream> {
    if let Some(path) = settings.address.strip_prefix(UNIX) {
        let stream = UnixStream::connect(path).await?;
        set_queues(SockRef::from(&stream), settings.queue)?;
        return Ok(Either::Right(stream));
    }
    let address: SocketAddr = settings.address.parse().map_err(io::Error::other)?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    set_queues(SockRef::from(&socket), settings.queue)?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(Either::Left(stream))
}

/// Where a server takes connections.
#[derive(Debug)]
pub enum Listener {
    /// Over TCP; connections inherit its queues.
    Tcp(TcpListener),
    /// Over Unix sockets, which do not inherit.
    Unix(UnixListener, Option<usize>),
}

impl Listener {
    /// Listens at the port it is told, or at a port or path that is free.
    pub(crate) fn open(settings: &Settings) -> io::Result<Listener> {
        if settings.unix {
            let path = std::env::temp_dir().join(format!("peer-{}.socket", std::process::id()));
            return Ok(Listener::Unix(UnixListener::bind(path)?, settings.queue));
        }
        let socket = if settings.host.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        set_queues(SockRef::from(&socket), settings.queue)?;
        socket.bind(SocketAddr::new(settings.host, settings.port))?;
        // The longest queue of connections that arrive at once; the kernel shortens it to what it allows.
        Ok(Listener::Tcp(socket.listen(4096)?))
    }

    /// The next connection, with `TCP_NODELAY`.
    ///
    /// # Errors
    ///
    /// Whatever the operating system says.
    pub async fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Either::Left(stream))
            }
            Listener::Unix(listener, queue) => {
                let (stream, _) = listener.accept().await?;
                set_queues(SockRef::from(&stream), *queue)?;
                Ok(Either::Right(stream))
            }
        }
    }

    pub(crate) fn address(&self) -> String {
        match self {
            Listener::Tcp(listener) => listener.local_addr().expect("a listener has an address").to_string(),
            Listener::Unix(..) => format!("{UNIX}{}", self.path().unwrap_or_default().display()),
        }
    }

    /// The socket's file, if it has one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Listener::Tcp(_) => None,
            Listener::Unix(listener, _) => listener.local_addr().ok()?.as_pathname().map(PathBuf::from),
        }
    }
}

fn set_queues(socket: SockRef<'_>, queue: Option<usize>) -> io::Result<()> {
    if let Some(octets) = queue {
        socket.set_send_buffer_size(octets)?;
        socket.set_recv_buffer_size(octets)?;
    }
    Ok(())
}

/// Thousands of idle connections are asked for; the usual soft limit is 1,024 descriptors.
pub(crate) fn raise_descriptor_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
