//! Has its words echoed: `echo-client ADDRESS WORD…`, and prints what comes back.

use std::io::IoSlice;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use zorb_ipc::{Address, ByteStream, Error, Shm, StreamTransport, Tcp, Unix, Vsock};

fn ask<T: StreamTransport>(address: T::Address, words: &[String]) -> Result<Vec<u8>, Error> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let stream = T::connect(address, deadline)?;
    // Words and the spaces between them leave in one system call, from where they lie.
    let mut slices: Vec<_> =
        words.iter().flat_map(|word| [word.as_bytes(), b" "]).map(IoSlice::new).collect();
    let length = slices.iter().map(|slice| slice.len()).sum();
    stream.send_all(&mut slices, deadline)?;
    let mut back = vec![0; length];
    stream.receive_exact(&mut back, deadline)?;
    Ok(back)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((address, words)) = arguments.split_first() else {
        eprintln!("usage: echo-client ADDRESS WORD…");
        return ExitCode::FAILURE;
    };
    let back = match address.parse() {
        Ok(Address::Tcp(address)) => ask::<Tcp>(address, words),
        Ok(Address::Unix(address)) => ask::<Unix>(address, words),
        Ok(Address::Vsock(address)) => ask::<Vsock>(address, words),
        Ok(Address::Shm(address)) => ask::<Shm>(address, words),
        Ok(_) => {
            eprintln!("{address}: no streams go there");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("{address}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match back {
        Ok(back) => {
            println!("{}", String::from_utf8_lossy(&back).trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
