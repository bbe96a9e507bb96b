//! A bridge copies no bulk: a body is received once, and sent on from where it lies.
//!
//! `cargo test -p zorb-bridge --features probes`. Both peers are bare sockets, so that whatever is counted in this process is
//! the bridge's.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use zorb_bridge::{Bridge, Settings};
use zorb_cdr::copies::so_far;
use zorb_giop::{Header, IiopProfile, Limits};
use zorb_orb::Orb;

/// Octets of the bodies. The first is below what a connection may make its receiver hold by announcing it
/// ([`zorb_giop::Limits::first_grant`]): it is received where it stays. Of a larger one that much is moved, once.
const BODIES: [usize; 3] = [192 << 10, 1 << 20, 16 << 20];

/// A GIOP 1.2 message, big-endian, with this head after the message's header and such a body.
fn message(kind: u8, head: &[u8], body: usize) -> Vec<u8> {
    let mut message = vec![b'G', b'I', b'O', b'P', 1, 2, 0, kind, 0, 0, 0, 0];
    message.extend(head);
    message.resize(message.len().next_multiple_of(8), 0);
    message.extend((0..body).map(|index| (index % 251) as u8));
    let size = u32::try_from(message.len() - 12).unwrap();
    message[8..12].copy_from_slice(&size.to_be_bytes());
    message
}

fn request(key: &[u8], body: usize) -> Vec<u8> {
    let mut head = vec![0, 0, 0, 7, 3, 0, 0, 0, 0, 0, 0, 0];
    head.extend(u32::try_from(key.len()).unwrap().to_be_bytes());
    head.extend(key);
    head.resize(head.len().next_multiple_of(4), 0);
    head.extend(*b"\0\0\0\x04put\0\0\0\0\0");
    message(0, &head, body)
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
    BODIES.into_iter().for_each(passes);
}

fn passes(body: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let calls = if body < 16 << 20 { 20 } else { 8 };
    let target = thread::spawn(move || {
        let mut bridge = listener.accept().unwrap().0;
        let wanted = message(1, &[], body);
        for _ in 0..calls {
            let request = receive(&mut bridge);
            assert!(request.ends_with(&wanted[12..]), "the body came as it was");
            let mut head = request[12..16].to_vec();
            head.extend([0; 8]);
            bridge.write_all(&message(1, &head, body)).unwrap();
        }
    });
    let outside = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let inside = Orb::builder().build();
    let bridge = Bridge::between(&outside, &inside, Settings::default()).unwrap();
    let to = inside.string_to_object(&format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key")).unwrap().unwrap();
    let exported = bridge.export(&to).unwrap();
    let profile = IiopProfile::decode(&exported.ior().profiles[0]).unwrap();
    let mut client = TcpStream::connect((&*profile.host, profile.port)).unwrap();
    let sent = request(&profile.object_key, body);
    let mut counts = Vec::new();
    for _ in 0..calls {
        let before = so_far();
        client.write_all(&sent).unwrap();
        let reply = receive(&mut client);
        assert!(reply.ends_with(&sent[sent.len() - body..]), "the result came as it was");
        counts.push(so_far() - before);
    }
    target.join().unwrap();
    counts.sort_unstable();
    let (usual, most) = (counts[calls / 4], counts[calls - 1]);
    println!("octets copied for {} that pass: {usual} as a rule, {most} at most", 2 * body);
    let limits = Limits::default();
    let (first, small) = (limits.first_grant, limits.receive_buffer);
    // The heads, and of a large body in each direction what came before its sender had earned memory for all of it.
    let moved = if body + 4096 < first { 0 } else { 2 * first };
    assert!(usual < moved + 1024, "{counts:?}");
    // What was received before the buffer had grown to the first grant is moved once for that. A client that does not read a
    // reply in the server's patience leaves it to the keeper, by a copy.
    assert!(most < moved + 2 * small + 1024 + body, "{counts:?}");
}
