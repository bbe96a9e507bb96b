//! Idle connections to a zorb server: bare sockets, each of which has made one null call.
//!
//! An ORB for each would be what a client process is, and its threads the measuring machine's burden; the server sees
//! no difference. The request is composed here (GIOP 1.2, CORBA 3.3 part 2, 9.4.2), the reply's status looked at.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use zorb::giop::{IiopProfile, Ior};

use super::{NAME, failed};
use crate::BenchError;

/// How long one connection's call may take.
const WITHIN: Duration = Duration::from_secs(60);

/// Octets of a message's head, and of a reply's up to its status.
const HEAD: usize = 12;
const STATUS: usize = 8;

/// Opens a connection to where the reference leads, and makes the null call `ping` on it.
pub(super) fn open(reference: &Ior) -> Result<TcpStream, BenchError> {
    let profile = reference.profiles.first().ok_or_else(|| failed("the reference is nil"))?;
    let profile = IiopProfile::decode(profile).map_err(failed)?;
    let host = profile.host.parse().map_err(|_| failed(format!("{} is not numeric", profile.host)))?;
    let address = SocketAddr::new(host, profile.port);
    let step = || BenchError::io(format!("open an idle connection to {address}"));
    let mut stream = TcpStream::connect(address).map_err(step())?;
    stream.set_read_timeout(Some(WITHIN)).map_err(step())?;
    stream.write_all(&request(&profile.object_key)).map_err(step())?;
    let mut head = [0; HEAD];
    stream.read_exact(&mut head).map_err(step())?;
    // The server answers in the request's byte order or its own: this machine's, as the server is here.
    let size = head.last_chunk().map_or(0, |&size| u32::from_ne_bytes(size));
    let mut body = vec![0; (size as usize).min(1 << 16)];
    stream.read_exact(&mut body).map_err(step())?;
    match (&head[..4], body.get(4..STATUS)) {
        (b"GIOP", Some([0, 0, 0, 0])) => Ok(stream),
        _ => {
            Err(BenchError::Corrupt { system: NAME, what: "a null call was not answered as one".to_owned() })
        }
    }
}

/// `ping` of the object with this key, in this machine's byte order.
fn request(key: &[u8]) -> Vec<u8> {
    const WITH_TARGET: u8 = 3;
    const OPERATION: &[u8] = b"ping\0";
    let mut body = Vec::new();
    let align = |body: &mut Vec<u8>| body.resize(body.len().next_multiple_of(4), 0);
    body.extend(1_u32.to_ne_bytes());
    body.extend([WITH_TARGET, 0, 0, 0]);
    // The target by its key, which is addressing mode 0.
    body.extend(0_u32.to_ne_bytes());
    body.extend((key.len() as u32).to_ne_bytes());
    body.extend(key);
    align(&mut body);
    body.extend((OPERATION.len() as u32).to_ne_bytes());
    body.extend(OPERATION);
    align(&mut body);
    // No service contexts.
    body.extend(0_u32.to_ne_bytes());
    let mut message = b"GIOP\x01\x02".to_vec();
    message.extend([u8::from(cfg!(target_endian = "little")), 0]);
    message.extend((body.len() as u32).to_ne_bytes());
    message.extend(body);
    message
}
