//! One call's way past the client's interceptors: its requests, one after the other where it is forwarded.

use std::borrow::Cow;
use std::sync::Arc;

use zorb_cdr::{Decode, Decoder, Format};
use zorb_giop::{Ior, Reply, ReplyStatus, ResponseFlags, ServiceContexts, SystemExceptionBody};

use super::client::{ClientRequestInfo, ClientRequestInterceptor};
use super::current::Slots;
use super::flow::{Ending, guarded, unwind};
use super::outcome::{EncodedException, Intervention, Outcome};
use crate::exception::{Completion, SystemException};
use crate::marshal::{decode_exception, received_exception};
use crate::object::ObjectRef;
use crate::policy::Policies;

/// Times that interceptors may send one call elsewhere. 16, as many as a server may: two that forward to each other would
/// otherwise never end.
const MOST_FORWARDS: u32 = 16;

/// A call that interceptors see.
pub(crate) struct Passage {
    chain: Arc<[Arc<dyn ClientRequestInterceptor>]>,
    info: ClientRequestInfo,
    /// What each of its messages has anyway.
    contexts: ServiceContexts,
    /// How many of the chain wait for an ending point.
    stack: usize,
    /// Between a starting point and the ending points.
    under_way: bool,
    forwards: u32,
}

/// What came of a call before it was sent.
pub(crate) type Begun = Result<(), Intervention>;

impl Passage {
    /// For a call of `target`, if its ORB has interceptors that are to see it. `contexts`: those that the message has anyway.
    #[inline]
    pub(crate) fn of(
        target: &ObjectRef,
        operation: impl FnOnce() -> Cow<'static, str>,
        response: ResponseFlags,
        contexts: impl FnOnce() -> ServiceContexts,
    ) -> Option<Box<Passage>> {
        let interceptors = target.orb().interceptors()?;
        (!interceptors.client.is_empty()).then(|| {
            let info = ClientRequestInfo {
                id: 0,
                operation: operation(),
                target: target.clone(),
                elsewhere: None,
                response,
                contexts: ServiceContexts::new(),
                reply_contexts: ServiceContexts::new(),
                slots: Slots::of_thread(target.orb()),
                outcome: None,
            };
            let chain = interceptors.client.clone();
            Box::new(Passage { chain, info, contexts: contexts(), stack: 0, under_way: false, forwards: 0 })
        })
    }

    /// The service contexts to send.
    pub(crate) fn contexts(&self) -> &ServiceContexts {
        &self.info.contexts
    }

    /// Whether a request has begun that has not ended.
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Begins a request to `to`; the call's own reference, or what it was forwarded to. An intervention has been told to all interceptors
    /// that have to know.
    pub(crate) fn begin(&mut self, to: &ObjectRef, forwarded_to: Option<Ior>) -> Begun {
        let orb = to.orb().clone();
        let same = Arc::ptr_eq(&to.0, &self.info.target.0);
        self.info.elsewhere = match forwarded_to {
            Some(ior) => Some(ObjectRef::bound(orb.clone(), ior, Policies::new())),
            None => (!same).then(|| to.clone()),
        };
        self.info.id = orb.interceptors().map_or(0, |interceptors| interceptors.next_request());
        self.info.contexts = self.contexts.clone();
        self.info.reply_contexts = ServiceContexts::new();
        self.info.outcome = None;
        self.under_way = true;
        for (at, interceptor) in self.chain.clone().iter().enumerate() {
            self.stack = at;
            let info = &mut self.info;
            let point = || interceptor.send_request(info);
            if let Err(intervention) = guarded(interceptor.name(), "send_request", Completion::No, point) {
                let told = self.unwound(intervention.clone().into());
                return Err(self.counted(told.unwrap_or(intervention)));
            }
        }
        self.stack = self.chain.len();
        Ok(())
    }

