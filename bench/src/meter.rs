//! Counts the bytes that a call really puts on the wire, by standing between client and server.
//!
//! A ratio to a bare socket is only fair if the socket moves as many bytes as the messages have, headers,
//! padding and service contexts included. Computing that would repeat the system's own arithmetic, so
//! the bytes are counted where they pass: a [`Meter`] accepts the client's connection, opens one to the
//! server, and forwards.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use crate::BenchError;
use crate::system::MessageSizes;

/// Where a meter forwards to: its own clients always come by TCP, as messages are the same over every transport.
#[derive(Debug, Clone)]
pub enum Far {
    /// An address.
    Tcp(SocketAddr),
    /// A Unix socket's file.
    Unix(PathBuf),
}

/// A TCP forwarder that counts. It serves any number of connections until dropped; connections that it
/// has accepted live on until one of their ends closes.
#[derive(Debug)]
pub struct Meter {
    address: SocketAddr,
    counts: Arc<Counts>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Counts {
    request: AtomicUsize,
    reply: AtomicUsize,
    stopping: AtomicBool,
}

impl Meter {
    /// Starts forwarding to `server`.
    ///
    /// # Errors
    ///
    /// [`BenchError::Io`] if no port can be listened on.
    pub fn start(server: Far) -> Result<Meter, BenchError> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(BenchError::io("listen on 127.0.0.1"))?;
        let address = listener.local_addr().map_err(BenchError::io("read the listening address"))?;
        let counts = Arc::new(Counts::default());
        let accepting = thread::spawn({
            let counts = Arc::clone(&counts);
            move || accept(&listener, &server, &counts)
        });
        Ok(Meter { address, counts, accepting: Some(accepting) })
    }

    /// Where the client is to connect instead.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The bytes forwarded so far. Bytes are counted before they are forwarded, so once a reply has been
    /// received it is in here.
    pub fn counted(&self) -> MessageSizes {
        MessageSizes {
            request: self.counts.request.load(Ordering::Acquire),
            reply: self.counts.reply.load(Ordering::Acquire),
        }
    }

    /// The bytes of the messages that `call` causes, the call having been made once before, so that what
    /// only the first one on a connection carries is not counted.
    ///
    /// # Errors
    ///
    /// Those of `call`.
    pub fn sizes_of(
        &self,
        mut call: impl FnMut() -> Result<(), BenchError>,
    ) -> Result<MessageSizes, BenchError> {
        call()?;
        let before = self.counted();
        call()?;
        let after = self.counted();
        Ok(MessageSizes { request: after.request - before.request, reply: after.reply - before.reply })
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.counts.stopping.store(true, Ordering::Relaxed);
        // The connection that wakes the acceptor; if it cannot be made, the acceptor has ended already.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, server: &Far, counts: &Arc<Counts>) {
    for client in listener.incoming() {
        if counts.stopping.load(Ordering::Relaxed) {
            return;
        }
        // A connection that cannot be forwarded closes, and its client sees that.
        if let Ok(client) = client {
            let _ = forward_both_ways(client, server, counts);
        }
    }
}

fn forward_both_ways(client: TcpStream, server: &Far, counts: &Arc<Counts>) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let server = match server {
        Far::Tcp(address) => {
            let server = TcpStream::connect(address)?;
            server.set_nodelay(true)?;
            Server::Tcp(server)
        }
        Far::Unix(path) => Server::Unix(UnixStream::connect(path)?),
    };
    match server {
        Server::Tcp(server) => between(client, (server.try_clone()?, server), counts),
        Server::Unix(server) => between(client, (server.try_clone()?, server), counts),
    }
}

/// The connection to the server.
enum Server {
    Tcp(TcpStream),
    Unix(UnixStream),
}

fn between<S: End>(client: TcpStream, server: (S, S), counts: &Arc<Counts>) -> std::io::Result<()> {
    let (from_client, to_client) = (client.try_clone()?, client);
    let (from_server, to_server) = server;
    let (requests, replies) = (Arc::clone(counts), Arc::clone(counts));
    thread::spawn(move || forward(from_client, to_server, &requests.request));
    thread::spawn(move || forward(from_server, to_client, &replies.reply));
    Ok(())
}

/// One side of a connection.
trait End: Read + Write + Send + 'static {
    /// Ends it; that it has ended already is fine.
    fn end(&self, how: Shutdown);
}

impl End for TcpStream {
    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

impl End for UnixStream {
    fn end(&self, how: Shutdown) {
        let _ = self.shutdown(how);
    }
}

fn forward(mut from: impl End, mut to: impl End, count: &AtomicUsize) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        count.fetch_add(read, Ordering::Release);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    // One end has closed: so does this direction of the other.
    to.end(Shutdown::Write);
    from.end(Shutdown::Read);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_both_directions_of_the_second_call() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let meter = Meter::start(Far::Tcp(server.local_addr().unwrap())).unwrap();
        let serving = thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 100];
            while stream.read_exact(&mut request).is_ok() {
                stream.write_all(&[1; 24]).unwrap();
            }
        });
        let mut client = TcpStream::connect(meter.address()).unwrap();
        client.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let sizes = meter.sizes_of(|| {
            client.write_all(&[0; 100]).unwrap();
            client.read_exact(&mut [0; 24]).unwrap();
            Ok(())
        });
        assert_eq!(sizes.unwrap(), MessageSizes { request: 100, reply: 24 });
        assert_eq!(meter.counted(), MessageSizes { request: 200, reply: 48 });
        drop(client);
        serving.join().unwrap();
    }

    #[test]
    fn closes_the_client_when_the_server_is_gone() {
        // Port 1 of the loopback interface is nobody's.
        let meter = Meter::start(Far::Tcp(([127, 0, 0, 1], 1).into())).unwrap();
        let mut client = TcpStream::connect(meter.address()).unwrap();
        client.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        assert!(matches!(client.read(&mut [0; 1]), Ok(0) | Err(_)));
    }
}
