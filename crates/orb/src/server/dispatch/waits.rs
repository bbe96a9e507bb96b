//! What a server's thread does while its servant waits for the reply to a call of its own.
//!
//! That call may lead back here: a callback over the same connection, or one that needs this very thread. So the thread
//! first gives up its turn to read, and then waits ([`ThreadWait`]) or, where there is no other thread, serves
//! ([`ReactorWait`]).

use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use super::super::turn::Turn;
use super::Engine;
use super::keeper::Keeper;
use crate::upcall::Waiter;

/// The wait of a thread among others.
pub(super) struct ThreadWait {
    engine: Arc<Engine>,
    turn: Option<Arc<Turn>>,
}

impl ThreadWait {
    pub(super) fn new(engine: &Arc<Engine>, turn: Option<Arc<Turn>>) -> ThreadWait {
        ThreadWait { engine: engine.clone(), turn }
    }
}

impl Waiter for ThreadWait {
    fn until_readable(&self, descriptor: BorrowedFd<'_>, deadline: Instant) {
        give_up(&self.engine, self.turn.as_deref());
        self.engine.queue.waits_outside(true);
        if let Err(error) = zorb_ipc::wait_readable(descriptor, deadline) {
            // Whoever asked receives next, and learns what is wrong by that.
            tracing::debug!(%error, "a server thread could not wait");
        }
        self.engine.queue.waits_outside(false);
    }
}

/// The wait of the only thread.
pub(super) struct ReactorWait {
    keeper: Rc<Keeper>,
    turn: Option<Arc<Turn>>,
}

impl ReactorWait {
    pub(super) fn new(keeper: &Rc<Keeper>, turn: Option<Arc<Turn>>) -> ReactorWait {
        ReactorWait { keeper: keeper.clone(), turn }
    }
}

impl Waiter for ReactorWait {
    fn until_readable(&self, descriptor: BorrowedFd<'_>, deadline: Instant) {
        give_up(self.keeper.engine(), self.turn.as_deref());
        self.keeper.serve_until_readable(descriptor, deadline);
    }
}

fn give_up(engine: &Arc<Engine>, turn: Option<&Turn>) {
    if let Some(turn) = turn
        && turn.give_up()
    {
        engine.hand_on(turn);
        turn.connection.park();
    }
}