    /// A poller asks for the outcome. Who raises ends the request.
    pub(crate) fn poll(&mut self) -> Result<(), SystemException> {
        for interceptor in self.chain.clone().iter() {
            let info = &self.info;
            let point = || interceptor.send_poll(info).map_err(Intervention::Raise);
            match guarded(interceptor.name(), "send_poll", Completion::Maybe, point) {
                Err(Intervention::Raise(exception)) => {
                    let ended = self.end(Outcome::System(exception.clone()));
                    return Err(match ended {
                        Some(Intervention::Raise(changed)) => changed,
                        _ => exception,
                    });
                }
                Err(Intervention::ForwardRequest(_)) | Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Begins a request that cannot be sent, and ends it.
    pub(crate) fn fail(&mut self, to: &ObjectRef, exception: SystemException) -> Intervention {
        match self.begin(to, None) {
            Err(intervention) => intervention,
            Ok(()) => self.end(Outcome::System(exception.clone())).unwrap_or(Intervention::Raise(exception)),
        }
    }

    /// What came beside the reply.
    pub(crate) fn note_contexts(&mut self, contexts: &ServiceContexts) {
        self.info.reply_contexts = contexts.clone();
    }

    /// A result or an exception has come.
    pub(crate) fn end_by_reply(&mut self, reply: &Reply, format: Format) -> Option<Intervention> {
        self.note_contexts(&reply.contexts);
        let outcome = match reply.status {
            ReplyStatus::NO_EXCEPTION if self.info.response == ResponseFlags::WITH_TARGET => Outcome::Reply,
            ReplyStatus::NO_EXCEPTION => Outcome::Sent,
            _ => match EncodedException::new(reply.body.clone(), format) {
                Ok(exception) => Outcome::User(exception),
                Err(error) => Outcome::System(
                    decode_exception(&error, Completion::Yes)
                        .context(format_args!("{}: reading an exception", self.info.operation)),
                ),
            },
        };
        self.end(outcome)
    }

    /// An exception or a forward has come, of which nothing was read: who made the call does.
    pub(crate) fn end_by_undecoded(&mut self, reply: &Reply, format: Format) -> Option<Intervention> {
        self.note_contexts(&reply.contexts);
        let mut body = Decoder::over(&reply.body, format);
        let outcome = match reply.status {
            ReplyStatus::SYSTEM_EXCEPTION => match SystemExceptionBody::decode(&mut body) {
                Ok(body) => Outcome::System(received_exception(&body, &self.info.operation)),
                Err(_) => Outcome::Unknown,
            },
            _ => match Ior::decode(&mut body).ok().and_then(|ior| ObjectRef::new(self.info.orb(), ior)) {
                Some(to) => Outcome::Forward(to),
                None => Outcome::Retry,
            },
        };
        self.end(outcome)
    }

    /// Ends the request, and gives what interceptors put in the place of its outcome.
    pub(crate) fn end(&mut self, outcome: Outcome) -> Option<Intervention> {
        let changed = self.unwound(outcome);
        changed.map(|intervention| self.counted(intervention))
    }

    /// The same, unless it is one forward too many.
    fn counted(&mut self, intervention: Intervention) -> Intervention {
        let Intervention::ForwardRequest(to) = intervention else { return intervention };
        self.forwards += 1;
        match self.forwards > MOST_FORWARDS {
            true => Intervention::Raise(endless(&self.info.operation)),
            false => Intervention::ForwardRequest(to),
        }
    }

    fn unwound(&mut self, outcome: Outcome) -> Option<Intervention> {
        self.under_way = false;
        self.info.outcome = Some(outcome);
        let chain = self.chain.clone();
        let changed = unwind(&mut self.stack, &mut self.info, outcome_of, |at, info, ending| {
            let interceptor = &chain[at];
            let completed = outcome_of(info).completion();
            let name = interceptor.name();
            match ending {
                Ending::Reply => guarded(name, "receive_reply", completed, || {
                    interceptor.receive_reply(info).map_err(Intervention::Raise)
                }),
                Ending::Exception => {
                    guarded(name, "receive_exception", completed, || interceptor.receive_exception(info))
                }
                Ending::Other => {
                    guarded(name, "receive_other", completed, || interceptor.receive_other(info))
                }
            }
        });
        // What came in a reply may lie in memory that is to be used again.
        match (self.info.outcome.take(), changed) {
            (Some(Outcome::System(exception)), true) => Some(Intervention::Raise(exception)),
            (Some(Outcome::Forward(to)), true) => Some(Intervention::ForwardRequest(to)),
            _ => None,
        }
    }
}

fn outcome_of(info: &mut ClientRequestInfo) -> &mut Outcome {
    info.outcome.get_or_insert(Outcome::Unknown)
}

#[cold]
fn endless(operation: &str) -> SystemException {
    let text = format!("{operation}: interceptors forwarded the call {MOST_FORWARDS} times without end");
    SystemException::Transient(text)
}
