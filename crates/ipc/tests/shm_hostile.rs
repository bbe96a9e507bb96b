//! A peer in bad faith: it writes whatever it likes over all the memory it can reach, and into the socket, as fast as it
//! can, while the other end of the channel works by all the calls that there are. That end gets errors; it does not panic,
//! and no call lasts beyond its deadline, for which a watchdog looks.

mod hostile;

use std::env;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use zorb_ipc::{
    AcceptorOptions, Armed, Error, Loans, ShmAcceptor, ShmRole, ShmStream, UnixAddress, UnixStream,
};

use hostile::{Aim, Random, Reached, options, soon};

const ADDRESS: &str = "ZORB_IPC_HOSTILE";
/// Each call of the honest end may take so long.
const EACH: Duration = Duration::from_millis(2);
/// A connection, unless it ends before.
const LIFE: Duration = Duration::from_millis(20);
/// What a busy machine may add to that. A call that hangs takes for ever.
const SLACK: Duration = Duration::from_secs(20);
/// What is sent and received at once: up to more than all slabs of a direction and the ring hold.
const MOST: usize = 22_000;
/// Calls after the honest end has ended its direction, or both.
const AFTERWARDS: u32 = 200;

/// What the honest end met, and what it is at.
#[derive(Default, Debug)]
struct Met {
    broken: AtomicU64,
    reset: AtomicU64,
    transferred: AtomicU64,
    out_of_time: AtomicU64,
    loans: OurLoans,
    /// Of who sends and who receives: a call, and since when.
    calls: [Mutex<Option<(Instant, &'static str)>>; 2],
}

/// What the honest end lends: so much that no hostile one can keep all of it.
#[derive(Debug)]
struct OurLoans(Loans);

impl Default for OurLoans {
    fn default() -> Self {
        Self(Loans::new(1 << 20))
    }
}

/// Says stop when it is dropped, so that nobody goes on for a test that has failed.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

impl Met {
    /// Ends the program, with a message, if a call of the honest end lasts beyond its deadline.
    fn watch(&self, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            for call in &self.calls {
                let call = *call.lock().unwrap();
                if let Some((begun, what)) = call.filter(|(begun, _)| begun.elapsed() >= EACH + SLACK) {
                    let said = format!("{what} hangs, for {:?} by now\n", begun.elapsed());
                    let _ = std::io::stderr().write_all(said.as_bytes());
                    std::process::exit(101);
                }
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Makes a call with memory for so many octets, and says whether it is over.
    fn made(
        &self,
        side: usize,
        what: &'static str,
        most: usize,
        call: impl FnOnce() -> Result<usize, Error>,
    ) -> bool {
        *self.calls[side].lock().unwrap() = Some((Instant::now(), what));
        let result = call();
        *self.calls[side].lock().unwrap() = None;
        let count = |count: &AtomicU64| count.fetch_add(1, Relaxed);
        let moved = result.as_ref().map_or_else(Error::transferred, |moved| *moved);
        assert!(moved <= most, "{what}: {moved} of {most}");
        match result {
            Ok(_) => count(&self.transferred),
            Err(error) if error.is_broken_by_peer() => {
                count(&self.broken);
                return true;
            }
            Err(error) if error.is_connection_reset() => {
                count(&self.reset);
                return true;
            }
            Err(error) if error.is_unexpected_end() => 0,
            Err(error) if error.is_timeout() || error.is_would_block() => count(&self.out_of_time),
            Err(error) => panic!("{what}: {error}"),
        };
        false
    }

    fn receive(&self, stream: &ShmStream, octets: &mut [u8], which: usize, by: Instant) -> bool {
        let most = octets.len();
        let mut made = |what, call: &mut dyn FnMut(&mut [u8]) -> Result<usize, Error>| {
            self.made(0, what, most, || call(octets))
        };
        match which {
            0 => made("receive_now", &mut |into| stream.receive_now(into)),
            1 => made("peek_now", &mut |into| stream.peek_now(into)),
            2 => made("wait_readable", &mut |_| stream.wait_readable(by).map(|_| 0)),
            3 => made("arm", &mut |_| waited(stream, stream.arm()?)),
            4 => made("arm_for_both", &mut |_| waited(stream, stream.arm_for_both()?)),
            5 => made("receive_exact", &mut |into| stream.receive_exact(into, by).map(|()| into.len())),
            6 | 7 => {
                let parts = &mut |into: &mut [u8]| {
                    let (one, other) = into.split_at_mut(into.len() / 3);
                    let slices = &mut [one, &mut [], other].map(IoSliceMut::new);
                    if which == 6 {
                        stream.receive_slices_by(slices, by)
                    } else {
                        stream.receive_slices_now(slices)
                    }
                };
                made("receive_slices", parts)
            }
            8 => made("idle", &mut |_| {
                let _ = stream.idle();
                Ok(0)
            }),
            _ => made("receive_by", &mut |into| stream.receive_by(into, by)),
        }
    }

    fn send(&self, stream: &ShmStream, octets: &[u8], which: usize, by: Instant) -> bool {
        let (one, other) = octets.split_at(octets.len() / 3);
        let slices = &mut [one, &[], other].map(IoSlice::new);
        let made =
            |what, call: &mut dyn FnMut() -> Result<usize, Error>| self.made(1, what, octets.len(), call);
        match which {
            0 => made("send_now", &mut || stream.send_now(slices).map(|sent| sent.count())),
            1 => made("send_by", &mut || stream.send_by(slices, by).map(|sent| sent.count())),
            2 => made("arm_to_send", &mut || waited(stream, stream.arm_to_send()?)),
            5 => {
                let mut loan = self.loans.0.loan(octets.len()).unwrap();
                loan.copy_from_slice(octets);
                let loan = loan.freeze();
                let slices = &[IoSlice::new(b"head"), IoSlice::new(&loan)];
                self.made(1, "sending a loan", octets.len() + 4, || {
                    stream.send_by(slices, by).map(|sent| sent.count())
                })
            }
            3 => made("idle", &mut || {
                let _ = stream.idle();
                Ok(0)
            }),
            4 => made("quiet", &mut || {
                stream.quiet();
                Ok(0)
            }),
            _ => made("send_all", &mut || stream.send_all(slices, by).map(|()| octets.len())),
        }
    }

    /// Works as who knows nothing of it, for a while, and ends the connection if it may.
    fn work(&self, stream: &ShmStream, random: &mut Random, side: usize, ends: bool, until: Instant) {
        let mut octets = vec![0; MOST];
        let mut left = u32::MAX;
        while Instant::now() < until && left > 0 {
            let by = Instant::now() + EACH;
            // Few octets, and more than a slab.
            let most = [100, 3000, MOST][random.below(3)];
            let length = 1 + random.below(most);
            let piece = &mut octets[..length];
            let over = match side {
                0 => self.receive(stream, piece, random.below(13), by),
                _ => self.send(stream, piece, random.below(8), by),
            };
            // What was begun and is over may be ended, and stays over.
            if over && left > AFTERWARDS {
                left = 3;
            }
            left = left.saturating_sub(1);
            if ends && left > AFTERWARDS && random.below(500) == 0 {
                left = AFTERWARDS;
                let both = random.below(2) == 0;
                let end = || if both { stream.shutdown_both() } else { stream.shutdown_send() };
                self.made(side, "shutdown", 0, || end().map(|()| 0));
            }
        }
    }

    /// Both directions at once.
    fn use_up(&self, stream: ShmStream, random: &mut Random, ends: bool) {
        let (mut other, until) = (Random(random.next() | 1), Instant::now() + LIFE);
        thread::scope(|scope| {
            scope.spawn(|| self.work(&stream, &mut other, 1, ends, until));
            self.work(&stream, random, 0, ends, until);
        });
        self.made(0, "dropping it", 0, || {
            drop(stream);
            Ok(0)
        });
    }
}

/// As a set of descriptors would wait, for a moment.
fn waited(stream: &ShmStream, armed: Armed) -> Result<usize, Error> {
    if armed == Armed::Waiting {
        let time = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let mut set = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::IN)];
        if poll(&mut set, Some(&time)).unwrap() > 0 {
            stream.quiet();
        }
    }
    Ok(0)
}

fn for_a_while(seed: u64, aims: &[Aim], role: ShmRole) -> Met {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    let met = Met::default();
    let mut random = Random(seed);
    let all = aims.contains(&Aim::Everything);
    let (until, latest) =
        (Instant::now() + Duration::from_millis(1000), Instant::now() + Duration::from_secs(60));
    // Who scribbles may hardly get a processor meanwhile: then it takes until something was found.
    let finds_nothing = || all && met.broken.load(Relaxed) == 0 && Instant::now() < latest;
    while Instant::now() < until || finds_nothing() {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        let (honest, hostile) = (UnixStream::adopt(one).unwrap(), UnixStream::adopt(other).unwrap());
        let (stream, reached) = match role {
            ShmRole::Initiator => {
                let stream = ShmStream::over(honest, role, &options().loans(&met.loans.0), soon()).unwrap();
                (stream, Reached::respond(hostile))
            }
            ShmRole::Responder => {
                let reached = Reached::initiate(hostile);
                (ShmStream::over(honest, role, &options().loans(&met.loans.0), soon()).unwrap(), reached)
            }
        };
        let aim = aims[random.below(aims.len())];
        let stop = AtomicBool::new(false);
        let mut scribbling = Random(random.next() | 1);
        thread::scope(|scope| {
            let _stop = Stop(&stop);
            scope.spawn(|| reached.scribble(&mut scribbling, aim, &stop));
            scope.spawn(|| met.watch(&stop));
            met.use_up(stream, &mut random, all);
        });
    }
    met
}

#[test]
fn a_thread_that_scribbles_over_everything_is_found_out() {
    for role in [ShmRole::Initiator, ShmRole::Responder] {
        let met = for_a_while(0x9e37_79b9_7f4a_7c15, &Aim::ALL, role);
        assert!(met.broken.into_inner() > 0, "{role:?}: positions that cannot be were believed");
        assert!(met.transferred.into_inner() > 0, "{role:?}: nothing was ever transferred");
    }
}

#[test]
fn a_thread_that_plays_with_the_doorbells_delays_at_most() {
    let met = for_a_while(0x0123_4567_89ab_cdef, &[Aim::Doorbells], ShmRole::Responder);
    assert_eq!(met.broken.into_inner() + met.reset.into_inner(), 0);
    assert!(met.transferred.into_inner() > 0 && met.out_of_time.into_inner() > 0);
}

#[test]
fn a_process_that_scribbles_over_everything_is_found_out() {
    let name = format!("zorb-ipc-hostile-{}", std::process::id());
    let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let acceptor = ShmAcceptor::bind(address, &AcceptorOptions::new(), &options()).unwrap();
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--exact", "the_hostile_process", "--ignored", "--nocapture"])
        .env(ADDRESS, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (met, stop) = (Met::default(), AtomicBool::new(false));
    let mut random = Random(0xfeed_beef_dead_cafe);
    // The other process may take a while to begin, and then get no processor.
    let (until, latest) = (Instant::now() + Duration::from_secs(2), Instant::now() + Duration::from_secs(60));
    let finds_nothing = || met.broken.load(Relaxed) == 0 && Instant::now() < latest;
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| met.watch(&stop));
        while Instant::now() < until || finds_nothing() {
            met.use_up(acceptor.accept_by(soon()).unwrap(), &mut random, true);
        }
    });
    drop(process.stdin.take());
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(met.broken.into_inner() > 0, "positions that cannot be were believed");
}

#[test]
#[ignore = "run by the test above, as its other process"]
fn the_hostile_process() {
    let Ok(name) = env::var(ADDRESS) else { return };
    // If this test's process dies nobody scribbles on.
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let address = UnixAddress::abstract_name(name.as_bytes()).unwrap();
    let mut random = Random(0x5151_5151_1234_4321);
    loop {
        let socket = UnixStream::connect(address.clone(), soon()).unwrap();
        let reached = Reached::initiate(socket);
        let aim = Aim::ALL[random.below(Aim::ALL.len())];
        let begun = Instant::now();
        // On to the next when the other end has found out.
        while begun.elapsed() < Duration::from_millis(200) && !reached.socket.is_closed_by_peer() {
            for _ in 0..64 {
                reached.step(&mut random, aim);
            }
        }
    }
}
