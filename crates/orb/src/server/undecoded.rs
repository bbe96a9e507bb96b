//! Requests that are not decoded here, and their replies: what a [`Skeleton`](crate::skeleton::Skeleton) that knows no
//! interface works with. A bridge sends them on; a dynamic skeleton decodes them by types that it learns at run time.
//!
//! ```text
//! Skeleton::dispatch(request) ── undecoded() ──► UndecodedRequest      what came, its body where it was received
//!                             ◄── reply_undecoded ── UndecodedReply    now or later, from any thread
//! ```

use std::sync::Arc;

use zorb_cdr::{BORROW_FROM, Encoder, Format, Version};
use zorb_giop::{Protocol, ReplyHead, ReplyStatus, write_undecoded_reply};

use super::connection::Connection;
use super::request::ServerRequest;
use crate::exception::{Completion, SystemException};
use crate::object::undecoded::{UndecodedReply, UndecodedRequest};

/// As long as it lives somebody is told when the caller of a request gives it up: what
/// [`ServerRequest::when_cancelled`] gives.
#[must_use = "dropped, nobody is told"]
pub struct CancelWatch {
    connection: Arc<Connection>,
    id: u32,
}

impl Drop for CancelWatch {
    fn drop(&mut self) {
        self.connection.cancelled().unwatch(self.id);
    }
}

impl ServerRequest {
    /// The request as it came, its arguments undecoded and taken out of it: what [`arguments`](Self::arguments) would read.
    /// Octets of the body keep the memory that they were received in.
    ///
    /// The code sets of its text are in [`format`](Self::format); the context that announced them may have come with an
    /// earlier request of the connection. A oneway whose caller waits for this server has been confirmed by it, so that
    /// nobody waits for an answer to what is given here.
    ///
    /// # Errors
    /// `BAD_OPERATION`: its operation's name is no text. `NO_IMPLEMENT`: it came by another messaging protocol than GIOP.
    pub fn undecoded(&mut self) -> Result<UndecodedRequest, SystemException> {
        let owed = self.expects_reply();
        let Some(remote) = self.remote_mut() else {
            return Err(SystemException::Internal("a collocated call has no message"));
        };
        if !matches!(remote.source().connection.messaging(), Protocol::Giop) {
            return Err(SystemException::NoImplement("bodies that nobody decodes travel by GIOP alone"));
        }
        let Ok(operation) = std::str::from_utf8(remote.head.operation()) else {
            return Err(SystemException::BadOperation("the operation's name is not UTF-8"));
        };
        Ok(UndecodedRequest {
            version: remote.version,
            operation: operation.to_owned(),
            response: match owed {
                true => zorb_giop::ResponseFlags::WITH_TARGET,
                false => zorb_giop::ResponseFlags::NONE,
            },
            contexts: remote.head.contexts().clone(),
            body: std::mem::take(&mut remote.body),
            follows_forwards: false,
        })
    }

    /// The GIOP version of the request and of its reply, and the code sets of text in both.
    pub fn format(&self) -> Format {
        self.remote().map_or_else(Format::default, |remote| remote.format())
    }

    /// Answers with a body that stays as it is, in its own byte order; large ones are sent from where they lie. A forward for
    /// good becomes one for this time where the request's GIOP version knows no other.
    ///
    /// A body that the request's version cannot carry as it is (its alignment is another, see
    /// [`write_undecoded_reply`]) is answered with `MARSHAL`.
    pub fn reply_undecoded(self, reply: &UndecodedReply) {
        self.send_undecoded(reply, Connection::send_whole);
    }

    /// As [`reply_undecoded`](Self::reply_undecoded), for a thread that must not wait, such as one that wakes futures: a large
    /// body is sent by a thread of the server's; of a small one what the transport does not take at once waits.
    pub fn reply_undecoded_without_waiting(self, reply: UndecodedReply) {
        if reply.body.len() < BORROW_FROM {
            return self.send_undecoded(&reply, Connection::send_without_waiting);
        }
        let orb = self.call().orb().clone();
        orb.server().spawn(Box::new(move || self.reply_undecoded(&reply)));
    }

    fn send_undecoded(mut self, reply: &UndecodedReply, send: impl Fn(&Arc<Connection>, &Encoder<'_>)) {
        if !self.expects_reply() {
            return;
        }
        if self.is_watched() && !self.end_watch_undecoded(reply) {
            return;
        }
        let contexts = &self.contexts_with(&reply.contexts);
        let Some(remote) = self.remote_mut() else { return };
        let version = remote.version;
        let status = match reply.status {
            ReplyStatus::LOCATION_FORWARD_PERM if version < Version::V1_2 => ReplyStatus::LOCATION_FORWARD,
            status => status,
        };
        let mut message = Encoder::new(remote.format());
        let head = ReplyHead { id: remote.id, status, by_number: false, contexts };
        match write_undecoded_reply(&mut message, version, &head, &reply.body) {
            Ok(()) => {
                remote.owed = false;
                send(&remote.source().connection, &message);
            }
            Err(error) => {
                let detail = format!("result of {}: {error}", self.operation());
                self.system_exception(SystemException::Marshal(detail).completed(Completion::Yes));
            }
        }
    }

    /// Has `tell` called once when the caller gives the request up (CancelRequest, or its connection is gone), at once if it
    /// has; by the thread that learns of it, so it must not block. It is called no more when what this returns is dropped,
    /// but for a call that has begun. Only one may watch a request. `None` for a collocated call.
    pub fn when_cancelled(&self, tell: impl FnOnce() + Send + 'static) -> Option<CancelWatch> {
        let remote = self.remote()?;
        let watch = CancelWatch { connection: remote.source().connection.clone(), id: remote.id };
        watch.connection.cancelled().watch(watch.id, Box::new(tell));
        Some(watch)
    }
}
