//! A program outside zorb's workspace that brings a [transport](masked) and a [messaging protocol](text) of its own. One server is
//! reached by four protocols: each transport by each messaging; clients choose.

mod masked;
#[path = "../../09_messaging/text.rs"]
mod text;

use std::sync::Arc;

use hello::{Greeter, GreeterServant};
use masked::Masked;
use text::Text;
use zorb::messaging::{Giop, Messaging};
use zorb::policy::Policies;
use zorb::protocols::Protocols;
use zorb::{Call, Interface, Orb, OrbBuilder, SystemException};

zorb::include_idl!("hello");

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
        Ok(format!("hello, {name}"))
    }
}

fn with_masked() -> OrbBuilder {
    Orb::builder().transport(Arc::new(Masked::new(b"example")))
}

fn with_both() -> OrbBuilder {
    let messagings: [Arc<dyn Messaging>; 2] = [Arc::new(Text), Arc::new(Giop)];
    with_masked().messagings(messagings)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = with_both().listen("tcp:127.0.0.1:0").listen("masked:127.0.0.1:0").build();
    let poa = server.root_poa()?;
    let greeter = poa.activate::<Greeter>(Arc::new(Polite))?.as_object().to_string();
    poa.manager().activate()?;

    let masked = Policies::new().protocols(Protocols::only(["masked"]));
    // Knows neither, and passes the reference on whole.
    let plain = Orb::builder().build();
    let passed_on = plain.string_to_object(&greeter)?.ok_or("the reference is nil")?;
    let passed_on = passed_on.to_string();
    let clients = [
        ("both", with_both().policies(masked.clone()).build()),
        ("the transport", with_masked().policies(masked).build()),
        ("neither", plain),
    ];
    for (knows, client) in clients {
        let object = client.string_to_object(&passed_on)?.ok_or("the reference is nil")?;
        println!("a client that knows {knows}:");
        for way in object.protocols() {
            // Without the address: its port is another each time.
            let (at, by) = way.endpoint.split_once(' ').unwrap_or((&way.endpoint, ""));
            let transport = at.split(':').next().unwrap_or_default();
            println!("  {}: {}", format!("{transport} {by}").trim_end(), way.verdict);
        }
        println!("  {}", Greeter::from_object(object).greet("world")?);
    }
    Ok(())
}
