//! What it takes to hand over much to a peer that does not trust: a loan, which the receiver copies once, or memory that is sealed
//! for good, which it reads in place.
//!
//! ```sh
//! taskset -c 1 cargo run --release -p zorb-ipc --example lending
//! ```
//!
//! Both are filled, handed over within this process and looked at; each sum shows that what was filled arrived. Medians, in microseconds.

use std::error::Error;
use std::io::IoSlice;
use std::time::{Duration, Instant};

use zorb_ipc::{Loans, Memfd, SegmentOptions, ShmOptions, ShmStream};

const TIMES: usize = 41;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:>8}  {:>12}  {:>12}", "MiB", "loan, copied", "sealed memfd");
    for mib in [1, 4, 16] {
        let octets = mib << 20;
        let (mut copied, mut sealed) = (Vec::new(), Vec::new());
        let filling: Vec<u8> = (0..=250).cycle().take(octets).collect();
        let sum = filling.iter().step_by(4096).fold(0u64, |sum, octet| sum + u64::from(*octet));
        let loans = Loans::new(64 << 20);
        let (one, other) = ShmStream::pair(&ShmOptions::new().loans(&loans))?;
        let mut received = vec![0; octets];
        // In turns, so that whatever the machine does meets both.
        for _ in 0..TIMES {
            let begin = Instant::now();
            let mut loan = loans.loan(octets)?;
            loan.copy_from_slice(&filling);
            one.send_all(&mut [IoSlice::new(&loan.freeze())], begin + Duration::from_secs(10))?;
            other.receive_exact(&mut received, begin + Duration::from_secs(10))?;
            check(&received, sum)?;
            copied.push(begin.elapsed());

            let begin = Instant::now();
            let memory = Memfd::create("sealed", octets as u64)?.fix_size()?.map(&SegmentOptions::new())?;
            memory.copy_in(0, &filling)?;
            let memory = memory.into_memory().seal()?.map()?;
            check(&memory, sum)?;
            drop(memory);
            sealed.push(begin.elapsed());
        }
        println!("{mib:>8}  {:>12.0}  {:>12.0}", median(copied), median(sealed));
    }
    Ok(())
}

fn check(octets: &[u8], sum: u64) -> Result<(), String> {
    let found = octets.iter().step_by(4096).fold(0u64, |sum, octet| sum + u64::from(*octet));
    if found == sum { Ok(()) } else { Err("it did not arrive".to_owned()) }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}
