//! A call whose result is received into the caller's memory.

use std::cell::RefCell;
use std::time::Instant;

use zorb_cdr::{Format, Piece, Run};
use zorb_giop::{Inbound, Message, Reply};

use super::{Private, lost, no_answer, overdue};
use crate::client::failure::Failure;
use crate::client::message::{Course, Form, Outgoing};
use crate::landing::{BULK, Coming, HEADS_WORTH, Landing, look, receive_run};
use crate::probes::{Point, passed};
use crate::transport::lent::receive_lent;
use crate::transport::{Armed, Received, Wanted};
use crate::upcall;

/// Where the bulk of a reply goes.
pub(crate) trait ResultLanding: Landing {
    /// A request has left, whose reply has this form, to a server that has earned that it may make us hold so much.
    fn await_reply(&mut self, format: Format, earned: usize);

    /// So many octets of the run have come, and no more will. What is to be a part of the reply's body; `None`: it has a gap there.
    fn end(&mut self, run: &Run, received: usize, inbound: &mut Inbound) -> Option<Piece>;

    /// Whether the call may share a connection with others, as short ones do.
    fn may_join(&self) -> bool {
        false
    }

    /// Octets of the last result that was, or would have been, received so: 0, if that was none.
    fn announced(&self) -> usize {
        0
    }
}

/// Whether a call has such a place: decided when the program is compiled, so that others pay nothing for it.
pub(crate) trait Lands<'l>: Copy {
    /// The place.
    fn landing(&self) -> Option<&RefCell<dyn ResultLanding + 'l>>;

    /// Makes the call on a connection.
    fn call<T>(
        &self,
        connection: &mut Private,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        read: impl FnOnce(&Reply, Format) -> T,
    ) -> Result<T, Box<Failure>>;
}

impl<'l> Lands<'l> for () {
    #[inline(always)]
    fn landing(&self) -> Option<&RefCell<dyn ResultLanding + 'l>> {
        None
    }

    #[inline(always)]
    fn call<T>(
        &self,
        connection: &mut Private,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        read: impl FnOnce(&Reply, Format) -> T,
    ) -> Result<T, Box<Failure>> {
        connection.call(course, outgoing, read)
    }
}

impl<'l> Lands<'l> for &RefCell<dyn ResultLanding + 'l> {
    fn landing(&self) -> Option<&RefCell<dyn ResultLanding + 'l>> {
        Some(self)
    }

    fn call<T>(
        &self,
        connection: &mut Private,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        read: impl FnOnce(&Reply, Format) -> T,
    ) -> Result<T, Box<Failure>> {
        connection.call_into(course, outgoing, self).map(|(reply, format)| read(&reply, format))
    }
}

impl Private {
    /// As [`call`](Self::call); the bulk of the reply goes where `landing` says.
    pub(crate) fn call_into(
        &mut self,
        course: &Course<'_>,
        outgoing: &mut Outgoing<'_, '_>,
        landing: &RefCell<dyn ResultLanding + '_>,
    ) -> Result<(Reply, Format), Box<Failure>> {
        self.call_by(course, outgoing, |connection, form, course| {
            connection.inbound.offer_bulk(true);
            let answered = connection.await_into(form, course, &mut *landing.borrow_mut());
            connection.inbound.offer_bulk(false);
            answered
        })
    }

    fn await_into(
        &mut self,
        form: &Form<'_>,
        course: &Course<'_>,
        landing: &mut dyn ResultLanding,
    ) -> Result<(Reply, Format), Box<Failure>> {
        landing.await_reply(form.format, self.earned);
        // A head's worth is asked for first, and little until the bulk has been found.
        let expects_bulk = landing.memory().len() >= BULK || self.earned >= BULK;
        let mut reads_little = expects_bulk;
        let mut run = None;
        loop {
            if !(self.inbound.is_diverted() && self.inbound.has_buffered()) {
                self.receive_next(course, landing, run.as_deref(), reads_little)?;
            }
            if let Some(reply) = self.next_reply(form, course, landing, &mut run, &mut reads_little)? {
                let format = Format { version: reply.version, code_sets: form.format.code_sets };
                self.earned = landing.announced();
                passed(Point::Parsed);
                return Ok((reply, format));
            }
            if Instant::now() >= course.deadline {
                return Err(overdue(*course));
            }
        }
    }

    /// Receives once.
    fn receive_next(
        &mut self,
        course: &Course<'_>,
        landing: &mut dyn ResultLanding,
        run: Option<&Run>,
        reads_little: bool,
    ) -> Result<(), Box<Failure>> {
        if run.is_none()
            && !reads_little
            && receive_lent(&*self.channel, &mut self.inbound).map_err(lost)? > 0
        {
            return Ok(());
        }
        if let Some(waiter) = upcall::current() {
            self.channel.heard();
            if self.channel.arm(Wanted::Input) != Armed::Ready {
                waiter.until_readable(self.channel.descriptor(), course.deadline);
            }
        }
        let received = match run {
            Some(_) => receive_run(&mut self.inbound, landing.memory(), |into| {
                self.channel.receive_slices(into, course.deadline)
            }),
            None => {
                let space = self.inbound.space();
                let most = if reads_little { space.len().min(HEADS_WORTH) } else { space.len() };
                self.channel.receive(&mut space[..most], course.deadline)
            }
        };
        match received {
            Ok(Received::Octets(count)) => {
                passed(Point::Received);
                let received = match run {
                    Some(_) => self.inbound.received_apart(count, landing.memory()).map(drop),
                    None => {
                        self.inbound.received(count);
                        Ok(())
                    }
                };
                received.map_err(|error| Failure::Protocol(error).into())
            }
            Ok(Received::Empty) if Instant::now() >= course.deadline => Err(overdue(*course)),
            Ok(Received::Empty) => Ok(()),
            Ok(Received::Closed) => Err(lost(no_answer())),
            Err(cause) => Err(lost(cause)),
        }
    }

    /// What can be done with what has come; the reply, if that is all of it.
    fn next_reply(
        &mut self,
        form: &Form<'_>,
        course: &Course<'_>,
        landing: &mut dyn ResultLanding,
        run: &mut Option<Box<Run>>,
        reads_little: &mut bool,
    ) -> Result<Option<Reply>, Box<Failure>> {
        let protocol = |error| Box::new(Failure::Protocol(error));
        loop {
            let mut next = self.inbound.next().map_err(protocol)?;
            if next.is_none()
                && let Some(received) = self.inbound.has_all_of_run()
                && let Some(run) = run.take()
            {
                *reads_little = false;
                let elements = landing.end(&run, received, &mut self.inbound);
                next = self.inbound.undivert(elements).map_err(protocol)?;
            }
            match next {
                Some(Message::Reply(reply)) if reply.id == form.id => return Ok(Some(reply)),
                Some(other) => self.act_on(&other, form.id, course.candidate.format.version)?,
                None if self.inbound.is_diverted() => {
                    if !self.inbound.received_apart(0, landing.memory()).map_err(protocol)? {
                        return Ok(None);
                    }
                }
                None => match look(&mut self.inbound, landing).map_err(protocol)? {
                    Coming::Run(found) => *run = Some(found),
                    Coming::Perhaps => {
                        *reads_little = true;
                        return Ok(None);
                    }
                    Coming::Anything => {
                        // Of another message perhaps, behind which ours comes.
                        *reads_little = landing.memory().len() >= BULK && !self.inbound.is_incomplete();
                        if !self.inbound.has_buffered() {
                            return Ok(None);
                        }
                        // Whatever it is, it is taken now.
                        self.inbound.decline();
                    }
                },
            }
        }
    }
}
