//! Receives one file: `file-receiver ADDRESS FILE`, such as `tcp:127.0.0.1:0`, `unix:/tmp/files`, `shm:/tmp/files`
//! or `vsock:any:7000`. Prints where it listens,
//! and ends well once all has arrived, with the length and the checksum that the sender said.
//!
//! Until then what came stands in `FILE.part`, which nobody takes for the file; what is no usual file, such as `/dev/null`,
//! is written in place.

mod wire;

use std::fs::{self, File};
use std::io::{self, ErrorKind, IoSlice, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use wire::{GREETING, LONGEST_ANSWER, PART, RECEIVED, deadline};
use zorb_ipc::{Address, ByteStream, Error, Shm, StreamTransport, Tcp, Unix, Vsock};

/// How long it waits for a sender to come.
const UNTIL_SOMEBODY_COMES: Duration = Duration::from_secs(3600);

/// Where what arrives is written.
struct Target {
    file: File,
    path: PathBuf,
    /// Written, and to be renamed to the path when it is whole.
    part: Option<PathBuf>,
}

impl Target {
    fn create(path: &str) -> Result<Self, String> {
        let in_place = fs::metadata(path).is_ok_and(|about| !about.is_file());
        let part = (!in_place).then(|| PathBuf::from(format!("{path}.part")));
        let path = PathBuf::from(path);
        let written = part.as_ref().unwrap_or(&path);
        let file = match &part {
            Some(part) => File::create(part),
            None => File::options().write(true).open(&path),
        };
        let file = file.map_err(|error| format!("{}: {error}", written.display()))?;
        Ok(Self { file, path, part })
    }

    fn write(&mut self, octets: &[u8]) -> Result<(), String> {
        self.file.write_all(octets).map_err(|error| match error.kind() {
            ErrorKind::StorageFull => "the disk is full".to_owned(),
            _ => format!("{}: {error}", self.path.display()),
        })
    }

    /// What was written is whole.
    fn keep(mut self) -> Result<(), String> {
        match self.part.take() {
            Some(part) => fs::rename(&part, &self.path)
                .map_err(|error| format!("{} is whole, and stays there: {error}", part.display())),
            None => Ok(()),
        }
    }
}

/// Half a file is none.
impl Drop for Target {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_file(part);
        }
    }
}

/// What the sender sends, to the end of it; its length and checksum.
fn receive(stream: &impl ByteStream, target: &mut Target) -> Result<(u64, u32), String> {
    let mut head = [0; 16];
    stream.receive_exact(&mut head, deadline()).map_err(|error| cut(&error, "the length", 0))?;
    let (greeting, length) = head.split_at(GREETING.len());
    if greeting != GREETING {
        return Err("what connected does not send files".to_owned());
    }
    let length = u64::from_be_bytes(length.try_into().expect("eight octets are left of sixteen"));
    let mut checksum = crc32fast::Hasher::new();
    let mut part = vec![0; PART];
    let mut arrived = 0;
    while arrived < length {
        let octets = (length - arrived).min(PART as u64) as usize;
        let part = &mut part[..octets];
        stream.receive_exact(part, deadline()).map_err(|error| {
            cut(&error, &format!("{length} octets"), arrived + error.transferred() as u64)
        })?;
        checksum.update(part);
        target.write(part)?;
        arrived += octets as u64;
    }
    let mut tail = [0; 4];
    stream.receive_exact(&mut tail, deadline()).map_err(|error| cut(&error, "the checksum", arrived))?;
    let (said, found) = (u32::from_be_bytes(tail), checksum.finalize());
    if said != found {
        return Err(format!("damaged: checksum {found:08x}, and {said:08x} was sent"));
    }
    Ok((length, found))
}

/// Why there is less than there has to be.
fn cut(error: &Error, wanted: &str, arrived: u64) -> String {
    match error {
        error if error.is_unexpected_end() => {
            format!("truncated: the sender ended after {arrived} octets, before {wanted}")
        }
        error => format!("after {arrived} octets: {error}"),
    }
}

/// Tells the sender, and lets it see that before the connection goes: closed with something left to receive it would be
/// reset, and the answer lost.
fn answer(stream: &impl ByteStream, answer: &str) {
    let answer = &answer.as_bytes()[..answer.len().min(LONGEST_ANSWER)];
    let by = deadline();
    let told = stream.send_all(&mut [IoSlice::new(answer)], by).and_then(|()| stream.shutdown_send());
    let mut rest = vec![0; PART];
    while told.is_ok() && stream.receive_by(&mut rest, by).is_ok_and(|octets| octets > 0) {}
}

/// Over any transport: which, its caller says.
fn receive_over<T: StreamTransport>(address: T::Address, path: &str) -> Result<(u64, u32), String> {
    let acceptor = T::listen(address).map_err(|error| error.to_string())?;
    println!("{}", T::full_address(&T::address(&acceptor)));
    let stream = T::accept_by(&acceptor, Instant::now() + UNTIL_SOMEBODY_COMES);
    let stream = stream.map_err(|error| error.to_string())?;
    let received = Target::create(path).and_then(|mut target| {
        let received = receive(&stream, &mut target)?;
        target.keep().map(|()| received)
    });
    match &received {
        Ok(_) => answer(&stream, RECEIVED),
        Err(why) => answer(&stream, why),
    }
    received
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, path] = &arguments[..] else {
        eprintln!("usage: file-receiver ADDRESS FILE");
        return ExitCode::FAILURE;
    };
    let received = match address.parse() {
        Ok(Address::Tcp(address)) => receive_over::<Tcp>(address, path),
        Ok(Address::Unix(address)) => receive_over::<Unix>(address, path),
        Ok(Address::Vsock(address)) => receive_over::<Vsock>(address, path),
        Ok(Address::Shm(address)) => receive_over::<Shm>(address, path),
        Ok(_) => Err(format!("{address}: no streams go there")),
        Err(error) => Err(format!("{address}: {error}")),
    };
    match received {
        Ok((octets, checksum)) => {
            // That nobody reads it is no failure.
            let _ = writeln!(io::stdout(), "{octets} octets received, checksum {checksum:08x}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{path}: {why}");
            ExitCode::FAILURE
        }
    }
}
