//! Sends a file: `file-sender ADDRESS FILE`, such as `tcp:127.0.0.1:7000` or `unix:/tmp/files`. Ends well once the receiver
//! has said that all of it arrived.

mod wire;

use std::fs::File;
use std::io::IoSlice;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::time::Instant;

use wire::{GREETING, LONGEST_ANSWER, PART, RECEIVED, deadline};
use zorb_ipc::{Address, ByteStream, Error, Idle, SpliceStream, Stream, StreamFamily, Tcp, Unix};

/// A connection that a file can be sent through. A transport that is no socket joins by saying how it does this.
trait SendFile: ByteStream {
    /// Sends what the file has at offset `at`: at least one octet, at most `octets`. `at` is moved on. 0: the file ends.
    fn send_file(&self, file: &File, at: &mut u64, octets: usize, deadline: Instant) -> Result<usize, Error>;
}

/// The kernel sends the file's own pages, of every family of sockets.
impl<F: StreamFamily> SendFile for SpliceStream<F> {
    fn send_file(&self, file: &File, at: &mut u64, octets: usize, deadline: Instant) -> Result<usize, Error> {
        SpliceStream::send_file(self, file, at, octets, deadline)
    }
}

/// What went through before the connection failed, or the receiver wanted no more.
enum Sent {
    All,
    Interrupted,
}

/// The greeting, the length, the file, and its checksum.
fn send(stream: &impl SendFile, file: &File, length: u64) -> Result<Sent, String> {
    let head = [GREETING, length.to_be_bytes()].concat();
    stream.send_all(&mut [IoSlice::new(&head)], deadline()).map_err(|error| error.to_string())?;
    let mut checksum = crc32fast::Hasher::new();
    let mut part = vec![0; PART];
    let mut at = 0;
    while at < length {
        // Less than `PART`, so it fits.
        let octets = (length - at).min(PART as u64) as usize;
        file.read_exact_at(&mut part[..octets], at).map_err(|error| format!("at octet {at}: {error}"))?;
        checksum.update(&part[..octets]);
        let end = at + octets as u64;
        let by = deadline();
        while at < end {
            match stream.send_file(file, &mut at, (end - at) as usize, by) {
                Ok(0) => return Err(format!("it became shorter while it was sent: {at} octets of {length}")),
                Ok(_) => {}
                // Perhaps it said why.
                Err(error) if error.is_connection_reset() => return Ok(Sent::Interrupted),
                Err(error) => return Err(format!("after {at} octets of {length}: {error}")),
            }
        }
        if stream.idle() != Idle::Quiet {
            return Ok(Sent::Interrupted);
        }
    }
    let tail = checksum.finalize().to_be_bytes();
    match stream.send_all(&mut [IoSlice::new(&tail)], deadline()).and_then(|()| stream.shutdown_send()) {
        Ok(()) => Ok(Sent::All),
        Err(error) if error.is_connection_reset() => Ok(Sent::Interrupted),
        Err(error) => Err(error.to_string()),
    }
}

/// What the receiver says of it.
fn answer(stream: &impl ByteStream) -> Result<String, String> {
    let mut answer = [0; LONGEST_ANSWER];
    let mut length = 0;
    let by = deadline();
    while length < answer.len() {
        match stream.receive_by(&mut answer[length..], by) {
            Ok(0) => break,
            Ok(received) => length += received,
            Err(error) => return Err(format!("no answer: {error}")),
        }
    }
    match length {
        0 => Err("the receiver is gone, and did not say why".to_owned()),
        _ => Ok(String::from_utf8_lossy(&answer[..length]).into_owned()),
    }
}

/// Over any family of sockets: which, its caller says.
fn send_over<F: StreamFamily>(address: F::Address, path: &str) -> Result<u64, String> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let about = file.metadata().map_err(|error| format!("{path}: {error}"))?;
    if !about.is_file() {
        return Err(format!("{path}: not a file, so nobody knows how long it is"));
    }
    let stream = Stream::<F>::connect(address, deadline()).map_err(|error| error.to_string())?;
    let stream = SpliceStream::of(stream).map_err(|refused| refused.to_string())?;
    let sent = send(&stream, &file, about.len()).map_err(|why| format!("{path}: {why}"))?;
    let answer = answer(&stream).map_err(|why| format!("{path}: {why}"))?;
    match (sent, answer.as_str()) {
        (Sent::All, RECEIVED) => Ok(about.len()),
        (_, why) => Err(format!("{path}: the receiver says: {why}")),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path] = &arguments[..] else {
        eprintln!("usage: file-sender ADDRESS FILE");
        return ExitCode::FAILURE;
    };
    let sent = match address.parse() {
        Ok(Address::Tcp(address)) => send_over::<Tcp>(address, path),
        Ok(Address::Unix(address)) => send_over::<Unix>(address, path),
        Ok(_) => Err(format!("{address}: no streams go there")),
        Err(error) => Err(format!("{address}: {error}")),
    };
    match sent {
        Ok(octets) => {
            println!("{octets} octets sent");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
