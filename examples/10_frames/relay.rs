//! A way between sender and receiver that loses datagrams.

use std::error::Error;
use std::net::UdpSocket;

use zorb::giop::{IiopProfile, Ior, UdpEndpoint};

/// Hands datagrams on to `to`.
pub(crate) struct Relay {
    socket: UdpSocket,
    to: (String, u16),
}

impl Relay {
    /// Hands on the datagrams for which `passes` says so, of which it gets the place, from 0 on. Does not return.
    pub(crate) fn run(self, passes: impl Fn(usize) -> bool) {
        let mut datagram = vec![0; 1 << 16];
        for number in 0.. {
            if let Ok(octets) = self.socket.recv(&mut datagram)
                && passes(number)
            {
                let _ = self.socket.send_to(&datagram[..octets], (self.to.0.as_str(), self.to.1));
            }
        }
    }
}

/// The same reference, with the relay's address in the place of the server's UDP endpoint; and the relay.
pub(crate) fn through(reference: &str) -> Result<(String, Relay), Box<dyn Error>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let mut ior: Ior = reference.parse()?;
    let mut profile = IiopProfile::decode(&ior.profiles[0])?;
    let mut to = None;
    for component in &mut profile.components {
        if let Ok(endpoint) = UdpEndpoint::decode(component) {
            to = Some((endpoint.host, endpoint.port));
            let port = socket.local_addr()?.port();
            *component = UdpEndpoint { host: "127.0.0.1".to_owned(), port }.encode()?;
        }
    }
    ior.profiles[0] = profile.encode()?;
    let to = to.ok_or("the reference names no UDP endpoint")?;
    Ok((ior.to_string(), Relay { socket, to }))
}
