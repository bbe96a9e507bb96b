//! Where the kernel's zero-copy send pays (`ZeroCopyStream`, `MSG_ZEROCOPY`): beside the usual way of sending, by size, in turns.
//!
//! ```sh
//! cargo run --release -p zorb-ipc --example uncopied                        # over the loopback interface
//! cargo run --release -p zorb-ipc --example uncopied serve 10.0.0.2:5001    # on the one side of a link
//! cargo run --release -p zorb-ipc --example uncopied 10.0.0.2:5001          # on the other
//! ```
//!
//! For each size: microseconds from before the first buffer until the receiver has said that it has all, for one buffer; the sender's processor
//! time for one; medians of the ratios of both, zero-copy to usual, below 1 where it pays; and of how many buffers the kernel copied at least a
//! part after all. Two network namespaces do for two hosts (BENCHMARKING.md, "Two hosts"), but have no card that could read
//! the program's memory, so that the kernel copies there too.

use std::error::Error;
use std::io::IoSlice;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use zorb_ipc::{AcceptorOptions, TcpAcceptor, TcpStream, ZeroCopyStream};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Pairs of turns for each size.
const TURNS: usize = 21;

/// Octets of a turn, in as many buffers as that takes.
const TOTAL: usize = 32 << 20;

const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let acceptor = TcpAcceptor::bind("127.0.0.1:0".parse()?, &AcceptorOptions::new())?;
            let address = acceptor.local_address();
            thread::spawn(move || serve(&acceptor).unwrap_or_else(|error| eprintln!("receiver: {error}")));
            compare(address)
        }
        ["serve", address] => {
            let acceptor = TcpAcceptor::bind(address.parse()?, &AcceptorOptions::new())?;
            println!("receiving at {} until Ctrl-C", acceptor.local_address());
            serve(&acceptor)
        }
        [address] => compare(address.parse()?),
        _ => Err("usage: uncopied [[serve] ADDRESS:PORT]".into()),
    }
}

/// Takes what comes on each connection, and says when a turn is over: its length stands before it.
fn serve(acceptor: &TcpAcceptor) -> Outcome<()> {
    loop {
        let stream = acceptor.accept()?;
        thread::spawn(move || {
            let mut buffer = vec![1; 1 << 20];
            let mut length = [0; 8];
            // A connection's end is the end of its turns.
            while stream.receive_exact(&mut length, Instant::now() + PATIENCE).is_ok() {
                let mut left = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
                while left > 0 {
                    let room = left.min(buffer.len());
                    let Ok(count @ 1..) = stream.receive(&mut buffer[..room]) else { return };
                    left -= count;
                }
                if stream.send_all(&mut [IoSlice::new(&[1])], Instant::now() + PATIENCE).is_err() {
                    return;
                }
            }
        });
    }
}

/// What one turn took, for each buffer.
#[derive(Clone, Copy, Default)]
struct Turn {
    time: f64,
    processor: f64,
    copied: usize,
}

fn compare(to: SocketAddr) -> Outcome<()> {
    let usual = TcpStream::connect(to, Instant::now() + PATIENCE)?;
    let mut uncopied = ZeroCopyStream::new(TcpStream::connect(to, Instant::now() + PATIENCE)?)?;
    println!(
        "{:>9}  {:>9}  {:>9}  {:>7}  {:>9}  {:>9}  {:>7}  {:>6}",
        "octets", "usual µs", "zero-copy", "ratio", "CPU µs", "zero-copy", "ratio", "copied"
    );
    for power in [12, 14, 15, 16, 17, 18, 20, 22, 24] {
        let octets = 1_usize << power;
        let buffer: Arc<[u8]> = (0..=250).cycle().take(octets).collect::<Vec<u8>>().into();
        let count = (TOTAL / octets).max(1);
        let mut turns: Vec<[Turn; 2]> = Vec::new();
        for round in 0..=TURNS {
            let mut pair = [Turn::default(); 2];
            // In turns and in another order each time, so that whatever the machine does meets both; the first ones are for settling.
            for way in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                pair[way] = match way {
                    0 => by_copy(&usual, &buffer, count)?,
                    _ => without(&mut uncopied, &buffer, count)?,
                };
            }
            if round > 0 {
                turns.push(pair);
            }
        }
        let median = |of: &dyn Fn(&[Turn; 2]) -> f64| {
            let mut all: Vec<f64> = turns.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        };
        let copied: usize = turns.iter().map(|pair| pair[1].copied).sum();
        println!(
            "{octets:>9}  {:>9.1}  {:>9.1}  {:>7.3}  {:>9.1}  {:>9.1}  {:>7.3}  {:>5.0}%",
            median(&|pair| pair[0].time),
            median(&|pair| pair[1].time),
            median(&|pair| pair[1].time / pair[0].time),
            median(&|pair| pair[0].processor),
            median(&|pair| pair[1].processor),
            median(&|pair| pair[1].processor / pair[0].processor),
            100.0 * copied as f64 / (count * TURNS) as f64,
        );
    }
    Ok(())
}

/// Times what sends `count` buffers: until the receiver has them, and the sender's processor.
fn timed(count: usize, send: impl FnOnce() -> Outcome<usize>) -> Outcome<Turn> {
    let (began, before) = (Instant::now(), processor());
    let copied = send()?;
    let of_each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    Ok(Turn {
        time: of_each(began.elapsed()),
        processor: of_each(processor().saturating_sub(before)),
        copied,
    })
}

/// This thread's, so far.
fn processor() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn by_copy(stream: &TcpStream, buffer: &Arc<[u8]>, count: usize) -> Outcome<Turn> {
    let by = Instant::now() + PATIENCE;
    begin(stream, buffer.len() * count, by)?;
    timed(count, || {
        for _ in 0..count {
            stream.send_all(&mut [IoSlice::new(buffer)], by)?;
        }
        stream.receive_exact(&mut [0], by)?;
        Ok(0)
    })
}

fn without(stream: &mut ZeroCopyStream<Arc<[u8]>>, buffer: &Arc<[u8]>, count: usize) -> Outcome<Turn> {
    let by = Instant::now() + PATIENCE;
    begin(stream.stream(), buffer.len() * count, by)?;
    timed(count, || {
        let mut copied = 0;
        for _ in 0..count {
            stream.send_all(buffer.clone(), by)?;
            // As a sender would that has few buffers: what is done with is taken back at once.
            while let Some(completed) = stream.completed_now()? {
                copied += usize::from(completed.copied);
            }
        }
        while let Some(completed) = stream.completed_by(by)? {
            copied += usize::from(completed.copied);
        }
        stream.receive_by(&mut [0], by)?;
        Ok(copied)
    })
}

fn begin(stream: &TcpStream, length: usize, by: Instant) -> Outcome<()> {
    Ok(stream.send_all(&mut [IoSlice::new(&(length as u64).to_le_bytes())], by)?)
}
