//! Serving a connection: receive, hand on, run, reply, and again.
//!
//! This is the loop that every call goes through. While calls come one after the other it is one receive and one send a
//! call; see the table in the crate's documentation for the steps in between.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::connection::bulk::Apart;
use super::super::connection::{Connection, Farewell, Next, Reading};
use super::super::request::ServerRequest;
use super::super::turn::{Mark, Turn};
use super::queue::Task;
use super::train::{self, Left};
use super::waits::ThreadWait;
use super::{Engine, no_thread};
use crate::probes::{Point, passed};
use crate::transport::Received;
use crate::upcall::{self, Waiter};

/// Messages looked at before the first of them is run. 64: enough that a burst is spread over all threads, few enough that
/// the first is not kept waiting.
const BATCH: usize = 64;

/// How long the requests of one burst are run one after the other, before other threads run the rest. 100 µs: what it takes to wake a few.
const LONGEST_BURST: Duration = Duration::from_micros(100);

/// Bursts that are given to other threads at once after one that lasted. 16: a burst that lasts for nothing is then a hundredth of all.
const PASSED_OVER: u32 = 16;

/// Waits of one turn with which the connection leaves the keeper's set: each arrival costs a tenth of a microsecond more
/// while it is in it, and leaving is one system call.
const STREAK: u32 = 32;

/// Whether the reader may wait for octets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// In the receive itself, for [`ServerLimits::linger`](crate::server::ServerLimits::linger).
    Lingers,
    /// Not at all: others need the thread.
    Returns,
}

/// A server thread, from its first task to its last.
pub(super) fn work(engine: &Arc<Engine>) {
    engine.queue.arrived();
    upcall::with(Rc::new(ThreadWait::new(engine, None)), || {
        while let Some(task) = engine.queue.next(engine) {
            match task {
                Task::Read(connection) => read(engine, connection),
                Task::Run(request) => engine.run(request),
                Task::Job(job) => run_job(job),
            }
        }
    });
}

/// A job is the ORB's own, but it ends in upcalls.
pub(super) fn run_job(job: Box<dyn FnOnce() + Send>) {
    if catch_unwind(AssertUnwindSafe(job)).is_err() {
        tracing::error!("a job on a server thread panicked");
    }
}

/// Reads the connection, whose turn the caller has, until it falls silent, is lost to another thread, or ends.
fn read(engine: &Arc<Engine>, connection: Arc<Connection>) {
    let turn = Arc::new(Turn::new(connection));
    let is_watched = engine.has_threads();
    if is_watched {
        engine.turns.lock().push(turn.clone());
    }
    let wait = Rc::new(ThreadWait::new(engine, Some(turn.clone())));
    serve_within(engine, &turn, Patience::Lingers, wait);
    if is_watched {
        engine.turns.lock().retain(|other| !Arc::ptr_eq(other, &turn));
    }
}

/// Serves a connection on the calling thread, without waiting: a client in this thread drives it.
pub(super) fn serve_now(connection: Arc<Connection>) {
    let turn = Turn::new(connection);
    let engine = turn.connection.engine();
    if turn.connection.on_drive() {
        take_turn(engine, &turn, Patience::Returns);
    }
    while engine.queue.has_waiting()
        && let Some(task) = engine.queue.take()
    {
        match task {
            Task::Read(connection) => read(engine, connection),
            Task::Run(request) => engine.run(request),
            Task::Job(job) => run_job(job),
        }
    }
}

/// The same for a turn of the caller's, who waits by `wait` in the servants' own calls.
pub(super) fn serve_within(engine: &Arc<Engine>, turn: &Turn, patience: Patience, wait: Rc<dyn Waiter>) {
    upcall::with(wait, || take_turn(engine, turn, patience));
}

