//! Sends a file: `file-sender ADDRESS FILE [copied]`, such as `tcp:127.0.0.1:7000`, `unix:/tmp/files`,
//! `shm:/tmp/files` or `vsock:host:7000`. Ends well once the receiver has said that all of it arrived. Sends the file's own
//! pages over sockets, unless it is told to copy.

mod wire;

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::time::Instant;

use wire::{GREETING, LONGEST_ANSWER, PART, RECEIVED, deadline};
use zorb_ipc::{
    Address, ByteStream, Error, Idle, Shm, SpliceStream, Stream, StreamFamily, StreamTransport, Tcp, Unix,
    Vsock,
};

/// How a part of a file is sent: its octets from an offset on, which have been read for the checksum. Says how many went,
/// which is less than all if the file has ended meanwhile.
type SendPart<S> = fn(&S, &File, u64, &[u8], Instant) -> Result<usize, Error>;

/// The kernel sends the file's own pages: over every family of sockets.
fn send_pages<F: StreamFamily>(
    stream: &SpliceStream<F>,
    file: &File,
    mut at: u64,
    octets: &[u8],
    deadline: Instant,
) -> Result<usize, Error> {
    let mut sent = 0;
    while sent < octets.len() {
        match stream.send_file(file, &mut at, octets.len() - sent, deadline)? {
            0 => break,
            more => sent += more,
        }
    }
    Ok(sent)
}

/// What was read is copied once more: over whatever moves octets.
fn send_copy<S: ByteStream>(
    stream: &S,
    _: &File,
    _: u64,
    octets: &[u8],
    deadline: Instant,
) -> Result<usize, Error> {
    stream.send_all(&mut [IoSlice::new(octets)], deadline).map(|()| octets.len())
}

/// What went through before the connection failed, or the receiver wanted no more.
enum Sent {
    All,
    Interrupted,
}

/// The greeting, the length, the file, and its checksum.
fn send<S: ByteStream>(stream: &S, send_part: SendPart<S>, file: &File, length: u64) -> Result<Sent, String> {
    let head = [GREETING, length.to_be_bytes()].concat();
    stream.send_all(&mut [IoSlice::new(&head)], deadline()).map_err(|error| error.to_string())?;
    let mut checksum = crc32fast::Hasher::new();
    let mut part = vec![0; PART];
    let mut at = 0;
    while at < length {
        let octets = (length - at).min(PART as u64) as usize;
        let part = &mut part[..octets];
        file.read_exact_at(part, at).map_err(|error| format!("at octet {at}: {error}"))?;
        checksum.update(part);
        match send_part(stream, file, at, part, deadline()) {
            Ok(sent) if sent == octets => at += octets as u64,
            Ok(_) => return Err(format!("it became shorter than {length} octets while it was sent")),
            // Perhaps it said why.
            Err(error) if error.is_connection_reset() => return Ok(Sent::Interrupted),
            Err(error) => return Err(format!("after {at} octets of {length}: {error}")),
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

/// Over any connection.
fn send_file<S: ByteStream>(stream: &S, send_part: SendPart<S>, file: &File) -> Result<u64, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let sent = send(stream, send_part, file, length)?;
    match (sent, answer(stream)?.as_str()) {
        (Sent::All, RECEIVED) => Ok(length),
        (_, why) => Err(format!("the receiver says: {why}")),
    }
}

/// How a file goes through a connection that was made.
type Way<S> = fn(S, &File) -> Result<u64, String>;

fn by_pages<F: StreamFamily>(stream: Stream<F>, file: &File) -> Result<u64, String> {
    let stream = SpliceStream::of(stream).map_err(|refused| refused.to_string())?;
    send_file(&stream, send_pages::<F>, file)
}

fn by_copies<S: ByteStream>(stream: S, file: &File) -> Result<u64, String> {
    send_file(&stream, send_copy, file)
}

/// Over any transport: which, its caller says, and in which way.
fn send_over<T: StreamTransport>(
    address: T::Address,
    file: &File,
    way: Way<T::Stream>,
) -> Result<u64, String> {
    let stream = T::connect(address, deadline()).map_err(|error| error.to_string())?;
    way(stream, file)
}

#[derive(Clone, Copy)]
enum How {
    Pages,
    Copied,
}

impl How {
    fn over_sockets<F: StreamFamily>(self) -> Way<Stream<F>> {
        match self {
            How::Pages => by_pages,
            How::Copied => by_copies,
        }
    }
}

/// A file, which has a length.
fn open(path: &str) -> Result<File, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    match file.metadata() {
        Ok(about) if about.is_file() => Ok(file),
        Ok(_) => Err("not a file, so nobody knows how long it is".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (address, path, how) = match arguments[..] {
        [address, path] => (address, path, How::Pages),
        [address, path, "copied"] => (address, path, How::Copied),
        _ => {
            eprintln!("usage: file-sender ADDRESS FILE [copied]");
            return ExitCode::FAILURE;
        }
    };
    let sent = open(path).and_then(|file| match address.parse() {
        Ok(Address::Tcp(address)) => send_over::<Tcp>(address, &file, how.over_sockets()),
        Ok(Address::Unix(address)) => send_over::<Unix>(address, &file, how.over_sockets()),
        Ok(Address::Vsock(address)) => send_over::<Vsock>(address, &file, how.over_sockets()),
        // Its octets are in memory that both sides have: they get there by a copy.
        Ok(Address::Shm(address)) => send_over::<Shm>(address, &file, by_copies),
        Ok(_) => Err(format!("{address}: no streams go there")),
        Err(error) => Err(format!("{address}: {error}")),
    });
    match sent {
        Ok(octets) => {
            // That nobody reads it is no failure.
            let _ = writeln!(io::stdout(), "{octets} octets sent");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{path}: {why}");
            ExitCode::FAILURE
        }
    }
}
