//! A train: oneways with the same head, received one behind the other. All are for one object, so that none may start before the
//! one before it has returned; the thread that reads them runs them in turn, and what the next one has in common with
//! the last is not looked up, counted or made anew.
//!
//! ```text
//! reading ─► first ─► Handler ─► servant           the usual way, with the place in the order
//!                        ▲          │ ended, in this thread: kept, with its message's memory
//!                        │          ▼
//!                        └──── next_of ◄── the next message, if it has this head, and the turn is still this thread's
//!                                   │ none
//!                                   ▼
//!                                  over: counted out, what waits behind it starts
//! ```
//!
//! What may change between two oneways is looked at for each: the turn, limits, cancellation, the manager's and the object's life. A
//! servant that keeps a request, or answers in another thread, ends the train: the request then has all that it holds to itself.

use std::cell::Cell;

use super::super::call::Call;
use super::super::request::ServerRequest;
use super::super::turn::{Mark, Turn};
use super::{Engine, NEXT, RUNNING};
use crate::probes::{Point, passed};

thread_local! {
    /// The request that runs in a train of this thread, by its identity; 0: none does.
    static RUNS: Cell<usize> = const { Cell::new(0) };
    /// One that has run there and ended, with all that the next one takes over.
    static ENDED: Cell<Option<Box<Call>>> = const { Cell::new(None) };
}

/// Whether a request that ends here is the one that runs in this thread's train.
#[inline]
pub(in crate::server) fn runs(identity: usize) -> bool {
    RUNS.get() == identity
}

/// It has ended.
#[inline]
pub(in crate::server) fn ended(call: Box<Call>) {
    ENDED.set(Some(call));
}

/// What is left of what was received, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Left {
    /// Nothing: all were whole messages, and were taken.
    Nothing,
    /// No message that is whole, or nobody has looked.
    Unclear,
    /// Whole messages.
    Messages,
}

/// Runs `first` and those behind it.
#[inline(never)]
pub(super) fn run(engine: &Engine, turn: &Turn, mark: Mark, first: ServerRequest) -> Left {
    let (identity, mut left) = (first.identity(), Left::Unclear);
    // This one may run within an upcall of another, whose request may have ended already.
    let outer = (RUNNING.replace(identity), RUNS.replace(identity), ENDED.take());
    engine.handler.serve_train(first, &mut || next_of(turn, mark, &mut left));
    RUNS.set(outer.1);
    // The last one, as any other request ends.
    drop(ENDED.replace(outer.2).map(ServerRequest::in_its_place));
    RUNNING.set(outer.0);
    while let Some(next) = NEXT.take() {
        engine.run_one(next);
    }
    left
}

/// The next request of a train, in the place of the one that has ended.
fn next_of(turn: &Turn, mark: Mark, left: &mut Left) -> Option<ServerRequest> {
    passed(Point::Done);
    let mut request = ServerRequest::in_its_place(ENDED.take()?);
    if turn.connection.go_on(turn, mark, &mut request, left) {
        passed(Point::Admitted);
        return Some(request);
    }
    // Which puts it where it was.
    drop(request);
    None
}
