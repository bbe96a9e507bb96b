//! What the Rust peers have in common: arguments, sockets, the command loop of `drive`, the patterns of a flood and
//! their check. How calls are made and buffers sent is each peer's own: a [`Driver`]. The protocol stands in
//! `bench/peers/README.md`.
//!
//! Everything runs on one thread, which is fastest for each of these peers: what wakes a task need not wake a thread.

mod arguments;
mod call;
mod commands;
mod flood;
mod sockets;

use std::io::{Read, Write};
use std::process::ExitCode;

pub use arguments::Settings;
pub use call::{Kind, Mixed, Value};
pub use commands::{Call, Driver, Flooded};
pub use flood::{Element, Receiver, character, pattern};
pub use sockets::{Listener, Stream, connect};

use tokio::task::LocalSet;

/// Why a command failed, in words for a person.
pub type Failure = Box<dyn std::error::Error>;

/// The whole program: reads its arguments, and plays the role that they name.
///
/// `serve` gets a listener and serves for ever; `connect` makes a driver that has a connection.
pub fn run<D: Driver>(
    serve: impl AsyncFnOnce(Listener, Settings) -> Result<(), Failure>,
    connect: impl AsyncFnOnce(Settings) -> Result<D, Failure>,
) -> ExitCode {
    let settings = match Settings::read(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    sockets::raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime can be made");
    let played = LocalSet::new().block_on(&runtime, async {
        match settings.address.is_empty() {
            true => {
                let listener = Listener::open(&settings)?;
                announce(&listener)?;
                serve(listener, settings).await
            }
            false => commands::run(connect(settings).await?).await,
        }
    });
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{}", describe(&*failure));
            ExitCode::FAILURE
        }
    }
}

/// Prints the address, and from now on ends the process when its input does.
fn announce(listener: &Listener) -> Result<(), Failure> {
    println!("ready {}", listener.address());
    std::io::stdout().flush()?;
    let path = listener.path();
    std::thread::spawn(move || {
        while matches!(std::io::stdin().read(&mut [0; 256]), Ok(1..)) {}
        if let Some(path) = path {
            let _ = std::fs::remove_file(path);
        }
        std::process::exit(0)
    });
    Ok(())
}

/// An error with its causes, on one line: in these libraries the outermost often says little.
fn describe(failure: &dyn std::error::Error) -> String {
    let mut text = failure.to_string();
    let mut inner = failure.source();
    while let Some(cause) = inner {
        text = format!("{text}: {cause}");
        inner = cause.source();
    }
    text.replace('\n', " ")
}
