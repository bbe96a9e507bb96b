//! What a message there and back costs over shared memory, beside what nothing could be faster than: two processes that
//! wake each other by a bare futex on one core, and two that watch each other's words on two. A bare futex has no deadline and
//! never finds out that the other process is dead; what these cost, the futex that waits for 10 ms at the most shows.
//!
//! ```text
//! cargo run --release -p zorb-ipc --example pingpong [pairs [round trips each]]
//! ```
//!
//! Floor and channel take turns, pair by pair, in one run; each answer is compared with what has to come. Printed are
//! medians, and of the pairs' ratios the median and where nine in ten of them lie.

use std::env;
use std::error::Error;
use std::hint::spin_loop;
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Release};
use std::time::{Duration, Instant};

use rustix::thread::futex::{self, Flags};
use zorb_ipc::{
    AcceptorOptions, Segment, SegmentOptions, ShmConnector, ShmOptions, ShmRole, ShmStream, Spinning,
    UnixAcceptor, UnixAddress, UnixStream, allowed_cores, pin_to_core,
};

type Failed = Box<dyn Error>;

/// Where the two words of the floors are: far enough from each other.
const THERE: usize = 0;
const BACK: usize = 256;
const OCTETS: usize = 4096;
/// As long as a channel sleeps before it looks whether the other side is alive.
const FIRST_SLEEP: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Futex,
    /// With a timeout, for which the clock is read.
    TimedFutex,
    Words,
    Channel(usize),
}

const ALL: [Way; 6] =
    [Way::Futex, Way::TimedFutex, Way::Words, Way::Channel(0), Way::Channel(1), Way::Channel(2)];

