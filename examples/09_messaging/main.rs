//! Two ORBs that speak a [messaging protocol of one's own](text), and a third that has never heard of it. The server listens on one port
//! for both; the library knows nothing of the protocol.

mod text;

use std::sync::Arc;

use hello::{Greeter, GreeterServant};
use text::Text;
use zorb::messaging::{Giop, Messaging};
use zorb::{Call, Interface, Orb, OrbBuilder, SystemException};

zorb::include_idl!("hello");

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
        Ok(format!("hello, {name}"))
    }
}

/// Speaks text where the other side does, and GIOP elsewhere.
fn with_text() -> OrbBuilder {
    let messagings: [Arc<dyn Messaging>; 2] = [Arc::new(Text), Arc::new(Giop)];
    Orb::builder().messagings(messagings)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = with_text().listen("tcp:127.0.0.1:0").build();
    let poa = server.root_poa()?;
    let greeter = poa.activate::<Greeter>(Arc::new(Polite))?.as_object().to_string();
    poa.manager().activate()?;
    for (name, client) in [("a client with text", with_text()), ("any other", Orb::builder())] {
        let client = client.build();
        let object = client.string_to_object(&greeter)?.ok_or("the reference is nil")?;
        let ways = object.protocols();
        let by_text = ways.first().is_some_and(|way| way.endpoint.ends_with(" by text"));
        println!("{name} speaks {}", if by_text { "text" } else { "GIOP" });
        println!("{}", Greeter::from_object(object).greet("world")?);
    }
    Ok(())
}
