//! A bridge copies no bulk: a body is received once, and sent on from where it lies.
//!
//! `cargo test -p zorb-bridge --features probes`. Both peers are bare sockets, so that whatever is counted in this process is
//! the bridge's.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use zorb_bridge::{Bridge, Settings};
use zorb_cdr::copies::so_far;
use zorb_giop::{Header, IiopProfile};
use zorb_orb::Orb;

/// Below what a connection may make its receiver hold by announcing it ([`zorb_giop::Limits::first_grant`]). Memory for more is
/// granted piece by piece as it arrives, and what is there is moved, which is the receiver's work in any process.
const BODY: usize = 192 << 10;

/// A GIOP 1.2 message, big-endian, with this head after the message's header and a body of `BODY` octets.
fn message(kind: u8, head: &[u8]) -> Vec<u8> {
    let mut message = vec![b'G', b'I', b'O', b'P', 1, 2, 0, kind, 0, 0, 0, 0];
    message.extend(head);
    message.resize(message.len().next_multiple_of(8), 0);
    message.extend((0..BODY).map(|index| (index % 251) as u8));
    let size = u32::try_from(message.len() - 12).unwrap();
    message[8..12].copy_from_slice(&size.to_be_bytes());
    message
}

fn request(key: &[u8]) -> Vec<u8> {
    let mut head = vec![0, 0, 0, 7, 3, 0, 0, 0, 0, 0, 0, 0];
    head.extend(u32::try_from(key.len()).unwrap().to_be_bytes());
    head.extend(key);
    head.resize(head.len().next_multiple_of(4), 0);
    head.extend(*b"\0\0\0\x04put\0\0\0\0\0");
    message(0, &head)
}

/// The next message, whole.
fn receive(from: &mut TcpStream) -> Vec<u8> {
    let mut message = vec![0; 12];
    from.read_exact(&mut message).unwrap();
    let whole = Header::parse(message.first_chunk().unwrap()).unwrap().total();
    message.resize(whole, 0);
    from.read_exact(&mut message[12..]).unwrap();
    message
}

#[test]
fn a_body_is_sent_on_from_where_it_was_received() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    const CALLS: usize = 20;
    let target = thread::spawn(move || {
        let mut bridge = listener.accept().unwrap().0;
        for _ in 0..CALLS {
            let request = receive(&mut bridge);
            assert!(request.ends_with(&message(1, &[])[12..]), "the body came as it was");
            let mut head = request[12..16].to_vec();
            head.extend([0; 8]);
            bridge.write_all(&message(1, &head)).unwrap();
        }
    });
    let outside = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let inside = Orb::builder().build();
    let bridge = Bridge::between(&outside, &inside, Settings::default()).unwrap();
    let to = inside.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key")).unwrap().unwrap();
    let exported = bridge.export(&to).unwrap();
    let profile = IiopProfile::decode(&exported.ior().profiles[0]).unwrap();
    let mut client = TcpStream::connect((&*profile.host, profile.port)).unwrap();
    let sent = request(&profile.object_key);
    let mut counts = Vec::new();
    for _ in 0..CALLS {
        let before = so_far();
        client.write_all(&sent).unwrap();
        let reply = receive(&mut client);
        assert!(reply.ends_with(&sent[sent.len() - BODY..]), "the result came as it was");
        counts.push(so_far() - before);
    }
    target.join().unwrap();
    counts.sort_unstable();
    let (usual, most) = (counts[CALLS / 2], counts[CALLS - 1]);
    println!("octets copied for {} that pass: {usual} as a rule, {most} at most", 2 * BODY);
    // The heads. What was received before the buffer had grown to this size is moved once.
    assert!(usual < 1024, "{counts:?}");
}
