//! Calls the client back while the client waits for its call.

use std::sync::Arc;

use callback::{Counter, CounterServant, Listener};
use zorb::bidirectional::{Accept, Bidirectional};
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("callback");

struct Patient;

impl CounterServant for Patient {
    fn count(&self, _: &Call, to: i32, listener: Option<Listener>) -> Result<String, SystemException> {
        let listener = listener.ok_or_else(|| SystemException::BadParam("nobody listens"))?;
        for number in 1..=to {
            listener.tick(number)?; // returns when the message has left
        }
        // Made by the same thread on the same reference, so it arrives behind the oneways, and starts when they returned.
        listener.finished(to)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder()
        .listen("tcp:127.0.0.1:0")
        .bidirectional(Bidirectional::new().accept(Accept::PeerAddress)) // for clients that listen nowhere
        .build();
    let poa = orb.root_poa()?;
    let counter = poa.activate::<Counter>(Arc::new(Patient))?;
    poa.manager().activate()?;
    println!("{}", counter.as_object());
    orb.run();
    Ok(())
}
