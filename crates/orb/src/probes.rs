//! Time probes: where in a call the time goes.
//!
//! With the feature `probes` the steps of a call, on both sides, are stamped with the cycle counter into a ring of the
//! thread that takes them, while recording is switched on ([`record`]). Without the feature the marks are not there at all,
//! and nothing is recorded.
//!
//! ```text
//! client  Begin ─► Deadline ─► Route ─► Connection ─► Composed ─► Sent ─►(wait)─► Received ─► Parsed ─► Decoded ─► End
//! server           Readable ─► Admitted ─► Located ─► Called ─► Returned ─► Replied ─► Left ─► Done
//! ```
//!
//! A mark says that a step has *ended*: the time between two marks of one thread belongs to the later one.

/// The end of one step of a call; ARCHITECTURE.md, "Follow a request", tells what is done in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Point {
    /// Client: the stub has been called.
    Begin = 0,
    /// Client: deadline and policies are known.
    Deadline,
    /// Client: the endpoints are known.
    Route,
    /// Client: a connection is at hand.
    Connection,
    /// Client: head and arguments are written.
    Composed,
    /// Client: the transport has the message.
    Sent,
    /// Client: octets have come. Between this and `Sent` lies the wait: the network, the server, the scheduler.
    Received,
    /// Client: they are a reply.
    Parsed,
    /// Client: result or exception is read.
    Decoded,
    /// Client: the connection is given back.
    End,
    /// Server: octets have come.
    Readable,
    /// Server: they are a request, in its place in the order.
    Admitted,
    /// Server: adapter and servant are found.
    Located,
    /// Server: operation found and arguments read; the servant's method begins.
    Called,
    /// Server: the method has returned.
    Returned,
    /// Server: the reply is written.
    Replied,
    /// Server: the transport has the reply.
    Left,
    /// Server: the request has ended.
    Done,
}

impl Point {
    /// All, in the order in which a call passes them, the client's first.
    pub const ALL: [Point; 18] = [
        Point::Begin,
        Point::Deadline,
        Point::Route,
        Point::Connection,
        Point::Composed,
        Point::Sent,
        Point::Received,
        Point::Parsed,
        Point::Decoded,
        Point::End,
        Point::Readable,
        Point::Admitted,
        Point::Located,
        Point::Called,
        Point::Returned,
        Point::Replied,
        Point::Left,
        Point::Done,
    ];

    /// Whether it is on the server's side.
    pub fn is_servers(self) -> bool {
        self >= Point::Readable
    }
}

/// One mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Which step has ended.
    pub point: Point,
    /// When, by the cycle counter ([`ticks`]).
    pub ticks: u64,
}

/// Whether the marks in the steps of a call are built in: the feature `probes`.
pub const BUILT_IN: bool = cfg!(feature = "probes");

/// What this process has done so far, of what a call should do little of. Both stay 0 without the feature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// System calls by the handles of `zorb_ipc`: see [`zorb_ipc::system_calls`].
    pub system_calls: u64,
    /// Octets copied from one place in memory to another: see [`zorb_cdr::copies`].
    pub octets_copied: u64,
}

impl Counts {
    /// Up to now, by all threads.
    pub fn so_far() -> Counts {
        Counts { system_calls: zorb_ipc::system_calls(), octets_copied: zorb_cdr::copies::so_far() as u64 }
    }
}

/// System calls of the calling thread, by the handles of `zorb_ipc`: what one side of a call makes. All 0 without the feature.
pub use zorb_ipc::{SystemCalls, system_calls_of_thread};

/// The clock of the stamps, now: the processor's cycle counter, the same in all processes of a machine.
pub fn ticks() -> u64 {
    zorb_ipc::cycles()
}

/// Marks the end of a step, if the feature is built in and recording is on.
#[inline(always)]
pub(crate) fn passed(point: Point) {
    if BUILT_IN {
        mark(point);
    }
}

pub use recorder::{mark, record, take};

mod recorder {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

    use parking_lot::Mutex;

