//! The echo server over handles: `echo-server [ADDRESS]`, such as `tcp:127.0.0.1:7000`, `unix:/tmp/echo`, `shm:/tmp/echo` or
//! `vsock:any:7000`. Prints where it listens, and serves one peer after the other until it is killed.

use std::io::IoSlice;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use zorb_ipc::{Address, ByteStream, Error, Shm, StreamTransport, Tcp, Unix, Vsock};

/// How long a peer may say nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends back what comes, until the peer ends.
fn echo(stream: &impl ByteStream) -> Result<(), Error> {
    let mut buffer = [0; 4096];
    loop {
        let deadline = Instant::now() + PATIENCE;
        match stream.receive_by(&mut buffer, deadline)? {
            0 => return Ok(()),
            received => stream.send_all(&mut [IoSlice::new(&buffer[..received])], deadline)?,
        }
    }
}

/// Over any family: which, its caller says.
fn serve<T: StreamTransport>(address: T::Address) -> Result<(), Error> {
    let acceptor = T::listen(address)?;
    println!("{}", T::full_address(&T::address(&acceptor)));
    loop {
        match T::accept_by(&acceptor, Instant::now() + PATIENCE) {
            Ok(stream) => {
                if let Err(error) = echo(&stream) {
                    eprintln!("{error}");
                }
            }
            Err(error) if error.is_timeout() => {}
            Err(error) => return Err(error),
        }
    }
}

fn main() -> ExitCode {
    let address = std::env::args().nth(1).unwrap_or("tcp:127.0.0.1:0".to_owned());
    let served = match address.parse() {
        Ok(Address::Tcp(address)) => serve::<Tcp>(address),
        Ok(Address::Unix(address)) => serve::<Unix>(address),
        Ok(Address::Vsock(address)) => serve::<Vsock>(address),
        Ok(Address::Shm(address)) => serve::<Shm>(address),
        Ok(_) => {
            eprintln!("{address}: no streams go there");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("{address}: {error}");
            return ExitCode::FAILURE;
        }
    };
    if let Err(error) = served {
        eprintln!("{error}");
    }
    ExitCode::FAILURE
}
