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
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use zorb_cdr::{Decode, Encode};
use zorb_giop::{ContextId, Ior, ReplyStatus, ServiceContexts};
use zorb_orb::object::undecoded::{PendingReply, UndecodedReply, UndecodedRequest};
use zorb_orb::server::request::ServerRequest;
use zorb_orb::server::undecoded::CancelWatch;
use zorb_orb::{Completion, ObjectRef, SystemException};

use crate::gate::Gate;
use crate::hops;
use crate::passage::{Contents, exception, passed};

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
    of: Of,
}

/// What is known of the object that a request is for.
#[derive(Clone, Copy)]
struct Of {
    address: Option<IpAddr>,
    interface: Option<usize>,
}

impl Errand {
    /// Sends `request` on to `target`, which is at `address` and has this interface as far as that is known; and sees to the
    /// rest.
    pub(crate) fn run(
        gate: Arc<Gate>,
        target: &ObjectRef,
        address: Option<IpAddr>,
        interface: Option<usize>,
        mut request: ServerRequest,
    ) {
        let sent = match request.undecoded() {
            Ok(undecoded) => undecoded,
            Err(exception) => return request.system_exception(exception),
        };
        let sent = match onwards(&gate, interface, sent, &request) {
            Ok(sent) => sent,
            Err(exception) => return request.system_exception(exception.completed(Completion::No)),
        };
        let of = Of { address, interface };
        let reply = PendingReply::send(target, sent);
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
        errand.state().work = Some(Work { gate, reply, request, watch: watch.flatten(), of });
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
        let back = |reply| back(&self.gate, self.of, reply, &self.request);
        match ended.and_then(|reply| reply.map(back).transpose()) {
            Ok(Some(reply)) => self.request.reply_undecoded_without_waiting(reply),
            // A oneway has left.
            Ok(None) => self.request.discard(),
            Err(exception) => self.request.system_exception(exception),
        }
    }
}

/// The request as the target is to see it.
fn onwards(
    gate: &Gate,
    interface: Option<usize>,
    sent: UndecodedRequest,
    request: &ServerRequest,
) -> Result<UndecodedRequest, SystemException> {
    let contexts = hops::counted(of_no_connection(&sent.contexts), gate.settings.most_hops)?;
    let signature = gate.settings.interfaces.signature(interface, &sent.operation);
    let shapes = signature.map(|signature| &signature.arguments[..]);
    let contents = Contents { version: sent.version, shapes, is_exception: false };
    let caller = || {
        let peer = request.call().peer()?;
        Some(peer.address.parse::<SocketAddr>().ok()?.ip())
    };
    let body = passed(&gate.settings, sent.body, &contents, |reference, declared| {
        gate.onwards(reference, declared, caller())
    });
    let body = body.map_err(|exception| exception.context(format!("arguments of {}", sent.operation)))?;
    Ok(UndecodedRequest { contexts, body, ..sent })
}

/// The reply as the caller is to see it.
fn back(
    gate: &Gate,
    of: Of,
    reply: UndecodedReply,
    request: &ServerRequest,
) -> Result<UndecodedReply, SystemException> {
    let contexts = of_no_connection(&reply.contexts);
    let is_exception = match reply.status {
        ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM => {
            let unreadable = |error| {
                SystemException::Marshal(format!("reference in the target's location forward: {error}"))
            };
            let target = Ior::decode(&mut reply.decoder()).map_err(unreadable)?;
            let reference = gate.back(&target, of.interface, of.address)?;
            let encoded = UndecodedReply::encoded(request.format(), reply.status, |to| reference.encode(to));
            let encoded = encoded
                .map_err(|error| SystemException::Internal(format!("the bridge's own reference: {error}")))?;
            return Ok(UndecodedReply { contexts, ..encoded });
        }
        ReplyStatus::NO_EXCEPTION => false,
        ReplyStatus::USER_EXCEPTION => true,
        _ => return Ok(UndecodedReply { contexts, ..reply }),
    };
    let operation = request.operation();
    let results = || {
        let signature = gate.settings.interfaces.signature(of.interface, operation);
        let shapes = match (is_exception, signature) {
            (_, None) => None,
            (false, Some(signature)) => Some(&signature.results[..]),
            (true, Some(signature)) => {
                signature.exceptions.get(&exception(&reply.body)?).map(|members| &members[..])
            }
        };
        let contents = Contents { version: reply.format.version, shapes, is_exception };
        passed(&gate.settings, reply.body.clone(), &contents, |reference, declared| {
            gate.back(reference, declared, of.address)
        })
    };
    let body = results().map_err(|exception: SystemException| {
        exception.completed(Completion::Yes).context(format!("results of {operation}"))
    })?;
    Ok(UndecodedReply { contexts, body, ..reply })
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
