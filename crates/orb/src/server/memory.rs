//! Memory of requests that have ended, for those that come: a thread that serves allocates none for them.

use std::cell::Cell;

use super::call::{Call, Origin, Position, Remote};

thread_local! {
    /// Room for one: a thread reads a request, and has most often ended it when it reads the next.
    static ROOM: Cell<Option<Box<Call>>> = const { Cell::new(None) };
}

/// Room for a request.
#[inline(always)]
pub(super) fn room() -> Box<Call> {
    match ROOM.try_with(Cell::take) {
        Ok(Some(room)) => room,
        _ => new_room(),
    }
}

#[cold]
fn new_room() -> Box<Call> {
    Box::new(Call { origin: Origin::Remote(Remote::vacant()), object_id: Position::default() })
}

/// A request has ended in it.
#[inline(always)]
pub(super) fn keep(room: Box<Call>) {
    // A thread that ends keeps nothing.
    let _ = ROOM.try_with(|kept| kept.set(Some(room)));
}
