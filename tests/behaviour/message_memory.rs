//! What the large messages of an ORB may hold together, and buffers that are made for them beforehand.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zorb::{Kind, Orb};
use zorb_tests::darkroom_servant::octets;
use zorb_tests::servant::{PATIENCE, Servant};
use zorb_tests::testing::Probe;

use crate::fixture::{Place, probe, serve};

const KIB: usize = 1 << 10;

fn echoes(probe: &Probe, size: usize) -> Result<(), zorb::SystemException> {
    let data = octets(size);
    assert!(probe.echo(&data)?[..] == data[..], "other octets than were sent");
    Ok(())
}

/// The same behind other large messages: what one has held is let go of a moment after its answer, and not a second later, when idle connections are
/// looked at.
fn echoes_soon(probe: &Probe, size: usize) {
    let has_room = (0..20).any(|_| {
        let answer = echoes(probe, size);
        answer.is_ok() || {
            thread::sleep(Duration::from_millis(10));
            false
        }
    });
    assert!(has_room, "what others have held is not given back");
}

fn a_server_holds_no_more_than_it_may_and_goes_on(at: Place) {
    let (server, text) = serve(at.server().message_memory(1 << 20), Arc::new(Servant::new(1)));
    let client = at.client().build();
    let there = probe(&client, &text);
    for _ in 0..3 {
        echoes(&there, 100 * KIB).unwrap();
        echoes(&there, 600 * KIB).unwrap();
        let refused = echoes(&there, 2048 * KIB).unwrap_err();
        assert_eq!(refused.kind, Kind::CommFailure, "{refused}");
        // Also where more was on its way than the transport holds: the server throws it away, and the client reads its answer.
        assert!(refused.to_string().contains("MessageError"), "{refused}");
        echoes(&there, 16).unwrap();
    }
    // What idle connections hold is not kept from others: each of these has had a large message.
    let others: Vec<Orb> = (0..4).map(|_| at.client().build()).collect();
    for other in &others {
        echoes_soon(&probe(other, &text), 600 * KIB);
    }
    server.shutdown(true, Duration::from_secs(5));
}

fn a_client_holds_no_more_than_it_may_and_goes_on(at: Place) {
    let (server, text) = serve(at.server(), Arc::new(Servant::new(1)));
    let client = at.client().message_memory(1 << 20).build();
    let there = probe(&client, &text);
    for _ in 0..3 {
        echoes(&there, 600 * KIB).unwrap();
        let refused = echoes(&there, 2048 * KIB).unwrap_err();
        assert_eq!(refused.kind, Kind::ImpLimit, "{refused}");
        assert!(refused.to_string().contains("message_memory"), "{refused}");
        let refused = there.echo_async(vec![1; 2048 * KIB].into()).wait().unwrap_err();
        assert_eq!(refused.kind, Kind::ImpLimit, "{refused}");
        echoes(&there, 16).unwrap();
    }
    server.shutdown(true, Duration::from_secs(5));
}

fn buffers_made_beforehand_serve_again_and_again(at: Place) {
    // Nothing else may be allocated for what is large.
    let builder = at.server().message_memory(0).message_buffers(2, 1024 * KIB);
    let (server, text) = serve(builder, Arc::new(Servant::new(1)));
    let clients: Vec<Orb> = (0..4).map(|_| at.client().build()).collect();
    let probes: Vec<Probe> = clients.iter().map(|client| probe(client, &text)).collect();
    for probe in probes.iter().cycle().take(20) {
        echoes_soon(probe, 1000 * KIB);
    }
    let refused = echoes(&probes[0], 1100 * KIB).unwrap_err();
    assert_eq!(refused.kind, Kind::CommFailure, "{refused}");
    echoes_soon(&probes[0], 1000 * KIB);
    server.shutdown(true, PATIENCE);
}

over! {
    a_server_holds_no_more_than_it_may_and_goes_on,
    a_client_holds_no_more_than_it_may_and_goes_on,
    buffers_made_beforehand_serve_again_and_again,
}
