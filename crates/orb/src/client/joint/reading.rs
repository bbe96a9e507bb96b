//! What the reader of a joint connection does: it sends what all have written, receives, and hands each caller its answer.

use std::io::{self, IoSlice};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use parking_lot::MutexGuard;
use zorb_cdr::{Format, Version};
use zorb_giop::{Inbound, Message, ProtocolError};

use super::place::Place;
use super::{AGAIN, Answer, Answers, Joint, Reader, State, tell};
use crate::client::end::End;
use crate::client::failure::{Failure, Step};
use crate::client::message::Course;
use crate::client::private::{closed, wrong_role};
use crate::transport::Received;
use crate::transport::lent::receive_lent;

/// Turns that are given to those who were just woken, before the reader sends.
const TURNS: u32 = 2;

/// Whether the reader goes on.
enum Turned {
    Reads,
    /// It has its answer, or none by its deadline: another one reads, if one waits.
    Done(Option<Answer>),
}

impl Joint {
    /// Reads until the caller's own answer has come. `None`: that has been told to its place, or is not there by the deadline.
    pub(super) fn read(&self, place: &Arc<Place>, course: &Course<'_>) -> Option<Answer> {
        let mut inbound = self.inbound.lock();
        loop {
            for _ in 0..TURNS {
                if self.woken.load(Ordering::Relaxed) == 0 {
                    break;
                }
                thread::yield_now();
            }
            self.woken.store(0, Ordering::Relaxed);
            let received = self.send_and_receive(&mut inbound, course.deadline);
            let mut answers = Vec::new();
            let mut state = self.state.lock();
            if state.end.is_some() {
                return None;
            }
            state.reader = Reader::IsAwake;
            if let Some(end) = self.came(received, &mut inbound, &mut state, &mut answers) {
                drop(state);
                self.ended(end, &mut answers);
                tell(answers);
                return None;
            }
            let turned = hand_out(state, place, course.deadline, &mut answers);
            self.woken.fetch_add(u32::try_from(answers.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
            if let Turned::Done(own) = turned {
                // The next reader waits for it.
                drop(inbound);
                tell(answers);
                return own;
            }
            tell(answers);
        }
    }

    /// Sends what was written, and receives what comes.
    fn send_and_receive(&self, inbound: &mut Inbound, deadline: Instant) -> io::Result<Received> {
        if receive_lent(&*self.channel, inbound)? > 0 {
            return Ok(Received::Octets(0));
        }
        let mut state = self.state.lock();
        let until = match state.send_out(&*self.channel)? {
            true => {
                state.reader = Reader::Waits;
                deadline
            }
            false => deadline.min(Instant::now() + AGAIN),
        };
        drop(state);
        self.channel.receive(inbound.space(), until)
    }

    /// Takes in what came; the connection's end, if that came.
    fn came(
        &self,
        received: io::Result<Received>,
        inbound: &mut Inbound,
        state: &mut State,
        answers: &mut Answers,
    ) -> Option<End> {
        match received {
            Ok(Received::Octets(count)) => {
                inbound.received(count);
                self.deliver(inbound, state, answers)
            }
            Ok(Received::Empty) => None,
            Ok(Received::Closed) => {
                Some(End::Broken { step: Step::Receive, kind: io::ErrorKind::UnexpectedEof })
            }
            Err(error) => Some(End::Broken { step: Step::Receive, kind: error.kind() }),
        }
    }

    fn deliver(&self, inbound: &mut Inbound, state: &mut State, answers: &mut Answers) -> Option<End> {
        loop {
            match inbound.next() {
                Ok(Some(Message::Reply(reply))) => {
                    // Most answers come in the order of their requests.
                    let at = state.waiting.iter().position(|waiting| waiting.id == reply.id);
                    let Some(waiting) = at.and_then(|at| state.waiting.remove(at)) else {
                        tracing::debug!(peer = %self.channel.peer(), "a reply that nobody awaits");
                        continue;
                    };
                    let format = Format { version: reply.version, code_sets: waiting.format.code_sets };
                    answers.push((waiting.place, Ok((reply, format))));
                }
                Ok(Some(Message::CloseConnection)) => {
                    for waiting in mem::take(&mut state.waiting) {
                        answers.push((waiting.place, Err(closed(inbound, waiting.id).into())));
                    }
                    return Some(End::InOrder);
                }
                Ok(Some(Message::MessageError)) => return Some(End::MessageError),
                Ok(Some(other)) => {
                    let Failure::Protocol(error) = wrong_role(&other, Version::V1_2) else { continue };
                    return Some(self.say_why(error));
                }
                Ok(None) => return None,
                Err(error) => return Some(self.say_why(error)),
            }
        }
    }

    /// Tells the server that it broke the protocol, if that can be said without waiting and in between messages.
    #[cold]
    fn say_why(&self, error: ProtocolError) -> End {
        let octets = self.messaging.message_error(error.answer_version());
        let _ = self.channel.send_now(&[IoSlice::new(&octets)]);
        End::Protocol(error)
    }
}

/// Looks for the reader's own answer, and makes another the reader if it is there, or the deadline has passed.
fn hand_out(
    mut state: MutexGuard<'_, State>,
    place: &Arc<Place>,
    deadline: Instant,
    answers: &mut Answers,
) -> Turned {
    let own = answers.iter().position(|(other, _)| Arc::ptr_eq(other, place));
    if own.is_none() && Instant::now() < deadline {
        return Turned::Reads;
    }
    // Not the caller itself, whose deadline has passed and who is about to give up.
    let next = state.waiting.iter().find(|waiting| !Arc::ptr_eq(&waiting.place, place));
    match next {
        Some(next) => next.place.tell(super::Told::Reads),
        None => state.reader = Reader::Nobody,
    }
    Turned::Done(own.map(|at| answers.swap_remove(at).1))
}