    use super::{Point, Stamp};

    /// Stamps that a thread keeps, the latest: some 800 calls' worth, in 256 KiB.
    const KEPT: usize = 1 << 14;

    static ON: AtomicBool = AtomicBool::new(false);
    static RINGS: Mutex<Vec<&Ring>> = Mutex::new(Vec::new());

    thread_local! {
        /// Stays when the thread ends, so that what it recorded can be taken.
        static MINE: Cell<Option<&'static Ring>> = const { Cell::new(None) };
    }

    /// One thread's stamps. Written by that thread alone; atomics only so that another may read them afterwards.
    struct Ring {
        /// Stamps ever made.
        made: AtomicUsize,
        /// Of each stamp its point and its ticks.
        stamps: Box<[[AtomicU64; 2]; KEPT]>,
    }

    /// Switches recording on or off for all threads of this process, its ORBs alike.
    pub fn record(on: bool) {
        ON.store(on, Ordering::SeqCst);
    }

    /// Takes what was recorded: for each thread that made marks its latest stamps, oldest first. To be asked for while no
    /// call is under way: a thread that makes marks meanwhile may give a few that are older or newer than their place.
    pub fn take() -> Vec<Vec<Stamp>> {
        let rings = RINGS.lock();
        rings.iter().map(|ring| ring.take()).filter(|stamps| !stamps.is_empty()).collect()
    }

    /// What every step does where the marks are built in: makes a mark, if recording is on. For who measures what that
    /// costs.
    #[inline(always)]
    pub fn mark(point: Point) {
        if ON.load(Ordering::Relaxed) {
            stamp(point);
        }
    }

    #[inline(never)]
    fn stamp(point: Point) {
        let ticks = zorb_ipc::cycles();
        match MINE.get() {
            Some(ring) => ring.put(point, ticks),
            None => Ring::enrolled().put(point, ticks),
        }
    }

    impl Ring {
        #[cold]
        #[inline(never)]
        fn enrolled() -> &'static Ring {
            let zeros: Vec<_> = (0..KEPT).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect();
            let Ok(stamps) = zeros.try_into() else { unreachable!("so many were made") };
            let ring = Box::leak(Box::new(Ring { made: AtomicUsize::new(0), stamps }));
            RINGS.lock().push(ring);
            MINE.set(Some(ring));
            ring
        }

        #[inline]
        fn put(&self, point: Point, ticks: u64) {
            let made = self.made.load(Ordering::Relaxed);
            let [at_point, at_ticks] = &self.stamps[made % KEPT];
            at_point.store(point as u64, Ordering::Relaxed);
            at_ticks.store(ticks, Ordering::Relaxed);
            self.made.store(made + 1, Ordering::Release);
        }

        fn take(&self) -> Vec<Stamp> {
            let made = self.made.swap(0, Ordering::Acquire);
            let first = made.saturating_sub(KEPT);
            (first..made)
                .map(|at| {
                    let [point, ticks] = &self.stamps[at % KEPT];
                    let point = Point::ALL[point.load(Ordering::Relaxed) as usize];
                    Stamp { point, ticks: ticks.load(Ordering::Relaxed) }
                })
                .collect()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn marks_are_kept_in_order_and_only_while_recording() {
            let marked = |points: &[Point]| {
                points.iter().copied().for_each(mark);
            };
            let stamps = std::thread::spawn(move || {
                marked(&[Point::Begin, Point::End]);
                record(true);
                marked(&[Point::Begin, Point::Deadline, Point::Sent]);
                record(false);
                marked(&[Point::Begin]);
                take()
            });
            let stamps = stamps.join().expect("no panic");
            let mine = stamps
                .iter()
                .find(|stamps| {
                    let points: Vec<_> = stamps.iter().map(|stamp| stamp.point).collect();
                    points == [Point::Begin, Point::Deadline, Point::Sent]
                })
                .expect("this thread's marks");
            assert!(mine.is_sorted_by_key(|stamp| stamp.ticks));
        }
    }
}
