//! One request on its way through a bridge: sent on when it comes, answered by whichever thread learns of the reply.
//!
//! ```text
//!            ┌─ a reply, or a failure ──► answered
//! waiting ───┤
//!            └─ the caller gave it up ──► given up inside, too
//! ```
//!
//! No thread waits for a reply: the inside ORB's reactor wakes the errand, which answers at once. A oneway stays one, and
//! stays until it has left, so that what follows it to the same object follows it inside.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use zorb_cdr::{Body, Decode, Encode};
use zorb_giop::{ContextId, Ior, ReplyStatus, ServiceContexts};
use zorb_orb::object::undecoded::{PendingReply, UndecodedReply, UndecodedRequest};
use zorb_orb::server::request::ServerRequest;
use zorb_orb::server::undecoded::CancelWatch;
use zorb_orb::{Completion, ObjectRef, SystemException};

use crate::References;
use crate::gate::Gate;
use crate::scan::seems_to_hold_a_reference;

/// A request that has been sent on.
pub(crate) struct Errand(Mutex<State>);

#[derive(Default)]
struct State {
    /// Taken out by who looks at it, and for good by who ends it.
    work: Option<Work>,
    /// There is something to look at.
    woken: bool,
    given_up: bool,
}

struct Work {
    gate: Arc<Gate>,
    reply: PendingReply,
    request: ServerRequest,
    watch: Option<CancelWatch>,
}

impl Errand {
    /// Sends `request` on to `target`, and sees to the rest.
    pub(crate) fn run(gate: Arc<Gate>, target: &ObjectRef, mut request: ServerRequest) {
        let sent = match request.undecoded() {
            Ok(undecoded) => undecoded,
            Err(exception) => return request.system_exception(exception),
        };
        if let Err(exception) = let_through(&gate, &sent.body, Completion::No) {
            return request.system_exception(exception);
        }
        let contexts = of_no_connection(&sent.contexts);
        let reply = PendingReply::send(target, UndecodedRequest { contexts, ..sent });
        let errand = Arc::new(Errand(Mutex::default()));
        let watch = request.expects_reply().then(|| {
            let errand = Arc::downgrade(&errand);
            request.when_cancelled(move || {
                if let Some(errand) = errand.upgrade() {
                    errand.state().given_up = true;
                    errand.look();
                }
            })
        });
        errand.state().work = Some(Work { gate, reply, request, watch: watch.flatten() });
        errand.look();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on as far as possible. Nothing is locked while it does: what it calls may come back here.
    fn look(self: &Arc<Self>) {
        let mut state = self.state();
        state.woken = true;
        while state.woken {
            // Who has it looks again.
            let Some(mut work) = state.work.take() else { return };
            state.woken = false;
            let given_up = state.given_up;
            drop(state);
            if given_up {
                return work.give_up();
            }
            let waker = Waker::from(self.clone());
            match Pin::new(&mut work.reply).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(ended) => return work.end(ended),
                Poll::Pending => {}
            }
            state = self.state();
            state.work = Some(work);
        }
    }
}

impl Wake for Errand {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}

impl Work {
    fn give_up(self) {
        drop(self.reply);
        drop(self.watch);
        self.request.discard();
    }

    fn end(self, ended: Result<Option<UndecodedReply>, SystemException>) {
        drop(self.watch);
        match ended.and_then(|reply| reply.map(|reply| outside(&self.gate, reply, &self.request)).transpose())
        {
            Ok(Some(reply)) => self.request.reply_undecoded_without_waiting(reply),
            // A oneway has left.
            Ok(None) => self.request.discard(),
            Err(exception) => self.request.system_exception(exception),
        }
    }
}

/// The reply as the caller is to see it.
fn outside(
    gate: &Gate,
    reply: UndecodedReply,
    request: &ServerRequest,
) -> Result<UndecodedReply, SystemException> {
    let contexts = of_no_connection(&reply.contexts);
    match reply.status {
        ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM => {
            let unreadable = |error| {
                SystemException::Marshal(format!("reference in the target's location forward: {error}"))
            };
            let target = Ior::decode(&mut reply.decoder()).map_err(unreadable)?;
            let reference = gate.export(&target)?;
            let encoded =
                UndecodedReply::encoded(request.format(), reply.status, |to| reference.ior().encode(to));
            let encoded = encoded
                .map_err(|error| SystemException::Internal(format!("the bridge's own reference: {error}")))?;
            Ok(UndecodedReply { contexts, ..encoded })
        }
        ReplyStatus::NO_EXCEPTION | ReplyStatus::USER_EXCEPTION => {
            let_through(gate, &reply.body, Completion::Yes)?;
            Ok(UndecodedReply { contexts, ..reply })
        }
        _ => Ok(UndecodedReply { contexts, ..reply }),
    }
}

/// Contexts without those that speak of the connection, and not of the call.
fn of_no_connection(contexts: &ServiceContexts) -> ServiceContexts {
    const OF_CONNECTIONS: [ContextId; 3] =
        [ContextId::CODE_SETS, ContextId::BI_DIR_IIOP, ContextId::ZORB_FILLER];
    if contexts.iter().all(|context| !OF_CONNECTIONS.contains(&context.id)) {
        return contexts.clone();
    }
    contexts.iter().filter(|context| !OF_CONNECTIONS.contains(&context.id)).cloned().collect()
}

fn let_through(gate: &Gate, body: &Body, completed: Completion) -> Result<(), SystemException> {
    if gate.settings.references == References::Refuse && seems_to_hold_a_reference(body) {
        let detail = "the message holds an object reference, and the bridge lets none through";
        return Err(SystemException::NoPermission(detail).completed(completed));
    }
    Ok(())
}
