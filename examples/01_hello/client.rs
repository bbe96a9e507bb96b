//! Calls the object whose reference is its argument.

use hello::Greeter;
use zorb::{Interface, Orb};

zorb::include_idl!("hello");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let reference = std::env::args().nth(1).ok_or("usage: hello-client REFERENCE")?;
    let orb = Orb::builder().build();
    let object = orb.string_to_object(&reference)?.ok_or("the reference is nil")?;
    let greeter = Greeter::from_object(object);
    println!("{}", greeter.greet("world")?);
    Ok(())
}
