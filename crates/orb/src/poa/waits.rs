//! What happens to an adapter's other requests while one of its servants waits for a call of its own.
//!
//! Both policies that keep requests apart let nested ones in at that point, so callbacks cannot deadlock: a
//! single-threaded adapter lends its turn, the main thread serves its queue.

use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_ipc::{Epoll, Events, Interest, Trigger, Wake};

use super::adapter::Adapter;
use crate::orb::Orb;
use crate::upcall::Waiter;

/// The turn of a single-threaded adapter; passed on when dropped.
pub(super) struct Token {
    pub(super) adapter: Arc<Adapter>,
    pub(super) orb: Orb,
}

impl Drop for Token {
    fn drop(&mut self) {
        pass_turn(&self.adapter, &self.orb);
    }
}

fn pass_turn(adapter: &Arc<Adapter>, orb: &Orb) {
    let Some(next) = adapter.turn.as_ref().and_then(|turn| turn.pass()) else { return };
    let token = Token { adapter: adapter.clone(), orb: orb.clone() };
    let there = orb.clone();
    orb.server().spawn(Box::new(move || {
        if let Some(turn) = &token.adapter.turn {
            turn.adopt();
        }
        there.adapters().serve_anyway(next, Some(token));
    }));
}

/// While a servant of a single-threaded adapter waits, others have the turn.
pub(super) struct Lend {
    pub(super) adapter: Arc<Adapter>,
    pub(super) orb: Orb,
    /// What the thread itself does meanwhile.
    pub(super) outer: Option<Rc<dyn Waiter>>,
}

impl Waiter for Lend {
    fn until_readable(&self, descriptor: BorrowedFd<'_>, deadline: Instant) {
        let Some(turn) = &self.adapter.turn else { return };
        pass_turn(&self.adapter, &self.orb);
        match &self.outer {
            Some(outer) => outer.until_readable(descriptor, deadline),
            // An error shows again, and is told, when the descriptor is read.
            None => drop(zorb_ipc::wait_readable(descriptor, deadline)),
        }
        turn.take_back();
    }
}

/// While a servant waits in the main thread, that thread serves what comes.
pub(super) struct ServeMeanwhile {
    pub(super) orb: Orb,
}

impl Waiter for ServeMeanwhile {
    fn until_readable(&self, descriptor: BorrowedFd<'_>, deadline: Instant) {
        let adapters = self.orb.adapters();
        let Ok(bell) = Wake::new().map(Arc::new) else {
            // Out of descriptors: without a bell it can only wait.
            return drop(zorb_ipc::wait_readable(descriptor, deadline));
        };
        let _ringing = adapters.shared.main.ring(&bell);
        loop {
            let next = adapters.shared.main.pop();
            let until = if next.is_some() { Instant::now() } else { deadline };
            if let Some(request) = next {
                adapters.serve_anyway(request, None);
            }
            match wait([descriptor, bell.as_fd()], until) {
                Ok(Some(0)) | Err(_) => return,
                Ok(Some(_)) => drop(bell.drain()),
                Ok(None) if Instant::now() >= deadline => return,
                Ok(None) => {}
            }
        }
    }
}

/// Waits until one of two descriptors is readable: which, the first before the second, or `None` at the deadline.
fn wait(either: [BorrowedFd<'_>; 2], deadline: Instant) -> Result<Option<u64>, zorb_ipc::Error> {
    let epoll = Epoll::new()?;
    for (token, descriptor) in (0..).zip(either) {
        epoll.add(descriptor, token, Interest::RECEIVE, Trigger::Level)?;
    }
    let mut events = Events::with_capacity(either.len());
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        epoll.wait(&mut events, Some(left))?;
        let first = events.iter().map(|event| event.token).min();
        if first.is_some() || left == Duration::ZERO {
            return Ok(first);
        }
    }
}
