//! A bridge copies no bulk: a body is received once, and sent on from where it lies.
//!
//! `cargo test -p zorb-bridge --features probes`. Both peers are bare sockets, so that whatever is counted in this process is
//! the bridge's.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use zorb_bridge::{Bridge, Settings};
use zorb_cdr::copies::so_far;
use zorb_giop::{Header, IiopProfile, Limits};
use zorb_orb::Orb;

/// Octets of the bodies. The first is below what a connection may make its receiver hold by announcing it
/// ([`zorb_giop::Limits::first_grant`]): it is received where it stays. Of a larger one that much is moved, once.
const BODIES: [usize; 3] = [192 << 10, 1 << 20, 16 << 20];

/// Calls of which is said what they copy.
const CALLS: usize = 8;

/// In less than this their replies have come: what is left of one after a server's patience of 100 ms is its keeper's, in a copy.
const PROMPT: Duration = Duration::from_millis(90);

/// By when there are as many as that, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

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
fn receive(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut header = [0; 12];
    from.read_exact(&mut header)?;
    let mut message = vec![0; Header::parse(&header).unwrap().total()];
    message[..12].copy_from_slice(&header);
    from.read_exact(&mut message[12..])?;
    Ok(message)
}

#[test]
fn a_body_is_sent_on_from_where_it_was_received() {
    BODIES.into_iter().for_each(passes);
}

fn passes(body: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Made beforehand: unoptimised that takes long.
    let mut reply = message(1, &[0; 12], body);
    let target = thread::spawn(move || {
        let mut bridge = listener.accept().unwrap().0;
        while let Ok(request) = receive(&mut bridge) {
            assert!(request.ends_with(&reply[reply.len() - body..]), "the body came as it was");
            reply[12..16].copy_from_slice(&request[12..16]);
            bridge.write_all(&reply).unwrap();
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
    let (mut counts, by) = (Vec::new(), Instant::now() + PATIENCE);
    while counts.len() < CALLS {
        let before = so_far();
        client.write_all(&sent).unwrap();
        let asked = Instant::now();
        let reply = receive(&mut client).unwrap();
        if asked.elapsed() < PROMPT {
            counts.push(so_far() - before);
        }
        assert!(reply.ends_with(&sent[sent.len() - body..]), "the result came as it was");
        assert!(Instant::now() < by, "too many replies were held up");
    }
    drop(client);
    outside.shutdown(true, PATIENCE);
    inside.shutdown(true, PATIENCE);
    target.join().unwrap();
    counts.sort_unstable();
    println!("octets copied for {} that pass: {counts:?}", 2 * body);
    let limits = Limits::default();
    let (first, small) = (limits.first_grant, limits.receive_buffer);
    // The heads, and of a large body in each direction what came before its sender had earned memory for all of it.
    let moved = if body + 4096 < first { 0 } else { 2 * first };
    assert!(counts[CALLS / 4] < moved + 1024, "{counts:?}");
    // What was received before the buffer had grown to the first grant is moved once for that.
    assert!(counts[CALLS - 1] < moved + 2 * small + 1024, "{counts:?}");
}
