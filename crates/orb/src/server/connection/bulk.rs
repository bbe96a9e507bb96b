//! Bulk arguments that are received where they are to stay: in memory that the servant offers, or, for what would have to be put together of fragments, and for
//! structs that would have to be copied out of a message, in memory of the connection's. Structs of messages that come whole are brought in phase there.
//!
//! The servant is asked as soon as the head of a request has come and the length of its bulk argument, which may be before earlier requests have
//! ended. The request runs when all of it is there, as any other. If that never happens the memory is given back with the connection.

use std::io;
use std::mem;
use std::time::{Duration, Instant};

use bytes::Bytes;
use zorb_cdr::{DecodeError, ElementType, Format, Piece, Run};
use zorb_giop::code_sets::ServerCodeSets;
use zorb_giop::{Begun, Inbound, Message, ProtocolError, Request};

use super::{Connection, Reading};
use crate::landing::{ALIGNMENT, BULK, Coming, HEADS_WORTH, Landing, Place, look, receive_run};
use crate::orb::Orb;
use crate::rt::arriving::{Arriving, Found};
use crate::server::dispatch::Engine;
use crate::server::known::Heads;
use crate::transport::Received;
use crate::transport::lent::receive_lent;

/// What a connection knows of its bulk arguments.
#[derive(Default)]
pub(in crate::server) struct Arrival {
    /// Where one goes that is on its way.
    place: Option<Place>,
    run: Option<Box<Run>>,
    /// Bulk has begun to come and is not found yet: the next receive is to bring little.
    reads_little: bool,
    /// The last bulk had a place of its own, or would have had: of the next message a head's worth is received first.
    expects_bulk: bool,
    /// Octets of the last bulk argument that has come, and of the one that has come or is coming: so much the connection has earned, to be made to
    /// hold by an announcement.
    earned: usize,
    announced: usize,
}

/// Asks the servants of an engine.
struct Asking<'a> {
    engine: &'a Engine,
    code_sets: &'a ServerCodeSets,
    arrival: &'a mut Arrival,
    heads: &'a mut Heads,
    may_be_lent: bool,
}

impl Landing for Asking<'_> {
    fn begin(&mut self, begun: &Begun, inbound: &mut Inbound) -> Result<Option<Run>, DecodeError> {
        let (Message::Request(request), Some(orb)) = (&begun.message, self.engine.orb()) else {
            return Ok(None);
        };
        let Some(key) = request.target.object_key() else { return Ok(None) };
        let format = Format { version: request.version, code_sets: self.code_sets.in_force() };
        let mut arriving = Arriving::new(request, format, &orb);
        self.engine.ask(&orb, &key, &mut arriving);
        let (run, element, memory, is_for_orb) = match arriving.found() {
            Found::Nothing | Found::Structs(_) => return Ok(None),
            Found::Unclear(error) => return Err(error),
            Found::Bulk { run, element, memory, is_for_orb } => (run, element, memory, is_for_orb),
        };
        self.arrival.earned = mem::replace(&mut self.arrival.announced, run.size());
        // What the peer may have lent is viewed where it lies, if it is in phase.
        let wants_own = begun.is_in_fragments()
            || element.may_be_out_of_phase() && !(run.is_in_phase() && self.may_be_lent);
        self.arrival.place = match memory {
            Some(deposit) => Some(Place::Offered(deposit)),
            None if wants_own => Place::own(inbound, run.size(), self.arrival.earned),
            None => None,
        };
        self.arrival.expects_bulk = self.arrival.place.is_some() || wants_own;
        // Memory that connections share is had for a place, and not for what is received like all else. Structs that are lent are not brought in phase.
        let is_own =
            self.engine.settings.storage.is_none() && !(self.may_be_lent && element.may_be_out_of_phase());
        if is_for_orb && is_own && !begun.is_in_fragments() {
            self.note_plain_bulk(request, &run, element, begun.octets_of_body());
        }
        Ok(self.arrival.place.is_some().then_some(run))
    }

    fn memory(&mut self) -> &mut [u8] {
        self.arrival.place.as_mut().map(Place::memory).unwrap_or_default()
    }
}

impl Asking<'_> {
    /// If further requests like this one need not be asked for: what is viewed where any message is received, or brought in phase there, goes nowhere else.
    fn note_plain_bulk(&mut self, request: &Request, run: &Run, element: ElementType, body: usize) {
        let begins_body = run.head() == size_of::<u32>();
        let is_all = begins_body && run.before() + run.octets() == body;
        let alignment = if is_all { element.alignment() } else { ALIGNMENT };
        match element.may_be_out_of_phase() {
            false => self.heads.note_plain_bulk(request, alignment, None),
            true if element.is_out_of_phase_behind(run.head()) => {
                self.heads.note_plain_bulk(request, alignment, Some(element));
            }
            true => {}
        }
    }
}

