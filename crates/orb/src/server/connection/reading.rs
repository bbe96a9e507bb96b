//! Octets to requests: what the thread that has the turn does with what it received.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use zorb_cdr::{Body, Encoder, Format, Version};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{Inbound, LocateRequest, LocateStatus, Message, MessageType, Protocol, ProtocolError};

use super::super::dispatch::train::Left;
use super::super::known::Known;
use super::super::turn::{Mark, Turn};
use super::{Connection, Farewell, GIOP, Next, Reading, ServerRequest, UNKNOWN};
use crate::client::end::End;
use crate::exception::{Minor, SystemException};
use crate::poa::Located;

impl Connection {
    /// Whether who waits for octets may look again before it sleeps.
    pub(in crate::server) fn may_look_again(&self) -> bool {
        self.engine.settings.spinners.as_ref().is_some_and(|spinners| !spinners.sleep_at_once())
    }

    /// Counts octets that a receive has put into [`Inbound::space`].
    #[inline]
    pub(in crate::server) fn received(&self, reading: &mut Reading, count: usize) {
        reading.inbound.received(count);
        self.came(reading, count);
    }

    /// Counts octets that have come, if a message is on its way.
    #[inline]
    pub(in crate::server) fn came(&self, reading: &Reading, count: usize) {
        if reading.incomplete {
            self.times.octets.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// The next request that may start, out of what was received. All other messages are dealt with on the way.
    #[inline(always)]
    pub(in crate::server) fn next_request(self: &Arc<Self>, reading: &mut Reading) -> Next {
        match self.next_known(reading) {
            Some(next) => next,
            None => self.next_unknown(reading),
        }
    }

    /// The same, if it is a request whose head the connection knows.
    #[inline(always)]
    fn next_known(self: &Arc<Self>, reading: &mut Reading) -> Option<Next> {
        loop {
            let known = reading.heads.known().filter(|known| !known.is_stale())?;
            let message = reading.inbound.next_like(known.head())?;
            let Some(orb) = self.engine.orb() else { return Some(self.close_without_orb()) };
            let request = ServerRequest::known(self.clone(), known.clone(), message, orb);
            if let Some(request) = self.admit(reading, request) {
                return Some(Next::Request(request));
            }
            // It waits in the order, or was refused.
            if !self.is_open() {
                return Some(Next::Closed);
            }
        }
    }

    /// Whether this request, which is about to run, and the one that was received behind it are oneways with one head, so that the
    /// same thread runs both whatever else has come.
    #[inline]
    pub(in crate::server) fn begins_train(&self, reading: &mut Reading, request: &ServerRequest) -> bool {
        let begins = !self.must_pause(reading)
            && request.may_be_of_train().is_some_and(|known| reading.inbound.comes_like(known.head()));
        if begins {
            self.note_buffered(reading, true);
        }
        begins
    }

    /// Puts what was received behind `request`, a oneway that has ended, in its place, if it is another one with its head; false, and
    /// `left` says what else was received.
    #[inline]
    pub(in crate::server) fn go_on(
        &self,
        turn: &Turn,
        mark: Mark,
        request: &mut ServerRequest,
        left: &mut Left,
    ) -> bool {
        // Who else reads has the turn, and may wait for octets.
        let Some(mut reading) = self.reading.try_lock() else { return false };
        if !turn.is_still(mark) {
            return false;
        }
        let (_, before, _) = request.particulars();
        let goes_on =
            request.may_be_of_train().is_some_and(|known| !known.is_stale() && !self.must_pause(&reading));
        let next = |known: &Known, body: &mut Body| reading.inbound.next_like_into(known.head(), body);
        let Some(octets) = goes_on.then(|| request.go_on(next)).flatten() else {
            *left = self.left(&mut reading);
            self.note_buffered(&mut reading, *left == Left::Messages);
            return false;
        };
        let (_, _, id) = request.particulars();
        reading.saturated |= !self.flight.exchange(before, octets, &self.engine.settings.limits);
        self.cancelled.begins(id);
        true
    }

    /// What is left of what was received, behind a message that was taken.
    #[inline]
    fn left(&self, reading: &mut Reading) -> Left {
        match self.has_taken_all(reading) {
            true => Left::Nothing,
            false if reading.inbound.has_buffered() => Left::Messages,
            false => Left::Unclear,
        }
    }

    #[cold]
    fn close_without_orb(self: &Arc<Self>) -> Next {
        self.close(Farewell::Close, "the ORB is gone");
        Next::Closed
    }

    /// The next request, if it has the head of those that are looked for apart.
    #[cold]
    #[inline(never)]
    fn next_apart(self: &Arc<Self>, reading: &mut Reading) -> Option<Next> {
        loop {
            let known = reading.heads.apart().cloned()?;
            // Another object may have other structs.
            if known.head().has_structs() && !known.may_be_brought_in_phase() {
                return None;
            }
            let message = reading.inbound.next_large_like(known.head())?;
            let Some(orb) = self.engine.orb() else { return Some(self.close_without_orb()) };
            let request = ServerRequest::known(self.clone(), known, message, orb);
            if let Some(request) = self.admit(reading, request) {
                return Some(Next::Request(request));
            }
            if !self.is_open() {
                return Some(Next::Closed);
            }
        }
    }

    #[inline(never)]
    fn next_unknown(self: &Arc<Self>, reading: &mut Reading) -> Next {
        loop {
            if reading.heads.have_one_apart()
                && let Some(next) = self.next_apart(reading)
            {
                return next;
            }
            let next = match reading.inbound.next() {
                Ok(None) => self.next_of_bulk(reading),
                next => next,
            };
            match next {
                Ok(Some(Message::Request(request))) => {
                    let Some(orb) = self.engine.orb() else { return self.close_without_orb() };
                    // What has a number in its head's place has a short one.
                    let may_be_known = reading.is_told && !reading.is_special && request.number.is_none();
                    if may_be_known && reading.heads.met(&request) {
                        reading.arrival.look_into_those_like(&request, &mut reading.inbound);
                        self.look_for_structs(&request, &orb, reading);
                    }
                    let request = ServerRequest::new(self.clone(), request, orb);
                    if let Some(request) = self.admit(reading, request) {
                        return Next::Request(request);
                    }
                    if !self.is_open() {
                        return Next::Closed;
                    }
                }
                Ok(Some(message)) => {
                    if !self.act_on(message, &reading.inbound) {
                        return Next::Closed;
                    }
                }
                Ok(None) => {
                    self.note_progress(reading);
                    return Next::Nothing;
                }
                Err(error) => {
                    tracing::warn!(peer = %self.peer(), %error, "a peer broke the protocol");
                    self.end_calls(End::Protocol(error));
                    self.close(Farewell::Error(error.answer_version()), "protocol error");
                    return Next::Closed;
                }
            }
        }
    }

    /// The first request has come, and so it is known what the client speaks.
    #[cold]
    fn note_messaging(&self, reading: &mut Reading) {
        let Some(messaging) = reading.inbound.protocol() else { return };
        if let Some(format) = messaging.format() {
            reading.code_sets = ServerCodeSets::fixed(format.code_sets);
        }
        if !matches!(messaging, Protocol::Giop) {
            let mut names = self.engine.settings.messagings.0.iter().map(|known| known.name());
            let index = names.position(|name| name == messaging.name()).unwrap_or_default();
            self.messaging.store(u8::try_from(index + 1).unwrap_or(GIOP), Ordering::Relaxed);
        }
        reading.is_told = true;
    }

    #[inline]
    fn note_version(&self, version: Version) {
        if self.minor.load(Ordering::Relaxed) != version.minor {
            self.minor.store(version.minor, Ordering::Relaxed);
        }
    }

    pub(super) fn version(&self) -> Version {
        match self.minor.load(Ordering::Relaxed) {
            // Every client understands 1.0.
            UNKNOWN => Version::V1_0,
            minor => Version { major: 1, minor },
        }
    }

    /// Says whether the reader leaves complete messages behind, in case it loses its turn before it comes back to them.
    #[inline]
    pub(in crate::server) fn note_buffered(&self, reading: &mut Reading, buffered: bool) {
        if reading.buffered != buffered {
            reading.buffered = buffered;
            self.buffered.store(buffered, Ordering::Release);
        }
    }

    /// Whether messages were received that nobody has looked at yet.
    pub(in crate::server) fn has_buffered(&self) -> bool {
        self.buffered.load(Ordering::Acquire)
    }

    /// Whether all that was received are whole messages that were taken; no time is kept then.
    #[inline]
    pub(in crate::server) fn has_taken_all(&self, reading: &mut Reading) -> bool {
        let incomplete = reading.inbound.is_incomplete();
        if !incomplete && reading.incomplete {
            self.note_progress(reading);
        }
        !incomplete
    }

    /// Keeps the time of a message that is on its way.
    #[inline]
    pub(in crate::server) fn note_progress(&self, reading: &mut Reading) {
        let incomplete = reading.inbound.is_incomplete();
        if incomplete != reading.incomplete {
            reading.incomplete = incomplete;
            let since = if incomplete { self.engine.now() + 1 } else { 0 };
            self.times.octets.store(0, Ordering::Relaxed);
            self.times.message.store(since, Ordering::Relaxed);
        }
    }

    /// Takes a request in. `None`: it waits in the order of requests, or was refused.
    #[inline(always)]
    fn admit(self: &Arc<Self>, reading: &mut Reading, mut request: ServerRequest) -> Option<ServerRequest> {
        if !reading.is_told {
            self.note_messaging(reading);
        }
        let (version, octets, id) = request.particulars();
        self.note_version(version);
        let fits = self.flight.add(octets, &self.engine.settings.limits);
        self.cancelled.begins(id);
        if reading.is_special {
            request = self.look_once_more(reading, request)?;
        }
        let settled = request.settle(&mut reading.code_sets);
        if !request.names_its_object() {
            request.ask_back();
            return None;
        }
        if let Err(exception) = settled {
            request.system_exception(exception);
            return None;
        }
        if !fits {
            match request.expects_reply() {
                true => {
                    self.refuse(request);
                    return None;
                }
                false if self.is_both_ways() => {
                    tracing::warn!(peer = %self.peer(), "a oneway was dropped: too many requests of its connection are under way (limits)");
                    request.discard();
                    return None;
                }
                false => reading.saturated = true,
            }
        }
        if !request.expects_reply() {
            reading.flood.oneway(octets);
            request.confirm_receipt();
        }
        self.order.admit(request)
    }

    /// Whether a request may come now. False: it ends the connection.
    #[cold]
    fn may_come(self: &Arc<Self>, request: &ServerRequest) -> bool {
        if !self.is_opened_here() || self.may_be_called() {
            return true;
        }
        tracing::warn!(peer = %self.peer(), "a server sent a request over a connection that was not offered to it");
        let (version, ..) = request.particulars();
        let message = MessageType::REQUEST;
        self.end_calls(End::Protocol(ProtocolError::WrongRole { message, version }));
        self.close(Farewell::Error(version), "a request that nobody asked for");
        false
    }

    /// A request by datagram, or on a connection that this ORB opened. `None`: it is answered.
    #[cold]
    fn look_once_more(
        self: &Arc<Self>,
        reading: &mut Reading,
        request: ServerRequest,
    ) -> Option<ServerRequest> {
        if self.is_opened_here() {
            if !self.may_come(&request) {
                request.discard();
                return None;
            }
            return self.may_be_served(reading, request);
        }
        // What another message announced, which may be lost or another sender's, says nothing of this one.
        reading.code_sets = ServerCodeSets::default();
        Some(request)
    }

    /// Answers a request that goes beyond the connection's limits.
    #[cold]
    fn refuse(&self, request: ServerRequest) {
        let limits = &self.engine.settings.limits;
        let detail = format!(
            "this connection has {} requests under way, or {} octets of arguments (limits)",
            limits.requests_per_connection, limits.octets_per_connection
        );
        request.system_exception(SystemException::Transient(detail).minor(Minor::omg(1)));
    }

    /// Everything but requests. False: nothing more is to be read.
    #[cold]
    fn act_on(self: &Arc<Self>, message: Message, inbound: &Inbound) -> bool {
        match message {
            Message::LocateRequest(request) => {
                self.note_version(request.version);
                self.locate(&request);
                true
            }
            Message::CancelRequest { id } => {
                self.cancelled.cancel(id);
                true
            }
            Message::Reply(reply) if self.is_both_ways() => self.take_reply(reply),
            Message::CloseConnection => {
                self.closed_by_peer(inbound);
                self.close(Farewell::Silence, "the client closed it");
                false
            }
            Message::MessageError => {
                tracing::warn!(peer = %self.peer(), "the client could not read a message of ours (MessageError)");
                self.end_calls(End::MessageError);
                self.close(Farewell::Silence, "MessageError from the client");
                false
            }
            // Replies answer requests, of which a server sends none.
            other => {
                tracing::warn!(peer = %self.peer(), "a client sent what only a server may send");
                let (message, version) = (other.message_type(), self.version());
                self.end_calls(End::Protocol(ProtocolError::WrongRole { message, version }));
                self.close(Farewell::Error(self.version()), "unexpected message");
                false
            }
        }
    }

    fn locate(self: &Arc<Self>, request: &LocateRequest) {
        let located = request.target.object_key().map(|key| self.engine.locate(&key));
        let mut reply = Encoder::new(Format::new(request.version));
        let has_permanent = request.version >= Version::V1_2;
        let messaging = self.messaging();
        let written = match located {
            None if has_permanent => {
                messaging.begin_locate_reply(&mut reply, request.id, LocateStatus::LOC_NEEDS_ADDRESSING_MODE);
                reply.write_u16(zorb_giop::AddressingDisposition::KEY_ADDR.0);
                Ok(())
            }
            None | Some(Located::Unknown) => {
                messaging.begin_locate_reply(&mut reply, request.id, LocateStatus::UNKNOWN_OBJECT);
                Ok(())
            }
            Some(Located::Here) => {
                messaging.begin_locate_reply(&mut reply, request.id, LocateStatus::OBJECT_HERE);
                Ok(())
            }
            Some(Located::Forward(ref ior, permanent)) => {
                let status = match permanent && has_permanent {
                    true => LocateStatus::OBJECT_FORWARD_PERM,
                    false => LocateStatus::OBJECT_FORWARD,
                };
                messaging.begin_locate_reply(&mut reply, request.id, status);
                zorb_cdr::Encode::encode(ior, &mut reply)
            }
        };
        match written.and_then(|()| messaging.finish(&mut reply)) {
            Ok(()) => self.send(&reply),
            Err(error) => tracing::warn!(peer = %self.peer(), %error, "a LocateReply cannot be written"),
        }
    }

    /// Whether the connection is not to be read for now: the peer does not take its replies, or has sent oneways beyond
    /// its limits. It is then left to the keeper, or to the requests that end.
    #[inline]
    pub(in crate::server) fn must_pause(&self, reading: &Reading) -> bool {
        (reading.saturated || self.writing.is_blocked()) && !self.is_both_ways()
    }
}