fn take_turn(engine: &Arc<Engine>, turn: &Turn, patience: Patience) {
    let connection = &turn.connection;
    let linger = engine.settings.limits.linger;
    let may_linger = patience == Patience::Lingers && !linger.is_zero();
    // Whether all that was received has been looked at.
    let mut exhausted = !connection.has_buffered();
    // Whether the last receive took all that there was, as far as one can know.
    let mut drained = false;
    let mut waits = 0u32;
    let mut burst = Burst::default();
    loop {
        let mut reading = connection.reading();
        let request = loop {
            if engine.is_stopping() && !connection.must_stay() {
                drop(reading);
                return connection.close(Farewell::Close, "shutdown");
            }
            if connection.must_pause(&reading) {
                let left = reading.inbound.has_buffered();
                connection.note_buffered(&mut reading, left);
                return connection.stop_reading(reading);
            }
            if !exhausted {
                match connection.next_request(&mut reading) {
                    Next::Request(request) => break request,
                    Next::Closed => return,
                    // Also what a reader that has lost the turn in an upcall had left.
                    Next::Nothing => connection.note_buffered(&mut reading, false),
                }
            }
            let lingers = may_linger && engine.queue.can_spare_thread();
            if drained && !lingers {
                return connection.stop_reading(reading);
            }
            if reading.inbound.comes_apart() {
                match connection.receive_apart(&mut reading, lingers.then_some(linger)) {
                    Apart::Not => {}
                    Apart::Octets(count) => {
                        connection.came(&reading, count);
                        (drained, exhausted) = (false, false);
                        continue;
                    }
                    Apart::Other(Ok(Received::Closed)) => {
                        return connection.close(Farewell::Silence, "the client closed it");
                    }
                    Apart::Other(Ok(_)) => return connection.stop_reading(reading),
                    Apart::Other(Err(error)) => return connection.end(&format!("receive: {error}")),
                }
            }
            let Reading { inbound, flood, .. } = &mut *reading;
            let floods = flood.comes();
            let space = inbound.space();
            let room = space.len();
            let received = match lingers {
                true => {
                    note_wait(connection, &mut waits);
                    match floods && connection.may_look_again() {
                        true => flood.receive(connection, space, linger, drained),
                        false => connection.channel().receive_within(space, linger),
                    }
                }
                false => connection.channel().receive_now(space),
            };
            match received {
                Ok(Received::Octets(count)) => {
                    passed(Point::Readable);
                    drained = count < room;
                    connection.received(&mut reading, count);
                }
                Ok(Received::Empty) => return connection.stop_reading(reading),
                Ok(Received::Closed) => {
                    return connection.close(Farewell::Silence, "the client closed it");
                }
                Err(error) => return connection.end(&format!("receive: {error}")),
            }
            exhausted = false;
        };
        passed(Point::Admitted);
        let is_alone = connection.has_taken_all(&mut reading);
        // Nothing more is to be expected, and nobody waits for it here.
        let rests = is_alone && drained && !may_linger && connection.may_rest(&reading);
        let behind = match is_alone {
            true => {
                connection.note_buffered(&mut reading, false);
                Behind::Nothing
            }
            false if burst.may_be_train() && connection.begins_train(&mut reading, &request) => Behind::Train,
            false => burst.look_behind(engine, turn, &mut reading),
        };
        drop(reading);
        let mark = turn.begin();
        engine.watch_upcall();
        let left = match behind {
            Behind::Train => burst.run_train(engine, turn, mark, request),
            _ => {
                engine.run(request);
                passed(Point::Done);
                if !is_alone {
                    burst.run(engine, turn);
                }
                Left::Unclear
            }
        };
        if engine.queue.has_waiting() {
            run_waiting(engine);
        }
        if !turn.end(mark) {
            // Lost; but if no other thread has had a reason to take it, it is ours again.
            if behind == Behind::Closed || !connection.take_turn() {
                return;
            }
            turn.renew();
            exhausted = false;
            continue;
        }
        match behind {
            Behind::Nothing if rests && !engine.is_stopping() => return connection.park(),
            Behind::Nothing => exhausted = true,
            Behind::More | Behind::Train => exhausted = left == Left::Nothing,
            Behind::Closed => return,
        }
    }
}

/// Of a connection that keeps its reader busy the keeper need not know.
#[inline]
fn note_wait(connection: &Connection, waits: &mut u32) {
    *waits = waits.wrapping_add(1);
    if *waits == STREAK {
        connection.leave_set();
    }
}

/// Runs requests of this burst, or of others, for which no other thread has come yet.
#[inline(never)]
fn run_waiting(engine: &Arc<Engine>) {
    while let Some(request) = engine.queue.next_request() {
        engine.run(request);
    }
}

/// What was received behind the request that is about to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    More,
    Closed,
    /// What the same thread is to run behind it, and perhaps more.
    Train,
}