/// The channels, by how both ends spin. The last spins for as long as ever needed here.
fn spinnings() -> [Spinning; 3] {
    [Spinning::none(), Spinning::adaptive(), Spinning::bounded(Duration::from_secs(1))]
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

struct Side {
    control: UnixStream,
    words: Segment,
    channels: Vec<ShmStream>,
}

impl Side {
    fn futex(word: &AtomicU32, until: u32, deadline: Option<Instant>) -> Result<(), Failed> {
        loop {
            let found = word.load(Acquire);
            if found == until {
                return Ok(());
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err("the other side has not come".into());
            }
            let timeout = left.map(|left| left.min(FIRST_SLEEP).as_nanos());
            let timeout = timeout.map(|nanoseconds| futex::Timespec { tv_sec: 0, tv_nsec: nanoseconds as _ });
            // It may be woken without cause, and may find another value.
            let _ = futex::wait(word, Flags::empty(), found, timeout.as_ref());
        }
    }

    fn tell(word: &AtomicU32, number: u32) {
        word.store(number, Release);
        let _ = futex::wake(word, Flags::empty(), 1);
    }

    /// One side's part of so many round trips.
    fn play(&self, way: Way, rounds: u32, begins: bool) -> Result<(), Failed> {
        let (there, back) = (self.words.word32(THERE)?, self.words.word32(BACK)?);
        let (ours, theirs) = if begins { (there, back) } else { (back, there) };
        for round in 1..=rounds {
            match way {
                Way::Futex | Way::TimedFutex => {
                    let deadline = (way == Way::TimedFutex).then(soon);
                    if begins {
                        Self::tell(ours, round);
                    }
                    Self::futex(theirs, round, deadline)?;
                    if !begins {
                        Self::tell(ours, round);
                    }
                }
                Way::Words => {
                    if begins {
                        ours.store(round, Release);
                    }
                    while theirs.load(Acquire) != round {
                        spin_loop();
                    }
                    if !begins {
                        ours.store(round, Release);
                    }
                }
                Way::Channel(which) => {
                    let (channel, deadline) = (&self.channels[which], soon());
                    let message = u64::from(round) * 0x0001_0003_0005_0007;
                    if begins {
                        channel.send_all(&mut [IoSlice::new(&message.to_ne_bytes())], deadline)?;
                    }
                    let mut received = [0; 8];
                    channel.receive_exact(&mut received, deadline)?;
                    if u64::from_ne_bytes(received) != message {
                        return Err("another message came than was sent".into());
                    }
                    if !begins {
                        channel.send_all(&mut [IoSlice::new(&received)], deadline)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Microseconds a round trip.
    fn measure(&self, way: Way, cores: [usize; 2], rounds: u32) -> Result<f64, Failed> {
        pin_to_core(cores[0])?;
        for at in [THERE, BACK] {
            self.words.word32(at)?.store(0, Release);
        }
        let at = ALL.iter().position(|other| *other == way).unwrap_or_default();
        let order = [at as u32, cores[1] as u32, rounds].map(u32::to_ne_bytes).concat();
        self.control.send_all(&mut [IoSlice::new(&order)], soon())?;
        self.control.receive_exact(&mut [0], soon())?;
        let begun = Instant::now();
        self.play(way, rounds, true)?;
        Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(rounds))
    }

    /// Does what the other process says, until that goes.
    fn follow(&self) -> Result<(), Failed> {
        let mut order = [0; 12];
        loop {
            if self.control.receive_by(&mut order[..4], Instant::now() + Duration::from_secs(600))? == 0 {
                return Ok(());
            }
            self.control.receive_exact(&mut order[4..], soon())?;
            let (words, _) = order.as_chunks::<4>();
            let [way, core, rounds] = [0, 1, 2].map(|at: usize| u32::from_ne_bytes(words[at]));
            pin_to_core(core as usize)?;
            self.control.send_all(&mut [IoSlice::new(&[1])], soon())?;
            self.play(ALL[way as usize], rounds, false)?;
        }
    }
}

fn addresses(name: &str) -> Result<[UnixAddress; 2], Failed> {
    let address = |part: &str| UnixAddress::abstract_name(format!("{name}-{part}").as_bytes());
    Ok([address("control")?, address("channels")?])
}

fn other_side(name: &str) -> Result<(), Failed> {
    let [control, at] = addresses(name)?;
    let control = UnixStream::connect(control, soon())?;
    let mut passed = control.receive_passed(&mut [0], soon())?;
    let memory = passed.descriptors.pop().ok_or("no memory came")?;
    let words = Segment::adopt(memory, OCTETS..=OCTETS, &SegmentOptions::new().words32(0..OCTETS))?;
    let connect =
        |spinning| ShmConnector::new(&ShmOptions::new().spinning(spinning)).connect(at.clone(), soon());
    let channels = spinnings().map(connect).into_iter().collect::<Result<_, _>>()?;
    Side { control, words, channels }.follow()
}

/// The other process; it ends when the control connection does, or here.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn set_up() -> Result<(Side, Other), Failed> {
    let name = format!("zorb-ipc-pingpong-{}", std::process::id());
    let [control, at] = addresses(&name)?;
    let acceptor = UnixAcceptor::bind(control, &AcceptorOptions::new())?;
    let channels = UnixAcceptor::bind(at, &AcceptorOptions::new())?;
    let other = Other(Command::new(env::current_exe()?).args(["other", &name]).spawn()?);
    let control = acceptor.accept_by(soon())?;
    let words = Segment::create("floor", OCTETS, &SegmentOptions::new().words32(0..OCTETS))?;
    control.send_passing(&[0], &[words.memory().as_fd()], soon())?;
    // Each with its own way of spinning, which is what an acceptor of channels does not do.
    let accept = |spinning| -> Result<ShmStream, Failed> {
        let options = ShmOptions::new().spinning(spinning);
        Ok(ShmStream::over(channels.accept_by(soon())?, ShmRole::Responder, &options, soon())?)
    };
    let channels = spinnings().map(accept).into_iter().collect::<Result<_, _>>()?;
    Ok((Side { control, words, channels }, other))
}

fn median(mut of: Vec<f64>) -> [f64; 3] {
    of.sort_by(f64::total_cmp);
    let at = |part: f64| of[((of.len() - 1) as f64 * part).round() as usize];
    [at(0.05), at(0.5), at(0.95)]
}

/// What is compared with what: a line of the table.
struct Line {
    title: &'static str,
    floor: Way,
    way: Way,
    cores: [usize; 2],
}

fn compare(side: &Side, line: &Line, pairs: usize, rounds: u32) -> Result<(), Failed> {
    let &Line { title, floor, way, cores } = line;
    // Both get to know their core, and the channel whether spinning pays.
    side.measure(floor, cores, rounds)?;
    side.measure(way, cores, rounds)?;
    let (mut floors, mut ways) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        floors.push(side.measure(floor, cores, rounds)?);
        ways.push(side.measure(way, cores, rounds)?);
    }
    let ratios = floors.iter().zip(&ways).map(|(floor, way)| way / floor).collect();
    let ([_, floor, _], [_, way, _], [low, ratio, high]) = (median(floors), median(ways), median(ratios));
    println!("{title:<58} {floor:>7.3} {way:>8.3}   {ratio:.2} ({low:.2} to {high:.2})");
    Ok(())
}

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, name] = &arguments[..]
        && first == "other"
    {
        return other_side(name);
    }
    let number = |at: usize, default: u32| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (pairs, rounds) = (number(0, 21)? as usize, number(1, 20_000)?);
    let cores = allowed_cores()?;
    let (side, _other) = set_up()?;
    println!("{pairs} pairs of {rounds} round trips; microseconds{:>33} {:>8}   ratio", "first", "second");
    let one = [cores[0]; 2];
    let (futex, timed, words) = (Way::Futex, Way::TimedFutex, Way::Words);
    let [never, learns, always] = [0, 1, 2].map(Way::Channel);
    let line = |title, floor, way, cores| Line { title, floor, way, cores };
    let mut lines = vec![
        line("one core: bare futex, channel that never spins", futex, never, one),
        line("one core: bare futex, futex with a timeout", futex, timed, one),
        line("one core: futex with a timeout, channel that never spins", timed, never, one),
        line("one core: bare futex, channel that learns", futex, learns, one),
    ];
    match cores.get(1).map(|&second| [cores[0], second]) {
        Some(two) => lines.extend([
            line("two cores: two words watched, channel that always spins", words, always, two),
            line("two cores: two words watched, channel that learns", words, learns, two),
        ]),
        None => println!("two cores: this process may run on one only"),
    }
    lines.iter().try_for_each(|line| compare(&side, line, pairs, rounds))
}
