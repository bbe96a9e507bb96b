//! An object that greets. Prints its reference, and serves until it is killed.

use std::sync::Arc;

use hello::{Greeter, GreeterServant};
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("hello");

struct Polite;

impl GreeterServant for Polite {
    fn greet(&self, _: &Call, name: &str) -> Result<String, SystemException> {
        Ok(format!("hello, {name}"))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orb = Orb::builder().listen("tcp:127.0.0.1:0").build();
    let poa = orb.root_poa()?;
    let greeter = poa.activate::<Greeter>(Arc::new(Polite))?;
    poa.manager().activate()?;
    println!("{}", greeter.as_object());
    orb.run();
    Ok(())
}
