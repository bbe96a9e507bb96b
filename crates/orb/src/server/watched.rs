//! A request in the hands of interceptors: where their points lie on its way, and what follows from what they return.

use zorb_cdr::{Decode, Decoder, Encode, Encoder};
use zorb_giop::{Ior, ReplyStatus, ServiceContexts, SystemExceptionBody};

use super::call::Remote;
use super::request::ServerRequest;
use crate::exception::{Completion, Kind, Minor, SystemException};
use crate::interceptors::{EncodedException, Intervention, Outcome, Upcall, Watch};
use crate::marshal::received_exception;
use crate::object::ObjectRef;
use crate::object::undecoded::{UndecodedReply, encoded};
use crate::skeleton::Skeleton;

impl ServerRequest {
    /// Whether interceptors see it.
    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.remote().is_some_and(|remote| remote.watch().is_some())
    }

    /// Has interceptors see it from now on, if there are any; `None` if that has answered it.
    #[cold]
    pub(crate) fn begin_watch(mut self) -> Option<ServerRequest> {
        if self.is_watched() {
            return Some(self);
        }
        let orb = self.call().orb().clone();
        let Some(mut watch) = orb.interceptors().and_then(Watch::of) else { return Some(self) };
        if self.number().is_some() {
            // They have to know the operation's name.
            self.ask_back();
            return None;
        }
        self.set_needs_name();
        let begun = watch.begin(self.call());
        self.remote_mut()?.put_watch(watch);
        self.unless(begun)
    }

    /// Shows it to interceptors before its servant gets it; `None` if that has answered it. In any case the thread has the request's slots as
    /// long as the upcall is kept.
    #[cold]
    pub(super) fn receive_watched(
        mut self,
        servant: &dyn Skeleton,
    ) -> (Option<Upcall>, Option<ServerRequest>) {
        let Some(mut watch) = self.remote_mut().and_then(Remote::take_watch) else {
            return (None, Some(self));
        };
        let (upcall, received) = watch.receive(self.call(), servant);
        if let Some(remote) = self.remote_mut() {
            remote.put_watch(watch);
        }
        (Some(upcall), self.unless(received))
    }

    fn unless(mut self, intervention: Result<(), Intervention>) -> Option<ServerRequest> {
        match intervention {
            Ok(()) => return Some(self),
            Err(Intervention::Raise(exception)) => self.system_exception(exception),
            Err(Intervention::ForwardRequest(to)) => self.answer_forward(&to, false),
        }
        None
    }

    /// Runs the ending points before an answer of this status. `outcome`: what is known of it. False: another answer was given in its
    /// place.
    #[cold]
    pub(super) fn end_watch(&mut self, outcome: impl FnOnce(&ServerRequest) -> Outcome) -> bool {
        let Some(mut watch) = self.remote_mut().and_then(Remote::take_watch) else { return true };
        let intervention = match watch.has_ended() {
            true => None,
            false => {
                let outcome = outcome(self);
                watch.end(self.call(), outcome)
            }
        };
        if let Some(remote) = self.remote_mut() {
            remote.put_watch(watch);
        }
        match intervention {
            None => return true,
            Some(Intervention::Raise(exception)) => self.answer_exception(&exception),
            Some(Intervention::ForwardRequest(to)) => self.answer_forward(&to, false),
        }
        false
    }

    /// The same before a result.
    #[cold]
    pub(super) fn end_watch_in_result(&mut self) -> bool {
        self.end_watch(|request| match request.is_two_way() {
            true => Outcome::Reply,
            false => Outcome::Sent,
        })
    }

    /// The same before an exception that the IDL declares.
    #[cold]
    pub(super) fn end_watch_in_user_exception(&mut self, repository_id: &str, members: &dyn Encode) -> bool {
        self.end_watch(|request| {
            request.encoded_exception(|to| {
                to.write_string(repository_id)?;
                members.encode(to)
            })
        })
    }

    /// The same of an exception in an any.
    #[cold]
    pub(super) fn end_watch_in_any(&mut self, exception: &zorb_cdr::Any) -> bool {
        self.end_watch(|request| request.encoded_exception(|to| exception.encode_value(to)))
    }

    fn encoded_exception<'a>(
        &self,
        encode: impl FnOnce(&mut Encoder<'a>) -> Result<(), zorb_cdr::EncodeError>,
    ) -> Outcome {
        let format = self.format();
        match encoded(format, encode).ok().and_then(|body| EncodedException::new(body, format).ok()) {
            Some(exception) => Outcome::User(exception),
            // It cannot be sent either: the answer will be another.
            None => Outcome::System(SystemException::new(
                Kind::Unknown,
                Minor::omg(1),
                Completion::Yes,
                "an exception that cannot be encoded",
            )),
        }
    }

    /// The same before a reply that nobody has decoded.
    #[cold]
    pub(super) fn end_watch_undecoded(&mut self, reply: &UndecodedReply) -> bool {
        self.end_watch(|request| {
            let mut body = Decoder::over(&reply.body, reply.format);
            let outcome = match reply.status {
                ReplyStatus::NO_EXCEPTION => Some(Outcome::Reply),
                ReplyStatus::USER_EXCEPTION => {
                    EncodedException::new(reply.body.clone(), reply.format).ok().map(Outcome::User)
                }
                ReplyStatus::SYSTEM_EXCEPTION => SystemExceptionBody::decode(&mut body)
                    .ok()
                    .map(|body| Outcome::System(received_exception(&body, request.operation()))),
                ReplyStatus::LOCATION_FORWARD | ReplyStatus::LOCATION_FORWARD_PERM => Ior::decode(&mut body)
                    .ok()
                    .and_then(|ior| ObjectRef::new(request.call().orb(), ior))
                    .map(Outcome::Forward),
                _ => Some(Outcome::Retry),
            };
            outcome.unwrap_or(Outcome::Unknown)
        })
    }

    /// What is sent beside the reply.
    pub(super) fn contexts_with(&self, contexts: &ServiceContexts) -> ServiceContexts {
        let watch = self.remote().and_then(Remote::watch);
        watch.map_or_else(
            || contexts.clone(),
            |watch| contexts.iter().chain(watch.reply_contexts()).cloned().collect(),
        )
    }
}