impl Connection {
    /// Requests like this one come again and again. Structs that they begin with, and that would have to be copied out of those that come whole, are
    /// brought in phase from now on.
    #[cold]
    pub(super) fn look_for_structs(&self, request: &Request, orb: &Orb, reading: &mut Reading) {
        let Some(key) = request.target.object_key() else { return };
        // What others may see is not written to.
        if self.engine.settings.storage.is_some() || self.channel().lends() {
            return;
        }
        let format = Format { version: request.version, code_sets: reading.code_sets.in_force() };
        let mut arriving = Arriving::whole(request, format, orb);
        self.engine.ask(orb, &key, &mut arriving);
        if let Found::Structs(element) = arriving.found() {
            reading.heads.note_structs(request, element);
        }
    }
}

/// What [`Connection::receive_apart`] did.
pub(in crate::server) enum Apart {
    /// Nothing: what comes next is received as ever.
    Not,
    /// So many octets came.
    Octets(usize),
    Other(io::Result<Received>),
}

impl Connection {
    /// As [`Inbound::next`](zorb_giop::Inbound::next), when that has nothing more to give: goes on with bulk that is received elsewhere, or sees it begin.
    #[cold]
    #[inline(never)]
    pub(super) fn next_of_bulk(&self, reading: &mut Reading) -> Result<Option<Message>, ProtocolError> {
        let Reading { inbound, code_sets, arrival, heads, .. } = reading;
        loop {
            if arrival.run.is_some() {
                if !inbound.is_diverted() {
                    // It was cancelled: the memory is given back.
                    (arrival.place, arrival.run) = (None, None);
                } else if let Some(received) = inbound.has_all_of_run() {
                    let whole = arrival.finish(received, inbound);
                    inbound.expect_apart();
                    if let Some(message) = inbound.undivert(Some(whole))? {
                        return Ok(Some(message));
                    }
                } else {
                    let memory = arrival.place.as_mut().map(Place::memory).unwrap_or_default();
                    if !inbound.received_apart(0, memory)? {
                        return Ok(None);
                    }
                }
            } else if heads.apart().is_some_and(|known| inbound.decline_like(known.head())) {
                arrival.expects_bulk = false;
                return Ok(None);
            } else {
                let may_be_lent = self.channel().lends();
                let asking = &mut Asking { engine: &self.engine, code_sets, arrival, heads, may_be_lent };
                match look(inbound, asking)? {
                    Coming::Run(run) => arrival.run = Some(run),
                    Coming::Perhaps => {
                        arrival.reads_little = true;
                        inbound.expect_apart();
                        return Ok(None);
                    }
                    Coming::Anything => {
                        arrival.place = None;
                        if !inbound.has_buffered() {
                            // Where it was declined, there is to be room for all of it.
                            return inbound.next();
                        }
                        // Whatever it is, it is taken now.
                        inbound.decline();
                    }
                }
            }
            if let Some(message) = inbound.next()? {
                return Ok(Some(message));
            }
        }
    }

    /// Receives what does not go where all goes. Waits for `patience`, or not at all.
    #[cold]
    #[inline(never)]
    pub(in crate::server) fn receive_apart(
        &self,
        reading: &mut Reading,
        patience: Option<Duration>,
    ) -> Apart {
        let channel = self.channel();
        let Reading { inbound, arrival, .. } = reading;
        if arrival.run.is_some() && inbound.is_diverted() {
            let memory = arrival.place.as_mut().map(Place::memory).unwrap_or_default();
            let received = receive_run(inbound, memory, |into| match patience {
                Some(patience) => channel.receive_slices(into, Instant::now() + patience),
                None => channel.receive_slices_now(into),
            });
            if let Ok(Received::Octets(count)) = received {
                // An error is told by whoever asks for the next message.
                let _ = inbound.received_apart(count, memory);
                return Apart::Octets(count);
            }
            return Apart::Other(received);
        }
        let expects_bulk = arrival.expects_bulk && !inbound.is_incomplete();
        if arrival.reads_little || expects_bulk {
            let space = inbound.space();
            let most = space.len().min(HEADS_WORTH);
            let received = match patience {
                Some(patience) => channel.receive_within(&mut space[..most], patience),
                None => channel.receive_now(&mut space[..most]),
            };
            if let Ok(Received::Octets(count)) = received {
                inbound.received(count);
                (arrival.reads_little, arrival.expects_bulk) = (false, false);
                return Apart::Octets(count);
            }
            return Apart::Other(received);
        }
        let lent = receive_lent(channel, inbound);
        if arrival.expects_bulk {
            inbound.expect_apart();
        }
        match lent {
            Ok(0) => Apart::Not,
            Ok(count) => Apart::Octets(count),
            Err(error) => Apart::Other(Err(error)),
        }
    }
}

impl Arrival {
    /// Requests like this one come again and again. If they have bulk and nobody waits for an answer, the servant is asked for the next one, since
    /// whole messages show nobody whether they could be received together.
    #[cold]
    pub(super) fn look_into_those_like(&mut self, request: &Request, inbound: &mut Inbound) {
        if request.body.len() >= BULK && !request.response.expects_reply() {
            self.expects_bulk = true;
            inbound.expect_apart();
        }
    }

    /// The elements that have come: fewer than were announced if the message has ended before.
    fn finish(&mut self, received: usize, inbound: &mut Inbound) -> Piece {
        match (self.place.take(), self.run.take()) {
            (Some(place), Some(run)) => place.end(&run, received, inbound),
            _ => Run::piece(Bytes::new()),
        }
    }
}
