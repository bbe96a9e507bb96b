//! A connection that one blocking call has to itself: it writes and reads on the caller's own thread, so
//! there is no lock, no hand-off and no other thread to wake.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zorb_cdr::{EncodeError, Encoder, Format, Version};
use zorb_giop::{Inbound, Message, Protocol, ProtocolError, Reply};

use super::Settings;
use super::failure::{Failure, Step};
use super::message::{Course, Form, MessageBuffer, Outgoing, Terms, send};
use super::pool::Seat;
use crate::probes::{Point, passed};
use crate::transport::lent::receive_lent;
use crate::transport::{Armed, Channel, Idle, Received, Wanted};
use crate::upcall;

/// After so long without use a connection is looked at before it is used again. The look is a system call, a
/// hundredth of a call's cost; a server that ended meanwhile is then noticed before anything is sent.
pub(super) const TRUSTED_IDLE: Duration = Duration::from_millis(1);

/// After so long without use a connection gives back what it takes a call's time to have again.
pub(super) const RESTS_AFTER: Duration = Duration::from_secs(1);

/// An open connection, owned by one call at a time.
pub(crate) struct Private {
    channel: Arc<dyn Channel>,
    inbound: Inbound,
    terms: Terms,
    /// The last call's message, whose memory is used again.
    buffer: MessageBuffer,
    /// When the last call began: a clock that has been read anyway.
    last_used: Instant,
    _seat: Seat,
}

impl Private {
    pub(crate) fn new(
        channel: Arc<dyn Channel>,
        messaging: &Protocol,
        settings: &Settings,
        seat: Seat,
    ) -> Private {
        Private {
            channel,
            inbound: settings.inbound(messaging),
            terms: Terms::default(),
            buffer: MessageBuffer::default(),
            last_used: Instant::now(),
            _seat: seat,
        }
    }

