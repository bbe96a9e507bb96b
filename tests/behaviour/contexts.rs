//! Service contexts: what comes beside a request reaches the servant as it came, whether or not zorb knows it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use zorb::giop::IiopProfile;
use zorb::{Call, Interface, SystemException};
use zorb_tests::servant::PATIENCE;
use zorb_tests::testing::{Probe, ProbeServant};
use zorb_tests::unserved;
use zorb_tests::wire::{DIALECTS, Wire};

use crate::fixture::Place;

/// Ids and data of service contexts.
type Contexts = Vec<(u32, Vec<u8>)>;

/// Remembers the contexts of each call.
#[derive(Default)]
struct Listener(Mutex<Vec<Contexts>>);

impl ProbeServant for Listener {
    fn nothing(&self, cx: &Call) -> Result<(), SystemException> {
        let contexts = cx.contexts().iter().map(|context| (context.id.0, context.data.to_vec()));
        let contexts = contexts.collect();
        // What is made up to look like a frame's is a context like others.
        assert_eq!(cx.frame(), None);
        self.0.lock().unwrap().push(contexts);
        Ok(())
    }
    unserved!();
}

#[test]
fn a_servant_sees_the_contexts_of_its_call_known_or_not() {
    let at = Place::TCP;
    let orb = at.server().build();
    let poa = orb.root_poa().unwrap();
    let listener = Arc::new(Listener::default());
    let probe = poa.activate::<Probe>(listener.clone()).unwrap();
    poa.manager().activate().unwrap();
    let profile = IiopProfile::decode(&probe.as_object().ior().profiles[0]).unwrap();
    // Code sets (Latin-1 and UTF-16), two that nobody knows, of which one has no data, and one of them again.
    let code_sets = [1, 0, 0, 0, 1, 0, 1, 0, 9, 1, 1, 0];
    let frame = zorb::giop::ContextId::ZORB_FRAME.0;
    let contexts: [(u32, &[u8]); 5] = [
        (0x7a6f_7262, b"kept"),
        (1, &code_sets),
        (0xffff_ffff, b""),
        (frame, &[7; 20]),
        (0x7a6f_7262, b"kept too"),
    ];
    for dialect in DIALECTS {
        let mut stream = TcpStream::connect((&*profile.host, profile.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        for contexts in [&contexts[..], &[]] {
            let request =
                Wire::request_with(dialect, 1, (0, &profile.object_key), "nothing", contexts).done();
            stream.write_all(&request).unwrap();
            assert_ne!(stream.read(&mut [0; 256]).unwrap(), 0, "{dialect:?}: it is answered");
        }
        let seen = std::mem::take(&mut *listener.0.lock().unwrap());
        let sent: Contexts = contexts.iter().map(|&(id, data)| (id, data.to_vec())).collect();
        assert_eq!(seen, [sent, Vec::new()], "{dialect:?}");
    }
    // A call from here brings none.
    probe.nothing().unwrap();
    assert_eq!(*listener.0.lock().unwrap(), [Vec::new()]);
}