/// Requests that were received together, and are run one after the other by the thread that received them.
///
/// That saves the hand-off to another thread, and a system call for each answer: they leave together. It is for upcalls that are short. As soon
/// as a burst lasts, the rest of it goes to other threads; when the upcall itself lasts the keeper sees to that, or the upcall's own
/// wait. And who has seen that gives the next bursts to other threads at once, before the first upcall begins.
#[derive(Default)]
struct Burst {
    /// When the one began that runs.
    begun: Option<Instant>,
    /// Bursts that go to other threads at once.
    others: u32,
}

impl Burst {
    /// Whether the next burst may be run by this thread from one [request](train) to the next, without a look at what else there is.
    fn may_be_train(&self) -> bool {
        self.others == 0
    }

    /// Runs a request and those like it behind it. If that lasts, and others wait, the next bursts are given to other threads at once.
    #[inline(never)]
    fn run_train(&mut self, engine: &Engine, turn: &Turn, mark: Mark, first: ServerRequest) -> Left {
        let begun = Instant::now();
        let left = train::run(engine, turn, mark, first);
        if left == Left::Messages && begun.elapsed() >= LONGEST_BURST {
            self.others = PASSED_OVER;
        }
        left
    }

    /// Takes the requests that were received behind the first.
    #[inline(never)]
    fn look_behind(&mut self, engine: &Arc<Engine>, turn: &Turn, reading: &mut Reading) -> Behind {
        let connection = &turn.connection;
        let (mut requests, mut is_closed) = (Vec::new(), false);
        while requests.len() < BATCH && !connection.must_pause(reading) {
            match connection.next_request(reading) {
                Next::Request(request) => requests.push(request),
                Next::Nothing => break,
                Next::Closed => {
                    is_closed = true;
                    break;
                }
            }
        }
        let more = !is_closed && reading.inbound.has_buffered();
        connection.note_buffered(reading, more);
        if self.others > 0 && !requests.is_empty() {
            self.others -= 1;
            requests.drain(..).for_each(|request| engine.submit(Task::Run(request)));
        }
        if !requests.is_empty() {
            self.begun = Some(Instant::now());
            turn.wait_behind(requests, engine.has_threads());
        }
        match () {
            () if is_closed => Behind::Closed,
            () if more => Behind::More,
            () => Behind::Nothing,
        }
    }

    /// Runs those behind the first.
    #[inline(never)]
    fn run(&mut self, engine: &Arc<Engine>, turn: &Turn) {
        let Some(begun) = self.begun.take() else { return };
        while begun.elapsed() < LONGEST_BURST {
            let Some(request) = turn.next_behind() else { return turn.connection.release_replies() };
            engine.run(request);
        }
        self.others = PASSED_OVER;
        engine.hand_on(turn);
    }
}

/// Hands the connection's requests to other threads, and its replies to who waits for them. Never waits; the caller has the turn.
#[cold]
pub(super) fn sort_requests(engine: &Arc<Engine>, connection: &Arc<Connection>) {
    take_requests(connection, |request| engine.submit(Task::Run(request)));
}

/// Answers what the connection has to say with the exception that no thread is to be had. Never waits; the caller has the
/// turn.
#[cold]
pub(super) fn refuse_requests(connection: &Arc<Connection>, why: &str) {
    take_requests(connection, |request| request.system_exception(no_thread(why)));
}

fn take_requests(connection: &Arc<Connection>, take: impl Fn(ServerRequest)) {
    let mut reading = connection.reading();
    for _ in 0..BATCH {
        match connection.next_request(&mut reading) {
            Next::Request(request) => take(request),
            Next::Closed => return,
            Next::Nothing => match connection.channel().receive_now(reading.inbound.space()) {
                Ok(Received::Octets(count)) => connection.received(&mut reading, count),
                Ok(Received::Empty) => break,
                Ok(Received::Closed) => {
                    drop(reading);
                    return connection.close(Farewell::Silence, "the client closed it");
                }
                Err(error) => {
                    drop(reading);
                    return connection.end(&format!("receive: {error}"));
                }
            },
        }
    }
    let left = reading.inbound.has_buffered();
    connection.note_buffered(&mut reading, left);
    connection.stop_reading(reading);
}
