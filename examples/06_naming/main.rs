//! Names for objects: binds a greeter in a naming service, then finds it by `corbaname:`.

use std::error::Error;
use std::sync::Arc;

use hello::{Greeter, GreeterServant};
use zorb::naming::CosNaming::NamingContext;
use zorb::naming::name;
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("hello");

const USAGE: &str = "usage: naming HOST:PORT

A naming service must run there. omniORB's comes with Debian:

    apt-get install omniorb-nameserver
    mkdir names && omniNames -start 2809 -logdir names

Then: naming localhost:2809";

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
        Ok(format!("hello, {name}"))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(host) = std::env::args().nth(1) else {
        println!("{USAGE}");
        return Ok(());
    };
    let builder = Orb::builder()
        .listen("tcp:127.0.0.1:0")
        .initial_reference("NameService", format!("corbaloc::{host}/NameService"));
    // The ORB knows no service; this teaches it `corbaname:`.
    let orb = zorb::naming::install(builder).build();
    let poa = orb.root_poa()?;
    let greeter = poa.activate::<Greeter>(Arc::new(Polite))?;
    poa.manager().activate()?;

    let names = orb.resolve_initial_references("NameService")?;
    let names = NamingContext::narrow(&names)?.ok_or("that is no naming context")?;
    names.rebind(&name::parse("example.greeter")?, Some(greeter.as_object()))?;

    // Any program, in any language, finds it by this text.
    let url = format!("corbaname::{host}#example.greeter");
    let found = orb.string_to_object(&url)?.ok_or("nil was bound")?;
    println!("{}", Greeter::from_object(found).greet("names")?);
    Ok(())
}