    /// It was opened for the call that is about to be made.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        self.terms.last_id() == 0
    }

    /// When it last began to carry a call.
    pub(crate) fn last_used(&self) -> Instant {
        self.last_used
    }

    /// Gives back what is only there to be quick, if it has not been used for some time.
    pub(crate) fn rest_if_unused(&mut self, now: Instant) {
        if now > self.last_used + RESTS_AFTER {
            self.inbound.release_memory();
            self.buffer.rest();
            self.channel.rest();
        }
    }

    /// Whether a call may be tried on it: the server has neither closed it nor said that it will.
    #[inline]
    pub(crate) fn is_usable(&self, now: Instant) -> bool {
        !self.inbound.has_buffered()
            && (now < self.last_used + TRUSTED_IDLE || self.channel.state() == Idle::Quiet)
    }

    /// Sends a request and waits for its reply; and how its body is to be read. It lies in memory of the connection's, which is free for
    /// the next message when it is dropped. After a failure the connection is of no more use.
    #[inline(always)]
    pub(crate) fn call(
        &mut self,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
    ) -> Result<(Reply, Format), Box<Failure>> {
        self.last_used = course.started;
        let form = self.terms.next(course.candidate);
        let channel = &*self.channel;
        let sent = self.buffer.compose(&form, course, outgoing, |message| {
            passed(Point::Composed);
            let sent = send(channel, message, course);
            passed(Point::Sent);
            sent
        });
        match sent {
            Ok(sent) => sent?,
            Err(error) => return Err(unwritable(error)),
        }
        self.terms.sent(&form);
        let answered = self.await_reply(&form, course);
        if let Err(failure) = &answered {
            self.say_why(failure, course, form.format.version);
        }
        answered
    }

    #[inline(always)]
    fn await_reply(&mut self, form: &Form<'_>, course: &Course<'_>) -> Result<(Reply, Format), Box<Failure>> {
        // Octets of what has begun to come that were taken where they lie.
        let mut lent = 0;
        loop {
            if let Some(waiter) = upcall::current().filter(|_| lent == 0) {
                // Of an earlier wait, perhaps.
                self.channel.heard();
                if self.channel.arm(Wanted::Input) != Armed::Ready {
                    waiter.until_readable(self.channel.descriptor(), course.deadline);
                }
            }
            let received = match lent {
                0 => self.channel.receive(self.inbound.space(), course.deadline),
                _ => Ok(Received::Octets(0)),
            };
            match received {
                Ok(Received::Octets(count)) => {
                    passed(Point::Received);
                    self.inbound.received(count);
                }
                Ok(Received::Empty) if Instant::now() >= course.deadline => return Err(overdue(course)),
                Ok(Received::Empty) => continue,
                Ok(Received::Closed) => return Err(lost(no_answer())),
                Err(cause) => return Err(lost(cause)),
            }
            if let Some(reply) = self.inbound.next_reply(form.id) {
                let format = Format { version: reply.version, code_sets: form.format.code_sets };
                passed(Point::Parsed);
                return Ok((reply, format));
            }
            loop {
                match self.inbound.next() {
                    Ok(Some(Message::Reply(reply))) if reply.id == form.id => {
                        let format = Format { version: reply.version, code_sets: form.format.code_sets };
                        passed(Point::Parsed);
                        return Ok((reply, format));
                    }
                    Ok(Some(other)) => self.act_on(&other, form.id, course.candidate.format.version)?,
                    Ok(None) => break,
                    Err(error) => return Err(Failure::Protocol(error).into()),
                }
            }
            // Who sends without end must not keep the call for ever.
            if Instant::now() >= course.deadline {
                return Err(overdue(course));
            }
            lent = receive_lent(&*self.channel, &mut self.inbound).map_err(lost)?;
        }
    }

    /// Anything but the reply to `id`. `Ok`: it changes nothing.
    #[cold]
    fn act_on(&self, message: &Message, id: u32, version: Version) -> Result<(), Box<Failure>> {
        match message {
            // Of a call that was given up, or made up.
            Message::Reply(_) => {
                tracing::debug!(peer = %self.channel.peer(), "a reply that nobody awaits");
                Ok(())
            }
            Message::CloseConnection => Err(closed(&self.inbound, id).into()),
            Message::MessageError => Err(Failure::MessageError.into()),
            other => Err(wrong_role(other, version).into()),
        }
    }

    /// The request has left whole and its reply is no longer waited for: tells the server, if that can be said without
    /// waiting. The connection is closed after that.
    #[cold]
    fn say_why(&self, failure: &Failure, course: &Course<'_>, version: Version) {
        let messaging = course.candidate.pool.messaging();
        let octets = match failure {
            Failure::Timeout { .. } => {
                let mut message = Encoder::new(Format { version, ..Format::default() });
                messaging.cancel_request(&mut message, self.terms.last_id());
                message.into_buffer()
            }
            Failure::Protocol(error) => messaging.message_error(error.answer_version()),
            _ => return,
        };
        let _ = self.channel.send_now(&[io::IoSlice::new(&octets)]);
    }
}

#[cold]
fn unwritable(error: EncodeError) -> Box<Failure> {
    Box::new(Failure::Encode(error))
}

#[cold]
fn overdue(course: &Course<'_>) -> Box<Failure> {
    let after = course.started.elapsed();
    Box::new(Failure::Timeout { step: Step::WaitForReply, sent: true, after })
}

#[cold]
fn lost(cause: io::Error) -> Box<Failure> {
    Box::new(Failure::Lost { step: Step::Receive, cause })
}

fn no_answer() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection without an answer")
}

/// What CloseConnection means for the call `id`: that it was not executed (CORBA 3.4 part 2 §9.4.7), unless the server has
/// begun to answer it.
pub(super) fn closed(inbound: &Inbound, id: u32) -> Failure {
    if !inbound.has_part_of_reply(id) {
        return Failure::ClosedInOrder;
    }
    let text = "the server closed the connection in the middle of its answer";
    Failure::Lost { step: Step::Receive, cause: io::Error::new(io::ErrorKind::UnexpectedEof, text) }
}

/// The server sent what only a client may send.
pub(super) fn wrong_role(message: &Message, version: Version) -> Failure {
    Failure::Protocol(ProtocolError::WrongRole { message: message.message_type(), version })
}
