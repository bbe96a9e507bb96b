//! A place between clients and a server, at which it is heard what the clients send.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use zorb::giop::{IiopProfile, Ior};

/// What clients send to a server, by connection: it stands in between, where its reference leads.
pub(crate) struct Tap {
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
    /// The server's, which leads here.
    pub(crate) reference: String,
}

impl Tap {
    pub(crate) fn before(text: &str) -> Tap {
        let mut ior: Ior = text.parse().unwrap();
        let mut profile = IiopProfile::decode(&ior.profiles[0]).unwrap();
        let server = (profile.host.clone(), profile.port);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        profile.port = listener.local_addr().unwrap().port();
        ior.profiles = vec![profile.encode().unwrap()];
        let heard = Arc::new(Mutex::new(Vec::new()));
        let tap = Tap { heard: heard.clone(), reference: ior.to_string() };
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(server.clone())) else { return };
                let index = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(Vec::new());
                    heard.len() - 1
                };
                let heard = heard.clone();
                let (back, forth) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let note = move |octets: &[u8]| heard.lock().unwrap()[index].extend_from_slice(octets);
                std::thread::spawn(move || carry(client, forth, note));
                std::thread::spawn(move || carry(server, back, |_| {}));
            }
        });
        tap
    }

    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().unwrap().clone()
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, note: impl Fn(&[u8])) {
    let mut octets = [0; 4096];
    while let Ok(count) = from.read(&mut octets) {
        if count == 0 {
            break;
        }
        note(&octets[..count]);
        if to.write_all(&octets[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
