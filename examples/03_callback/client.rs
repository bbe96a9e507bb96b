//! A client that is a server too: it passes a reference to an object of its own. With a second word, `nowhere`, it listens nowhere, and is called back
//! over the connection that it opened.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use callback::{Counter, Listener, ListenerServant};
use zorb::bidirectional::Bidirectional;
use zorb::poa::PoaPolicies;
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("callback");

#[derive(Default)]
struct Ear {
    heard: AtomicI32,
}

impl ListenerServant for Ear {
    fn tick(&self, _: &Call, number: i32) -> Result<(), SystemException> {
        println!("tick {number}");
        self.heard.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn finished(&self, _: &Call, ticks: i32) -> Result<String, SystemException> {
        Ok(format!("heard {} of {ticks}", self.heard.load(Ordering::Relaxed)))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args().nth(1).ok_or("usage: callback-client REFERENCE [nowhere]")?;
    let orb = match std::env::args().nth(2).as_deref() {
        Some("nowhere") => Orb::builder().bidirectional(Bidirectional::new().offer()).build(),
        _ => Orb::builder().listen("tcp:127.0.0.1:0").build(),
    };
    let poa = orb.root_poa()?.create_child("ears", PoaPolicies::new().bidirectional())?;
    let listener = poa.activate::<Listener>(Arc::new(Ear::default()))?;
    poa.manager().activate()?; // or the callbacks would wait

    let object = orb.string_to_object(&reference)?.ok_or("the reference is nil")?;
    println!("{}", Counter::from_object(object).count(3, Some(&listener))?);
    Ok(())
}
